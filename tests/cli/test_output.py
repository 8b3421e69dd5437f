"""What is written and said of a decoding: as JSON, as CSV, as text, and in sums."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from math import inf
from typing import get_args

import numpy as np
import pytest

from lawful import Document, Field, Rules, Scores, decode
from lawful.cli.counts import Tally, counts_of
from lawful.cli.options import Format, WriteOptions
from lawful.cli.writers import writer_for
from lawful.documents.records import Scored
from lawful.io.jsonl import decoding_line, read_decodings
from lawful.pipeline.call import Call
from lawful.results.decoding import Confidence, Correction

LABELS = ("O", "B-total", "B-tax", "B-item")
RULES = Rules(
    [
        Field("total", "total", "money"),
        Field("tax", "tax", "money"),
        Field("items", "item", "money", many=True),
    ],
    ["total == sum(items)", "total > tax"],
)
WORDS = ("7.00", "3.00", "4.00", "9.00")


def scored(*labels, words=WORDS):
    probs = np.full((len(labels), len(LABELS)), 0.05)
    probs[range(len(labels)), [LABELS.index(label) for label in labels]] = 0.85
    return Scored(Document("r1", words[: len(labels)]), Scores.from_probs(probs, LABELS))


def solved(*labels, rules=RULES, **options):
    page = scored(*labels)
    return decode(page.document, page.scores, rules, **options)


ONE_CHECKED = ("B-total", "B-item", "B-item")
NONE_CHECKED = ("B-total", "O", "O")


def record(decoding, **options):
    return json.loads(decoding_line(decoding, **options))


def written(form, *decodings, ranked=False, **options):
    writer = writer_for(form, Call(RULES, alternatives=int(ranked)), WriteOptions(**options))
    out = io.StringIO()
    out.write(writer.head())
    page = scored(*ONE_CHECKED)
    counts = Counter()
    for d in decodings:
        text, more = writer.write(page, d)
        out.write(text)
        counts.update(more)
    out.write(writer.foot(counts))
    return out.getvalue()


def rows(*decodings, **options):
    return list(csv.DictReader(written("csv", *decodings, **options).splitlines()))


def test_a_line_says_how_many_rules_were_checked_and_what_their_arithmetic_is():
    line = record(solved(*ONE_CHECKED))
    assert (line["status"], line["checked"], line["rules"]) == ("satisfied", 1, 2)
    assert line["checks"] == [
        {"id": "total == sum(items)", "state": "satisfied", "message": "3.00 + 4.00 = 7.00"},
        {
            "id": "total > tax",
            "state": "vacuous",
            "message": "not checked: tax missing",
            "price": 0.5,
        },
    ]


def test_a_line_without_anything_to_check_is_unchecked():
    line = record(solved(*NONE_CHECKED))
    assert (line["status"], line["checked"], line["rules"]) == ("unchecked", 0, 2)
    nothing = record(solved(*NONE_CHECKED, rules=Rules(RULES.fields)))
    assert (nothing["status"], nothing["checked"], nothing["rules"]) == ("unchecked", 0, 0)


def test_what_fields_ask_for_is_violated_but_is_no_rule():
    # The report counted 101 rules where there were 100: two totals that disagree were one.
    page = scored("B-total", "B-item", "B-item", "B-total")
    light = RULES.with_defaults(weight=0.5)
    found = decode(page.document, page.scores, light)
    assert [check.id for check in found.violations] == ["total:agrees"]
    line = record(found)
    assert (line["checked"], line["rules"], len(line["checks"])) == (1, 2, 3)
    assert line["checks"][-1] == {
        "id": "total:agrees",
        "state": "violated",
        "message": "total is 7.00 and 9.00",
        "price": 0.5,
        "implied": True,
    }
    assert rows(found)[0]["checked"] == "1"
    assert "1 of 2 rules checked" in str(found)
    tally = Tally()
    tally.update(counts_of(found.status, found.checks))
    assert str(tally) == "1 relaxed; 1 of 2 rules checked, 1 holds"


@pytest.mark.parametrize(
    ("margin", "in_json", "in_csv"),
    [(1.25, 1.25, "1.250"), (None, None, ""), (inf, "Infinity", "Infinity")],
)
def test_a_margin_without_end_is_told_from_one_that_is_not_known(margin, in_json, in_csv):
    found = replace(solved(*ONE_CHECKED), margin=margin)
    line = record(found, ranked=True)
    assert line["margin"] == in_json
    assert margin is None or float(line["margin"]) == margin
    assert rows(found, ranked=True)[0]["margin"] == in_csv


def test_confidence_is_a_pair_or_one_number_where_nobody_sees_a_difference():
    sure = {"total": Confidence(0.81, 0.82), "items": Confidence(0.50001, 0.50002)}
    found = replace(solved(*ONE_CHECKED), confidence=sure)
    assert record(found)["confidence"] == {"total": [0.81, 0.82], "items": [0.50001, 0.50002]}
    assert rows(found, ranked=True)[0]["confidence"] == "total 0.810-0.820; items 0.500"
    assert f"  total  7.00  ({sure['total']})" in str(found).splitlines()


def test_alternatives_say_whether_they_are_proven():
    found = solved(*ONE_CHECKED, alternatives=2)
    line = record(found)
    assert [other["optimal"] for other in line["alternatives"]] == [True, True]
    assert set(line["alternatives"][0]) == {
        "optimal", "log_prob", "penalty", "fields", "violated",
    }  # fmt: skip
    hard = replace(found, alternatives=(replace(found.alternatives[0], penalty=inf),))
    assert record(hard)["alternatives"][0]["penalty"] == "hard"


def test_asking_for_alternatives_gives_their_keys_even_if_there_are_none():
    found = solved(*ONE_CHECKED)
    assert "margin" not in record(found)
    empty = {"margin": None, "confidence": {}, "alternatives": []}
    assert record(found, ranked=True).items() >= empty.items()
    line = json.loads(written("jsonl", found, ranked=True))
    assert line.items() >= empty.items()


@pytest.mark.parametrize(
    ("minimal", "words"),
    [
        (True, "  these cannot hold together: a; b"),
        (False, "  these, or some of these, cannot hold together: a; b"),
    ],
)
def test_a_clash_says_whether_all_of_it_is_needed(minimal, words):
    found = solved(*ONE_CHECKED)
    found = replace(found, status="infeasible", clash=("a", "b"), clash_minimal=minimal)
    line = record(found)
    assert (line["clash"], line["clash_minimal"]) == (["a", "b"], minimal)
    assert words in str(found).splitlines()
    assert words.strip().split(",")[0].split(":")[0].capitalize() in found._repr_html_()
    assert "clash_minimal" not in record(solved(*ONE_CHECKED))


def test_no_time_to_find_out_why():
    changes = tuple(
        Correction(word, "O", "B-item", 0.5, because)
        for word, because in enumerate((None, (), ("a", "b")))
    )
    found = replace(solved(*ONE_CHECKED), corrections=changes)
    assert [c["because"] for c in record(found)["corrections"]] == [None, [], ["a", "b"]]
    assert [line.split("nats")[1] for line in str(found).splitlines()[-3:]] == [
        ", no time to find out why)",
        ")",
        ", because of a, b)",
    ]
    assert ", no time to find out why <" in found._repr_html_()


def test_what_stopped_only_the_alternatives_does_not_put_the_answer_in_doubt():
    found = replace(solved(*ONE_CHECKED), stopped_by="candidates")
    assert "optimal, " in str(found)
    assert "the search for alternatives: out of candidates" in str(found)
    found = replace(found, optimal=False, status="exhausted")
    assert "not proven optimal" in str(found)
    assert ", out of candidates)" in str(found)


@pytest.mark.parametrize(
    ("labels", "rules", "words"),
    [
        (ONE_CHECKED, RULES, "satisfied (1 of 2 rules checked, optimal"),
        (NONE_CHECKED, RULES, "unchecked (0 of 2 rules checked, optimal"),
        (NONE_CHECKED, Rules(RULES.fields), "unchecked (no rules, optimal"),
    ],
)
def test_a_status_is_shown_with_what_was_checked(labels, rules, words):
    found = solved(*labels, rules=rules)
    assert words in str(found)
    for part in words.removesuffix(", optimal").split(" (", maxsplit=1):
        assert part in found._repr_html_()


def test_a_representation_fits_a_screen():
    found = solved(*ONE_CHECKED)
    assert repr(found).startswith(f"<Decoding {found.id!r}: satisfied, optimal, log_prob=-0.4876\n")
    values = next(iter(found.fields.values()))
    many = {f"field{i}": values * 40 for i in range(30)}
    failed = tuple(replace(found.checks[0], state="violated", message="x" * 500) for _ in range(30))
    long = repr(replace(found, fields=many, checks=failed, labels=("O",) * 5000))
    assert len(long.splitlines()) < 15
    assert max(map(len, long.splitlines())) <= 101
    assert "… and 22 more fields" in long
    assert "… and 27 more violated checks" in long


def test_csv_counts_the_rules():
    header = written("csv").strip()
    assert header == "id,status,checked,rules,optimal,total,tax,items,violated,unchecked,repaired"
    checked, unchecked = rows(solved(*ONE_CHECKED), solved(*NONE_CHECKED))
    assert [checked[c] for c in ("status", "checked", "rules")] == ["satisfied", "1", "2"]
    assert [unchecked[c] for c in ("status", "checked", "rules")] == ["unchecked", "0", "2"]
    assert unchecked["unchecked"] == "total == sum(items); total > tax"


def test_every_format_takes_alternatives():
    found = solved(*ONE_CHECKED, alternatives=1)
    for form in get_args(Format):
        assert written(form, found, ranked=True)
    assert "Next best values" in written("html", found, ranked=True)


def test_what_was_written_is_read_again(tmp_path):
    sure = {"total": Confidence(0.1, 0.2)}
    found = replace(solved(*NONE_CHECKED, alternatives=1), confidence=sure, margin=inf)
    (tmp_path / "d.jsonl").write_text(decoding_line(found) + "\n")
    (line,) = read_decodings(tmp_path / "d.jsonl")
    assert (line.id, line.status, tuple(line.labels)) == ("r1", "unchecked", found.labels)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-5.00", "-5.00"),
        ("7 = 3 + 4", "7 = 3 + 4"),
    ],
)
def test_csv_cells_are_no_formulas_unless_raw(text, cell):
    found = replace(solved(*ONE_CHECKED), id=text)
    (row,) = csv.DictReader(io.StringIO(written("csv", found), newline=""))
    assert row["id"] == cell
    (row,) = csv.DictReader(io.StringIO(written("csv", found, raw_csv=True), newline=""))
    assert row["id"] == text


def test_csv_quotes_what_would_break_a_row():
    for text in ("a\rb", "a\nb", "a\r\nb", 'a"b', "a,b"):
        out = written("csv", replace(solved(*ONE_CHECKED), id=text))
        (row,) = csv.DictReader(io.StringIO(out, newline=""))
        assert row["id"] == text
        assert out.count("\r\n") == text.count("\r\n")


def test_csv_has_the_alternatives():
    (row,) = rows(solved(*ONE_CHECKED, alternatives=2), ranked=True)
    assert row["alternatives"] == (
        "items without 3.00, tax missing -> 3.00; items without 4.00, tax missing -> 4.00"
    )
