"""The words of one invoice: captions, companies, dates, numbers and amounts in its language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import yaml

from lab.receipts.dice import Dice, texts
from lab.receipts.money import MoneyStyle, format_money

LANGUAGES = (("de", 3.0), ("en", 3.0), ("fr", 3.0), ("es", 1.5), ("it", 1.5), ("nl", 1.5))
LETTERS = "ABCDEFGHKLMNPRSTVWX"


@cache
def vocabulary() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The file of words: by language and key, the choices."""
    raw = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
    return {
        language: {
            key: tuple(part.strip().strip("'") for part in str(text).split("|"))
            for key, text in keys.items()
        }
        for language, keys in raw.items()
    }


@dataclass(frozen=True, slots=True)
class Party:
    """A company or a person."""

    name: str
    person: str
    address: tuple[str, ...]
    country: str
    vat_id: str
    phone: str
    mail: str
    web: str


class Phrases:
    """One page's language and style, and random words in them."""

    def __init__(self, dice: Dice, language: str | None = None) -> None:
        self.dice = dice
        self.language = language or dice.weighted(LANGUAGES)
        self.words = vocabulary()[self.language]
        other = vocabulary()[dice.weighted(LANGUAGES)]
        self.captions = other if dice.chance(0.06) else self.words  # forms of foreign software
        self.case: Callable[[str], str] = dice.weighted(
            ((str, 6.0), (str.upper, 1.0), (str.title, 0.5))
        )
        self.colon = dice.pick(("", ":", ":", ":", " :", ""))
        self.date_style = dice.pick(self.words["dates"])
        self.money_style, self.plain = self._styles()
        self.table_style = self.plain if dice.chance(0.7) else self.money_style
        self.percent = dice.pick(("{}%", "{} %", "{},00%", "{}.00", "{}", "{}.0", "{},00 %"))

    def _styles(self) -> tuple[MoneyStyle, MoneyStyle]:
        dice = self.dice
        comma = "," if self.words["decimal"][0] == "," else "."
        if dice.chance(0.08):
            comma = "." if comma == "," else ","
        thousands = {
            ",": (".", ".", "", " ") if self.language != "fr" else (" ", " ", " ", "", "."),
            ".": (",", ",", ""),
        }
        parted = dice.pick(thousands[comma])
        sign = (
            dice.pick(("€", "€", "€", "EUR"))
            if self.language != "en"
            else dice.pick(("$", "£", "USD", "GBP", "€", "EUR"))
        )
        before = dice.chance(0.8 if self.language == "en" else 0.12)
        gap = dice.pick(("", " ")) if len(sign) == 1 else " "
        printed = dice.pick(("{}", f"{sign}{gap}{{}}" if before else f"{{}}{gap}{sign}"))
        self.sign = sign
        negative = dice.pick(("-{}", "-{}", "- {}", "{}-", "({})"))
        return MoneyStyle(2, parted, comma, printed, negative), MoneyStyle(
            2, parted, comma, "{}", negative
        )

    def key(self, name: str) -> str:
        """A caption, without a colon."""
        text = self.case(self.dice.pick(self.captions[name]))
        return text.replace("{P}", "{p}").replace("{R}", "{r}").replace("{B}", "{b}")

    def coded(self, text: str) -> str:
        """The text with a digit for each ``#`` and a capital for each ``@``."""
        return "".join(
            str(self.dice.whole(0, 9)) if c == "#" else self.dice.pick(LETTERS) if c == "@" else c
            for c in text
        )

    def code(self, name: str) -> str:
        """A number in one of the forms of this key."""
        return self.coded(self.dice.pick(self.words[name]))

    def money(self, amount: Decimal, style: MoneyStyle | None = None) -> str:
        return format_money(amount, style or self.money_style)

    def number(self, value: Decimal, digits: int | None = None) -> str:
        """A quantity or a percentage, with the page's decimal point."""
        text = f"{value.normalize():f}" if digits is None else f"{value:.{digits}f}"
        return text.replace(".", self.plain.point)

    def rate(self, value: Decimal) -> str:
        """A rate in the style of the page's tables."""
        text = self.number(value)
        return self.percent.format(text) if self.plain.point not in text else f"{text}%"

    def date(self) -> str:
        dice = self.dice
        month, year = dice.whole(1, 12), dice.whole(2005, 2029)
        name = self.words["months"][month - 1]
        return self.date_style.format(
            d=dice.whole(1, 28), m=month, y=year, s=year % 100, month=name, mon=name[:3]
        )

    def document_number(self) -> str:
        dice = self.dice
        year = dice.whole(2010, 2028)
        return dice.pick(
            texts(
                "{n}|{n}|{p}{n}|{p}-{n}|{y}-{n}|{y}/{n}|{p}-{y}-{n}|{p}{y}{n}"
                "|{p}/{y}/{m:02}/{n}|{n}/{y}|{p} {n}|{y}{m:02}{n}|{n}-{c}|{p}{n}/{c}"
                "|{p} {n}/{y}|{y}.{n}|{n}.{n2}.{c}|#{n}"
            )
        ).format(
            n=dice.digits(dice.whole(2, 8)),
            n2=dice.digits(3),
            c=dice.whole(1, 99),
            y=year,
            m=dice.whole(1, 12),
            p=dice.pick(texts("F|RE|INV|R|FA|FAC|A|RG|INVOICE|FT|VF|TEST|KD|PO|SO|CT|AB")),
        )

    def person(self) -> str:
        words = self.words
        name = f"{self.dice.pick(words['names'])} {self.dice.pick(words['surnames'])}"
        return f"{self.dice.pick(words['titles'])} {name}" if self.dice.chance(0.3) else name

    def company(self) -> str:
        dice, words = self.dice, self.words
        if dice.chance(0.15):  # as in samples, where names say what they are
            name = dice.pick(words["samples"])
            return name.replace("#", str(dice.whole(1, 9))) + dice.pick(
                ("", "", "", f" {dice.pick(words['legal'])}")
            )
        first = dice.pick(
            (
                dice.pick(words["surnames"]),
                dice.pick(words["surnames"]),
                self.invented(),
                self.invented().upper(),
            )
        )
        parts = [first] if dice.chance(0.9) else ["Le" if self.language == "fr" else "The", first]
        if dice.chance(0.7):
            parts.insert(dice.whole(0, 1), dice.pick(words["trades"]))
        if dice.chance(0.8):
            parts.append(dice.pick(words["legal"]))
        name = " ".join(parts)
        return name.upper() if dice.chance(0.15) else name

    def invented(self) -> str:
        """A word that no dictionary has."""
        dice = self.dice
        parts = (
            dice.pick((*"bcdfghjklmnprstvwz", "br", "st", "tr", "kl", ""))
            + dice.pick("aeiou")
            + dice.pick(("", "n", "r", "s", "l", "x"))
            for _ in range(dice.whole(2, 3))
        )
        return "".join(parts).title()

    def party(self, *, is_person: bool = False) -> Party:
        dice, words = self.dice, self.words
        name = self.person() if is_person else self.company()
        town = dice.pick(words["towns"]).replace("{}", self.code("zip"))
        address = [dice.pick(words["streets"]).replace("{}", str(dice.whole(1, 220))), town]
        if dice.chance(0.12):
            address.insert(
                1,
                dice.pick(("c/o ", "2. OG", "Bâtiment B", "Building 4", "Line 2", "Scala "))
                + self.invented(),
            )
        end = dice.pick(("com", "de", "fr", "example.com", "it", "nl", "es", "org"))
        host = f"{self.invented().lower()}.{end}"
        desk = dice.pick(("info", "contact", "mail", "office", "buchhaltung", "sales", "hello"))
        mail = f"{desk}@{host}"
        phone = self.coded(
            dice.pick(
                texts(
                    "+49 ### ######|0#### / #####|01 ## ## ## ##|+33 # ## ## ## ##"
                    "|(###) ###-####|0##-#######|+39 0# #######|####/######"
                )
            )
        )
        return Party(
            name,
            self.person(),
            tuple(address),
            dice.pick(words["country"]),
            self.code("vat_id"),
            phone,
            mail,
            f"www.{host}",
        )
