"""``lawful.evaluate``: how right decodings are, and what rules fixed and broke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from lawful.base.errors import InputError, LawfulError, shown
from lawful.documents.records import FailedDocument, Scored
from lawful.evaluation.scoreboard import Answer, Counts, Scoreboard, best_legal
from lawful.pipeline.batch import decode_records
from lawful.pipeline.call import Call, Options, Record, bad_line
from lawful.rules.rule_set import Rules

BASELINE = "best legal labelling"


@dataclass(slots=True, repr=False)
class Report:
    """Decodings compared with true labels, and with the best legal labelling without rules.

    ``scores`` and ``baseline`` have all counts, by field and by label too. A page is right if all
    its values are right; a fixed page is right and was not so in the baseline, a broken one the
    reverse. ``failed`` lists documents that could not be used, which count nowhere, and
    ``without_gold`` is the number of those without true labels. ``str`` is a table.
    """

    scores: Scoreboard
    baseline: Scoreboard
    decoder: str
    failed: list[FailedDocument] = field(default_factory=list)
    without_gold: int = 0

    @classmethod
    def empty(cls, rules: Rules, decoder: str) -> Report:
        """The report of no documents yet."""
        return cls(Scoreboard(rules), Scoreboard(rules), decoder)

    def add(self, scored: Scored, answer: Answer) -> None:
        """Counts one document, which must have gold labels, and its decoding."""
        best = best_legal(scored, self.scores.rules)
        self.scores.add(scored, answer)
        self.baseline.add_labels(scored, best)

    @property
    def pages(self) -> int:
        """The number of documents compared."""
        return self.scores.pages

    @property
    def value_f1(self) -> float:
        """The F1 of the values of fields, from 0 to 1; 1 if there are none to find."""
        return self.scores.values.f1

    @property
    def entity_f1(self) -> float:
        """The F1 of entities, from 0 to 1: type and all words right."""
        return self.scores.entities.f1

    @property
    def pages_right(self) -> int:
        """The number of pages on which all values are right."""
        return sum(self.scores.right_pages)

    @property
    def fixed(self) -> int:
        """The number of pages that are right, and not so in the baseline."""
        return self.scores.changed_pages(self.baseline).fixed

    @property
    def broken(self) -> int:
        """The number of pages that are right in the baseline only."""
        return self.scores.changed_pages(self.baseline).broken

    @property
    def boards(self) -> dict[str, Scoreboard]:
        """The baseline and the decodings, by name."""
        return {BASELINE: self.baseline, self.decoder: self.scores}

    def to_dict(self) -> dict[str, Any]:
        """All counts as plain values."""
        skipped = {"failed": len(self.failed), "without_gold": self.without_gold}
        return skipped | boards_record(self.boards)

    def __str__(self) -> str:
        both = (self.baseline, self.scores)
        rows = [
            (f"{self.pages:,} page{'s' * (self.pages != 1)}", *self.boards),
            ("value F1", *(percent(board.values)[2] for board in both)),
            ("entity F1", *(percent(board.entities)[2] for board in both)),
            ("pages with all values right", *(f"{sum(board.right_pages):,}" for board in both)),
            ("pages fixed / broken", "-", f"{self.fixed:,} / {self.broken:,}"),
            ("pages satisfied or unchecked", *(f"{100 * b.satisfaction:.1f} %" for b in both)),
        ]
        first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines = [
            "  ".join((name.ljust(first), *map(str.rjust, cells, widths))) for name, *cells in rows
        ]
        if self.failed:
            lines.append(f"{len(self.failed):,} failed, the first: {self.failed[0].message}")
        if self.without_gold:
            lines.append(f"{self.without_gold:,} without gold labels")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<Report: {self.pages} pages, value F1 {percent(self.scores.values)[2]}, "
            f"{self.pages_right} right, {self.fixed} fixed, {self.broken} broken>"
        )


def evaluate(
    scored: Iterable[Scored | FailedDocument],
    rules: Rules,
    *,
    workers: int = 1,
    **how: Unpack[Options],
) -> Report:
    """Decodes scored documents with gold labels, and reports how right the answers are.

    It does what ``lawful evaluate`` does. Documents without gold labels are counted and left out,
    and so are those that cannot be decoded; an ``InputError`` if none is left. Of pins, only the
    texts count. Options are those of ``lawful.decode_many``.
    """
    call = Call(rules, **how)
    if not isinstance(scored, Iterable):
        raise InputError(f"scored is {shown(scored)}, expected scored documents")
    report = Report.empty(rules, call.chosen.name)
    with closing(decode_records(_with_gold(scored, report), call, workers=workers)) as results:
        for result in results:
            if isinstance(result, FailedDocument):
                report.failed.append(result)
                continue
            try:
                report.add(*result)
            except LawfulError as error:
                report.failed.append(bad_line(result[0], str(error)))
    if not report.pages:
        first = f"; the first: {report.failed[0].message}" if report.failed else ""
        raise InputError(
            f"nothing to evaluate: {report.without_gold} documents without gold labels, "
            f"{len(report.failed)} failed{first}"
        )
    return report


def _with_gold(scored: Iterable[Any], report: Report) -> Iterator[Record]:
    """The documents whose true labels are known, and bad lines; the others are counted."""
    for each in scored:
        if isinstance(each, FailedDocument):
            yield each
        elif not isinstance(each, Scored):
            raise InputError(f"found {shown(each)} in scored, expected documents with scores")
        elif each.gold is None:
            report.without_gold += 1
        else:
            yield without_pins(each)


def without_pins(scored: Scored) -> Scored:
    """The same with the texts that pins say, and no pins.

    Answers that people have helped say nothing about the model and the rules.
    """
    if not scored.document.pins:
        return scored
    return replace(scored, document=replace(scored.document.corrected(), pins=()))


def boards_record(boards: Mapping[str, Scoreboard]) -> dict[str, Any]:
    """Scoreboards as plain values; each but the first with its changes against the first."""
    first, *others = boards
    baseline = boards[first]
    results: dict[str, Any] = {first: baseline.record()}
    for name in others:
        board = boards[name]
        results[name] = board.record() | {
            "against": first,
            "changed_pages": board.changed_pages(baseline)._asdict(),
            "changed_values": board.changed_values(baseline)._asdict(),
        }
    return {"pages": baseline.pages, "gold_satisfied": baseline.gold_satisfied, "results": results}


def percent(counts: Counts) -> tuple[str, ...]:
    """Precision, recall and F1 in percent; dashes if nothing was found and nothing is true."""
    if not counts.found and not counts.true:
        return ("-",) * 3
    return tuple(f"{100 * x:.1f}" for x in (counts.precision, counts.recall, counts.f1))
