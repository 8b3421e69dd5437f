"""The arithmetic of EN 16931 in an e-invoice's XML, with the tolerances of the standard.

Sums are right to the cent. A tax may differ by less than one unit of the currency from its basis
times its rate, and in UBL so may the basis of a standard rate from what is taxed at it. Sums that
the XML does not state are not checked; allowances, charges and the like are zero without one.

``VAT-BASES`` and ``PEPPOL-R120`` are not of the standard: the first follows from it, and is checked
where lines state no category; the second is Peppol's rule of a line's quantity and price.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext

from lawful.readers.einvoice import EXACT, EInvoice, Row
from lawful.rules.judging.checks import Check

CENT = Decimal("0.005")
LINE = Decimal("0.0205")
UNIT = Decimal(1)
"""Differences that are too large for sums, for lines, and for taxes."""

WITH_TAX = ("S", "L", "M")
"""Categories with a tax: the standard rate, IGIC and IPSI."""

WITHOUT_TAX = ("Z", "E", "AE", "K", "G", "O")
"""Categories without one: zero rated, exempt, reverse charge, within the EU, export, no VAT."""

ARITHMETIC = frozenset(
    ("BR-CO-10", "BR-CO-11", "BR-CO-12", "BR-CO-13", "BR-CO-14", "BR-CO-15", "BR-CO-16", "BR-CO-17",
     "BR-S-08", "BR-Z-08", "BR-Z-09", "PEPPOL-R120")
)  # fmt: skip
"""Rules of the pack ``invoice`` that are checked here, where those of a category have one id."""

_NAMES = {"K": "IC", "L": "IG", "M": "IP"}  # of categories in ids of rules

Number = Decimal | None


def check_arithmetic(invoice: EInvoice) -> list[Check]:
    """The checks of an e-invoice: what holds, what does not, and what the XML is silent about."""
    with localcontext(EXACT):
        return _checks(invoice)


def _checks(invoice: EInvoice) -> list[Check]:
    found = [*_totals(invoice), *_lines(invoice)]
    for number, row in enumerate(invoice.rates, 1):
        found += _rate(invoice, number, row)
    if any(check.state == "vacuous" for check in found if check.id.endswith("-08")) and all(
        map(_category, invoice.rates)
    ):
        found.append(
            _sum("VAT-BASES", "the net total", _in(invoice.header, "net"),
                 "the bases of the VAT rates add up to", _all(invoice.rates, "vat.basis"))
        )  # fmt: skip
    return found


def _totals(invoice: EInvoice) -> Iterator[Check]:
    """BR-CO-10 to BR-CO-16."""
    stated = invoice.header
    lines, net, tax, gross = (_in(stated, k) for k in ("line_total", "net", "tax", "gross"))
    less, more, paid, rounding = (
        _in(stated, k) or Decimal(0) for k in ("allowances", "charges", "prepaid", "rounding")
    )
    of_lines = _all(_items(invoice), "line.amount")
    yield _sum("BR-CO-10", "the total of lines", lines, "the lines add up to", of_lines)
    for id_, name, kind, rows in (
        ("BR-CO-11", "allowances", "allowance", invoice.allowances),
        ("BR-CO-12", "charges", "charge", invoice.charges),
    ):
        total = _in(stated, name)
        if total is not None or rows:
            none = (
                None if invoice.syntax == "Order-X" else Decimal(0)
            )  # orders may have totals only
            all_ = _all(rows, f"{kind}.amount") if rows else none
            what = f"the total of {name}"
            yield _sum(id_, what, total or Decimal(0), f"the {name} add up to", all_)
    made = None if lines is None else lines - less + more
    how = (
        f"lines of {_cents(lines)}, less {_cents(less)} of allowances, plus {_cents(more)} of "
        "charges make"
    )
    yield _sum("BR-CO-13", "the net total", net, how, made)
    taxes = _all(invoice.rates, "vat.tax")
    if tax is not None or taxes:
        yield _sum("BR-CO-14", "the total tax", tax, "the taxes of all rates add up to", taxes)
    made = None if net is None else net + (tax or 0)
    how = f"a net total of {_cents(net)} and a tax of {_cents(tax or Decimal(0))} make"
    yield _sum("BR-CO-15", "the gross total", gross, how, made)
    made = None if gross is None else gross - paid + rounding
    how = (
        f"a gross total of {_cents(gross)}, less {_cents(paid)} prepaid, plus {_cents(rounding)} "
        "rounding make"
    )
    yield _sum("BR-CO-16", "the amount due", _in(stated, "due"), how, made)


def _lines(invoice: EInvoice) -> Iterator[Check]:
    """Peppol's rule of lines."""
    for number, row in enumerate(_items(invoice), 1):
        amount, count, price, base, more, less = (
            _in(row, f"line.{name}")
            for name in ("amount", "quantity", "unit_price", "base_quantity", "charge", "allowance")
        )
        made = None
        if count is not None and price is not None:
            made = count * price / (base or 1) + (more or 0) - abs(less or Decimal(0))
        per = f" per {_plain(base)}" if base not in (None, 1) else ""
        extra = f", plus {_cents(more)} of charges" if more else ""
        extra += f", less {_cents(less)} of allowances" if less else ""
        how = f"{_plain(count)} times {_cents(price)}{per}{extra} is"
        what = f"the amount of line {number}"
        yield _sum("PEPPOL-R120", what, amount, how, made, LINE, number)


def _rate(invoice: EInvoice, number: int, row: Row) -> Iterator[Check]:
    """BR-CO-17, and the rules 08 and 09 of the row's category."""
    rate, basis, tax = (_in(row, f"vat.{name}") for name in ("rate", "basis", "tax"))
    category = _category(row)
    name = _NAMES.get(category, category)
    taxed = category in WITH_TAX
    where = f"at {_plain(rate)} %" if taxed else f"of category {category}"
    due = None if basis is None or rate is None else round(basis * rate / 100, 2)
    if taxed or not category:
        how = f"{_plain(rate)} % of {_cents(basis)} is"
        yield _sum("BR-CO-17", f"the tax at {_plain(rate)} %", tax, how, due, UNIT, number)
    else:
        how = "this category has a tax of"
        yield _sum(f"BR-{name}-09", f"the tax {where}", tax, how, Decimal(0), CENT, number)
    if category:
        parts = [
            _of_category(rows, kind, category, rate if taxed else None)
            for kind, rows in (("line", _items(invoice)), ("charge", invoice.charges),
                               ("allowance", invoice.allowances))
        ]  # fmt: skip
        made = None
        if invoice.lines and None not in parts:
            lines, more, less = (part or 0 for part in parts)
            made = Decimal(lines + more - less)
        how = "what is taxed so adds up to" if taxed else "what is in it adds up to"
        most = UNIT if taxed and invoice.syntax == "UBL" else CENT
        yield _sum(f"BR-{name}-08", f"the basis {where}", basis, how, made, most, number)


def _of_category(rows: Sequence[Row], kind: str, category: str, rate: Number) -> Number:
    """The sum of amounts in a category, and at a rate; none if some row does not say its own."""
    total = Decimal(0)
    for row in rows:
        amount, own = _in(row, f"{kind}.amount"), _in(row, f"{kind}.rate")
        its = row.get(f"{kind}.category") or ("S" if own else "")
        if amount is None or (amount and not its):
            return None
        if amount and its == category and (rate is None or own == rate):
            total += amount
    return total


def _sum(
    id_: str,
    what: str,
    stated: Number,
    how: str,
    made: Number,
    most: Decimal = CENT,
    row: int | None = None,
) -> Check:
    """A stated amount against the one that others make."""
    if stated is None or made is None:
        missing = f"the XML does not state {what}" if stated is None else (
            "the XML lacks amounts of this sum, or their rates"
        )  # fmt: skip
        return Check(id_, "vacuous", f"not checked: {missing}", row=row)
    if abs(stated - made) < most:
        return Check(id_, "satisfied", f"{what} is {_cents(stated)}", row=row)
    return Check(id_, "violated", f"{what} is {_cents(stated)}, but {how} {_cents(made)}", row=row)


def _items(invoice: EInvoice) -> list[Row]:
    """The lines without those that are texts only."""
    return [row for row in invoice.lines if {"line.amount", "line.quantity"} & set(row)]


def _category(row: Row) -> str:
    """The category of a rate, if it is one of the standard; older files have others, or none."""
    category = row.get("vat.category") or ("S" if _in(row, "vat.rate") else "")
    return category if category in (*WITH_TAX, *WITHOUT_TAX) else ""


def _in(row: Row, label: str) -> Number:
    return Decimal(row[label]) if label in row else None


def _all(rows: Sequence[Row], label: str) -> Number:
    """The sum over rows; none without rows, or if one of them lacks it."""
    found = [Decimal(row[label]) for row in rows if label in row]
    return sum(found, Decimal(0)) if found and len(found) == len(rows) else None


def _plain(number: Number) -> str:
    """A number without needless zeros, such as a rate or a quantity."""
    return "?" if number is None else f"{number.normalize():f}"


def _cents(number: Number) -> str:
    """An amount with its cents, and with further decimals if it has them."""
    text = _plain(number)
    places = len(text.partition(".")[2])
    return text if number is None or places > 1 else f"{number:.2f}"
