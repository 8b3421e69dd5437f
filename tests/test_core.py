"""The native boundary: whole numbers of any size, programs, and searches that threads share."""

import ast
import signal
import sys
import threading
from enum import EnumType
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful import _core
from lawful._core import Instruction, Op, OutcomeState, Program

WIDEST = 2**127 - 1


@given(st.lists(st.integers(-WIDEST, WIDEST), min_size=1))
def test_numbers_of_127_bits_come_back_as_they_went_in(numbers):
    assert Program([Instruction(Op.constant)], numbers).constants == numbers


@pytest.mark.parametrize("number", [WIDEST + 1, -WIDEST - 1, 10**60, -(10**60)])
def test_larger_numbers_are_refused(number):
    with pytest.raises(OverflowError, match="does not fit into 127 bits"):
        Program([Instruction(Op.constant)], [number])
    with pytest.raises(OverflowError, match="does not fit into 127 bits"):
        _core.Lookup(0).append(OutcomeState.known, number)
    with pytest.raises(OverflowError, match="does not fit into 127 bits"):
        _core.Equation(
            terms=[], constant=number, tolerance=0, weight=1.0, unchecked=0.0, early=False
        )


def test_what_is_no_whole_number_is_refused():
    with pytest.raises(TypeError):
        _core.Lookup(0).append(OutcomeState.known, 1.5)


def test_the_stub_lists_the_enums_as_they_are():
    stub = ast.parse((Path(lawful.__file__).parent / "_core.pyi").read_text())
    listed = {
        node.name: {
            line.targets[0].id: line.value.value
            for line in node.body
            if isinstance(line, ast.Assign)
        }
        for node in stub.body
        if isinstance(node, ast.ClassDef) and [ast.unparse(base) for base in node.bases] == ["Enum"]
    }
    enums = {name: e for name, e in vars(_core).items() if isinstance(e, EnumType)}
    assert listed == {n: {m.name: m.value for m in members} for n, members in enums.items()}


def test_a_program_must_leave_one_outcome():
    with pytest.raises(ValueError, match="lacks operands"):
        Program([Instruction(Op.add)], [])
    with pytest.raises(ValueError, match="must leave one outcome"):
        Program([Instruction(Op.absent), Instruction(Op.absent)], [])


def search_of(spans: int, rules: list[_core.RulePlan]) -> _core.Search:
    """Two ways to read each of some spans: 2**spans readings, all of which rules tell apart."""
    field = _core.FieldPlan(many=True, has_default=False, disagreement=0.0, all=0)
    return _core.Search(
        field=np.zeros(spans, np.uint32),
        span=np.repeat(np.arange(spans, dtype=np.uint32), 2),
        value=np.tile(np.array([2, 3], np.uint32), spans),
        price=np.tile([0.0, 1.0], spans),
        plan=_core.Plan(fields=[field], slots=1, rules=rules, equations=[]),
        lookups=[],
        missing=np.zeros(1),
        limit=inf,
        memory=2**30,
        patience=2**20,
    )


def test_threads_take_turns_with_a_search():
    search = search_of(12, [])
    found: list[float] = []

    def work() -> None:
        while search.next(2**20) is _core.SearchStatus.found:
            found.append(search.violated)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(found) == 2**12


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_a_signal_handler_cannot_use_the_search_that_it_interrupts():
    never = Program([Instruction(Op.constant)], [0])
    rule = _core.RulePlan(program=never, weight=inf, unchecked=0.0, fields=[], early=False, any=[])
    search = search_of(24, [rule])

    def handle(*_: object) -> None:
        search.next(1)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(lawful.InputError, match="the search is in use by this very thread"):
            search.next(2**62)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert search.next(1) is _core.SearchStatus.paused
