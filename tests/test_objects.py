"""Pydantic models and JSON Schemas: samples in, rules from the model, objects out."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

import lawful
from lawful import Candidates, Rules, RulesError, as_object, choose
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
    assert as_object(found, Invoice) == Invoice(
        seller=Party(name="Ada"),
        total=Decimal("7.5"),
        codes=["A", "B"],
        pages=1,
        lines=[
            Line(name="tea", quantity=2, amount=Decimal("3.5")),
            Line(name="cake", amount=Decimal("4")),
        ],
    )
    plain = as_object(found, Invoice.model_json_schema())
    assert plain["seller"] == {"name": "Ada"}
    assert plain["lines"][1] == {"name": "cake", "amount": Decimal("4")}


def test_a_value_that_the_model_needs_is_required():
    nothing = choose(Candidates.from_samples([{"kind": "invoice"}]), RULES)
    assert {check.id for check in nothing.violations} == {
        "seller_name:required",
        "total:required",
    }
    with pytest.raises(ValidationError):
        as_object(nothing, Invoice)


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
    assert RULES.rows == (lawful.RowKind("lines", ("lines_name", "quantity", "amount")),)
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
        (7, "7 is neither a Pydantic model nor a JSON Schema"),
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
    with pytest.raises(RulesError, match="is neither a Pydantic model nor a JSON Schema"):
        Rules.from_pydantic(int)
