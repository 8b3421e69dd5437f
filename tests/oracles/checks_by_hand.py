"""Possible values of words, and checks as Python functions, all written by hand."""

from __future__ import annotations

import inspect
from datetime import date, timedelta
from fractions import Fraction

# The possible values of each word, the most plausible first.
NUMBERS = {
    **{
        text: (Fraction(text),)
        for text in ("0", "1", "2", "3", "4", "5", "6", "8", "-1", "0.5", "1.5", "2.5")
    },
    **{
        text: (Fraction(text) * 1000, Fraction(text))
        for text in ("1.000", "1.004", "2.000", "3.350")
    },
}
POSSIBLE_VALUES = {
    "money": NUMBERS,
    "number": NUMBERS,
    "integer": {
        text: whole
        for text, values in NUMBERS.items()
        if (whole := tuple(value for value in values if value.denominator == 1))
    },
    "percent": {
        **{text: (values[-1], *values[:-1]) for text, values in NUMBERS.items()},
        "0.5": (Fraction(50), Fraction("0.5")),
    },
    "date": {
        "2024-04-03": (date(2024, 4, 3),),
        "2024-04-04": (date(2024, 4, 4),),
        "03/04/2024": (date(2024, 4, 3), date(2024, 3, 4)),
        "05/04/2024": (date(2024, 4, 5), date(2024, 5, 4)),
    },
}
WORDS = (*NUMBERS, *POSSIBLE_VALUES["date"], "net", "A", "B", "Rp")


def possible_values(text, type_):
    """The possible values of a text of ``WORDS``; amounts may have a currency on either side."""
    text = text.strip()
    if type_ == "text":
        return (text,) if text else ()
    if type_ == "money":
        text = text.removeprefix("Rp ").removesuffix(" Rp")
    return POSSIBLE_VALUES[type_].get(text, ())


# Checks. A function's parameters name what it reads: a value, of a field or given, its number of
# occurrences (count_total), its place (start_total, top_total), the edges of all its spans
# (first_total, last_total), or the tolerance (t).


def strict(check):
    """A check that is unknown if a value is missing, or on division by zero."""

    def known(*values):
        try:
            return None if any(value is None for value in values) else check(*values)
        except ZeroDivisionError:
            return None

    known.__signature__ = inspect.signature(check)
    return known


def no(a):
    return None if a is None else not a


def both(a, b):
    """Kleene's and."""
    return False if False in (a, b) else None if None in (a, b) else True


def either(a, b):
    """Kleene's or."""
    return no(both(no(a), no(b)))


def same(a, b, tolerance=0):
    """Whether two values are equal; unknown if one is missing."""
    if a is None or b is None:
        return None
    return abs(a - b) <= tolerance if tolerance else a == b


def rounded(number, decimals=0):
    """Rounded, halves away from zero."""
    scaled = abs(number) * 10**decimals
    whole = (scaled + Fraction(1, 2)).__floor__()
    return Fraction(whole if number >= 0 else -whole, 10**decimals)


FIRST = date(2024, 4, 1)

CHECKS = {
    # Sums and linear equations.
    "total == sum(parts)": strict(lambda total, parts, t: abs(total - sum(parts)) <= t),
    "total == sum(parts) + tax": strict(
        lambda total, parts, tax, t: abs(total - sum(parts) - tax) <= t
    ),
    "total + tax == 3": strict(lambda total, tax, t: abs(total + tax - 3) <= t),
    "total == 2 * tax": strict(lambda total, tax, t: abs(total - 2 * tax) <= t),
    "3 * total - 2 * tax == 1": strict(lambda total, tax, t: abs(3 * total - 2 * tax - 1) <= t),
    "sum(parts) == 3": strict(lambda parts, t: abs(sum(parts) - 3) <= t),
    "total == 1": strict(lambda total, t: abs(total - 1) <= t),
    "tax == 1.005": strict(lambda tax, t: abs(tax - Fraction("1.005")) <= t),
    # Order, within the tolerance.
    "total > 1": strict(lambda total, t: total > 1 + t),
    "tax > 0": strict(lambda tax, t: tax > t),
    "total <= 1": strict(lambda total, t: total <= 1 + t),
    "-1 < total - tax < 2": strict(lambda total, tax, t: -1 + t < total - tax < 2 - t),
    "sum(parts) >= 4": strict(lambda parts, t: sum(parts) + t >= 4),
    # Lists of numbers and days.
    "total in (1, 3)": strict(lambda total, t: abs(total - 1) <= t or abs(total - 3) <= t),
    "total - tax not in (-1, 0, 1 / 3)": strict(
        lambda total, tax, t: all(abs(total - tax - other) > t for other in (-1, 0, Fraction(1, 3)))
    ),
    "sum(parts) in (2, 3)": strict(lambda parts, t: min(abs(sum(parts) - n) for n in (2, 3)) <= t),
    "due - day in (0, 1)": strict(lambda due, day: (due - day).days in (0, 1)),
    "day in (date('2024-04-03'), date('2024-04-05'))": strict(lambda day: day.day in (3, 5)),
    # Functions of numbers.
    "abs(tax - 0.5 * total) <= 1": strict(lambda tax, total, t: abs(tax - total / 2) <= 1 + t),
    "abs(total) == total": strict(lambda total, t: abs(abs(total) - total) <= t),
    "total == round(total)": strict(lambda total, t: abs(total - rounded(total)) <= t),
    "total == round(1.1 * tax + 0.05, 1)": strict(
        lambda total, tax, t: abs(total - rounded(Fraction("1.1") * tax + Fraction("0.05"), 1)) <= t
    ),
    "round(total / 2) == tax": strict(lambda total, tax, t: abs(rounded(total / 2) - tax) <= t),
    "total >= max(parts)": strict(lambda total, parts, t: total + t >= max(parts)),
    "min(parts) < tax": strict(lambda parts, tax, t: min(parts) < tax - t),
    "max(total, tax, 2) == 2": strict(lambda total, tax, t: abs(max(total, tax, 2) - 2) <= t),
    "min(total, tax) > 0": strict(lambda total, tax, t: min(total, tax) > t),
    # Products and quotients, exact.
    "total * tax == 2": strict(lambda total, tax, t: abs(total * tax - 2) <= t),
    "total / 3 == tax": strict(lambda total, tax, t: abs(total / 3 - tax) <= t),
    "total / 3 * 3 == total": strict(lambda total, t: True),
    "total / tax == 2": strict(lambda total, tax, t: abs(total / tax - 2) <= t),
    "sum(parts) / count(parts) == 1.5": strict(
        lambda parts, t: abs(Fraction(sum(parts), len(parts)) - Fraction("1.5")) <= t
    ),
    "total / (count(parts) - 1) == 1": strict(
        lambda total, count_parts, t: abs(total / (count_parts - 1) - 1) <= t
    ),
    # Whole by nature: no tolerance.
    "count(parts) == 2": lambda count_parts: count_parts == 2,
    "count(total) <= 1": lambda count_total: count_total <= 1,
    "2 * count(parts) < 3": lambda count_parts: count_parts < 2,
    "round(count(parts) / 2) == 1": lambda count_parts: count_parts in (1, 2),
    "1 == 1.001": lambda: False,
    "count(parts) == total": strict(lambda count_parts, total, t: abs(count_parts - total) <= t),
    # Days.
    "day <= due": strict(lambda day, due: day <= due),
    "day >= date('2024-04-01')": strict(lambda day: day >= FIRST),
    "day + 1 == due": strict(lambda day, due: day + timedelta(1) == due),
    "due - day <= 1": strict(lambda due, day: (due - day).days <= 1),
    "abs(due - day) == 1": strict(lambda due, day: abs((due - day).days) == 1),
    "max(due - day, 1) == 1": strict(lambda due, day: (due - day).days <= 1),
    "(due - day if present(due) else 0) == 0": lambda due, day, count_due: (
        same(due, day) if count_due else True
    ),
    "max(days) - min(days) < 3": strict(lambda days: (max(days) - min(days)).days < 3),
    "min(days) >= date('2024-04-01')": strict(lambda days: min(days) >= FIRST),
    "min(days) == day": strict(lambda days, day: min(days) == day),
    # Texts.
    "shop == 'A'": strict(lambda shop: shop == "A"),
    "shop in ('A', 'B')": strict(lambda shop: shop in ("A", "B")),
    "matches(shop, '^A')": strict(lambda shop: shop.startswith("A")),
    "shop == name": strict(lambda shop, name: shop == name),
    # Places: no tolerance.
    "start(total) >= 1": strict(lambda start_total: start_total >= 1),
    "end(total) == start(tax)": strict(lambda end_total, start_tax: end_total == start_tax),
    "end(total) - start(total) == 1": strict(
        lambda end_total, start_total: end_total - start_total == 1
    ),
    "start(shop) == 0 or shop == 'B'": lambda start_shop, shop: either(
        same(start_shop, 0), same(shop, "B")
    ),
    "before(total, tax)": strict(lambda last_total, first_tax: last_total <= first_tax),
    "before(parts, total)": strict(lambda last_parts, first_total: last_parts <= first_total),
    "not before(due, day)": strict(lambda last_due, first_day: last_due > first_day),
    "line(total) == 1": strict(lambda line_total: line_total == 1),
    "line(day) <= line(due)": strict(lambda line_day, line_due: line_day <= line_due),
    "page(total) == 1": strict(lambda page_total: page_total == 1),
    "top(total) > top(tax)": strict(lambda top_total, top_tax: top_total > top_tax),
    "right(total) - left(total) <= 30": strict(
        lambda right_total, left_total: right_total - left_total <= 30
    ),
    "bottom(shop) == 10.5": strict(lambda bottom_shop: bottom_shop == Fraction("10.5")),
    "start(total) == total": strict(lambda start_total, total, t: abs(start_total - total) <= t),
    # What the document brings.
    "total == ordered": strict(lambda total, ordered, t: abs(total - ordered) <= t),
    "sum(parts) <= ordered": strict(lambda parts, ordered, t: sum(parts) <= ordered + t),
    "total == tax * unit": strict(lambda total, tax, unit, t: abs(total - tax * unit) <= t),
    "ordered > 1": strict(lambda ordered, t: ordered > 1 + t),
    "shop == vendor": strict(lambda shop, vendor: shop == vendor),
    "due <= deadline": strict(lambda due, deadline: due <= deadline),
    "not present(ordered) or total == ordered": lambda total, ordered, count_ordered, t: either(
        count_ordered == 0, same(total, ordered, t)
    ),
    # Logic.
    "present(total)": lambda count_total: count_total > 0,
    "present(parts)": lambda count_parts: count_parts > 0,
    "present(total) == present(parts)": lambda count_total, count_parts: (
        (count_total > 0) == (count_parts > 0)
    ),
    "present(day) == present(due)": lambda count_day, count_due: (count_day > 0) == (count_due > 0),
    "not present(total) or total != 2": lambda total, count_total, t: either(
        count_total == 0, no(same(total, 2, t))
    ),
    "total > 1 and count(parts) >= 1": lambda total, count_parts, t: both(
        None if total is None else total > 1 + t, count_parts >= 1
    ),
    "sum(parts) == 2 or total == 1": lambda parts, total, t: either(
        same(None if parts is None else sum(parts), 2, t), same(total, 1, t)
    ),
    "not (total == 1 and tax == 1)": lambda total, tax, t: no(
        both(same(total, 1, t), same(tax, 1, t))
    ),
    "day == due or total == 1": lambda day, due, total, t: either(
        same(day, due), same(total, 1, t)
    ),
    "shop != 'A' or total == 1": lambda shop, total, t: either(
        no(same(shop, "A")), same(total, 1, t)
    ),
    "2 < 1 < total": lambda total: False,
    "total == (sum(parts) if present(parts) else 1)": lambda total, parts, count_parts, t: same(
        total, 1 if not count_parts else None if parts is None else sum(parts), t
    ),
    "(total if tax > 1 else tax) == 1": lambda total, tax, t: (
        None if tax is None else same(total if tax > 1 + t else tax, 1, t)
    ),
}


def at_most_its_parts(total, parts):
    return total <= sum(parts)


def one_or_above_two(total):
    return None if total == 1 else total > 2


def in_order(parts):
    return None if len(parts) == 1 else parts[0] <= parts[-1]


def due_later(day, due):
    return None if day == due else due > day


def one_letter(shop):
    return len(shop) == 1


FUNCTIONS = (at_most_its_parts, one_or_above_two, in_order, due_later, one_letter)
