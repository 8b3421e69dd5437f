"""Checks of rules about rows as Python functions, written by hand.

Parameters are named as in ``checks_by_hand``. In a rule of a row, a field of the row is its value
there, ``previous_amount`` that of the row before. In a rule about the page, a field of rows is a
list. ``rows_line`` is a list with the values of each row of this kind, by field.
"""

from __future__ import annotations

import inspect
from functools import lru_cache

from tests.oracles.checks_by_hand import CHECKS, either, same, strict


def sum_where(rows, name, condition):
    """The sum of a field over the rows for which a condition holds.

    Unknown without rows, if the condition is unknown in one, or if a value is missing where it
    holds.
    """
    chosen = [(condition(row), row[name]) for row in rows]
    if not rows or any(holds is None or (holds and value is None) for holds, value in chosen):
        return None
    return sum(value for holds, value in chosen if holds)


def above(value, limit, tolerance):
    return None if value is None else value > limit + tolerance


OF_PAGE = {
    "total == sum(amount)": strict(lambda total, amount, t: abs(total - sum(amount)) <= t),
    "sum(line.amount) == 3": strict(lambda amount, t: abs(sum(amount) - 3) <= t),
    "count(amount) == 2": lambda count_amount: count_amount == 2,
    "max(amount) > 2": strict(lambda amount, t: max(amount) > 2 + t),
    "sum(basis) == sum(amount)": strict(
        lambda basis, amount, t: abs(sum(basis) - sum(amount)) <= t
    ),
    "before(amount, total)": strict(lambda last_amount, first_total: last_amount <= first_total),
    "kind == 'A'": strict(lambda kind: kind == "A"),
    "total > 2 or kind == 'B'": lambda total, kind, t: either(above(total, 2, t), same(kind, "B")),
    "present(kind) == present(total)": lambda count_kind, count_total: (
        (count_kind > 0) == (count_total > 0)
    ),
    "before(note, amount)": strict(lambda last_note, first_amount: last_note <= first_amount),
    "total == sum(amount where quantity > 1)": lambda total, rows_line, t: same(
        total, sum_where(rows_line, "amount", lambda row: above(row["quantity"], 1, t)), t
    ),
    "sum(amount where present(quantity)) == 2": lambda rows_line, t: same(
        sum_where(rows_line, "amount", lambda row: row["count_quantity"] > 0), 2, t
    ),
    "sum(line.amount where note == 'A') > 2": lambda rows_line, t: above(
        sum_where(rows_line, "amount", lambda row: same(row["note"], "A")), 2, t
    ),
    "total == sum(subtotal)": strict(lambda total, subtotal, t: abs(total - sum(subtotal)) <= t),
    "sum(amount where amount > 1) == 2": lambda rows_line, t: same(
        sum_where(rows_line, "amount", lambda row: above(row["amount"], 1, t)), 2, t
    ),
    "count(carried) == 1": lambda count_carried: count_carried == 1,
    "sum(amount where quantity == total) == total": lambda total, rows_line, t: same(
        sum_where(rows_line, "amount", lambda row: same(row["quantity"], total, t)), total, t
    ),
}

OF_LINE = {
    # Values of the row.
    "amount == quantity * price": strict(
        lambda amount, quantity, price, t: abs(amount - quantity * price) <= t
    ),
    "amount == 2 * quantity": strict(lambda amount, quantity, t: abs(amount - 2 * quantity) <= t),
    "line.amount > 1": strict(lambda amount, t: amount > 1 + t),
    "amount >= price": strict(lambda amount, price, t: amount + t >= price),
    "quantity in (1, 2)": strict(lambda quantity, t: min(abs(quantity - n) for n in (1, 2)) <= t),
    "note == 'A' or amount == 1": lambda note, amount, t: either(
        same(note, "A"), same(amount, 1, t)
    ),
    "present(quantity)": lambda count_quantity: count_quantity > 0,
    "present(amount) == present(note)": lambda count_amount, count_note: (
        (count_amount > 0) == (count_note > 0)
    ),
    "count(amount) <= 1": lambda count_amount: count_amount <= 1,
    # The row before.
    "amount >= previous.amount": strict(
        lambda amount, previous_amount, t: amount + t >= previous_amount
    ),
    "amount == previous.amount + quantity": strict(
        lambda amount, previous_amount, quantity, t: abs(amount - previous_amount - quantity) <= t
    ),
    "quantity == previous.quantity + 1": strict(
        lambda quantity, previous_quantity, t: abs(quantity - previous_quantity - 1) <= t
    ),
    "note != previous.note": strict(lambda note, previous_note: note != previous_note),
    "not present(previous.amount) or amount == 2": lambda count_previous_amount, amount, t: either(
        count_previous_amount == 0, same(amount, 2, t)
    ),
    # The page, and what the document brings.
    "amount <= total": strict(lambda amount, total, t: amount <= total + t),
    "amount == quantity * unit": strict(
        lambda amount, quantity, unit, t: abs(amount - quantity * unit) <= t
    ),
    "quantity <= ordered": strict(lambda quantity, ordered, t: quantity <= ordered + t),
    # Rules that are judged once for every row, but name none of its fields.
    "total > 2": strict(lambda total, t: total > 2 + t),
    "sum(basis) > 2": strict(lambda basis, t: sum(basis) > 2 + t),
    "kind == 'A'": strict(lambda kind: kind == "A"),
    # Places in the row.
    "start(quantity) < start(amount)": strict(
        lambda start_quantity, start_amount: start_quantity < start_amount
    ),
    "start(amount) == end(previous.amount)": strict(
        lambda start_amount, end_previous_amount: start_amount == end_previous_amount
    ),
    "before(quantity, amount)": strict(
        lambda last_quantity, first_amount: last_quantity <= first_amount
    ),
    "line(quantity) == line(amount)": strict(
        lambda line_quantity, line_amount: line_quantity == line_amount
    ),
}

OF_VAT = {
    "basis == sum(amount where quantity == rate)": lambda basis, rate, rows_line, t: same(
        basis, sum_where(rows_line, "amount", lambda row: same(row["quantity"], rate, t)), t
    ),
    "basis >= rate": strict(lambda basis, rate, t: basis + t >= rate),
    "rate > previous.rate": strict(lambda rate, previous_rate, t: rate > previous_rate + t),
    "sum(amount) > 3": strict(lambda amount, t: sum(amount) > 3 + t),
}

OF_SECTION = {
    "subtotal == sum(amount)": strict(lambda subtotal, amount, t: abs(subtotal - sum(amount)) <= t),
    "subtotal == previous.subtotal + sum(line.amount)": strict(
        lambda subtotal, previous_subtotal, amount, t: (
            abs(subtotal - previous_subtotal - sum(amount)) <= t
        )
    ),
    "subtotal >= max(amount)": strict(lambda subtotal, amount, t: subtotal + t >= max(amount)),
    "min(amount) > 1": strict(lambda amount, t: min(amount) > 1 + t),
    "count(amount) >= 2": lambda count_amount: count_amount >= 2,
    "present(amount)": lambda count_amount: count_amount > 0,
    "not present(previous.subtotal) or subtotal == 2": (
        lambda count_previous_subtotal, subtotal, t: either(
            count_previous_subtotal == 0, same(subtotal, 2, t)
        )
    ),
    "heading != previous.heading": strict(
        lambda heading, previous_heading: heading != previous_heading
    ),
    "present(heading) == present(subtotal)": lambda count_heading, count_subtotal: (
        (count_heading > 0) == (count_subtotal > 0)
    ),
    "subtotal == sum(amount where quantity > 1)": lambda subtotal, rows_line, t: same(
        subtotal, sum_where(rows_line, "amount", lambda row: above(row["quantity"], 1, t)), t
    ),
    "sum(amount) <= total": strict(lambda amount, total, t: sum(amount) <= total + t),
}

OF_SHEET = {
    "carried == sum(amount)": strict(lambda carried, amount, t: abs(carried - sum(amount)) <= t),
    "carried == previous.carried + sum(amount)": strict(
        lambda carried, previous_carried, amount, t: (
            abs(carried - previous_carried - sum(amount)) <= t
        )
    ),
    "carried == (previous.carried if present(previous.carried) else 0) + sum(amount)": (
        lambda carried, previous_carried, count_previous_carried, amount, t: (
            None
            if None in (carried, amount) or (count_previous_carried and previous_carried is None)
            else abs(carried - (previous_carried or 0) - sum(amount)) <= t
        )
    ),
    "count(amount) == 1": lambda count_amount: count_amount == 1,
    "before(amount, carried)": strict(
        lambda last_amount, first_carried: last_amount <= first_carried
    ),
}

BY_ROWS = {
    None: CHECKS | OF_PAGE,
    "line": OF_LINE,
    "vat": OF_VAT,
    "section": OF_SECTION,
    "sheet": OF_SHEET,
}
"""All checks, by the kind of rows that they are judged on; of the page under ``None``."""


@lru_cache
def hand_made(text, each=None):
    """The function of a check, and the names of its parameters."""
    check = BY_ROWS[each][text]
    return check, tuple(inspect.signature(check).parameters)
