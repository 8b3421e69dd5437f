"""Pydantic models and JSON Schemas: samples in, rules from the model, objects out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from math import inf
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

import lawful
from lawful import Candidates, Document, Rules, RulesError, choose
from lawful.rules.schemas import leaves_of


class Line(BaseModel):
    """A row of an invoice."""

    name: str
    quantity: float | None = None
    amount: Decimal


class Party(BaseModel):
    """An object in an object."""

    name: str


class Invoice(BaseModel):
    """Every kind of property."""

    seller: Party
    issued: date | None = None
    kind: Literal["invoice", "credit note"] = "invoice"
    rate: float | None = Field(None, json_schema_extra={"lawful": {"type": "percent"}})
    total: Decimal
    codes: list[str] = []
    pages: int = 1
    lines: list[Line] = []


RULES = Rules.from_pydantic(
    Invoice, ["total == sum(amount)", "total == sum(lines.amount)"], scheme="IO"
)
SAMPLES = [
    {
        "seller": {"name": "Ada"},
        "issued": "2024-01-05",
        "kind": "invoice",
        "rate": "19 %",
        "total": 7.5,
        "codes": ["A", "B"],
        "lines": [
            {"name": "tea", "quantity": 2, "amount": 3.5},
            {"name": "cake", "quantity": None, "amount": 4},
        ],
    },
    Invoice(
        seller=Party(name="Ada"),
        total=Decimal("9.50"),
        codes=["A"],
        lines=[
            Line(name="tea", quantity=2, amount=Decimal("3.5")),
            Line(name="cake", amount=Decimal("4.00")),
        ],
    ),
    {"seller": {"name": "Ada"}, "total": 9.5, "codes": ["A", "B"], "kind": "order"},
]


def test_an_object_of_the_model_comes_back():
    found = choose(Candidates.from_samples(SAMPLES), RULES)
    assert found.status == "satisfied"
    assert found.to_model(Invoice) == Invoice(
        seller=Party(name="Ada"),
        total=Decimal("7.5"),
        codes=["A", "B"],
        pages=1,
        lines=[
            Line(name="tea", quantity=2, amount=Decimal("3.5")),
            Line(name="cake", amount=Decimal("4")),
        ],
    )
    plain = found.to_model(Invoice.model_json_schema())
    assert plain["seller"] == {"name": "Ada"}
    assert plain["lines"][1] == {"name": "cake", "amount": Decimal("4")}


def test_a_value_that_the_model_needs_is_required():
    nothing = choose(Candidates.from_samples([{"kind": "invoice"}]), RULES)
    assert {check.id for check in nothing.violations} == {
        "seller_name:required",
        "total:required",
    }
    with pytest.raises(ValidationError):
        nothing.to_model(Invoice)


def test_a_value_that_the_model_needs_is_required_in_every_row():
    lines = [{"name": "tea", "amount": 4}, {"name": "cake", "quantity": 2}]
    sample = {"seller": {"name": "Ada"}, "total": 4, "lines": lines}
    found = choose(Candidates.from_samples([sample] * 3), RULES)
    assert found.status == "relaxed"
    [violation] = found.violations
    assert (violation.id, violation.row) == ("amount:required", 2)
    assert violation.message == "lines 2: amount is missing"
    hard = choose(Candidates.from_samples([sample] * 3), RULES.with_defaults(weight=inf))
    assert (hard.status, hard.clash) == ("infeasible", ("amount:required",))


def test_values_in_no_row_are_rows_of_their_own():
    """They were one row, with the first value of each field only."""
    line = {"type": "object", "properties": {n: {"type": "number"} for n in ("count", "amount")}}
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": line}}}
    labels = ["O", "B-count", "B-amount"]
    page = Document("d", ["2", "1.00", "5.00", "6.00"], rows=[1, 1, None, None])
    scores = lawful.Scores.from_probs(np.eye(3)[[1, 2, 2, 2]], labels)
    found = lawful.decode(page, scores, Rules.from_json_schema(schema))
    assert found.to_model(schema)["lines"] == [
        {"count": 2, "amount": 1}, {"amount": 5}, {"amount": 6}
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([0.5, 10.0, inf]))
def test_what_is_satisfied_becomes_an_object(data, weight):
    """Whatever samples leave out."""

    def some(values):
        return {name: value for name, value in values.items() if data.draw(st.integers(0, 6))}

    line = {"name": "tea", "quantity": 2, "amount": 3.5}
    other = {"name": "cake", "amount": 4}
    samples = [
        some({"seller": some({"name": "Ada"}), "total": 7.5, "lines": [some(line), some(other)]})
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    if not any(samples):
        return
    rules = RULES.with_defaults(weight=weight)
    found = choose(Candidates.from_samples(samples), rules)
    if found.status in ("satisfied", "unchecked"):
        found.to_model(Invoice)


def test_properties_become_fields_and_rows():
    fields = {f.name: f for f in RULES.fields}
    assert {name: f.type for name, f in fields.items()} == {
        "seller_name": "text",
        "issued": "date",
        "kind": "text",
        "rate": "percent",
        "total": "money",
        "codes": "text",
        "pages": "integer",
        "lines_name": "text",
        "quantity": "money",
        "amount": "money",
    }
    assert [f.name for f in RULES.fields if f.many] == ["codes", "lines_name", "quantity", "amount"]
    assert "credit note" in fields["kind"].lexicon
    assert (fields["total"].presence, fields["issued"].presence) == ("required", "keep")
    names = ("lines_name", "quantity", "amount")
    assert RULES.rows == (lawful.rules.RowKind("lines", names, required=("lines_name", "amount")),)
    assert RULES.scheme == "IO"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({}, "the schema is of type 'string', expected an object"),
        ({"type": "object"}, "the schema has no properties, expected those of an object"),
        ({"properties": {"a": 7}}, "a is 7, expected a schema"),
        ({"properties": ["a"]}, r"the schema: properties is \['a'\], expected a mapping"),
        (
            {"properties": {"a": {"type": "date"}}},
            "a is of type 'date', which is no type of fields",
        ),
        ({"properties": {"a": {"$ref": "#/$defs/B"}}}, r"a: \$ref '#/\$defs/B' leads nowhere"),
        ({"properties": {"a": {"lawful": {"x": 1}}}}, "property a: lawful is {'x': 1}, expected k"),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "array"}}}},
            "a is an array in an array, which fields cannot be",
        ),
        ({"properties": {"a": {"type": "object"}}}, "a is an object without properties, whose val"),
        (
            {"properties": {"a": {"type": "array", "prefixItems": [{}]}}},
            "a has prefixItems, which fields cannot have",
        ),
        (
            {"properties": {"a": {"anyOf": [{"type": "string"}, {"properties": {"b": {}}}]}}},
            "a may be of type string or of type object, and fields can be one of these only",
        ),
        (7, "7 is no Pydantic model, dataclass or JSON Schema"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema, message):
    with pytest.raises(RulesError, match=message):
        Rules.from_json_schema(schema)


def test_a_schema_that_contains_itself_is_refused():
    node = {"properties": {"name": {}, "inner": {"$ref": "#"}}}
    with pytest.raises(RulesError, match="objects are nested more than 8 deep"):
        leaves_of(node)
    with pytest.raises(RulesError, match="the schema is of type 'string'"):
        leaves_of({"$ref": "#"})


def test_a_class_that_is_no_model_is_refused():
    with pytest.raises(RulesError, match="is no Pydantic model, dataclass or JSON Schema"):
        Rules.from_pydantic(int)


@dataclass(frozen=True)
class Place:
    """An object three deep."""

    town: str


@dataclass(frozen=True)
class Sender:
    """An object in an object."""

    name: str
    place: Place


@dataclass(frozen=True)
class Item:
    """A row."""

    name: str
    paid: bool
    amount: Decimal


@dataclass(frozen=True)
class Note:
    """What schemas have besides numbers and texts."""

    sender: Sender
    sent: datetime
    pages: int
    kind: Literal["note", "letter"]
    codes: list[str]
    items: list[Item]
    due: date | None = None
    rate: float | None = None


NOTE = Note(
    Sender("Ada", Place("London")), datetime(2024, 1, 5, 10, 30), 2, "letter", ["A", "B"],
    [Item("tea", True, Decimal("3.5")), Item("cake", False, Decimal(4))], date(2024, 2, 1),
)  # fmt: skip


def test_a_dataclass_comes_back():
    rules = Rules.from_json_schema(Note, ["sum(amount) > 7"])
    found = choose(Candidates.from_samples([NOTE, asdict(NOTE), replace(NOTE, pages=3)]), rules)
    assert (found.status, found.to_model(Note)) == ("satisfied", NOTE)
    lacking = choose(Candidates.from_samples([{"pages": 1}]), rules)
    with pytest.raises(lawful.InputError, match=r"the values make no Note: .*missing required"):
        lacking.to_model(Note)


@pytest.mark.parametrize(
    ("node", "type_", "lexicon"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "text", None),
        ({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]}, "money", None),
        ({"oneOf": [{"const": "x"}, {"const": "y"}]}, "text", {"x", "y"}),
        ({"enum": ["x", None]}, "text", {"x"}),
        ({"allOf": [{"$ref": "#/$defs/D"}, {"description": "a day"}]}, "date", None),
        ({"type": ["integer", "null"]}, "integer", None),
        ({"type": "string", "format": "email"}, "text", None),
    ],
)
def test_unions_and_enumerations_become_one_field(node, type_, lexicon):
    days = {"$defs": {"D": {"type": "string", "format": "date"}}}
    [found] = Rules.from_json_schema({**days, "properties": {"a": node}}).fields
    assert found.type == type_
    assert all(text in found.lexicon for text in lexicon or ())
    assert (found.lexicon is None) == (lexicon is None)


def test_parts_of_all_of_are_one_object():
    base = {"properties": {"a": {"type": "number"}}, "required": ["a"]}
    schema = {"allOf": [{"$ref": "#/$defs/B"}, {"properties": {"b": {}}}], "$defs": {"B": base}}
    one, other = Rules.from_json_schema(schema).fields
    assert (one.name, one.presence, other.name) == ("a", "required", "b")
