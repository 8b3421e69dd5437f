"""instructor: several answers, and the combination of them that obeys the rules, on the page.

Instead of asking again until an answer is valid, ``choose`` takes the total of one answer and the
tax of another, and says which value is printed nowhere.
"""

from typing import Any

from pydantic import BaseModel

import lawful


class Invoice(BaseModel):
    """What is asked for."""

    net: float
    tax: float
    total: float


rules = lawful.Rules.from_pydantic(Invoice, ["total == net + tax"])


def extract(client: Any, page: lawful.Document, samples: int = 5) -> lawful.Decoding:
    """The invoice on a page; ``client`` is from ``instructor.from_provider("openai/…")``."""
    ask = [{"role": "user", "content": " ".join(page.words)}]
    answers = [client.create(Invoice, ask, max_retries=1) for _ in range(samples)]
    return lawful.choose(lawful.Candidates.from_samples(answers), rules, document=page)
