"""Pages that are neither invoices nor receipts: letters, forms, statements, lists, articles."""

from __future__ import annotations

from decimal import Decimal

from lab.invoices.writer import Writer
from lab.receipts.dice import Dice, texts
from lab.receipts.layout import Print


def print_other(dice: Dice) -> Print:
    """One page without labels."""
    page = Other(dice)
    form = dice.weighted(
        (
            (page.letter, 3.0),
            (page.form, 2.0),
            (page.statement, 2.0),
            (page.schedule, 2.0),
            (page.article, 2.0),
            (page.delivery, 1.5),
        )
    )
    form()
    printed = page.sheet.printed
    printed.labels = ["O"] * len(printed.words)
    return printed


class Other(Writer):
    """Prints pages of other kinds with the same words."""

    def say(self, *parts: str, **more: float) -> None:
        """A line without a field."""
        self.line(*((part, None) for part in parts), **more)

    def one(self, choices: str) -> str:
        return self.dice.pick(texts(choices))

    def top(self) -> None:
        dice = self.dice
        if dice.chance(0.6):
            self.say(self.seller.name, size=self.size * dice.pick((1, 1.5, 2)))
        if dice.chance(0.6):
            self.y = self.block(self.left, self.y + self.step, self.buyer, "", "")
        self.skip()

    def bottom(self) -> None:
        if self.dice.chance(0.6):
            self.footer(0, 1, self.footer_columns(), self.dice.pick(("columns", "lines")))

    def letter(self) -> None:
        self.top()
        self.put(self.right, self.date(), align="right")
        self.skip(2)
        self.say(f"{self.key('reference')}{self.colon} {self.document_number()}")
        for _ in range(self.dice.whole(1, 6)):
            self.paragraph(self.dice.whole(15, 90), self.left, self.width)
            self.skip()
        self.say(self.person())
        self.bottom()

    def form(self) -> None:
        """Captions with values or blanks to fill in."""
        dice = self.dice
        self.top()
        self.say(self.case(dice.pick(self.words["reference"])), size=self.size * 1.5)
        keys = texts(
            "customer_number|date|phone|reference|to|ship|order_number|tax_number|period|bank"
            "|buyer_vat"
        )
        for _ in range(dice.whole(6, 28)):
            value = dice.pick(
                (
                    "_" * dice.whole(6, 24),
                    self.person(),
                    self.date(),
                    self.document_number(),
                    "☐",
                    "[ ]",
                    "",
                    self.invented(),
                )
            )
            x = self.left if dice.chance(0.6) else self.at(0.5)
            self.say(self.key(dice.pick(keys)) + self.colon, value, x=x)
        self.paragraph(dice.whole(0, 60), self.left, self.width)
        self.bottom()

    def rows(self, count: int, places: list[tuple[float, str]], texts: list[str]) -> None:
        """Rows of a table; a text that begins with ``=`` names a method that makes one."""
        for _ in range(count):
            for (share, align), text in zip(places, texts, strict=True):
                made = {
                    "date": self.date,
                    "code": self.document_number,
                    "name": lambda: self.dice.pick(self.words["goods"]),
                }
                value = (
                    made[text]()
                    if text in made
                    else self.amount()
                    if text == "amount"
                    else str(self.dice.whole(1, 90))
                )
                self.put(self.at(share), value, align=align)
            self.skip()
            if self.y > self.sheet.height - 60:
                self.sheet.page, self.y = self.sheet.page + 1, 60

    def amount(self) -> str:
        return self.money(Decimal(self.dice.whole(-90000, 900000)).scaleb(-2), self.table_style)

    def statement(self) -> None:
        """An account with dates, amounts and balances."""
        dice = self.dice
        self.top()
        account = self.case(dice.pick(self.words["bank"]))
        self.say(account, self.iban(), size=self.size * 1.3)
        title = self.one("Saldo|Balance|Solde|Kontoauszug|Statement|Relevé|Extracto|Afschrift")
        self.say(title, self.amount())
        self.rows(
            dice.whole(5, 40),
            [(0.0, "left"), (0.15, "left"), (0.8, "right"), (1.0, "right")],
            ["date", "name", "amount", "amount"],
        )
        total = self.one("Saldo|Closing balance|Nouveau solde|Total|Neuer Saldo")
        self.say(total, self.amount(), x=self.at(0.6))
        self.bottom()

    def schedule(self) -> None:
        """A plan or an order for advertising: times, lengths, prices of spots."""
        dice = self.dice
        title = self.one(
            "CONTRACT|Schedule|Station order|Broadcast Agreement|Flight plan|Agenda|Fahrplan"
            "|Planning"
        )
        self.say(title, size=self.size * 1.5)
        self.top()
        for _ in range(dice.whole(3, 10)):
            caption = self.one(
                "Advertiser|Product|Flight|Agency|Estimate|Station|Market|Daypart|Salesperson|Revision"
            )
            value = dice.pick((self.company(), self.date(), self.document_number()))
            self.say(f"{caption}:", value, x=self.at(dice.pick((0, 0.5))))
        self.rows(
            dice.whole(6, 40),
            [(0.0, "left"), (0.15, "left"), (0.32, "left"), (0.7, "right"), (1.0, "right")],
            ["code", "date", "name", "count", "amount"],
        )
        total = self.one("Total spots|Gross total|Net total|Agency commission")
        self.say(total, self.amount(), x=self.at(0.5))
        self.bottom()

    def article(self) -> None:
        """Running text, in one or two columns."""
        dice = self.dice
        first = self.words["notices"][0].split()[: dice.whole(3, 8)]
        self.say(self.case(" ".join(first)), size=self.size * 2)
        columns, top = dice.whole(1, 2), self.y + self.step
        for j in range(columns):
            self.y = top
            for _ in range(dice.whole(2, 7)):
                self.paragraph(
                    dice.whole(30, 110),
                    self.at(j * 0.53),
                    self.width * (0.47 if columns == 2 else 1),
                )
                self.skip(0.7)
        if dice.chance(0.5):
            self.bottom()

    def delivery(self) -> None:
        """A delivery note: goods without prices."""
        dice = self.dice
        self.top()
        titles = {
            "de": "Lieferschein", "fr": "Bon de livraison", "es": "Albarán",
            "it": "Documento di trasporto", "nl": "Pakbon",
        }  # fmt: skip
        title = titles.get(self.language, "Delivery note")
        self.say(title, self.document_number(), size=self.size * 1.6)
        keys = texts("order_number|customer_number|reference")
        details = [(self.key(k), self.document_number(), None) for k in keys]
        self.details_list(self.left, self.y, details, 0.4 * self.width)
        self.skip(4)
        self.rows(
            dice.whole(1, 20),
            [(0.0, "left"), (0.2, "left"), (1.0, "right")],
            ["code", "name", "count"],
        )
        self.paragraph(dice.whole(0, 50), self.left, self.width)
        self.bottom()
