"""Codes with a form and check digits: card numbers, articles, accounts, banks, VAT, securities.

Each function takes a text, and says whether it has the form and the check digits of a valid code.
Blanks are ignored, and so is case; except in an IBAN, so are hyphens and full stops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from lawful.values.text import words

_COUNTRIES = words(
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR "
    "BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ "
    "EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW "
    "GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY "
    "KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV "
    "MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY "
    "QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG "
    "TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM "
    "ZW XK"
)
"""Countries by ISO 3166-1 alpha-2, and Kosovo."""


def is_iban(text: str) -> bool:
    """An international bank account number."""
    # ISO 13616-1: the first four characters go to the end, letters become 10 to 35, and the number
    # modulo 97 is 1 (ISO 7064, MOD 97-10).
    compact = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", compact):
        return False
    return _as_number(compact[4:] + compact[:4]) % 97 == 1


def is_bic(text: str) -> bool:
    """A business identifier code, as of a bank, which has no check digit."""
    # ISO 9362: four letters or digits, a country, a location of two characters, and optionally a
    # branch of three. The first four are letters in practice.
    code = _compact(text)
    return bool(re.fullmatch(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?", code)) and (
        code[4:6] in _COUNTRIES
    )


def is_luhn(text: str) -> bool:
    """A number of two or more digits with a check digit by Luhn's formula, as of a card."""
    # ISO/IEC 7812-1, annex B.
    digits = _compact(text)
    return bool(re.fullmatch("[0-9]{2,}", digits)) and _luhn_sum(digits) % 10 == 0


def is_ean(text: str) -> bool:
    """An article number: EAN-8, UPC-A, EAN-13 or GTIN-14."""
    # GS1 General Specifications, 7.9: weights 3 and 1 by turns, from the digit before the check
    # digit to the left; the sum with the check digit is a multiple of 10.
    digits = _compact(text)
    if not re.fullmatch("[0-9]{8}|[0-9]{12,14}", digits):
        return False
    return (sum(_digits(digits[::-2])) + 3 * sum(_digits(digits[-2::-2]))) % 10 == 0


def is_isin(text: str) -> bool:
    """An international securities identification number."""
    # ISO 6166: letters become 10 to 35, then Luhn's formula. The first two letters are a country or
    # stand for none, as XS does.
    code = _compact(text)
    if not re.fullmatch("[A-Z]{2}[A-Z0-9]{9}[0-9]", code):
        return False
    return _luhn_sum(str(_as_number(code))) % 10 == 0


def is_vat_id(text: str) -> bool:
    """A VAT identification number that begins with its country.

    Of members of the EU, it must have the country's form, and in AT, BE, DE, ES, FR, IT and NL its
    check digits. Of other countries, it has up to 15 letters and digits.
    """
    code = _compact(text)
    country, number = code[:2], code[2:]
    form = _VAT_FORMS.get(country)
    if form is None:
        general = re.fullmatch("(?=[A-Z]*[0-9])[A-Z0-9]{2,15}", number)
        return country in _COUNTRIES - {"GR"} and general is not None
    check = _VAT_CHECKS.get(country)
    return re.fullmatch(form, number) is not None and (check is None or check(number))


# European Commission, VIES frequently asked questions: the structure of VAT numbers. Greece is EL,
# and Northern Ireland XI.
_VAT_FORMS: Mapping[str, str] = {
    "AT": "U[0-9]{8}",
    "BE": "[01][0-9]{9}",
    "BG": "[0-9]{9,10}",
    "CY": "[0-9]{8}[A-Z]",
    "CZ": "[0-9]{8,10}",
    "DE": "[1-9][0-9]{8}",
    "DK": "[0-9]{8}",
    "EE": "[0-9]{9}",
    "EL": "[0-9]{9}",
    "ES": "[A-Z][0-9]{7}[A-Z0-9]|[0-9]{8}[A-Z]",
    "FI": "[0-9]{8}",
    "FR": "[A-HJ-NP-Z0-9]{2}[0-9]{9}",
    "HR": "[0-9]{11}",
    "HU": "[0-9]{8}",
    "IE": "[0-9]{7}[A-W][A-I]?|[0-9][A-Z+*][0-9]{5}[A-W]",
    "IT": "[0-9]{11}",
    "LT": "[0-9]{9}|[0-9]{12}",
    "LU": "[0-9]{8}",
    "LV": "[0-9]{11}",
    "MT": "[0-9]{8}",
    "NL": "[0-9]{9}B[0-9]{2}",
    "PL": "[0-9]{10}",
    "PT": "[0-9]{9}",
    "RO": "[0-9]{2,10}",
    "SE": "[0-9]{12}",
    "SI": "[0-9]{8}",
    "SK": "[0-9]{10}",
    "XI": "[0-9]{9}|[0-9]{12}|(?:GD|HA)[0-9]{3}",
}


def _check_at(number: str) -> bool:
    # Bundesministerium für Finanzen, construction of the UID: Luhn's sum of seven digits, plus 4.
    return (_luhn_sum(number[1:8]) + 4 + int(number[8])) % 10 == 0


def _check_be(number: str) -> bool:
    # Royal decree of 24 June 2003: 97 minus the first eight digits modulo 97.
    return 97 - int(number[:8]) % 97 == int(number[8:])


def _check_de(number: str) -> bool:
    # ISO 7064, MOD 11,10.
    product = 10
    for digit in _digits(number[:8]):
        product = 2 * ((product + digit) % 10 or 10) % 11
    return (product + int(number[8])) % 10 == 1


_SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def _check_es(number: str) -> bool:
    first, middle, last = number[0], number[1:8], number[8]
    if first in "0123456789XYZKLM":
        # Real Decreto 1553/2005: a letter for the number modulo 23. X, Y and Z of foreigners stand
        # for 0, 1 and 2; K, L and M of other persons do not count.
        value = first.translate(str.maketrans("XYZ", "012", "KLM")) + middle
        return _SPANISH_LETTERS[int(value) % 23] == last
    # Orden EHA/451/2008, of companies: Luhn's check digit, or the letter for it.
    check = -_luhn_sum(middle + "0") % 10
    return first in "ABCDEFGHJNPQRSUVW" and last in (str(check), "JABCDEFGHI"[check])


def _check_fr(number: str) -> bool:
    # Code général des impôts, annexe 4, article 98: (12 + 3 * (SIREN % 97)) % 97. A key with
    # letters is not checked.
    key = number[:2]
    return not key.isdigit() or (12 + 3 * (int(number[2:]) % 97)) % 97 == int(key)


def _check_nl(number: str) -> bool:
    # Belastingdienst: of legal persons, weights 9 to 2 and -1 give a multiple of 11; of natural
    # persons since 2020, the whole number satisfies MOD 97-10.
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    weighted = sum(w * d for w, d in zip(weights, _digits(number[:9]), strict=True))
    return weighted % 11 == 0 or _as_number("NL" + number) % 97 == 1


_VAT_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "AT": _check_at,
    "BE": _check_be,
    "DE": _check_de,
    "ES": _check_es,
    "FR": _check_fr,
    "IT": is_luhn,  # Decreto ministeriale of 23 December 1976
    "NL": _check_nl,
}


def _compact(text: str) -> str:
    """The text without blanks, hyphens and full stops, in upper case."""
    return re.sub(r"[\s.-]", "", text).upper()


def _digits(text: str) -> list[int]:
    return [int(digit) for digit in text]


def _as_number(code: str) -> int:
    """Letters as 10 to 35, in one number with the digits."""
    return int("".join(str(int(character, 36)) for character in code))


def _luhn_sum(digits: str) -> int:
    """The sum of the digits, with every second one from the right doubled."""
    doubled = (sum(divmod(2 * digit, 10)) for digit in _digits(digits[-2::-2]))
    return sum(_digits(digits[::-2])) + sum(doubled)


CHECK_DIGITS: Mapping[str, Callable[[str], bool]] = {
    "bic": is_bic,
    "ean": is_ean,
    "iban": is_iban,
    "isin": is_isin,
    "luhn": is_luhn,
    "vat_id": is_vat_id,
}
"""The functions by their names in rules."""


_IBAN_LENGTHS: Mapping[str, int] = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})(\d\d)",
        "AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GR27 HR21 HU28 IE22 IS26 "
        "IT27 LI21 LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24 SM27",
    )
}
"""The length of an IBAN by its country, in Europe."""

_FORMS: Mapping[str, tuple[str, str]] = {
    "bic": ("[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?", "6 letters, then 2 or 5 letters or digits"),
    "ean": ("[0-9]{8}|[0-9]{12,14}", "8, 12, 13 or 14 digits"),
    "iban": (r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", "2 letters, 2 digits, 11 to 30 letters or digits"),
    "isin": ("[A-Z]{2}[A-Z0-9]{9}[0-9]", "2 letters, 9 letters or digits, and a digit"),
    "luhn": ("[0-9]{2,}", "2 digits or more"),
    "vat_id": ("[A-Z]{2}[A-Z0-9+*]{2,15}", "2 letters of a country, then its number"),
}
"""The form of each code, for messages."""


def why_not(kind: str, text: str) -> str:
    """Why a text is not a valid code of this kind, which it is not."""
    code = re.sub(r"\s", "", text).upper() if kind == "iban" else _compact(text)
    form, words_of_form = _FORMS[kind]
    if not re.fullmatch(form, code):
        return f"expected {words_of_form}"
    country = code[:2]
    length = _IBAN_LENGTHS.get(country) if kind == "iban" else None
    if length not in (None, len(code)):
        return f"{len(code)} characters, expected {length} in {country}"
    if kind == "bic":
        return f"{code[4:6]} is no country"
    if kind == "vat_id":
        form_there = _VAT_FORMS.get(country)
        if form_there is None and country not in _COUNTRIES - {"GR"}:
            return f"{country} is no country" + ", Greece is EL" * (country == "GR")
        if form_there is None or not re.fullmatch(form_there, code[2:]):
            return f"not of the form of {country}"
    return "the check digits are wrong"
