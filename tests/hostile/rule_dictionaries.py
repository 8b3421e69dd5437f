"""Rule files as dictionaries, mutated: refused, or rules that work throughout."""

from __future__ import annotations

import copy
import datetime
from decimal import Decimal

import numpy as np

from lawful.rules.files import rules_from
from tests.hostile.expressions import draw as draw_expression
from tests.hostile.uses import use

VALID = {
    "scheme": "BIO",
    "weight": 5,
    "presence": "keep",
    "fields": {
        "total": {"label": "total", "type": "money", "max_words": 3, "ambiguity": 2},
        "sub": {"label": "sub", "type": "money", "default": 0, "presence": "free"},
        "items": {"label": "item", "type": "number", "many": True},
        "day": {"label": "day", "type": "date", "repeat": "any"},
        "shop": {"label": "shop", "pattern": r"\w+", "repeat": "first", "in": ["A", "٣"]},
    },
    "words": [
        {"match": r"\d", "only": ["total", "sub"], "weight": 1},
        {"in": ["A", "b c"], "only": ["shop"]},
    ],
    "boundaries": {"after": r"\d$", "weight": 0.5},
    "order": [{"fields": ["shop", "day"], "weight": 1, "id": "o"}, ["items", "total"]],
    "given": {"po": "money", "who": "text"},
    "classes": {"kind": {"scores": "sort"}, "tone": None},
    "rules": [
        "total == sub + sum(items)",
        {"id": "some", "check": "total > 0", "weight": "hard", "message": "total is {total}"},
        {"check": "abs(total - sub) <= 1", "when": "present(sub)", "tolerance": 0.5},
        {"check": "matches(shop, '^A')", "unchecked": 2},
        {"check": "day >= date('2024-01-01') or count(items) == 2", "weight": 0},
        "round(total / 3, 2) * 3 != sub",
        "(total if present(sub) else sub) > 0 or shop in ('A', 'B')",
        "total <= po + sub or shop == who",
        {"check": "total > sub or kind == tone", "when": "kind != 'memo'"},
    ],
}

VALUES = [
    None, True, False, 0, 1, -1, 2, 10**30, -(10**30), 10**5000, 0.1, -0.0, 1e-300, 1e300, 5e-324,
    float("nan"), float("inf"), -float("inf"), Decimal("1e999999"), Decimal("NaN"), Decimal("sNaN"),
    Decimal("1e-999999"), Decimal(10), "", " ", "x", "1", "0,01", "nan", "inf", "1e999999999",
    "hard",
    "never", "keep", "required", "free", "agree", "first", "any", "money", "number", "integer",
    "date", "text", "BIO", "iobes", "IO", "BILOU", "\ud800", "a\udfff", "\0", "\n", "\u202e",
    "é", "ﬁ",
    "ª", "𝐭otal", "e\u0301", "class", "None", "total", "sub", "items", "B-total", "O", "{", "}",
    "{total!r}", "{total", "{}", "{{total}}", "{total.real}", "{0}", "{total:>9999999}", "%s",
    "[red]",
    "[/]", "[link=x]", "=1+1", "<b>", "a" * 5000, "(" * 300, "(a|aa)+$", "[", "a{9999999}",
    r"\d{2}",
    b"x", bytearray(b"x"), (), (1,), [], {}, [None], [[]], {"a": 1}, {1: 2}, {None: None}, {"x"},
    datetime.date(2024, 3, 4), datetime.datetime(2024, 3, 4, 5), datetime.timedelta(1), 1j, object,
    len, Ellipsis, np.float64(2), np.int64(3), np.nan, np.array([1, 2]), np.array(3), range(3),
]  # fmt: skip
"""Values of every type, and texts that mean something somewhere."""

LIKELY = {
    "default": [0, -0.0, 0.1, "12.50", "1.234", "A", "", "2024-03-04", 10**18, 1e-18, "0,01"],
    "message": [
        "\ud800",
        "{total}",
        "{items}",
        "{",
        "}{",
        "{{total}}",
        "{total!r}",
        "",
        "[b]{sub}[/b]",
        "\0",
    ],
    "weight": [0, 1e-300, 0.5, 1e6, "hard", " HARD ", float("inf"), Decimal(3), True],
    "weights": [
        {},
        {"total:agrees": 2, "shop:pattern": "hard"},
        {"day:reads": 0, "sub:required": "hard", "total:max_words": 0.5},
        {"shop:words": 1, "total:boundary": "hard", "day:starts": 0, "shop:ends": 2, "shop:in": 3},
        {"total:kept": 3},
        {"totl:reads": 3},
        {"items": 1},
    ],
    "tolerance": [0, 0.1, "1e-18", "1e18", 10**18, "-0", 1e-18, Decimal("0.1"), 5e-324],
    "unchecked": [0, 1e6, 0.1, 5e-324],
    "ambiguity": [0, 0.1, 1e6, "never", float("inf")],
    "max_words": [1, 2, 10**6],
    "type": ["money", "number", "integer", "percent", "date", "text"],
    "many": [True, False],
    "presence": ["keep", "free", "required"],
    "optional": [True, False],
    "repeat": ["agree", "first", "any"],
    "scheme": ["BIO", "IOB1", "io", "IOBES", "BILOU"],
    "pattern": [
        "",
        ".*",
        r"\d+",
        "(a|aa)+$",
        "(?i)[a-z]+",
        r"[^\W\d_]",
        "\ud800",
        "(?=.)",
        "x" * 9999,
    ],
    "where": ["start > 0", "line < 2 or left > 3", "end - start == 1", "top", "page in (1, 2)", ""],
    "kind": [None, {}, {"scores": "tone"}, {"scores": "none"}, {"scores": 3}, {"score": "x"}],
    "starts": ["", ".", r"^\d", "(a|aa)+$", "x{1000}"],
    "ends": ["", ".", r"\d$", "(?i)a", "$"],
    "in": [["A"], ["12.50", "3.350 2024-03-04"], ["", "x"], "/dev/null", "no such file", ".", "\0"],
    "match": ["", "A", r"\d", "[", "(?i)a"],
    "only": [[], ["total"], ["shop", "day"], ["nothing"], "total"],
    "after": ["", r"\d$", "A", "[", "(?i)a"],
    "order": [["shop", "total"], [["day", "sub", "shop"]], {"fields": ["sub", "day"]}, [], ["sub"]],
    "po": ["money", "date", "integer", "cash"],
    "who": ["text", "number"],
    "label": ["O", "B-total", "é", " ", "a b", "\0", "total", "[red]", "item", "x" * 300],
    "id": ["total:reads", "é", " ", "[/]", "{total}", "\0", "\n", "x" * 300, "legal"],
}
"""Values that are likely to load, by key."""


FIELD_KEYS = (
    "label", "type", "many", "default", "presence", "repeat", "max_words", "pattern", "ambiguity",
    "optional", "starts", "ends", "in", "where",
)  # fmt: skip
WORD_KEYS = ("match", "in", "only", "weight")
RULE_KEYS = ("id", "check", "when", "tolerance", "message", "weight", "unchecked")
FILE_KEYS = (
    "order", "scheme", "presence", "repeat", "weight", "weights", "tolerance", "max_words",
    "unchecked",
)  # fmt: skip


def draw(rng):
    """A valid dictionary with a few likely settings, and in half of the cases some mutations."""
    data = copy.deepcopy(VALID)
    for _ in range(rng.randrange(4)):
        fields, rules = list(data["fields"].values()), data["rules"]
        places = [
            (rng.choice(fields), FIELD_KEYS),
            (data, FILE_KEYS),
            (rng.choice(data["words"]), WORD_KEYS),
            (data["boundaries"], ("after", "weight")),
            (data["given"], ("po", "who")),
            (data["classes"], ("kind",)),
            (None, ()),
        ]
        where, keys = rng.choice(places)
        if where is None:
            rules.append({"check": draw_expression(rng)})
            where, keys = rules[-1], RULE_KEYS
        key = rng.choice(keys)
        where[key] = rng.choice(LIKELY[key]) if key in LIKELY else draw_expression(rng)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 5])):
        _mutate(rng, data)
    return data


def _mutate(rng, data):
    places = list(_places(data))
    if not places:
        return
    container, key = rng.choice(places)
    kind = rng.random()
    if kind < 0.5:
        container[key] = _value(rng)
    elif kind < 0.6:
        del container[key]
    elif kind < 0.75 and isinstance(container, dict):
        names = [
            *LIKELY,
            *(value for value in VALUES if isinstance(value, str)),
            1,
            None,
            (1,),
            1.5,
        ]
        container[rng.choice(names)] = rng.choice([container[key], _value(rng)])
    elif kind < 0.85:
        container[key] = [container[key]] * rng.choice([0, 2, 200])
    elif kind < 0.95:
        for _ in range(rng.choice([2, 50, 2000])):
            container[key] = rng.choice([[container[key]], {"a": container[key]}])
    else:
        other, name = rng.choice(places)
        container[key] = other[name] if name in _keys(other) else None  # may hold itself


def _value(rng):
    if rng.random() < 0.15:
        return rng.choice(["", "-"]) + str(rng.randrange(10 ** rng.randrange(1, 30)))
    if rng.random() < 0.15:
        return rng.uniform(-10, 10) * 10.0 ** rng.randrange(-20, 20)
    return rng.choice(VALUES)


def _keys(container):
    return container if isinstance(container, dict) else range(len(container))


def _places(data, deep=0):
    """All containers in the data, with their keys."""
    if deep > 4 or not isinstance(data, dict | list):
        return
    for key in list(_keys(data)):
        yield data, key
        yield from _places(data[key], deep + 1)


def run(case) -> str:
    """Loads the rules and uses them."""
    use(rules_from(case))
    return "answer"
