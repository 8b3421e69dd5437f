"""The smallest question: which few values to ask for again, and what contradicts them.

Each value that may be another one is tried: the document is decoded again with that value pinned.
How probable that is, and how many values change with it, says what an answer would settle. A value
that all answers have may still be wrong: rules that it violates say so, a page on which it is not
printed, or too few answers with nothing to check them.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from lawful.candidates.answers import read_answer
from lawful.candidates.choose import LaidOut
from lawful.candidates.grounding.leaves import fields_of
from lawful.candidates.samples import Path
from lawful.documents.placed_texts import NOT_PRINTED
from lawful.documents.records import Scored
from lawful.documents.span_scores import SpanScores
from lawful.llm.page_text import Line
from lawful.llm.schemas import Schema
from lawful.pipeline.call import Call
from lawful.results.decoding import Decoding, differences
from lawful.rules.rule_set import Rules
from lawful.rules.schemas import leaves_of

LEAST = 0.2
"""Expected number of values that a question changes, below which it is not asked."""

MAX_FIELDS = 3
"""Fields of a question."""

MAX_TRIED = 3
"""Other values of a field that are pinned."""

CHECKED = 0.1
"""Factor of the probability that a value is wrong, if a rule that reads it holds."""

AROUND = 2
"""Lines above and below the values in doubt that a question shows."""

SHORT = 600
"""Characters of a document that is shown as a whole."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A field to ask for, the expected number of values that an answer changes, and why."""

    field: str
    worth: float
    why: tuple[str, ...]


def doubts_of(
    found: LaidOut,
    decoding: Decoding,
    call: Call,
    samples: int,
    known: Container[str] = (),
) -> list[Doubt]:
    """The fields that it is worth to ask for, best first; at most ``MAX_FIELDS``, none ``known``.

    ``decoding`` is that of candidates as they are laid out, made of so many answers.
    """
    fields = {f.name: f for f in found.rules.fields}
    single = {name for name, f in fields.items() if not f.many}
    there = {span.type for span in found.scores.spans}
    of_rules = _wrong_by_rules(found, decoding)
    holds = {
        name
        for rule in found.rules.parsed
        for check in decoding.checks
        if check.id == rule.id and check.state == "satisfied"
        for name in rule.names
    }
    listed = []
    for name in fields:
        if name in known or (name not in there and name not in of_rules):
            continue
        worth, why = 0.0, list[str]()
        if name in single and name in there:
            worth, why = _tried(name, found, decoding, call, single)
        wrong, because = of_rules.get(name, (0.0, ()))
        values = decoding.fields.get(name, [])
        if name in single and values:
            if found.spots and not found.spots[values[0].words[0]].words:
                wrong, because = max(wrong, NOT_PRINTED), (*because, _nowhere(values[0].text))
            wrong = max(wrong, (CHECKED if name in holds else 1.0) / (samples + 1))
        why = [*why, *because] or [f"{name} is not certain"]
        if worth + wrong >= LEAST:
            listed.append(Doubt(name, worth + wrong, tuple(dict.fromkeys(why))))
    return sorted(listed, key=lambda doubt: -doubt.worth)[:MAX_FIELDS]


def _nowhere(text: str) -> str:
    return f"{text!r} is printed nowhere"


def _tried(
    name: str, found: LaidOut, decoding: Decoding, call: Call, single: set[str]
) -> tuple[float, list[str]]:
    """The expected number of values that change if a field has another value, and what is then."""
    weights, changes, why = [1.0], [0], []
    for text, scores in _pinned(name, found, decoding):
        other = call.decode(Scored(found.document, scores))
        changed = len(list(differences(decoding, other, single)))
        if not changed:
            continue
        weights.append(exp(min(other.worth - decoding.worth, 0.0)))
        changes.append(changed)
        broken = [check.message for check in other.violations if not check.implied]
        against = f", but {'; '.join(broken[:2])}" if broken else ""
        why.append(f"an answer has {name} {text}{against}")
    if why:
        chosen = ", ".join(repr(value.text) for value in decoding.fields.get(name, ())) or "missing"
        why.insert(0, f"an answer has {name} {chosen}")
    return sum(w * n for w, n in zip(weights, changes, strict=True)) / sum(weights), why


def _pinned(name: str, found: LaidOut, decoding: Decoding) -> Iterator[tuple[str, SpanScores]]:
    """The scores with each other text of a field of one value, or with none of them."""
    scores = found.scores
    others, own = list[int](), list[int]()
    for i, span in enumerate(scores.spans):
        (own if span.type == name else others).append(i)
    texts: dict[str, list[int]] = {}
    for i in sorted(own, key=lambda i: -scores.log_odds[i]):
        start = scores.spans[i].start
        text = " ".join(found.document.words[start : scores.text_end(start)])
        texts.setdefault(text, []).append(i)
    chosen = {value.text for value in decoding.fields.get(name, ())}
    tried = [text for text in texts if text not in chosen][:MAX_TRIED]
    for text in tried:
        start = scores.spans[texts[text][0]].start
        taken = () if len(texts[text]) > 1 else (start,)
        yield repr(text), scores.only([*others, *texts[text]], taken)
    if chosen and own and not any(scores.must_be_taken(scores.spans[i]) for i in own):
        yield "missing", scores.only(others)


def _wrong_by_rules(found: LaidOut, decoding: Decoding) -> dict[str, tuple[float, tuple[str, ...]]]:
    """By field, the probability that it is why a rule is violated, and what the rule says."""
    names = {rule.id: rule.names for rule in found.rules.parsed}
    said: dict[str, tuple[float, tuple[str, ...]]] = {}
    for check in decoding.violations:
        of_rule = names.get(check.id, frozenset())
        required = check.id.rpartition(":")[0] if check.implied else ""
        of_rule = of_rule or frozenset({required} if required else ())
        for name in of_rule:
            wrong, why = said.get(name, (0.0, ()))
            said[name] = (max(wrong, 1 / len(of_rule)), (*why, f"{check.id}: {check.message}"))
    return said


def partial(answer: str | None, paths: Sequence[Path]) -> str | None:
    """What an answer says about these values, as one that was cut off after them.

    So it has no vote about other values. ``None`` if it cannot be read.
    """
    value = read_answer(answer).value
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(value, Mapping):
        return None
    kept = _kept(value, paths)
    return f"{json.dumps(kept)[:-1]}," if kept else None


def _kept(value: Mapping[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, inner in value.items():
        below = [path[1:] for path in paths if path[:1] == (name,)]
        if below and all(below) and isinstance(inner, Mapping):
            kept[name] = _kept(inner, below)
        elif below:
            kept[name] = inner
    return kept


def crop(lines: Sequence[Line], found: LaidOut, names: set[str]) -> list[Line]:
    """The lines around all places where the fields may be printed; all lines if nothing is."""
    length = sum(len(line.text) + 1 for line in lines)
    spots = {
        word
        for span in found.scores.spans
        if span.type in names and found.spots
        for word in found.spots[span.start].words
    }
    if length <= SHORT or not spots:
        return list(lines)
    near = {i for i, line in enumerate(lines) if spots.intersection(line.words)}
    kept = {i + d for i in near for d in range(-AROUND, AROUND + 1)}
    return [line for i, line in enumerate(lines) if i in kept]


def paths_to(schema: Schema, rules: Rules, names: set[str]) -> list[Path]:
    """The paths of the schema that lead to fields; of those in rows, to the list."""
    leaves = leaves_of(schema)
    fields = fields_of([leaf.path for leaf in leaves], rules)
    wanted = (leaf.rows or leaf.path for leaf in leaves if fields.get(leaf.path) in names)
    return list(dict.fromkeys(wanted))
