"""The paper's experiments, on generated receipts."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from lab import receipts as demo
from lab.paper import commands as experiments
from lab.paper import measurements as cells
from lab.paper import semantics
from lab.paper.measure import measure
from lab.paper.measurements import Cell, Task
from lab.paper.methods import METHODS, methods_named
from lab.paper.pages import Pages, generated, load
from lab.paper.reported import REPORTED
from lab.paper.store import Store
from lab.paper.tables import markdown
from lawful import Document, Field, InputError, LawfulError, Rules, Scored, Scores, write_jsonl
from lawful.cli.terminal import Interrupted
from lawful.documents.records import Labelled
from lawful.evaluation.split import PARTS
from lawful.io.jsonl import write_labelled
from lawful.results.decoding import Budget
from lawful.rules.packs import rules_named
from tests.fixtures import outputs
from tests.helpers import needs_shared, run


@pytest.fixture(scope="module")
def some() -> Pages:
    pages = generated(14).under("paper").in_units("pieces")
    return pages.satisfied()


def measured(pages, method, candidates, mass=None, repeats=1):
    return Task(pages, pages.fingerprint, METHODS[method], candidates, mass, repeats).measure()


def test_a_cell_is_what_the_paper_counts(some):
    cell = measured(some, "lazyk", 2**6, repeats=2)
    assert cell.f1s == pytest.approx(cell.f1 * cell.satisfied)
    assert cell.satisfied == np.mean(cell.page_accepted)
    assert cell.repeats == 2
    assert cell.seconds == pytest.approx(np.mean(cell.page_seconds), rel=1e-3)
    assert cell.page_words == [len(page.document) for page in some.pages]
    assert max(cell.page_tried) <= 2**6
    assert cell.memory is None or cell.memory >= 0


def test_methods_that_try_the_same_candidates_agree(some):
    """Whoever enumerates assignments, and for whom nothing is accepted the argmax is the answer."""
    for k in (16, 32):
        names = ("lazyk", "best_first", "beam", "published", "lazy-k")
        found = [measured(some, name, k) for name in names if METHODS[name].is_here]
        for cell in found[1:]:
            assert (cell.f1s, cell.f1) == pytest.approx((found[0].f1s, found[0].f1))
            assert cell.page_accepted == found[0].page_accepted
    best = measured(some, "exact", 2**13)
    assert best.satisfied == 1  # the pages were chosen so
    argmax = measured(some, "argmax", 1)
    refused = measured(some, "lazyk", 1)
    assert (refused.f1s, refused.f1) == (argmax.f1s, argmax.f1)
    assert measured(some, "paths", 2**9).f1s > argmax.f1s


def test_a_probability_mass_is_a_budget_too(some):
    little, much = (measured(some, "lazyk", 2**16, mass=mass) for mass in (0.5, 0.99))
    assert sum(little.page_tried) < sum(much.page_tried)
    assert little.satisfied <= much.satisfied
    assert (little.budget, much.budget) == ("mass 0.5", "mass 0.99")
    tasks = list(cells.plan(some, methods_named(["beam", "paths"]), masses=[0.9],
                            slow_pages=2, repeats=1))  # fmt: skip
    assert [task.method.name for task in tasks if task.mass] == ["paths"]


def test_slow_methods_have_few_pages(some):
    tasks = list(cells.plan(some, methods_named(["argmax", "lazy_ilp"]), masses=[],
                            slow_pages=2, repeats=1))  # fmt: skip
    assert [len(task.pages.pages) for task in tasks] == [len(some.pages)] + [2] * 5
    assert tasks[0].fingerprint != tasks[1].fingerprint


def pieces(page_id: str) -> Scored:
    """Three pieces, two words: "56" "." join."""
    labels = ("O", "B-total", "I-total")
    probs = [[0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.8, 0.1, 0.1]]
    document = Document(page_id, ("56", ".000", "x"), joins=(False, True, False))
    return Scored(document, Scores.from_probs(probs, labels), ("B-total", "I-total", "O"))


def test_units(some):
    given = Pages("p", "", some.rules, (pieces("a"),))
    assert len(given.in_units("pieces").pages[0].document) == 3
    first, mean = (given.in_units(units).pages[0] for units in ("first", "mean"))
    assert first.document.words == mean.document.words == ("56.000", "x")
    assert first.gold == ("B-total", "O")
    assert np.exp(first.scores.log_probs[0]) == pytest.approx([0.2, 0.7, 0.1])
    geometric = np.sqrt([0.2 * 0.1, 0.7 * 0.7, 0.1 * 0.7])  # B-total goes on as I-total
    assert np.exp(mean.scores.log_probs[0]) == pytest.approx(geometric / geometric.sum())
    assert some.in_units("mean").units == "words"  # receipts have no pieces


def test_gold_may_come_from_another_file(tmp_path):
    bare = replace(pieces("a"), gold=None)
    write_jsonl(tmp_path / "p.jsonl", [bare])
    gold = Labelled(Document("a", ("56.000", "x")), ("B-total", "O"))
    write_labelled(tmp_path / "gold.jsonl", [gold])
    longer = Labelled(Document("a", ("1", "2", "3", "4")), ("O",) * 4)
    write_labelled(tmp_path / "other.jsonl", [longer])
    (tmp_path / "rules.yaml").write_text("fields: {total: {label: total, type: money}}\n")
    files = [tmp_path / "p.jsonl"], [str(tmp_path / "rules.yaml")]
    (found,) = load(*files, tmp_path / "gold.jsonl")
    assert (found.name, found.pages[0].gold) == ("p", ("B-total", "I-total", "O"))
    with pytest.raises(InputError, match=r"'a' of .*p.jsonl has no gold labels, and --data"):
        load(*files)
    with pytest.raises(InputError, match=r"has 2 words, but 4 gold labels in .*other.jsonl"):
        load(*files, tmp_path / "other.jsonl")
    with pytest.raises(InputError, match=r"--rules is given 0 times and --predictions 2 times"):
        load(files[0] * 2, [])


def test_what_was_measured_is_kept_after_an_interruption(tmp_path, monkeypatch, capsys):
    really, done = Task.measure, []

    def interrupted(task: Task) -> Cell:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task)
        return really(task)

    options = {"methods": "argmax,lazyk,exact", "pages": 3, "repeats": 1, "out": tmp_path}
    monkeypatch.setattr(Task, "measure", interrupted)
    with pytest.raises(Interrupted, match="3 of 15 measurements are in"):
        experiments.run_paper(**options)
    capsys.readouterr()
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 3

    with (tmp_path / "cells.jsonl").open("a") as file:
        file.write('{"half a')  # as if it had been stopped while writing
    again = []
    monkeypatch.setattr(Task, "measure", lambda task: again.append(task) or really(task))
    experiments.run_paper(**options)
    assert len(again) == 12
    table = capsys.readouterr().out
    again.clear()
    experiments.run_paper(**options)
    assert not again
    assert capsys.readouterr().out == table == (tmp_path / "table.md").read_text()
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert len(rows) == 15
    assert {row["method"] for row in rows} == {"argmax", "lazyk", "exact"}


def test_other_pages_or_rules_are_other_cells(some):
    assert some.fingerprint == some.only(some.pages).fingerprint
    assert some.fingerprint != some.only(some.pages[1:]).fingerprint
    assert some.fingerprint != generated(14).under("lawful").satisfied().fingerprint


def test_the_papers_numbers_stand_beside_ours(some):
    cell = replace(measured(some, "lazyk", 2**5), data="cord", units="pieces")
    assert markdown([cell]).splitlines()[-1].endswith("| 91.4 | 2 |")
    both = markdown([cell, replace(cell, mass=0.5)])
    assert both.splitlines()[-1].endswith("|  |  |")
    for other in ({"units": "mean"}, {"data": ""}, {"semantics": "lawful"}):
        assert "paper: F1^s" not in markdown([replace(cell, **other)])
    assert markdown([cell, replace(cell, units="mean")]).count("### ") == 2
    assert len(REPORTED) == 3 * 24


def test_the_whole_table_on_three_receipts(tmp_path):
    found = run(
        "experiments", "paper", "--pages", 3, "--slow-pages", 1, "--repeats", 1, "--out", tmp_path
    )
    assert found.returncode == 0, found.stderr
    assert "receipts: 148 of 200 pages" in found.stderr
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    expected = sum(len(m.budgets) + 3 * m.masses for m in METHODS.values() if m.is_here)
    assert len(rows) == found.stdout.count("\n") - 4 == expected
    pytest.importorskip("matplotlib", reason="needs the 'lab' extra")
    for name in ("f1s-time", "ranks", "time-words"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()


def test_a_part_of_the_split_may_be_asked_for(tmp_path, capsys):
    pages = generated(50).under("paper")
    sizes = [len(pages.of_part(part, 0).satisfied().pages) for part in PARTS]
    assert sum(sizes) == len(pages.satisfied().pages)
    assert sizes[2] == round(0.4 * sum(sizes))
    experiments.run_paper(part="test", methods="argmax", repeats=1, out=tmp_path)
    assert f"receipts: {round(0.4 * 148)} of 200 pages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "magic"], "unknown method 'magic'; methods: argmax, beam, best_first"),
        (["--predictions", str(demo.shipped())], "expected --rules once or for each"),
        (["--rules", "nowhere.yaml"], "no rule file 'nowhere.yaml'; rules by name: receipt"),
        (["--units", "letters"], "unknown units 'letters'; units: pieces, first, mean"),
        (["--mass", "2"], "mass is 2.0, expected a share above 0 and at most 1"),
        (["--mass", "most"], "mass is 'most', expected shares such as 0.5,0.9"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, message, tmp_path):
    found = run("experiments", "paper", "--out", tmp_path, *arguments)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr


class Dies:
    """A decoder whose process ends at once."""

    name, exact, chains, default_budget = "dies", False, False, Budget(1)

    def decode(self, problem, budget):
        import os

        os._exit(7)


def test_a_page_with_nothing_to_check_is_proven_and_counted_apart():
    # Where nothing is proven, the answer of methods that try assignments is the argmax. An answer
    # that is unchecked is proven, and was taken for one that is not.
    labels = ("O", "B-total")
    scores = Scores.from_probs([[0.4, 0.6]], labels)
    rules = Rules([Field("total", "total", "money")], ["total < 5"])
    pages = (Scored(Document("d", ["7"]), scores, ("O",)),)
    cell = measured(Pages("d", "", rules, pages).under("paper"), "lazyk", 8)
    assert (cell.satisfied, cell.unchecked, cell.f1) == (1, 1, 1)  # the total is gone
    assert "| 100.0 % | 100.0 % |" in markdown([cell])


def test_a_process_that_dies_is_told(some):
    with pytest.raises(LawfulError, match="the process that measured dies died with code 7"):
        measure(some.pages[:1], some.rules, Dies(), Budget(1), 1, 1.0)


def test_what_the_decoder_refuses_is_raised_here(some):
    broken = replace(METHODS["lazy_ilp"].decoder, solver="none")
    with pytest.raises(InputError, match="unknown solver 'none'"):
        measure(some.pages[:1], some.rules, broken, Budget(1), 1, 1.0)


def test_semantics_on_the_shipped_pages(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(semantics, "RESAMPLES", 50)
    monkeypatch.setattr(semantics, "PRESENCES", ("free",))  # hard and kept takes half a minute
    monkeypatch.setattr(semantics, "SWEEP", (2.0, 10.0))
    options = {"predictions": [demo.shipped()], "rules": [str(demo.RULES)], "out": tmp_path}
    experiments.run_semantics(**options)
    printed = capsys.readouterr().out
    assert "| best legal labelling, no rules | 93.8 |" in printed
    (row,) = (
        line for line in printed.splitlines() if line.startswith("| keep, agree, weight 10 |")
    )
    assert row.split(" | ")[1] == "98.7"
    assert row.endswith("| 9 / 0 | 90 / 10 / 44 | 6 | 100.0% |")  # as the README has it
    assert "| free, first, hard, the paper |" in printed
    assert len(printed.split("weight chosen on one half")[1].splitlines()) == 4
    lines = (tmp_path / "outcomes.jsonl").read_text()
    assert len(json.loads(lines.splitlines()[0])["counts"]) == 48

    monkeypatch.setattr(semantics.Task, "measure", None)  # nothing is decoded again
    experiments.run_semantics(**options)
    assert capsys.readouterr().out == printed
    pytest.importorskip("matplotlib", reason="needs the 'lab' extra")
    assert (tmp_path / "semantics.svg").exists()
    assert (tmp_path / "weights.png").exists()


def test_without_matplotlib_there_is_still_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    experiments.run_paper(methods="argmax", pages=2, repeats=1, out=tmp_path)
    told = capsys.readouterr()
    assert "### receipts, words, semantics: paper" in told.out
    assert "| argmax | 1 | 2 |" in told.out
    assert "plots need matplotlib: install the 'lab' extra" in told.err


def test_a_store_is_a_file(tmp_path):
    with pytest.raises(InputError, match="is a folder, expected a file"):
        Store(tmp_path, Cell)


@needs_shared
def test_on_real_outputs_methods_are_ordered_as_in_the_paper():
    """Lazy-k grows with its budget; one legal labelling is worth more than many assignments."""
    pages = Pages("cord-l2", "cord", rules_named("cord"), tuple(outputs.read_outputs("cord-l2")))
    pages = pages.under("paper").satisfied().in_units("pieces")
    assert len(pages.pages) == 272
    scores = [
        100 * measured(pages, method, k).f1s
        for method, k in (("argmax", 1), ("lazyk", 2**5), ("lazyk", 2**9), ("paths", 1))
    ]
    assert scores == pytest.approx([36.6, 54.6, 63.8, 71.1], abs=0.05)
