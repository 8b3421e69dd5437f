"""Languages and markets of generated receipts; the words are in ``words.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.receipts.money import MoneyStyle
from lab.receipts.words import WORDS, parts


@dataclass(frozen=True, slots=True)
class Language:
    """The words of pages in one language; ``keys`` has the words before values."""

    shops: tuple[str, ...]
    trades: tuple[str, ...]
    streets: tuple[str, ...]  # {} is the house number
    towns: tuple[str, ...]
    people: tuple[str, ...]
    months: tuple[str, ...]
    goods: tuple[str, ...]
    dishes: tuple[str, ...]
    jobs: tuple[str, ...]
    keys: Mapping[str, tuple[str, ...]]
    greetings: tuple[str, ...]
    thanks: tuple[str, ...]
    notices: str  # filler for the foot of the page, used word by word

    @classmethod
    def named(cls, name: str) -> Language:
        """The language of this name in ``words.yaml``."""
        made: dict[str, Any] = {
            key: text if key == "notices" else parts(text)
            for key, text in WORDS[name].items() if key != "keys"
        }  # fmt: skip
        keys = {key: parts(text) for key, text in WORDS[name]["keys"].items()}
        return cls(**made, keys=keys)


@dataclass(frozen=True, slots=True)
class Market:
    """The currency, prices and taxes of a page. Amounts are in hundredths."""

    language: Language
    styles: tuple[MoneyStyle, ...]
    level: int  # the equivalent of one dollar
    ends: tuple[int, ...]  # prices are multiples of one of these
    notes: tuple[int, ...]  # cash is a multiple of one of these
    coins: tuple[int, ...]  # a rounded total is a multiple of one of these
    tax_rates: tuple[float, ...]
    tax_included: bool  # in shops; invoices always add it
    dates: tuple[str, ...]
    phone: str  # each # is a digit


ENGLISH, INDONESIAN, GERMAN, FRENCH, SPANISH = map(
    Language.named, ("english", "indonesian", "german", "french", "spanish")
)

_EURO_BEHIND = MoneyStyle(2, ".", ",", "{} €")
_EURO_CODE = MoneyStyle(2, ".", ",", "{} EUR")

_EURO_NOTES = (100, 500, 1000, 2000, 5000)
_RUPIAH_NOTES = (100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000)

UNITED_STATES = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "${}"),),
    level=100,
    ends=(1, 5, 25, 50),
    notes=(100, 500, 1000, 2000),
    coins=(5, 10, 25, 100),
    tax_rates=(6, 7.25, 8.25, 8.875),
    tax_included=False,
    dates=("{month:02}/{day:02}/{year}", "{name} {day}, {year}", "{year}-{month:02}-{day:02}"),
    phone="(###) 555-####",
)
UNITED_KINGDOM = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "£{}"),),
    level=90,
    ends=(1, 5, 25, 50),
    notes=(100, 500, 1000, 2000),
    coins=(5, 10, 50),
    tax_rates=(20, 5),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day} {name} {year}"),
    phone="01632 9#####",
)
MALAYSIA = Market(
    language=ENGLISH,
    styles=(MoneyStyle(2, ",", ".", "RM {}"),),
    level=250,
    ends=(5, 10, 50),
    notes=(100, 500, 1000, 5000),
    coins=(5, 10, 50),
    tax_rates=(6, 8),
    tax_included=False,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{name}-{year}"),
    phone="03-5### ####",
)
INDONESIA = Market(
    language=INDONESIAN,
    styles=(
        MoneyStyle(0, ".", ",", "Rp {}"),
        MoneyStyle(0, ".", ",", "Rp{}"),
        MoneyStyle(0, ",", ".", "Rp {}"),
        MoneyStyle(2, ",", ".", "Rp {}"),
        MoneyStyle(2, ".", ",", "Rp {}"),
    ),
    level=500_000,
    ends=(50_000, 100_000, 100_000, 500_000),
    notes=_RUPIAH_NOTES,
    coins=(10_000, 50_000, 100_000),
    tax_rates=(10, 11),
    tax_included=False,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{month:02}-{year}", "{day} {name} {year}"),
    phone="08## #### ####",
)
GERMANY = Market(
    language=GERMAN,
    styles=(_EURO_BEHIND, _EURO_CODE, MoneyStyle(2, ".", ",", "€ {}")),
    level=90,
    ends=(1, 9, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(7, 19),
    tax_included=True,
    dates=("{day:02}.{month:02}.{year}", "{day}. {name} {year}"),
    phone="0### 5######",
)
FRANCE = Market(
    language=FRENCH,
    styles=(_EURO_BEHIND, MoneyStyle(2, " ", ",", "{} €"), _EURO_CODE),
    level=90,
    ends=(1, 5, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(5.5, 10, 20),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day} {name} {year}"),
    phone="01 99 00 ## ##",
)
SPAIN = Market(
    language=SPANISH,
    styles=(_EURO_BEHIND, _EURO_CODE),
    level=85,
    ends=(1, 5, 10, 50),
    notes=_EURO_NOTES,
    coins=(5, 10, 50),
    tax_rates=(10, 21),
    tax_included=True,
    dates=("{day:02}/{month:02}/{year}", "{day:02}-{month:02}-{year}"),
    phone="9## ## ## ##",
)

MARKETS: tuple[tuple[Market, float], ...] = (
    (UNITED_STATES, 5),
    (UNITED_KINGDOM, 3),
    (MALAYSIA, 2),
    (INDONESIA, 6),
    (GERMANY, 3),
    (FRANCE, 2),
    (SPAIN, 2),
)
"""The markets and their weights."""

MINUS_SIGNS = ("-{}", "-{}", "({})", "{}-", "{} -")
"""Formats of negative amounts."""
