"""pydantic-ai: runs of an agent as samples, chosen from under rules and on the page."""

import asyncio
from typing import Any

import lawful


async def extract(agent: Any, page: lawful.Document, rules: lawful.Rules, samples: int = 5) -> Any:
    """The output of ``Agent(model, output_type=Invoice)``, as an object of that type.

    ``rules`` are ``lawful.Rules.from_pydantic(Invoice, ["total == net + tax"])``. A run that fails
    has no vote.
    """
    runs = [agent.run(" ".join(page.words)) for _ in range(samples)]
    found = await asyncio.gather(*runs, return_exceptions=True)
    answers = [run if isinstance(run, BaseException) else run.output for run in found]
    decoding = lawful.choose(lawful.Candidates.from_samples(answers), rules, document=page)
    return decoding.to_model(agent.output_type)
