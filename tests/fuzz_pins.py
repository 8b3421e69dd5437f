"""Searches for a small document about which ``lawful.decode`` makes a false statement under pins.

    python -m tests.fuzz_pins 20000
    python -m tests.fuzz_pins --case 17

The documents, rules and questions are those of ``tests.fuzz``, and the statements are compared with
``tests.oracles.pins``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from decimal import Decimal
from functools import partial
from itertools import combinations
from math import inf

import numpy as np

import lawful
from tests.fuzz import FalseStatementError, check_decoding, draw
from tests.oracles.checks_by_hand import NUMBERS, POSSIBLE_VALUES, WORDS, possible_values
from tests.oracles.pins import PinnedOracle, contradict, name_of


def draw_pins(number, document, scores, rules):
    """One to four pins; half of them are true of some labelling, so that many can hold."""
    rng = np.random.default_rng([number, 1])
    words, names = len(document), [f.name for f in rules.fields]
    if not names:
        names = [None]

    def one_of(*options):
        return options[rng.integers(len(options))]

    pins = []
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(words))
        end = int(rng.integers(start + 1, min(words, start + 2) + 1))
        name = one_of(*names)
        kinds = ["is", "is", "nothing", "not", "value", "value", "absent", "text"]
        kind = one_of(*kinds) if name is not None else one_of("nothing", "text")
        if kind == "value":
            field = next(f for f in rules.fields if f.name == name)
            value = None if field.many else _draw_value(one_of, document, field)
            if value is None:
                continue
            pins.append({"field": name, "value": value})
        elif kind == "absent":
            pins.append({"field": name, "value": None})
        elif kind == "text":
            count = one_of(end - start, 1)
            pins.append({"words": (start, end),
                         "text": " ".join(one_of(*WORDS) for _ in range(count))})  # fmt: skip
        elif kind == "not":
            pins.append({"words": (start, end), "not": name})
        else:
            pins.append({"words": (start, end), "field": name if kind == "is" else None})
    return [pin for i, pin in enumerate(pins) if pin not in pins[:i]]


def _draw_value(one_of, document, field):
    """A value of the document or another one, as a text, a number or a date."""
    some = one_of(*document.words, *POSSIBLE_VALUES["date"], *NUMBERS, "A")
    values = possible_values(some, field.type)
    if not values:
        return None
    value = one_of(some, *values)
    if isinstance(value, str) or hasattr(value, "isoformat"):
        return value
    return one_of(Decimal(value.numerator) / value.denominator, float(value))


def check_case(number):
    """Counts of true statements about one problem; raises if a statement is false."""
    document, scores, rules, questions = draw(number)
    pins = draw_pins(number, document, scores, rules)
    count = Counter(cases=1)
    said = []
    try:
        if not pins:
            return count
        if any(contradict(*two, rules) for two in combinations(pins, 2)):
            _check_contradiction(document, scores, rules, pins)
            count["case: contradictory"] += 1
            return count
        oracle = PinnedOracle(document, scores, rules, pins)
        count["case: infeasible" if oracle.best == -inf else "case: feasible"] += 1
        count.update(f"pin: {lawful.Pin.of(pin).kind}" for pin in pins)
        count[f"scheme: {rules.scheme}"] += 1
        for asked in questions:
            if asked.decoder == "argmax":
                continue
            call = partial(
                lawful.decode, document, scores, rules, decoder=asked.decoder, budget=asked.budget
            )
            found = call(alternatives=asked.alternatives, pins=pins)
            said[:] = [asked, found]
            check_decoding(oracle, found, asked, count)
            _check_pins(oracle, found, call(), asked, count)
            count[f"by {asked.decoder}"] += 1
            count[f"{found.status}"] += 1
    except Exception as error:
        lines = [f"{type(error).__name__}: {error}", f"{document}", f"{scores.labels}",
                 f"{np.exp(scores.log_probs).tolist()}", f"{rules.scheme}",
                 *map(str, rules.fields), *map(str, rules.rules), f"{rules.defaults}", f"{pins}",
                 *map(str, said), f"python -m tests.fuzz_pins --case {number}"]  # fmt: skip
        raise FalseStatementError("\n".join(lines)) from error
    return count


def _check_contradiction(document, scores, rules, pins):
    named = {
        frozenset(name_of(pin)[5:] for pin in two)
        for two in combinations(pins, 2)
        if contradict(*two, rules)
    }
    try:
        lawful.decode(document, scores, rules, pins=pins)
    except lawful.InputError as error:
        _, _, two = str(error).partition("contradict each other: ")
        if frozenset(two.split("; ")) not in named:
            raise FalseStatementError(f"{error}, expected one of {named}") from None
    else:
        raise FalseStatementError("contradictory pins are no error")


def _check_pins(oracle, found, without, asked, count):
    """What is said of pins: that the answer agrees with them, what moved, and because of what."""

    def say(true, why):
        if not true:
            raise FalseStatementError(why)
        count["pins"] += 1

    for each in (found, *found.alternatives):
        if each.optimal:
            say(not oracle.broken_by(each.labels), f"{each.labels} breaks a pin")
    say([pin.id for pin in found.pins] == [name_of(pin) for pin in oracle.pins], "other pins")
    if asked.budget.seconds is None:
        moved = [(m.word, m.old, m.new) for m in found.moved]
        before, after = without.labels, found.labels
        expected = [(i, *two) for i, two in enumerate(zip(before, after, strict=True))
                    if two[0] != two[1]]  # fmt: skip
        say(moved == expected, f"moved {moved}, expected {expected}")
    changed = {c.word: c for c in found.corrections}
    for word, correction in changed.items():
        if correction.because is None:
            continue
        group = {word}
        for step in (-1, 1):
            at = word + step
            while at in changed:
                group.add(at)
                at += step
        backs = [
            [changed[i].old if i in some else label for i, label in enumerate(found.labels)]
            for some in ({word}, group)
        ]
        if not all(map(oracle.is_legal, backs)) or oracle.broken_by(found.labels):
            continue
        for pin in oracle.pins:
            about_words = "text" not in pin and pin.get("value") is None
            if about_words:
                broken = any(name_of(pin) in oracle.broken_by(back) for back in backs)
                named = name_of(pin) in correction.because
                say(named == broken, f"{correction}: {name_of(pin)} is broken: {broken}")


def run(cases, seed=0):
    """The counts of the first cases of a seed."""
    return sum(map(check_case, range(seed * 10**9, seed * 10**9 + cases)), Counter())


def main(arguments=None):
    """Runs cases until one fails; exit code 1 if one does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="another one draws other cases")
    parser.add_argument("--case", type=int, help="run only the case with this number")
    options = parser.parse_args(arguments)
    try:
        if options.case is not None:
            count = check_case(options.case)
        else:
            count = run(options.cases, options.seed)
    except FalseStatementError as error:
        print(f"FALSE: {error}")
        return 1
    for kind, times in sorted(count.items()):
        print(f"{times:12,}  {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
