"""Dates: in digits or with a month name in eight languages; a weekday and a time are ignored.

If two numbers may be day or month, day first is more plausible than month first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

from lawful.values.text import plain, words

MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        [
            "jan january januari janvier janv januar janner enero ene gennaio gen janeiro",
            "feb february februari februar pebruari fevrier fevr fev febrero febbraio fevereiro",
            "mar march maret mars marz maerz mrz marzo marco maart mrt",
            "apr april avril avr abril abr aprile",
            "may mei mai mayo maggio mag maio",
            "jun june juni juin junio giugno giu junho",
            "jul july juli juillet juil julio luglio lug julho",
            "aug august agustus agu agt ags aout agosto ago augustus",
            "sep sept september septembre septiembre setiembre settembre set setembro",
            "oct october oktober okt octobre octubre ottobre ott outubro out",
            "nov november nopember novembre noviembre novembro",
            "dec december desember des decembre dezember dez diciembre dic dicembre dezembro",
        ],
        1,
    )
    for name in names.split()
}
"""Month names, in lower case and without accents: English, Indonesian, French, German, Spanish,
Italian, Portuguese and Dutch."""

_WEEKDAYS = words(
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday "
    "sun sunday senin selasa rabu kamis jumat sabtu minggu lundi mardi mercredi jeudi vendredi "
    "samedi dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes "
    "miercoles jueves viernes sabado domingo"
)

_TIME = re.compile(
    r"(?:[ t,;-]+|(?<=[0-9]{4}))(?:[01]?[0-9]|2[0-3])[:h][0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r" ?(?:[ap]\.?m\.?)? ?(?:z|utc|gmt|[+-][0-9]{2}:?[0-9]{2})?$"
)
_WORD = re.compile(r"([a-z]+)[., ]*")
_SEPARATED_DATE = re.compile(r"([0-9]{1,4}) ?([-/. ]) ?([0-9]{1,2}) ?\2 ?([0-9]{1,4})")
_COMPACT_DATE = re.compile(r"((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})")
_GAP = r"[ .,/'-]*"
_DAY_MONTH_YEAR = re.compile(
    rf"([0-9]{{1,2}})(?:st|nd|rd|th|er)?{_GAP}(?:de |of )?([a-z]+){_GAP}(?:de |del |of )?"
    r"([0-9]{4}|[0-9]{2})"
)
# DECEMBER2016 has no day: only a gap or a year of four digits can end one.
_MONTH_DAY_YEAR = re.compile(
    rf"([a-z]+){_GAP}([0-9]{{1,2}})(?:st|nd|rd|th)?(?:[ .,/'-]+|(?=[0-9]{{4}}$))"
    r"([0-9]{4}|[0-9]{2})"
)
_DAY = re.compile(
    r"(?P<dots>(?P<day>[0-9]{1,2})\. ?(?P<month>[0-9]{1,2})\.)"
    r"|(?P<one>[0-9]{2})[/-](?P<two>[0-9]{2})"
)
_NAMED = re.compile(r"[^\W\d]{3}.*\d{4}")
_YEAR_MONTH_DAY = re.compile(rf"([0-9]{{4}}){_GAP}([a-z]+){_GAP}([0-9]{{1,2}})")


FAR = 1000
"""Days from which on a date counts as far from another one, however far it is."""


def read_date(text: str) -> tuple[date, ...]:
    """The possible dates of a text, between 1900 and 2099; a time after the date is ignored."""
    found = plain(text).lower()
    if not found.isascii():
        found = "".join(c for c in unicodedata.normalize("NFD", found) if c.isascii())
    found = _TIME.sub("", found).strip(" .,;:")
    word = _WORD.match(found)
    if word is not None and word[1] in _WEEKDAYS:
        found = found[word.end() :]
    candidates = _named_date(found) if re.search("[a-z]", found) else _numeric_dates(found)
    dates = (_date(*candidate) for candidate in candidates)
    return tuple(dict.fromkeys(each for each in dates if each is not None))


def read_us_date(text: str) -> tuple[date, ...]:
    """The possible dates of a text, month first before day first."""
    return tuple(reversed(read_date(text)))


def is_day(text: str) -> bool:
    """Whether a text is a day and a month without a year."""
    return len(text) <= 8 and _DAY.fullmatch(plain(text).strip()) is not None


def read_day(text: str, others: Sequence[date]) -> tuple[date, ...]:
    """The possible dates of a day without a year, such as ``31.03.`` or ``03/31``.

    The year is the one in which it is nearest to the other dates of the document; without others,
    there is none.
    """
    found = _DAY.fullmatch(plain(text).strip())
    if found is None or not others:
        return ()
    if found["dots"]:
        orders = [(found["month"], found["day"])]
    else:
        orders = [(found["two"], found["one"]), (found["one"], found["two"])]
    years = sorted({each.year + step for each in others for step in (-1, 0, 1)})
    possible = ([_date(str(y), month, day) for y in years] for month, day in orders)
    best = (
        min(
            (each for each in some if each is not None),
            key=lambda each: sum(min(abs((each - other).days), FAR) for other in others),
            default=None,
        )
        for some in possible
    )
    return tuple(dict.fromkeys(each for each in best if each is not None))


@lru_cache(maxsize=64)
def dates_among(words: tuple[str, ...]) -> tuple[date, ...]:
    """The dates that words of a document print with a year, each as the most plausible one."""
    found: list[date] = []
    for start, word in enumerate(words):
        if any(map(str.isdigit, word)):
            three = " ".join(words[start : start + 3])
            found += (read_date(word) or (read_date(three) if _NAMED.search(three) else ()))[:1]
    return tuple(found)


def _numeric_dates(text: str) -> list[tuple[str, str, str]]:
    """Possible year, month and day; day first comes before month first."""
    if compact := _COMPACT_DATE.fullmatch(text):
        return [(compact[1], compact[2], compact[3])]
    separated = _SEPARATED_DATE.fullmatch(text)
    if separated is None:
        return []
    first, _, second, third = separated.groups()
    if len(first) > 2:
        return [(first, second, third)]
    candidates = [(third, second, first), (third, first, second)]
    if len(third) == 2 and not any(_date(*candidate) for candidate in candidates):
        return [(first, second, third)]  # 95-12-31: a short year first, if nothing else fits
    return candidates


def _named_date(text: str) -> list[tuple[str, str, str]]:
    """Year, month (as a name) and day of a date with a month name."""
    if found := _DAY_MONTH_YEAR.fullmatch(text):
        return [(found[3], found[2], found[1])]
    if found := _MONTH_DAY_YEAR.fullmatch(text):
        return [(found[3], found[1], found[2])]
    if found := _YEAR_MONTH_DAY.fullmatch(text):
        return [(found[1], found[2], found[3])]
    return []


def _date(year: str, month: str, day: str) -> date | None:
    """The date, or ``None`` if the calendar has no such day between 1900 and 2099."""
    number = int(year)
    if len(year) == 2:
        number += 1900 if number >= 70 else 2000
    if not 1900 <= number < 2100:
        return None
    try:
        return date(number, MONTHS.get(month) or int(month), int(day))
    except ValueError:
        return None
