"""Texts as values: what is read, in which order, and what is refused."""

from __future__ import annotations

import decimal
import random
import time
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.receipts.money import MoneyStyle, format_money
from lawful import Document, Field, Rules, Scores, decode, values
from lawful.base.errors import RulesError
from lawful.candidates.grounding.matches import Occurrences
from lawful.values import format_value, read, read_in, register_type, type_named
from lawful.values.dates import dates_among, read_day
from lawful.values.money import (
    is_in_no_amount,
    read_integer,
    read_money,
    read_number,
    read_percent,
)

NBSP, NARROW, THIN, MINUS = "\u00a0", "\u202f", "\u2009", "\u2212"


def numbers(*texts):
    return tuple(map(Decimal, texts))


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        # One separator and three digits: thousands first, decimals second.
        ("60.000", ["60000", "60.000"]),
        ("60,000", ["60000", "60.000"]),
        ("3.350", ["3350", "3.350"]),
        ("Rp.60.000", ["60000", "60.000"]),
        ("Rp 60.000", ["60000", "60.000"]),
        ("RP36362", ["36362"]),
        ("IDR 45.000", ["45000", "45.000"]),
        ("[25,000]", ["25000", "25.000"]),
        ("@ 5,000", ["5000", "5.000"]),
        ("@Rp. 5,000", ["5000", "5.000"]),
        ("Rp 5. 000", ["5000", "5.000"]),
        # Only one way to read these.
        ("0", ["0"]),
        ("25000", ["25000"]),
        ("8.500,00", ["8500.00"]),
        ("181,500.00", ["181500.00"]),
        ("Rp 35,636.36", ["35636.36"]),
        ("49,000.0", ["49000.0"]),
        ("Rp 29000.00", ["29000.00"]),
        ("1,234,567", ["1234567"]),
        ("3.600.000", ["3600000"]),
        ("1,23,456.50", ["123456.50"]),
        ("₹12,34,567", ["1234567"]),
        ("11 225", ["11225"]),
        ("1 234 567,89", ["1234567.89"]),
        ("1'234.50", ["1234.50"]),
        ("CHF 1’234’567.50", ["1234567.50"]),
        ("5,000,-", ["5000"]),
        ("5.000,--", ["5000"]),
        ("12.-", ["12"]),
        ("12.34", ["12.34"]),
        ("12,34", ["12.34"]),
        ("1.5", ["1.5"]),
        ("12.3456", ["12.3456"]),
        ("1071.000", ["1071000", "1071.000"]),
        ("0.500", ["0.500"]),
        (",89", ["0.89"]),
        (".50", ["0.50"]),
        ("$.50", ["0.50"]),
        ("-.50", ["-0.50"]),
        ("12 .34", ["12.34"]),
        ("12. 34", ["12.34"]),
        # Currencies, before and after.
        ("$12.34", ["12.34"]),
        ("US$ 12.34", ["12.34"]),
        ("R$ 12,34", ["12.34"]),
        ("12,34 €", ["12.34"]),
        ("12,34€", ["12.34"]),
        ("USD12.00", ["12.00"]),
        ("12.00 usd", ["12.00"]),
        ("£2.65", ["2.65"]),
        ("￥500", ["500"]),
        ("฿200.00", ["200.00"]),
        ("RM5.90", ["5.90"]),
        ("R26.90", ["26.90"]),
        ("129,00 kr", ["129.00"]),
        ("12,34 zł", ["12.34"]),
        ("Fr. 12.50", ["12.50"]),
        # What printers and readers leave beside an amount.
        ("12.34 T", ["12.34"]),
        ("5.99 X", ["5.99"]),
        ("1,99 € A", ["1.99"]),
        ("£1.45A", ["1.45"]),
        ("12.34*", ["12.34"]),
        ("1.234,50+", ["1234.50"]),
        ("12.34 =", ["12.34"]),
        ("40.", ["40"]),
        (":0", ["0"]),
        ("·70.00", ["70.00"]),
        ("....48000", ["48000"]),
        # Other alphabets' blanks and digits.
        (f"11{NBSP}225,00{NBSP}€", ["11225.00"]),
        (f"11{NARROW}225", ["11225"]),
        (f"1{THIN}234,50", ["1234.50"]),
        ("１２，３４", ["12.34"]),
        ("  12.34\n", ["12.34"]),
        # CORD prints both separators alike; two decimals give it away.
        ("22.000.00", ["22000.00"]),
        ("154,000,00", ["154000.00"]),
        # A misprint of 57,000 is not guessed at: it reads as it stands.
        ("57,0000", ["57.0000"]),
        # The point may be a speck.
        (".48000", ["0.48000", "48000"]),
        (".0359", ["0.0359"]),
    ],
)
def test_amounts_as_printed(text, readings):
    assert read(text, "money") == numbers(*readings)
    assert list(map(str, read(text, "money"))) == readings  # cents stay printed cents


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("-2,045", ["-2045", "-2.045"]),
        ("(4.200)", ["-4200", "-4.200"]),
        ("( 1,236.00)", ["-1236.00"]),
        ("1,400 -", ["-1400", "-1.400"]),
        ("742-", ["-742"]),
        (f"{MINUS}12,34 €", ["-12.34"]),
        ("- 12.34", ["-12.34"]),
        ("-$12.34", ["-12.34"]),
        ("$-12.34", ["-12.34"]),
        ("($12.34)", ["-12.34"]),
        ("$(12.34)", ["-12.34"]),
        ("(12,34 €)", ["-12.34"]),
        ("(-12.34)", ["-12.34"]),
        ("12,34- €", ["-12.34"]),
        ("12,34 €-", ["-12.34"]),
        ("8.59-A", ["-8.59"]),
        ("+$2.57", ["2.57"]),
        # Half a parenthesis: mostly the other half was lost.
        ("0.75)", ["-0.75", "0.75"]),
        ("(0.75", ["-0.75", "0.75"]),
        # Zero has no sign.
        ("(0)", ["0"]),
        ("-0.00", ["0.00"]),
        ("0)", ["0"]),
    ],
)
def test_signs_are_kept(text, readings):
    assert list(map(str, read(text, "money"))) == readings


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "-", "---", "x", "X", ".", ",", "()", "[]", "Rp", "$", "€", "*", "@"],
        *["TOTAL", "Subtotal", "TOTAL 47,499", "12A4", "No.1", "AMOUNT:$58.92", "Rp x 5"],
        *["10%", "10 %", "10% 4,818", "1e3", "0x10", "inf", "NaN", "1_000"],
        *["12 34", "1 2345", "12 345.6 7", "1,2,3", "12,34.56", "1,234,56,7", "1.234.5"],
        *["1'23", "12'34", "1'234 567", "1,234 567", "0,123,456"],
        *["--5", "-5-", "+5-", "(5]", "5(", "5+", "((5))", "5,-,-", "12.34,-"],
        *["5A", "3x", "2.516G", "1.95lb", "14:20", "10/26/2018", "2016-01-22", "31.12.2023"],
        *["12²", "12.5½", "①2", "٣٤", "8991038772194123456", "5 " * 40, "0" * 65],
    ],
)
def test_what_is_no_amount(text):
    assert read(text, "money") == ()


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("10%", ["0.10"]),
        ("7.5 %", ["0.075"]),
        ("-10%", ["-0.10"]),
        ("3.350", ["3350", "3.350"]),
        ("(12)", ["-12"]),
        ("0.482X", ["0.482"]),
        ("1.00x", ["1.00"]),
        ("$12.34", []),
        ("12.34 T", []),
        ("1e3", []),
        ("%10", []),
    ],
)
def test_numbers_have_percentages_and_no_currency(text, readings):
    assert list(map(str, read(text, "number"))) == readings


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        *[("19 %", ["19"]), ("19,00", ["19.00"]), ("7.5%", ["7.5"]), ("%18", ["18"])],
        *[("(19%)", ["19"]), ("[19 %]", ["19"]), ("-3 %", ["-3"]), ("(-3 %)", ["-3"])],
        *[("0.19", ["19", "0.19"]), ("0,5 %", ["0.5"]), ("1", ["1"]), ("0", ["0"])],
        *[("7,000 %", ["7.000", "7000"]), ("125 %", ["125"]), ("19 Prozent", ["19"])],
        *[("19 €", []), ("2x", []), ("%", []), ("", []), ("19 % 7", [])],
    ],
)
def test_a_percentage_is_the_number_before_the_sign(text, readings):
    assert list(map(str, read(text, "percent"))) == readings


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        *[("3", ["3"]), ("1,000", ["1000", "1"]), ("3.350", ["3350"]), ("-2", ["-2"])],
        *[
            ("x2", ["2"]),
            ("2 x", ["2"]),
            ("3X", ["3"]),
            ("2×", ["2"]),
            ("*1", ["1"]),
            ("4@", ["4"]),
        ],
        *[("3.00", ["3"]), ("1.5", []), ("100%", []), ("x", []), ("1Q", []), ("two", [])],
    ],
)
def test_integers_are_whole_and_may_have_a_quantity_mark(text, readings):
    assert list(map(str, read(text, "integer"))) == readings


def test_readings_do_not_depend_on_the_precision_a_caller_has_set():
    with decimal.localcontext(prec=3, traps=[decimal.Inexact, decimal.InvalidOperation]):
        assert str(read_money("-123,456.78")[0]) == "-123456.78"
        assert str(read_number("1234.5678%")[0]) == "12.345678"
        assert str(read_integer("123456789")[0]) == "123456789"
        assert list(map(str, read_percent("0.12345"))) == ["12.345", "0.12345"]
        assert format_money(Decimal("-123456.78"), STYLES["us"]) == "-123,456.78"


STYLES = {
    "plain": MoneyStyle(),
    "plain.00": MoneyStyle(2),
    "id": MoneyStyle(0, "."),
    "id,00": MoneyStyle(2, ".", ","),
    "id-comma": MoneyStyle(0, ","),
    "id-dash": MoneyStyle(0, ".", printed="{},-"),
    "rp": MoneyStyle(0, ".", printed="Rp {}"),
    "rp.00": MoneyStyle(2, ",", printed="Rp. {}"),
    "idr": MoneyStyle(0, ".", printed="IDR {}", negative="({})"),
    "us": MoneyStyle(2, ","),
    "us-dollar": MoneyStyle(2, ",", printed="${}"),
    "us-parentheses": MoneyStyle(2, ",", printed="${}", negative="({})"),
    "us-flag": MoneyStyle(2, ",", printed="{} T"),
    "usd": MoneyStyle(2, ",", printed="USD{}"),
    "trailing-minus": MoneyStyle(2, ",", negative="{}-"),
    "id-trailing-minus": MoneyStyle(0, ",", negative="{} -"),
    "brackets": MoneyStyle(0, ",", printed="[{}]"),
    "gb": MoneyStyle(2, ",", printed="£{}"),
    "jp": MoneyStyle(0, ",", printed="¥{}"),
    "my": MoneyStyle(2, ",", printed="RM{}"),
    "eu": MoneyStyle(2, ".", ",", printed="{} €"),
    "eu-minus": MoneyStyle(2, ".", ",", printed="{} €", negative="\N{MINUS SIGN}{}"),
    "fr": MoneyStyle(2, " ", ","),
    "fr-thin": MoneyStyle(2, "\N{NARROW NO-BREAK SPACE}", ",", printed="{}\N{NO-BREAK SPACE}€"),
    "se": MoneyStyle(2, " ", ",", printed="{} kr"),
    "pl": MoneyStyle(2, " ", ",", printed="{} zł"),
    "ch": MoneyStyle(2, "'"),
    "ch-franc": MoneyStyle(2, "’", printed="CHF {}"),
    "kw": MoneyStyle(3, ",", printed="KD {}"),
}

# Seventeen digits with three decimals is a trillion more than any receipt has.
amounts = st.integers(-(10**17), 10**17) | st.integers(-(10**6), 10**6)


@pytest.mark.parametrize("name", STYLES)
@given(units=amounts)
def test_printed_amounts_are_read_back(name, units):
    decimals = STYLES[name].decimals
    amount = Decimal(units).scaleb(-decimals)

    readings = read(format_money(amount, STYLES[name]), "money")

    assert amount in readings
    # Three decimals look like thousands, which is the doubt that comes second.
    if decimals != 3 or not 1 <= abs(amount) < 1000:
        assert readings[0] == amount


@pytest.mark.parametrize(
    ("amount", "style", "printed"),
    [
        *[("60000", "id", "60.000"), ("8500", "id,00", "8.500,00"), ("181500", "us", "181,500.00")],
        *[
            ("12.34", "us-dollar", "$12.34"),
            ("12.34", "eu", "12,34 €"),
            ("11225", "fr", "11 225,00"),
        ],
        *[("35636", "rp", "Rp 35.636"), ("1234.5", "ch", "1'234.50"), ("25000", "plain", "25000")],
        *[("-9", "us-parentheses", "($9.00)"), ("-1400", "id-trailing-minus", "1,400 -")],
        *[("-9", "us-dollar", "-$9.00"), ("0.125", "us", "0.13"), ("-0.001", "us", "0.00")],
        *[("5000", "id-dash", "5.000,-"), ("3.35", "kw", "KD 3.350")],
    ],
)
def test_styles_print_as_tills_do(amount, style, printed):
    assert format_money(Decimal(amount), STYLES[style]) == printed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(Decimal(66000), "66,000"), (Decimal("12.30"), "12.30"), (Decimal("1E+3"), "1,000")],
        *[(Decimal("-1234.5"), "-1,234.5"), (date(2023, 12, 31), "2023-12-31"), ("Bali", "Bali")],
    ],
)
def test_values_in_messages(value, text):
    assert format_value(value) == text


DATE_FORMATS = [
    *["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y"],
    *["%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d %m %Y", "%d. %m. %Y"],
    *["%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d%b%y", "%d%b'%y", "%d%b%Y", "%dth of %B %Y"],
    *["%b %d, %Y", "%B %d %Y", "%b%d,%Y", "%b%d'%y", "%b%d%Y", "%b/%d/%Y", "%Y-%b-%d", "%Y %B %d"],
    *["%A, %d %B %Y", "%a %m/%d/%Y", "%a%d-%m-%y"],
    *["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%SZ", "%d/%m/%Y %H:%M", "%m/%d/%Y %I:%M:%S %p"],
    *["%m/%d/%Y%I:%M%p", "%d %b %Y, %Hh%M", "%d.%m.%y %H:%M", "%b %d, %Y - %I:%M%p"],
]


@pytest.mark.parametrize("form", DATE_FORMATS)
@given(when=st.datetimes(datetime(1970, 1, 1), datetime(2069, 12, 31)))
def test_dates_are_read_back_in_every_format(form, when):
    readings = read(when.strftime(form), "date")

    assert when.date() in readings
    doubtful = "%m/%d" in form and when.day <= 12
    assert len(readings) == 1 or (when.day <= 12 and "%m" in form and not form.startswith("%Y"))
    if not doubtful:
        assert readings[0] == when.date()


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("03/04/2023", ["2023-04-03", "2023-03-04"]),
        ("03/03/2023", ["2023-03-03"]),
        ("12/31/2023", ["2023-12-31"]),
        ("31-12-69", ["2069-12-31"]),
        ("31-12-70", ["1970-12-31"]),
        ("95-12-31", ["1995-12-31"]),
        ("31DEC23", ["2023-12-31"]),
        ("27Dec´16", ["2016-12-27"]),
        ("1st March 2020", ["2020-03-01"]),
        ("17 Agustus 2020", ["2020-08-17"]),
        ("9 Mei 2020", ["2020-05-09"]),
        ("14 février 2020", ["2020-02-14"]),
        ("1er août 2020", ["2020-08-01"]),
        ("3. März 2020", ["2020-03-03"]),
        ("24. Dez. 2020", ["2020-12-24"]),
        ("3 de enero de 2020", ["2020-01-03"]),
        ("02/20/16,", ["2016-02-20"]),
        ("29/02/2024", ["2024-02-29"]),
        ("29/02/2023", []),
        ("31/04/2023", []),
        ("13/13/2023", []),
        ("2023-13-01", []),
        ("00/00/0000", []),
        ("31/12/0023", []),
        ("1/2/345", []),
        ("DECEMBER2016", []),
        ("Jun15", []),
        ("Foo 12, 2016", []),
        ("10/17", []),
        ("20:37", []),
        ("1 234 567", []),
        ("12.34", []),
        ("", []),
        ("31/12/2023" + " " * 60, []),
    ],
)
def test_dates_as_printed(text, readings):
    assert [found.isoformat() for found in read(text, "date")] == readings


def test_text_folds_white_space():
    assert read("  Nasi \t Campur\nBali ", "text") == ("Nasi Campur Bali",)
    assert read(" \n ", "text") == ()


def check_readings(text):
    """Whatever the text: tuples of distinct finite decimals, real dates, and folded text."""
    for name in ("money", "number", "integer", "percent"):
        readings = read(text, name)
        assert isinstance(readings, tuple)
        assert all(isinstance(value, Decimal) and value.is_finite() for value in readings)
        assert len(set(readings)) == len(readings)
    assert all(type(value) is date for value in read(text, "date"))
    assert all(value.strip() == value != "" for value in read(text, "text"))


@settings(max_examples=1000)
@given(st.text(max_size=80) | st.text(st.characters(categories=["Cs", "N", "P", "S", "Z"])))
def test_no_text_raises(text):
    check_readings(text)


PRINTED = "0 1 5 12 234 00 . , ' - ( ) [ ] % x × @ * : a T c $ € EUR sgd$ euro ² ½ １２ ・ č"
PRINTED += " percent pourcent 12.00 Total 1234567890"
PIECES = (*PRINTED.split(), " ", "\t", "\u030c", "1 234")


def test_no_text_with_a_hopeless_part_has_a_value():
    dice = random.Random(5)  # noqa: S311 - dice, not secrets
    types = [type_ for type_ in values.TYPES.values() if type_.hopeless is not None]
    assert len(types) >= 6

    def some(most):
        return "".join(dice.choices(PIECES, k=dice.randint(0, most)))

    readable = hopeless = 0
    for _ in range(40_000):
        before, part, after = some(3), some(6), some(3)
        for type_ in types:
            if type_.hopeless(part):
                hopeless += 1
                assert type_.read(part) == type_.read(before + part + after) == ()
            else:
                readable += type_.read(part) != ()
    assert min(readable, hopeless) > 10_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.00 T 3", True),
        ("12.00 3", True),
        ("12 345 678", False),
        ("5.00 EUR A", False),
        ("sgd$ 5.00 sgd$ T", False),
        ("ten letters", True),
        ("100 pourcent", False),
        ("1" * 18, False),
        ("1" * 19, True),
        (" " * 64 + "1", True),
    ],
)
def test_what_is_in_no_amount(text, expected):
    assert is_in_no_amount(text) is expected


def test_no_text_like_an_amount_or_a_date_raises():
    pieces = [
        *"0123456789.,' -+()[]%xT€$*:/@²½",
        "Rp",
        "000",
        "12",
        "Dec",
        "2023",
        MINUS,
        NBSP,
        "de ",
    ]
    dice = random.Random(0)  # noqa: S311 - dice, not secrets
    for _ in range(20_000):
        check_readings("".join(dice.choices(pieces, k=dice.randint(1, 14))))


@pytest.mark.parametrize(
    "piece", ["1", ".", "1,", "1 ", " ", "-", "t", "1,000", "a1", "(", "de ", "ﷺ"]
)
@pytest.mark.parametrize("length", [64, 1_000_000])
def test_no_text_is_slow(piece, length):
    text = (piece * length)[:length]
    start = time.process_time()
    for name in ("money", "number", "integer", "percent", "date"):
        read(text, name)
    assert time.process_time() - start < 0.1  # many times what it takes


@pytest.fixture
def registered():
    """Whatever a test registers is gone after it."""
    yield
    for name in set(values.TYPES) - values.BUILT_IN:
        del values.TYPES[name]
    values._read.cache_clear()


@pytest.mark.usefixtures("registered")
def test_registered_types_give_a_value_several_or_none():
    answers = {"one": "1", "two": ("1", "2"), "none": None, "empty": ()}
    register_type("answer", answers.get)
    assert [read(text, "answer") for text in answers] == [("1",), ("1", "2"), (), ()]
    assert type_named("answer").kind == "text"

    register_type("answer", str.upper)  # in place of the first, which nothing remembers
    assert read("one", "answer") == ("ONE",)


@pytest.mark.usefixtures("registered")
def test_a_registered_type_may_raise_value_errors_and_must_keep_its_kind():
    register_type("count", int, kind="number")
    register_type("exact", Decimal, kind="number")
    register_type("stamp", datetime.fromisoformat, kind="date")
    register_type("float", float, kind="number")
    assert read("12", "count") == numbers("12")
    assert read("twelve", "count") == ()
    assert read("twelve", "exact") == ()
    assert read("2023-12-31T10:00", "stamp") == (date(2023, 12, 31),)
    with pytest.raises(RulesError, match=r"type 'float' gave 1\.5, expected a finite Decimal"):
        read("1.5", "float")
    with pytest.raises(RulesError, match=r"type 'exact' gave .*NaN.*, expected a finite Decimal"):
        read("NaN", "exact")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("name", "parse", "kind", "message"),
    [
        ("money", str, "text", "type 'money' is built in"),
        ("", str, "text", "a type's name is ''"),
        ("iban", str, "float", "type 'iban' has kind 'float'; kinds: number, date, text"),
        ("iban", "str", "text", "type 'iban' has parser 'str', expected a function"),
    ],
)
def test_a_registration_that_cannot_be(name, parse, kind, message):
    with pytest.raises(RulesError, match=message):
        register_type(name, parse, kind=kind)


@pytest.mark.parametrize("name", ["mony", "", None, ("money",)])
def test_an_unknown_type_lists_the_known_ones(name):
    with pytest.raises(
        RulesError,
        match=r"unknown type .*; .*types: money, number, percent, integer, date, us_date, text",
    ):
        read("1", name)


def test_a_type_gives_a_handful_of_readings_at_most():
    register_type("many", lambda text: tuple(range(9)), kind="number")
    with pytest.raises(RulesError, match="gave 9 possible values of 'x', expected at most 8"):
        read("x", "many")


def test_american_dates_have_the_month_first():
    assert read("03/04/2024", "us_date") == (date(2024, 3, 4), date(2024, 4, 3))
    assert read("31/12/2024", "us_date") == (date(2024, 12, 31),)
    assert read("March", "us_date") == ()


OTHERS = (date(2023, 12, 29), date(2024, 1, 31))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("31.12.", [date(2023, 12, 31)]),
        ("02.01.", [date(2024, 1, 2)]),
        (" 5. 1. ", [date(2024, 1, 5)]),
        ("01/02", [date(2024, 2, 1), date(2024, 1, 2)]),
        ("13/01", [date(2024, 1, 13)]),
        ("29.02.", [date(2024, 2, 29)]),  # 2023 and 2025 have no such day
        ("12.10", []),  # an amount
        ("1/2", []),  # a page
        ("31.02.", []),
        ("31.12.2023", []),
    ],
)
def test_a_day_without_a_year_is_near_the_other_dates(text, dates):
    assert list(read_day(text, OTHERS)) == dates
    assert read_day(text, ()) == ()
    assert read_in(("Page", "29.12.2023", "31", "January", "2024"), text, "us_date") == (
        read(text, "us_date") or tuple(reversed(dates))
    )


def test_dates_with_a_year_are_found_among_words():
    words = ("5.", "September", "2023", "9.50", "04.08.2023,", "31.12.", "May", "7,", "2023", "12")
    assert dates_among(words) == (date(2023, 9, 5), date(2023, 8, 4))


def test_a_day_without_a_year_is_a_value_of_its_document():
    fields = [Field("day", "day", "date")]
    labels = ("O", "B-day")
    for words, value in (
        (["31.12.", "5.00", "02.01.2024"], date(2023, 12, 31)),
        (["31.12.", "5.00", "Total"], None),
    ):
        scores = Scores.from_probs([[0.1, 0.9], [0.9, 0.1], [0.9, 0.1]], labels)
        found = decode(Document("d", words), scores, Rules(fields))
        assert found.values("day") == ((value,) if value else ())
        spans = Occurrences(Document("d", words)).find("2023-12-31", "date")
        assert spans == ([(0, 1)] if value else [])
