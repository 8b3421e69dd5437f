"""A quick run of the hostile inputs; ``python -m tests.hostile`` runs a million."""

from __future__ import annotations

import signal
import sys
import time
import types

import pytest

from tests import hostile
from tests.hostile import runner


def test_no_hostile_input_gets_through(capsys):
    assert runner.main(["2000", "--workers", "1"]) == 0, capsys.readouterr().out


def test_a_case_depends_on_seed_target_and_number_only():
    for name in ("values", "lines", "native", "cli"):
        assert runner.drawn(name, 1, 2) == runner.drawn(name, 1, 2)
        cases = [runner.drawn(name, seed, n) for seed in range(3) for n in range(3)]
        assert any(case != cases[0] for case in cases)


def test_all_cases_are_run_and_the_fastest_targets_have_the_most():
    found = list(runner.chunks(["cli", "values"], 10_000, 0))
    counts = {name: sum(len(c.numbers) for c in found if c.target == name) for name in
              ("cli", "values")}  # fmt: skip
    assert sum(counts.values()) == 10_000
    assert 0 < counts["cli"] < counts["values"]


def fail(_):
    raise ZeroDivisionError


def loop(_):
    while True:
        time.sleep(0.01)


@pytest.fixture
def target(monkeypatch):
    """Makes a target of a function, in this process."""

    def make(run):
        module = types.ModuleType("tests.hostile.made")
        module.draw, module.run = (lambda rng: rng.random()), run
        monkeypatch.setitem(sys.modules, "tests.hostile.made", module)
        monkeypatch.setattr(hostile, "made", module, raising=False)

    return make


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_exceptions_and_endless_loops_are_failures(target, monkeypatch):
    chunk = runner.Chunk("made", 0, range(7, 9))
    target(fail)
    number, why = runner.run_chunk(chunk)
    assert number == 7
    assert "ZeroDivisionError" in why
    monkeypatch.setattr(runner, "SECONDS", 0.05)
    before = signal.signal(signal.SIGALRM, runner._give_up)
    try:
        target(loop)
        number, why = runner.run_chunk(chunk)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert number == 7
    assert "OutOfTimeError" in why


def test_a_failure_names_the_command_that_repeats_it():
    assert "--targets native --seed 3 --case 17" in str(runner.Failure("native", 3, 17, "why"))
