"""Scores of a model that scores spans instead of words: candidate spans and their probabilities.

A set of spans that do not overlap is a labelling. For the search it is a path over labels that
count down: a span of three words is ``first 3, 2 left, 1 left``. So each span has exactly one
sequence of labels, at whose beginning stands the cost of the span, and everything that works on
labellings works on sets of spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from lawful.base.cache import Cache
from lawful.base.errors import ScoresError, shown
from lawful.documents.label_names import MAX_LABELS
from lawful.documents.labels import Scheme, Span
from lawful.documents.scores import Pooling, Scores, check_temperature

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers: TypeAlias = NDArray[np.float64]

Candidate: TypeAlias = tuple[int, int, str, float]
"""Start and end of a span, half-open, its label's type, and its probability."""

SUREST = 1 - 1e-8
"""Higher probabilities count as this one, which single precision can hardly tell from 1."""


class SpanScores:
    """Candidate spans of one document, each with the probability that it is one; read-only.

    ``spans`` are words ``[start, end)`` of a type; every other span is impossible. They are
    independent of each other, except that chosen spans may not overlap: the log-probability of a
    set of spans is the sum of ``log p`` over the chosen ones and of ``log(1 - p)`` over all others.
    It is not renormalised over the sets without overlaps. The best set is therefore the one with
    the highest sum of log-odds.
    """

    spans: tuple[Span, ...]
    types: tuple[str, ...]  # all that the model knows
    log_odds: Numbers  # by span, log p - log(1 - p): how much better a labelling is that has it
    log_none: float  # the log-probability of a document without any spans
    chain: ClassVar[None] = None  # spans have no transition scores
    unit: ClassVar = ("word with span scores", "words with span scores")
    named: Mapping[str, float]  # by type, how probable it is that its true spans are here, if known
    _words: int
    _ends: NDArray[np.intp] | None  # by word, where the text of a span that begins there ends
    _taken: NDArray[np.intp]  # the words that must be in a span

    def __init__(
        self, candidates: Iterable[Candidate], words: int, types: Iterable[str] | None = None,
        named: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        """From candidates ``(start, end, type, probability)`` over so many words.

        ``types`` are all types that the model knows, by default those of the candidates. A span of
        probability 0 is never chosen; one of probability 1 counts as ``SUREST``. ``named`` is, by
        type, how probably its true spans are among the candidates.
        """
        if isinstance(words, bool) or not isinstance(words, Integral) or words < 0:
            raise ScoresError(f"words is {shown(words)}, expected a count of 0 or more")
        if isinstance(candidates, str) or not isinstance(candidates, Iterable):
            raise ScoresError(f"candidates is {shown(candidates)}, expected a list")
        found = [_checked(i, each, int(words)) for i, each in enumerate(candidates)]
        seen: dict[Span, int] = {}
        for i, (span, _) in enumerate(found):
            if (first := seen.setdefault(span, i)) != i:
                raise ScoresError(f"candidates {first} and {i} are the same span: {_shown(span)}")
        names = tuple(dict.fromkeys(span.type for span, _ in found))
        if types is not None:
            given = _checked_types(types)
            if unknown := [name for name in names if name not in given]:
                raise ScoresError(
                    f"a candidate has type {unknown[0]!r}, which is not among the types: "
                    f"{', '.join(given)}"
                )
            names = given
        probs = np.minimum(np.array([p for _, p in found], np.float64), SUREST)
        with np.errstate(divide="ignore"):
            log_odds = np.log(probs) - np.log1p(-probs)
        log_none = float(np.log1p(-probs).sum())
        self._set(int(words), [span for span, _ in found], log_odds, log_none, names)
        self.named = named or {}

    def _set(
        self,
        words: int,
        spans: Sequence[Span],
        log_odds: Numbers,
        log_none: float,
        types: tuple[str, ...],
        ends: NDArray[np.intp] | None = None,
        taken: Sequence[int] = (),
    ) -> None:
        log_odds.flags.writeable = False
        self.named = {}
        self.spans, self.types = tuple(spans), types
        self.log_odds, self.log_none = log_odds, log_none
        self._words, self._ends = words, ends
        self._taken = np.array(taken, np.intp)
        lengths = self.lengths
        if (size := _size(lengths)) > MAX_LABELS:
            longest = max(lengths, key=lambda each: each[1])
            raise ScoresError(
                f"the candidates are too long for the search, which would need {size:,} labels "
                f"(at most {MAX_LABELS:,}): {longest[0]} is up to {longest[1]} words long"
            )

    @classmethod
    def of_slots(
        cls,
        words: int,
        spans: Sequence[Span],
        log_odds: Numbers,
        log_none: float,
        types: tuple[str, ...],
        ends: NDArray[np.intp],
        taken: Sequence[int],
        named: Mapping[str, float] | None = None,
    ) -> SpanScores:
        """Candidates that exclude each other more widely than their words overlap.

        A span excludes others over all its words, but its text ends at ``ends`` of its first word.
        ``log_odds`` compare a span with none in its place; ``log_none`` is the log-probability that
        there are no spans at all. The words ``taken`` must be in a span: those of their spans are
        log-probabilities, which ``log_none`` does not count. ``named`` lowers confidences alone.
        """
        scores = object.__new__(cls)
        scores._set(words, spans, np.array(log_odds, np.float64), log_none, types, ends, taken)
        scores.named = named or {}
        return scores

    def only(self, spans: Sequence[int], taken: Sequence[int] = ()) -> SpanScores:
        """The same scores with these spans alone, by their numbers; words ``taken`` are in one."""
        kept = [self.spans[i] for i in spans]
        ends = np.arange(1, self._words + 1) if self._ends is None else self._ends
        both = [*self._taken.tolist(), *taken]
        odds = self.log_odds[list(spans)]
        return self.of_slots(
            self._words, kept, odds, self.log_none, self.types, ends, both, self.named
        )

    def also(self, spans: Iterable[Span]) -> SpanScores:
        """The same scores with these spans, as likely as not; nothing is added to slots."""
        new = [span for span in dict.fromkeys(spans) if span not in self.spans]
        if not new or self._ends is not None:
            return self
        odds = np.concatenate([self.log_odds, np.zeros(len(new))])
        types = self.knowing(span.type for span in new).types
        return self._with([*self.spans, *new], odds, self.log_none + len(new) * log(0.5), types)

    def knowing(self, types: Iterable[str]) -> SpanScores:
        """The same scores of a model that knows these types, too, and has no spans of them."""
        names = tuple(dict.fromkeys((*self.types, *types)))
        return self._with(self.spans, self.log_odds, self.log_none, names)

    def _with(
        self, spans: Sequence[Span], odds: Numbers, none: float, types: tuple[str, ...]
    ) -> SpanScores:
        scores = object.__new__(SpanScores)
        scores._set(self._words, spans, odds, none, types, self._ends, self._taken.tolist())
        scores.named = self.named
        return scores

    def text_end(self, word: int) -> int:
        """Where the text of a span that begins with this word ends, if its words are slots."""
        return word + 1 if self._ends is None else int(self._ends[word])

    def must_be_taken(self, span: Span) -> bool:
        """Whether one of the words of a span must be in a span."""
        return bool(((self._taken >= span.start) & (self._taken < span.end)).any())

    @classmethod
    def from_array(
        cls, probs: ArrayLike, types: Iterable[str], *, least: float = 0.001
    ) -> SpanScores:
        """From probabilities of all spans up to some length: (words, lengths, types).

        ``probs[i, k, t]`` is the probability that words ``i`` to ``i + k``, the last included, are
        a span of type ``t``; entries beyond the last word are ignored, and so are probabilities
        below ``least``. GLiNER's scores have this form, after a sigmoid.
        """
        array = np.asarray(probs)
        names = _checked_types(types)
        if array.ndim != 3 or array.shape[2] != len(names) or array.dtype.kind not in "fiub":
            raise ScoresError(
                f"probs has shape {array.shape} of {array.dtype}, expected real numbers: "
                f"words x lengths x {len(names)} types"
            )
        words, lengths, _ = array.shape
        inside = np.arange(words)[:, None] + np.arange(lengths)[None, :] < words
        array = np.where(inside[:, :, None], array, 0)
        wrong = ~((array >= 0) & (array <= 1))
        if wrong.any():
            at = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), array.shape))
            raise ScoresError(f"probs{list(at)} is {array[at]}, expected a probability")
        chosen = np.argwhere(array >= max(least, np.finfo(float).tiny))
        return cls(
            ((i, i + k + 1, names[t], float(array[i, k, t])) for i, k, t in chosen.tolist()),
            words,
            names,
        )

    @classmethod
    def from_entities(
        cls,
        entities: Iterable[Mapping[str, Any]],
        offsets: Sequence[tuple[int, int]],
        types: Iterable[str] | None = None,
    ) -> SpanScores:
        """From entities in a text, as GLiNER's ``predict_entities`` returns them.

        Each has ``start`` and ``end`` in characters, a ``label`` and a ``score``; ``offsets`` are
        the first character of each word and that after its last. A span has all words that the
        entity touches; of entities with the same words and label, the highest score counts. Ask
        the model for all it has: ``threshold=0.01, flat_ner=False, multi_label=True``.
        """
        best: dict[tuple[int, int, str], float] = {}
        for span, entity in _touched(entities, offsets):
            best[span] = max(entity["score"], best.get(span, 0.0))
        return cls(((*span, score) for span, score in best.items()), len(offsets), types)

    @classmethod
    def from_runs(
        cls,
        runs: Iterable[Iterable[Mapping[str, Any]]],
        offsets: Sequence[tuple[int, int]],
        types: Iterable[str] | None = None,
        *,
        smoothing: float = 0.5,
    ) -> SpanScores:
        """From the entities that several runs of a model without scores found in a text.

        Entities are as in ``from_entities``, without a ``score``: a span that ``v`` of ``n`` runs
        have is one with the probability ``(v + smoothing) / (n + 2 * smoothing)``.
        """
        found = [{span for span, _ in _touched(run, offsets, score=False)} for run in runs]
        if not found:
            raise ScoresError("there are no runs, expected at least one")
        votes = Counter(span for run in found for span in sorted(run))
        of = len(found) + 2 * smoothing
        candidates = [(*span, (count + smoothing) / of) for span, count in votes.items()]
        return cls(candidates, len(offsets), types)

    @classmethod
    def from_spacy(cls, group: Any, types: Iterable[str] | None = None) -> SpanScores:
        """From the spans that spaCy's span categorizer found: ``doc.spans["sc"]``.

        The words are the tokens of its document. Only spans above the component's ``threshold`` are
        there: set it to 0.01 or so.
        """
        scores = group.attrs.get("scores")
        if scores is None or len(scores) != len(group):
            raise ScoresError(
                f"the spans {shown(getattr(group, 'name', ''))} have no scores: expected those of "
                "a span categorizer"
            )
        found = zip(group, scores, strict=True)
        return cls(
            ((span.start, span.end, span.label_, float(p)) for span, p in found),
            len(group.doc),
            types,
        )

    def with_temperature(self, temperature: float) -> SpanScores:
        """The same candidates with log-odds divided by ``temperature``: nearer to 0.5 above 1."""
        check_temperature(temperature)
        scores = object.__new__(SpanScores)
        log_odds = self.log_odds / temperature
        log_none = -float(np.logaddexp(0.0, log_odds).sum())
        scores._set(self._words, self.spans, log_odds, log_none, self.types)
        return scores

    def to_words(self, joins: Sequence[bool], how: Pooling = "mean") -> SpanScores:
        """Raises a ``ScoresError`` if pieces join: spans count them, so they cannot be merged."""
        if any(joins):
            raise ScoresError(
                "scores of spans are of word pieces, which cannot be merged into words"
            )
        return self

    def __len__(self) -> int:
        """The number of words."""
        return self._words

    def __repr__(self) -> str:
        return f"<SpanScores: {len(self.spans)} candidates over {self._words} words>"

    @property
    def lengths(self) -> tuple[tuple[str, int], ...]:
        """The types that candidates have, each with the length of its longest span."""
        longest: dict[str, int] = {}
        for type_, start, end in self.spans:
            longest[type_] = max(longest.get(type_, 0), end - start)
        return tuple((type_, longest[type_]) for type_ in self.types if type_ in longest)

    @property
    def slots(self) -> bool:
        """Whether spans exclude others more widely than their texts go; see ``of_slots``."""
        return self._ends is not None

    def log_odds_of(self, span: Span) -> float:
        """The log-odds of one of the candidates."""
        return float(self.log_odds[self.spans.index(span)])

    def word_scheme(self) -> Scheme:
        """The scheme of labels of words, in which answers and true labels are: BIO."""
        labels = ("O", *(f"{mark}-{type_}" for type_ in self.types for mark in "BI"))
        scheme = _WORD_SCHEMES.get(self.types)
        if scheme is None:
            scheme = Scheme.named("BIO", labels)
            _WORD_SCHEMES.keep(self.types, scheme, scheme.size)
        return scheme

    def scheme(self) -> SpanScheme:
        """The scheme of labels that count down."""
        scheme = _scheme_of(self.lengths)
        return scheme if self._ends is None else scheme.ending_at(self._ends)

    @property
    def costs(self) -> Numbers:
        """The costs of labels in ``scheme()``: (words, labels). Those of a path sum to -log p."""
        lengths = self.lengths
        costs = np.full((self._words, _size(lengths)), np.inf)
        costs[:, 0] = 0.0
        costs[:1, 0] -= self.log_none
        costs[self._taken, 0] = np.inf
        if not self.spans:
            return costs
        first, left = _columns(lengths)
        types = [type_ for type_, _ in lengths]
        of_type = np.array([types.index(span.type) for span in self.spans])
        starts = np.array([span.start for span in self.spans])
        ends = np.array([span.end for span in self.spans])
        length = ends - starts
        at_first = np.where(starts == 0, self.log_none, 0.0)
        costs[starts, first[of_type] + length - 1] = -self.log_odds - at_first
        for step in range(1, int(length.max())):
            longer = length > step
            costs[starts[longer] + step, left[of_type[longer]] + length[longer] - step - 1] = 0.0
        return costs


AnyScores: TypeAlias = Scores | SpanScores
"""A model's scores of a document, of its words or of spans.

Both have a length (in words), ``costs``, ``chain`` (``None`` for spans), ``with_temperature`` and
``to_words``.
"""


class SpanScheme(Scheme):
    """A scheme of labels that count down; the texts of its spans may be shorter than these."""

    _ends: NDArray[np.intp] | None = None
    _ends_list: Sequence[int] = ()

    def ending_at(self, ends: NDArray[np.intp]) -> SpanScheme:
        """The same scheme; the text of a span ends at ``ends`` of its first word."""
        other = object.__new__(SpanScheme)
        other.__dict__.update(self.__dict__, _ends=ends, _ends_list=ends.tolist())
        return other

    def text_ends(self, starts: NDArray[np.uint32], ends: NDArray[np.uint32]) -> NDArray[Any]:
        return ends if self._ends is None else self._ends[starts]

    def spans_of(
        self, types: tuple[str, ...], labels: NDArray[np.integer[Any]]
    ) -> list[tuple[int, int, int]]:
        found = super().spans_of(types, labels)
        if self._ends is None:
            return found
        ends = self._ends_list
        return [(type_, start, ends[start]) for type_, start, _ in found]

    def text_of(self, span: Span) -> Span:
        """The words of a span that its text consists of."""
        return span if self._ends is None else span._replace(end=int(self._ends[span.start]))

    def whole_spans(self, labels: NDArray[np.integer[Any]]) -> list[Span]:
        """The spans with all words that they exclude others from."""
        found = super().spans_of(self.types, labels)
        return [Span(self.types[type_], start, end) for type_, start, end in found]


_WORD_SCHEMES: Cache[tuple[str, ...], Scheme] = Cache(2**26)

_SCHEMES: Cache[tuple[tuple[str, int], ...], SpanScheme] = Cache(2**26)


def _scheme_of(lengths: tuple[tuple[str, int], ...]) -> SpanScheme:
    """The labels of these types and longest lengths: outside, then first and left, by type."""
    scheme = _SCHEMES.get(lengths)
    if scheme is not None:
        return scheme
    size = _size(lengths)
    first, left = _columns(lengths)
    begins, ends = np.zeros(size, bool), np.zeros(size, bool)
    begins[0] = ends[0] = True
    goes_on = np.zeros((size, size), bool)
    type_of = np.full(size, -1)
    names = ["O"]
    for t, (type_, longest) in enumerate(lengths):
        names += [f"first {n} {type_}" for n in range(1, longest + 1)]
        names += [f"{n} left {type_}" for n in range(1, longest)]
        type_of[first[t] : first[t] + 2 * longest - 1] = t
        begins[first[t] : first[t] + longest] = True
        ends[first[t]] = True
        if longest > 1:
            ends[left[t]] = True
            more = np.arange(longest - 1)
            goes_on[first[t] + 1 + more, left[t] + more] = True
            goes_on[left[t] + more[1:], left[t] + more[:-1]] = True
    types = tuple(type_ for type_, _ in lengths)
    scheme = SpanScheme.of_spans(
        tuple(names), types, type_of, first=begins, last=ends, goes_on=goes_on
    )
    return _SCHEMES.keep(lengths, scheme, scheme.size)


def _size(lengths: Iterable[tuple[str, int]]) -> int:
    return 1 + sum(2 * longest - 1 for _, longest in lengths)


def _columns(
    lengths: tuple[tuple[str, int], ...],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """By type, the column of its spans' first label of length 1, and of the label with 1 left."""
    longest = np.array([n for _, n in lengths], np.intp)
    first = 1 + np.concatenate([[0], np.cumsum(2 * longest - 1)])[: len(longest)].astype(np.intp)
    return first, first + longest


def _shown(span: Span) -> str:
    return f"words {span.start} to {span.end} as {span.type!r}"


def _touched(
    entities: Iterable[Mapping[str, Any]], offsets: Sequence[tuple[int, int]], *, score: bool = True
) -> Iterator[tuple[tuple[int, int, str], Mapping[str, Any]]]:
    """Each entity with its words and label."""
    needed = ("start", "end", "label", "score")[: 4 if score else 3]
    for i, entity in enumerate(entities):
        try:
            first, last = int(entity["start"]), int(entity["end"])
            label = [entity[name] for name in needed][2]
        except (KeyError, TypeError, ValueError):
            expected = f"{', '.join(needed[:-1])} and {needed[-1]}"
            raise ScoresError(f"entity {i} is {shown(entity)}, expected {expected}") from None
        touched = [w for w, (start, end) in enumerate(offsets) if start < last and first < end]
        if not touched:
            raise ScoresError(f"entity {i}: no word is at characters {first} to {last}")
        yield (touched[0], touched[-1] + 1, label), entity


def _checked(i: int, given: Any, words: int) -> tuple[Span, float]:
    """A candidate as a span and its probability; raises a ``ScoresError`` that names it."""
    try:
        start, end, type_, p = given
    except (TypeError, ValueError):
        raise ScoresError(
            f"candidate {i} is {shown(given)}, expected (start, end, type, probability)"
        ) from None
    whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in (start, end))
    if not whole or not 0 <= start < end <= words:
        raise ScoresError(
            f"candidate {i} has words {shown(start)} to {shown(end)}, expected start < end, both "
            f"from 0 to {words}"
        )
    _check_type(type_, f"candidate {i} has type")
    # Written so that NaN, for which every comparison is false, is refused too.
    if isinstance(p, bool) or not isinstance(p, Real) or not 0 <= float(p) <= 1:
        raise ScoresError(f"candidate {i} has probability {shown(p)}, expected one from 0 to 1")
    return Span(type_, int(start), int(end)), float(p)


def _check_type(type_: Any, where: str) -> None:
    if not isinstance(type_, str) or not type_ or type_ != type_.strip():
        raise ScoresError(f"{where} {shown(type_)}, expected a name such as 'total'")


def _checked_types(types: Iterable[str]) -> tuple[str, ...]:
    if isinstance(types, str) or not isinstance(types, Iterable):
        raise ScoresError(f"types is {shown(types)}, expected a list of names")
    names = tuple(types)
    for i, name in enumerate(names):
        _check_type(name, f"type {i} is")
        if name in names[:i]:
            raise ScoresError(f"type {i} is {name!r}, the same as type {names.index(name)}")
    return names
