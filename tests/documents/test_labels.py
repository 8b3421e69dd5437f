"""Label names and schemes: what is refused, and what is said about it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lawful
from lawful import Scheme, SchemeError


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "zero labels"),
        ("O", "labels is 'O', expected a list of names"),
        ({"O", "B-a"}, "expected a list of names, in column order"),
        ({"O": 0}, "expected a list of names, in column order"),
        (None, "labels is None"),
        (["O", " B-a"], "label 1 is ' B-a'"),
        (["O", "B\u2013a"], "malformed label .*: expected 'B-a'"),
        (["O", "\uff22-a"], "malformed label .*: expected 'B-a'"),
        (["O", "B a"], "malformed label 'B a': expected 'B-a'"),
        (["O", "B:"], "malformed label 'B:': expected 'B-name'"),
        (["O_x"], "malformed label 'O_x': expected 'O'"),
        (["O", ""], "label 1 is '', expected a name"),
        (["O", "  "], "label 1 is '  '"),
        (["O", 3], "label 1 is 3"),
        (["O", "B-a", "O"], "label 2 is 'O', the same as label 0"),
        (["O", "B-"], "malformed label 'B-': expected 'B-name'"),
        (["O-total"], "malformed label 'O-total': expected 'O'"),
        (["O", "B_total"], "malformed label 'B_total': expected 'B-total'"),
        (["O", "S-total"], "label 'S-total' has prefix 'S', which BIO does not know; .*: O, B, I"),
        (["O", "E-mail"], "prefix 'E'"),
    ],
)
def test_malformed_labels_are_named(labels, message):
    with pytest.raises(SchemeError, match=message):
        Scheme.named("BIO", labels)


@pytest.mark.parametrize("name", ["BOI", "", None, 3])
def test_an_unknown_scheme_lists_the_known_ones(name):
    with pytest.raises(
        SchemeError, match=r"unknown scheme .*; schemes: BIO, IOB2, IOB1, IO, IOBES"
    ):
        Scheme.named(name, ["O"])


def test_names_of_schemes_have_no_case_and_some_have_two():
    labels = ["O", "B-a", "I-a", "B-b", "I-b"]
    for path in np.ndindex(5, 5, 5):
        assert Scheme.named("bio", labels).allows(path) == Scheme.named("IOB2", labels).allows(path)


@pytest.mark.parametrize(
    ("name", "legal", "illegal"),
    [
        ("BIO", ["O B-a I-a O", "B-a B-a", "B-a B-b", "B-a I-a I-a"],
                ["I-a", "O I-a", "B-a I-b", "B-a O I-a"]),
        ("IOB1", ["I-a I-a", "I-a B-a", "I-a I-b", "O I-a"], ["B-a", "O B-a", "I-a B-b"]),
        ("IO", ["I-a I-b O", "O I-a"], []),
        ("IOBES", ["S-a", "B-a E-a", "B-a I-a E-a O", "S-a S-a"],
                  ["B-a", "B-a O", "I-a E-a", "B-a E-b", "E-a", "B-a S-a"]),
        ("BILOU", ["U-a", "B-a L-a", "B-a I-a L-a O"], ["B-a", "B-a B-a", "L-a", "B-a L-b"]),
    ],
)  # fmt: skip
def test_sequences_a_person_would_check(name, legal, illegal):
    labels = sorted({label for text in legal + illegal for label in text.split()})
    scheme = Scheme.named(name, labels)
    for text in legal:
        assert scheme.allows([labels.index(label) for label in text.split()]), text
    for text in illegal:
        assert not scheme.allows([labels.index(label) for label in text.split()]), text


@pytest.mark.parametrize("path", [[1, -1], [0, 3], [1.0, 2.0], [[0, 1]], ["O"], [True]])
def test_what_is_no_sequence_of_labels_is_refused(path):
    with pytest.raises(SchemeError, match="label indices"):
        Scheme.named("BIO", ["O", "B-a", "I-a"]).allows(path)


def test_a_scheme_survives_pickling_even_after_use():
    scheme = Scheme.named("BIO", ["O", "B-a", "I-a"])
    assert len(list(lawful.paths([[0.2, 0.3, 0.5]], scheme))) == 2
    again = pickle.loads(pickle.dumps(scheme))
    assert again.labels == scheme.labels
    assert len(list(lawful.paths([[0.2, 0.3, 0.5]], again))) == 2
    with pytest.raises(AttributeError):
        scheme.labels = ()


def test_a_scheme_must_fit_the_scores():
    scheme = Scheme.named("BIO", ["O", "B-a"])
    with pytest.raises(SchemeError, match="the scheme has 2 labels, the scores have 3 columns"):
        lawful.paths([[0.2, 0.3, 0.5]], scheme)
    with pytest.raises(SchemeError, match="scheme is 'BIO', expected a Scheme such as"):
        lawful.paths([[0.5, 0.5]], "BIO")


@pytest.mark.parametrize(
    ("between", "options", "message"),
    [
        ([[1, 0]], {}, r"between has shape \(1, 2\), expected labels x labels"),
        ([], {}, "expected labels x labels"),
        ([[1, 2], [0, 1]], {}, "between holds .* expected only true and false"),
        ([[1, 0], [1]], {}, "between is not a table: its rows differ in length"),
        ([[1]], {"start": [1, 0]}, r"start has shape \(2,\), expected \(1,\): one value per label"),
        ([[1]], {"end": [[1]]}, r"end has shape \(1, 1\)"),
        ([[1]], {"labels": ["O", "B-a"]}, "2 labels, but between is a table of 1"),
    ],
)
def test_bad_tables_are_named(between, options, message):
    with pytest.raises(SchemeError, match=message):
        Scheme.table(between, **options)


@pytest.mark.parametrize(
    ("between", "options", "message"),
    [
        (np.zeros((2, 3)), {}, r"between has shape \(2, 3\), expected \(2, 2\)"),
        ([[0, np.nan], [0, 0]], {}, r"between\[0, 1\] is nan"),
        ([[0, 0], [np.inf, 0]], {}, r"between\[1, 0\] is inf, expected .* -inf to forbid"),
        (np.zeros((2, 2)), {"start": [0, np.nan]}, r"start\[1\] is nan"),
        (np.zeros((2, 2)), {"end": [0]}, r"end has shape \(1,\), expected \(2,\)"),
        ([["a", "b"], ["c", "d"]], {}, "expected real numbers"),
    ],
)
def test_bad_transition_scores_are_named(between, options, message):
    with pytest.raises(SchemeError, match=message):
        Scheme.named("BIO", ["O", "B-a"]).with_scores(between=between, **options)


def test_a_scheme_has_no_labels_without_end():
    """Its tables have all pairs: 90,000 labels took 24 GB."""
    with pytest.raises(SchemeError, match="there are 90,001 labels, expected at most 4,096"):
        Scheme.named("BIO", ["O", *(f"B-{i}" for i in range(90_000))])


def test_scores_cannot_allow_what_the_scheme_forbids():
    scheme = Scheme.named("BIO", ["O", "I-a"]).with_scores(between=np.full((2, 2), 50.0))
    assert not scheme.allows([0, 1])
    assert scheme.allows([0, 0])


def spans_by_hand(names):
    """Spans as a person reads them off the names of labels."""
    found = []
    last = None
    for at, name in enumerate([*names, "O"]):
        prefix, _, type_ = name.partition("-")
        goes_on = last == type_ and prefix in ("I", "E", "L")
        if found and found[-1][2] is None and not goes_on:
            found[-1] = (*found[-1][:2], at)
        if prefix != "O" and not goes_on:
            found.append((type_, at, None))
        last = None if prefix in ("O", "E", "L", "S", "U") else type_
    return found


@pytest.mark.parametrize("name", ["BIO", "IOBES", "BILOU"])
def test_spans_of_any_sequence_are_those_that_a_person_reads(name):
    prefixes = {"BIO": "BI", "IOBES": "BIES", "BILOU": "BILU"}[name]
    labels = ["O", *(f"{prefix}-{type_}" for type_ in "ab" for prefix in prefixes)]
    scheme = Scheme.named(name, labels)
    random = np.random.default_rng(1)
    for length in list(range(5)) * 200:
        row = random.integers(len(labels), size=length)
        expected = spans_by_hand([labels[i] for i in row])
        assert scheme.spans(row) == expected
        of_b = [(0, start, end) for type_, start, end in expected if type_ == "b"]
        assert scheme.spans_of(("b",), row) == of_b


def test_spans_of_unknown_labels_are_refused():
    with pytest.raises(IndexError, match="word 1 has a label that does not exist: there are 2"):
        Scheme.named("IO", ["O", "a"]).spans(np.array([0, 2]))


def test_a_change_of_a_legal_sequence_is_looked_at_where_it_is():
    labels = ["O", "B-a", "I-a", "B-b", "I-b"]
    scheme = Scheme.named("BIO", labels)
    random = np.random.default_rng(2)
    legal = [row for row in random.integers(5, size=(4000, 4)) if scheme.allows(row)]
    for row in legal:
        words = random.choice(4, size=random.integers(1, 4), replace=False)
        other = row.copy()
        other[words] = random.integers(5, size=len(words))
        assert scheme.allows_around(other, words.tolist()) == scheme.allows(other)
