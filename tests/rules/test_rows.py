"""Rows: which words form them, and rules that are judged on every one of them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import product
from math import inf

import numpy as np
import pytest
import yaml

from lawful import Box, Document, Field, InputError, Rule, Rules, RulesError, Scores, decode
from lawful.documents.reading_order import printed_lines
from lawful.rules import RowKind
from lawful.rules.compiled.plan import plan_of
from lawful.rules.files import rules_from
from lawful.rules.judging.reading import Occurrence
from lawful.rules.judging.rows import Row, RowNumbers, table_numbers
from lawful.rules.to_file import rules_data
from lawful.search.problem import Problem
from tests.helpers import ROOT

NAMES = ("quantity", "price", "amount", "total")
FIELDS = [Field(name, name, "money") for name in NAMES]
LABELS = ("O", *(f"B-{name}" for name in NAMES))
LINE = RowKind("line", ("quantity", "price", "amount"))


def rules_of(*rules, kind=LINE, **defaults):
    made = Rules(FIELDS, rules, rows=[kind])
    return made.with_defaults(**defaults) if defaults else made


PRODUCT = Rule("amount == quantity * price", id="product", each="line", weight=3)
RISING = Rule("amount >= previous.amount", id="rising", each="line")
SUM = Rule("total == sum(line.amount)", id="sum")


def test_a_row_is_judged_by_itself_and_named_in_messages():
    words = ["2", "4.50", "9.00", "3", "2.00", "7.00", "1", "5.00"]
    gold = ["B-quantity", "B-price", "B-amount"] * 2 + ["B-quantity", "B-price"]
    probs = np.full((8, 5), 0.001)
    probs[range(8), [LABELS.index(label) for label in gold]] = 0.996
    document = Document("d", words, rows=[1, 1, 1, 2, 2, 2, 3, 3])
    found = decode(document, Scores.from_probs(probs, LABELS), rules_of(PRODUCT))
    assert [(check.id, check.state, check.row) for check in found.checks] == [
        ("product", "satisfied", 1),
        ("product", "violated", 2),
        ("product", "vacuous", None),
    ]
    assert found.checks[2].message == "not checked on 1 of 3 rows"
    assert found.checks[1].message == "line 2: amount is 7.00, quantity * price is 6.00"
    assert found.penalty == 3


def test_the_words_of_a_row_stand_together():
    numbers = RowNumbers.of(Document("d", list("abcdef"), rows=[7, 7, None, 7, 3, 7]))
    assert numbers.numbers.tolist() == [1, 1, 0, 1, 2, 3]
    row, closes = numbers.of_spans(np.array([0, 3, 4], np.uint32), np.array([1, 4, 5], np.uint32))
    assert row.tolist() == [1, 1, 2]
    assert closes.tolist() == [0, 1, 1]
    assert RowNumbers.of(Document("d", ["a"])) is None


def test_printed_lines_follow_the_slope_of_a_page():
    # Three lines of four words on a page that was turned by some 10 degrees.
    words, boxes = [], []
    for line, column in product(range(3), range(4)):
        x, y = 100 * column, 40 * line + 18 * column
        words.append(f"{line}{column}")
        boxes.append(Box(x, y, x + 60, y + 30))
    lines = printed_lines(Document("d", words, boxes))
    assert [lines[i : i + 4] for i in (0, 4, 8)] == [[n] * 4 for n in (0, 1, 2)]


def test_the_slope_of_a_page_is_taken_out():
    # Amounts far from the names are lower than these, about as near to the next line.
    words, boxes = [], []
    for line, x in product(range(3), (0, 70, 140, 210, 420)):
        y = 30 * line + 0.07 * x
        words.append(f"{line}{x}")
        boxes.append(Box(x, y, x + 60, y + 20))
    lines = printed_lines(Document("d", words, boxes))
    assert [lines[i : i + 5] for i in (0, 5, 10)] == [[n] * 5 for n in (0, 1, 2)]
    assert printed_lines(Document("d", [], [])) == []


def test_pages_have_lines_of_their_own():
    box = Box(0, 0, 10, 10)
    lines = printed_lines(Document("d", ["a", "b"], [box, box], [0, 1]))
    assert lines[0] != lines[1]


@pytest.mark.parametrize(
    ("rows", "rule", "message"),
    [
        ({"line": {"fields": ["price", "nothing"]}}, "total > 0", "unknown field 'nothing'"),
        ({"line": {"fields": []}}, "total > 0", "expected a list of fields"),
        ({"line": {"fields": ["price"], "starts": "total"}}, "total > 0", "one of its fields"),
        ({"line": {"fields": ["price"], "per": "x"}}, "total > 0", "unknown key 'per'"),
        ({"previous": {"fields": ["price"]}}, "total > 0", "means the row before"),
        (
            {"line": {"fields": ["price"], "shared": ["total"]}},
            "total > 0",
            "shared has 'total', expected some of its fields: price",
        ),
        (
            {"line": {"fields": ["price"], "shared": ["price"], "required": ["price"]}},
            "total > 0",
            "price is shared, so not every row has one of its own",
        ),
        (
            {
                "line": {"fields": ["price"]},
                "part": {"fields": ["total"], "of": "line", "by": "page", "shared": ["total"]},
            },
            "present(total)",
            "shared is for rows, not for sections",
        ),
        (
            {"line": {"fields": ["price"]}, "part": {"fields": ["total"], "of": "lines"}},
            "present(total)",
            "nothing says where a section begins",
        ),
        (
            {
                "line": {"fields": ["price"]},
                "part": {"fields": ["total"], "of": "lin", "by": "page"},
            },
            "present(total)",
            "of is 'lin', expected another kind of rows; did you mean 'line'",
        ),
        (
            {"part": {"fields": ["price"], "of": "part", "by": "page"}},
            "present(total)",
            "its sections hold themselves",
        ),
        (
            {"line": {"fields": ["price"], "by": "page"}},
            "total > 0",
            "by is for sections; say of which rows",
        ),
        (
            {
                "line": {"fields": ["price"]},
                "part": {"fields": ["total"], "of": "line", "by": "day"},
            },
            "present(total)",
            "by is 'day', expected 'page'",
        ),
        (
            {
                "line": {"fields": ["price"]},
                "part": {"fields": ["total"], "of": "line", "ends": "price"},
            },
            "present(total)",
            "ends is 'price', expected one of its fields: total",
        ),
        (
            {
                "line": {"fields": ["price"]},
                "part": {"fields": ["total"], "of": "line", "ends": "total"},
            },
            {"check": "total == price", "each": "part"},
            "price is a list: use sum",
        ),
        ({"total": {"fields": ["price"]}}, "total > 0", "defined twice"),
        ({"line": {"fields": ["price"]}}, {"check": "price > 0", "each": "row"}, "kind of rows"),
        ({"line": {"fields": ["price"]}}, "price > 0", "price is a list"),
        ({"line": {"fields": ["price"]}}, "line.cost > 0", "unknown field 'line.cost'"),
        (
            {"a": {"fields": ["price"]}, "b": {"fields": ["price"]}},
            "total > 0",
            "in rows 'a' and 'b'",
        ),
    ],
)
def test_what_is_wrong_with_rows_is_said(rows, rule, message):
    fields = {name: {"label": name, "type": "money"} for name in NAMES}
    with pytest.raises(RulesError, match=message):
        rules_from({"fields": fields, "rows": rows, "rules": [rule]})


def test_rules_of_rows_are_judged_inside_the_search():
    how = plan_of(rules_of(PRODUCT, RISING, SUM)).how
    assert {rule.way for rule in how.values()} == {"compiled"}
    mixed = Rule("amount <= total", id="mixed", each="line")
    assert plan_of(rules_of(mixed)).how["mixed"].way == "python"


def test_the_number_of_states_does_not_depend_on_the_number_of_rows():
    per_row = []
    for count in (10, 20, 40):
        rng = np.random.default_rng(count)
        words, ids, probs = [], [], []
        for row in range(count):
            quantity, price = rng.integers(1, 9, 2)
            words += [str(quantity), str(price), str(quantity * price)]
            ids += [row] * 3
            for name in LINE.fields:
                p = np.full(5, 0.1)
                p[LABELS.index(f"B-{name}")] = 0.6
                probs.append(p)
        document = Document("d", words, rows=ids)
        found = decode(document, Scores.from_probs(np.array(probs), LABELS), rules_of(PRODUCT))
        assert found.optimal
        per_row.append(found.tried / count)
    assert per_row[2] <= 1.2 * per_row[0]


def test_hard_rules_of_rows_clash_by_name():
    document = Document("d", ["2", "3", "7"], rows=[1, 1, 1])
    probs = np.full((3, 5), 0.001)
    probs[range(3), [1, 2, 3]] = 0.996
    rules = rules_of(Rule("amount == quantity * price", id="product", each="line", weight=inf))
    found = decode(document, Scores.from_probs(probs, LABELS), rules)
    assert found.status == "infeasible"
    assert "product" in found.clash


def judged_with_totals(totals):
    """The checks of ``amount <= total * tax``, 3, for any of these totals and taxes."""
    fields = [Field(name, name, "money", repeat="any") for name in ("amount", "total", "tax")]
    rule = Rule("amount <= total * tax", id="less", each="line")
    rules = Rules(fields, [rule], rows=[RowKind("line", ("amount",))])
    document = Document("d", ["3", *totals, *totals], rows=[1] + [None] * 2 * len(totals))
    labels = ("B-amount", "B-total", "B-tax")
    scores = Scores.from_probs(np.full((len(document), 3), 1 / 3), labels)
    problem = Problem(document, scores, rules, keep=False)
    reading = problem.judge.read(np.array([0, *[1] * len(totals), *[2] * len(totals)]))
    return problem.judge.checks(reading), problem.judge.weigh(reading)


def test_a_rule_of_rows_holds_if_it_holds_for_any_value_of_the_page():
    (check,), cost = judged_with_totals(["1", "2"])
    assert (check.state, check.message) == ("satisfied", "line 1: 3 <= 4 = 2 * 2")
    assert cost.most == 0
    (check,), _ = judged_with_totals(["0", "1"])
    assert (check.state, check.price, check.row) == ("violated", 10, 1)
    # More combinations than are tried.
    (check,), cost = judged_with_totals([f"0.{number}" for number in range(101, 170)])
    assert (check.state, check.decided) == ("vacuous", False)
    assert (cost.least, cost.most) == (0, 10)


# Sums over some rows.

VAT = [
    Field("amount", "amount", "money"),
    Field("rate", "rate", "number"),
    Field("basis", "basis", "money"),
    Field("of", "of", "number"),
]
KINDS = [RowKind("line", ("amount", "rate")), RowKind("vat", ("of", "basis"))]
BASIS = Rule("vat.basis == sum(line.amount where line.rate == vat.of)", id="basis", each="vat")


def checks_of(words, labels, rules, rows=None):
    names = ("O", *sorted({label for label in labels if label != "O"}))
    probs = np.full((len(words), len(names)), 1e-9)
    probs[range(len(words)), [names.index(label) for label in labels]] = 1
    probs /= probs.sum(axis=1, keepdims=True)
    document = Document("d", words, rows=rows)
    found = decode(document, Scores.from_probs(probs, names), rules)
    assert found.labels == tuple(labels)
    return [(check.state, check.message) for check in found.checks]


def test_a_sum_takes_the_rows_for_which_its_condition_holds():
    rules = Rules(VAT, [BASIS], rows=KINDS)
    words = ["10", "19", "5", "7", "20", "19", "19", "30", "7", "6"]
    labels = ["B-amount", "B-rate"] * 3 + ["B-of", "B-basis"] * 2
    assert checks_of(words, labels, rules) == [
        ("satisfied", "vat 1: 30 = 30"),
        ("violated", "vat 2: basis is 6, sum(line.amount where line.rate == vat.of) is 5"),
    ]
    # A line without a rate may belong to either sum.
    labels[1] = "O"
    assert checks_of(words, labels, rules) == [("vacuous", "not checked on 2 of 2 rows")]


def test_a_sum_over_rows_may_be_about_the_page():
    fields = [*VAT[:2], Field("net", "net", "money")]
    rules = Rules(fields, ["net == sum(line.amount where rate > 10)"], rows=KINDS[:1])
    labels = [*["B-amount", "B-rate"] * 2, "B-net"]
    assert checks_of(["10", "19", "5", "7", "10"], labels, rules)[0][0] == "satisfied"


def test_a_sum_over_rows_next_to_any_of_several_values_depends_on_the_rows():
    # The cost of the first labelling was taken for that of the second, which has the same lists.
    fields = [*VAT[:2], Field("net", "net", "money", repeat="any")]
    rules = Rules(fields, ["net == sum(line.amount where rate > 10)"], rows=KINDS[:1])
    document = Document("d", ["10", "5", "19", "10", "5", "7", "3", "15"])
    names = ("O", "B-amount", "B-rate", "B-net")
    problem = Problem(document, Scores.from_probs(np.full((8, 4), 0.25), names), rules, keep=False)
    two_rates = np.array([1, 0, 2, 0, 1, 2, 3, 3])
    one_rate = np.array([1, 1, 2, 0, 0, 2, 3, 3])
    assert problem.judge.cost(two_rates).most == 10
    assert problem.judge.cost(one_rate).most == 0.5


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("net == sum(net where net > 0)", "needs a list"),
        ("sum(line.amount where line.rate) == 1", "where needs a condition"),
        ("sum(line.amount, line.rate, 3) == 1", "sum takes one field"),
        ("sum(line.amount where unknown == 1) == 1", "unknown field 'unknown'"),
    ],
)
def test_what_is_wrong_with_a_sum_over_rows_is_said(check, message):
    with pytest.raises(RulesError, match=message):
        Rules([*VAT, Field("net", "net", "money")], [check], rows=KINDS)


def test_quoted_texts_may_contain_the_word_where():
    rules = Rules([Field("shop", "shop")], ["shop == 'where'"])
    assert checks_of(["where"], ["B-shop"], rules)[0][0] == "satisfied"


def test_rows_are_tables_in_python_and_json():
    words = ["2", "4", "8", "3", "9"]
    probs = np.full((5, 5), 0.001)
    probs[range(5), [1, 2, 3, 1, 3]] = 0.996
    document = Document("d", words, rows=[1, 1, 1, 2, 2])
    found = decode(document, Scores.from_probs(probs, LABELS), rules_of(PRODUCT))
    assert [{name: value.text for name, value in row.items()} for row in found.rows("line")] == [
        {"quantity": "2", "price": "4", "amount": "8"},
        {"quantity": "3", "amount": "9"},
    ]
    record = found.to_dict()
    assert record["rows"]["line"][1]["amount"] == {"text": "9", "value": Decimal(9)}
    assert record["fields"]["amount"][1]["row"] == 2
    with pytest.raises(InputError, match="no rows 'item'; kinds of rows: line"):
        found.rows("item")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a1 a2 p3 a4", ["1 3", "2 3", "- 3", "4 3"]),  # none before: the first one after
        ("a1 a2", ["1 -", "2 -"]),
        ("p1 a1 p2 a2 a3", ["- 1", "1 1", "- 2", "2 2", "3 2"]),
    ],
)
def test_a_shared_value_is_that_of_rows_without_one(words, expected):
    """In results alone: rules see what each row has of its own."""
    names = {"a": "amount", "p": "price"}
    parts = words.split()
    probs = np.full((len(parts), 5), 0.001)
    for at, part in enumerate(parts):
        probs[at, LABELS.index(f"B-{names[part[0]]}")] = 0.996
    document = Document("d", [part[1:] for part in parts], rows=range(len(parts)))
    kind = replace(LINE, shared=("price",))
    rules = rules_of(Rule("price > 0", id="own", each="line"), kind=kind)
    found = decode(document, Scores.from_probs(probs, LABELS), rules)
    texts = [
        " ".join(row[name].text if name in row else "-" for name in ("amount", "price"))
        for row in found.rows("line")
    ]
    assert texts == expected
    assert sum(check.state == "satisfied" for check in found.checks) == words.count("p")
    assert [value.row is not None for value in found.fields.get("price", ())] == [True] * (
        words.count("p")
    )
    assert rules_from(rules_data(rules)).rows == rules.rows


# Descriptions on lines of their own.


def tables_by_hand(rows, texts, pages):
    """All ways to join every line that could join, or be joined, with one neighbour."""
    count = len(rows)
    pairs = [
        (i, i + 1)
        for i in range(count - 1)
        if (set(rows[i]) <= texts) != (set(rows[i + 1]) <= texts)
        and not set(rows[i]) & set(rows[i + 1])
        and pages[i] == pages[i + 1]
    ]
    joined = []
    for first in range(count):
        if any(first in pair for pair in pairs) and (first - 1, first) not in pairs:
            last = first
            while (last, last + 1) in pairs:
                last += 1
            inside = [pair for pair in pairs if first <= pair[0] < last]
            ways = [
                chosen
                for picks in product((False, True), repeat=len(inside))
                for chosen in [[pair for pair, pick in zip(inside, picks, strict=True) if pick]]
                if sorted(i for pair in chosen for i in pair) == list(range(first, last + 1))
            ]
            joined += ways[0] if len(ways) == 1 else []
    numbers, number = [], 0
    for i in range(count):
        number += (i - 1, i) not in joined
        numbers.append(number)
    return numbers


def test_lines_of_texts_join_their_neighbours_if_there_is_one_way():
    texts = frozenset({0, 1})
    for seed in range(300):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(0, 8))
        rows = [set(rng.choice([0, 0, 1, 2, 3], rng.integers(1, 3)).tolist()) for _ in range(count)]
        if rng.random() < 0.5:  # mostly lines that alternate
            rows = [{0} if i % 2 else {2, 3} for i in range(count)]
        pages = np.sort(rng.integers(0, 2, count)).tolist()
        found = table_numbers(
            [Row({f: (Occurrence(i, i + 1),) for f in row}) for i, row in enumerate(rows)],
            texts,
            pages,
        )
        assert found == tables_by_hand(rows, texts, pages), seed


def test_a_description_above_the_numbers_is_in_their_row():
    fields = [Field("name", "name"), *FIELDS]
    kind = RowKind("line", ("name", "quantity", "price", "amount"))
    rules = Rules(fields, [PRODUCT], rows=[kind])
    lines = [["Tea"], ["2", "3", "7"], ["Cake"], ["1", "4", "4"]]
    words = [word for line in lines for word in line]
    labels = (*LABELS, "B-name")
    probs = np.full((len(words), len(labels)), 0.001)
    names = ["B-name", "B-quantity", "B-price", "B-amount"] * 2
    probs[range(len(words)), [labels.index(name) for name in names]] = 0.996
    scores = Scores.from_probs(probs / probs.sum(axis=1, keepdims=True), labels)
    boxes = [
        Box(40 * i, 20 * y, 40 * i + 30, 20 * y + 10)
        for y, line in enumerate(lines)
        for i in range(len(line))
    ]
    found = decode(Document("d", words, boxes), scores, rules)
    texts = [[value.text for value in row.values()] for row in found.rows("line")]
    assert texts == [["Tea", "2", "3", "7"], ["Cake", "1", "4", "4"]]
    assert [(check.state, check.row) for check in found.checks] == [
        ("violated", 1),
        ("satisfied", 2),
        ("vacuous", None),
    ]
    assert found.checks[0].message.startswith("line 1: ")
    # Rows that the document itself has stay as they are.
    apart = decode(Document("d", words, rows=[1, 2, 2, 2, 3, 4, 4, 4]), scores, rules)
    assert len(apart.rows("line")) == 4


def test_the_example_in_the_docs_is_real():
    section = (ROOT / "docs" / "rules.md").read_text().split("\n## Rows\n")[1]
    rules = rules_from(yaml.safe_load(section.split("```yaml\n")[1].split("```")[0]))
    words = ["2", "3", "19", "6", "6", "1", "4", "7", "4", "10", "10", "6"]
    row = ["quantity", "price", "rate", "amount", "balance"]
    labels = [f"B-line.{name}" for name in row * 2] + ["B-total", "B-full_rate_total"]
    fields = [replace(f, optional=True) for f in rules.fields]
    rules = Rules(fields, rules.rules, rows=rules.rows)
    checks = checks_of(words, labels, rules, [1] * 5 + [2] * 5 + [None] * 2)
    assert [state for state, _ in checks] == [*["satisfied"] * 3, "vacuous", *["satisfied"] * 2]
