"""The laboratory: the paper's experiments, data sets, generated receipts and benchmarks.

Nothing of it is in the wheel. ``python -m lab`` is ``lawful`` with the data sets, decoders and
experiments of the paper.
"""
