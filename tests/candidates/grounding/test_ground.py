"""Values of objects on the words of small pages, and of random ones against every choice."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from itertools import product

import pytest

from lawful import Box, Document, Field, InputError, Rules, ground
from lawful.candidates.grounding.leaves import leaves_of
from lawful.candidates.grounding.page import Page
from lawful.candidates.grounding.placing import place
from tests.fixtures.pages import block
from tests.oracles.placings import cost_of

RECEIPT = """Kedai Kopi Sinar
2   Iced Lemon Tea     8.00   16.00
1   Tea                8.00    8.00
Subtotal                      24.00
Service 10%                    2.40
Total                         26.40
Cash                          30.00
Change                         3.60"""

OBJECT = {
    "store": "KEDAI KOPI",
    "total": 26.4,
    "subtotal": 24,
    "service": "2.40",
    "change": Decimal("3.6"),
    "items": [
        {"name": "Iced Lemon Tea", "quantity": 2, "unit_price": 8, "price": 16},
        {"name": "Tea", "quantity": 1, "unit_price": 8, "price": 8},
    ],
}


def page(text, id_="d"):
    placed = block(text)
    return Document(id_, [word for word, _ in placed], [box for _, box in placed])


def texts(found):
    return {each.path: each.text for each in found}


def test_values_of_a_receipt():
    document = page(RECEIPT)
    found = ground(document, OBJECT)
    assert found.optimal
    assert not found.not_printed
    assert texts(found)[("store",)] == "Kedai Kopi"
    at = {each.path: each.words for each in found}
    words = document.words
    assert [words[i - 1] for i in (*at["total",], *at["subtotal",], *at["change",])] == [
        "Total",
        "Subtotal",
        "Change",
    ]
    first, second = words.index("Iced"), len(words) - 1 - words[::-1].index("Tea")
    assert at["items", 0, "name"] == (first, first + 1, first + 2)
    assert at["items", 1, "name"] == (second,)
    # Two equal amounts in a row: the unit price is on the left.
    assert at["items", 1, "unit_price"] == (second + 1,)
    assert at["items", 1, "price"] == (second + 2,)
    assert at["items", 0, "unit_price"] == (first + 3,)


def test_places_have_boxes_and_pages():
    document = Document(
        "d", ["New", "York", "5.00"], [Box(0, 0, 3, 2), Box(4, 0, 8, 2), Box(0, 0, 3, 2)], [0, 0, 1]
    )
    found = ground(document, {"city": "New York", "total": 5})
    assert found["city"].box == Box(0, 0, 8, 2)
    assert found["city"].span == (0, 2)
    assert (found["city"].page, found["total"].page) == (0, 1)
    assert found["total"].to_dict() == {
        "path": ["total"], "value": 5, "words": [2], "text": "5.00", "box": [0, 0, 3, 2], "page": 1,
        "probability": found["total"].to_dict()["probability"], "nearest": None,
    }  # fmt: skip
    assert found["total"].probability > 0.9


@pytest.mark.parametrize(
    ("words", "value", "text"),
    [
        ("Rp 1.234.500,00", 1234500, "1.234.500,00"),
        ("53,28 EUR", 53.28, "53,28"),
        ("(4.200)", -4200, "(4.200)"),
        ("VAT 19 %", 19, "19"),
        ("VAT 19%", 0.19, "19%"),
        ("VAT 19.00%", 19, "19.00%"),
        ("24. Januar 2014", "2014-01-24", "24. Januar 2014"),
        ("on 24/01/14", date(2014, 1, 24), "24/01/14"),
        ("CAFÉ-BAR Société", "cafe bar societe", "CAFÉ-BAR Société"),
        ("Haftpflicht- versicherung", "Haftpflichtversicherung", "Haftpflicht- versicherung"),
        ("Musterm4nnstrasse", "Mustermannstrasse", None),
        ("Mustemnannstrasse 11", "Mustermannstrasse 11", "Mustemnannstrasse 11"),
        ("Mustermannstrasse 12", "Mustermannstrasse 11", None),
        ("INV-0123", "INV-0124", None),
        ("53.28", 53.29, None),
        ("0123", "123", "0123"),
        ("2023-01-24", "2024-01-24", None),
        # Numbers and dates as texts, too: the same digits may be another value.
        ("500", "5.00", None),
        ("5.00 500", "500", "500"),
        ("15 pieces", "1.5", None),
        ("1 2.50", "12.50", None),
        ("12 .50", "12.50", "12 .50"),
        ("$1,234.50", "1234.50", "$1,234.50"),
        ("2.11.2024", "21.1.2024", None),
        ("on 5. Januer 2024", "5. Januar 2024", "5. Januer 2024"),
        ("123-456-7890", "1234567890", "123-456-7890"),
        ("DE12 3456 7890", "DE1234567890", "DE12 3456 7890"),
        ("2024-1 17", "2024-117", "2024-1 17"),
        ("123.4567", "1234.567", None),
    ],
)
def test_a_value_in_any_notation_but_never_with_other_digits(words, value, text):
    found = ground(Document.from_text(words), {"value": value})
    assert found["value"].text == text
    assert found["value"].printed == (text is not None)


def test_what_is_not_printed_has_the_nearest_text():
    found = ground(
        page(RECEIPT), {"total": 26.49, "store": "Kedai Kopi Bulan", "date": "2024-01-31"}
    )
    assert len(found.not_printed) == 3
    assert found["total"].nearest == "26.40"
    assert found["store"].nearest == "Kedai Kopi Sinar"
    assert found["date"].nearest is None
    assert found["total"].span is None
    assert all(each.probability > 0.9 for each in found)


def test_a_small_number_far_from_its_row_is_not_its_place():
    text = RECEIPT + "\n\n\n\n\n\n\n\nTable 7"
    row = {"name": "Iced Lemon Tea", "quantity": 7, "unit_price": 8, "price": 16}
    assert not ground(page(text), {"items": [row]})["items", 0, "quantity"].printed


def test_two_values_share_words_only_if_there_are_no_others():
    once = ground(Document.from_text("Total 59.50"), {"total": 59.5, "due": 59.5})
    assert [each.words for each in once] == [(1,), (1,)]
    twice = ground(Document.from_text("Total 59.50 x 59.50"), {"total": 59.5, "due": 59.5})
    assert [each.words for each in twice] == [(1,), (3,)]


def test_a_text_that_goes_on_below_words_of_another_column():
    text = "Musterfirma GmbH und     Beispiel AG\nSoehne Berlin            Hamburg"
    found = ground(page(text), {"seller": "Musterfirma GmbH und Söhne Berlin"})
    assert found["seller"].text is None  # oe is not ö
    found = ground(page(text), {"seller": "Musterfirma GmbH und Soehne Berlin"})
    assert found["seller"].text == "Musterfirma GmbH und Soehne Berlin"
    assert len(found["seller"].words) == 5


def test_parts_of_a_name_stand_together():
    text = "Max Weber\nAnna Schmidt\nMax Schmidt"
    found = ground(page(text), {"person": {"first": "Max", "last": "Schmidt"}})
    assert [each.words for each in found] == [(4,), (5,)]


def test_rules_give_types_and_say_where():
    document = page("Total 5.00\n\n\nTotal 5.00")
    below = Rules([Field("total", label="total", type="money", where="line >= 2")], [])
    assert ground(document, {"total": "5"}).values[0].words == (1,)
    assert ground(document, {"total": "5"}, below).values[0].words == (3,)


def test_several_objects():
    found = ground(page(RECEIPT), [{"total": 26.4}, {"total": 24}, {}])
    assert [len(each) for each in found] == [1, 1, 0]
    assert found[1]["total"].text == "24.00"


class Model:
    """An object as those of Pydantic."""

    def model_dump(self):
        return {"total": 5}


def test_objects_of_pydantic():
    assert ground(Document.from_text("5.00"), Model())["total"].printed


@pytest.mark.parametrize("given", ["text", 5, None, [5], ["text"]])
def test_what_is_no_object_is_refused(given):
    with pytest.raises(InputError, match="expected an object"):
        ground(Document.from_text("5.00"), given)


def test_values_that_cannot_be_printed_are_refused():
    with pytest.raises(InputError, match=r"total is nan, expected a finite number"):
        ground(Document.from_text("5.00"), {"total": float("nan")})
    with pytest.raises(InputError, match=r"a\.b is .* expected a text"):
        ground(Document.from_text("5.00"), {"a": {"b": object()}})
    with pytest.raises(InputError, match="expected a Document"):
        ground("5.00", {"total": 5})
    with pytest.raises(InputError, match="expected Rules"):
        ground(Document.from_text("5.00"), {"total": 5}, rules={})
    deep = {}
    for _ in range(40):
        deep = {"a": deep or 1}
    with pytest.raises(InputError, match="nested more than"):
        ground(Document.from_text("5.00"), deep)


def test_unknown_paths_are_key_errors():
    with pytest.raises(KeyError):
        ground(Document.from_text("5.00"), {"total": 5})["sum"]


def test_empty_pages_and_objects():
    assert ground(Document("d", []), {}).values == ()
    assert not ground(Document("d", []), {"total": 5})["total"].printed
    assert not ground(Document("d", [], []), {"rows": [{"a": 1}, {"a": 1}]}).values[0].printed
    assert ground(Document.from_text("5"), {"paid": True, "note": "", "more": None}).values == ()


@pytest.mark.parametrize("seed", range(150))
def test_the_places_are_those_of_brute_force(seed):
    """On random pages with random objects: no choice of places of all values costs less."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = ["Total", "Tax", "Tea", "x", "5.00", "7.00", "2"]
    text = "\n".join(
        "  ".join(rng.choice(names) for _ in range(rng.randint(1, 3))) for _ in range(4)
    )
    values = [5, "7.00", 2, "Tea"]
    given = {name: rng.choice(values) for name in rng.sample(["total", "tax", "name"], 2)}
    given["items"] = [
        {name: rng.choice(values) for name in rng.sample(["quantity", "price"], rng.randint(1, 2))}
        for _ in range(rng.randint(0, 2))
    ]
    leaves = leaves_of(given)
    where = Page(page(text), None)
    seekers = where.seekers(leaves)
    options = [[None, *range(len(each.places))] for each in seekers]
    least = min(cost_of(seekers, chosen) for chosen in product(*options))
    found = place(seekers)
    assert found.cost == pytest.approx(least)
    assert found.optimal
    assert cost_of(seekers, found.chosen) == pytest.approx(least)
