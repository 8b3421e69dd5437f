"""Texts that are read as values of every type: odd digits, signs, marks, lengths."""

from __future__ import annotations

from decimal import Decimal

from lawful.values import BUILT_IN, MAX_VALUES, format_value, read
from lawful.values.dates import MONTHS
from lawful.values.money import CURRENCIES, MAX_DIGITS
from tests.hostile.mutations import MARKS, damaged_text

DIGITS = ("0123456789" * 3) + "٠١٢٣٤٥٦٧٨٩०१२３４５６²³½Ⅷ⑤𝟘𝟙߁零一"
SEPARATORS = ".,'  -/:"
WORDS = (
    *sorted(MONTHS), *sorted(CURRENCIES), "x", "%", "@", "of", "de", "st", "th", "Mon", "T",
    "12:30", "3:00 pm", "Z", "+01:00", ",-", "--", "(", ")", "[", "]", "-", "+", "~", "·", "*", "=",
    "\t", "1.234,50", "12.30", "2024-02-29", "31/12/99", "1.000.000,00", "66,000", "0", "00", "1e5",
    "NaN", "Infinity", "-0", "0x1F", "１２", "１.２", "−5", "’", "\N{NO-BREAK SPACE}",
)  # fmt: skip


def draw(rng):
    """A text."""
    kind = rng.random()
    if kind < 0.02:
        return rng.choice(("1", "1.", "1,", " 1", "٣", ".", "-", "(", "a", "1 ", "\0")) * (
            10 ** rng.randint(1, 5)
        )
    if kind < 0.4:
        size = rng.choice((1, 2, 3, 5, 8, 12, 20, 70))
        return "".join(rng.choice(DIGITS + SEPARATORS) for _ in range(rng.randint(1, size)))
    glue = rng.choice(("", " ", " ", ".", "-"))
    words = (
        rng.choice(WORDS) if rng.random() < 0.5 else str(rng.randrange(10 ** rng.randint(1, 20)))
        for _ in range(rng.randint(1, 5))
    )
    text = glue.join(words)
    return damaged_text(rng, text) if rng.random() < 0.3 else text + rng.choice(("", *MARKS))


def run(case):
    """Reads the text as every type; each value, as a message shows it, must read as itself."""
    for type_ in sorted(BUILT_IN):
        values = read(case, type_)
        assert len(values) <= MAX_VALUES
        assert len(set(values)) == len(values)
        for value in values:
            shown = format_value(value)
            if isinstance(value, Decimal) and sum(map(str.isdigit, shown)) > MAX_DIGITS:
                continue  # .123 and 5% have more digits as 0.123 and 0.05
            assert value in read(shown, type_), (type_, case, value, shown)
    return "answer"
