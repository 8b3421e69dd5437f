"""The schema of decodings: a key of it is in Python, in JSON lines, in the docs and on the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

import msgspec
import numpy as np
import pytest

from lawful import Document, Field, Pin, Rule, Rules, Scores, decode
from lawful.cli.writers import writer_for
from lawful.documents.labels import Span
from lawful.io.jsonl import DecodedLine, decoding_line
from lawful.pipeline.call import Call
from lawful.results.decoding import ClassValue, Confidence, Correction, Decoding, Move
from lawful.results.known import Known
from lawful.results.promise import Promise
from lawful.results.span_corrections import SpanCorrection
from lawful.results.wire import CheckData, DecodingLine, ValueData
from lawful.rules import RowKind
from tests.helpers import ROOT

KEYS = DecodingLine.__struct_fields__
PROMISE = Promise(error=0.01, confidence=0.95, threshold=0.5, documents=400, passed=300, wrong=0)
PRICES = [Field(name, name, "money") for name in ("net", "gross")]


@pytest.fixture(scope="module")
def full():
    """A decoding that has something to say under every key."""
    rows = [RowKind("line", ("net",)), RowKind("page", ("gross",), of="line", by="page")]
    rules = Rules(PRICES, [Rule("net == 8.5", each="line")], rows=rows)
    document = Document("d", ["7.50", "8.50"], pages=[0, 1], rows=[1, 1])
    scores = Scores.from_probs(np.eye(3)[[1, 2]] * 0.8 + 0.2 / 3, ["O", "B-net", "B-gross"])
    found = decode(document, scores, rules, alternatives=1)
    net = found.fields["net"][0]
    return replace(
        found,
        fields={"net": [replace(net, choice=1, read_as="8.50")]},
        corrections=(Correction(0, "O", "B-net", 1.5, None),),
        span_corrections=(SpanCorrection(None, Span("net", 0, 1), 0.5, ("a rule",)),),
        classes={"kind": ClassValue("invoice", "letter", 0.5, ("a rule",))},
        pins=(Pin("is", (0, 1), "net"),),
        moved=(Move(1, "O", "B-net", False),),
        clash=("one", "another"),
        confidence={"net": Confidence(0.25, 0.5)},
        trust=0.5,
        passes=False,
        passes_because="no promise",
        doubts={"values": -4.5},
        setting="0123456789abcdef",
        known=(Known("net", ("7.50",), ("8.50",), False),),
    )


def test_a_full_line_has_every_key_in_the_order_of_the_schema(full):
    line = decoding_line(full)
    record = json.loads(line)
    assert tuple(record) == KEYS
    msgspec.json.decode(line, type=DecodingLine, strict=True)  # refuses other keys and types
    assert set(record["fields"]["net"][0]) == {*ValueData.__struct_fields__}
    assert set(record["checks"][0]) <= {*CheckData.__struct_fields__}


def test_a_dictionary_has_the_keys_and_values_of_the_line(full):
    plain = full.to_dict()
    assert plain["fields"]["net"][0]["value"] == Decimal("7.50")
    assert json.loads(json.dumps(plain, default=float)) == json.loads(decoding_line(full))


def test_python_calls_everything_by_the_same_names():
    assert [key for key in KEYS if not hasattr(Decoding, key)] == [
        "row_checks"
    ]  # counts.row_checks


def test_the_docs_explain_every_key():
    pages = [ROOT / "docs" / name for name in ("results.md", "evaluation.md")]
    explained = {
        name for page in pages for name in re.findall(r"`(\w+)`", page.read_text(encoding="utf-8"))
    }
    assert set(KEYS) <= explained


PAGE = {
    "Value": (ValueData, {"shown", "nowhere"}),
    "Check": (CheckData, {"text", "sum", "words", "said"}),
    "Correction": (Correction, {"why", "odds"}),
    "Move": (Move, set()),
    "Answer": (DecodingLine, {"digest", "doubtful", "stops", "summary", "moved"}),
}
"""The types of the review page's answers, what they are in the schema, and what the page adds."""


@pytest.mark.parametrize("name", PAGE)
def test_types_of_the_review_page_are_those_of_the_schema(name):
    source = (ROOT / "web" / "src" / "api.ts").read_text(encoding="utf-8")
    (body,) = re.findall(rf"(?s)export interface {name} {{\n(.*?)\n}}", source)
    schema, added = PAGE[name]
    known = {field.encode_name: field for field in msgspec.inspect.type_info(schema).fields}
    found = re.findall(r"(?m)^  (\w+)(\??): (.*);$", body)
    assert len(found) > len(added)
    for key, may_lack, type_ in found:
        if key not in added:
            assert (may_lack == "?") == (not known[key].required), key
            assert fits(type_, known[key].type), (key, type_)


NAMES = {
    "Str": ("string",),
    "Int": ("number",),
    "Float": ("number",),
    "Bool": ("boolean",),
    "None": ("null",),
    "Tuple": ("Range",),
    "Dict": ("Fields",),
    "Struct": ("Check",),
    "Dataclass": ("Correction",),
}
"""By the kind of a type, its names on the page; those of the page's own are compared apart."""


def fits(written, type_):
    """Whether a type as TypeScript writes it is that of msgspec, as far as the page reads it."""
    kind = type(type_).__name__.removesuffix("Type")
    if kind == "Union":
        parts = written.split(" | ")
        return all(any(fits(part, each) for part in parts) for each in type_.types)
    if kind == "Literal":
        choices = {f'"{each}"' for each in type_.values}
        return written == "string" or set(written.split(" | ")) == choices
    if written.endswith("[]") and kind in ("List", "VarTuple"):
        return fits(written[:-2], type_.item_type)
    is_record = kind == "Dict" and written.startswith("Record<")
    return is_record or written in (*NAMES[kind], "unknown")


def test_columns_of_csv_are_keys_but_for_two_lists_of_checks():
    writer = writer_for("csv", Call(Rules(PRICES, needs=["net"]), alternatives=1))
    columns = set(writer.head().strip().split(","))
    assert columns - {*KEYS} == {"violated", "unchecked", "net", "gross"}


def test_what_is_read_again_of_a_line_is_in_it(full):
    assert {*DecodedLine.__struct_fields__} - {*KEYS} == {"line"}
    read = msgspec.json.decode(decoding_line(full), type=DecodedLine)
    assert (read.id, tuple(read.labels), read.status) == ("d", full.labels, full.status)
