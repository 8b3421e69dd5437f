"""Lines of samples, candidates and objects for a page, damaged: chosen among, and found on it."""

from __future__ import annotations

import json

from lawful import Box, Budget, Document, Field, Rule, Rules, choose, ground
from lawful.documents.records import FailedDocument
from lawful.io.candidate_lines import parse_candidates
from lawful.io.jsonl import decoding_line
from lawful.rules import RowKind
from tests.hostile.mutations import damaged_bytes, damaged_value, json_bytes

RULES = Rules(
    [
        Field("total", "total", "money", where="line >= 0"),
        Field("day", "day", "date", presence="free"),
        Field("name", "name"),
        Field("count", "count", "integer"),
        Field("price", "price", "money"),
    ],
    ["total == sum(price)", Rule("count * 2 == price", each="lines", unchecked=1)],
    rows=[RowKind("lines", ("count", "price"))],
)
OBJECT = {
    "total": 14.0, "day": "2024-01-05", "shop": {"name": "Tea & Co"},
    "lines": [{"count": 3, "price": "6.00"}, {"count": 4, "price": "8.00"}, {"count": None}],
    "tags": ["a", "b", 3],
}  # fmt: skip
ANSWER = f"Here it is:\n```json\n{json.dumps(OBJECT)}\n```"
LINES = (
    {"id": "a", "samples": [OBJECT, OBJECT, {**OBJECT, "total": 15}]},
    {"id": "b", "samples": [ANSWER, None, ANSWER[:99], {"total": "14.00"}]},
    {"id": "c", "samples": [OBJECT, {"total": 13}], "log_probs": [-0.1, -2.5]},
    {"id": "d", "candidates": {
        "total": {"14.00": -0.1, "15": -2.4}, "name": {"Tea": 0.0},
        "lines": [{"price": {"6.00": 0.0}, "count": {"3": -0.7, "": -0.7}}],
    }},
)  # fmt: skip
WORDS = ["Tea", "&", "Co", "05.01.2024", "3", "6.00", "4", "8.00", "Total", "14.00", "14.00"]
PAGES = (
    Document("p", WORDS),
    Document("p", WORDS, [Box(40 * (i % 3), 20 * i, 40 * (i % 3) + 30, 20 * i + 9)
                          for i in range(len(WORDS))]),
    Document("p", []),
)  # fmt: skip


def draw(rng):
    """A line, whether its first sample is to be found on a page, and which page there is."""
    record = rng.choice(LINES)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        record = damaged_value(rng, record)
    line = json_bytes(record, ascii_only=rng.random() < 0.5)
    if rng.random() < 0.3:
        line = damaged_bytes(rng, line)
    return line, rng.random() < 0.3, rng.choice((None, *range(len(PAGES))))


def run(case):
    """Parses the line, and chooses among what it has."""
    line, grounded, page = case
    found = parse_candidates(1, line)
    if isinstance(found, FailedDocument):
        return "FailedDocument"
    document = None if page is None else PAGES[page]
    if (
        grounded
        and document is not None
        and "samples" in (given := json.loads(line.decode(errors="replace")))
    ):
        found = ground(document, given["samples"][0], RULES)
        str(found)
        return "answer"
    chosen = choose(
        found, RULES, document=document, budget=Budget(candidates=100, seconds=1.0), alternatives=1
    )
    json.loads(decoding_line(chosen))
    str(chosen)
    return "answer"
