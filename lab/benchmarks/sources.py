"""``lawful.choose`` on the answers of several systems to one document (DocuBench's shared half).

    python -m lab.benchmarks.sources [--systems gpt,gemini,claude]

The rules are those of the schema alone. Scores are DocuBench's own: its README has the definition.
Documents are fixed or broken in comparison with the field-wise vote, whose lists are aligned like
those of ``choose``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from math import inf
from time import perf_counter
from typing import Any

from lab.benchmarks.data import DATA, records
from lab.benchmarks.study import study
from lab.benchmarks.tables import interval
from lawful import Candidates, Rules, choose
from lawful.candidates.sources import USUAL
from lawful.learn.reliability import learn_reliability

SHARED = DATA / "docubench" / "documents.jsonl.gz"
SYSTEMS = ("gpt", "gemini", "claude", "extend", "docupipe_standard", "docupipe_high")


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def normal(value: Any) -> Any:
    """A value as the scorer compares it; ``None`` for what is empty."""
    if isinstance(value, Mapping):
        return {k: v for k, each in value.items() if (v := normal(each)) is not None} or None
    if isinstance(value, list | tuple):
        return [v for each in value if (v := normal(each)) is not None] or None
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return round(float(value), 6)
    text = value.isoformat() if isinstance(value, date) else str(value)
    return re.sub(r"[\W]", "", text.lower()) or None


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif value is not None:
        yield path, str(value) if isinstance(value, list) else value


def split(
    value: Mapping[str, Any], path: tuple[str, ...] = ()
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:
    """Leaves outside lists, and lists, by path."""
    single, lists = {}, {}
    for key, each in (value or {}).items():
        here = (*path, key)
        if isinstance(each, Mapping):
            inner, inner_lists = split(each, here)
            single |= inner
            lists |= inner_lists
        elif isinstance(each, list):
            lists[here] = each
        elif each is not None:
            single[here] = each
    return single, lists


def alike(one: Any, other: Any) -> float:
    a, b = dict(leaves(one)), dict(leaves(other))
    names = a.keys() | b.keys()
    return sum(a.get(n) == b.get(n) for n in names) / len(names) if names else 0.0


def score(answer: Any, truth: Any) -> float:
    (single, lists), (true, true_lists) = split(normal(answer) or {}), split(normal(truth) or {})
    parts = []
    names = single.keys() | true.keys()
    if names:
        right = sum(single.get(name) == true.get(name) for name in names)
        parts.append((right / len(names), float(len(names))))
    for name in lists.keys() | true_lists.keys():
        mine, theirs = lists.get(name, []), true_lists.get(name, [])
        pairs = sorted(
            ((alike(a, b), i, j) for i, a in enumerate(theirs) for j, b in enumerate(mine)),
            key=lambda p: -p[0],
        )
        used: tuple[set[int], set[int]] = (set(), set())
        total = 0.0
        for part, i, j in pairs:
            if i not in used[0] and j not in used[1]:
                used[0].add(i)
                used[1].add(j)
                total += part
        longest = max(len(mine), len(theirs))
        size = sum(len(dict(leaves(t))) for t in theirs) / len(theirs) if theirs else 1.0
        parts.append((total / longest, longest * size))
    whole = sum(w for _, w in parts)
    return 100 * sum(s * w for s, w in parts) / whole if whole else 100.0


def vote(candidates: Candidates) -> Candidates:
    """The candidates with the best text of each alone: rules have nothing to choose."""
    return candidates.with_slots(
        slot._replace(log_probs={best: 0.0}, log_missing=-inf, absent_in=frozenset())
        for slot in candidates.slots
        for best in [max(slot.log_probs, key=lambda text: slot.log_probs[text])]
        if slot.log_probs[best] >= slot.log_missing
    )


def main() -> None:
    arguments = study(__doc__, systems=",".join(SYSTEMS), documents=False)
    systems = arguments.systems.split(",")
    found: dict[str, list[float]] = {}
    seconds = []
    found_records = list(records(SHARED))
    pairs = [
        ({name: r["results"][name]["data"] for name in systems}, r["label"]) for r in found_records
    ]
    learned = [learn_reliability(pairs[1 - half :: 2]) for half in (0, 1)]  # on the other half
    for number, record in enumerate(found_records):
        answers = {name: record["results"][name]["data"] for name in systems}
        schema = record["schema"]
        rules = Rules.from_json_schema(schema, [])
        samples = Candidates.from_samples(answers.values())
        ways: dict[str, Any] = {
            "best single answer": None,
            "vote": lambda s=samples, r=rules: choose(vote(s), r),
            "choose, samples": lambda s=samples, r=rules: choose(s, r),
            "choose, sources, equal": lambda a=answers, r=rules: choose(
                Candidates.from_sources(a, dict.fromkeys(a, USUAL)), r
            ),
            "choose, sources, learned": lambda a=answers, r=rules, k=learned[number % 2]: choose(
                Candidates.from_sources(a, k), r
            ),
            "choose, sources": lambda a=answers, r=rules: choose(Candidates.from_sources(a), r),
        }
        for name in systems:
            found.setdefault(name, []).append(score(answers[name], record["label"]))
        for way, work in ways.items():
            if work is None:
                best = max(found[name][-1] for name in systems)
                found.setdefault(way, []).append(best)
                continue
            begin = perf_counter()
            answer = work().to_model(schema)
            if way == "choose, sources":
                seconds.append(perf_counter() - begin)
            found.setdefault(way, []).append(score(answer, record["label"]))
        if arguments.documents:
            print(record["id"], *(f"{way}: {each[-1]:.1f}" for way, each in found.items()))
    for way, scores in found.items():
        low, high = interval(scores)
        changes = [a - b for a, b in zip(scores, found["vote"], strict=True)]
        print(
            f"{way:<24}{mean(scores):>7.2f}  ({low:.1f} to {high:.1f})"
            f"  better than the vote {sum(c > 1e-6 for c in changes)},"
            f" worse {sum(c < -1e-6 for c in changes)}"
        )
    print(f"choose, sources: {mean(seconds):.2f} s per document, slowest {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
