"""What German tills print besides: tables of taxes, slips of cards, opening hours, points."""

from __future__ import annotations

from collections.abc import Iterator

from lab.receipts.bills import Bill
from lab.receipts.items import ItemRows
from lab.receipts.layout import Row, after, at_left, at_right, centred
from lab.receipts.vocabulary import GERMANY
from lab.receipts.words import SLIPS


class Slips(ItemRows):
    """Rows without labels, but for amounts that say what was paid."""

    def key(self, name: str, bill: Bill | None = None) -> str:
        """The words before a value; those of German tills are many."""
        own = SLIPS.get(name, ())
        if self.market is GERMANY and own and self.dice.chance(0.6):
            return self.dice.pick(own)
        return super().key(name, bill)

    def hours(self) -> Iterator[Row]:
        """When the shop is open."""
        dice = self.dice
        mark = dice.pick((":", ".", ":", ""))
        times = [
            f"{hour}{mark}{'00' if mark else ''}"
            for hour in (dice.whole(6, 10), dice.whole(17, 22))
        ]
        days, to = dice.pick(SLIPS["days"]), dice.pick(SLIPS["between"])
        yield (centred(f"{days} {times[0]} {to} {times[1]} Uhr"),)

    def tax_rows(self, bill: Bill) -> Iterator[Row]:
        """A row per rate: its code, the rate, and three amounts in some order; and their sums."""
        dice = self.dice
        rates = [(bill.rate, bill.total)]
        if dice.chance(0.5) and bill.total > 1:
            part = dice.whole(1, bill.total - 1)
            rates = [(7, part), (19, bill.total - part)]
        order = dice.pick(((0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0), (0, 1), (1, 0)))
        names = [dice.pick(SLIPS[key]) for key in ("net", "taxes", "with_tax")]
        places = [0.45 + 0.55 * (i + 1) / len(order) for i in range(len(order))]
        if dice.chance(0.9):
            yield (
                at_left(dice.pick(SLIPS["rates"])),
                *(at_right(names[i], at=x) for i, x in zip(order, places, strict=True)),
            )
        code = dice.pick(("A", "B", "1", "C", "E", "*1", ""))
        form = dice.pick(("{} {}%", "{} {},00%", "{} {} %", "{}={}%", "{}={},00%", "{} {},0%"))
        sums = [0, 0, 0]
        for number, (rate, gross) in enumerate(rates):
            tax = round(gross * rate / (100 + rate))
            amounts = (gross - tax, tax, gross)
            sums = [a + b for a, b in zip(sums, amounts, strict=True)]
            mark = code if not number else chr(ord(code[-1]) + 1) if code else ""
            yield (
                at_left(form.format(mark, f"{rate:g}").strip(" =")),
                *(
                    at_right(self.money(amounts[i], self.plain), at=x)
                    for i, x in zip(order, places, strict=True)
                ),
            )
        if dice.chance(0.35):
            yield (
                at_left(dice.pick(SLIPS["sums"])),
                *(
                    at_right(self.money(sums[i], self.plain), at=x)
                    for i, x in zip(order, places, strict=True)
                ),
            )

    def slip(self, bill: Bill) -> Iterator[Row]:
        """What a terminal prints of a payment by card."""
        dice = self.dice
        yield (centred(dice.pick(SLIPS["slips"])),)
        for _ in range(dice.whole(3, 12)):
            key = dice.pick(SLIPS["numbers"])
            number = dice.pick(
                (dice.digits(dice.whole(2, 10)), "#" * 12 + dice.digits(4), self.number(),
                 f"{dice.digits(10)}/{dice.digits(4)}/{dice.digits(4)}", f"A{dice.digits(13)}",
                 self.time())
            )  # fmt: skip
            yield (at_left(key), (after if dice.chance(0.6) else at_right)(number))
        if dice.chance(0.8):
            text = self.money(bill.total, self.plain)
            yield (
                at_left(dice.pick(SLIPS["charged"])),
                (after if dice.chance(0.4) else at_right)(text, "total"),
            )
        if dice.chance(0.6):
            yield (centred(dice.pick(SLIPS["done"])),)

    def points(self, bill: Bill) -> Iterator[Row]:
        """Points of a customer's card, and numbers that laws want."""
        dice = self.dice
        for _ in range(dice.whole(1, 3)):
            text = dice.pick(SLIPS["points"]).replace("{}", str(dice.whole(1, 90)))
            text = text.replace(
                "[]", self.money(max(1, bill.total - dice.whole(0, 300)), self.plain)
            )
            yield (at_left(text.replace("##", dice.digits(8))),)
