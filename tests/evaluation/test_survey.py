"""What there is in a data set, and what rules say of its true labels."""

from __future__ import annotations

from lab.datasets import RULES
from lawful import Document, Field, Rules
from lawful.documents.records import Labelled
from lawful.evaluation.survey import GoldVerdicts, Survey, judge_gold, survey
from tests.fixtures import outputs
from tests.fixtures.labelled import MONEY, PAGES
from tests.helpers import needs_shared

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
    (name,) = (rule.id for rule in SUM.parsed)
    assert judge_gold(PAGES, SUM) == GoldVerdicts(
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


@needs_shared
def test_as_many_true_labellings_of_cord_hold_as_its_readme_counts():
    truth = judge_gold(outputs.read_gold("cord"), Rules.load(RULES["cord"]))
    assert (truth.documents, truth.lawful) == (1000, 697)
    for states in truth.states.values():
        assert sum(states.values()) == truth.documents
