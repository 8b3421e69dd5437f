"""Receipts as tills print them: many formats, of shops in many countries.

Each page draws its own format, by many independent choices: which lines stand at its head, how an
item is printed, the words before amounts, what follows the total. Labels are those of
``lab.receipts.labels``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.receipts import vocabulary as markets
from lab.receipts import words as lists
from lab.receipts.bills import Bill, Line, buy
from lab.receipts.dice import Dice
from lab.receipts.layout import Cell, Paper, Print, Row, after, at_left, at_right, centred, set_rows
from lab.receipts.slips import Slips

_MARKETS = (
    (markets.UNITED_STATES, 8.0), (markets.UNITED_KINGDOM, 3.0), (markets.MALAYSIA, 6.0),
    (markets.INDONESIA, 4.0), (markets.GERMANY, 8.0), (markets.FRANCE, 2.0), (markets.SPAIN, 2.0),
)  # fmt: skip


def print_page(dice: Dice) -> Print:
    """One receipt: words in reading order, with boxes and labels."""
    writer = _Till(dice, dice.weighted(_MARKETS))
    rows = list(writer.rows())
    if dice.chance(0.03):  # customer's and merchant's copy
        rows += [(), *rows]
    paper = Paper(
        columns=dice.whole(26, 52),
        character=dice.whole(8, 14),
        margin=dice.whole(10, 80),
        tilt=dice.between(-0.012, 0.012),
    )
    return set_rows(rows, paper)


class _Till(Slips):
    """Prints all rows of a page."""

    def rows(self) -> Iterator[Row]:
        """All rows, from top to bottom."""
        dice = self.dice
        low, high = self.habits.lines
        count = round(low + (high - low) * dice.generator.random() ** 1.8)
        bill = buy(dice, self.market, self.habits, [self.name() for _ in range(count)], self.step)
        bill.lines = [self.with_wishes(line) for line in bill.lines]
        yield from self.head()
        yield ()
        if not dice.chance(0.04):
            yield from self.items(bill)
            yield ()
        yield from self.sums(bill)
        yield from self.foot(bill)

    def with_wishes(self, line: Line) -> Line:
        """The line, sometimes with wishes of the customer."""
        if not self.dice.chance(self.habits.wishes):
            return line
        wishes = [self.case(self.dice.pick(lists.MODIFIERS)) for _ in range(self.dice.whole(1, 2))]
        return replace(line, wishes=tuple(wishes))

    def head(self) -> Iterator[Row]:
        dice = self.dice
        chance = dice.chance
        place = centred if chance(0.75) else at_left
        if chance(0.08):
            yield (place(dice.pick(lists.KEYS["title"])),)
        if chance(0.95):
            name = self.shop()
            yield (place(name, "shop.name"),)
            if chance(0.12):
                yield (place(f"({dice.digits(6)}-{dice.pick('AHKTVX')})"),)
            if chance(0.1):
                yield (place(self.case(dice.pick(lists.FOOT).replace("{}", dice.digits(3)))),)
        if chance(0.82):
            for i, text in enumerate(self.address()):
                yield (
                    place(self.case(text) if chance(0.5) else text, "shop.address")._replace(
                        continues=i > 0
                    ),
                )
        for likely in (0.6, 0.12):
            if chance(likely):
                keyed = f"{self.key('phone')} {self.phone()}" if chance(0.65) else self.phone()
                yield (place(keyed),)
        if self.market is markets.GERMANY and chance(0.25):
            yield from self.hours()
        details = list(self.details())
        dice_order = dice.generator.random(len(details)).argsort()
        yield ()
        for i in dice_order:
            yield details[int(i)]

    def details(self) -> Iterator[Row]:
        """Lines about the sale: number, cashier, date."""
        dice = self.dice
        chance = dice.chance
        if chance(0.3):
            yield ((centred if chance(0.6) else at_left)(dice.pick(lists.KEYS["title"])),)
        for _ in range(dice.weighted(((0, 2.0), (1, 3.0), (2, 3.0), (3, 2.0), (4, 1.0)))):
            first = f"{self.caption('number')} {self.number()}"
            if chance(0.25):
                yield (at_left(first), at_right(f"{self.caption('number')} {self.number()}"))
            else:
                yield (at_left(first),)
        if chance(0.5):
            who = dice.pick((*self.market.language.people, *lists.SURNAMES))
            yield (at_left(f"{self.caption('cashier')} {self.case(who)}"),)
        if self.goods == "dishes" and chance(0.5):
            yield (at_left(f"{self.caption('table')} {dice.whole(1, 90)}"),)
        if chance(0.92):
            yield self.date_row()

    def date_row(self) -> Row:
        dice = self.dice
        cells: list[Cell] = []
        if dice.chance(0.45):
            cells.append(at_left(self.caption("date")))
        cells.append((after if cells else at_left)(self.date(), "date"))
        if dice.chance(0.75):
            place = at_right if dice.chance(0.5) else after
            if dice.chance(0.2):
                cells.append(after(self.caption("time")))
                place = after
            cells.append(place(self.time()))
        if dice.chance(0.15):
            cells.insert(0, at_left(f"{self.key('number')} {self.number()}"))
            cells[1:] = [cell._replace(align="next") for cell in cells[1:]]
        return tuple(cells)

    # Sums.

    def sums(self, bill: Bill) -> Iterator[Row]:
        """The amounts after the items, up to the payment."""
        dice = self.dice
        chance = dice.chance
        differs = bill.total != bill.subtotal
        if chance(0.3):
            yield self.counted(bill)
        if chance(0.9 if differs else 0.5):
            yield self.sum("subtotal", "subtotal", bill.subtotal, bill)
        elif bill.unrounded is not None and not bill.taxes and not bill.service and chance(0.3):
            yield self.sum("unrounded", "subtotal", bill.subtotal, bill)
        if bill.discount is not None:
            yield self.sum("discount", "discount", (-1 if chance(0.7) else 1) * bill.discount, bill)
        elif chance(0.04):
            yield self.sum("discount", "discount", 0, bill)
        services = [self.sum("service", "service", bill.service, bill)] if bill.service else []
        taxes = [
            self.sum("second_tax" if i else "tax", "tax", tax, bill)
            for i, tax in enumerate(bill.taxes)
        ]
        if not taxes and chance(0.06):
            taxes = [self.sum("tax", "tax", 0, bill)]
        yield from services + taxes if chance(0.8) else taxes + services
        if bill.unrounded is not None:
            if chance(0.6):
                yield self.sum("unrounded", None, bill.unrounded, bill)
            if chance(0.85):
                yield self.sum("rounding", "rounding", bill.rounding or 0, bill)
        if bill.before_tip is not None:
            if chance(0.7):
                yield self.sum(
                    "before_tip" if chance(0.4) else "total", None, bill.before_tip, bill
                )
            yield self.sum("tip", "tip", bill.tip or 0, bill)
            yield self.sum("with_tip", "total", bill.total, bill)
        else:
            if chance(0.15):
                yield ()
            yield self.sum(
                "rounded" if bill.unrounded is not None else "total", "total", bill.total, bill
            )
        if chance(0.25):
            yield ()
        if bill.included is not None and chance(0.5):
            yield self.sum("included", None, bill.included, bill)
        yield from self.payment(bill)

    def sum(self, key: str, field: str | None, amount: int, bill: Bill) -> Row:
        dice = self.dice
        text = self.caption(key, bill)
        style = self.style if dice.chance(0.9) else self.plain
        value = at_right(self.money(amount, style), field)
        if self.dice.chance(0.04):
            return (at_left(text, at=self.sums_at), after(value.text, field))
        if self.dice.chance(0.03):
            return (
                at_left(text, at=self.sums_at),
                at_right(dice.pick(("RM", "$", "USD", "Rp", "SGD", "EUR")), None, 0.7),
                value,
            )
        return (at_left(text, at=self.sums_at), value)

    def counted(self, bill: Bill) -> Row:
        pieces = (
            sum(line.count for line in bill.lines) if self.dice.chance(0.5) else len(bill.lines)
        )
        place = at_right if self.dice.chance(0.4) else after
        return (at_left(self.caption("count")), place(str(pieces)))

    def payment(self, bill: Bill) -> Iterator[Row]:
        chance = self.dice.chance
        if bill.cash is not None:
            if chance(0.9):
                yield self.sum("cash", "cash", bill.cash, bill)
        elif bill.card is not None:
            yield self.sum("card", "card", bill.card, bill)
        if bill.change is not None and chance(0.95):
            yield self.sum("change", "change", bill.change, bill)

    # The foot.

    def foot(self, bill: Bill) -> Iterator[Row]:
        dice = self.dice
        chance = dice.chance
        if chance(0.15):
            yield self.counted(bill)
        if self.market is markets.GERMANY and chance(0.8):
            yield from self.tax_rows(bill)
            if bill.card is not None and chance(0.6):
                yield from self.slip(bill)
            if chance(0.3):
                yield from self.points(bill)
            if chance(0.1):
                yield from self.hours()
        elif (bill.taxes or bill.included) and chance(0.22):
            yield from self.tax_table(bill)
        if bill.card is not None and chance(0.5):
            for _ in range(dice.whole(1, 5)):
                yield (at_left(f"{self.caption('number')} {self.number()}"),)
            if chance(0.35):
                yield self.sum("repeat", "total", bill.total, bill)
            if chance(0.3) and bill.tip is None:  # blanks to fill in
                yield (at_left(self.caption("tip", bill)), at_right("_" * dice.whole(5, 12)))
                yield (at_left(self.caption("total", bill)), at_right("_" * dice.whole(5, 12)))
        if self.goods == "dishes" and bill.tip is None and chance(0.1):
            for percent in (15, 18, 20):
                tip = round(bill.total * percent / 100)
                yield (
                    at_left(f"{percent}% Tip" + dice.pick(("", " =", " is"))),
                    after(self.money(tip)),
                )
        if chance(0.15):
            yield (
                at_left(self.caption("saved")),
                at_right(self.money(dice.whole(1, 3000) * self.step)),
            )
        if chance(0.12):
            yield (
                at_left(self.date()) if chance(0.5) else at_left(self.number()),
                at_right(self.time()),
            )
        for _ in range(dice.weighted(((0, 2.0), (1, 3.0), (2, 3.0), (3, 2.0), (5, 1.0)))):
            text = dice.pick(lists.FOOT).replace("{}", dice.digits(dice.whole(1, 6)))
            if not self.english and chance(0.8):
                text = dice.pick(self.market.language.thanks)
            yield (centred(self.case(text) if chance(0.5) else text),)
        if chance(0.2):
            yield (centred(dice.digits(dice.pick((12, 13, 16)))),)

    def tax_table(self, bill: Bill) -> Iterator[Row]:
        """A summary of taxes, whose amounts have no labels."""
        dice = self.dice
        tax = sum(bill.taxes) or bill.included or 0
        net = bill.total - tax
        yield (
            at_left(
                dice.pick(
                    ("GST Summary", "Tax Summary", "VAT Analysis", "Tax", "GST Analysis", "Rate")
                )
            ),
            at_right(dice.pick(("Amount", "Net", "Amt(RM)")), at=0.65),
            at_right(dice.pick(("Tax", "Tax(RM)", "VAT", "GST"))),
        )
        code = dice.pick(("SR", "A", "S", "T1", "GST"))
        cells = [
            at_left(f"{code} {bill.rate:g}%" if dice.chance(0.6) else f"{code} (@{bill.rate:g}%)"),
            at_right(self.money(net, self.plain), at=0.65),
            at_right(self.money(tax, self.plain)),
        ]
        if dice.chance(0.2):
            cells.append(at_right(self.money(bill.total, self.plain)))
            cells[2] = cells[2]._replace(at=0.8)
        yield tuple(cells)
        if dice.chance(0.3):
            yield (
                at_left("Total"),
                at_right(self.money(net, self.plain), at=0.65),
                at_right(self.money(tax, self.plain)),
            )
