"""Rules about spans and their places: orders, boundaries, patterns, closed sets of texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations

import numpy as np

from lawful.base.errors import RulesError
from lawful.learn.intervals import Share
from lawful.learn.proposals import MIN_SUPPORT, FieldCondition, Proposal
from lawful.learn.truth import TruePage, TruePages
from lawful.rules.judging.reading import Occurrence
from lawful.rules.language.patterns import compiled
from lawful.rules.lexicons import Lexicon
from lawful.rules.span_rules import Boundaries, Order

MIN_SHARE = 0.95
"""Share of spans, or of pages, that a proposed pattern, set of texts or order must fit."""

MIN_AT_BOUNDARIES = 0.8
"""Share of spans that must begin at a proposed boundary: real texts often begin one elsewhere."""

MAX_TEXTS = 20
MAX_SHAPES = 3
MAX_CHANCES = 2000

_OPTIONAL = 3  # texts of which one occurs at most this often are no closed set


@dataclass(frozen=True, slots=True)
class Spans:
    """The texts of a field's spans on true pages, and other texts: of other fields, and words."""

    mined: list[str]
    held_out: list[str]
    pages: int  # that have such a span
    others: list[str]


def spans_of(truth: TruePages, name: str, seed: int) -> Spans:
    """The spans of a field, and as many texts that are none of them."""
    at = next(i for i, f in enumerate(truth.rules.fields) if f.name == name)
    mined, held_out, others, pages = list[str](), list[str](), list[str](), 0
    for page in truth.pages:
        own = [page.document.text(s.start, s.end) for s in page.reading[at]]
        (held_out if page.held_out else mined).extend(own)
        pages += bool(own)
        if own:
            others += _other_texts(page, at)
    random = np.random.default_rng([seed, at])
    some = random.permutation(len(others))[:MAX_CHANCES]
    return Spans(mined, held_out, pages, [others[i] for i in some])


def _other_texts(page: TruePage, at: int) -> Iterator[str]:
    """The texts of other fields' spans, and the words that are in no field."""
    taken = {w for spans in page.reading for s in spans for w in range(s.start, s.end)}
    for i, spans in enumerate(page.reading):
        if i != at:
            yield from (page.document.text(s.start, s.end) for s in spans)
    yield from (word for w, word in enumerate(page.document.words) if w not in taken)


# Patterns and closed sets.


def propose_texts(truth: TruePages, seed: int) -> Iterator[Proposal]:
    """Patterns and closed sets of the texts of each field of type text."""
    for f in truth.rules.fields:
        if f.kind != "text" or f.lexicon is not None:
            continue
        mined = spans_of(truth, f.name, seed).mined
        if len(mined) < MIN_SUPPORT:
            continue
        texts = Counter(" ".join(text.split()).casefold() for text in mined)
        often = [text for text, count in texts.items() if count >= _OPTIONAL]
        covered = sum(texts[text] for text in often)
        if 1 < len(often) <= MAX_TEXTS and covered >= MIN_SHARE * len(mined):
            yield Proposal("texts", FieldCondition(f.name, texts=tuple(sorted(often))), 1)
        if f.pattern is None and (pattern := pattern_of(mined)) is not None:
            yield Proposal("pattern", FieldCondition(f.name, pattern), 1)


def pattern_of(texts: Sequence[str]) -> str | None:
    """A regular expression of few shapes that nearly all texts have; none if there is none.

    A shape says which runs of digits, capitals and other letters a text has, how long they are, and
    the signs between them.
    """
    lengths: dict[str, list[list[int]]] = {}
    for text in texts:
        shape, counts = _shape(text)
        lengths.setdefault(shape, []).append(counts)
    common = sorted(lengths.items(), key=lambda each: (-len(each[1]), each[0]))[:MAX_SHAPES]
    kept, covered = [], 0
    for shape, runs in common:
        if len(runs) < max(_OPTIONAL, 0.02 * len(texts)):
            break
        kept.append(_expression(shape, np.array(runs).reshape(len(runs), -1)))
        covered += len(runs)
    if covered < MIN_SHARE * len(texts) or not any(r"\d" in each for each in kept):
        return None  # letters only: any word has that shape
    pattern = "|".join(kept)
    try:
        compiled(pattern)
    except RulesError:
        return None
    return pattern


def _class_of(letter: str) -> str:
    if letter.isdigit() and letter.isascii():
        return "0"
    return ("A" if letter.isupper() else "a") if letter.isalpha() else letter


def _shape(text: str) -> tuple[str, list[int]]:
    runs = [(kind, len(list(run))) for kind, run in groupby(text, _class_of)]
    shape = "".join(kind if kind in "0Aa" else kind * count for kind, count in runs)
    return shape, [count for kind, count in runs if kind in "0Aa"]


def _expression(shape: str, runs: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> str:
    parts, at = [], 0
    for kind in shape:
        if kind not in "0Aa":
            parts.append(re.escape(kind))
            continue
        low, high = int(runs[:, at].min()), int(runs[:, at].max())
        count = "" if low == high == 1 else f"{{{low}}}" if low == high else f"{{{low},{high}}}"
        parts.append({"0": r"\d", "A": "[A-Z]", "a": "[a-z]"}[kind] + count)
        at += 1
    return "".join(parts)


def judge_texts(rule: FieldCondition, spans: Spans) -> tuple[Share, Share, Share]:
    """The shares of spans that meet a condition: mined, held out, and other texts."""
    found = []
    lexicon = Lexicon.of(list(rule.texts)) if rule.texts else None
    for texts in (spans.mined, spans.held_out, spans.others):
        fits = [
            text in lexicon if lexicon is not None else compiled(rule.pattern or "").matches(text)
            for text in texts
        ]
        found.append(Share(sum(fits), len(fits)))
    return found[0], found[1], found[2]


# Boundaries.


def propose_boundaries(truth: TruePages) -> Iterator[Proposal]:
    """Signs that stand before most spans, and seldom within them."""
    before, anywhere = Counter[str](), Counter[str]()
    spans = 0
    for page in truth.pages:
        if page.held_out:
            continue
        words = page.document.words
        starts = {span.start for each in page.reading for span in each}
        for i, word in enumerate(words[:-1]):
            anywhere[word[-1:]] += 1
            before[word[-1:]] += i + 1 in starts
        spans += sum(start > 0 for start in starts)
    total = sum(anywhere.values())
    if spans < MIN_SUPPORT or not total:
        return
    usual = before.total() / total
    signs = [
        sign
        for sign, count in anywhere.items()
        if sign and not sign.isalnum() and count >= MIN_SUPPORT
        and before[sign] / count > max(1.5 * usual, 0.5)
    ]  # fmt: skip
    if signs and sum(before[sign] for sign in signs) >= MIN_AT_BOUNDARIES * spans:
        after = "[" + "".join(re.escape(sign) for sign in sorted(signs)) + "]$"
        yield Proposal("boundaries", Boundaries(after), 1)


def judge_boundaries(rule: Boundaries, truth: TruePages) -> tuple[Share, Share, Share]:
    """The shares of spans that begin at a boundary, mined and held out; and of all words."""
    counts = np.zeros((3, 2), int)
    for page in truth.pages:
        words = page.document.words
        allowed = [rule.allow_after(word) for word in words[:-1]]
        for each in page.reading:
            for span in each:
                if span.start:
                    counts[int(page.held_out)] += allowed[span.start - 1], 1
        counts[2] += sum(allowed), len(allowed)
    return tuple(Share(int(a), int(b)) for a, b in counts)  # type: ignore[return-value]


# Orders.


def propose_orders(truth: TruePages) -> Iterator[Proposal]:
    """The longest list of fields of which nearly all pairs are in this order, if there is one."""
    names = [f.name for f in truth.rules.fields]
    mined = [page for page in truth.pages if not page.held_out]
    edges = [
        [(spans[0].start, spans[-1].end) if spans else None for spans in page.reading]
        for page in mined
    ]
    first: dict[tuple[int, int], Share] = {}
    for a, b in permutations(range(len(names)), 2):
        pairs = [(each[a], each[b]) for each in edges]
        both = [(x, y) for x, y in pairs if x is not None and y is not None]
        first[a, b] = Share(sum(x[1] <= y[0] for x, y in both), len(both))
    often = sorted(range(len(names)), key=lambda i: -sum(each[i] is not None for each in edges))
    chain: list[int] = []
    for i in often:  # each in the only place that all fields so far agree on
        places = [
            k
            for k in range(len(chain) + 1)
            if all(_is_before(first[a, i]) for a in chain[:k])
            and all(_is_before(first[i, b]) for b in chain[k:])
        ]
        if len(places) == 1:
            chain.insert(places[0], i)
    if len(chain) > 1:
        yield Proposal("order", Order(tuple(names[i] for i in chain)), len(chain))


def _is_before(share: Share) -> bool:
    return share.of >= MIN_SUPPORT and share.value >= MIN_SHARE


def judge_order(rule: Order, truth: TruePages, seed: int) -> tuple[Share, Share, Share]:
    """The shares of pages in order: mined, held out, and with one field moved elsewhere."""
    random = np.random.default_rng([seed, 2])
    names = [f.name for f in truth.rules.fields]
    counts = np.zeros((3, 2), int)
    for page in truth.pages:
        spans = dict(zip(names, page.reading, strict=True))
        here = [name for name in rule.fields if spans[name]]
        if len(here) < 2:
            continue
        counts[int(page.held_out)] += not rule.late(spans), 1
        name = here[random.integers(len(here))]
        starts = np.sort(random.integers(len(page.document), size=len(spans[name])))
        moved = tuple(Occurrence(int(start), int(start) + 1) for start in starts)
        counts[2] += not rule.late({**spans, name: moved}), 1
    return tuple(Share(int(a), int(b)) for a, b in counts)  # type: ignore[return-value]
