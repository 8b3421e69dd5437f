"""Results of earlier runs, compared with what a person says is true."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lawful import Candidates, Field, InputError, Rules, choose
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import decoding_line
from lawful.learn.align import Truth
from lawful.learn.reviewed import check_known, read_results, reviewed_result
from lawful.learn.trust import DOUBTS
from lawful.rules import RowKind

RULES = Rules(
    [
        Field("total", "total", "money"),
        Field("tax", "tax", "money", default=0),
        Field("date", "date", "date"),
        Field("shop", "shop", "text"),
        Field("price", "price", "money", many=True),
        Field("name", "name", "text", many=True),
    ],
    rows=[RowKind("items", ("price", "name"))],
)
SAID = {
    "total": "1.234,50", "date": "31/12/2024", "shop": "Caf\u00e9 Lim Sdn. Bhd.",
    "items": [{"name": "Tea", "price": "3.00"}, {"name": "Oil", "price": 1231.5}],
}  # fmt: skip
ITEMS = {"name": "tea", "price": 3}, {"name": "oil", "price": "1231.50"}
NAMED = dict.fromkeys(DOUBTS, 0.0)


def result(tmp_path, said, **changes):
    """A line as a run writes it, and as it is read."""
    decoding = choose(Candidates.from_samples([said]), RULES)
    decoding = replace(decoding, doubts=NAMED, setting="s", **changes)
    path = tmp_path / "results.jsonl"
    path.write_text(decoding_line(decoding) + "\n")
    (line,) = read_results(path)
    return line


@pytest.mark.parametrize(
    ("needs", "values", "rows", "right"),
    [
        (("total",), {"total": ("1234.5",)}, (), True),
        (("total",), {"total": (1234.5,)}, (), True),
        (("total",), {"total": ("1234.51",)}, (), False),
        (("total",), {}, (), False),  # a person says that there is none
        (("total", "tax"), {"total": ("1234.50",)}, (), True),  # not printed is the default
        (("tax",), {"tax": ("0.00",)}, (), True),
        (("tax",), {"tax": ("1",)}, (), False),
        (("date",), {"date": ("2024-12-31",)}, (), True),
        (("date",), {"date": ("2024-12-30",)}, (), False),
        (("shop",), {"shop": ("CAFE LIM SDN BHD",)}, (), True),
        (("shop",), {"shop": ("Cafe Lin",)}, (), False),
        (("items",), {}, ITEMS, True),
        (("items",), {}, ITEMS[::-1], False),
        (("items",), {}, ITEMS[:1], False),
        (("price",), {"price": ("3.00", "1231.50")}, (), True),
        (("price",), {"price": ("3.00",)}, (), False),
    ],
)
def test_results_are_right_by_value(tmp_path, needs, values, rows, right):
    line = result(tmp_path, SAID)
    truth = Truth("candidates", values, {"items": rows} if rows else {})
    rules = Rules(RULES.fields, rows=RULES.rows, needs=needs)
    found = reviewed_result(line, truth, rules)
    assert (found.reviewed.right, found.reviewed.barred, found.setting) == (right, False, "s")


def test_a_value_that_is_not_found_is_wrong_unless_it_is_absent(tmp_path):
    line = result(tmp_path, {"shop": "Lim"})
    rules = Rules(RULES.fields, rows=RULES.rows, needs=["total"])
    assert reviewed_result(line, Truth("candidates"), rules).reviewed.right
    truth = Truth("candidates", {"total": ("5",)})
    assert not reviewed_result(line, truth, rules).reviewed.right


def test_repaired_values_are_barred(tmp_path):
    line = result(tmp_path, SAID)
    (total,) = line.fields["total"]
    total.read_as = "1.284,50"
    rules = Rules(RULES.fields, rows=RULES.rows, needs=["total"])
    truth = Truth("candidates", {"total": ("1234.5",)})
    assert reviewed_result(line, truth, rules).reviewed.barred
    other = Rules(RULES.fields, rows=RULES.rows, needs=["date"])
    assert not reviewed_result(line, truth, other).reviewed.barred


def test_lines_without_doubts_are_named(tmp_path):
    path = tmp_path / "results.jsonl"
    line = json.loads(decoding_line(choose(Candidates.from_samples([SAID]), RULES)))
    wrong = line | {"doubts": {"values": 1.0}, "setting": "s"}
    path.write_text(f"{json.dumps(line)}\n{json.dumps(wrong)}\n{{\n")
    found = list(read_results(path))
    assert all(isinstance(each, FailedDocument) for each in found)
    assert [each.line for each in found] == [1, 2, 3]
    assert "has no doubts and setting: make it with --needs" in found[0].message


def test_needed_fields_have_true_values_somewhere():
    rules = Rules(RULES.fields, rows=RULES.rows, needs=["total", "date"])
    known = {"a": Truth("a", {"total": (1,)}), "b": Truth("b", {"date": ("2024-01-01",)})}
    check_known(known, rules)
    with pytest.raises(InputError, match="no document has a true value of date, which"):
        check_known({"a": known["a"]}, rules)
