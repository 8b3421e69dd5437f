"""Hostile inputs: each target draws cases from a seed and runs them; ``runner`` counts outcomes.

A target is a module with ``draw(rng) -> case`` and ``run(case) -> str``, the name of the outcome:
"answer", or the class of the error that refused the case. Everything else that ``run`` raises is a
failure, unless it is a ``LawfulError``.
"""
