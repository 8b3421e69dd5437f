"""Realistic receipts and invoices, with a label for every word.

A page is generated in three steps: its items and amounts (``purchase``), its rows, and their
positions (``layout``). Each template prints items in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import cycle, islice
from typing import Literal

from lab.receipts.dice import Dice
from lab.receipts.layout import (
    Cell,
    Paper,
    Print,
    Row,
    after,
    at_left,
    at_right,
    centred,
    count_words,
    set_rows,
)
from lab.receipts.money import MoneyStyle, format_money
from lab.receipts.purchase import Extras, Item, Purchase, settle
from lab.receipts.vocabulary import MARKETS, MINUS_SIGNS, Market

AMOUNTS = ("item.price", "subtotal", "discount", "service", "tax", "total", "cash", "change")
"""The fields with amounts of money."""

FIELDS = ("shop.name", "shop.address", "date", "item.name", "item.count", *AMOUNTS)

LABELS = ("O", *(f"{prefix}-{field}" for field in FIELDS for prefix in "BI"))
"""``O``, then ``B-`` and ``I-`` of every field."""

SMALLEST = 24
"""The smallest size that every template can reach, in words."""

_WORDS_PER_LINE = 6  # of an item, roughly: where the search for a page's size starts


@dataclass(frozen=True, slots=True)
class Template:
    """A type of page: its goods, its number of lines, its prices and its paper."""

    name: Literal["slip", "restaurant", "supermarket", "invoice"]
    stock: Literal["goods", "dishes", "jobs"]
    lines: tuple[int, int]
    prices: tuple[float, float]  # in dollars or their equivalent
    columns: tuple[int, int]  # characters per line
    height: int | None  # of a sheet; None for a roll
    extras: Extras


_SLIP = Template(
    "slip", "goods", (1, 7), (0.8, 15), (30, 38), None, Extras(0.1, 0.02, 0.6, 0.6, 0.2)
)
_RESTAURANT = Template(
    "restaurant", "dishes", (2, 14), (2.5, 24), (34, 42), None, Extras(0.15, 0.5, 0.8, 0.5, 0.3)
)
_SUPERMARKET = Template(
    "supermarket", "goods", (5, 40), (0.6, 14), (38, 46), None, Extras(0.3, 0.0, 0.6, 0.55, 0.4)
)
_INVOICE = Template(
    "invoice", "jobs", (2, 44), (6, 420), (84, 96), 1754, Extras(0.25, 0.05, 0.9, 0.05, 0.1)
)

TEMPLATES: tuple[tuple[Template, float], ...] = (
    (_SLIP, 3),
    (_RESTAURANT, 3),
    (_SUPERMARKET, 2),
    (_INVOICE, 2),
)
"""The templates and their weights."""


def print_receipt(dice: Dice, words: tuple[int, int] | None = None) -> Print:
    """One page, or several for a long invoice; with ``words``, of a size in that range.

    The size is adjusted by the number of items, and by a notice at the foot.
    """
    market, template = dice.weighted(MARKETS), dice.weighted(TEMPLATES)
    if words is None:
        fewest, most = template.lines
        # Short pages are more frequent than long ones.
        lines = round(fewest + (most - fewest) * dice.generator.random() ** 2)
        rows = _Writer(dice, market, template).rows(lines)
    else:
        rows = _rows_of_size(dice, market, template, *words)
    return set_rows(rows, _paper(dice, template))


def _rows_of_size(dice: Dice, market: Market, template: Template, low: int, high: int) -> list[Row]:
    target = dice.whole(low, high)
    lines = max(1, (target - 45) // _WORDS_PER_LINE)
    bare = target < 60
    tries = 0
    while True:
        writer = _Writer(dice, market, template, bare=bare)
        rows = writer.rows(lines)
        missing = target - count_words(rows)
        tries += 1
        if missing > 3 * _WORDS_PER_LINE and tries < 4:
            lines += missing // _WORDS_PER_LINE
        elif missing >= target - high:
            rows += writer.notice(missing)
            return rows
        else:
            bare = bare or lines == 1
            lines = max(1, lines + missing // _WORDS_PER_LINE)


def _paper(dice: Dice, template: Template) -> Paper:
    return Paper(
        columns=dice.whole(*template.columns),
        character=dice.whole(9, 13) if template.height is None else 12,
        margin=dice.whole(20, 60),
        height=template.height,
        tilt=dice.between(-0.006, 0.006),
    )


def _money(hundredths: int, style: MoneyStyle) -> str:
    return format_money(Decimal(hundredths).scaleb(-2), style)


class _Writer:
    """Writes the rows of one page, in one style (currency signs, colons).

    A ``bare`` page has little more than names and amounts.
    """

    def __init__(
        self, dice: Dice, market: Market, template: Template, *, bare: bool = False
    ) -> None:
        self.dice, self.market, self.template, self.bare = dice, market, template, bare
        self.language = market.language
        self.invoice = template.name == "invoice"
        full = replace(dice.pick(market.styles), negative=dice.pick(MINUS_SIGNS))
        self.plain_style = replace(full, printed="{}")
        self.sum_style = full if dice.chance(0.65) and not bare else self.plain_style
        self.item_style = self.sum_style if dice.chance(0.35) else self.plain_style
        self.step = 10 ** (2 - full.decimals)
        self.units: dict[str, int] = {}
        self.colon = dice.pick(("", "", ":", " :"))
        self.times = dice.pick(("x", "X", "@", "x"))
        self.loud = dice.chance(0.25)

    def rows(self, lines: int) -> list[Row]:
        """The whole page, with this many items."""
        items = [self.item() for _ in range(lines)]
        purchase = settle(self.dice, self.market, items, self.extras(), self.step)
        head = self.invoice_head(purchase) if self.invoice else self.head()
        rows = [*head, (), *self.items(purchase), (), *self.sums(purchase)]
        if not self.bare:
            rows += [(), *self.foot(purchase)]
        return [tuple(map(self.voice, row)) for row in rows] if self.loud else rows

    def voice(self, cell: Cell) -> Cell:
        """The cell in capitals, except for dates and amounts, whose values could change."""
        if cell.field == "date" or cell.field in AMOUNTS:
            return cell
        return cell._replace(text=cell.text.upper())

    # The items.

    def item(self) -> Item:
        """A random item of the shop, at a plausible price."""
        low, high = self.template.prices
        dollars = low * (high / low) ** self.dice.generator.random()
        end = self.dice.pick(self.market.ends)
        unit = max(1, round(dollars * self.market.level / end)) * end
        count = self.dice.whole(2, 6) if self.dice.chance(0.3) else 1
        stock = getattr(self.language, self.template.stock)
        name = next(filter(self.is_new, (self.dice.pick(stock) for _ in range(4))), None)
        if name is None:
            name = f"{self.dice.pick(stock)} {self.dice.digits(3)}"
        unit = self.units.setdefault(name, unit)  # equal items have equal prices on a page
        return Item(name, count, unit, count * unit)

    def is_new(self, name: str) -> bool:
        return name not in self.units

    def extras(self) -> Extras:
        """Probabilities of the optional amounts; shops may include the tax in prices."""
        extras = self.template.extras
        tax = 0.0 if self.market.tax_included and not self.invoice else extras.tax
        if self.bare:
            return Extras(0.05, 0.0, tax / 2, 0.4, 0.0)
        return replace(extras, tax=tax)

    # The head.

    def key(self, name: str, rate: float = 0.0) -> str:
        """The words before a value, such as "Total:"."""
        percent = f"{rate:g}".replace(".", self.sum_style.point)
        return self.dice.pick(self.language.keys[name]).replace("{rate}", percent) + self.colon

    def shop(self) -> str:
        name, trade = self.dice.pick(self.language.shops), self.dice.pick(self.language.trades)
        return f"{name} {trade}" if self.dice.chance(0.7) else name

    def street(self) -> str:
        return self.dice.pick(self.language.streets).format(self.dice.whole(1, 180))

    def town(self) -> str:
        return self.dice.pick(self.language.towns)

    def phone(self) -> str:
        number = "".join(
            str(self.dice.whole(0, 9)) if mark == "#" else mark for mark in self.market.phone
        )
        return f"{self.key('phone')} {number}"

    def date(self) -> str:
        month = self.dice.whole(1, 12)
        return self.dice.pick(self.market.dates).format(
            year=self.dice.whole(2017, 2025),
            month=month,
            day=self.dice.whole(1, 28),
            name=self.language.months[month - 1],
        )

    def time(self) -> str:
        clock = f"{self.dice.whole(7, 22):02}:{self.dice.whole(0, 59):02}"
        return clock if self.dice.chance(0.7) else f"{clock}:{self.dice.whole(0, 59):02}"

    def number(self) -> str:
        prefix = self.dice.pick(("", "#", "A-", "00", "INV"))
        return f"{prefix}{self.dice.digits(self.dice.whole(3, 7))}"

    def person(self) -> str:
        return self.dice.pick(self.language.people)

    def head(self) -> Iterator[Row]:
        chance = self.dice.chance
        yield (centred(self.shop(), "shop.name"),)
        if self.bare:
            return
        if chance(0.85):
            yield (centred(self.street(), "shop.address"),)
            yield (Cell(self.town(), "shop.address", "centre", continues=True),)
        if chance(0.6):
            yield (centred(self.phone()),)
        if chance(0.25):
            yield (centred(self.dice.pick(self.language.greetings)),)
        yield ()
        if chance(0.9):
            key = (at_left(self.key("date")),) if chance(0.4) else ()
            yield (*key, (after if key else at_left)(self.date(), "date"), at_right(self.time()))
        if chance(0.6):
            yield (at_left(f"{self.key('receipt')} {self.number()}"),)
        if chance(0.55):
            yield (at_left(f"{self.key('cashier')} {self.person()}"),)
        if self.template.name == "restaurant" and chance(0.7):
            yield (at_left(f"{self.key('table')} {self.dice.whole(1, 40)}"),)

    def invoice_head(self, purchase: Purchase) -> Iterator[Row]:
        chance = self.dice.chance
        title = self.dice.pick(self.language.keys["invoice"])
        yield (at_left(self.shop(), "shop.name"), at_right(title))
        if self.bare:
            return
        yield (at_left(self.street(), "shop.address"),)
        yield (Cell(self.town(), "shop.address", continues=True),)
        if chance(0.8):
            yield (at_left(self.phone()),)
        yield ()
        yield (
            at_left(self.dice.pick(self.language.keys["bill_to"])),
            at_left(self.key("receipt"), at=0.6),
            at_right(self.number()),
        )
        # The customer's address looks like the shop's, but has no label.
        yield (
            at_left(f"{self.person()} {self.person()[0]}."),
            at_left(self.key("date"), at=0.6),
            at_right(self.date(), "date"),
        )
        yield (at_left(self.street()),)
        due = (at_left(self.key("repeat"), at=0.6), self.amount(purchase.total, "total"))
        yield (at_left(self.town()), *(due if chance(0.25) else ()))
        yield ()
        if chance(0.5):
            yield (at_left(self.dice.pick(self.language.greetings)),)

    # The rows of items and amounts.

    def amount(self, amount: int, field: str | None) -> Cell:
        return at_right(_money(amount, self.sum_style), field)

    def items(self, purchase: Purchase) -> Iterator[Row]:
        if self.invoice and not self.bare:
            yield self.table_row(*map(Cell, self.language.keys["columns"]))
        counted = self.template.name == "supermarket" or self.dice.chance(0.6)
        for place, item in enumerate(purchase.items, start=1):
            name = at_left(item.name, "item.name")
            count = at_left(str(item.count), "item.count")
            unit = Cell(_money(item.unit, self.item_style))
            price = at_right(_money(item.price, self.item_style), "item.price")
            if self.invoice:
                yield self.table_row(Cell(str(place)), name, count, unit, price)
            elif self.template.name == "restaurant":
                yield (count, name._replace(at=0.1), price)
            elif item.count == 1:
                yield (name, price)
            elif counted:
                yield (name,)
                yield (count._replace(at=0.08), after(f"{self.times} {unit.text}"), price)
            else:
                yield (
                    count._replace(text=count.text + self.times),
                    name._replace(align="next"),
                    price,
                )

    def table_row(self, place: Cell, name: Cell, count: Cell, unit: Cell, price: Cell) -> Row:
        """A row of an invoice's table: the headings, or an item."""
        return (
            place,
            name._replace(at=0.08),
            count._replace(align="right", at=0.62),
            unit._replace(align="right", at=0.8),
            price._replace(align="right", at=1.0),
        )

    def sums(self, purchase: Purchase) -> Iterator[Row]:
        minus_one = -1 if self.dice.chance(0.6) else 1
        lines = (
            ("subtotal", "subtotal", purchase.subtotal),
            ("discount", "discount", purchase.discount and minus_one * purchase.discount),
            ("service", "service", purchase.service),
            ("tax", "tax", purchase.tax),
            ("rounding", None, purchase.rounding),
            ("total", "total", purchase.total),
            ("card", "cash", purchase.card),
            ("cash", "cash", purchase.cash),
            ("tip", None, purchase.tip if self.dice.chance(0.5) else None),
            ("change", "change", purchase.change),
        )
        at = 0.6 if self.invoice else 0.0
        for key, field, amount in lines:
            if amount is not None:
                text = self.key(key, purchase.tax_rate)
                yield (at_left(text, at=at), self.amount(amount, field))

    # The foot.

    def foot(self, purchase: Purchase) -> Iterator[Row]:
        chance = self.dice.chance
        if purchase.tax is None and self.market.tax_included:
            yield from self.included(purchase)
        if not self.invoice:
            if chance(0.3):
                pieces = sum(item.count for item in purchase.items)
                yield (at_left(self.key("pieces")), after(str(pieces)))
            if purchase.card is not None:
                yield (at_left(f"**** **** **** {self.dice.digits(4)}"),)
                yield (at_left(f"AUTH {self.dice.digits(6)}"),)
                if chance(0.5):
                    yield (at_left(self.key("repeat")), self.amount(purchase.total, "total"))
            elif chance(0.1):
                yield (at_left(self.key("repeat")), self.amount(purchase.total, "total"))
            if chance(0.2):
                yield (at_left(self.key("points")), at_right(str(self.dice.whole(2, 250))))
            yield ()
        first = 0 if self.invoice else self.dice.whole(0, len(self.language.thanks) - 1)
        for thanks in self.language.thanks[first : first + self.dice.whole(1, 2)]:
            yield (centred(thanks),)
        if chance(0.3):
            yield from self.notice(self.dice.whole(8, 30))
        if chance(0.25):
            yield (centred(self.dice.digits(13)),)

    def included(self, purchase: Purchase) -> Iterator[Row]:
        """Rows about the tax that is included in the total; their amounts have no labels."""
        rate = purchase.tax_rate
        net = round(purchase.total / (1 + rate / 100))
        tax = _money(purchase.total - net, self.plain_style)
        yield (at_left(self.key("included", rate)), at_right(tax))
        if self.dice.chance(0.3):
            before = at_right(_money(net, self.plain_style), at=0.45)
            gross = at_right(_money(purchase.total, self.plain_style))
            yield (at_left("A"), before, at_right(tax, at=0.72), gross)

    def notice(self, words: int) -> Iterator[Row]:
        """Rows of small print with exactly this many words."""
        text = cycle(self.language.notices.split())
        across = 12 if self.invoice else 4
        while words > 0:
            yield (centred(" ".join(islice(text, min(across, words)))),)
            words -= across
