"""Asking again for a few values, against asking again for all, with recorded answers.

    python -m lab.benchmarks.questions [--part chosen|shown] [--first 1] [--questions 2]

The answers are those of Qwen2.5-Coder-1.5B (``../shared/data/llm_samples``): the greedy one comes
first. *Whole retries* are more of the recorded answers, all joined by ``choose``. The model was
never asked a question about a few fields, so its answers are simulated: what the next recorded
answers say about these fields. So they are no better than whole retries; what is measured is which
fields are asked for, when, and at which price. Tokens of recorded answers are those counted; those
of parts of them, and of prompts, are estimated by the same number of characters per token.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from decimal import Decimal
from typing import Any

from lab.benchmarks.choose_on_page import FIELDS, INVOICE, RECEIPT, of_decoding, truth_of
from lab.benchmarks.data import answers, page_of
from lab.benchmarks.study import Study
from lab.benchmarks.tables import changes
from lawful.documents.records import FailedDocument
from lawful.llm.asking import Answer, Ask, Reply
from lawful.llm.extraction import Asking
from lawful.llm.questions import partial
from lawful.llm.schemas import schema_of_rules
from lawful.pipeline.call import Call

PER_TOKEN = 2.6
"""Characters of a token; that of the recorded answers."""


class Recorded:
    """In place of a client: first answers as they are, then parts of the next ones."""

    def __init__(self, record: dict[str, Any], first: int) -> None:
        self.texts = [record["greedy"], *record["samples"]]
        self.first, self.read, self.written = first, 0.0, 0.0
        self.page = record["text"]
        self.truth = record["truth"]
        self.printed = [0, 0]  # true values that questions show, and ask for

    async def ask_async(self, ask: Ask) -> Reply:
        self.read += sum(len(str(m["content"])) for m in ask.messages) / PER_TOKEN
        if not self.written:
            self.written += sum(each["tokens"] for each in self.texts[: self.first])
            return Reply(tuple(Answer(each["text"]) for each in self.texts[: self.first]))
        paths = [(name,) for name in (ask.schema or {})["properties"]]
        page, shown = (
            Counter(re.findall(r"[\d.,]+", t))
            for t in (self.page, ask.messages[1]["content"].partition("</document")[0])
        )
        for (name,) in paths:
            value = self.truth.get(name)
            forms = {f"{value}", f"{value}".removesuffix(".00")} if value else set()
            if any(page[form] for form in forms):
                self.printed[0] += any(shown[form] for form in forms)
                self.printed[1] += 1
        later = self.texts[self.first : self.first + ask.samples]
        said = [partial(each["text"], paths) or "{}" for each in later]
        self.written += sum(map(len, said)) / PER_TOKEN
        return Reply(tuple(map(Answer, said)))


def settle(record: dict[str, Any], rules: Any, first: int, more: int) -> tuple[Any, Recorded]:
    client = Recorded(record, first)
    asking = Asking(client, schema_of_rules(rules), Call(rules), first, more)  # type: ignore[arg-type]
    result = asyncio.run(asking.settle(page_of(record))).result
    decoding = None if isinstance(result, FailedDocument) else result[1]
    return decoding, client


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--part", choices=("chosen", "shown"), default="shown")
    parser.add_argument("--first", type=int, default=1, help="answers to the first question")
    parser.add_argument("--questions", type=int, default=2)
    parser.add_argument("--data", choices=tuple(FIELDS), nargs="*", default=list(FIELDS))
    arguments = parser.parse_args()
    for name in arguments.data:
        rules = INVOICE if name == "facturx" else RECEIPT
        ways = {
            "first answer": (arguments.first, 0),
            "small questions": (arguments.first, arguments.questions),
            "five whole retries": (arguments.first + 5, 0),
        }
        right: dict[str, list[bool]] = {way: [] for way in ways}
        read, written, shown, wanted = (Counter[str]() for _ in range(4))
        for record in answers(name, arguments.part):
            truth = truth_of(record, FIELDS[name])
            for way, (first, more) in ways.items():
                decoding, client = settle(record, rules, first, more)
                values: dict[str, Decimal | None] = (
                    {} if decoding is None else of_decoding(decoding, FIELDS[name])
                )
                read[way] += client.read
                written[way] += client.written
                shown[way] += client.printed[0]
                wanted[way] += client.printed[1]
                right[way] += [values.get(n) == v for n, v in truth.items() if v is not None]
        print(name)
        one = read["first answer"]
        spent: dict[str, float] = {
            "first answer": 0.0,
            "small questions": read["small questions"] - one
            + written["small questions"] - written["first answer"],
            "five whole retries": 5 * one + written["five whole retries"] - written["first answer"],
            "the same in one call": one + written["five whole retries"] - written["first answer"],
        }  # fmt: skip
        for way, each in right.items():
            fixed, broken = changes(right["five whole retries"], each)
            print(
                f"  {way:<20}{sum(each):>5} of {len(each):<5}{100 * sum(each) / len(each):>6.1f} %"
                f"  fixed {fixed} broken {broken}"
                f"  more tokens {spent[way]:>8.0f} = "
                f"{100 * spent[way] / spent['five whole retries']:.1f} %"
                f", {100 * spent[way] / spent['the same in one call']:.1f} % of those in one call"
                f" ({written[way] - written['first answer']:.0f} written)"
            )
        print(
            f"  of {wanted['small questions']} printed values that questions asked for, "
            f"{shown['small questions']} are in the lines that they showed"
        )


if __name__ == "__main__":
    main()
