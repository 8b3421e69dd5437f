"""Expressions, well and badly formed: refused by a ``RulesError``, or evaluated and decoded."""

from __future__ import annotations

from lawful import Field, Rule, Rules
from lawful.rules.language.expression import parse
from tests.hostile.uses import use

FIELDS = [
    Field("total", "total", "money", ambiguity=2),
    Field("sub", "sub", "money", default=0),
    Field("items", "item", "number", many=True),
    Field("day", "day", "date", repeat="any"),
    Field("shop", "shop", repeat="first"),
]

GIVEN = {"po": "money", "who": "text"}

NUMBERS = [
    "total", "sub", "sum(items)", "count(items)", "max(items)", "min(items)", "count(shop)", "0",
    "1", "po", "count(po)", "start(total)", "end(shop)", "line(day)", "page(sub)", "top(total)",
    "-1", "0.1", "3", "1e300", "1e-300", "99999999999999999999999999999999999999", "0.005", "1_000",
    "decimals(total)", "decimals(sub)",
    "day - day", "0x10", "1e308", "5e-324", "day - date('1900-01-01')",
]  # fmt: skip
TEXTS = [
    "shop", "who", "'A'", "''", "'\\d'", "'é'", "shop if present(shop) else 'x'", "total.currency",
    "sub.currency", "'EUR'",
]  # fmt: skip
DAYS = [
    "day",
    "date('2024-03-04')",
    "date('9999-12-31')",
    "day + 1",
    "day - 99999999",
    "day + 1e18",
]
JUNK = [
    "None", "total ** 9", "total // 2", "total.real", "total[0]", "x := 1", "lambda: 1",
    "f'{total}'",
    "[total]", "{total}", "*total", "total # x", "__import__('os')", "1j", "b'x'", "...", "\ud800",
    "\0", "٣", "ﬁeld", "sum(total)", "sum(items, 1)", "nothing", "start(items)", "before(po, sub)",
    "before(total)", "left(who)", "matches(shop, '(')",
    "iban(total)",
    "date('x')", "1e400", "0,01", "total = 1", "total in (1)", "round(total, 99)", "shop in ()",
    "'", "(",
    ")" * 300, "total if", "not", "day + day", "items", "yield", "await x", "~total",
    "total is 1", "\\",
    "(" * 100, "-" * 300 + "1", "9" * 1900, "total\n", "# x", "''''''", "0777", "1__0", "\u202e",
    "if", "total in (1, 1)", "total in (1, 1 / 0)", "day in (1,)", "total in (sub,)",
    "shop.currency", "items.currency", "total.currency.currency", "decimals(items)", "decimals(1)",
    "count(total.currency)", "po.currency", "decimals(po)", "luhn(total)", "vat_id()",
    "ean(shop, shop)",
]  # fmt: skip


def draw_number(rng, deep=0) -> str:
    """An expression that is a number."""
    if deep > 4 or rng.random() < 0.4:
        return rng.choice(NUMBERS)
    one, other = draw_number(rng, deep + 1), draw_number(rng, deep + 1)
    forms = [
        "{} + {}", "{} - {}", "{} * {}", "{} / {}", "({} + {})", "({} - {})", "-({})", "abs({})",
        "round({}, 2)", "round({})", "round({}, 12)", "min({}, {})", "max({}, {})", "({}) * ({})",
        "({}) / ({})", "({} if " + draw_condition(rng, deep + 1) + " else {})", "+({})",
    ]  # fmt: skip
    return rng.choice(forms).format(one, other)


def draw_condition(rng, deep=0) -> str:
    """An expression that is a condition."""
    kind = rng.random()
    if deep > 3 or kind < 0.5:
        sign = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        text = f"{draw_number(rng, deep + 1)} {sign} {draw_number(rng, deep + 1)}"
        return f"{text} {sign} {draw_number(rng, deep + 1)}" if rng.random() < 0.1 else text
    if kind < 0.6:
        return f"{rng.choice(DAYS)} {rng.choice(['==', '<', '>='])} {rng.choice(DAYS)}"
    if kind < 0.7:
        forms = ["{} == {}", "{} in ('A', 'B')", "{} not in ('A',)", "matches({}, '^[A-Z]+')",
                 "iban({})", "matches({}, '(A|AA)+$')", "luhn({})", "ean({})", "bic({})",
                 "isin({})", "vat_id({})"]  # fmt: skip
        return rng.choice(forms).format(f"({rng.choice(TEXTS)})", rng.choice(TEXTS))
    if kind < 0.75:
        number = draw_number(rng, deep + 1)
        return rng.choice([
            f"({number}) in (0, 1, -3)", f"{number} not in (0.1, 1 / 3)", f"({number}) in ()",
            f"{rng.choice(DAYS)} in (date('2024-03-04'), date('1999-01-01'))",
        ])  # fmt: skip
    if kind < 0.8:
        return rng.choice(
            ["present(total)", "present(items)", "True", "not present(day)", "before(items, day)"]
        )
    one, other = draw_condition(rng, deep + 1), draw_condition(rng, deep + 1)
    forms = ["{} and {}", "{} or {}", "not ({})", "({}) == ({})", "({} or {})", "{} or {} and {}"]
    return rng.choice(forms).format(one, other, one)


def draw(rng) -> str:
    """A condition, often with a part that is no part of the language."""
    text = draw_condition(rng)
    if rng.random() < 0.3:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([*JUNK, " ", "(", ")", ",", "=", "'"]) + text[at:]
    if rng.random() < 0.1:
        at = rng.randrange(len(text))
        text = text[:at] + text[at + rng.randrange(1, 5) :]
    return text


def run(case) -> str:
    """Parses the expression, and uses it as a rule and as a condition of one."""
    known = {f.name: (f.kind, f.many) for f in FIELDS}
    known |= {"po": ("number", False), "who": ("text", False)}
    amounts = [f.name for f in FIELDS if f.type == "money"]
    parse(case, known, FIELDS[1].default, None, amounts)
    rules = [Rule(case, id="a"), Rule("present(shop)", when=case, id="b")]
    use(Rules(FIELDS, rules, given=GIVEN))
    return "answer"
