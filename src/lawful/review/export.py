"""What reviews have found, for other programs: true labels, and a table of all changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from lawful.documents.pins import Pin, as_pins
from lawful.documents.records import Scored
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.evaluation.scoreboard import gold_verdict
from lawful.io.csv_cells import csv_line
from lawful.io.jsonl import encode, scored_line
from lawful.review.answer import corrected, labels_of, runs
from lawful.review.desk import Desk
from lawful.review.rows import Outcome, Row
from lawful.review.shelf import with_pinned
from lawful.review.store import Store

_SCORES = ("probs", "log_probs", "logits", "spans")


class Accepted:
    """The documents of a desk that were accepted, as JSON lines with ``gold`` labels.

    ``left_out`` counts, by reason, those that were not taken. With ``any_rules``, reviews that were
    made under other rules count, too: their labels are a person's word about the same words.
    """

    def __init__(self, desk: Desk, *, any_rules: bool = False) -> None:
        self._desk, self._any_rules = desk, any_rules
        self.left_out: Counter[str] = Counter()

    def rows(self) -> Iterator[tuple[int, Row]]:
        """The place of every accepted document, with its last row."""
        desk = self._desk
        states, ours = desk.store.states(), desk.shared.rules_hash
        for slip in desk.documents.slips:
            state = states.get((slip.id, slip.hash))
            if slip.error is not None or state is None:
                self.left_out["not reviewed"] += 1
            elif state.verdict != "accepted":
                self.left_out[state.verdict or "not decided"] += 1
            elif state.rules_hash != ours and not self._any_rules:
                self.left_out["accepted under other rules"] += 1
            else:
                yield slip.n, desk.store.rows_of(slip.id, slip.hash)[-1]
        here = {(slip.id, slip.hash) for slip in desk.documents.slips}
        gone = sum(state.verdict == "accepted" for key, state in states.items() if key not in here)
        if gone:
            self.left_out["accepted, but changed since, or not among these documents"] = gone

    def lines(self) -> Iterator[str]:
        """Lines for ``lawful evaluate``, ``calibrate``, ``train`` and ``rules learn``.

        They have the scores of the input, the texts as people corrected them, and pins that say
        what was accepted, so that ``lawful decode`` gives just that.
        """
        for n, row in self.rows():
            if row.after is not None:
                yield self._line(n, row, labels_of(row.after)) + "\n"

    def _line(self, n: int, row: Row, gold: tuple[str, ...]) -> str:
        scored = self._desk.scored(n)
        pins = as_pins(row.pins)
        document = corrected(scored.document, pins)
        accepted = replace(scored, document=document, gold=gold)
        document = replace(document, pins=self._pins(accepted, pins))
        record: dict[str, Any] = msgspec.json.decode(self._desk.documents.text(n))
        if isinstance(scored.scores, Scores) and not any(record.get(name) for name in _SCORES):
            return scored_line(replace(scored, document=document, gold=gold))  # from an .npz file
        if isinstance(scored.scores, SpanScores):
            also = with_pinned(scored.scores, document.pins, self._desk.shared.rules)
            assert isinstance(also, SpanScores)  # noqa: S101 - as given
            for span in also.spans[len(scored.scores.spans) :]:  # which the model had not found
                record["spans"].append([span.start, span.end, span.type, 0.5])
        record["pins"] = [pin.to_dict() for pin in document.pins]
        record["words"] = document.words
        if document.joins is not None:
            record["joins"] = document.joins
        record["gold"] = gold
        return encode(record).decode()

    def _pins(self, accepted: Scored, said: tuple[Pin, ...]) -> tuple[Pin, ...]:
        """What was said but for texts, each span of a field, and the words that are nothing."""
        rules = self._desk.shared.rules
        known = {f.name for f in rules.fields} | set(rules.classes)
        kept = [pin for pin in said if pin.subject != "text" and pin.field in (None, *known)]
        judge, verdict = gold_verdict(accepted, rules)
        fields = judge.fields(verdict.reading)
        spans = {value.words: name for name, values in fields.items() for value in values}
        gold = accepted.gold or ()
        free = [word for word, label in enumerate(gold) if label == "O"]
        return as_pins(
            [
                *kept,
                *(Pin("is", words, name) for words, name in sorted(spans.items())),
                *(Pin("nothing", run) for run in runs(free)),
            ]
        )


COLUMNS = (
    "seq", "at", "reviewer", "document", "action", "verdict", "field", "before", "after",
    "status", "pins", "note", "seconds",
)  # fmt: skip


def changes(store: Store) -> Iterator[str]:
    """A CSV table of all that people did: a line for each field that an action changed."""
    yield csv_line(COLUMNS)
    for row in store.rows():
        pins = "; ".join(pin.said for pin in as_pins(row.pins))
        status = "" if row.after is None else row.after.status
        for name, before, after in _changed(row.before, row.after):
            yield csv_line(
                [row.seq, row.at, row.reviewer, row.document, row.action, row.verdict or "", name,
                 before, after, status, pins, row.note,
                 "" if row.seconds is None else f"{row.seconds:.1f}"]
            )  # fmt: skip


def _changed(before: Outcome | None, after: Outcome | None) -> list[tuple[str, str, str]]:
    """The fields whose texts differ; one without a name if none does."""
    old = {} if before is None else before.fields
    new = {} if after is None else after.fields
    found = [
        (name, "; ".join(old.get(name, ())), "; ".join(new.get(name, ())))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]
    return found or [("", "", "")]
