"""A quick model that is taught again after each accepted document, in the background.

It is always the model of all that is accepted by then, so that what was taken back is forgotten,
and several documents accepted at once are learned together. Before a document is learned, the model
as it is answers it: so it is known how good it is on documents that it has not seen, and whether it
is better than the model that the review began with.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lawful.base.errors import LawfulError
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.pins import as_pins
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.span_scores import AnyScores, SpanScores
from lawful.io.atomic import atomic_text
from lawful.learn.align import Truth
from lawful.models.linear import Floats
from lawful.models.quick import FieldModel, QuickTagger
from lawful.models.shipped import RULES_FILE
from lawful.models.tagger import Tagger
from lawful.models.teaching import Teacher, heated, temperature_of
from lawful.results.decoding import Budget, Decoding
from lawful.results.wire import ValueData, line_of
from lawful.review.accepted import accepted_of
from lawful.review.answer import corrected
from lawful.review.documents import Documents
from lawful.review.rows import Row
from lawful.review.store import Store
from lawful.rules.rule_set import Rules
from lawful.rules.to_file import rules_data, rules_text

LAST = 20
"""Accepted documents by which models are compared: the last ones."""

HELD_OUT = 50
"""Documents by which the temperature of a field is set: the last ones that print it."""

TEST = Budget(seconds=1.0)


class Lesson(NamedTuple):
    """An accepted document: its words as people corrected them, and its values."""

    scored: Scored  # as the model has it that the review began with
    document: Document
    values: dict[str, list[ValueData]]
    truth: Truth

    @classmethod
    def of(cls, scored: Scored, row: Row) -> Lesson | None:
        """``None`` if the values of a review are not known, only their texts."""
        if row.after is None or row.after.values is None:
            return None
        document = corrected(scored.document, as_pins(row.pins))
        truth = accepted_of(row.document, [row], row.after).truth
        return cls(scored, document, row.after.values, truth)


class _Tested(NamedTuple):
    """How many needed values of a document two models had right before it was learned."""

    given: int
    taught: int
    whole: bool  # whether the one whose answer counts had all of them right


class Learner:
    """Teaches a model what is accepted, and scores documents by it. Safe for several threads."""

    def __init__(self, rules: Rules, out: Path, given: Tagger | None = None) -> None:
        """``out`` is the model's folder; it goes on from the ``given`` one if that is quick."""
        self.out = out
        self.version = 0  # of the scores: raised whenever documents are to be scored again
        self.failure: str | None = None
        self._rules, self._needs = rules, rules.needs or tuple(f.name for f in rules.fields)
        self._labels = {f.name: f.label for f in rules.fields}
        self._teacher = Teacher(rules, given if isinstance(given, QuickTagger) else None)
        self._tagger: QuickTagger | None = None
        self._accepted: dict[int, Lesson] = {}
        self._pending: dict[int, Lesson | None] = {}
        self._tested: dict[int, _Tested] = {}
        self._held_out: dict[str, deque[tuple[Floats, Any]]] = {}
        self._changed = threading.Condition()
        self._stopped = self._busy = False
        self._again: Callable[[], None] = lambda: None

    def start(self, documents: Documents, store: Store, rules_hash: str,
              again: Callable[[], None]) -> None:  # fmt: skip
        """Begins to learn, at first what is accepted already; ``again`` is called after that."""
        self._again = again
        earlier = threading.Thread(
            target=self._remember, args=(documents, store, rules_hash), daemon=True
        )
        earlier.start()
        threading.Thread(target=self._work, daemon=True, name="teaching").start()

    def stop(self) -> None:
        """Ends the work soon."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def wait(self) -> None:
        """Waits until all that was accepted is learned."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._pending or self._busy) or self._stopped)

    def learn(self, n: int, lesson: Lesson | None) -> None:
        """Says that a document is accepted, with these values; with none, that it no longer is."""
        with self._changed:
            if lesson is not None:
                self._accepted[n] = lesson
            elif self._accepted.pop(n, None) is None:
                return
            self._pending[n] = lesson
            self._changed.notify_all()

    def scored(self, n: int, scored: Scored) -> Scored:
        """A document as it is scored now: by what was accepted, the taught model, or as given."""
        with self._changed:
            lesson, tagger = self._accepted.get(n), self._tagger if self.leads else None
        scores: AnyScores = scored.scores
        if lesson is not None:
            spans = {(*v.words, self._labels[name]) for name, values in lesson.values.items()
                     for v in values}  # fmt: skip
            scores = SpanScores([(*span, 1.0) for span in sorted(spans)], len(scored.document))
        elif tagger is not None:
            scores = tagger.scores_of(scored.document)
        if isinstance(scores, SpanScores):
            scores = scores.knowing(self._labels.values())
        return Scored(scored.document, scores, scored.gold)

    @property
    def leads(self) -> bool:
        """Whether the taught model had as many of the last values right as the given one."""
        last = list(self._tested.values())[-LAST:]
        return self._tagger is not None and (
            sum(each.taught for each in last) >= sum(each.given for each in last)
        )

    def status(self) -> dict[str, Any]:
        """What the page says about it."""
        with self._changed:
            last = list(self._tested.values())[-LAST:]
            return {
                "documents": len(self._accepted),
                "right": sum(each.whole for each in last),
                "of": len(last),
                "leads": self.leads,
                "busy": bool(self._pending or self._busy),
                "failure": self.failure,
            }

    def _remember(self, documents: Documents, store: Store, rules_hash: str) -> None:
        """Learns what was accepted before the review began, as documents arrive."""
        try:
            for slip in documents.each():
                state = store.states().get((slip.id, slip.hash))
                if state is None or (state.verdict, state.rules_hash) != ("accepted", rules_hash):
                    continue
                scored = documents.read(slip.n)
                row = store.rows_of(slip.id, slip.hash)[-1]
                if isinstance(scored, FailedDocument) or row.verdict != "accepted":
                    continue
                if (lesson := Lesson.of(scored, row)) is not None:
                    self.learn(slip.n, lesson)
        except (LawfulError, ValueError) as error:  # ValueError: closed meanwhile
            self.failure = str(error)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._pending or self._stopped)
                if self._stopped:
                    return
                # No more at a time than are known: the others are answered by a better model.
                size = max(1, len(self._teacher.documents))
                some = dict(islice(self._pending.items(), size))
                for n in some:
                    del self._pending[n]
                self._busy = True
            try:
                self._teach(some)
                if not self._pending:
                    self._save()
                self.failure = None
            except (LawfulError, OSError, MemoryError) as error:
                self.failure = str(error) or "not enough memory"

    def _teach(self, some: dict[int, Lesson | None]) -> None:
        led, before = self.leads, self._tagger
        tested = {
            n: self._test(lesson, before)
            for n, lesson in some.items()
            if lesson is not None and n not in self._tested
        }
        for n, lesson in some.items():
            self._teacher.forget(str(n))  # documents may have the same id
            if lesson is not None:
                document, truth = replace(lesson.document, id=str(n)), lesson.truth
                gold = _gold(lesson, self._labels)
                self._teacher.add(document, replace(truth, id=str(n)), gold)
        self._hold_out(tested, before)
        tagger = self._taught(before)
        with self._changed:
            self._tested |= tested
            self._tagger = tagger
            changed = led or self.leads
            self.version += changed
        if changed:
            self._again()

    def _taught(self, before: QuickTagger | None) -> QuickTagger | None:
        if not any(pupil.lessons for pupil in self._teacher.pupils.values()):
            return None  # all was taken back, or nothing that was accepted is printed
        found = self._teacher.tagger(before)
        models = [
            FieldModel(heated(m.field, temperature_of(self._held_out.get(m.field.label, ()))),
                       m.weights)
            for m in found.models
        ]  # fmt: skip
        return QuickTagger(models, found.taught_on)

    def _hold_out(self, tested: Iterable[int], before: QuickTagger | None) -> None:
        """Keeps the scores that new documents have by the model before."""
        models = {} if before is None else {m.field.label: m for m in before.models}
        for pupil in self._teacher.pupils.values():
            model = models.get(pupil.taught.label)
            for n in tested if model is not None and pupil.taught.per == "document" else ():
                if (lesson := pupil.lessons.get(str(n))) is not None and model is not None:
                    kept = self._held_out.setdefault(pupil.taught.label, deque(maxlen=HELD_OUT))
                    kept.append((model.weights[lesson.rows].sum(axis=1), lesson.right))

    def _test(self, lesson: Lesson, before: QuickTagger | None) -> _Tested:
        """How a document is answered by the models so far, without any pins."""
        answers = [self._answer(lesson.document, lesson.scored.scores)]
        if before is not None:
            answers.append(self._answer(lesson.document, before.scores_of(lesson.document)))
        right = [[_same(lesson.values.get(name, []), found) for name, found in answer.items()]
                 for answer in answers]  # fmt: skip
        there = [bool(lesson.values.get(name)) for name in self._needs]
        counts = [sum(ok for ok, is_there in zip(each, there, strict=True) if is_there)
                  for each in right]  # fmt: skip
        taught = 0 if before is None else counts[-1]
        return _Tested(counts[0], taught, all(right[-1 if self.leads else 0]))

    def _answer(self, document: Document, scores: AnyScores) -> dict[str, list[ValueData]]:
        """The values of the needed fields."""
        if isinstance(scores, SpanScores):
            scores = scores.knowing(self._labels.values())
        found: Decoding | None = None
        try:
            plain = replace(document, pins=())
            found = decode(plain, scores, self._rules, budget=TEST)
        except LawfulError:  # the given scores cannot be decoded
            pass
        fields = {} if found is None else line_of(found).fields
        return {name: fields.get(name, []) for name in self._needs}

    def _save(self) -> None:
        """Writes the model and its rules, by which ``lawful extract --model`` takes it."""
        if self._tagger is None:
            return
        self._tagger.save(self.out)
        known = {m.field.label for m in self._tagger.models}
        fields = tuple(
            f if f.label in known else replace(f, optional=True, presence=None)
            for f in self._rules.fields
        )
        plain = tuple(rule for rule in self._rules.rules if isinstance(rule.check, str))
        rules = replace(self._rules, fields=fields, rules=plain)
        said = ["Fields and rules of the review that taught this model."]
        with atomic_text(self.out / RULES_FILE) as text:
            text.write(rules_text(rules_data(rules), said))


def _gold(lesson: Lesson, labels: dict[str, str]) -> tuple[str, ...]:
    """The accepted values as labels of words."""
    gold = ["O"] * len(lesson.document)
    for name, values in lesson.values.items():
        for value in values:
            start, end = value.words
            gold[start:end] = [f"{'B' if i == start else 'I'}-{labels[name]}"
                               for i in range(start, end)]  # fmt: skip
    return tuple(gold)


def _same(accepted: Sequence[ValueData], found: Sequence[ValueData]) -> bool:
    """Whether values are the same, wherever they are printed and however often."""
    return set(_keys(accepted)) == set(_keys(found))


def _keys(values: Iterable[ValueData]) -> Iterator[tuple[int | None, str]]:
    for each in values:
        row = each.row if isinstance(each.row, int) else None
        yield row, each.text if each.value is None else str(each.value)
