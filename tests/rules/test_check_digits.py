"""Check digits, on numbers of the standards' documents and of well-known companies."""

from __future__ import annotations

import pytest

from lawful import Field, Rules, RulesError
from lawful.rules.compiled.plan import plan_of
from lawful.rules.language.check_digits import CHECK_DIGITS, why_not

VALID = {
    "luhn": ["79927398713", "4111 1111 1111 1111", "18", "0000"],
    "ean": ["4006381333931", "4-006381-333931", "73513537", "036000291452", "00012345600012"],
    "iban": ["GB82 WEST 1234 5698 7654 32", "de89370400440532013000"],
    "bic": ["DEUTDEFF", "DEUT DE FF 500", "NEDSZAJJXXX", "deutdeff"],
    "isin": ["US0378331005", "AU0000XVGZA3", "GB0002634946", "DE 000BAY0017"],
    "vat_id": [
        "DE136695976",
        "DE 129 273 398",
        "ATU13585627",
        "BE0428.759.497",
        "BE 0403.019.261",
        "FR 40 303 265 045",
        "FRK7399859412",  # a key with letters is not checked
        "IT 00743110157",
        "NL004495445B01",
        "NL002455799B11",
        "ES B-58378431",
        "ES54362315K",
        "ESX2482300W",
        "ESJ99216582",
        "LU15027442",
        "EL123456789",
        "IE6433435F",
        "PL8567346215",
        "CHE-107.787.577 MWST",
        "NO 995 525 828 MVA",
        "XI123456789",
    ],
}
INVALID = {
    "luhn": ["79927398710", "", "0", "4111 1111 1111 1112", "18a", "١٨"],
    "ean": ["4006381333932", "7351353", "036000291453", "123", "000", ""],
    "iban": ["GB82 WEST 1234 5698 7654 33", "DE89", ""],
    "bic": ["DEUTXXFF", "DEUTDEF", "DEUTDEFF50", "1EUTDEFF", "Rechnung Nr", ""],
    "isin": ["US0378331006", "US037833100", "0378331005", "US03783310O5", ""],
    "vat_id": [
        "DE136695978",
        "DE036695976",
        "136695976",
        "ATU13585626",
        "AT13585627",
        "BE0431150351",
        "FR 41 303 265 045",
        "FR 4O 303 265 045",
        "IT00743110158",
        "NL004495445B02X",
        "NL123456789B90",
        "ES54362315Z",
        "ESJ99216583",
        "ESI99216582",
        "LU1502744",
        "GR123456789",
        "XX123456789",
        "CHABC",
        "NO",
        "",
    ],
}


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in VALID for text in VALID[n]])
def test_valid(name, text):
    assert CHECK_DIGITS[name](text)


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in INVALID for text in INVALID[n]])
def test_invalid(name, text):
    assert not CHECK_DIGITS[name](text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("luhn", "79927398713"),
        ("ean", "4006381333931"),
        ("ean", "73513537"),
        ("iban", "GB82WEST12345698765432"),
        ("isin", "US0378331005"),
        ("vat_id", "DE136695976"),
        ("vat_id", "ATU13585627"),
        ("vat_id", "BE0428759497"),
        ("vat_id", "IT00743110157"),
        ("vat_id", "ES54362315K"),
        ("vat_id", "ESB58378431"),
    ],
)
def test_every_other_digit_is_noticed(name, text):
    for at, digit in enumerate(text):
        for other in set("0123456789") - {digit} if digit.isdigit() else ():
            changed = text[:at] + other + text[at + 1 :]
            assert not CHECK_DIGITS[name](changed), changed


def test_they_are_conditions_of_rules():
    checks = [f"{name}(code)" for name in CHECK_DIGITS]
    plan = plan_of(Rules([Field("code", "code")], checks))
    assert {how.way for how in plan.how.values()} == {"local"}
    with pytest.raises(RulesError, match=r"luhn takes one text in 'luhn\(total\)'"):
        Rules([Field("total", "total", "money")], ["luhn(total)"])
    with pytest.raises(RulesError, match="did you mean 'vat_id'"):
        Rules([Field("code", "code")], ["vatid(code)"])


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("iban", "DE89 3704 0044 0532 0130 01", "the check digits are wrong"),
        ("iban", "DE89 3704 0044 0532 0130", "20 characters, expected 22 in DE"),
        ("iban", "89 3704 0044", "expected 2 letters, 2 digits, 11 to 30 letters or digits"),
        ("bic", "DEUTXXFF", "XX is no country"),
        ("ean", "123", "expected 8, 12, 13 or 14 digits"),
        ("luhn", "4111 1111 1111 1112", "the check digits are wrong"),
        ("isin", "US0378331006", "the check digits are wrong"),
        ("vat_id", "DE12345678", "not of the form of DE"),
        ("vat_id", "DE136695977", "the check digits are wrong"),
        ("vat_id", "GR123456789", "GR is no country, Greece is EL"),
        ("vat_id", "QQ123", "QQ is no country"),
    ],
)
def test_why_a_code_is_not_valid(kind, text, why):
    assert not CHECK_DIGITS[kind](text)
    assert why_not(kind, text) == why
