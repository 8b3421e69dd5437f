"""The native boundary: whole numbers of any size, programs, and searches that threads share."""

import ast
import signal
import sys
import threading
from enum import EnumType
from itertools import product
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


@pytest.mark.parametrize(
    ("code", "constants", "message"),
    [
        ([Instruction(Op.constant, 0, 1)], [0], "constant out of range"),
        ([Instruction(Op.absent), Instruction(Op.round)], [0], "not positive"),
        ([Instruction(Op.absent), Instruction(Op.scale, 39)], [], "does not fit into 127 bits"),
        ([Instruction(Op.least, 0)], [], "lacks operands"),
    ],
)
def test_a_program_reads_only_what_it_has(code, constants, message):
    with pytest.raises(ValueError, match=message):
        Program(code, constants)


def test_an_int_with_operators_of_its_own_is_read_as_it_is():
    class Odd(int):
        def __rshift__(self, other):
            return None

        def __str__(self):
            return "\ud800"

    assert Program([Instruction(Op.constant)], [Odd(2**70)]).constants == [2**70]
    with pytest.raises(OverflowError, match=f"{2**130} does not fit into 127 bits"):
        Program([Instruction(Op.constant)], [Odd(2**130)])


@pytest.mark.parametrize(
    "costs", [np.empty((3, 0)), np.full((2, 2), np.nan), np.full((2, 2), -inf)]
)
def test_costs_without_labels_and_costs_that_are_none_are_refused(costs):
    layout = _core.Layout(*layout_tables(2), 1)
    transitions = _core.Transitions(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    for use in (
        lambda: _core.assignments(costs),
        lambda: _core.paths(costs, transitions),
        lambda: _core.Lattice(costs, layout),
    ):
        with pytest.raises(ValueError, match=r"NaN or -inf|words x labels"):
            use()


def layout_tables(labels):
    ones = np.ones(labels, np.uint8)
    types = np.array([-1, *[0] * (labels - 1)], np.int32)
    return ones, np.ones((labels, labels), np.uint8), ones, types, ones, ones


def test_tables_of_different_sizes_are_refused():
    for at in range(6):
        tables = [table[:-1] if i == at else table for i, table in enumerate(layout_tables(3))]
        with pytest.raises(ValueError, match="labels"):
            _core.Layout(*tables, 1)
    with pytest.raises(ValueError, match="too many fields"):
        _core.Layout(*layout_tables(3), 2**40)
    parts = [np.zeros(3), np.zeros((3, 3)), np.zeros(3)]
    for at in range(3):
        wrong = [part[:-1] if i == at else part for i, part in enumerate(parts)]
        with pytest.raises(ValueError, match="labels"):
            _core.Transitions(*wrong)


@given(
    st.integers(0, 4).flatmap(
        lambda words: st.tuples(
            st.lists(
                st.lists(st.integers(0, 4) | st.just(inf), min_size=3, max_size=3),
                min_size=words,
                max_size=words,
            ),
            st.lists(st.integers(0, 2), min_size=words, max_size=words),
        )
    ),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.integers(0, 16),
)
def test_costs_of_labellings_and_the_kinds_of_all_that_cost_as_much(given, kinds, most):
    rows, labels = given
    costs = np.array(rows, float).reshape(len(rows), 3)
    for dtype in (np.uint8, np.uint32):
        found = _core.cost_of(costs, np.array(labels, dtype))
        assert found == sum(row[label] for row, label in zip(rows, labels, strict=True))
    kind_of = np.array(kinds, np.uint32)
    same = all(
        [kinds[label] for label in other] == [kinds[label] for label in labels]
        for other in product(range(3), repeat=len(rows))
        if sum(row[label] for row, label in zip(rows, other, strict=True)) <= most
    )
    assert _core.have_one_kind(costs, np.array(labels, np.uint32), kind_of, most) == same


def test_labellings_of_other_costs_are_refused():
    costs, kinds = np.zeros((2, 3)), np.zeros(3, np.uint32)
    for use in (_core.cost_of, lambda *given: _core.have_one_kind(*given, kinds, 1.0)):
        with pytest.raises(ValueError, match="costs of 2 words, but labels of 1"):
            use(costs, np.zeros(1, np.uint32))
        with pytest.raises(IndexError, match="word 1 has a label that does not exist: there are 3"):
            use(costs, np.array([0, 3], np.uint32))
    with pytest.raises(ValueError, match="3 labels, but 2 kinds"):
        _core.have_one_kind(costs, np.zeros(2, np.uint32), kinds[:2], 1.0)


def rule_of(*code, **more):
    given = {"weight": 1.0, "unchecked": 0.0, "fields": [], "early": False, "any": []}
    return _core.RulePlan(program=Program(code, [0]), **given | more)


def field_of(**slots):
    return _core.FieldPlan(many=False, has_default=False, disagreement=0.0, **slots)


TRUE = Instruction(Op.constant)
ONE_TERM = {"field": 0, "lookup": 0, "factor": 1}


def equation_of(kind, **more):
    term = _core.Term(kind=kind, **ONE_TERM | more)
    return _core.Equation(
        terms=[term], constant=0, tolerance=0, weight=1.0, unchecked=0.0, early=False
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"slots": 2**64 - 1},
        {"slots": 0},
        {"fields": [field_of(first=0, count=0)]},
        {"rules": [rule_of(Instruction(Op.slot, 0, 1))]},
        {"rules": [rule_of(Instruction(Op.of_list, 1, 0))]},
        {"rules": [rule_of(TRUE, fields=[1])]},
        {"rules": [rule_of(TRUE, any=[0])]},
        {"rules": [rule_of(TRUE, weight=np.nan)]},
        {"fields": [field_of(count=0)], "rules": [rule_of(TRUE, fields=[0], early=True)]},
        {"equations": [equation_of(_core.TermKind.first, field=1)]},
        {"equations": [equation_of(_core.TermKind.sum)]},
        {"equations": [equation_of(_core.TermKind.count)]},
    ],
)
def test_a_plan_reads_only_fields_and_slots_that_it_has(wrong):
    plan = {"fields": [field_of(first=0)], "slots": 1, "rules": [], "equations": []}
    _core.Plan(**plan)
    with pytest.raises(ValueError, match=r"slot|field|less than nothing"):
        _core.Plan(**plan | wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"span": np.array([1], np.uint32)},
        {"span": np.array([0, 0], np.uint32)},
        {"field": np.array([1], np.uint32)},
        {"value": np.array([4], np.uint32)},
        {"price": np.array([np.nan])},
        {"missing": np.zeros(2)},
        {"lookups": []},
    ],
)
def test_a_search_looks_up_only_what_it_was_given(wrong):
    rule = rule_of(Instruction(Op.lookup))
    lookup = _core.Lookup(0)
    for _ in range(4):
        lookup.append(OutcomeState.known, 1)
    given = {
        "field": np.zeros(1, np.uint32), "span": np.zeros(1, np.uint32),
        "value": np.array([3], np.uint32), "price": np.zeros(1), "lookups": [lookup],
        "plan": _core.Plan(fields=[field_of(first=0)], slots=1, rules=[rule], equations=[]),
        "missing": np.zeros(1), "limit": inf, "memory": 2**20, "patience": 1,
    }  # fmt: skip
    assert _core.Search(**given).next(10) is _core.SearchStatus.found
    with pytest.raises(ValueError, match=r"out of range|length|NaN|too few|number of fields"):
        _core.Search(**given | wrong)


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
