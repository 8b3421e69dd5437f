"""Direct calls of the native module: problems that fit together, then a few wrong arguments.

Whatever the arguments are, a call ends in an answer or in one of ``REFUSALS``. The worker's process
would die of anything else.
"""

from __future__ import annotations

import random
import warnings
from math import inf

import numpy as np

from lawful import _core
from lawful._core import FIRST_VALUE, Op, OutcomeState, TermKind
from lawful.base.errors import LawfulError
from lawful.documents.labels import Scheme
from tests.hostile.mutations import NUMBERS, SPECIAL, bent_array, odd_value

REFUSALS = (ValueError, TypeError, IndexError, OverflowError, LawfulError, RecursionError)

SCHEMES = {"BIO": "BI", "IO": "I", "IOB1": "IB", "IOBES": "BIES"}
SLOTS = ("first", "disagrees", "count", "readable", "sum", "least", "greatest", "all")
MEMORY = 2**22
SOON = 0.5  # seconds


def draw(rng):
    """The seed of a call, and how many of its arguments are wrong."""
    call = rng.choice((search, search, given, mass, mass, streams, streams, program, anything))
    return call.__name__, rng.getrandbits(64), rng.choice((0, 1, 1, 1, 2, 3))


def run(case):
    """The class of the error, or "answer"."""
    name, seed, wrong = case
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # about objects that were never made
            globals()[name](Draws(random.Random(seed), wrong))  # noqa: S311
    except REFUSALS as error:
        return type(error).__name__
    return "answer"


class Draws:
    """Draws arguments, some of which are wrong."""

    def __init__(self, rng: random.Random, wrong: int) -> None:
        self.rng = rng
        self.wrong = {rng.randrange(60) for _ in range(wrong)}
        self.at = -1

    def is_wrong(self):
        """Whether the next argument is to be wrong."""
        self.at += 1
        return self.at in self.wrong

    def number(self, right):
        """A count or an index."""
        if not self.is_wrong():
            return right
        choices = (*NUMBERS, right + 1, max(0, right - 1)) if isinstance(right, int) else NUMBERS
        return odd_value(self.rng) if self.rng.random() < 0.2 else self.rng.choice(choices)

    def cost(self, right):
        """A cost, a weight or a price."""
        if not self.is_wrong():
            return right
        return odd_value(self.rng) if self.rng.random() < 0.2 else self.rng.choice(SPECIAL)

    def items(self, right):
        """A list."""
        if not self.is_wrong():
            return right
        rng = self.rng
        if right and rng.random() < 0.6:
            return rng.choice((right[1:], right[:-1], right * 2, right[::-1], right + right[:1]))
        return rng.choice(([], [None], odd_value(rng), right * 100))

    def array(self, right):
        """An array of any entries, type, shape and strides."""
        if not self.is_wrong():
            return right
        return odd_value(self.rng) if self.rng.random() < 0.1 else bent_array(self.rng, right)


def matrix(draws, words, labels):
    """Costs with ties and forbidden labels."""
    choices = draws.rng.choice(((0.0, 1.0, inf), (0.0, 0.5, 1.0, 2.0, 3.5), (1e3, -1e3, 0.1)))
    flat = [draws.rng.choice(choices) for _ in range(words * labels)]
    return np.array(flat, np.float64).reshape(words, labels)


def scheme_of(rng, fields):
    """A scheme over labels of these fields, one other type, and none."""
    name = rng.choice(tuple(SCHEMES))
    labels = [f"{prefix}-{i}" for i in range(fields + 1) for prefix in SCHEMES[name]]
    return Scheme.named(name, ["O", *labels] if rng.random() < 0.9 else labels)


def spans_of(draws, fields):
    """A layout, a lattice and its spans."""
    scheme = scheme_of(draws.rng, fields)
    start, between, end = (table.astype(np.uint8) for table in scheme.allowed)
    types = [scheme.type_of(i) for i in range(len(scheme))]
    opens, closes = scheme.marks
    layout = _core.Layout(
        draws.array(start),
        draws.array(between),
        draws.array(end),
        draws.array(np.array([-1 if t is None else int(t) for t in types], np.int32)),
        draws.array(opens),
        draws.array(closes),
        draws.number(fields),
    )
    costs = matrix(draws, draws.rng.randrange(6), len(scheme))
    lattice = _core.Lattice(draws.array(costs), layout)
    assert isinstance(lattice.best, float)
    slack = draws.cost(draws.rng.choice((0.0, 2.0, inf)))
    return _core.Spans(lattice, slack, draws.number(2**12), SOON)


def field_plans(draws, fields):
    """The slots of fields; their number; and by field its slots, which are right."""
    rng = draws.rng
    plans, slots, known = [], 0, []
    for field in range(fields):
        many = rng.random() < 0.4
        own = {}
        for name in SLOTS:
            fits = name not in (("first", "disagrees") if many else ("readable", "sum", "least"))
            if fits and rng.random() < 0.8:
                own[name] = slots
                slots += 1
        numbers = draws.number(field) if many else None
        plans.append(
            _core.FieldPlan(
                many=many,
                has_default=rng.random() < 0.3,
                disagreement=draws.cost(rng.choice((0.0, 1.0, inf))),
                numbers=numbers,
                equal=draws.number(field) if rng.random() < 0.2 else None,
                **{name: draws.number(slot) for name, slot in own.items()},
            )
        )
        known.append({"many": many, **own})
    return plans, slots, known


def random_program(draws, known, slots):
    """Instructions that leave one outcome, or nearly so."""
    rng = draws.rng
    constants = [rng.choice((0, 1, 5, 10**6, -3, 2**126)) for _ in range(3)]
    code = []
    singles = [field for field, own in enumerate(known) if "first" in own]
    lists = [own for own in known if "readable" in own and "sum" in own]

    def leaf():
        kinds = [Op.constant, Op.absent, Op.idle]
        kinds += [Op.lookup] * 3 * bool(singles) + [Op.slot] * bool(slots)
        kinds += [Op.of_list] * 2 * bool(lists)
        match rng.choice(kinds):
            case Op.constant:
                add(Op.constant, 0, rng.randrange(3))
            case Op.lookup:
                add(Op.lookup, 0, rng.choice(singles))
            case Op.slot:
                add(Op.slot, 0, rng.randrange(slots))
            case Op.of_list:
                own = rng.choice(lists)
                add(Op.of_list, own["readable"], own["sum"])
            case op:
                add(op, 0, 0)

    def add(op, operand, index):
        code.append(_core.Instruction(op, draws.number(operand), draws.number(index)))

    def tree(depth):
        if depth == 0 or rng.random() < 0.2:
            leaf()
            return
        op = rng.choice(list(Op)[6:])
        unary = op in (Op.scale, Op.negate, Op.abs, Op.round, Op.not_)
        count = 1 if unary else 3 if op is Op.choose else 2
        for _ in range(count):
            tree(depth - 1)
        add(op, count if op is not Op.scale else rng.randrange(4), 1)

    tree(rng.randrange(4))
    return _core.Program(draws.items(code), draws.items(constants))


def plan_of(draws, fields):
    """A plan with its lookups, which have ``VALUES`` outcomes each, and the costs of absence."""
    rng = draws.rng
    plans, slots, known = field_plans(draws, fields)
    rules = []
    for _ in range(rng.randrange(3)):
        present = [i for i, own in enumerate(known) if own.keys() & {"first", "readable"}]
        anything = [i for i, own in enumerate(known) if own.keys() >= {"first", "all"}]
        early = rng.random() < 0.3
        rules.append(
            _core.RulePlan(
                program=random_program(draws, known, slots),
                weight=draws.cost(rng.choice((0.0, 1.0, inf))),
                unchecked=draws.cost(rng.choice((0.0, 0.5))),
                fields=draws.items([draws.number(i) for i in present]),
                early=early,
                any=draws.items([draws.number(i) for i in anything[:1]] if not early else []),
            )
        )
    equations = []
    for _ in range(rng.randrange(2)):
        terms = [
            _core.Term(
                kind=rng.choice((TermKind.sum, TermKind.sum_or_zero)) if own["many"] else (
                    TermKind.first
                ),
                field=draws.number(i),
                lookup=draws.number(i),
                factor=draws.number(rng.choice((1, -1, 100))),
            )
            for i, own in enumerate(known)
            if own.keys() >= ({"readable", "sum"} if own["many"] else {"first"})
        ]  # fmt: skip
        equations.append(
            _core.Equation(
                terms=draws.items(terms),
                constant=draws.number(0),
                tolerance=draws.number(rng.choice((0, 10**6))),
                weight=draws.cost(1.0),
                unchecked=draws.cost(0.0),
                early=rng.random() < 0.5,
            )
        )
    order = _core.OrderPlan(
        slot=draws.number(slots),
        ranks=draws.items([draws.number(rng.randrange(3)) for _ in plans]),
        weight=draws.cost(rng.choice((0.0, 1.0, inf))),
    )
    plan = _core.Plan(
        fields=draws.items(plans),
        slots=draws.number(slots + 2),
        rules=draws.items(rules),
        equations=draws.items(equations),
        orders=draws.items([order]),
        constant=draws.number(slots + 1),
    )
    lookups = []
    for own in known:
        lookup = _core.Lookup(draws.number(own.get("first", 0)))
        for value in range(rng.randrange(VALUES) if draws.is_wrong() else VALUES):
            state = rng.choice((OutcomeState.known,) * 5 + tuple(OutcomeState))
            lookup.append(state, draws.number(value * 10**6) if value < 9 else value)
        lookups.append(lookup)
    present = [bool(own.keys() & {"first", "readable"}) for own in known]
    missing = np.array([rng.choice((0.0, 1.0, inf)) if here else 0.0 for here in present])
    return plan, draws.items(lookups), draws.array(missing)


VALUES = 6


def values_of(draws, count):
    """Possible values of spans: indices of spans, numbers of values, prices."""
    rng = draws.rng
    span, value, price = [], [], []
    for i in range(count):
        for number in rng.sample(range(1, VALUES), rng.choice((0, 1, 1, 2))):
            span.append(i)
            value.append(number)
            price.append(rng.choice((0.0, 0.0, 1.0, inf)))
    return (
        draws.array(np.array(span, np.uint32)),
        draws.array(np.array(value, np.uint32)),
        draws.array(np.array(price, np.float64)),
    )


def follow(draws, found):
    """Uses a search in every way."""
    for _ in range(4):
        status = found.next(draws.number(2**10), draws.cost(SOON))
        found.dive(draws.number(3), SOON)
        assert found.extended >= 0
        assert found.memory >= 0
        _ = found.cost, found.violated, found.bound, found.choices.tolist(), found.labels.tolist()
        if status is _core.SearchStatus.nothing:
            return


def search(draws):
    """A search over the spans of a lattice."""
    fields = draws.rng.randrange(1, 4)
    spans = spans_of(draws, fields)
    plan, lookups, missing = plan_of(draws, fields)
    span, value, price = values_of(draws, len(spans.field))
    follow(
        draws,
        _core.Search(
            spans, span, value, price,
            plan=None if draws.rng.random() < 0.1 else plan,
            lookups=lookups,
            missing=missing,
            slack=draws.cost(draws.rng.choice((0.0, 2.0, inf))),
            max_cost=draws.cost(draws.rng.choice((None, 1.0))),
            memory=draws.rng.choice((0, 2**12, MEMORY)),
            patience=draws.number(draws.rng.choice((0, 1, 256))),
            seconds=SOON,
            seen_as=seen_as(draws, fields, len(spans.field)),
        ),
    )  # fmt: skip


def seen_as(draws, fields, count):
    """By span, the field that rules see; none in most cases."""
    if draws.rng.random() < 0.7:
        return None
    return draws.array(np.array([draws.rng.randrange(fields) for _ in range(count)], np.uint32))


def given(draws):
    """A search over the values of given spans."""
    rng = draws.rng
    fields, count = rng.randrange(1, 4), rng.randrange(6)
    plan, lookups, missing = plan_of(draws, fields)
    span, value, price = values_of(draws, count)
    field = np.array([rng.randrange(fields) for _ in range(count)], np.uint32)
    follow(
        draws,
        _core.Search(
            field=draws.array(field), span=span, value=value, price=price, plan=plan,
            lookups=lookups, missing=missing, limit=draws.cost(inf),
            memory=rng.choice((0, 2**12, MEMORY)), patience=draws.number(1), seconds=SOON,
        ),
    )  # fmt: skip


def mass(draws):
    """The sums of a lattice under rules."""
    rng = draws.rng
    fields = rng.randrange(1, 9)
    spans = spans_of(draws, fields)
    plan, lookups, missing = plan_of(draws, fields)
    span, value, price = values_of(draws, len(spans.field))
    made = _core.Mass(
        spans, span, value, price, plan, lookups, missing,
        draws.array(np.full(fields, 2.0)), rng.random() < 0.5, draws.cost(-inf), MEMORY, SOON,
        seen_as=seen_as(draws, fields, len(spans.field)),
    )  # fmt: skip
    assert isinstance(made.log_total, float)
    values = [[rng.randrange(FIRST_VALUE, VALUES)] * rng.randrange(3) for _ in range(fields)]
    answers = [(each, rng.random()) for each in values]
    shares = made.of(
        draws.items(answers), draws.cost(0.0), draws.number(64),
        draws.number(2**16), draws.number(2**16), rng.random() < 0.5, SOON,
    )  # fmt: skip
    _ = shares.same, shares.all, shares.open, shares.unsure, shares.open_same, shares.open_other


def streams(draws):
    """A stream of assignments or of paths."""
    rng = draws.rng
    words, labels = rng.randrange(6), rng.choice((1, 2, 3, 5, 300))
    costs = draws.array(matrix(draws, words, labels))
    if rng.random() < 0.4:
        stream = _core.assignments(costs, draws.number(MEMORY))
    else:
        transitions = _core.Transitions(
            draws.array(matrix(draws, 1, labels)[0]),
            draws.array(matrix(draws, labels, labels)),
            draws.array(matrix(draws, 1, labels)[0]),
        )
        stream = _core.paths(costs, transitions, draws.number(MEMORY))
    for labels_, log_prob in zip(range(3), stream, strict=False):
        _ = labels_, log_prob
    if draws.is_wrong():
        stream._limit(draws.rng.choice((0, 1, 5)))
    count = draws.number(rng.choice((0, 1, 20)))
    out = stream.take(count if isinstance(count, int) and count < 2**12 else 2**12)
    if draws.is_wrong():
        out = rng.choice(
            ((out[0], out[0]), out[:1], out[::-1], (out[0].T, out[1]), None, list(out))
        )
    elif isinstance(out, tuple):
        out = tuple(draws.array(part) for part in out)
    stream.take(len(out[0]) if isinstance(out, tuple) and np.ndim(out[0]) else 3, out=out)
    assert stream.yielded >= 0
    repr(stream)


def program(draws):
    """A program alone, of random instructions."""
    rng = draws.rng
    code = [
        _core.Instruction(rng.choice(list(Op)), draws.number(rng.randrange(4)), rng.randrange(4))
        for _ in range(rng.choice((0, 1, 3, 10, 300)))
    ]
    made = _core.Program(code, draws.items([1, 2, draws.number(3)]))
    rule = _core.RulePlan(
        program=made, weight=1.0, unchecked=0.0, fields=[], early=rng.random() < 0.5, any=[]
    )
    field = _core.FieldPlan(many=False, has_default=False, disagreement=0.0, first=0)
    lookup = _core.Lookup(0)
    for value in range(rng.randrange(5)):
        lookup.append(rng.choice(list(OutcomeState)), draws.number(value))
    found = _core.Search(
        field=np.zeros(1, np.uint32), span=np.zeros(1, np.uint32), value=np.full(1, 2, np.uint32),
        price=np.zeros(1), lookups=[lookup] * rng.randrange(5), missing=np.zeros(1), limit=inf,
        plan=_core.Plan(fields=[field], slots=1, rules=[rule], equations=[]),
        memory=MEMORY, patience=1,
    )  # fmt: skip
    found.next(10)


def anything(draws):
    """Any class or function, called with anything; or an object that was never made."""
    rng = draws.rng
    name = rng.choice([name for name in dir(_core) if not name.startswith("_")])
    part = getattr(_core, name)
    if rng.random() < 0.2 and isinstance(part, type):
        part = part.__new__(part)
        for attribute in dir(part):
            if not attribute.startswith("__"):
                try:
                    found = getattr(part, attribute)
                    if callable(found):
                        found(*(odd_value(rng) for _ in range(rng.randrange(3))))
                except REFUSALS:
                    pass
        return
    odd = [odd_value(rng) for _ in range(rng.randrange(8))]
    if callable(part):
        part(*odd)
