"""Teaching a quick model: from documents and true values to weights, and how good they are.

Of each document, the candidates that matter are kept: those with the true value, and those that
look most like it to a model that was fitted on the first few documents. The model is tested by
cross-validation, whose scores also set the temperature of each field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.candidates.field_spans import field_spans
from lawful.candidates.grounding.matches import Occurrences, fold, possible_values
from lawful.decoders import decode
from lawful.documents.document import Document
from lawful.documents.labels import bio_spans
from lawful.documents.records import UNKNOWN, Scored
from lawful.documents.scores import Scores
from lawful.learn.align import Aligned, Truth, align, align_scored
from lawful.learn.align.aligning import MARGIN, with_implied
from lawful.models.lessons import Lesson, Pupil, TrueRows, anchor_of, link, place, settle
from lawful.models.linear import Floats
from lawful.models.quick import FieldModel, QuickTagger, TaughtField, span_scores
from lawful.models.span_features import Features
from lawful.models.spans import CandidateSpans, Per, SpanPage
from lawful.models.tagger import Tagger
from lawful.results.decoding import Budget, Decoding
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules
from lawful.values import type_named

MOST = 1000
"""Documents that a model is taught on, at most: more make it hardly better, but need memory."""

MIN_DOCUMENTS = 5
"""Documents with a value of a field from which on a model tells which of its places is meant."""

FOLDS, FEW_FOLDS, MANY_DOCUMENTS = 5, 3, 100
"""Parts of cross-validation, and those for more than so many documents."""

TEMPERATURES = np.geomspace(1.0, 8.0, 19)

BUDGET = Budget(candidates=2**12, seconds=2.0)
"""Of a decoding in cross-validation."""


@dataclass(frozen=True, slots=True)
class FieldReport:
    """How well a field is learned, by cross-validation."""

    name: str
    given: int  # documents with a true value
    found: int  # of which it is printed
    right: int | None  # of those given, by the quick model alone; none if there was no test
    with_rules: int | None  # and under the rules
    constant: bool  # whether all values are equal


@dataclass(frozen=True, slots=True)
class Doubt:
    """A value that the model, taught on other documents, does not find."""

    id: str
    field: str
    value: str
    found: str
    sure: float  # probability of what it finds instead


@dataclass(frozen=True, slots=True)
class Taught:
    """A quick model, and how good it is."""

    tagger: QuickTagger
    documents: int
    fields: tuple[FieldReport, ...]
    doubts: tuple[Doubt, ...]  # the surest first, one per document
    left_out: tuple[str, ...]  # fields with values, of which none is printed


class Teacher:
    """Collects lessons document by document, so that memory stays small; then teaches."""

    def __init__(self, rules: Rules, before: QuickTagger | None = None) -> None:
        """``before`` is an earlier model to go on from."""
        self.rules = rules
        earlier = {} if before is None else {m.field.label: m.weights for m in before.models}
        rows = {name for kind in rules.rows for name in kind.fields}
        self.pupils: dict[str, Pupil] = {}
        labels = set[str]()
        for f in rules.fields:
            if f.label not in labels:
                per: Per = "row" if f.name in rows else "span" if f.many else "document"
                self.pupils[f.name] = Pupil(f, _taught(f, per), prior=earlier.get(f.label))
                labels.add(f.label)
        self.documents: dict[str, Document] = {}
        self.truths: dict[str, Truth] = {}
        self.tables: dict[str, list[TrueRows]] = {}  # by id of the document
        self._settled = True

    def add(self, document: Document, truth: Truth, gold: tuple[str, ...] | None = None) -> None:
        """Learns what a document says; beyond ``MOST`` documents, nothing.

        ``gold`` are labels that say where values of lists and rows are; else they are looked for.
        """
        if len(self.documents) >= MOST or not len(document):
            return
        self.documents[document.id], self.truths[document.id] = document, truth
        page = _Page(document)
        labelled = gold is not None
        listed = {
            name: values
            for name, values in truth.values.items()
            if name in self.pupils and self.pupils[name].taught.per != "document"
        }
        if listed and gold is None:
            gold = align(document, Truth(document.id, listed), self.rules).labelled.gold
        given = {name: values[0] for name, values in truth.values.items()}
        if labelled:
            given |= {name: None for rows in truth.rows.values() for row in rows for name in row}
        for name, value in given.items():
            if (pupil := self.pupils.get(name)) is None:
                continue
            pupil.given += 1
            if (lesson := page.lesson(pupil)) is None:
                continue
            if pupil.taught.per != "document":
                _label(lesson, gold or (), pupil.taught.label)
            else:
                if len(pupil.same) < 2:
                    pupil.same.add(str(value))
                lesson.right = page.carries(value, pupil)
            if lesson.right.any():
                pupil.add(document.id, lesson)
        for rows in () if labelled else truth.rows.values():
            self._add_rows(document.id, page, rows)

    def _add_rows(self, id_: str, page: _Page, rows: Sequence[Mapping[str, Any]]) -> None:
        names = [n for n in dict.fromkeys(n for row in rows for n in row) if n in self.pupils]
        if not names:
            return
        table = TrueRows(
            [{} for _ in rows], anchor_of(rows, {n: self.pupils[n].field for n in names})
        )
        lessons = {}
        for name in names:
            pupil = self.pupils[name]
            pupil.given += 1
            if (lesson := page.lesson(pupil)) is None:
                continue
            numbers: dict[str, int] = {}
            for row, known in zip(rows, table.rows, strict=True):
                if name in row:
                    text = str(row[name])
                    if text not in numbers:
                        numbers[text] = len(numbers)
                        lesson.wanted[page.carries(row[name], pupil)] = numbers[text]
                    known[name] = numbers[text]
            lessons[name] = lesson
        place(table, lessons, {})
        self.tables.setdefault(id_, []).append(table)
        self._settled = False
        for name, lesson in lessons.items():
            if (lesson.wanted >= 0).any():
                self.pupils[name].add(id_, lesson)

    def _settle(self) -> None:
        """Chooses among the places of rows, once all documents are there."""
        if not self._settled:
            for pupil in self.pupils.values():
                pupil.shorten()
            of_rows = {n: p for n, p in self.pupils.items() if p.taught.per == "row"}
            for pupil in of_rows.values():
                pupil.linked = {}
            settle(of_rows, self.tables, lambda pupil: pupil.fit(pupil.lessons))
            link(of_rows, self.tables, lambda id_: Features(SpanPage(self.documents[id_])))
            self._settled = True

    def forget(self, id_: str) -> None:
        """Takes a document's lessons back, as before it is taught again with other values."""
        if self.documents.pop(id_, None) is not None:
            for pupil in self.pupils.values():
                truth = self.truths[id_]
                pupil.given -= id_ in pupil.lessons or _has(truth, pupil.field.name)
                pupil.forget(id_)
            del self.truths[id_]
            if self.tables.pop(id_, None) is not None:
                self._settled = False

    def tagger(self, start: QuickTagger | None = None) -> QuickTagger:
        """The model of all lessons so far, starting from an earlier one's weights."""
        models = self._models(1, () if start is None else start.models)
        if not models:
            raise InputError("no value was found in any document, so there is nothing to learn")
        return QuickTagger(models, len(self.documents))

    def _models(self, least: int, start: Iterable[FieldModel] = ()) -> list[FieldModel]:
        """The models of fields that so many documents teach."""
        self._settle()
        before = {model.field.label: model for model in start}
        models = []
        for pupil in self.pupils.values():
            if len(pupil.lessons) >= least:
                pupil.shorten()
                old = before.get(pupil.taught.label)
                weights = pupil.fit(pupil.lessons, None if old is None else old.weights)
                temperature = 1.0 if old is None else old.field.temperature
                models.append(FieldModel(heated(pupil.taught, temperature), weights))
        return models

    def chooser(self) -> QuickTagger:
        """The model that tells which of the places of a value is meant."""
        return QuickTagger(self._models(MIN_DOCUMENTS), len(self.documents))

    def aligned(self) -> list[Aligned]:
        """The documents with labels for the words that carry their values."""
        scored = _scored(self.chooser(), self.documents.values())
        return align_scored(scored, self.truths, self.rules)

    def folds(self) -> list[list[str]]:
        """The ids of documents in parts for cross-validation; none of a single document."""
        ids = sorted(self.documents, key=lambda id_: crc32(id_.encode()))
        count = min(FOLDS if len(ids) <= MANY_DOCUMENTS else FEW_FOLDS, len(ids))
        return [ids[start::count] for start in range(count)] if count > 1 else []

    def without(self, out: Iterable[str]) -> QuickTagger:
        """The model of all other documents."""
        self._settle()
        left = self.documents.keys() - set(out)
        models = []
        for pupil in self.pupils.values():
            if rest := [id_ for id_ in pupil.last if id_ in left]:
                models.append(FieldModel(pupil.taught, pupil.fit(rest)))
        return QuickTagger(models, len(left))

    def right(self, tagger: Tagger, ids: Iterable[str]) -> int:
        """How many values of these documents a model finds, under the rules; lists do not count."""
        count = 0
        # A field that only documents which were held back print is not known to the model.
        fields = tuple(
            dataclasses.replace(f, optional=True, presence=None) for f in self.rules.fields
        )
        rules = dataclasses.replace(self.rules, fields=fields)
        for scored in tagger.predict([self.documents[id_] for id_ in ids]):
            document, scores = scored.document, scored.scores
            if isinstance(scores, Scores):
                scores = field_spans(document, scores, rules)
            found = decode(document, scores, rules, budget=BUDGET)
            single = (name for name, pupil in self.pupils.items() if pupil.taught.per == "document")
            count += sum(1 for _ in self._found(document.id, found, single))
        return count

    def teach(self, told: Callable[[str], Any] = lambda _: None) -> Taught:
        """The model, tested by cross-validation; ``told`` is called with what is done next."""
        tagger = self.tagger()
        folds = self.folds()
        tested: dict[str, dict[str, FieldModel]] = {}  # by document and field
        for number, fold_ in enumerate(folds, 1):
            told(f"cross-validation, part {number} of {len(folds)}")
            out = set(fold_)
            for name, pupil in self.pupils.items():
                rest = [id_ for id_ in pupil.last if id_ not in out]
                if rest and any(id_ in out for id_ in pupil.last):
                    model = FieldModel(pupil.taught, pupil.fit(rest))
                    for id_ in out & pupil.last.keys():
                        tested.setdefault(id_, {})[name] = model
        heat = {name: _temperature(pupil, tested) for name, pupil in self.pupils.items()}
        by_label = {pupil.taught.label: name for name, pupil in self.pupils.items()}
        models = [
            FieldModel(heated(m.field, heat[by_label[m.field.label]]), m.weights)
            for m in tagger.models
        ]
        tested = {
            id_: {n: FieldModel(heated(m.field, heat[n]), m.weights) for n, m in each.items()}
            for id_, each in tested.items()
        }
        reports, doubts = self._test(tested)
        left_out = tuple(p.field.name for p in self.pupils.values() if p.given and not p.lessons)
        return Taught(
            QuickTagger(models, len(self.documents)), len(self.documents), reports, doubts, left_out
        )

    def _test(
        self, tested: Mapping[str, Mapping[str, FieldModel]]
    ) -> tuple[tuple[FieldReport, ...], tuple[Doubt, ...]]:
        right: dict[str, int] = {}
        ruled: dict[str, int] = {}
        doubts: dict[str, Doubt] = {}
        for id_, models in tested.items():
            known = []
            for name, model in models.items():
                lesson = self.pupils[name].last[id_]
                probs = model.probs(lesson.rows, lesson.values, lesson.groups)
                known.append((model, lesson, probs))
                if self.pupils[name].taught.per != "document":
                    continue
                best = int(probs.argmax())
                right[name] = right.get(name, 0) + bool(lesson.right[best])
                doubt = self._doubt(id_, name, lesson, best, float(probs[best]))
                if not lesson.right[best] and (id_ not in doubts or doubts[id_].sure < doubt.sure):
                    doubts[id_] = doubt
            if self.rules.rules:
                for name in self._decoded(id_, known, models):
                    ruled[name] = ruled.get(name, 0) + 1
        single = {n for n, p in self.pupils.items() if p.taught.per == "document"}
        reports = [
            FieldReport(
                p.field.name, p.given, len(p.lessons),
                right.get(name, 0) if tested and name in single else None,
                ruled.get(name, 0) if tested and self.rules.rules and name in single else None,
                p.given > 1 and len(p.same) == 1,
            )
            for name, p in self.pupils.items()
            if p.given
        ]  # fmt: skip
        ranked = sorted(doubts.values(), key=lambda each: -each.sure)
        return tuple(reports), tuple(ranked)

    def _doubt(self, id_: str, name: str, lesson: Lesson, best: int, sure: float) -> Doubt:
        found = self.documents[id_].text(int(lesson.starts[best]), int(lesson.ends[best]))
        value = self.truths[id_].values.get(name, ("",))[0]
        return Doubt(id_, name, str(value), found, sure)

    def _decoded(
        self, id_: str, known: Sequence[Any], models: Mapping[str, FieldModel]
    ) -> Iterable[str]:
        """The fields that are right under the rules."""
        document = self.documents[id_]
        types = [pupil.taught.label for pupil in self.pupils.values()]
        scores = span_scores(len(document), known, types)
        found = decode(document, scores, self.rules, budget=BUDGET)
        return self._found(id_, found, models)

    def _found(self, id_: str, found: Decoding, names: Iterable[str]) -> Iterator[str]:
        """The fields whose first value stands where the true one does."""
        for name in names:
            spans = {each.words for each in found.fields.get(name, ())[:1]}
            if (lesson := self.pupils[name].last.get(id_)) is None:
                continue
            pairs = zip(lesson.starts.tolist(), lesson.ends.tolist(), strict=True)
            if any(ok and pair in spans for ok, pair in zip(lesson.right, pairs, strict=True)):
                yield name


def _taught(f: Field, per: Per) -> TaughtField:
    names = tuple(dict.fromkeys((f.name, f.label)))
    return TaughtField(label=f.label, type=f.type, names=names, per=per, max_words=f.max_words)


class _Page:
    """A document that lessons are made of."""

    def __init__(self, document: Document) -> None:
        self.page = SpanPage(document)
        self.features = Features(self.page)
        self.occurrences = Occurrences(document)

    def candidates(self, pupil: Pupil) -> CandidateSpans:
        return self.page.candidates(pupil.taught.type, pupil.taught.max_words)

    def lesson(self, pupil: Pupil) -> Lesson | None:
        """The candidates of a field, none of which is right so far, if there are any."""
        found = self.candidates(pupil)
        if not (count := len(found.starts)):
            return None
        return Lesson(
            found.starts, found.ends, list(found.values),
            self.features.of(found, pupil.taught.names, pupil.taught.per),
            self.page.groups(found, pupil.taught.per),
            np.zeros(count, bool), np.zeros(count, bool), np.full(count, -1),
        )  # fmt: skip

    def carries(self, value: Any, pupil: Pupil) -> NDArray[np.bool_]:
        return carries(self.candidates(pupil), self.occurrences, value, pupil.field)


def heated(taught: TaughtField, temperature: float) -> TaughtField:
    """The field with scores that are divided by a temperature."""
    return msgspec.structs.replace(taught, temperature=temperature)


def carries(
    candidates: CandidateSpans, occurrences: Occurrences, value: Any, f: Field
) -> NDArray[np.bool_]:
    """The candidates that carry a value: in its most plausible reading, or else in another one."""
    if f.type == "text":
        wanted: set[Any] = {fold(str(value))}
    else:
        wanted = possible_values(value, f.type)
        first = type_named(f.type).read(value)[:1] if isinstance(value, str) else ()
        # People write amounts without signs.
        first += tuple(-each for each in first if isinstance(each, Decimal) and each > 0)
        plain = np.array([each[0] in first for each in candidates.values], bool)
        if plain.any():
            return plain
    right = np.array([not wanted.isdisjoint(each) for each in candidates.values], bool)
    if not right.any():
        spans = set(occurrences.find(value, f.type))
        pairs = zip(candidates.starts.tolist(), candidates.ends.tolist(), strict=True)
        right = np.array([pair in spans for pair in pairs], bool)
    return right


def _has(truth: Truth, name: str) -> bool:
    """Whether a list, or a field of rows, has values."""
    return name in truth.values or any(name in row for rows in truth.rows.values() for row in rows)


def _label(lesson: Lesson, gold: Sequence[str], label: str) -> None:
    """The candidates that are labelled are right, and those whose words are open are open."""
    spans = {(start, end) for type_, start, end in bio_spans(gold) if type_ == label}
    unknown = np.concatenate([[0], np.cumsum([each == UNKNOWN for each in gold])])
    pairs = zip(lesson.starts.tolist(), lesson.ends.tolist(), strict=True)
    lesson.right = np.array([pair in spans for pair in pairs], bool)
    lesson.open = (unknown[lesson.ends] > unknown[lesson.starts]) & ~lesson.right


def _temperature(pupil: Pupil, tested: Mapping[str, Mapping[str, FieldModel]]) -> float:
    """The temperature at which the scores of documents that were held back are most probable."""
    name = pupil.field.name
    scored = [
        (tested[id_][name].weights[lesson.rows].sum(axis=1), lesson.right)
        for id_, lesson in pupil.lessons.items()
        if name in tested.get(id_, ())
    ]
    return temperature_of(scored) if pupil.taught.per == "document" else 1.0


def temperature_of(scored: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> float:
    """The temperature at which what is right is most probable: scores, and which are right."""
    if not scored:
        return 1.0

    def loss(temperature: float) -> float:
        total = 0.0
        for scores, right in scored:
            odds = np.append(scores / temperature, 0.0)
            total += float(np.logaddexp.reduce(odds) - np.logaddexp.reduce(odds[:-1][right]))
        return total

    return float(min(TEMPERATURES, key=loss))


def align_all(
    documents: Iterable[Document],
    truths: Mapping[str, Truth],
    rules: Rules,
    *,
    margin: float = MARGIN,
) -> list[Aligned]:
    """Documents with labels for the words that carry true values; those without are left out.

    A quick model that is taught on the same values tells which of the places of each is meant.
    """
    known = [document for document in documents if document.id in truths]
    teacher = Teacher(rules)
    for document in known:
        truth = with_implied(document, truths[document.id], rules)
        teacher.add(document, dataclasses.replace(truth, rows={}))  # rows are placed without it
    return align_scored(_scored(teacher.chooser(), known), truths, rules, margin=margin)


def _scored(tagger: QuickTagger, documents: Iterable[Document]) -> Iterator[Scored]:
    """Documents with scores, without rows that the model finds."""
    return (Scored(each, tagger.scores_of(each)) for each in documents)
