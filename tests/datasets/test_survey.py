"""What there is in a data set, and what rules say of its true labels."""

from __future__ import annotations

from lawful import Document, Field, Rules
from lawful.datasets.survey import Survey, Truth, judge_gold, survey
from lawful.document import Labelled

MONEY = {"total": "money", "tax": "money", "net": "money"}


def page(name, *labelled_words, split=None, pages=None):
    words, gold = zip(*labelled_words, strict=True)
    return Labelled(Document(name, words, pages=pages), gold, split)


PAGES = [
    page("a", ("7", "B-total"), ("5", "B-net"), ("2", "B-tax"), split="train"),
    page("b", ("7", "B-total"), ("5", "B-net"), ("1", "B-tax"), split="train"),
    page("c", ("7", "B-total"), ("8", "B-total"), ("x", "O"), split="test", pages=(0, 1, 1)),
    page("d", ("7", "B-total"), ("5", "B-net"), ("two", "B-tax"), ("bits", "I-tax")),
    page("e", ("7", "I-total"), ("8", "O")),
]
SUM = Rules([Field(name, name, type_) for name, type_ in MONEY.items()], ["total == net + tax"])


def test_size_and_labels():
    assert survey(PAGES) == Survey(
        documents=5,
        pages=6,
        words=15,
        longest=4,
        pieces=None,
        most_pieces=4,
        labels=6,
        types=3,
        splits={"train": 2, "test": 1},
    )
    assert survey([]) == Survey(0, 0, 0, 0, None, 0, 1, 0, {})


def test_words_and_pieces():
    """Of "56" ".000" "x" the second joins the first."""
    cut = Document("a", ("56", ".000", "x"), joins=(False, True, False))
    found = survey([Labelled(cut, ("B-total", "I-total", "O"))])
    assert (found.words, found.longest, found.pieces, found.most_pieces) == (2, 2, 3, 3)


def test_what_rules_say_of_gold():
    (name,) = (rule.id for rule in SUM.compiled)
    assert judge_gold(PAGES, SUM) == Truth(
        documents=5,
        lawful=4,  # all but b
        unchecked=3,  # a has all three amounts
        readable=3,  # d has a tax that is no amount
        clean=1,  # c has two totals, e begins with an I-
        states={name: {"satisfied": 1, "violated": 1, "vacuous": 3}},
        implied={"legal": 1, "tax:reads": 1, "total:agrees": 1},
        absent=(),
    )


def test_a_field_that_no_document_has_leaves_its_rule_unchecked():
    rules = Rules([*SUM.fields, Field("tip", "tip", "money")], ["tip < total"])
    truth = judge_gold(PAGES, rules)
    assert truth.absent == ("tip",)
    assert next(iter(truth.states.values()))["vacuous"] == 5
