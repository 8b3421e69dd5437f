"""``--scored-out``: the documents of a run with their scores, for a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lawful.base.errors import InputError
from lawful.candidates.on_page import on_page
from lawful.documents.records import FailedDocument
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import scored_line
from lawful.pipeline.call import Result
from lawful.rules.rule_set import Rules


def also_scored(
    out: str | None, results: Iterable[Result], rules: Rules, last_line: int
) -> Iterator[Result]:
    """The results; once all are there, their documents are in the file."""
    if out is None:
        yield from results
        return
    if last_line:
        raise InputError(
            f"--scored-out {out} is written by a whole run, and --out has the beginning of one: "
            "add --no-resume"
        )
    with atomic_text(out) as file:
        for result in results:
            if not isinstance(result, FailedDocument):
                placed = on_page(result[0], rules)
                file.write(scored_line(result[0] if placed is None else placed.scored) + "\n")
            yield result
