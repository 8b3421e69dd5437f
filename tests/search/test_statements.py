"""What ``decode`` says of small documents, against an oracle; and the oracle itself, by hand."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, log
from types import SimpleNamespace

import pytest

from lawful import Document, Field, Rule, Rules, Scores, decode
from lawful.rules import RuleDefaults
from lawful.values import read
from tests.drawing import ENOUGH, EXACT, Asked, draw
from tests.fuzz import FalseStatementError, check_decoding, run
from tests.oracles.checks_by_hand import WORDS, possible_values
from tests.oracles.row_checks_by_hand import hand_made
from tests.oracles.statements import Oracle, Span, is_legal, plain, spans_of


def plain_masses(oracle):
    """The masses of an oracle, which has their logarithms."""
    return {seen: exp(mass) for seen, mass in oracle.masses.items()}


@pytest.mark.parametrize("seed", range(3))  # make fuzz draws twenty thousand
def test_nothing_false_is_said(seed):
    count = run(200, seed)
    assert count["cases"] == 200
    assert count["worth"] > 500


def test_the_table_of_possible_values_is_that_of_the_library():
    for size in (1, 2, 3):
        for words in product(WORDS, repeat=size):
            text = " ".join(words)
            for type_ in ("money", "number", "integer", "date", "text"):
                expected = possible_values(text, type_)
                assert tuple(map(plain, read(text, type_))) == expected, (text, type_)


# The oracle, by hand.


def problem(words, labels, probs, fields=(), rules=(), scheme="BIO", **defaults):
    scores = Scores.from_probs(probs, labels)
    defaults = RuleDefaults(**{"unchecked": 0.0, **defaults})
    rules = Rules(fields, rules, scheme=scheme, defaults=defaults)
    return Document("d", words.split()), scores, rules


def certain(words, labels, fields, rules=(), **defaults):
    """A problem in which every word has only one possible label."""
    given = labels.split()
    names = sorted({"O", *given, *(f"B-{field.label}" for field in fields)})
    probs = [[float(name == label) for name in names] for label in given]
    return problem(words, names, probs, fields, rules, **defaults)


def money(name, **keywords):
    return Field(name, name, "money", **keywords)


def only(oracle):
    """The verdict on a problem with one labelling, which can be read in one way."""
    assert len(oracle.pairs) == 1
    return oracle.pairs[0].verdict


def test_what_is_legal_and_what_a_span_is():
    types = ("a", "b")
    cases = {
        "BIO": ("B-a I-a B-a O B-b", [(0, 0, 2), (0, 2, 3), (1, 4, 5)], "I-a"),
        "IO": ("I-a I-a I-b O I-b", [(0, 0, 2), (1, 2, 3), (1, 4, 5)], None),
        "IOB1": ("I-a B-a I-a I-b O", [(0, 0, 1), (0, 1, 3), (1, 3, 4)], "B-a"),
        "IOBES": ("B-a I-a E-a S-a S-b", [(0, 0, 3), (0, 3, 4), (1, 4, 5)], "S-a B-a"),
        "BILOU": ("B-b L-b U-a O U-a", [(1, 0, 2), (0, 2, 3), (0, 4, 5)], "B-a L-b"),
    }
    for scheme, (labels, spans, illegal) in cases.items():
        assert is_legal(labels.split(), scheme)
        assert spans_of(labels.split(), scheme, types) == tuple(Span(*span) for span in spans)
        assert illegal is None or not is_legal(illegal.split(), scheme)


def test_without_rules_the_best_legal_labelling_is_the_best():
    # I-total is the most probable label of the first word, but may not begin.
    labels, probs = ["O", "B-total", "I-total"], [[0.3, 0.1, 0.6], [0.5, 0.0, 0.5]]
    oracle = Oracle(*problem("1 2", labels, probs, [money("total", presence="free")]))
    assert oracle.best == pytest.approx(log(0.3 * 0.5))  # O O; the others have 0.05 each
    # Nothing is seen of O O, 1 of B-total O, and "1 2" cannot be read, which costs 10 nats.
    masses = {((),): 0.15 + 0.05 * exp(-10), ((1,),): 0.05}
    assert plain_masses(oracle) == pytest.approx(masses)
    assert oracle.probability(0, (1,)) == pytest.approx(0.05 / sum(masses.values()))


def test_a_weight_buys_probability():
    labels, probs = ["O", "B-total"], [[0.4, 0.6], [0.9, 0.1]]
    fields = [money("total", presence="free", repeat="first")]
    for weight, best in {
        0.0: log(0.54),  # 2 as the total, and total == 1 violated
        0.3: log(0.54) - 0.3,
        3.0: log(0.36),  # no total: not checked
        inf: log(0.36),
    }.items():
        rules = [Rule("total == 1", weight=weight)]
        assert Oracle(*problem("2 1", labels, probs, fields, rules)).best == pytest.approx(best)
    rules = [Rule("total == 1", weight=inf, unchecked=3)]
    oracle = Oracle(*problem("2 1", labels, probs, fields, rules))
    # Not checked at 3 nats, O B-total at none: 0.4 * 0.1.
    assert oracle.best == pytest.approx(max(log(0.36) - 3, log(0.04))) == pytest.approx(log(0.04))


def test_what_the_best_legal_labelling_has_is_kept():
    fields, rules = [money("total")], [Rule("total == 1", weight=inf)]
    oracle = Oracle(*problem("2", ["O", "B-total"], [[0.4, 0.6]], fields, rules))
    assert oracle.kept == {"total"}
    assert oracle.best == -inf
    assert oracle.demands() == {"total == 1", "total:kept"}
    assert not oracle.can_hold({"total == 1", "total:kept"})
    assert oracle.can_hold({"total == 1"})
    assert oracle.can_hold({"total:kept"})
    unreadable = Oracle(*problem("net", ["O", "B-total"], [[0.4, 0.6]], fields, rules))
    assert unreadable.kept == set()
    assert unreadable.best == pytest.approx(log(0.4))


def test_spans_are_charged_one_by_one():
    fields = [money("total", repeat="first", max_words=1, pattern="[0-9]+")]
    case = certain("net 1 2 0.5", "B-total B-total I-total B-total", fields=fields, weight=3)
    verdict = only(Oracle(*case))
    # "net": unreadable, no match. "1 2": unreadable, too long, no match. "0.5": no match.
    assert verdict.cost == 6 * 3
    assert verdict.violated == {"total:reads", "total:max_words", "total:pattern"}
    assert verdict.seen == ((Fraction(1, 2),),)


def test_repeats_may_agree_in_another_reading_at_its_price():
    # 2.000 is 2000, and as 2.000 it is the other one.
    case = certain("2 2.000", "B-total B-total", fields=[money("total", ambiguity=0.5)], weight=3)
    oracle = Oracle(*case)
    assert sorted(pair.verdict.cost for pair in oracle.pairs) == [0.5, 3]
    assert oracle.best == -0.5
    assert oracle.worths == {((Fraction(2),),): -0.5}
    assert plain_masses(oracle) == pytest.approx({((Fraction(2),),): exp(-0.5) + exp(-3)})


def test_a_list_with_a_text_that_cannot_be_read_is_missing():
    rules = ["sum(parts) == 3", "count(parts) == 2", "present(parts)"]
    fields = [money("parts", many=True)]
    verdict = only(Oracle(*certain("1 net 2", "B-parts B-parts B-parts", fields, rules, weight=1)))
    assert verdict.satisfied == {"present(parts)"}
    assert verdict.violated == {"parts:reads", "count(parts) == 2"}  # three of them
    assert verdict.cost == 2
    assert verdict.seen == ((1, 2),)


@pytest.mark.parametrize(
    ("words", "labels", "when", "price"),
    [
        ("1", "O", None, 2),  # no total
        ("1", "O", "tax > 0", 2),  # the default of the tax is above 0: it applies
        ("0", "B-tax", "tax > 0", 0),  # it does not
        ("net", "B-tax", "tax > 0", 2),  # nobody knows
        ("net", "B-total", None, 2),
        ("1", "B-total", "tax > 0", 0),  # checked
    ],
)
def test_a_rule_that_cannot_be_checked_has_a_price_unless_it_does_not_apply(
    words, labels, when, price
):
    fields = [money("total"), money("tax", default=2)]
    rule = Rule("total == 1", when=when, unchecked=2)
    assert only(Oracle(*certain(words, labels, fields, [rule], weight=0))).cost == price


def test_a_function_that_declines_has_no_price():
    def one_or_above_two(total):
        return None if total == 1 else total > 2

    rule = Rule(one_or_above_two, reads=("total",), weight=3, unchecked=2)
    for words, labels, cost in [
        ("1", "B-total", 0),
        ("4", "B-total", 0),
        ("2", "B-total", 3),
        ("1", "O", 2),
    ]:
        assert only(Oracle(*certain(words, labels, [money("total")], [rule]))).cost == cost


def test_any_value_will_do():
    fields = [money("total", repeat="any"), money("tax", repeat="any")]
    rules = ["total + tax == 3", "total * tax == 2", "total > 1"]
    labels = "B-total B-total B-tax B-tax"
    verdict = only(Oracle(*certain("6 1 0 2", labels, fields, rules, weight=1)))
    assert verdict.satisfied == {*rules}  # by 1 and 2, by 1 and 2, by 6
    assert verdict.seen == ((6,), (0,))
    verdict = only(Oracle(*certain("6 1 0 3", labels, fields, rules, weight=1)))
    assert verdict.satisfied == {"total > 1"}
    assert verdict.violated == {"total + tax == 3", "total * tax == 2"}


@pytest.mark.parametrize("number", range(40))
def test_labellings_may_be_judged_together_where_spans_are_the_same(number):
    document, scores, rules, _ = draw(number)
    oracle = Oracle(document, scores, rules)
    worths, masses = {}, Counter()
    every = product(oracle.choices, product(scores.labels, repeat=len(document)))
    for (kind, _), labels in every:
        oracle.choose(kind)
        if not oracle.is_legal(labels) or oracle.log_prob(labels) == -inf:
            continue
        spans = oracle.spans_of(labels)
        for values in product(*(oracle.look(span)[0] or (None,) for span in spans)):
            verdict = oracle.judge(spans, values)
            if verdict.cost < inf:
                worth, seen = oracle.log_prob(labels) - verdict.cost, verdict.seen
                worths[seen] = max(worths.get(seen, -inf), worth)
                masses[seen] += exp(worth)
    assert oracle.worths == pytest.approx(worths)
    assert plain_masses(oracle) == pytest.approx(masses)


@pytest.mark.parametrize(
    ("check", "values", "tolerance", "expected"),
    [
        ("total == 1", {"total": Fraction("1.004")}, "0.005", True),
        ("total == 1", {"total": Fraction("1.006")}, "0.005", False),
        ("total > 1", {"total": Fraction("1.004")}, "0.005", False),
        ("total <= 1", {"total": Fraction("1.004")}, "0.005", True),
        ("total / 3 == tax", {"total": 1, "tax": Fraction(1, 3)}, "0", True),
        ("total / tax == 2", {"total": 1, "tax": 0}, "0", None),
        ("round(total / 2) == tax", {"total": -1, "tax": -1}, "0", True),
        ("round(total / 2) == tax", {"total": 5, "tax": 3}, "0", True),
        ("round(count(parts) / 2) == 1", {"count_parts": 3}, "1", False),
        ("1 == 1.001", {}, "1", False),
        ("due - day <= 1", {"due": date(2024, 4, 5), "day": date(2024, 4, 3)}, "1", False),
        ("max(due - day, 1) == 1", {"due": date(2024, 3, 1), "day": date(2024, 4, 3)}, "0", True),
        ("(due - day if present(due) else 0) == 0", {"count_due": 0}, "0", True),
        ("(due - day if present(due) else 0) == 0", {"count_due": 1}, "0", None),
        ("total > 1 and count(parts) >= 1", {"count_parts": 0}, "0", False),
        ("total > 1 and count(parts) >= 1", {"count_parts": 1}, "0", None),
        ("sum(parts) == 2 or total == 1", {"total": 1}, "0", True),
        ("sum(parts) == 2 or total == 1", {"total": 2}, "0", None),
        ("not (total == 1 and tax == 1)", {"tax": 2}, "0", True),
        ("2 < 1 < total", {}, "0", False),
        ("(total if tax > 1 else tax) == 1", {"tax": 1}, "0", True),
        ("(total if tax > 1 else tax) == 1", {"tax": 2}, "0", None),
        ("shop != 'A' or total == 1", {"shop": "A", "total": 1}, "0", True),
    ],
)
def test_checks_by_hand(check, values, tolerance, expected):
    function, reads = hand_made(check)
    values = {"t": Fraction(tolerance), **values}
    assert function(*(values.get(name) for name in reads)) is expected


# Decodings, by hand.

AMBIGUOUS = (
    1035,
    1991,
    2953,
    5173,
    8593,
    16227,
    27819,
    47252,
    82679,
    125466,
    233571,
    393811,
    639345,
)


@pytest.mark.parametrize("decoder", EXACT)
def test_thirteen_texts_are_each_read_as_the_sum_needs_it(decoder):
    sums = Counter(sum(chosen) for k in range(14) for chosen in combinations(AMBIGUOUS, k))
    assert len(sums) == 2**13  # so that no other choice has the same sum
    expected = [
        Decimal(number) if at % 3 else Decimal(number) / 1000
        for at, number in enumerate(AMBIGUOUS)
    ]  # fmt: skip
    words = " ".join(f"{number // 1000}.{number % 1000:03}" for number in AMBIGUOUS)
    fields = [money("items", many=True, ambiguity=0.5)]
    rule = Rule(f"sum(items) == {sum(expected)}", weight=inf, tolerance=0)
    found = decode(
        *certain(words, " ".join(["B-items"] * 13), fields, [rule]), decoder=decoder, budget=ENOUGH
    )
    assert found.values("items") == tuple(expected)
    assert found.worth == pytest.approx(-0.5 * 5)  # items 0, 3, 6, 9 and 12
    assert found.status == "satisfied"
    assert found.optimal


@pytest.mark.parametrize("decoder", EXACT)
@pytest.mark.parametrize(
    ("goal", "weight", "status", "worth"),
    [
        (555, inf, "satisfied", 0),
        (556, 3, "relaxed", -3),
        (556, inf, "infeasible", -inf),
    ],
)
def test_any_of_125_combinations_will_do(decoder, goal, weight, status, worth):
    fields = [money(name, repeat="any") for name in "abc"]
    words = " ".join("12345" * 3)
    labels = " ".join(f"B-{name}" for name in "abc" for _ in range(5))
    rule = Rule(f"100 * a + 10 * b + c == {goal}", weight=weight)  # 555 takes the last of each
    case = certain(words, labels, fields, [rule])
    found = decode(*case, decoder=decoder, budget=ENOUGH)
    assert found.status == status
    assert found.worth == worth


# The fuzzer, by mistakes.


class Altered:
    """A decoding that says something else."""

    def __init__(self, found, changes):
        self._found = found
        self.__dict__.update(changes)

    def __getattr__(self, name):
        return getattr(self._found, name)


def say(case, found):
    check_decoding(Oracle(*case), found, Asked("exact", ENOUGH, 2), Counter())


def between(low, high):
    return SimpleNamespace(low=low, high=high)


@pytest.fixture(scope="module")
def solved():
    """A document that is decoded, with two alternatives of three."""
    labels, probs = ["O", "B-total", "B-tax"], [[0.1, 0.9, 0.0], [0.4, 0.5, 0.1]]
    fields, rules = [money("total", repeat="first"), money("tax")], [Rule("total > 1", weight=1)]
    case = problem("2 1", labels, probs, fields, rules)
    return case, decode(*case, decoder="exact", budget=ENOUGH, alternatives=2)


@pytest.fixture(scope="module")
def refused():
    """A document with nothing but a total of 2, which is to be 1."""
    rules = [Rule("total == 1", weight=inf), Rule("total > 1", weight=inf)]
    case = problem("2", ["O", "B-total"], [[0.4, 0.6]], [money("total")], rules)
    return case, decode(*case, decoder="exact", budget=ENOUGH, alternatives=2)


def test_what_is_true_passes(solved, refused):
    say(*solved)
    say(*refused)
    assert solved[1].status == "satisfied"
    assert refused[1].status == "infeasible"
    assert set(refused[1].clash) == {"total == 1", "total:kept"}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("status", lambda found: {"status": "relaxed"}),
        ("status", lambda found: {"status": "unchecked"}),
        ("status", lambda found: {"status": "exhausted"}),
        ("status", lambda found: {"optimal": False}),
        ("infeasible", lambda found: {"status": "infeasible", "optimal": False}),
        ("proof", lambda found: {"status": "exhausted", "optimal": False}),
        ("labels", lambda found: {"labels": ("B-total",)}),
        ("fields", lambda found: {"labels": ("O", "B-total")}),
        ("fields", lambda found: {"fields": {}}),
        ("log_prob", lambda found: {"log_prob": found.log_prob + 0.1}),
        ("penalty", lambda found: {"penalty": 0.1}),
        ("worth", lambda found: {"worth": found.worth + 0.1}),
        ("bound", lambda found: {"bound": found.bound - 0.1}),
        ("optimal", lambda found: {"bound": found.bound + 0.1}),
        ("checks", lambda found: {"checks": ()}),
        ("clash", lambda found: {"clash": ("total > 1",)}),
        ("alternatives", lambda found: {"alternatives": found.alternatives[:1]}),
        ("alternatives", lambda found: {"alternatives": found.alternatives[:1] * 2}),
        ("bound", lambda found: {"alternatives": found.alternatives[::-1]}),
        ("margin", lambda found: {"margin": found.margin + 0.1}),
        ("margin", lambda found: {"margin": found.margin - 0.1}),
        ("margin", lambda found: {"margin": inf}),
        ("margin", lambda found: {"margin": None}),
        ("confidence", lambda found: {"confidence": {}}),
        ("confidence", lambda found: {"confidence": {"total": between(0, 0.5)}}),
        ("confidence", lambda found: {"confidence": {"total": between(0, 1)}}),
        ("confidence", lambda found: {"confidence": {"cash": between(0, 1)}}),
    ],
)
def test_what_is_false_is_noticed(solved, kind, change):
    case, found = solved
    with pytest.raises(FalseStatementError, match=f"^{kind}:"):
        say(case, Altered(found, change(found)))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("clash", {"clash": ()}),
        ("clash", {"clash": ("legal",)}),
        ("clash", {"clash": ("total == 1",)}),
        ("clash", {"clash": ("total == 1", "every span")}),
        ("clash", {"clash": ("total == 1", "total:kept", "total == 1")}),
        (
            "clash_minimal",
            {"clash": ("total == 1", "total:kept", "total > 1"), "clash_minimal": True},
        ),
        ("optimal", {"optimal": True}),
        ("proof", {"status": "exhausted", "clash": ()}),
        ("optimal", {"optimal": True, "status": "satisfied", "clash": ()}),
    ],
)
def test_what_is_false_of_a_clash_is_noticed(refused, kind, changes):
    case, found = refused
    with pytest.raises(FalseStatementError, match=f"^{kind}:"):
        say(case, Altered(found, changes))
