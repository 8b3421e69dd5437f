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
from lawful.documents.records import UNKNOWN
from lawful.documents.scores import Scores
from lawful.learn.align import Aligned, Truth, align, align_scored
from lawful.learn.align.aligning import MARGIN, with_implied
from lawful.models.linear import Example, Floats, fit
from lawful.models.quick import FieldModel, QuickTagger, TaughtField, span_scores
from lawful.models.span_features import Features, hopes
from lawful.models.spans import CandidateSpans, Ints, SpanPage
from lawful.models.tagger import Tagger
from lawful.results.decoding import Budget, Decoding
from lawful.rules.definitions import Field
from lawful.rules.rule_set import Rules
from lawful.values import type_named

PRIOR = 0.3
"""Precision of the weights."""

STEPS, SCOUT_STEPS = 25, 10
"""Steps of a fit, and of the first one, which only chooses candidates."""

SCOUTS = 30
"""Documents that the first fit is made on."""

KEPT = 200
"""Candidates without the value that are kept, per document and field."""

MOST = 1000
"""Documents that a model is taught on, at most: more make it hardly better, but need memory."""

MIN_DOCUMENTS = 5
"""Documents with a value of a field from which on a model tells which of its places is meant."""

FOLDS, FEW_FOLDS, MANY_DOCUMENTS = 5, 3, 100
"""Parts of cross-validation, and those for more than so many documents."""

TEMPERATURES = np.geomspace(1.0, 8.0, 19)

BUDGET = Budget(candidates=2**12, seconds=2.0)
"""Of a decoding in cross-validation."""


@dataclass(slots=True)
class Lesson:
    """The candidates of a field in one document, and which of them have the true value."""

    starts: Ints
    ends: Ints
    values: list[Any]
    rows: NDArray[np.int32]
    right: NDArray[np.bool_]

    def only(self, kept: NDArray[np.intp]) -> Lesson:
        return Lesson(
            self.starts[kept], self.ends[kept], [self.values[i] for i in kept.tolist()],
            self.rows[kept], self.right[kept],
        )  # fmt: skip

    def chosen(self, scores: Floats) -> Lesson:
        """The candidates with the value, and those of the highest scores."""
        if len(scores) <= KEPT:
            return self
        kept = self.right.copy()
        kept[np.argpartition(-scores, KEPT)[:KEPT]] = True
        return self.only(np.flatnonzero(kept))


@dataclass(slots=True)
class Pupil:
    """What is known of one field: its lessons, by the id of the document."""

    field: Field
    taught: TaughtField
    lessons: dict[str, Lesson] = dataclasses.field(default_factory=dict)
    given: int = 0  # documents whose value is known
    same: set[Any] = dataclasses.field(default_factory=set)  # up to two different values
    prior: Floats | None = None  # weights to stay near to, of an earlier model
    scout: Floats | None = None
    unseen: list[str] = dataclasses.field(default_factory=list)  # with whole lessons

    def add(self, id_: str, lesson: Lesson) -> None:
        if self.scout is not None:
            self.lessons[id_] = lesson.chosen(self.scout[lesson.rows].sum(axis=1))
            return
        self.lessons[id_] = lesson
        self.unseen.append(id_)
        if len(self.unseen) == SCOUTS:
            self.shorten()

    def shorten(self) -> None:
        """Fits the scout, and keeps what matters of the lessons so far."""
        if any(len(self.lessons[id_].right) > KEPT for id_ in self.unseen):
            random = np.random.default_rng(0)
            some = [
                lesson.chosen(random.random(len(lesson.right)))
                for lesson in map(self.lessons.__getitem__, self.unseen)
            ]
            self.scout = self._fit(some, SCOUT_STEPS)
            for id_ in self.unseen:
                lesson = self.lessons[id_]
                self.lessons[id_] = lesson.chosen(self.scout[lesson.rows].sum(axis=1))
        self.unseen = []

    def fit(self, ids: Iterable[str], start: Floats | None = None) -> Floats:
        """The weights that the lessons of these documents teach."""
        return self._fit([self.lessons[id_] for id_ in ids], STEPS, start)

    def _fit(self, some: Sequence[Lesson], steps: int, start: Floats | None = None) -> Floats:
        examples = [Example(each.rows, each.right) for each in some if len(each.right)]
        hoped = hopes() if self.prior is None else self.prior
        if not examples:
            return hoped
        return fit(examples, hoped, prior=PRIOR, steps=steps, start=start, alone=self.taught.many)


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
                taught = _taught(f, f.many or f.name in rows)
                self.pupils[f.name] = Pupil(f, taught, prior=earlier.get(f.label))
                labels.add(f.label)
        self.documents: dict[str, Document] = {}
        self.truths: dict[str, Truth] = {}

    def add(self, document: Document, truth: Truth, gold: tuple[str, ...] | None = None) -> None:
        """Learns what a document says; beyond ``MOST`` documents, nothing.

        ``gold`` are labels that say where values of lists are; without them, they are looked for.
        """
        if len(self.documents) >= MOST or not len(document):
            return
        self.documents[document.id], self.truths[document.id] = document, truth
        page = SpanPage(document)
        features = Features(page)
        occurrences = Occurrences(document)
        if gold is None and (truth.rows or _lists(self, truth)):
            gold = align(document, truth, self.rules).labelled.gold
        for name, pupil in self.pupils.items():
            if not (given := pupil.taught.many and gold is not None) and (name not in truth.values):
                continue
            if given and not _has(truth, name):
                continue
            pupil.given += 1
            candidates = page.candidates(pupil.taught.type, pupil.taught.max_words)
            if not len(candidates.starts):
                continue
            if pupil.taught.many:
                assert gold is not None  # noqa: S101 - as given
                right, open_ = _labelled(gold, pupil.taught.label, candidates)
            else:
                value = truth.values[name][0]
                if len(pupil.same) < 2:
                    pupil.same.add(str(value))
                right, open_ = carries(candidates, occurrences, value, pupil.field), None
            if right.any():
                rows = features.of(candidates, pupil.taught.names)
                lesson = Lesson(
                    candidates.starts, candidates.ends, list(candidates.values), rows, right
                )
                if open_ is not None:
                    lesson = lesson.only(np.flatnonzero(~open_))
                pupil.add(document.id, lesson)

    def forget(self, id_: str) -> None:
        """Takes a document's lessons back, as before it is taught again with other values."""
        if self.documents.pop(id_, None) is not None:
            for pupil in self.pupils.values():
                truth = self.truths[id_]
                pupil.given -= id_ in pupil.lessons or pupil.field.name in truth.values
                pupil.lessons.pop(id_, None)
                pupil.unseen = [each for each in pupil.unseen if each != id_]
            del self.truths[id_]

    def tagger(self, start: QuickTagger | None = None) -> QuickTagger:
        """The model of all lessons so far, starting from an earlier one's weights."""
        models = self._models(1, () if start is None else start.models)
        if not models:
            raise InputError("no value was found in any document, so there is nothing to learn")
        return QuickTagger(models, len(self.documents))

    def _models(self, least: int, start: Iterable[FieldModel] = ()) -> list[FieldModel]:
        """The models of fields that so many documents teach."""
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
        scored = self.chooser().predict(self.documents.values())
        return align_scored(scored, self.truths, self.rules)

    def folds(self) -> list[list[str]]:
        """The ids of documents in parts for cross-validation; none of a single document."""
        ids = sorted(self.documents, key=lambda id_: crc32(id_.encode()))
        count = min(FOLDS if len(ids) <= MANY_DOCUMENTS else FEW_FOLDS, len(ids))
        return [ids[start::count] for start in range(count)] if count > 1 else []

    def without(self, out: Iterable[str]) -> QuickTagger:
        """The model of all other documents."""
        left = self.documents.keys() - set(out)
        models = []
        for pupil in self.pupils.values():
            if rest := [id_ for id_ in pupil.lessons if id_ in left]:
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
            single = (name for name, pupil in self.pupils.items() if not pupil.taught.many)
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
                rest = [id_ for id_ in pupil.lessons if id_ not in out]
                if rest and any(id_ in out for id_ in pupil.lessons):
                    model = FieldModel(pupil.taught, pupil.fit(rest))
                    for id_ in out & pupil.lessons.keys():
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
                lesson = self.pupils[name].lessons[id_]
                probs = model.probs(lesson.rows, lesson.values)
                known.append((model, lesson, probs))
                best = int(probs.argmax())
                right[name] = right.get(name, 0) + bool(lesson.right[best])
                doubt = self._doubt(id_, name, lesson, best, float(probs[best]))
                if not lesson.right[best] and (id_ not in doubts or doubts[id_].sure < doubt.sure):
                    doubts[id_] = doubt
            if self.rules.rules:
                for name in self._decoded(id_, known, models):
                    ruled[name] = ruled.get(name, 0) + 1
        reports = [
            FieldReport(
                p.field.name, p.given, len(p.lessons),
                right.get(name, 0) if tested and not p.taught.many else None,
                ruled.get(name, 0) if tested and self.rules.rules and not p.taught.many else None,
                p.given > 1 and len(p.same) == 1 and not p.taught.many,
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
            if (lesson := self.pupils[name].lessons.get(id_)) is None:
                continue
            pairs = zip(lesson.starts.tolist(), lesson.ends.tolist(), strict=True)
            if any(ok and pair in spans for ok, pair in zip(lesson.right, pairs, strict=True)):
                yield name


def _taught(f: Field, many: bool) -> TaughtField:
    names = tuple(dict.fromkeys((f.name, f.label)))
    return TaughtField(label=f.label, type=f.type, names=names, many=many, max_words=f.max_words)


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


def _lists(teacher: Teacher, truth: Truth) -> bool:
    return any(teacher.pupils[n].taught.many for n in truth.values if n in teacher.pupils)


def _has(truth: Truth, name: str) -> bool:
    """Whether a list, or a field of rows, has values."""
    return name in truth.values or any(name in row for rows in truth.rows.values() for row in rows)


def _labelled(
    gold: tuple[str, ...], label: str, candidates: CandidateSpans
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The candidates that are labelled, and those whose words are open."""
    spans = set()
    for start in (i for i, each in enumerate(gold) if each == f"B-{label}"):
        end = start + 1
        while end < len(gold) and gold[end] == f"I-{label}":
            end += 1
        spans.add((start, end))
    unknown = np.concatenate([[0], np.cumsum([each == UNKNOWN for each in gold])])
    pairs = zip(candidates.starts.tolist(), candidates.ends.tolist(), strict=True)
    right = np.array([pair in spans for pair in pairs], bool)
    return right, (unknown[candidates.ends] > unknown[candidates.starts]) & ~right


def _temperature(pupil: Pupil, tested: Mapping[str, Mapping[str, FieldModel]]) -> float:
    """The temperature at which the scores of documents that were held back are most probable."""
    name = pupil.field.name
    scored = [
        (tested[id_][name].weights[lesson.rows].sum(axis=1), lesson.right)
        for id_, lesson in pupil.lessons.items()
        if name in tested.get(id_, ())
    ]
    return 1.0 if pupil.taught.many else temperature_of(scored)


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
        teacher.add(document, with_implied(document, truths[document.id], rules))
    return align_scored(teacher.chooser().predict(known), truths, rules, margin=margin)
