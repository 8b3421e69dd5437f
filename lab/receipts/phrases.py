"""The words on a page: names of shops and goods, keys of amounts, dates, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal

from lab.receipts import words as lists
from lab.receipts.bills import Bill, Habits
from lab.receipts.dice import Dice, texts
from lab.receipts.money import MoneyStyle, format_money
from lab.receipts.vocabulary import ENGLISH, MINUS_SIGNS, Market

SHOPS: tuple[tuple[tuple[str, Habits], float], ...] = (
    (("dishes", Habits(0.08, 0.3, 0.12, 0.02, 0.12, 0.25, 0, (2, 30), (1, 12))), 5),
    (("foods", Habits(0.1, 0, 0, 0.12, 0, 0.2, 0.08, (0.5, 15), (1, 24))), 4),
    (("things", Habits(0.15, 0.02, 0, 0.06, 0, 0.25, 0.01, (1, 90), (1, 8))), 3),
)
_ONSETS = (*"bcdfghjklmnprstvwz", "br", "ch", "st", "tr", "kl")
_CODAS = ("", "n", "r", "s", "l", "t", "x")

_ORDINARY_DATES = texts(
    "{month:02}/{day:02}/{year}|{month:02}/{day:02}/{short:02}|{month}/{day}/{year}"
    "|{day:02}/{month:02}/{year}|{day:02}-{month:02}-{year}|{day:02}-{month:02}-{short:02}"
    "|{year}-{month:02}-{day:02}|{day:02}.{month:02}.{year}|{name} {day}, {year}"
    "|{day} {name} {year}|{day:02}-{name}-{short:02}|{name}{day:02}'{short:02}"
    "|{day:02}{name}{short:02}|{year}/{month:02}/{day:02}|{day:02} {name} {short:02}"
)  # fmt: skip


_CASES: tuple[tuple[Callable[[str], str], float], ...] = (
    (str.upper, 5.0),
    (str.title, 4.0),
    (str, 2.0),
    (str.lower, 0.3),
)


class Phrases:
    """The style of one page, and words in it."""

    def __init__(self, dice: Dice, market: Market) -> None:
        self.dice, self.market = dice, market
        self.english = market.language is ENGLISH
        self.goods, self.habits = dice.weighted(SHOPS)
        style = replace(dice.pick(market.styles), negative=dice.pick(MINUS_SIGNS))
        if style.decimals == 2 and dice.chance(0.5):
            style = replace(style, thousands="")
        glued = replace(style, printed=style.printed.replace(" ", ""))
        plain = replace(style, printed="{}")
        self.style = dice.weighted(((style, 1.0), (glued, 1.0), (plain, 3.0)))
        self.item_style = self.style if dice.chance(0.5) else plain
        self.plain = plain
        self.step = 10 ** (2 - style.decimals)
        self.colon = dice.pick(("", "", "", ":", ":", " :", " -"))
        self.case: Callable[[str], str] = dice.weighted(_CASES)
        self.code = dice.pick(lists.TAX_CODES) if dice.chance(0.25) else ""
        self.sums_at = dice.pick((0.0, 0.0, 0.0, 0.2, 0.35, 0.5))

    def key(self, name: str, bill: Bill | None = None) -> str:
        """The words before a value."""
        own = self.market.language.keys.get(name, ())
        options = lists.KEYS.get(name, ())
        use_own = own and (not options or not self.english or self.dice.chance(0.2))
        if not self.english and options and self.dice.chance(0.15):
            use_own = False
        if not own and not options:
            return name
        text = self.dice.pick(own if use_own else options)
        rate, percent = (bill.rate, bill.percent) if bill else (6, 10)
        text = text.replace("{rate}", f"{rate:g}").replace("{percent}", f"{percent:g}")
        text = text.replace("{four}", self.dice.digits(4))
        return self.case(text) if self.dice.chance(0.5) else text

    def caption(self, name: str, bill: Bill | None = None) -> str:
        """The words before a value, with what stands between them."""
        return self.key(name, bill) + self.colon

    def money(self, amount: int, style: MoneyStyle | None = None) -> str:
        return format_money(Decimal(amount).scaleb(-2), style or self.style)

    def name(self) -> str:
        """The name of something to buy, often shortened."""
        pick, chance = self.dice.pick, self.dice.chance
        if self.english or chance(0.25):
            name = pick(
                {"dishes": lists.DISHES, "foods": lists.FOODS, "things": lists.THINGS}[self.goods]
            )
            if chance(0.25):
                name = f"{pick(lists.BEFORE)} {name}"
            if chance(0.2):
                name = f"{name} {pick(lists.AFTER)}"
        else:
            language = self.market.language
            name = pick(
                {"dishes": language.dishes, "foods": language.goods, "things": language.jobs}[
                    self.goods
                ]
            )
            if chance(0.2):
                name = f"{name} {pick(lists.AFTER)}"
        if chance(0.12):
            name = f"{self.invented()} {name}" if chance(0.6) else self.invented()
        if chance(0.2):
            name = " ".join(map(self.shortened, name.split()))
        return self.case(name)

    def invented(self) -> str:
        """A word that no dictionary has."""
        return "".join(
            self.dice.pick(_ONSETS) + self.dice.pick("aeiou") + self.dice.pick(_CODAS)
            for _ in range(self.dice.whole(1, 3))
        )

    def shortened(self, word: str) -> str:
        """A word as narrow tills print it: without vowels, or cut."""
        if len(word) < 5 or not word.isalpha():
            return word
        if self.dice.chance(0.6):
            return word[0] + "".join(c for c in word[1:] if c not in "aeiou")
        return word[: self.dice.whole(3, 5)]

    def shop(self) -> str:
        pick, chance = self.dice.pick, self.dice.chance
        if not self.english and chance(0.8):
            language = self.market.language
            name = pick(language.shops)
            return f"{name} {pick(language.trades)}" if chance(0.6) else name
        first = self.dice.weighted(
            (
                (pick(lists.SURNAMES) + pick(("'s", "", " & Co", " Bros")), 2.0),
                (pick(lists.PLACES), 3.0),
                (f"{pick(lists.PLACES)} {pick(lists.SURNAMES)}", 1.0),
                (self.invented().title(), 1.0),
                (f"The {pick(lists.PLACES)}", 0.7),
                (pick(ENGLISH.shops), 0.7),
            )
        )
        parts = [first]
        if chance(0.75):
            parts.append(pick(lists.TRADES))
        if chance(0.15):
            parts.append(pick(lists.COMPANY))
        if chance(0.08):
            parts.append(f"#{self.dice.digits(self.dice.whole(2, 4))}")
        name = " ".join(parts)
        return name.upper() if chance(0.55) else name

    def address(self) -> Iterator[str]:
        dice = self.dice
        language = self.market.language
        if not self.english and dice.chance(0.85):
            yield dice.pick(language.streets).format(dice.whole(1, 180))
            yield dice.pick(language.towns)
            return
        street = dice.pick(lists.STREETS).replace("{}", str(dice.whole(1, 9800)))
        town = dice.pick(lists.TOWNS).replace("{}", dice.digits(5))
        if dice.chance(0.15):
            yield f"{street}, {town}"
        else:
            if dice.chance(0.15):
                yield dice.pick(lists.PLACES) + dice.pick(
                    (" Mall", " Plaza", " Shopping Center", " Centre", " Tower")
                )
            yield street
            yield town

    def phone(self) -> str:
        form = self.dice.pick(
            (
                self.market.phone,
                "(###) ###-####",
                "###-###-####",
                "###.###.####",
                "03-########",
                "+## # #### ####",
            )
        )
        return "".join(str(self.dice.whole(0, 9)) if mark == "#" else mark for mark in form)

    def date(self) -> str:
        dice = self.dice
        month, year = dice.whole(1, 12), dice.whole(2009, 2026)
        forms = self.market.dates if dice.chance(0.4) else _ORDINARY_DATES
        months = self.market.language.months
        name = months[month - 1][: dice.pick((3, 3, 9))]
        return dice.pick(forms).format(
            year=year, short=year % 100, month=month, day=dice.whole(1, 28), name=self.case(name)
        )

    def time(self) -> str:
        dice = self.dice
        hour, minute = dice.whole(0, 23), dice.whole(0, 59)
        if dice.chance(0.45):
            half = dice.pick(("AM", "PM", "am", "pm", " AM", " PM", "A", "P"))
            return f"{hour % 12 or 12}:{minute:02}{half}"
        return f"{hour:02}:{minute:02}" + (f":{dice.whole(0, 59):02}" if dice.chance(0.5) else "")

    def number(self) -> str:
        dice = self.dice
        digits = dice.digits(dice.whole(1, 12))
        return dice.weighted(
            (
                (digits, 5.0), (f"#{digits}", 1.5), (f"{dice.pick('ABCSTX')}{digits}", 1.0),
                (f"{digits[:3]}-{dice.digits(4)}", 1.0), (f"{digits}/{dice.whole(1, 9)}", 0.5),
                (f"{dice.digits(6)}-{dice.pick('ABHKTX')}", 0.7), (f"XXXX{dice.digits(4)}", 0.5),
                (f"************{dice.digits(4)}", 0.5), (dice.digits(13), 0.4),
            )
        )  # fmt: skip
