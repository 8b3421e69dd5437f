"""A schema of bills, its rules, a page, and what a model says about it."""

import json

from lawful import Box, Document, Rules
from tests.llm.scripted import completion

NUMBER = {"type": "number"}
SCHEMA = {
    "type": "object",
    "properties": {
        "total": NUMBER,
        "net": NUMBER,
        "tax": NUMBER,
        "items": {"type": "array", "items": {"type": "object", "properties": {"price": NUMBER}}},
    },
}
RULES = Rules.from_json_schema(SCHEMA, ["total == net + tax"])
WORDS = "Tea 40.00 Cake 8.00 Net 48.00 Tax 5.28 Total 53.28"
GOOD = {"total": 53.28, "net": 48, "tax": 5.28, "items": [{"price": 40}, {"price": 8}]}


def texts(*objects):
    return completion(*(json.dumps(each) for each in objects))


def document(text=WORDS, id_="d", line=1):
    words = text.split()
    boxes = [Box(60 * (i % 8), 20 * (i // 8), 60 * (i % 8) + 50, 20 * (i // 8) + 12)
             for i in range(len(words))]  # fmt: skip
    return Document(id_, words, boxes=boxes, line=line)


def values(result):
    _, decoding = result
    return {name: [str(v.value) for v in found] for name, found in decoding.fields.items()}
