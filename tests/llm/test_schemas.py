"""What a language model is asked for: schemas from files, and as servers enforce them."""

import json

import pytest

from lawful import InputError, LawfulError, Rules, RulesError
from lawful.llm.schemas import asked, load_schema, part_of, schema_of_rules

SCHEMA = {
    "type": "object",
    "properties": {
        "seller": {"type": "object", "properties": {"name": {"type": "string"}}},
        "total": {"type": "number", "description": "with tax"},
        "kind": {"enum": ["bill", "note"]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
    },
    "required": ["total"],
    "$defs": {"Item": {"type": "object", "properties": {"price": {"type": "number"}}}},
}
PYTHON = """
import lawful, pydantic

class Invoice(pydantic.BaseModel):
    total: float
    tax: float | None = None

small = lawful.Rule("tax < total")
"""


def test_a_pydantic_model_comes_with_the_rules_of_its_file(tmp_path):
    (tmp_path / "invoice.py").write_text(PYTHON)
    schema, rules = load_schema(f"{tmp_path}/invoice.py:Invoice")
    assert list(schema["properties"]) == ["total", "tax"]
    assert [rule.id for rule in rules.rules] == ["tax < total"]
    assert [f.name for f in rules.fields] == ["total", "tax"]


def test_a_json_schema_may_have_rules(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**SCHEMA, "lawful": {"rules": ["total >= sum(price)"]}}))
    schema, rules = load_schema(str(path))
    assert [rule.id for rule in rules.rules] == ["total >= sum(price)"]
    assert [row.name for row in rules.rows] == ["items"]
    assert "lawful" not in asked(schema)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.json", "{", "expected a JSON Schema, or file.py:Class"),
        ("s.json", "[]", "expected a JSON Schema, or file.py:Class"),
        ("s.json", "{}", "the schema is of type 'string', expected an object"),
        ("s.json", '{"properties": {"a": {}}, "lawful": {"rules": "a"}}', "expected {\"rules\""),
        ("s.json", '{"properties": {"a": {}}, "lawful": {"rules": ["b > 1"]}}', "unknown field"),
        ("i.py", PYTHON, "i.py names no class: write"),
        ("i.py:Invoise", PYTHON, "has no Invoise; did you mean 'Invoice'"),
        ("i.py:small", PYTHON, "is no Pydantic model, dataclass or JSON Schema"),
        ("i.py:Invoice", "import nothing_of_this_name", "line 1: ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_files_that_are_no_schemas_are_named(tmp_path, name, text, message):
    (tmp_path / name.partition(":")[0]).write_text(text)
    with pytest.raises(LawfulError) as error:
        load_schema(f"{tmp_path}/{name}")
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot read the schema"):
        load_schema(str(tmp_path / "none.json"))
    with pytest.raises(RulesError, match="cannot read"):
        load_schema(str(tmp_path / "none.py:Invoice"))


def test_servers_are_asked_for_every_property_or_null():
    found = asked(SCHEMA)
    properties = found["properties"]
    assert found["required"] == list(properties)
    assert found["additionalProperties"] is False
    assert properties["total"] == {"type": ["number", "null"], "description": "with tax"}
    assert properties["kind"] == {"anyOf": [{"enum": ["bill", "note"]}, {"type": "null"}]}
    assert properties["seller"]["properties"]["name"] == {"type": ["string", "null"]}
    assert found["$defs"]["Item"]["required"] == ["price"]
    assert properties["items"] == SCHEMA["properties"]["items"]


def test_properties_keep_names_that_are_keys_of_schemas():
    schema = {"properties": {"title": {"type": "string"}, "pattern": {"type": "string"}}}
    assert list(asked(schema)["properties"]) == ["title", "pattern"]


def test_a_part_of_a_schema_has_the_properties_that_paths_lead_to():
    found = part_of(SCHEMA, [("seller", "name"), ("items",)])
    assert list(found["properties"]) == ["seller", "items"]
    assert found["properties"]["seller"]["properties"] == {"name": {"type": "string"}}
    assert found["properties"]["items"] == SCHEMA["properties"]["items"]
    assert Rules.from_json_schema(found).fields[1].name == "price"


def test_rules_alone_say_what_to_ask_for():
    rules = Rules.from_json_schema(SCHEMA)
    again = Rules.from_json_schema(schema_of_rules(rules))
    assert [(f.name, f.type, f.many) for f in again.fields] == [
        (f.name, f.type, f.many) for f in rules.fields
    ]
    assert again.rows[0].fields == rules.rows[0].fields
