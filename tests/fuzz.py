"""Searches for a small document about which ``lawful.decode`` makes a false statement.

    python -m tests.fuzz 100000 --workers 2
    python -m tests.fuzz --case 17

draws random problems, decodes them with every decoder and many budgets, and compares each statement
with ``tests.oracles.statements``. It stops at the first false one, exits with 1, and prints the
problem and the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from decimal import Decimal
from functools import partial
from math import inf, isclose
from multiprocessing import Pool
from typing import NamedTuple

import numpy as np

import lawful
from lawful import Budget, Document, Field, Rule, RuleDefaults, Rules, Scores
from lawful.rules.plan import plan_of
from tests.oracles.checks_by_hand import (
    CHECKS,
    FUNCTIONS,
    NUMBERS,
    POSSIBLE_VALUES,
    WORDS,
    hand_made,
)
from tests.oracles.statements import Oracle, plain

EXACT = ("auto", "exact", "readings", "paths", "lazyk", "best_first")
EXPLAINING = ("auto", "exact")  # find alternatives, and name what clashes
ENOUGH = Budget(candidates=10**6)
SMALL = (
    *(Budget(candidates=n) for n in (1, 2, 5, 20)),
    *(Budget(candidates=10**6, max_cost=nats) for nats in (0, 0.5, 2)),
    Budget(candidates=5, max_cost=1),
    Budget(seconds=1e-4),
    Budget(mass=0.3),
    Budget(),
)
CLOSE = 1e-8  # nats: decoders take costs that differ by less than 1e-9 for equal


class FalseStatementError(AssertionError):
    """A statement about a document that is false."""


class Asked(NamedTuple):
    """The decoder and options that a document is decoded with."""

    decoder: str
    budget: Budget
    alternatives: int

    @property
    def generous(self):
        """Whether the decoder must prove all true statements, not only make no false ones."""
        return self.decoder in EXACT and self.budget == ENOUGH


# Drawing problems.

TYPES = {  # by field: its types, the kinds of words that suit it, whether it is a list
    "total": (("money", "money", "number", "integer"), NUMBERS, False),
    "tax": (("money", "number", "percent"), NUMBERS, False),
    "parts": (("money",), NUMBERS, True),
    "day": (("date",), POSSIBLE_VALUES["date"], False),
    "due": (("date",), POSSIBLE_VALUES["date"], False),
    "days": (("date",), POSSIBLE_VALUES["date"], True),
    "shop": (("text",), ("A", "B", "net"), False),
    "name": (("text",), ("A", "B", "net"), False),
}
# Fields of a document, those whose spans may have several words with a plus; x is no field.
LAYOUTS = (
    "", "total", "total+", "parts+", "total+ parts", "total+ tax", "total tax parts", "day+ due",
    "total parts+", "day due days", "total day due", "shop+ total", "shop name+", "tax parts days",
    "total+ x+", "tax total x", "total tax parts shop",
)  # fmt: skip
PREFIXES = {  # of labels for spans of several words, and of one
    "BIO": ("BI", "B"), "IOB2": ("BI", "B"), "IOB1": ("IB", "I"), "IO": ("I", "I"),
    "IOBES": ("BIES", "S"), "BIOES": ("BIE", "S"), "BILOU": ("BILU", "U"),
}  # fmt: skip
MOST_LABELLINGS = 1300


def draw(number):
    """The problem with this number, and the options to decode it with."""
    rng = np.random.default_rng(number)

    def one_of(*options):
        return options[rng.integers(len(options))]

    scheme = one_of("BIO", *PREFIXES)
    layout = one_of(*LAYOUTS).split()
    outside = [] if layout and rng.random() < 0.1 else ["O"]
    if outside and rng.random() < 0.1 and scheme != "IO":
        outside.append("other")
    labels = outside + [
        f"{prefix}-{name.rstrip('+')}"
        for name in layout
        for prefix in PREFIXES[scheme][not name.endswith("+")]
    ]
    rng.shuffle(labels)
    names = [name.rstrip("+") for name in layout if not name.startswith("x")]

    longest = max(n for n in range(1, 6) if n == 1 or len(labels) ** n <= MOST_LABELLINGS)
    size = int(rng.integers(1, min(longest, 4) + 1)) if rng.random() < 0.5 else longest
    suited = [word for name in names for word in TYPES[name][1]] or ["A"]
    few = [one_of(*suited) for _ in range(3)]  # repeated words make rules hold
    words = [one_of(*few, one_of(*suited), one_of(*suited, "Rp", "net")) for _ in range(size)]
    if rng.random() < 0.1:
        words = [one_of(*WORDS) for _ in range(size)]

    scores = Scores.from_probs(_draw_probs(rng, size, len(labels)), labels)
    rules = _draw_rules(one_of, rng, names, scheme)
    return Document("d", words), scores, rules, _draw_questions(one_of, rng)


def _draw_probs(rng, words, labels):
    style = rng.integers(5)
    if style == 0:  # ties everywhere
        weights = rng.integers(0, 2, (words, labels)).astype(float)
    elif style == 1:  # peaked, with ties and zeros
        weights = rng.integers(0, 5, (words, labels)).astype(float) ** 3
    elif style == 2:
        weights = np.exp(rng.normal(0, 3, (words, labels)))
    elif style == 3:  # no ties, some zeros
        weights = rng.random((words, labels)) * (rng.random((words, labels)) < 0.7)
    else:
        weights = rng.integers(0, 5, (words, labels)).astype(float)
    weights[weights.sum(axis=1) == 0, rng.integers(labels)] = 1
    return weights / weights.sum(axis=1, keepdims=True)


CONDITIONS = ("reads", "max_words", "pattern", "required", "agrees")


def _draw_rules(one_of, rng, names, scheme):
    ambiguities = (inf, inf, 0.0, 0.5, 2.0)
    defaults = {
        "presence": one_of("keep", "free", "required"),
        "repeat": one_of("agree", "first", "any"),
        "weight": one_of(0.0, 0.3, 1.0, 3.0, 10.0, inf),
        "tolerance": one_of(Decimal("0.005"), Decimal("0.005"), Decimal(0), Decimal(1)),
        "max_words": one_of(None, None, None, 1, 2),
        "ambiguity": one_of(*ambiguities),
        "unchecked": one_of(0.0, 0.0, 0.5, 2.0),
    }
    fields = []
    for name in names:
        types, _, many = TYPES[name]
        kind = one_of(*types)
        default = {"tax": one_of(0, 2), "due": "2024-04-03", "shop": "A"}.get(name)
        pattern = {"date": "2024.*", "text": "A.*"}.get(kind, "[0-9.]+")
        fields.append(
            Field(
                name, name, kind, many,
                default=default if rng.random() < 0.4 else None,
                presence=one_of(None, None, "keep", "free", "required"),
                repeat=one_of(None, None, "agree", "first", "any"),
                max_words=one_of(None, None, None, 1, 2),
                pattern=pattern if rng.random() < 0.15 else None,
                ambiguity=one_of(None, *ambiguities),
            )
        )  # fmt: skip
    if names and rng.random() < 0.3:
        implied = [f"{name}:{condition}" for name in names for condition in CONDITIONS]
        defaults["weights"] = {
            one_of(*implied): one_of(0.0, 0.5, 2.0, inf) for _ in range(rng.integers(1, 5))
        }
    known = {*names, *(f"count_{name}" for name in names), "t"}
    possible = [text for text in CHECKS if known.issuperset(hand_made(text)[1])]
    functions = [f for f in FUNCTIONS if known.issuperset(_parameters(f))]
    rules = {}
    for _ in range(rng.integers(0, 5)):
        function = one_of(*functions) if functions and rng.random() < 0.12 else None
        check = function or one_of(*possible)
        when = one_of(*possible) if rng.random() < 0.2 else None
        reads = _parameters(function) if function else ()
        unchecked = one_of(None, None, 0.0, 0.5, 2.0)
        rules[check] = Rule(
            check,
            when=when,
            weight=one_of(None, 0.0, 0.3, 1.0, 3.0, 10.0, inf),
            tolerance=one_of(None, None, None, 0, 1),
            unchecked=unchecked,
            reads=reads,
        )
    return Rules(fields, rules.values(), scheme=scheme, defaults=RuleDefaults(**defaults))


def _parameters(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _draw_questions(one_of, rng):
    alternatives = one_of(1, 2, 5)
    yield Asked(one_of(*EXPLAINING), ENOUGH, alternatives)
    for decoder in rng.permutation(EXACT)[:2].tolist():
        yield Asked(decoder, ENOUGH, 0)
    decoder = one_of(*EXPLAINING, *EXACT, "beam")
    yield Asked(decoder, one_of(*SMALL), one_of(0, alternatives) if decoder in EXPLAINING else 0)
    if rng.random() < 0.2:
        yield Asked(one_of("beam", "argmax"), one_of(ENOUGH, Budget()), 0)


# Checking statements.


def check_decoding(oracle, found, asked, count):
    """Raises ``FalseStatementError`` if a decoding is wrong; counts statements by topic."""
    say = partial(_say, count)
    answer = None
    say("labels", len(found.labels) == len(oracle.words), f"{found.labels} for {oracle.words}")
    if oracle.is_legal(found.labels):
        answer = _check_answer(oracle, found, asked, say)
    else:
        may = asked.decoder == "argmax" or oracle.best_legal == -inf
        say("labels", may, f"{found.labels} is not legal")
        say("labels", not found.optimal, "an illegal labelling is said to be optimal")

    say("bound", found.bound >= oracle.best - CLOSE, f"{oracle.best} is possible")
    if found.optimal:
        say("optimal", found.worth > -inf, "optimal, but not possible")
        say("optimal", found.worth >= oracle.best - CLOSE, f"{oracle.best} is possible")
        say("optimal", _close(found.bound, found.worth), "optimal, but the bound is another")
    if found.status == "infeasible":
        say("infeasible", oracle.best == -inf, f"something is worth {oracle.best}")
        _check_clash(oracle, found, asked, say)
    else:
        say("clash", not found.clash, "a clash where nothing is said to be infeasible")
    _check_status(found, answer, say)
    if asked.generous:
        expected = "infeasible" if oracle.best == -inf else "an optimum"
        proven = found.status == "infeasible" or found.optimal
        say("proof", proven, f"{expected} is not proven with any number of candidates")
    if asked.alternatives:
        _check_alternatives(oracle, found, asked, answer, say)
    else:
        say("margin", found.margin is None, f"margin {found.margin}, but nobody asked")


def _say(count, kind, true, why=""):
    if not true:
        raise FalseStatementError(f"{kind}: {why}")
    count[kind] += 1


def _close(a, b):
    return a == b or isclose(a, b, rel_tol=0, abs_tol=CLOSE)


def _check_answer(oracle, found, asked, say):
    """Checks labels, fields, worth and checks of a decoding; returns the oracle's verdict."""
    spans = oracle.spans_of(found.labels)
    shown = {name: list(values) for name, values in found.fields.items()}
    values = []
    for span in spans:
        name = oracle.names[span.field]
        say("fields", shown.get(name), f"{name} lacks the span {span}")
        value = shown[name].pop(0)
        say("fields", value.words == (span.start, span.end), f"{value} is not at {span}")
        say("fields", value.text == oracle.text(span), f"{value} is not {oracle.text(span)!r}")
        allowed = oracle.look(span)[0] or (None,)
        values.append(plain(value.value))
        say("fields", values[-1] in allowed, f"{value} may be read as {allowed}")
    say("fields", not any(shown.values()), f"spans that are not there: {shown}")

    log_prob = oracle.log_prob(found.labels)
    verdict = oracle.judge(spans, values)
    say("log_prob", _close(found.log_prob, log_prob), f"it is {log_prob}")
    say("penalty", _close(found.penalty, verdict.cost), f"it is {verdict.cost}")
    say("worth", _close(found.worth, log_prob - verdict.cost), f"it is {log_prob - verdict.cost}")
    states = {(c.id, c.state) for c in found.checks if c.state != "vacuous"}
    expected = {(name, "violated") for name in verdict.violated}
    expected |= {(name, "satisfied") for name in verdict.satisfied}
    different = states ^ expected
    say("checks", not different, f"not both said and true: {different}")
    if log_prob == -inf:
        say("labels", asked.decoder == "argmax" or oracle.best_legal == -inf, "impossible labels")
    elif verdict.cost == inf and asked.decoder not in ("argmax", "beam"):
        say("fallback", _close(log_prob, oracle.best_legal), "not the best legal labelling")
    if asked.budget.max_cost is not None and asked.decoder != "argmax":
        floor = oracle.best_legal - asked.budget.max_cost
        say("max_cost", log_prob >= floor - CLOSE, f"log p is to be at least {floor}")
    return verdict


def _check_status(found, verdict, say):
    proven = found.status in ("satisfied", "relaxed", "unchecked")
    say("status", proven == found.optimal, f"{found.status}, and optimal is {found.optimal}")
    if not proven:
        say("status", found.status in ("infeasible", "exhausted"), found.status)
        return
    expected = "satisfied" if verdict.satisfied else "unchecked"
    expected = "relaxed" if verdict.violated else expected
    say("status", found.status == expected, f"{found.status}, expected {expected}")


def _check_clash(oracle, found, asked, say):
    clash = set(found.clash)
    if not clash:
        named = asked.generous and asked.decoder in EXPLAINING
        say("clash", not named, "infeasible without a clash")
        return
    if oracle.best_legal == -inf:
        say("clash", found.clash == ("legal",), f"nothing is legal, but {found.clash} clash")
        return
    say("clash", len(clash) == len(found.clash), f"{found.clash} has something twice")
    say("clash", clash <= oracle.demands(), f"{clash - oracle.demands()} is not demanded")
    say("clash", not oracle.can_hold(clash), f"{clash} can hold together")
    if found.clash_minimal:
        for one in clash:
            rest = clash - {one}
            say("clash_minimal", oracle.can_hold(rest), f"{rest} cannot hold together either")


def _check_alternatives(oracle, found, asked, answer, say):
    listed = set()
    if answer is not None:
        listed.add(answer.seen)
    margin = None
    for number, other in enumerate(found.alternatives):
        say("alternatives", oracle.is_legal(other.labels), f"{other.labels} is not legal")
        verdict = _check_answer(oracle, other, asked, say)
        say("alternatives", verdict.seen not in listed, f"number {number} has values seen before")
        say("alternatives", other.worth > -inf, f"number {number} violates what is hard")
        best = oracle.best_without(listed)
        say("bound", other.bound >= best - CLOSE, f"alternative {number}: {best} is possible")
        if other.optimal:
            say("alternatives", other.worth >= best - CLOSE, f"number {number}: {best} is possible")
            say("alternatives", _close(other.bound, other.worth), f"bound of number {number}")
        _check_status(other, verdict, say)
        say("proof", other.optimal or not asked.generous, f"alternative {number} is not proven")
        listed.add(verdict.seen)
        margin = found.worth - other.worth if margin is None else margin
    count = len(found.alternatives)
    say("alternatives", count <= asked.alternatives, f"{count} alternatives")
    if asked.generous and found.optimal:
        expected = min(asked.alternatives, len(oracle.worths) - 1)
        say("alternatives", count == expected, f"{count} alternatives, expected {expected}")
        expected = inf if margin is None else margin
        right = found.margin is not None and _close(found.margin, expected)
        say("margin", right, f"{found.margin}, expected {expected}")
    if found.margin is not None:
        say("margin", found.optimal, "a margin without an optimum")
        most = oracle.best_without({answer.seen})
        safe = most == -inf or most <= found.worth - found.margin + CLOSE
        say("margin", safe, f"{found.margin}, but other values are worth {most}")
    if answer is not None and oracle.best > -inf:
        _check_confidence(oracle, found, asked, answer, say)


def _check_confidence(oracle, found, asked, answer, say):
    unknown = set(found.confidence) - set(oracle.names)
    say("confidence", not unknown, f"{unknown} are no fields")
    # A single number if every rule is compiled; rules judged in Python give an interval.
    narrow = asked.generous and not plan_of(oracle.rules).python
    for number, name in enumerate(oracle.names):
        probability = oracle.probability(number, answer.seen[number])
        if name not in found.confidence:
            there = answer.seen[number] or probability < 1 - 1e-6
            say("confidence", not (asked.generous and there), f"{name} has none")
            continue
        low, high = found.confidence[name].low, found.confidence[name].high
        say("confidence", 0 <= low <= high <= 1, f"of {name} is from {low} to {high}")
        inside = low - 1e-9 <= probability <= high + 1e-9
        say("confidence", inside, f"of {name} is {probability}, not from {low} to {high}")
        say("confidence", not narrow or high - low <= 1e-6, f"of {name} is from {low} to {high}")


# Running.


def check_case(number):
    """Counts of true statements about one problem; raises if a statement is false."""
    document, scores, rules, questions = draw(number)
    count = Counter(cases=1)
    asked = found = None
    try:
        oracle = Oracle(document, scores, rules)
        count[_kind(oracle)] += 1
        for asked in questions:
            found = None
            found = lawful.decode(
                document, scores, rules, decoder=asked.decoder, budget=asked.budget,
                alternatives=asked.alternatives,
            )  # fmt: skip
            check_decoding(oracle, found, asked, count)
            count[f"by {asked.decoder}"] += 1
            count[f"{found.status}"] += 1
    except Exception as error:
        false = isinstance(error, FalseStatementError)
        what = str(error) if false else f"raised\n{traceback.format_exc()}"
        shown = _describe(number, document, scores, rules, asked, found)
        raise FalseStatementError(f"{what}\n\n{shown}") from error
    return count


def _kind(oracle):
    if oracle.best == -inf:
        return "case: nothing legal" if oracle.best_legal == -inf else "case: infeasible"
    return "case: rules cost something" if oracle.best < oracle.best_legal - CLOSE else "case: easy"


def _describe(number, document, scores, rules, asked, found):
    with np.printoptions(precision=17, linewidth=100):
        probs = np.array2string(np.exp(scores.log_probs), separator=", ")
    lines = [
        f"words: {document.words}",
        f"labels: {scores.labels}",
        f"probs: {probs}",
        f"scheme: {rules.scheme}",
        *(f"{field}" for field in rules.fields),
        *(f"{rule}" for rule in rules.rules),
        f"{rules.defaults}",
        f"{asked}",
        f"{found!r}",
        f"repeat with: python -m tests.fuzz --case {number}",
    ]
    return "\n".join(lines)


def _try_case(number):
    try:
        return check_case(number)
    except FalseStatementError as error:
        return f"case {number}: {error}"


def main(arguments=None):
    """Runs cases until one fails; exit code 1 if one does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="another one draws other cases")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--case", type=int, help="run only the case with this number")
    options = parser.parse_args(arguments)
    if options.cases < 1:
        parser.error(f"cases is {options.cases}, expected 1 or more")
    first = options.seed * 10**9 if options.case is None else options.case
    numbers = range(first, first + (options.cases if options.case is None else 1))
    began = shown = time.monotonic()
    count = Counter()
    with Pool(options.workers) as pool:
        for result in pool.imap_unordered(_try_case, numbers, chunksize=20):
            if isinstance(result, str):
                print(f"FALSE after {count['cases']:,} cases\n{result}")
                return 1
            count += result
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                speed = count["cases"] / (shown - began)
                print(f"{count['cases']:,} cases, {speed:.0f} per second", flush=True)
    for kind, times in sorted(count.items()):
        print(f"{times:12,}  {kind}")
    print(f"nothing false in {time.monotonic() - began:.0f} s")
    return 0


def run(cases, seed=0):
    """The counts of the first cases of a seed, in this process."""
    return sum(map(check_case, range(seed * 10**9, seed * 10**9 + cases)), Counter())


if __name__ == "__main__":
    sys.exit(main())
