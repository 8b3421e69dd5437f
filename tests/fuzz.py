"""Searches for a small document about which ``lawful.decode`` makes a false statement.

    python -m tests.fuzz 100000 --workers 2
    python -m tests.fuzz --case 17

draws random problems, decodes them with every decoder and many budgets, and compares each statement
with ``tests.oracles.statements``. It stops at the first false one, exits with 1, and prints the
problem and the command that repeats it.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections import Counter
from functools import partial
from math import inf, isclose
from multiprocessing import Pool

import numpy as np

import lawful
from lawful.rules.compiled.plan import plan_of
from tests.drawing import EXPLAINING, draw
from tests.oracles.statements import Oracle, plain

CLOSE = 1e-8  # nats: decoders take costs that differ by less than 1e-9 for equal


class FalseStatementError(AssertionError):
    """A statement about a document that is false."""


# Checking statements.


def check_decoding(oracle, found, asked, count):
    """Raises ``FalseStatementError`` if a decoding is wrong; counts statements by topic."""
    say = partial(_say, count)
    answer = None
    say("labels", len(found.labels) == len(oracle.words), f"{found.labels} for {oracle.words}")
    if oracle.is_legal(found.labels):
        answer = _check_answer(oracle, found, asked, say)
    else:
        may = asked.decoder == "argmax" or oracle.fallback == -inf
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
    oracle.choose(found.classes["kind"].value if found.classes else None)
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
    said = Counter((c.id, c.state) for c in found.checks if c.state != "vacuous")
    true = Counter((each.id, "violated") for each in verdict.violations)
    true.update((name, "satisfied") for name in verdict.holding)
    say("checks", said == true, f"said, not true: {said - true}; true, not said: {true - said}")
    if log_prob == -inf:
        say("labels", asked.decoder == "argmax" or oracle.fallback == -inf, "impossible labels")
    elif verdict.cost == inf and asked.decoder != "argmax":
        say("fallback", oracle.is_fallback(found.labels, verdict), "not what comes instead")
    pinned = found.pins and not found.optimal  # pins are obeyed at any cost
    if asked.budget.max_cost is not None and asked.decoder != "argmax" and not pinned:
        floor = oracle.best_legal - asked.budget.max_cost
        say(
            "max_cost", log_prob - oracle.prior >= floor - CLOSE, f"log p is to be at least {floor}"
        )
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
    if oracle.fallback == -inf:
        say("clash", found.clash == ("legal",), f"nothing is legal, but {found.clash} clash")
        return
    say("clash", len(clash) == len(found.clash), f"{found.clash} has something twice")
    say("clash", clash <= oracle.demands(), f"{clash - oracle.demands()} is not demanded")
    say("clash", not oracle.can_hold(clash), f"{clash} can hold together")
    if found.clash_minimal:
        for one in clash:
            rest = clash - {one}
            say("clash_minimal", oracle.can_hold(rest, one), f"{rest} cannot hold together either")


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
    names = [*oracle.names, *oracle.rules.classes]
    unknown = set(found.confidence) - set(names)
    say("confidence", not unknown, f"{unknown} are no fields")
    # A single number if every rule is compiled; rules judged in Python give an interval, and so do
    # those that leave next to nothing of the probability.
    little = oracle.best < oracle.best_legal - 300
    narrow = asked.generous and not little and not plan_of(oracle.rules).python
    for number, name in enumerate(names):
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
            if asked.generous and found.optimal:
                count.update(_topics(found, rules))
            count[f"by {asked.decoder}"] += 1
            count[f"{found.status}"] += 1
    except Exception as error:
        false = isinstance(error, FalseStatementError)
        what = str(error) if false else f"raised\n{traceback.format_exc()}"
        shown = _describe(number, document, scores, rules, asked, found)
        raise FalseStatementError(f"{what}\n\n{shown}") from error
    return count


PLACE = re.compile(r"\b(before|start|end|line|page|left|top|right|bottom)\(")


def _topics(found, rules):
    """What the rules of an optimum are about, with their states."""
    by_id = {rule.id: rule for rule in rules.rules}
    for check in found.checks:
        topics = {"order"} if check.id.startswith("order: ") else set()
        if check.implied:
            topics.add(check.id.partition(":")[2])
        elif rule := by_id.get(check.id):
            text = f"{check.id} {rule.when}"
            topics |= {"rows"} if rule.each else set()
            topics |= {word for word in ("previous", "where") if word in text}
            topics |= {"places"} if PLACE.search(text) else set()
            topics |= (
                {"given"} if any(re.search(rf"\b{name}\b", text) for name in rules.given) else set()
            )
        yield from (f"optimum: {topic}, {check.state}" for topic in topics)


def _kind(oracle):
    if oracle.best == -inf:
        return "case: nothing legal" if oracle.best_legal == -inf else "case: infeasible"
    return "case: rules cost something" if oracle.best < oracle.best_legal - CLOSE else "case: easy"


def _describe(number, document, scores, rules, asked, found):
    with np.printoptions(precision=17, linewidth=100):
        probs = np.array2string(np.exp(scores.log_probs), separator=", ")
    lines = [
        f"{document}",
        f"labels: {scores.labels}",
        f"probs: {probs}",
        f"scheme: {rules.scheme}",
        *(f"{field}" for field in rules.fields),
        *(f"{rule}" for rule in (*rules.rules, *rules.rows, *rules.words, *rules.orders)),
        f"{rules.boundaries}, given: {rules.given}",
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
