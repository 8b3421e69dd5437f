"""The sums of an invoice: below each other, side by side, as a table of taxes, or in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from lab.invoices.amounts import Bill, Tax
from lab.invoices.sheet import Segment
from lab.invoices.table import Table


@dataclass(frozen=True, slots=True)
class Sum:
    """A row of the sums: its caption, which may have values in it, its amount and label."""

    caption: list[Segment]
    amount: Decimal
    field: str | None


class Sums(Table):
    """Prints the sums of a bill."""

    has_tax_table = False
    tax_is_in_table = False  # and nowhere else

    def rows_of_sums(self, bill: Bill) -> list[Sum]:
        """All rows in the order of printing."""
        dice = self.dice
        chance = dice.chance
        rows: list[Sum] = []
        adjusted = bool(bill.allowances or bill.charges)
        if adjusted or chance(0.12):
            rows.append(
                self.sum("line_total", bill.line_total, None if bill.in_gross else "line_total")
            )
        sign = dice.pick((-1, -1, 1))
        for amounts, one, many, factor in (
            (bill.allowances, "allowances", "allowance.amount", sign),
            (bill.charges, "charges", "charge.amount", 1),
        ):
            field = one if len(amounts) == 1 else many
            if self.adjusted and amounts:
                if chance(0.6):
                    rows.append(self.sum(one, factor * sum(amounts), one))
                continue
            if not amounts and chance(0.05):
                rows.append(self.sum(one, Decimal(0), one))
            for amount in amounts:
                rows.append(self.sum(one, factor * amount, field, percent=bill.percent))
            if len(amounts) > 1 and chance(0.6):
                rows.append(self.sum(one, factor * sum(amounts), one))
        if bill.in_gross and not adjusted and chance(0.6):
            gross = [self.sum("gross", bill.gross, "gross")]
            return rows + gross + self.included(bill) + self.owed(bill, chance(0.1))
        if chance(0.92):
            rows.append(self.sum("net", bill.net, "net"))
        if rows and chance(0.03):  # as on orders
            return rows
        rows += self.taxes(bill)
        only_due = chance(0.1)
        if not only_due or bill.prepaid or bill.rounding:
            rows.append(self.sum("gross", bill.gross, "gross"))
        return rows + self.owed(bill, only_due)

    def owed(self, bill: Bill, only_due: bool) -> list[Sum]:
        """What was paid, and what is left."""
        rows = []
        if bill.prepaid:
            rows.append(self.sum("prepaid", self.dice.pick((-1, 1)) * bill.prepaid, "prepaid"))
        elif self.dice.chance(0.06):
            rows.append(self.sum("prepaid", Decimal(0), "prepaid"))
        if bill.rounding:
            rows.append(self.sum("rounding", bill.rounding, "rounding"))
        if only_due or bill.prepaid or bill.rounding or self.dice.chance(0.25):
            rows.append(self.sum("due", bill.due, "due"))
        return [row for row in rows if row.caption]

    def included(self, bill: Bill) -> list[Sum]:
        """Taxes that are in the total."""
        rows = self.taxes(bill)
        if self.dice.chance(0.5):
            rows.insert(self.dice.whole(0, 1) * len(rows), self.sum("net", bill.net, "net"))
        return rows

    def sum(
        self, key: str, amount: Decimal, field: str | None, *, percent: Decimal = Decimal(0)
    ) -> Sum:
        caption = self.key(key).replace("{p}", self.number(percent or Decimal(5)))
        if self.dice.chance(0.08):
            caption += f" ({self.sign})" if self.dice.chance(0.5) else f" {self.sign}"
        return Sum([(caption + self.colon, None)], amount, field)

    def taxes(self, bill: Bill) -> list[Sum]:
        chance = self.dice.chance
        several = [each for each in bill.taxes if each.tax or each.rate or chance(0.5)]
        if len(bill.taxes) == 1:
            [each] = bill.taxes
            if not each.rate and chance(0.4):
                return []
            key = self.dice.weighted((("tax", 3.0), ("tax_rate", 5.0), ("tax_on", 1.0)))
            return [Sum(self.taxed(key, each), each.tax, "tax")]
        rows = []
        if chance(0.1 if self.has_tax_table else 0.75):
            key = self.dice.weighted((("tax_rate", 3.0), ("tax_on", 1.5)))
            rows = [Sum(self.taxed(key, each), each.tax, "vat.tax") for each in several]
            if self.has_tax_table:  # there, they are labelled
                rows = [
                    Sum([(text, None) for text, _ in row.caption], row.amount, None) for row in rows
                ]
        if not rows or chance(0.35):
            rows.append(self.sum("tax", bill.tax, "tax"))
        return rows

    def taxed(self, key: str, tax: Tax) -> list[Segment]:
        """The caption of a tax, with its rate and its basis in it."""
        segments: list[Segment] = []
        template = self.key(key)
        for word in template.split():
            if "{r}" in word:
                segments.append((word.replace("{r}", self.number(tax.rate)), "vat.rate"))
            elif word == "%" and segments and segments[-1][1] == "vat.rate":
                segments[-1] = (segments[-1][0] + " %", "vat.rate")
            elif "{b}" in word:
                segments.append((word.replace("{b}", self.money(tax.basis)), "vat.basis"))
            else:
                segments.append((word, None))
        if self.colon:
            segments[-1] = (segments[-1][0] + self.colon, segments[-1][1])
        return segments

    def sums(self, bill: Bill) -> None:
        """The sums in one of the forms, and a table of taxes before or after them."""
        dice = self.dice
        table = self.has_tax_table = dice.chance(0.75 if len(bill.taxes) > 1 else 0.3)
        rows = self.rows_of_sums(bill)
        self.tax_is_in_table = table and len(bill.taxes) == 1 and dice.chance(0.3)
        if self.tax_is_in_table:
            rows = [row for row in rows if row.field != "tax"]
        first = table and dice.chance(0.5)
        beside = table and dice.chance(0.35)
        need = (len(rows) + (len(bill.taxes) + 2) * table) * self.step * 1.3
        if self.y + need > self.bottom:
            self.break_page(bill.line_total, carries=dice.chance(0.4))
        top = self.y
        if first or beside:
            self.tax_table(bill, narrow=beside)
        if beside:
            self.y = top + dice.pick((0, 0.5, 1)) * self.step
        form = dice.weighted((("right", 6.0), ("wide", 2.0), ("left", 1.0), ("row", 1.2)))
        if beside:
            form = "right"
        if not table and dice.chance(0.09):
            self.in_a_table(bill)
            return
        if form == "right" and not beside and dice.chance(0.25):
            self.paragraph(
                dice.whole(5, 45), self.left, 0.45 * self.width, self.size * dice.pick((0.8, 1))
            )
            below, self.y = self.y, top + dice.pick((0, 0.5)) * self.step
            self.below_each_other(rows, form)
            self.y = max(self.y, below)
            return
        if form == "row" and len(rows) <= 7:
            self.in_a_row(rows)
        else:
            self.below_each_other(rows, form)
        self.y = max(self.y, top)
        if table and not first and not beside:
            self.skip(0.6)
            self.tax_table(bill, narrow=False)

    def below_each_other(self, rows: list[Sum], form: str) -> None:
        dice = self.dice
        size, spread = self.size, dice.pick((1.0, 1.0, 1.15, 1.4))
        start = {"right": dice.between(0.5, 0.72), "wide": 0.0, "left": 0.0}.get(form, 0.5)
        end = 1.0 if form != "left" else dice.between(0.35, 0.5)
        style = self.money_style if dice.chance(0.75) else self.plain
        captions = (
            dice.weighted((("left", 3.0), ("right", 1.5), ("after", 0.4)))
            if form == "right"
            else "left"
        )
        apart = dice.chance(0.1)  # the currency stands before the amounts
        for row in rows:
            loud = size * (
                dice.pick((1.2, 1.4)) if row.field in ("gross", "due") and dice.chance(0.15) else 1
            )
            value = self.money(row.amount, self.plain if apart else style)
            if captions == "after":
                self.sheet.run(self.at(start), self.y, [*row.caption, (value, row.field)], loud)
            else:
                wide = self.sheet.wide(value, loud)
                edge = self.at(end) - wide - 1.5 * size
                text = " ".join(t for t, _ in row.caption)
                if captions == "right":
                    self.sheet.run(edge, self.y, row.caption, loud, "right")
                else:
                    x = min(self.at(start), edge - self.sheet.wide(text, loud) - size)
                    self.sheet.run(max(x, 8), self.y, row.caption, loud)
                if apart and wide < 5 * size:
                    self.put(self.at(end) - 6 * size, self.sign, size=loud, align="right")
                if dice.chance(0.03):
                    self.skip()
                self.put(self.at(end), value, row.field, size=loud, align="right")
            self.skip(spread)

    def in_a_row(self, rows: list[Sum]) -> None:
        """Captions in one line, amounts below them."""
        count, dice = len(rows), self.dice
        start, apart = dice.weighted(((0.0, 3.0), (0.5, 1.5))), 1.2 * self.step
        if start:  # text stands on the left, and may come between captions and amounts
            apart *= dice.pick((1, 1.5, 2.5, 3.5))
            top, self.y = self.y, self.y - dice.pick((0, 0.4)) * self.step
            self.paragraph(dice.whole(8, 40), self.left, 0.45 * self.width, 0.9 * self.size)
            self.y = top
        for j, row in enumerate(rows):
            x = self.at(start + (1 - start) * (j + 0.5) / count)
            caption = " ".join(text for text, _ in row.caption).removesuffix(self.colon or " ")
            room = (1 - start) * self.width / count
            shown = self.sheet.wrap(caption, 0.9 * self.size, room)[0]
            self.put(x, shown, size=0.9 * self.size, align="centre")
            self.sheet.put(
                x, self.y + apart, self.money(row.amount), row.field, self.size, "centre"
            )
        self.y += apart + 1.6 * self.step

    def in_a_table(self, bill: Bill) -> None:
        """All sums in columns: a row for each rate of tax, and their totals."""
        dice = self.dice
        columns: list[tuple[str, str, str]] = [
            ("v_basis", "vat.basis", "net"), ("v_rate", "vat.rate", ""),
            ("v_tax", "vat.tax", "tax"), ("v_gross", "", "gross"),
        ]  # fmt: skip
        if dice.chance(0.3):
            columns[0], columns[1] = columns[1], columns[0]
        if not bill.in_gross and dice.chance(0.6):
            columns[:0] = [("line_total", "", "line_total"), ("v_adjust", "", "")]
        places = [self.at((j + 0.9) / len(columns)) for j in range(len(columns))]
        for (key, _, _), x in zip(columns, places, strict=True):
            text = self.sheet.wrap(self.key(key), 0.9 * self.size, self.width / len(columns))[0]
            self.put(x, text, size=0.9 * self.size, align="right")
        self.skip()
        rows = [(tax.basis, tax.tax, self.rate(tax.rate), False) for tax in bill.taxes]
        if len(rows) > 1:
            rows.append((bill.net, bill.tax, "", True))
        for basis, tax, rate, is_total in rows:
            last = is_total or len(rows) == 1
            amounts = {
                "v_basis": basis, "v_tax": tax, "v_gross": basis + tax,
                "line_total": bill.line_total if last else basis,
                "v_adjust": bill.net - bill.line_total,
            }  # fmt: skip
            for (key, one, total), x in zip(columns, places, strict=True):
                text = rate if key == "v_rate" else self.money(amounts[key], self.table_style)
                self.put(x, text, (total if last and total else one) or None, align="right")
            self.skip()
        for row in self.owed(bill, only_due=False):
            self.below_each_other([row], "right")

    def tax_table(self, bill: Bill, *, narrow: bool) -> None:
        """A row for each rate of tax, and sometimes their sums."""
        dice = self.dice
        field = "tax" if self.tax_is_in_table else "vat.tax"
        kinds = ["vat.rate", "vat.basis", "vat.tax"]
        if dice.chance(0.15):
            kinds = ["vat.basis", "vat.rate", "vat.tax"]
        if dice.chance(0.35):
            kinds.append("gross")
        if dice.chance(0.25):
            kinds.insert(0, "code")
        signed = dice.chance(0.15)  # whether the currency has a column
        left, width = (
            (0.0, 0.45) if narrow else dice.pick(((0.0, 1.0), (0.4, 0.6), (0.0, 0.5), (0.0, 0.7)))
        )
        places = [
            self.at(left + width * (j + (0.3 if j == 0 else 1)) / len(kinds))
            for j in range(len(kinds))
        ]
        align = "right"
        keys = {
            "vat.rate": "v_rate",
            "vat.basis": "v_basis",
            "vat.tax": "v_tax",
            "gross": "v_gross",
            "code": "c_other",
        }
        if dice.chance(0.9):
            for kind, x in zip(kinds, places, strict=True):
                self.put(
                    max(x, self.left + 3 * self.size),
                    self.key(keys[kind]),
                    size=0.9 * self.size,
                    align=align,
                )
            self.skip()
        for i, tax in enumerate(bill.taxes):
            texts: dict[str, Segment] = {
                "vat.rate": (self.rate(tax.rate), "vat.rate"),
                "vat.basis": (self.money(tax.basis, self.table_style), "vat.basis"),
                "vat.tax": (self.money(tax.tax, self.table_style), field),
                "gross": (self.money(tax.basis + tax.tax, self.table_style), None),
                "code": (
                    dice.pick(("S", "A", "N", "1", "T1", "VAT", "R")) if i == 0 else "Z",
                    None,
                ),
            }
            for kind, x in zip(kinds, places, strict=True):
                text, name = texts[kind]
                self.put(max(x, self.left + 3 * self.size), text, name, align="right")
            if signed:
                self.put(places[-1] + self.size, self.sign)
            self.skip()
        if dice.chance(0.4 if len(bill.taxes) > 1 else 0.2):
            if dice.chance(0.3):
                self.put(self.left, self.key("gross"))
            totals = {
                "vat.basis": (bill.net, "net"),
                "vat.tax": (bill.tax, "tax"),
                "gross": (bill.gross, "gross"),
            }
            for kind, x in zip(kinds, places, strict=True):
                if kind in totals:
                    amount, name = totals[kind]
                    self.put(
                        max(x, self.left + 3 * self.size),
                        self.money(amount, self.table_style),
                        name,
                        align="right",
                    )
            if signed:
                self.put(places[-1] + self.size, self.sign)
            self.skip()
        self.skip(0.4)
