"""The table of lines: columns by independent choices, names of several lines, page breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from lab.invoices.amounts import Bill, Line, cents
from lab.invoices.writer import Writer

NUMBERS = {
    "line.quantity",
    "line.unit_price",
    "line.discount",
    "line.rate",
    "line.amount",
    "gross",
    "extra",
}


@dataclass(slots=True)
class Column:
    """A column of the table: what it has, its caption and its edges."""

    kind: str
    caption: str
    left: float
    right: float
    align: str  # left, right or centre


class Table(Writer):
    """Prints the lines of a bill."""

    columns: list[Column]
    adjusted = False  # whether allowances and charges stood in the table
    headed = False  # whether the columns have captions
    bottom: float  # below this, a new page begins

    def choose_columns(self, bill: Bill) -> None:
        dice = self.dice
        chance = dice.chance
        several = len({line.rate for line in bill.lines}) > 1
        kinds = ["line.name"]
        self.stacks_prices = chance(0.07)
        if chance(0.45):
            kinds.insert(dice.weighted(((0, 3.0), (1, 1.0))), "line.article")
        if chance(0.85):
            kinds.append("line.quantity")
            if chance(0.35):
                kinds.insert(len(kinds) - dice.pick((0, 0, 1)), "line.unit")
            if chance(0.12):  # quantities first
                kinds = [k for k in kinds if k in ("line.quantity", "line.unit")] + [
                    k for k in kinds if k not in ("line.quantity", "line.unit")
                ]
        if chance(0.85):
            kinds.insert(
                dice.pick((len(kinds), len(kinds), len(kinds), max(1, len(kinds) - 1))),
                "line.unit_price",
            )
        if (any(line.discount for line in bill.lines) and chance(0.9)) or chance(0.05):
            kinds.append("line.discount")
        rate = chance(0.85 if several else 0.4)
        if rate and chance(0.6):
            kinds.append("line.rate")
        if chance(0.96):
            kinds.append("line.amount")
        if rate and "line.rate" not in kinds:
            kinds.insert(
                dice.pick((len(kinds), len(kinds), 1 + kinds.index("line.name"))), "line.rate"
            )
        if chance(0.06):
            kinds.append("gross")
        if chance(0.5):
            kinds.insert(0, "line.position")
        if chance(0.08):
            kinds.insert(dice.whole(1, len(kinds)), "extra")
        self.shows_unit = "line.unit" not in kinds and chance(0.35)
        self.lay_out(kinds)

    def lay_out(self, kinds: list[str]) -> None:
        dice, size = self.dice, self.size
        narrow = {
            "line.position": 3.2,
            "line.article": 7,
            "line.quantity": 5,
            "line.unit": 4.5,
            "line.rate": 4.5,
            "line.discount": 4.5,
        }
        widths = {
            kind: size * (narrow.get(kind, 8) + dice.between(0, 2))
            for kind in kinds
            if kind != "line.name"
        }
        rest = self.width - sum(widths.values())
        if rest < 9 * size:
            shrink = (self.width - 9 * size) / sum(widths.values())
            widths = {kind: width * shrink for kind, width in widths.items()}
            rest = 9 * size
        x = self.left
        self.columns = []
        headers = {"gross": "v_gross", "extra": "c_other" if self.dates_extra else "c_number"}
        for kind in kinds:
            wide = widths.get(kind, rest)
            align = "left"
            if kind in NUMBERS:
                align = dice.weighted((("right", 6.0), ("centre", 1.0), ("left", 0.7)))
            key = headers.get(kind, f"c_{kind.removeprefix('line.')}")
            self.columns.append(Column(kind, self.key(key), x, x + wide - 0.6 * size, align))
            x += wide
        self.headed = dice.chance(0.94)

    def cell(
        self, column: Column, text: str, field: str | None, y: float, *, continues: bool = False
    ) -> None:
        size = self.size
        room = column.right - column.left
        if (wide := self.sheet.wide(text, size)) > room:
            size *= max(0.6, room / wide)
        x = {
            "left": column.left,
            "right": column.right,
            "centre": (column.left + column.right) / 2,
        }[column.align]
        self.sheet.put(x, y, text, field, size, column.align, continues=continues)  # type: ignore[arg-type]

    def heading(self) -> None:
        if not self.headed:
            return
        most = 1
        for column in self.columns:
            lines = self.sheet.wrap(column.caption, self.size, column.right - column.left)[:2]
            for i, text in enumerate(lines):
                self.cell(column, text, None, self.y + i * self.step)
            most = max(most, len(lines))
        self.skip(most + self.dice.pick((0.1, 0.5)))

    def table(self, bill: Bill) -> None:
        """All lines, on as many pages as they need."""
        dice = self.dice
        self.choose_columns(bill)
        self.heading()
        spread = dice.pick((1.0, 1.0, 1.2, 1.6))
        notes, shown = dice.pick((0.0, 0.0, 0.15, 0.6)), Decimal(0)
        carries = dice.chance(0.5)
        wraps = dice.chance(0.7)
        middle = dice.weighted(
            ((0, 5.0), (1, 0.5))
        )  # whether numbers stand in the last line of a name
        grouped = dice.chance(0.06)
        for i, line in enumerate(bill.lines):
            if self.y + 3 * self.step > self.bottom:
                self.break_page(shown, carries=carries)
            if grouped and dice.chance(0.3):
                self.line((self.case(dice.pick(self.words["trades"])), None))
            self.row(i, line, wraps=wraps, last=bool(middle))
            shown += line.amount
            if dice.chance(notes):
                for text in self.notes(line):
                    self.put(self.column("line.name").left, text, size=0.9 * self.size)
                    self.skip()
            if grouped and dice.chance(0.2):
                self.put(self.at(0.7), self.key("line_total"), align="right")
                self.put(self.right, self.money(shown), align="right")
                self.skip()
            self.skip(spread - 1)
        self.adjusted = any(
            column.kind == "line.amount" for column in self.columns
        ) and dice.chance(0.3)
        if self.adjusted:
            self.adjustments(bill)
        elif dice.chance(0.08):
            self.adjusted = True
            self.in_words(bill)
        if dice.chance(0.12):
            self.counted(bill)

    def in_words(self, bill: Bill) -> None:
        """Allowances and charges as sentences: on what, how much of it, and why."""
        dice, basis = self.dice, self.key("list_price")
        mark = dice.pick((", ", " - ", " ", "; "))
        sign = dice.pick((-1, -1, 1))
        for amounts, key, field, factor in (
            (bill.allowances, "allowances", "allowance.amount", sign),
            (bill.charges, "charges", "charge.amount", 1),
        ):
            for i, amount in enumerate(amounts):
                parts = [f"{self.key(key).replace('{p}', self.number(bill.percent))} {i + 1}:"]
                if bill.percent and dice.chance(0.6):
                    parts.append(f"{self.rate(bill.percent)}")
                if dice.chance(0.7):
                    parts.append(f"{basis}: {self.money(bill.line_total, self.plain)}")
                if dice.chance(0.5):
                    parts.append(f"{self.key('c_rate')} {self.rate(bill.lines[0].rate)}")
                parts.append(self.key(key).replace("{p}", self.number(bill.percent)) + ":")
                shown = self.money(factor * amount, self.plain)
                self.line((mark.join(parts), None), (shown, field))

    def counted(self, bill: Bill) -> None:
        """How many things were delivered, below the lines; no sum."""
        dice = self.dice
        total = sum((abs(line.quantity) for line in bill.lines), Decimal(0))
        text = self.number(
            dice.pick((total, Decimal(len(bill.lines)), Decimal(dice.whole(1, 900)) / 4))
        )
        caption = dice.pick(self.words["counted"])
        x = dice.pick((self.left, self.column("line.name").left, self.at(0.6)))
        self.line((caption + self.colon, None), (text, None), x=x)

    def column(self, kind: str) -> Column:
        return next(column for column in self.columns if column.kind == kind)

    def row(self, number: int, line: Line, *, wraps: bool, last: bool) -> None:
        name = self.column("line.name")
        room = name.right - name.left
        lines = self.sheet.wrap(line.name, self.size, room) if wraps else [line.name]
        y = self.y + (len(lines) - 1) * self.step if last else self.y
        for column in self.columns:
            if column is not name and (text := self.text(column, number, line)):
                field = None if column.kind in ("gross", "extra") else column.kind
                self.unit_joined(column, text, field, line, y)
        for i, text in enumerate(lines):
            self.cell(name, text, "line.name", self.y + i * self.step, continues=i > 0)
        self.skip(max(len(lines), 2 if self.stacks_prices else 1))

    def unit_joined(
        self, column: Column, text: str, field: str | None, line: Line, y: float
    ) -> None:
        if column.kind == "line.unit_price" and self.stacks_prices:
            self.stacked(column, text, line, y)
        elif column.kind == "line.quantity" and self.shows_unit:
            x = column.left if column.align == "left" else column.right
            self.sheet.run(
                x,
                y,
                [(text, field), (line.unit, "line.unit")],
                self.size,
                "left" if column.align == "left" else "right",
            )
        else:
            self.cell(column, text, field, y)

    def stacked(self, column: Column, text: str, line: Line, y: float) -> None:
        """A price below the list price that it was made of."""
        edge = column.left if column.align == "left" else column.right
        align = "left" if column.align == "left" else "right"
        wrap = "({}: {})" if self.dice.chance(0.5) else "{}: {}"
        listed = wrap.format(self.key("list_price"), self.money(line.price, self.plain))
        self.sheet.put(edge, y, listed, None, 0.85 * self.size, align)  # type: ignore[arg-type]
        segments = [(f"({self.key('c_unit_price')}):", None)] if self.dice.chance(0.5) else []
        below = [*segments, (text, "line.unit_price")]
        self.sheet.run(edge, y + self.step, below, 0.9 * self.size, align)  # type: ignore[arg-type]

    def adjustments(self, bill: Bill) -> None:
        """Allowances and charges in the columns of the lines."""
        name = self.column("line.name")
        for amounts, key, field, factor in (
            (bill.allowances, "allowances", "allowance.amount", self.dice.pick((-1, -1, 1))),
            (bill.charges, "charges", "charge.amount", 1),
        ):
            for amount in amounts:
                caption = self.key(key).replace("{p}", self.number(bill.percent))
                if self.dice.chance(0.4):
                    caption += f" {self.rate(bill.percent)} {self.money(bill.line_total)}"
                self.put(name.left, caption)
                for column in self.columns:
                    if column.kind == "line.amount":
                        self.cell(
                            column, self.money(factor * amount, self.table_style), field, self.y
                        )
                    elif column.kind == "line.rate" and self.dice.chance(0.7):
                        self.cell(column, self.rate(bill.lines[0].rate), None, self.y)
                self.skip()

    def text(self, column: Column, number: int, line: Line) -> str:
        """What stands in a column of a line."""
        is_round = line.price == cents(line.price)
        shows_none = line.discount or self.dice.chance(0.4)
        gross = cents(line.amount * (100 + line.rate) / 100)
        return {
            "line.position": f"{(number + 1) * self.position_step}{self.position_end}",
            "line.article": line.article,
            "line.quantity": self.number(line.quantity, self.quantity_digits),
            "line.unit": line.unit,
            "line.unit_price": self.money(line.price, self.table_style)
            if is_round
            else self.number(line.price, 4),
            "line.discount": self.rate(line.discount) if shows_none else "",
            "line.rate": self.rate(line.rate),
            "line.amount": self.money(line.amount, self.table_style),
            "gross": self.money(gross, self.table_style),
        }.get(column.kind) or (self.extra() if column.kind == "extra" else "")

    def extra(self) -> str:
        """What stands in a column that has no field."""
        if self.dates_extra:
            return self.date()
        return self.number(Decimal(self.dice.pick((1, 1, 10, 100))), self.quantity_digits)

    def begin_table(self) -> None:
        """The choices that hold for all rows."""
        self.dates_extra = self.dice.chance(0.4)
        self.position_step = self.dice.weighted(((1, 8.0), (10, 1.0)))
        self.position_end = self.dice.pick(("", "", "", "."))
        self.quantity_digits: int | None = self.dice.weighted(
            ((None, 5.0), (2, 3.0), (3, 0.5), (1, 0.5), (4, 0.3))
        )

    def notes(self, line: Line) -> Iterator[str]:
        dice = self.dice
        for _ in range(dice.weighted(((1, 3.0), (2, 1.0)))):
            words = self.words["notices"][0].split()
            at = dice.whole(0, len(words) - 6)
            yield dice.pick(
                (
                    " ".join(words[at : at + 5]),
                    f"GTIN: {dice.digits(13)}",
                    f"{self.key('delivery_date')}: {self.date()}",
                    f"SN {dice.digits(9)}",
                    f"{self.key('list_price')}: {self.money(line.price)} "
                    f"{self.key('c_discount')}: {self.money(cents(line.price / 20))}",
                    f"{self.date()} - {self.date()}",
                    f"{self.key('c_article')}: {dice.digits(6)}",
                    f"({self.number(line.quantity)} x {self.money(line.price)})",
                    f"{self.key('period')}: {self.date()} - {self.date()}",
                    f"{self.key('reference')}: {self.document_number()}",
                )
            )

    def break_page(self, shown: Decimal, *, carries: bool) -> None:
        """A new page, with what is carried forward and the heading again."""
        carry = self.code("carry")
        if carries:
            self.carry(carry, shown)
        self.sheet.page += 1
        self.y = self.dice.between(40, 90)
        if self.dice.chance(0.4):
            self.line((self.seller.name, "seller.name"))
            self.skip(0.5)
        self.heading()
        if carries:
            self.carry(self.code("carry") if self.dice.chance(0.5) else carry, shown)

    def carry(self, caption: str, amount: Decimal) -> None:
        self.put(self.at(0.7), caption + self.colon, align="right")
        self.put(self.right, self.money(amount), align="right")
        self.skip()
