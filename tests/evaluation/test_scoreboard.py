"""Scoring decodings: small pages with answers someone could check by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lab import datasets
from lawful import Budget, Document, Field, Rules, Scored, Scores, decode
from lawful.documents.labels import Scheme
from lawful.evaluation.scoreboard import Changes, Counts, Scoreboard, best_legal, gold_obeys, obeys
from tests.fixtures import outputs
from tests.helpers import needs_shared

LABELS = ("O", "B-total", "I-total", "B-item")
RULES = Rules(
    [Field("total", "total", "money"), Field("items", "item", "money", many=True)],
    ["total == sum(items)"],
)


def page(words, gold, labels=LABELS):
    scores = Scores.from_probs(np.full((len(words), len(labels)), 1 / len(labels)), labels)
    return Scored(Document("d", words), scores, gold)


def decoded(labels, status="satisfied"):
    return SimpleNamespace(labels=labels, status=status)


def numbers(counts):
    return counts.right, counts.found, counts.true


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    counts = Counts()
    counts.add({1, 2, 3}, {2, 3, 4, 5})
    assert numbers(counts) == (2, 3, 4)
    assert (counts.precision, counts.recall) == (2 / 3, 2 / 4)
    assert counts.f1 == pytest.approx(2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4))
    empty = Counts()
    assert (empty.precision, empty.recall, empty.f1) == (1, 1, 1)


@pytest.mark.parametrize("counts", [Counts(0, 3, 0), Counts(0, 0, 3), Counts(0, 2, 2)], ids=str)
def test_nothing_right_is_nothing_whatever_is_divided_by_zero(counts):
    assert (counts.precision, counts.recall, counts.f1) == (0, 0, 0)


def test_entities_values_rules_and_pages():
    gold = ("B-total", "I-total", "B-item", "B-item")
    words = ("Rp", "7", "3", "4")
    board = Scoreboard(RULES)
    board.add(page(words, gold), decoded(gold))
    # The currency is lost: the entity is wrong, the value is right.
    board.add(page(words, gold), decoded(("O", "B-total", "B-item", "B-item"), "relaxed"))
    # The wrong amount: both are wrong, and the rule is violated.
    board.add(page(words, gold), decoded(("O", "O", "B-total", "B-item")))
    # No total: nothing to check.
    board.add(page(words, gold), decoded(("O", "O", "B-item", "B-item")))
    assert (board.pages, board.satisfied, board.gold_satisfied) == (4, 3, 4)
    assert board.unchecked_pages == 1  # the last one, which the paper counts as satisfied
    assert board.statuses == {"satisfied": 3, "relaxed": 1}
    assert (board.checked, board.passed, board.unchecked) == (3, 2, 1)
    assert board.right_pages == [True, True, False, False]
    assert numbers(board.values) == numbers(board.by_field["total"]) == (2, 3, 4)
    assert numbers(board.entities) == (3 + 2 + 1 + 2, 10, 12)
    assert numbers(board.by_label["total"]) == (1, 3, 4)
    assert numbers(board.by_label["item"]) == (2 + 2 + 1 + 2, 7, 8)
    assert board.satisfaction == 3 / 4
    assert board.f1_s == pytest.approx(2 * 8 / (10 + 12) * 3 / 4)

    baseline = Scoreboard(RULES)
    for labels in (gold, ("O",) * 4, gold, ("O",) * 4):
        baseline.add(page(words, gold), decoded(labels))
    assert board.against(baseline) == (1, 1)
    assert board.changed_pages(baseline) == Changes(fixed=1, broken=1, unchanged=2)
    record = board.record()
    assert record["values"]["recall"] == 0.5
    assert record["rules"] == {"checked": 3, "passed": 2, "unchecked": 1}
    assert (record["satisfied"], record["pages_unchecked"]) == (3, 1)


def test_values_are_fixed_and_broken_one_by_one():
    labels = ("O", "B-a", "B-b")
    rules = Rules([Field(name, name, "money") for name in "ab"], ["a == b"])
    gold = ("B-a", "B-b", "O")
    boards = [Scoreboard(rules) for _ in range(2)]
    for found, board in zip((("O", "B-b", "O"), ("B-a", "O", "B-b")), boards, strict=True):
        board.add_labels(page(("1", "1", "2"), gold, labels), found)
    before, now = boards
    assert now.changed_values(before) == Changes(fixed=1, broken=1, unchanged=0)
    assert now.changed_pages(before) == Changes(fixed=0, broken=0, unchanged=1)
    assert now.changed_values(now) == Changes(0, 0, 2)


def test_a_value_is_what_the_judge_shows_to_rules():
    # Of a field that occurs again, evaluation took the first text, readable or not; the judge
    # takes the first that can be read.
    words = ("Total", "7", "7")
    gold = ("O", "B-total", "B-item")
    board = Scoreboard(RULES)
    board.add_labels(page(words, gold), ("B-total", "B-total", "B-item"))
    assert numbers(board.values) == (1, 1, 1)
    assert (board.passed, board.checked) == (1, 1)
    # What nobody can read is no value: to the judge, the field is missing.
    board.add_labels(page(words, gold), ("B-total", "O", "B-item"))
    assert numbers(board.values) == (1, 1, 2)
    assert (board.checked, board.unchecked) == (1, 1)
    assert board.right_pages == [True, False]


def test_values_are_compared_by_value():
    board = Scoreboard(RULES)
    gold = ("B-total", "O", "B-item")
    board.add_labels(page(("7", "7.00", "7"), gold), ("O", "B-total", "B-item"))
    assert numbers(board.values) == (1, 1, 1)
    assert numbers(board.entities) == (1, 2, 2)


def test_all_fields_are_compared_if_rules_read_none_of_one_value():
    labels = ("O", "B-author", "I-author", "B-year")
    fields = [Field("author", "author", many=True), Field("year", "year")]
    words = ("Ann", "Bo", "Ann", "1999")
    board = Scoreboard(Rules(fields, ["count(author) <= 3"]))
    gold = ("B-author", "B-author", "B-author", "B-year")
    board.add_labels(page(words, gold, labels), gold)
    assert numbers(board.values) == (4, 4, 4)  # equal texts of a list count one by one
    assert board.right_pages == [True]
    board.add_labels(page(words, gold, labels), ("B-author", "I-author", "B-author", "O"))
    assert numbers(board.by_field["author"]) == (3 + 1, 3 + 2, 3 + 3)
    assert numbers(board.by_field["year"]) == (1, 1, 2)
    assert board.right_pages == [True, False]
    single = Scoreboard(Rules(fields, ["count(author) <= 3", "count(year) <= 1"]))
    single.add_labels(page(words, gold, labels), gold)
    assert list(single.by_field) == ["year"]


@pytest.mark.parametrize(
    ("words", "labels", "expected"),
    [
        (("7", "7"), ("B-total", "B-item"), True),
        (("7", "8"), ("B-total", "B-item"), False),  # a rule is violated
        (("7", "8"), ("O", "B-item"), True),  # not checked: the paper lets it pass
        (("O", "7", "7"), ("I-total", "O", "O"), False),  # not legal
        (("Total", "7", "7"), ("B-total", "B-total", "B-item"), False),  # a text that is no amount
        (("7", "9", "7"), ("B-total", "B-total", "B-item"), True),  # repeats need not agree
        ((), (), True),
    ],
)
def test_a_page_obeys_as_the_paper_counts(words, labels, expected):
    scored = page(words, labels)
    assert obeys(scored, labels, RULES) is gold_obeys(scored, RULES) is expected
    paper = RULES.with_defaults(presence="free", repeat="first", weight=float("inf"))
    assert obeys(scored, labels, paper) is expected


@pytest.mark.parametrize(
    ("words", "labels", "unchecked"),
    [
        (("7", "7"), ("B-total", "B-item"), 0),  # the rule holds
        (("7", "8"), ("B-total", "B-item"), 0),  # it is violated
        (("7", "8"), ("O", "B-item"), 1),
        (("7", "8"), ("O", "O"), 1),
        ((), (), 1),
        (("7",), ("I-total",), 0),  # not legal
        (("Total",), ("B-total",), 0),  # a text that is no amount
        (("7", "9"), ("B-total", "B-total"), 0),  # repeats that do not agree
    ],
)
def test_a_page_is_unchecked_as_a_decoding_would_be(words, labels, unchecked):
    board = Scoreboard(RULES)
    board.add_labels(page(words, labels), labels)
    assert board.unchecked_pages == unchecked
    assert not unchecked or board.satisfied == 1  # as the paper counts


def test_pages_without_words_and_boards_without_pages():
    board = Scoreboard(RULES)
    assert (board.satisfaction, board.f1_s) == (1, 1)
    board.add_labels(page((), ()), ())
    assert (board.pages, board.right_pages, board.f1_s) == (1, [True], 1)


def test_gold_is_needed():
    scored = Scored(Document("d", ["5"]), Scores.from_probs([[0.25] * 4], LABELS))
    with pytest.raises(lawful.InputError, match="document 'd' has no gold labels"):
        Scoreboard(RULES).add(scored, decoded(("O",)))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("O",), "document 'd' has 2 words, but 1 decoded label"),
        (("O", "B-tax"), "document 'd' has decoded label 'B-tax', which is not among the labels"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    board = Scoreboard(RULES)
    with pytest.raises(lawful.InputError, match=message):
        board.add_labels(page(("1", "2"), ("O", "O")), labels)
    assert board.pages == 0


def test_the_baseline_is_the_best_legal_labelling():
    scores = Scores.from_probs([[0.1, 0.2, 0.7, 0.0], [0.3, 0.0, 0.7, 0.0]], LABELS)
    scored = Scored(Document("d", ["5", "6"]), scores)
    assert best_legal(scored, RULES) == ("B-total", "I-total")


TYPES = ("O", "B-a", "I-a", "B-b", "I-b")
SCHEME = Scheme.named("BIO", TYPES)
NO_RULES = Rules([Field("a", "a"), Field("b", "b")])


@st.composite
def legal_pairs(draw):
    """Two legal labellings of the same words."""
    words = draw(st.integers(1, 8))
    pair = []
    for _ in range(2):
        labels: list[str] = []
        for _ in range(words):
            fits = [t for t in TYPES if SCHEME.allows(SCHEME.indices([*labels, t]))]
            labels.append(draw(st.sampled_from(fits)))
        pair.append(tuple(labels))
    return pair


def board_of(pairs):
    board = Scoreboard(NO_RULES)
    for gold, found in pairs:
        board.add_labels(page(("w",) * len(gold), gold, TYPES), found)
    return board


@given(pairs=st.lists(legal_pairs(), min_size=1, max_size=4))
def test_parts_add_up_and_the_truth_scores_one(pairs):
    board = board_of(pairs)
    assert numbers(board.entities) == tuple(
        map(sum, zip((0, 0, 0), *map(numbers, board.by_label.values()), strict=True))
    )
    assert board.f1_s <= board.entities.f1 <= 1
    assert min(board.entities.precision, board.entities.recall) <= board.entities.f1
    assert board_of([(gold, gold) for gold, _ in pairs]).entities.f1 == 1
    swapped = board_of([(found, gold) for gold, found in pairs])
    assert swapped.entities.f1 == board.entities.f1
    assert swapped.entities.precision == board.entities.recall


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # seqeval averages over no types at all
@given(pairs=st.lists(legal_pairs(), min_size=1, max_size=4))
def test_entities_are_counted_as_seqeval_does(pairs):
    metrics = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    scheme = pytest.importorskip("seqeval.scheme").IOB2
    board = board_of(pairs)
    gold, found = ([list(pair[i]) for pair in pairs] for i in range(2))
    report = metrics.classification_report(
        gold, found, output_dict=True, mode="strict", scheme=scheme, zero_division=0
    )
    for name, counts in [*board.by_label.items(), ("micro avg", board.entities)]:
        if not counts.true and not counts.found:  # nothing at all is one here, zero there
            continue
        expected = report.get(name)
        if expected is None:  # seqeval lists only what is in the gold
            assert counts.true == 0
            continue
        ours = (counts.precision, counts.recall, counts.f1)
        theirs = (expected["precision"], expected["recall"], expected["f1-score"])
        assert ours == pytest.approx(theirs), name


@needs_shared
def test_rules_bring_right_values_on_real_outputs():
    rules = Rules.load(datasets.RULES["cord"])
    board, baseline = Scoreboard(rules), Scoreboard(rules)
    for scored in outputs.read_outputs("cord-l2", 60):
        words = scored.to_words()
        found = decode(words.document, words.scores, rules, budget=Budget(candidates=2000))
        board.add(words, found)
        baseline.add_labels(words, best_legal(words, rules))
    fixed, broken, _ = board.changed_values(baseline)
    assert fixed > 2 * broken
    assert board.values.f1 > baseline.values.f1
    assert board.f1_s > baseline.f1_s
