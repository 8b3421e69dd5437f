"""The rows of items: nine formats, with codes, weights, reductions and wishes of customers."""

from __future__ import annotations

from collections.abc import Iterator

from lab.receipts.bills import Bill, Line
from lab.receipts.dice import texts
from lab.receipts.layout import Cell, Row, after, at_left, at_right
from lab.receipts.phrases import Phrases


class ItemRows(Phrases):
    """Prints the items of a page, in one of the formats."""

    code_before: bool  # whether a code stands before each name
    code_after: bool
    times: str  # between a count and the price of a piece
    shows_one: bool  # whether a count of one is printed
    count_style: str
    equals: bool

    def items(self, bill: Bill) -> Iterator[Row]:
        dice = self.dice
        form = dice.weighted(
            (
                ("name price", 4.0), ("count name price", 3.0), ("name count price", 1.5),
                ("name count unit price", 2.0), ("count name unit price", 0.8), ("two lines", 3.0),
                ("code first", 1.5), ("counts below", 1.5), ("price below", 0.7),
            )
        )  # fmt: skip
        headed = dice.chance(0.75 if "unit" in form or form == "code first" else 0.12)
        self.code_before = dice.chance(0.18)
        self.code_after = dice.chance(0.08)
        self.times = dice.pick(("x", "X", "@", "x", " x", "*", " @", "PCS x", "EA @"))
        self.shows_one = dice.chance(0.5)
        self.count_style = dice.pick(
            texts("{}|{}|{}|{}x|{} x|x{}|{}X|{}.00|{}.0|{} PCS|{} EA|({})")
        )
        self.equals = dice.chance(0.1)
        if headed:
            yield self.heading(form)
            if dice.chance(0.3):
                yield (at_left(dice.pick("-=*_") * dice.whole(8, 26)),)
        for line in bill.lines:
            yield from self.item(form, line)
            for wish in line.wishes:
                free = (self.price(0, None),) if dice.chance(0.1) else ()
                yield (at_left(wish, at=0.08), *free)
            if line.off:
                sign = -1 if dice.chance(0.8) else 1
                text = self.key("discount")
                yield (
                    at_left(text, at=dice.pick((0.0, 0.08))),
                    self.price(sign * line.off, "item.discount"),
                )
        if dice.chance(0.3):
            yield (at_left(dice.pick("-=*_") * dice.whole(8, 26)),)

    def heading(self, form: str) -> Row:
        key = {
            "name": "columns",
            "count": "column_count",
            "unit": "column_unit",
            "price": "column_price",
        }
        parts = (
            form.split()
            if "unit" in form or form in ("name count price", "count name price")
            else ["name", "count", "unit", "price"]
        )
        cells = [Cell(self.key(key[part]), None) for part in parts if part in key]
        return self.table(parts, cells)

    def table(self, parts: list[str], cells: list[Cell]) -> Row:
        """The cells of a row of columns."""
        ends = {
            ("name", "count", "unit", "price"): (0.0, 0.55, 0.78, 1.0),
            ("count", "name", "unit", "price"): (0.0, 0.12, 0.78, 1.0),
            ("name", "count", "price"): (0.0, 0.7, 1.0),
            ("count", "name", "price"): (0.0, 0.14, 1.0),
        }.get(tuple(parts), tuple(i / max(1, len(cells) - 1) for i in range(len(cells))))
        return tuple(
            cell._replace(align="right" if at >= 0.5 else "left", at=at)
            for cell, at in zip(cells, ends, strict=False)
        )

    def price(self, amount: int, field: str | None = "item.price") -> Cell:
        text = self.money(amount, self.item_style)
        if self.code and field == "item.price":
            text += self.code if len(self.code) == 1 and self.dice.chance(0.25) else ""
        return at_right(text, field)

    def coded(self, cells: list[Cell]) -> Row:
        """The row, with a tax code after the price if the till prints those."""
        if self.code and not cells[-1].text.endswith(self.code) and self.dice.chance(0.9):
            cells[-1] = cells[-1]._replace(at=0.93)
            cells.append(after(self.code))
        return tuple(cells)

    def item(self, form: str, line: Line) -> Iterator[Row]:
        dice = self.dice
        price = self.price(line.price)
        name = at_left(line.name, "item.name")
        names = [name]
        if self.code_before:
            names = [
                at_left(dice.digits(dice.pick((4, 5, 6, 8, 12, 13)))),
                after(line.name, "item.name"),
            ]
        elif self.code_after:
            names = [name, after(dice.digits(dice.pick((5, 8, 12))))]
        count = Cell(self.count_style.format(line.count), "item.count")
        unit = Cell(self.money(line.unit, self.item_style), "item.unit_price")
        if line.weight is not None:
            unit_name = dice.pick(("kg", "lb", "kg", "lbs", "L"))
            weight = f"{line.weight / 1000:.{dice.pick((2, 3))}f}"
            yield tuple(names)
            per = f"/{unit_name}" if dice.chance(0.5) else ""
            shown = f"{weight} {unit_name}" if dice.chance(0.6) else weight
            each = after(unit.text + per, "item.unit_price")
            yield self.coded([at_left(shown, "item.count", at=0.08), after("@"), each, price])
            return
        match form:
            case "name price":
                if line.count > 1 and dice.chance(0.8):
                    names[-1:] = [
                        names[-1],
                        after(
                            f"{self.times.strip()}{line.count}"
                            if dice.chance(0.5)
                            else str(line.count),
                            "item.count",
                        ),
                    ]
                yield self.coded([*names, price])
            case "count name price":
                if line.count == 1 and not self.shows_one:
                    yield self.coded([*names, price])
                else:
                    yield self.coded(
                        [
                            count._replace(align="left"),
                            *(c._replace(align="next") for c in names),
                            price,
                        ]
                    )
            case "name count price" | "name count unit price" | "count name unit price":
                parts = form.split()
                cells = {"name": name, "count": count, "unit": unit, "price": price}
                yield self.coded(list(self.table(parts, [cells[part] for part in parts])))
            case "two lines":
                if line.count == 1 and not self.shows_one:
                    yield self.coded([*names, price])
                else:
                    yield tuple(names)
                    times = [after(self.times.strip())]
                    equals = [after("=")] if self.equals else []
                    yield self.coded(
                        [
                            count._replace(align="left", at=0.08),
                            *times,
                            unit._replace(align="next"),
                            *equals,
                            price,
                        ]
                    )
            case "code first":
                yield (
                    at_left(dice.digits(dice.pick((4, 6, 8, 13)))),
                    *([after(line.name, "item.name")] if dice.chance(0.6) else []),
                )
                yield self.coded(
                    [
                        count._replace(align="left", at=0.1),
                        unit._replace(align="right", at=0.5),
                        price,
                    ]
                )
            case "counts below":
                yield self.coded([*names, price])
                if line.count > 1:
                    yield (
                        count._replace(align="left", at=0.1),
                        after(self.times.strip()),
                        unit._replace(align="next"),
                    )
            case _:
                yield tuple(names)
                yield self.coded([price])
