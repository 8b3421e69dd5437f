"""What stands around the table of an invoice: letterhead, addresses, details, footer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lab.invoices.phrases import Party, Phrases
from lab.invoices.sheet import Segment, Sheet
from lab.receipts.dice import Dice

Detail = tuple[str, str, str | None]
"""A caption, its value, and the value's field."""


class Writer(Phrases):
    """Prints one document; ``y`` is where the next line begins."""

    def __init__(self, dice: Dice, language: str | None = None) -> None:
        super().__init__(dice, language)
        is_letter = self.language == "en" and dice.chance(0.4)
        self.sheet = Sheet(
            *((612, 792) if is_letter else (595, 842)),
            tight=dice.chance(0.6),
            stretch=dice.between(0.85, 1.1),
        )
        self.size = dice.between(6.5, 11)
        self.left, self.right = dice.between(20, 75), self.sheet.width - dice.between(20, 70)
        self.step = self.size * dice.between(1.1, 1.7)
        self.y = dice.between(25, 70)
        self.seller, self.buyer = self.party(), self.party(is_person=dice.chance(0.25))
        self.says_all = dice.chance(0.12)  # prints all that is known of a party

    @property
    def width(self) -> float:
        return self.right - self.left

    def at(self, share: float) -> float:
        """A place between the margins."""
        return self.left + share * self.width

    def skip(self, lines: float = 1.0) -> None:
        self.y += lines * self.step

    def put(
        self,
        x: float,
        text: str,
        field: str | None = None,
        *,
        size: float | None = None,
        align: str = "left",
        continues: bool = False,
    ) -> None:
        """A text in the current line."""
        size = self.size if size is None else size
        self.sheet.put(x, self.y, text, field, size, align, continues=continues)  # type: ignore[arg-type]

    def line(self, *segments: Segment, x: float | None = None, size: float | None = None) -> None:
        self.sheet.run(self.left if x is None else x, self.y, segments, size or self.size)
        self.skip()

    def captioned(self, caption: str, value: str, field: str | None) -> list[Segment]:
        """A caption and its value, sometimes as one word."""
        if self.colon and field is None and self.dice.chance(0.05):
            return [(f"{caption}{self.colon}{value}", None)]
        return [(caption + self.colon, None), (value, field)]

    # Addresses.

    def block(self, x: float, y: float, party: Party, role: str, caption: str = "") -> float:
        """The lines of an address from ``y``; returns where it ends."""
        dice, size = self.dice, self.size
        beside = [(caption + (self.colon or ":"), None)] if dice.chance(0.15) and caption else []
        if caption and not beside:
            self.sheet.put(x, y, caption + self.colon, None, size)
            y += self.step
        is_known = role != ""
        if dice.chance(0.08):
            self.sheet.put(x, y, f"{dice.pick(('GLN', 'ID', 'Nr.'))} {dice.digits(13)}", None, size)
            y += self.step
        name, address = (f"{role}.name", f"{role}.address") if is_known else (None, None)
        large = size * dice.pick((1, 1, 1, 1.2))
        self.sheet.run(x, y, [*beside, (party.name, name)], large)
        y += self.step
        if dice.chance(0.25):
            prefix = dice.pick(("", "", "z.Hd. ", "Attn: ", "c/o ", "Contact: "))
            self.sheet.put(x, y, prefix + party.person, None, size)
            y += self.step
        lines = list(party.address)
        if dice.chance(0.12):
            lines = [", ".join(lines)]
        if dice.chance(0.45):
            joined = dice.chance(0.2)
            lines = (
                [*lines[:-1], f"{lines[-1]}, {party.country}"]
                if joined
                else [*lines, party.country]
            )
        for i, text in enumerate(lines):
            self.sheet.put(x, y, text, address, size, continues=i > 0)
            y += self.step
        for text, field in self.extras(party, role):
            self.sheet.run(x, y, [*text, field], size)
            y += self.step
        return y

    def extras(self, party: Party, role: str) -> Iterator[tuple[list[Segment], Segment]]:
        """Lines under an address: VAT id, phone, mail."""
        dice = self.dice
        chance = 0.4 if role == "buyer" else 0.3
        extras: list[tuple[float, str, str, str | None]] = [
            (
                chance,
                "seller_vat" if role == "seller" or dice.chance(0.5) else "buyer_vat",
                party.vat_id,
                f"{role}.vat_id" if role else None,
            ),
            (chance / 2, "tax_number", self.tax_number(), None),
            (0.25, "phone", party.phone, None),
            (0.1, "reference", dice.digits(dice.pick((6, 13))), None),
        ]
        if self.says_all:
            ids = [self.document_number(), dice.digits(9), party.mail, party.person, party.phone]
            extras += [(0.7, "identity", dice.pick(ids), None) for _ in range(dice.whole(1, 6))]
        if dice.chance(0.3):
            extras.reverse()
        for likely, key, value, field in extras:
            if dice.chance(likely):
                yield [(self.key(key) + self.colon, None)], (value, field)
        if dice.chance(0.2):
            yield [], (party.mail, None)

    def tax_number(self) -> str:
        """A number at a tax office, which is no VAT id."""
        forms = (
            "#" * 8,
            "#" * 9,
            "#" * 10,
            "#" * 14,
            "##/###/#####",
            "###/####/####",
            "## ### #####",
        )
        return self.coded(self.dice.pick(forms))

    def sender_line(self, x: float, y: float) -> None:
        """The sender in one small line, as above the window of an envelope."""
        mark = self.dice.pick(("|", "·", "-", ",", "•", "–"))
        segments: list[Segment] = [(self.seller.name, "seller.name")]
        for text in self.seller.address:
            segments += [(mark, None), (text, "seller.address")]
        self.sheet.run(x, y, segments, 0.7 * self.size)

    # Details.

    def details_list(self, x: float, y: float, details: Sequence[Detail], width: float) -> float:
        """Captions and values below each other."""
        dice = self.dice
        form = dice.weighted((("after", 3.0), ("column", 4.0), ("right", 2.0)))
        gap = (
            max((self.sheet.wide(c, self.size) for c, _, _ in details), default=0) + 1.2 * self.size
        )
        for caption, value, field in details:
            if form == "after":
                self.sheet.run(x, y, self.captioned(caption, value, field), self.size)
            elif form == "column":
                self.sheet.put(x, y, caption + self.colon, None, self.size)
                self.sheet.put(x + min(gap, 0.8 * width), y, value, field, self.size)
            else:
                self.sheet.put(x, y, caption + self.colon, None, self.size)
                end = max(x + width, x + gap + self.sheet.wide(value, self.size))
                self.sheet.put(min(end, self.sheet.width - 12), y, value, field, self.size, "right")
            y += self.step
        return y

    def details_table(self, details: Sequence[Detail]) -> None:
        """Captions in one line, values below them."""
        per_row = min(len(details), self.dice.whole(3, 6))
        align = self.dice.pick(("left", "left", "centre"))
        for start in range(0, len(details), per_row):
            some = details[start : start + per_row]
            for j, (caption, value, field) in enumerate(some):
                x = self.at((j + (0.5 if align == "centre" else 0)) / per_row)
                small = 0.9 * self.size
                room = self.width / per_row - self.size
                text = self.sheet.wrap(caption, small, room)[0]
                self.put(
                    x, text + (self.colon if self.dice.chance(0.3) else ""), size=small, align=align
                )
                shrink = min(1.0, room / max(self.sheet.wide(value, self.size), 1))
                self.sheet.put(
                    x, self.y + self.step, value, field, self.size * max(shrink, 0.5), align
                )
            self.skip(2.4)

    def sentence(self, template: str, values: dict[str, Segment], x: float, width: float) -> None:
        """A text with values in it, wrapped into lines."""
        line: list[Segment] = []
        used = 0.0
        for word in template.split():
            key = word[word.find("{") + 1 : word.find("}")] if "{" in word else ""
            text, field = values.get(key, (word, None))
            if key in values:
                start, end = word.split("{")[0], word.split("}")[1]
                text = f"{start}{text}{end}"
            wide = self.sheet.wide(text + " ", self.size)
            if line and used + wide > width:
                self.line(*line, x=x)
                line, used = [], 0.0
            line.append((text, field))
            used += wide
        if line:
            self.line(*line, x=x)

    def paragraph(self, words: int, x: float, width: float, size: float | None = None) -> None:
        """Running text of about so many words."""
        size = size or self.size
        text = self.words["notices"][0].split()
        start = self.dice.whole(0, len(text) - 1)
        chosen = (text * (1 + words // len(text) + 1))[start : start + words]
        for line in self.sheet.wrap(" ".join(chosen), size, width):
            self.put(x, line, size=size)
            self.y += 1.25 * size

    # The foot of a page.

    def iban(self) -> str:
        text = self.code("iban")
        return text.replace(" ", "") if self.dice.chance(0.3) else text

    def bic(self) -> str:
        code = self.words["code"][0]
        return self.coded(self.dice.pick((f"@@@@{code}@@", f"@@@@{code}@@###", f"@@@@{code}##@@@")))

    def footer_columns(self) -> list[list[list[Segment]]]:
        """What stands in the columns of the footer."""
        seller, dice = self.seller, self.dice
        iban, bic = self.iban(), self.bic()
        name: list[list[Segment]] = [[(seller.name, "seller.name")]]
        name += [[(text, "seller.address")] for text in seller.address]
        contact: list[list[Segment]] = [
            [(self.key("phone") + self.colon, None), (seller.phone, None)],
            [(seller.mail, None)],
            [(seller.web, None)],
        ]
        legal: list[list[Segment]] = [
            [(self.code("register"), None)],
            self.captioned(self.key("seller_vat"), seller.vat_id, "seller.vat_id"),
            self.captioned(self.key("tax_number"), self.tax_number(), None),
        ]
        bank: list[list[Segment]] = [
            [
                (self.key("bank"), None),
                (
                    dice.pick(("Volksbank", "BNP", "ING", "Sparkasse", "Barclays", "Banca"))
                    + f" {self.invented()}",
                    None,
                ),
            ],
            self.captioned("IBAN", iban, "iban"),
        ]
        if dice.chance(0.8):
            bank.append(self.captioned(dice.pick(("BIC", "BIC", "SWIFT", "BIC/SWIFT")), bic, "bic"))
        columns = [
            part
            for part, likely in ((name, 0.8), (contact, 0.7), (legal, 0.8), (bank, 0.8))
            if dice.chance(likely)
        ]
        if dice.chance(0.2):
            columns.reverse()
        return columns or [contact]

    def footer(self, page: int, pages: int, columns: list[list[list[Segment]]], form: str) -> None:
        """The footer of a page: columns, or lines in the middle, and the page's number."""
        sheet, size = self.sheet, 0.75 * self.size
        y = sheet.height - 18 - 1.3 * size * (max(map(len, columns)) if columns else 0)
        if form == "columns":
            for j, column in enumerate(columns):
                for i, segments in enumerate(column):
                    sheet.run(self.at(j / len(columns)), y + 1.25 * size * i, segments, size)
        elif form == "lines":
            for i, column in enumerate(columns):
                joined = [
                    each
                    for segments in column
                    for each in [*segments, (self.dice.pick(("-", "|", "–")), None)]
                ][:-1]
                sheet.run(self.at(0.5), y + 1.25 * size * i, joined, size, "centre")
        if form != "none" or pages > 1:
            template = (
                self.dice.pick(self.words["page"])
                .replace("{n}", str(pages))
                .replace("{}", str(page + 1))
            )
            where: tuple[float, str] = self.dice.pick(
                ((0.0, "left"), (0.5, "centre"), (1.0, "right"))
            )
            sheet.put(self.at(where[0]), sheet.height - 12, template, None, size, where[1])  # type: ignore[arg-type]


def shuffled(dice: Dice, items: Sequence[Detail]) -> list[Detail]:
    """The items in random order."""
    return [items[int(i)] for i in dice.generator.random(len(items)).argsort()]


def scaled(writer: Writer, factor: float) -> Callable[[], None]:
    """Prints smaller or larger until the returned function is called."""
    before = writer.size, writer.step
    writer.size, writer.step = before[0] * factor, before[1] * factor

    def undo() -> None:
        writer.size, writer.step = before

    return undo
