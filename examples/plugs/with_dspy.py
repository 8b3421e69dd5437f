"""DSPy: a module that samples a signature, and chooses among the samples under rules."""

from typing import Any

import dspy

import lawful


class Lawful(dspy.Module):
    """A ``Predict`` of several samples; the prediction has the ``decoding`` of the best choice.

    >>> read = Lawful("page: str -> net: float, tax: float, total: float", rules)
    >>> read(page="Net 48.00 Tax 5.28 Total 53.28").total
    """

    def __init__(self, signature: Any, rules: lawful.Rules, samples: int = 5) -> None:
        super().__init__()
        self.rules = rules
        self.predict = dspy.Predict(signature, n=samples, temperature=1.0)

    def forward(self, page: str, **inputs: Any) -> dspy.Prediction:
        """What ``Predict`` does, with the values that the rules accept."""
        completions = self.predict(page=page, **inputs).completions
        samples = [dict(each) for each in completions]
        document = lawful.Document.from_text(page)
        candidates = lawful.Candidates.from_samples(samples)
        decoding = lawful.choose(candidates, self.rules, document=document)
        values = {name: next(iter(decoding.values(name)), None) for name in samples[0]}
        return dspy.Prediction(**values, decoding=decoding)
