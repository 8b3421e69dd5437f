"""Rows of decodings compared with JSON lines of the same decodings."""

from __future__ import annotations

import json
from decimal import Decimal
from math import inf


def same(row, line):
    """Asserts that a row says what a line of JSON says."""
    record = json.loads(line, parse_float=Decimal, parse_int=Decimal)
    assert row["error"] is None
    for name in ("id", "status", "optimal", "decoder", "stopped_by"):
        assert row[name] == record[name], name
    assert row["labels"] == record["labels"]
    for name in ("log_prob", "bound", "mass", "tried"):
        assert row[name] == (None if record[name] is None else float(record[name])), name
    assert row["penalty"] == price(record["penalty"])
    assert_same_fields(row["fields"], record["fields"], record.get("confidence", {}))
    checks = [
        (c["id"], c["state"], c["message"], price(c.get("price", 0)), c.get("implied", False))
        for c in record["checks"]
    ]
    assert [tuple(check.values()) for check in row["checks"]] == checks
    assert [{**c, "price": None} for c in row["corrections"]] == [
        {**c, "word": int(c["word"]), "price": None} for c in record["corrections"]
    ]
    prices = [float(c["price"]) for c in record["corrections"]]
    assert [c["price"] for c in row["corrections"]] == prices
    assert row["margin"] == (None if (m := record.get("margin")) is None else float(m))
    others = record.get("alternatives", [])
    assert len(row["alternatives"]) == len(others)
    for one, other in zip(row["alternatives"], others, strict=True):
        assert one["violated"] == other["violated"]
        assert one["log_prob"] == float(other["log_prob"])
        assert one["penalty"] == price(other["penalty"])
        assert_same_fields(one["fields"], other["fields"], {})
    rows = [
        (kind, {name: cell["text"] for name, cell in cells.items()})
        for kind, found in record.get("rows", {}).items()
        for cells in found
    ]
    assert [(r["kind"], {f["name"]: f["text"] for f in r["fields"]}) for r in row["rows"]] == rows
    assert {c["name"]: c["value"] for c in row["classes"]} == {
        name: found["value"] for name, found in record.get("classes", {}).items()
    }


def price(value):
    return inf if value == "hard" else float(value)


def assert_same_fields(fields, record, confidence):
    flat = [(name, value) for name, values in record.items() for value in values]
    assert [field["name"] for field in fields] == [name for name, _ in flat]
    for field, (name, value) in zip(fields, flat, strict=True):
        assert field["text"] == value["text"]
        assert [field["start"], field["end"]] == list(map(int, value["words"]))
        assert (field["page"], field["row"]) == tuple(
            None if value.get(key) is None else int(value[key]) for key in ("page", "row")
        )
        expected = None if value["box"] is None else list(map(float, value["box"]))
        assert field["box"] == expected
        sure = confidence.get(name, [None, None])
        expected = [None if bound is None else float(bound) for bound in sure]
        assert [field["confidence"], field["confidence_high"]] == expected
        found = value["value"]
        if isinstance(found, Decimal):
            assert Decimal(field["value"]) == found
            assert str(field["value"]) == str(found)  # with all its digits
            assert field["number"] == float(found)
        else:
            assert field["value"] == found
        if field["date"] is not None:
            assert field["date"].isoformat() == field["value"]
