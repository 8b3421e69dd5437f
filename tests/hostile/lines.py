"""Lines of JSON that may be documents: damaged as bytes and as values, then decoded."""

from __future__ import annotations

import json

from lawful import Budget, Field, Rules, decode
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import LineParser, decoding_line, scored_line
from tests.hostile.mutations import damaged_bytes, damaged_value, json_bytes

LABELS = ["O", "B-total", "I-total", "B-item", "I-item", "B-day"]
RULES = tuple(
    Rules(
        [
            Field("total", "total", "money", presence=presence, repeat=repeat),
            Field("items", "item", "money", many=True),
            Field("day", "day", "date", presence="free"),
        ],
        [
            "total == sum(items)",
            "day > date('2000-01-01')",
            "count(items) < 9",
            "total <= po or kind == 'memo'",
        ],
        given={"po": "money"},
        classes={"kind": "kind"},
    )
    for presence, repeat in (("keep", "agree"), ("required", "any"), ("free", "first"))
)


def _line(id_, words, **more):
    rows = [[0.5, 0.2, 0.1, 0.1, 0.05, 0.05][i % 3 :] + [0.5, 0.2, 0.1][: i % 3] for i, _ in
            enumerate(words)]  # fmt: skip
    rows = [[p / sum(row) for p in row] for row in rows]
    return {"id": id_, "words": words, "labels": LABELS, "probs": rows, **more}


LINES = (
    _line("a", ["Total", "56.000", "20.000", "36.000"]),
    _line("b", ["2024-01-05", "1,50", "x"], gold=["B-day", "B-total", "O"], split="train"),
    _line("c", ["56", ".", "000"], joins=[False, True, True], pages=[0, 0, 1]),
    _line("d", ["3.350", "3.350"], boxes=[[0, 0, 1, 1], [1.5, 0, 2, 1]]),
    {"id": "e", "words": ["1", "2"], "labels": ["O", "B-total", "B-item", "B-day"],
     "log_probs": [[-1.3862943611198906] * 4] * 2},
    {"id": "f", "words": ["1", "2", "3"], "labels": LABELS, "logits": [[0, 5, 1, -3, 2, 0.5]] * 3,
     "chain": {"start": [0] * 6, "between": [[0.5, None, 0, 1, -1, 0]] * 6, "end": [0] * 6}},
    _line("h", ["7", "3", "4"], rows=[1, 1, None], given={"po": "7", "n": 3, "none": None},
          classes={"kind": {"bill": -0.105, "memo": -2.303, "note": None}, "tone": {"a": 0}}),
    {"id": "g", "words": [], "labels": LABELS, "probs": []},
    _line("h", ["Total", "56.000", "20.000", "36.000"],
          pins=[{"words": [1, 2], "field": "total"}, {"words": [0, 1], "field": None},
                {"words": [2, 4], "not": "total"}, {"field": "total", "value": "56.000"},
                {"field": "day", "value": None}, {"words": [2, 4], "text": "20.000 36"}]),
    _line("i", ["5,28", "l2.00", "7", "2O24-01-05"], joins=[False, False, True, False],
          misreads=[[["5,26", 1.5], ["5.28", 0.5]], [["12.00", 2.0]], [], [["2024-01-05", 0.1]]]),
)  # fmt: skip
PARSER = LineParser("-")


def draw(rng):
    """A line, and the rules and the decoder for it."""
    record = rng.choice(LINES)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        record = damaged_value(rng, record)
    line = json_bytes(record, ascii_only=rng.random() < 0.5)
    if rng.random() < 0.3:
        line = damaged_bytes(rng, line)
    decoder = rng.choice(("auto", "exact", "readings", "paths", "lazyk", "beam", "argmax"))
    return line, rng.randrange(len(RULES)), decoder, rng.choice((0, 0, 0, 2))


def run(case):
    """Parses the line; if it is a document, decodes it and writes both as JSON."""
    line, index, decoder, alternatives = case
    scored = PARSER.parse(1, line)
    if isinstance(scored, FailedDocument):
        return "FailedDocument"
    alternatives = alternatives if decoder in ("auto", "exact") else 0
    found = decode(
        scored.document, scored.scores, RULES[index], decoder=decoder, alternatives=alternatives,
        budget=Budget(candidates=200, seconds=1.0),
    )  # fmt: skip
    assert len(found.labels) == len(scored.document)
    json.loads(decoding_line(found))
    json.loads(scored_line(scored))
    str(found)
    return "answer"
