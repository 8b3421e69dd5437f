"""``lawful.choose`` on several runs over long lists (six documents of LongListBench).

    python -m lab.benchmarks.lists [--rows 1000]

A row is exact if it is one of the true rows, by the normal forms that the README of
``../shared/data/lists`` describes; a document is complete if all rows are exact and none is too
many. With ``--rows``, instead: the time for as many generated rows of three sources, in different
orders and with one error in fifty values, under rules for each row and for their sum.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from time import perf_counter, process_time
from typing import Any

from lawful import Candidates, Field, Rule, Rules, choose
from lawful.rules import RowKind
from lawful.values import read
from tests.helpers import ROOT

SHARED = ROOT.parent / "shared" / "data" / "lists"
STATES = dict(
    pair.split("=")
    for pair in """
        alabama=al alaska=ak arizona=az arkansas=ar california=ca colorado=co connecticut=ct
        delaware=de florida=fl georgia=ga hawaii=hi idaho=id illinois=il indiana=in iowa=ia
        kansas=ks kentucky=ky louisiana=la maine=me maryland=md massachusetts=ma michigan=mi
        minnesota=mn mississippi=ms missouri=mo montana=mt nebraska=ne nevada=nv newhampshire=nh
        newjersey=nj newmexico=nm newyork=ny northcarolina=nc northdakota=nd ohio=oh oklahoma=ok
        oregon=or pennsylvania=pa rhodeisland=ri southcarolina=sc southdakota=sd tennessee=tn
        texas=tx utah=ut vermont=vt virginia=va washington=wa westvirginia=wv wisconsin=wi
        wyoming=wy""".split()  # noqa: SIM905 - shorter than a table
)
RUNS = {
    "gpt-5.5": ("gpt-5.5/1", "gpt-5.5/2", "gpt-5.5/3"),
    "gpt-5.6-sol": ("gpt-5.6-sol/1", "gpt-5.6-sol/2", "gpt-5.6-sol/3"),
    "one of each": ("gpt-5.5/1", "gpt-5.6-sol/1", "claude-opus-4.8"),
}

RULES: Mapping[str, Sequence[Rule | str]] = {
    "ifta_return_schedule": [
        Rule("net_taxable_volume == taxable_volume - tax_paid_volume", each="row"),
        Rule("total_due == tax_due_credit + interest_due", each="row"),
    ],
    "ifta_mileage_by_vehicle": [
        Rule("total_miles == identified_miles + unidentified_miles", each="row")
    ],
}
"""Rules by family; the fields that they read are amounts."""


def normal(name: str, value: Any) -> str | None:
    """A value as the benchmark compares it; ``None`` for what is empty."""
    if value is None or name == "lob":  # written out or not
        return None
    if isinstance(value, list):
        return "|".join(sorted(filter(None, (normal(name, each) for each in value)))) or None
    text = _plain(name, " ".join(str(value).lower().split()))
    if not text:
        return None
    if isinstance(value, int | float) or re.fullmatch(r"[-($]*\s*[\d,]*\.?\d+\)?", text):
        plain = re.sub(r"[$,()\s]", "", text)
        if not re.match(r"-?0\d", plain):
            number = Decimal(plain)
            number = round(-number if text.startswith("(") else number, 6)
            return format(number.normalize(), "f")
    if re.fullmatch(r"[\d/-]{6,10}", text) and (dates := read(text, "us_date")):
        return str(dates[0])
    return STATES.get(text.replace(" ", ""), text)


def _plain(name: str, text: str) -> str:
    if name == "clause_scope":
        return text.partition(";")[0].replace("applies within", "").strip()
    if name == "unit_number":
        return text.rpartition(" ")[2]
    if name == "schedule":
        return text.replace("quarter return", "quarterly return")
    if name == "vehicle":
        return text.removeprefix("unit ")
    return text.strip("#.") if name in ("description", "incident_number") else text


def row_of(row: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    pairs = ((name, normal(name, value)) for name, value in _leaves(row))
    return frozenset((name, value) for name, value in pairs if value is not None)


def exact(rows: Sequence[Mapping[str, Any]], truth: Sequence[Mapping[str, Any]]) -> int:
    both = Counter(map(row_of, rows)) & Counter(map(row_of, truth))
    return both.total()


def rules_for(rows: Sequence[Mapping[str, Any]], rules: Sequence[Rule | str]) -> Rules:
    names = list(dict.fromkeys(name for row in rows for name in row))
    read_ = " ".join(str(rule.check if isinstance(rule, Rule) else rule) for rule in rules)
    amounts = set(re.findall(r"\w+", read_))
    fields = [Field(n, n, "money" if n in amounts else "text", many=True) for n in names]
    singles = [Field("total", "total", "money")] if "total" in amounts - set(names) else []
    return Rules([*fields, *singles], rules, rows=[RowKind("row", tuple(names))])


def combined(
    answers: Mapping[str, Sequence[Mapping[str, Any]]], rules: Sequence[Rule | str]
) -> list[dict[str, str]]:
    sources = {name: {"rows": _flat(rows)} for name, rows in answers.items()}
    every = [row for source in sources.values() for row in source["rows"]]
    found = choose(Candidates.from_sources(sources), rules_for(every, rules))
    return [{name: v.text for name, v in row.items()} for row in found.rows("row")]


def _flat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Lists in rows as texts, as the benchmark compares them, and objects as their values."""
    return [{name: normal(name, value) if isinstance(value, list) else value
             for name, value in _leaves(row)} for row in rows]  # fmt: skip


def _leaves(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from ((f"{name}_{key}", each) for key, each in _leaves(value))
        else:
            yield name, value


def generated(count: int) -> tuple[dict[str, Any], Rules]:
    dice = random.Random(0)  # noqa: S311 - test data
    rows = [
        {"number": f"INV-{1000 + i}", "day": f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}",
         "name": f"Customer {i % 97}", "town": f"Town {i % 13}", "kind": "A",
         "net": i + 0.5, "tax": 0.1 * i, "amount": round(i + 0.5 + 0.1 * i, 2)}
        for i in range(count)
    ]  # fmt: skip
    total = round(sum(row["amount"] for row in rows), 2)
    sources = {}
    for name in ("a", "b", "c"):
        own = [{k: v if dice.random() > 0.02 else None if dice.random() < 0.3 else f"{v}7"
                for k, v in row.items()} for row in rows if dice.random() > 0.01]  # fmt: skip
        dice.shuffle(own)
        sources[name] = {"total": total, "rows": own}
    rules = [
        Rule("amount == net + tax", each="row", tolerance=Decimal("0.01")),
        "total == sum(amount)",
    ]
    return {"rows": rows, "sources": sources}, rules_for(rows, rules)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, help="rows to generate, for the time")
    arguments = parser.parse_args()
    if arguments.rows:
        _time(arguments.rows)
        return
    with gzip.open(SHARED / "documents.jsonl.gz") as lines:
        documents = [json.loads(line) for line in lines]
    with gzip.open(SHARED / "runs.jsonl.gz") as lines:
        runs = [json.loads(line) for line in lines]
    wrong = [r for r in runs for d in documents if d["id"] == r["id"]
             and exact(r["rows"], d["rows"]) != r["exact"]]  # fmt: skip
    print(f"{len(runs) - len(wrong)} of {len(runs)} answers have as many exact rows as published")
    for name, group in RUNS.items():
        print(name)
        complete: Counter[str] = Counter()
        for document in documents:
            truth = document["rows"]
            answers = {r["run"]: r["rows"] for r in runs
                       if r["id"] == document["id"] and r["run"] in group}  # fmt: skip
            rules = RULES.get(document["family"], ())
            begin = perf_counter()
            found: dict[str, Sequence[Mapping[str, Any]]] = {**answers}
            found["choose"] = combined(answers, ())
            seconds = perf_counter() - begin
            found["choose, rules"] = combined(answers, rules) if rules else found["choose"]
            line = []
            for way, rows in found.items():
                right = exact(rows, truth)
                complete[way] += right == len(truth) == len(rows)
                line.append(f"{right}/{len(rows)}")
            print(f"  {document['id']:<30}{len(truth):>6}  {'  '.join(line)}  {seconds:.1f} s")
        print("  complete:", ", ".join(f"{way} {n}" for way, n in complete.items()))


def _time(count: int) -> None:
    data, rules = generated(count)
    begin = process_time()
    candidates = Candidates.from_sources(data["sources"])
    middle = process_time()
    found = choose(candidates, rules)
    end = process_time()
    rows = [{name: v.text for name, v in row.items()} for row in found.rows("row")]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{count} rows, seconds of a core: from_sources {middle - begin:.2f}, "
        f"choose {end - middle:.2f}, "
        f"{memory:.0f} MiB in all, {found.status}, {exact(rows, data['rows'])} rows right of "
        f"{len(rows)}"
    )


if __name__ == "__main__":
    main()
