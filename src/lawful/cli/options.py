"""What commands share: options that mean the same everywhere, and documents with their gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from lawful.datasets import RULES
from lawful.decoders import DECODERS
from lawful.document import BadLine, Scored
from lawful.errors import LawfulError
from lawful.io.jsonl import read_jsonl

told = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)

Item = TypeVar("Item")


class Pool(StrEnum):
    """How word pieces become words."""

    mean = "mean"
    first = "first"
    product = "product"


Documents = Annotated[
    str, typer.Argument(help="Scored documents, JSON lines (.gz too); - is stdin.")
]


def rule_path(given: Path | None) -> Path | None:
    """The rule file that was named: itself, or the paper's for a data set."""
    if given is None or given.exists():
        return given
    return RULES.get(str(given), given)


RuleFile = Annotated[
    Path,
    typer.Option(
        "--rules", "-r", help=f"The rule file, or one of {', '.join(RULES)}.", callback=rule_path
    ),
]
DecoderName = Annotated[str, typer.Option("--decoder", "-d", help=f"One of {', '.join(DECODERS)}.")]
Candidates = Annotated[int | None, typer.Option(help="Most candidates to try for a document.")]
Seconds = Annotated[float | None, typer.Option(help="Most seconds to spend on a document.")]
MaxCost = Annotated[
    float | None, typer.Option(help="Most nats of log-probability to pay for the rules.")
]
Temperature = Annotated[float, typer.Option(help="Divide log-probabilities by this first.")]
PoolOption = Annotated[
    Pool | None, typer.Option(help="Decode words, not pieces: how a word takes from its pieces.")
]
Workers = Annotated[int, typer.Option(help="Processes that decode.", min=1, max=256)]


class Skipped(Counter[str]):
    """How many documents were left out, by reason; says so on standard error."""

    def complain(self, reason: str, line: int | None, message: str) -> None:
        """Leaves one out for a reason that has to be looked into."""
        self[reason] += 1
        where = "" if line is None else f"line {line}: "
        told.print(f"{where}{message}", style="yellow", markup=False)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {reason}" for reason, count in self.items() if count)


BAD = "bad lines"
NO_GOLD = "without gold labels"


def with_gold(path: str, prepare: Callable[[Scored], Scored], skipped: Skipped) -> Iterator[Scored]:
    """The documents of a file whose true labels are known; the others are counted."""
    for scored in read_jsonl(path):
        if isinstance(scored, BadLine):
            skipped.complain(BAD, scored.line, scored.message)
        elif scored.gold is None:
            skipped[NO_GOLD] += 1
        else:
            try:
                yield prepare(scored)
            except LawfulError as error:
                skipped.complain(BAD, scored.line, str(error))


def counted(items: Iterable[Item]) -> Iterator[Item]:
    """The same, counted on standard error as they go by, if that is a terminal."""
    if not told.is_terminal:
        yield from items
        return
    with told.status("0 documents") as status:
        for done, item in enumerate(items, 1):
            yield item
            status.update(f"{done:,} documents")
