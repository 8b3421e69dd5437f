"""Invoices, credit notes and orders as companies print them: each draws its own layout."""

from __future__ import annotations

from lab.invoices.amounts import draw_bill
from lab.invoices.sheet import Segment
from lab.invoices.sums import Sums
from lab.invoices.writer import Detail, scaled, shuffled
from lab.receipts.dice import Dice
from lab.receipts.layout import Print


def print_invoice(dice: Dice) -> Print:
    """One invoice of one or several pages, with a label for each word."""
    return Invoice(dice).printed()


class Invoice(Sums):
    """Prints all of an invoice."""

    ruled = ""  # what lines between parts are made of, if there are any

    def printed(self) -> Print:
        """The whole document."""
        dice, words = self.dice, self.words
        self.bill = draw_bill(dice, words["goods"], words["units"], words["rates"][0].split())
        self.kind = dice.weighted((("invoice", 9.0), ("credit", 0.8), ("order", 0.7)))
        self.number_text, self.issued, self.due_date = (
            self.document_number(),
            self.date(),
            self.date(),
        )
        footer = self.footer_columns() if dice.chance(0.75) else []
        form = dice.weighted((("columns", 4.0), ("lines", 2.0))) if footer else "none"
        self.bottom = self.sheet.height - 30 - (6 * self.size if footer else 0)
        self.begin_table()
        if dice.chance(0.05):
            self.plain_text()
        else:
            self.head()
            self.skip(dice.pick((0.5, 1.0, 2.0)))
            self.ruled = dice.pick("-=_*.") if dice.chance(0.06) else ""
            if dice.chance(0.5):
                self.intro()
            self.rule()
            if dice.chance(0.96):
                self.table(self.bill)
            self.rule()
            self.skip(dice.pick((0.3, 1.0, 1.5)))
            self.sums(self.bill)
            self.rule()
            self.skip(dice.pick((0.7, 1.5)))
            self.closing()
        pages = self.sheet.page + 1
        for page in range(pages):
            if page == 0 or dice.chance(0.8):
                self.sheet.page = page
                self.footer(page, pages, footer, form)
        return self.sheet.printed

    # The head.

    def title(self) -> str:
        title = self.key(self.kind)
        return " ".join(title) if self.dice.chance(0.04) else title

    def number_key(self) -> str:
        return self.key(
            "credit_number" if self.kind == "credit" and self.dice.chance(0.7) else "number"
        )

    def details(self) -> list[Detail]:
        """Number, dates and references, some of them."""
        dice = self.dice
        choices: list[tuple[float, str, str, str | None]] = [
            (
                0.45,
                "customer_number",
                dice.pick((dice.digits(dice.whole(3, 8)), self.document_number())),
                "customer_number",
            ),
            (0.35, "order_number", self.document_number(), "order_number"),
            (0.45, "due_date", self.due_date, "due_date"),
            (0.3, "delivery_date", self.delivered(), "delivery_date"),
            (0.1, "period", f"{self.date()} - {self.date()}", None),
            (0.2, "buyer_vat", self.buyer.vat_id, "buyer.vat_id"),
            (0.12, "seller_vat", self.seller.vat_id, "seller.vat_id"),
            (0.1, "currency", dice.pick(("EUR", "USD", "GBP", "CHF", "EUR")), "currency"),
            (0.12, "tax_number", self.tax_number(), None),
            (0.12, "phone", self.seller.phone, None),
            (0.25, "other_date", self.date(), None),
            (0.12, "other_date", self.date(), None),
            *(
                (
                    0.35,
                    "reference",
                    dice.pick(
                        (
                            self.document_number(),
                            self.person(),
                            self.invented(),
                            dice.digits(6),
                            self.date(),
                        )
                    ),
                    None,
                )
                for _ in range(3)
            ),
        ]
        if dice.chance(0.12):
            choices += [
                (0.7, "reference", self.document_number(), None) for _ in range(dice.whole(2, 7))
            ]
        found = [
            (self.key(key), value, field)
            for likely, key, value, field in choices
            if dice.chance(likely)
        ]
        return shuffled(dice, found) if dice.chance(0.6) else found

    def delivered(self) -> str:
        """A date, sometimes without separators, as files have it."""
        if self.dice.chance(0.9):
            return self.date()
        return self.coded(self.dice.pick(("201#010#", "202#110#", "202#022#", "20260#2#")))

    def rule(self) -> None:
        """A line of dashes, as programs without graphics print it."""
        if self.ruled:
            mark = self.ruled * self.dice.whole(20, 80)
            self.line((mark, None))

    def head(self) -> None:
        """Letterhead, addresses and details, in one of many arrangements."""
        dice = self.dice
        details = self.details()
        number: Detail = (self.number_key(), self.number_text, "number")
        issued: Detail = (self.key("date"), self.issued, "date")
        titled = dice.weighted(
            ((False, 6.0), (True, 4.0))
        )  # whether the number stands beside the title
        main = [issued] if titled else [number, issued]
        if dice.chance(0.15):
            main.reverse()
        details = [*main, *details] if dice.chance(0.75) else shuffled(dice, [*main, *details])
        title_first = dice.chance(0.35)
        self.letterhead(with_title=title_first and dice.chance(0.5))
        if title_first:
            self.print_title(titled=titled)
        self.addresses(details)
        if not title_first:
            self.skip(dice.pick((0.3, 1.0)))
            self.print_title(titled=titled)
        if self.waiting:
            self.skip(0.5)
            if dice.chance(0.55):
                self.details_table(self.waiting)
            else:
                half = (
                    -(-len(self.waiting) // 2)
                    if len(self.waiting) > 4 and dice.chance(0.5)
                    else len(self.waiting)
                )
                top = self.y
                end = self.details_list(self.left, top, self.waiting[:half], 0.45 * self.width)
                if half < len(self.waiting):
                    end = max(
                        end,
                        self.details_list(
                            self.at(0.52), top, self.waiting[half:], 0.45 * self.width
                        ),
                    )
                self.y = end

    def letterhead(self, *, with_title: bool) -> None:
        dice = self.dice
        if with_title:
            self.put(self.right, self.title(), size=self.size * 1.8, align="right")
        if dice.chance(0.6):
            large = self.size * dice.pick((1.0, 1.4, 1.8, 2.4))
            share, align = dice.weighted(
                (
                    ((0.0, "left"), 4.0),
                    ((0.5, "centre"), 1.0),
                    ((1.0, "right"), 0.0 if with_title else 1.5),
                )
            )
            text = self.seller.name if dice.chance(0.75) else self.seller.name.split()[0]
            self.put(self.at(share), text, "seller.name", size=large, align=align)
            self.y += 1.3 * large
            if dice.chance(0.35):
                undo = scaled(self, 0.85)
                joined = dice.pick((" - ", ", ", " | ", " · "))
                parts = [*self.seller.address]
                if dice.chance(0.5):
                    self.put(self.at(share), joined.join(parts), "seller.address", align=align)
                    self.skip()
                else:
                    for i, text in enumerate(parts):
                        self.put(
                            self.at(share), text, "seller.address", align=align, continues=i > 0
                        )
                        self.skip()
                if dice.chance(0.5):
                    self.put(
                        self.at(share),
                        f"{self.key('phone')}{self.colon} {self.seller.phone}",
                        align=align,
                    )
                    self.skip()
                undo()
        elif with_title:
            self.skip(1.5)
        if dice.chance(0.07):
            mark = dice.pick(("LOGO", "Logo", self.invented(), self.invented().upper()))
            self.put(self.at(dice.pick((0.0, 0.8))), mark, size=1.3 * self.size)
            self.skip()
        self.skip(dice.pick((0.5, 1.0, 2.5)))

    def print_title(self, *, titled: bool) -> None:
        dice = self.dice
        title, size = self.title(), self.size * dice.pick((1.0, 1.3, 1.6, 2.0))
        joint = dice.pick(("", "", "Nr.", "No.", "N°", "#", "n.", "Nº", "-", ":"))
        segments: list[Segment] = [(title, None)]
        if titled:
            segments += [(joint, None), (self.number_text, "number")]
            if dice.chance(0.15):
                segments += [
                    (dice.pick(("vom", "du", "of", "del", "van", "/")), None),
                    (self.issued, "date"),
                ]
        elif dice.chance(0.15):
            return
        share, align = dice.weighted(
            (((0.0, "left"), 5.0), ((0.5, "centre"), 1.0), ((1.0, "right"), 1.5))
        )
        self.sheet.run(self.at(share), self.y, segments, size, align)  # type: ignore[arg-type]
        self.y += 1.5 * size

    def addresses(self, details: list[Detail]) -> None:
        """The buyer's address, often the seller's, and the details beside or below them."""
        dice, top = self.dice, self.y
        self.waiting: list[Detail] = []
        far = self.at(dice.between(0.52, 0.64))
        caption = dice.chance(0.5)
        to, from_ = (self.key("to"), self.key("from")) if caption else ("", "")
        form = dice.weighted((("beside", 4.0), ("two", 3.0), ("three", 1.5), ("stacked", 1.5)))
        down = dice.pick((0.0, 0.0, 0.4, 0.7, 1.3)) * self.step  # sides are often not level
        if form == "beside":
            if dice.chance(0.5):
                self.sender_line(self.left, self.y)
                top += 1.5 * self.step
            where = (self.left, far) if dice.chance(0.7) else (far, self.left)
            end = self.block(where[0], top, self.buyer, "buyer", to)
            self.y = max(end, self.details_list(where[1], top + down, details, 0.42 * self.width))
            return
        self.waiting = details
        if form == "stacked":
            self.y = self.block(self.left, top, self.seller, "seller", from_) + self.step
            self.y = self.block(self.left, self.y, self.buyer, "buyer", to)
        elif form == "two":
            sides = [(self.seller, "seller", from_), (self.buyer, "buyer", to)]
            if dice.chance(0.25):
                sides.reverse()
            ends = [
                self.block(x, y, *side)
                for x, y, side in zip((self.left, far), (top, top + down), sides, strict=True)
            ]
            self.y = max(ends)
            if dice.chance(0.3):
                self.ship_to(far)
            elif dice.chance(0.07):  # somebody else, such as a representative
                self.y = self.block(
                    self.left, self.y + self.step, self.party(), "", self.key("reference")
                )
        else:
            other = self.party() if dice.chance(0.5) else self.buyer
            thirds = [
                (self.buyer, "buyer", to or self.key("to")),
                (other, "", self.key("ship")),
                (self.seller, "seller", from_ or self.key("from")),
            ]
            if dice.chance(0.4):
                thirds = [thirds[2], thirds[0], thirds[1]]
            if dice.chance(0.4):
                thirds = [each for each in thirds if each[1] != "seller"]
            undo = scaled(self, 0.85)
            self.y = max(
                self.block(self.at(j / len(thirds)), top, *third) for j, third in enumerate(thirds)
            )
            undo()
        self.skip(0.5)

    def ship_to(self, x: float) -> None:
        other = self.party() if self.dice.chance(0.6) else self.buyer
        self.y = self.block(
            self.dice.pick((x, self.left)), self.y + self.step, other, "", self.key("ship")
        )

    # Around the table.

    def values(self) -> dict[str, Segment]:
        return {
            "due": (self.money(self.bill.due), "due"),
            "due_date": (self.due_date, "due_date"),
            "number": (self.number_text, "number"),
            "other": (self.date(), None),
            "person": (self.person(), None),
        }

    def intro(self) -> None:
        for _ in range(self.dice.whole(1, 3)):
            self.sentence(self.dice.pick(self.words["intro"]), self.values(), self.left, self.width)
        self.skip(0.7)

    def closing(self) -> None:
        """Terms of payment, the account, and small print."""
        dice = self.dice
        if self.y + 6 * self.step > self.bottom:
            self.sheet.page += 1
            self.y = dice.between(40, 90)
        if dice.chance(0.35) and self.bill.prepaid:
            self.payments()
        for _ in range(dice.weighted(((0, 2.0), (1, 4.0), (2, 2.0), (3, 1.0)))):
            self.sentence(
                dice.pick(self.words["pay"]),
                self.values(),
                self.left,
                self.width * dice.between(0.6, 1),
            )
        if dice.chance(0.5):
            iban, bic = (
                self.captioned("IBAN", self.iban(), "iban"),
                self.captioned(dice.pick(("BIC", "SWIFT")), self.bic(), "bic"),
            )
            if dice.chance(0.5):
                self.line(*iban, (dice.pick(("-", ",", "/", "")), None), *bic)
            else:
                self.line((self.key("bank") + self.colon, None), (f"{self.invented()} Bank", None))
                self.line(*iban)
                if dice.chance(0.8):
                    self.line(*bic)
        if dice.chance(0.5):
            self.skip(0.5)
            self.paragraph(
                dice.whole(8, 70),
                self.left,
                self.width * dice.between(0.6, 1),
                self.size * dice.pick((0.7, 0.85, 1)),
            )

    def payments(self) -> None:
        """What was paid already, as a small table."""
        self.line((self.key("bank"), None), (self.key("date"), None), (self.key("c_amount"), None))
        self.line(
            (self.key("reference"), None),
            (self.date(), None),
            (self.money(self.bill.prepaid), "prepaid"),
        )
        self.skip(0.5)

    def plain_text(self) -> None:
        """An invoice of a few captioned lines."""
        dice = self.dice
        rows: list[list[Segment]] = [
            self.captioned(self.key("from"), self.seller.name, "seller.name"),
            self.captioned(self.key("to"), self.buyer.name, "buyer.name"),
            self.captioned(self.number_key(), self.number_text, "number"),
            self.captioned(self.key("date"), self.issued, "date"),
            *(self.captioned(caption, value, field) for caption, value, field in self.details()),
            *(
                [*row.caption, (self.money(row.amount), row.field)]
                for row in self.rows_of_sums(self.bill)
            ),
        ]
        self.line((self.title(), None), size=self.size * 1.5)
        self.skip(0.5)
        if dice.chance(0.4):
            first = rows.pop(dice.whole(0, 3))
            rows.insert(dice.whole(0, len(rows)), first)
        for row in rows:
            self.line(*row)
            self.skip(dice.pick((0, 0, 0.5)))
