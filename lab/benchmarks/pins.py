"""Pins: how long a page takes after one, and how often one moves other words.

    python -m lab.benchmarks.pins [--outputs demo,cord-l2,cord-l6text,wild-l2text] [--pages N]

The demo's pages have a pin for every true span, one at a time: these are for the time. On the
outputs of real models, a pin corrects one error of the decoding without pins: a true span that it
lacks (the words are the field), or a span that is not true (the words are not the field). Counted
are the pins that move words which they do not mention, and whether the labels of these words are
true before and after.

The time is that of ``decode`` with the decoding before the pin, on one core, without waiting for
other processes. That of a page is the mean over its pins; ``by page`` are percentiles of pages,
``by pin`` those of all pins, most of which are on long pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from time import process_time

import numpy as np

from lab import receipts as demo
from lab.benchmarks.data import outputs_of, rules_of
from lab.benchmarks.study import Study, named
from lab.benchmarks.timing import percentiles
from lawful import Budget, Decoding, Pin, Rules, Scored, decode, read_jsonl
from tests.fixtures.outputs import OUTPUTS, require_outputs


def gold_spans(page: Scored, rules: Rules) -> dict[tuple[int, int], str]:
    """The fields of true spans."""
    scheme = rules.scheme_for(page.scores.labels)
    names = {f.label: f.name for f in rules.fields}
    spans = scheme.spans(scheme.indices(page.gold or ()))
    return {(start, end): names[type_] for type_, start, end in spans if type_ in names}


def true_pins(page: Scored, rules: Rules) -> Iterator[Pin]:
    """A pin for every true span."""
    for words, name in gold_spans(page, rules).items():
        yield Pin("is", words, name)


def corrections(page: Scored, rules: Rules, decoding: Decoding) -> Iterator[Pin]:
    """A pin for every error of a decoding."""
    gold = gold_spans(page, rules)
    found = {value.words: name for name, values in decoding.fields.items() for value in values}
    for words, name in gold.items():
        if found.get(words) != name:
            yield Pin("is", words, name)
    for words, name in found.items():
        overlaps = any(a < words[1] and words[0] < b for a, b in gold)
        if not overlaps:
            yield Pin("not", words, name)


def measure(name: str, pages: Iterable[Scored], rules: Rules, budget: Budget) -> None:
    """Decodes every page after every pin, and prints one line of the table."""
    count: Counter[str] = Counter()
    times, of_pages = [], []
    for page in pages:
        call = partial(decode, page.document, page.scores, rules, budget=budget)
        before = call()
        own = []
        for pin in true_pins(page, rules) if name == "demo" else corrections(page, rules, before):
            began = process_time()
            found = call(pins=[pin], before=before)
            own.append(process_time() - began)
            count["pins"] += 1
            count["proven"] += found.optimal
            others = [move for move in found.moved or () if not move.pinned]
            count["moving"] += bool(others)
            gold = page.gold or ()
            for move in others:
                was, is_ = (label == gold[move.word] for label in (move.old, move.new))
                count["fixed" if is_ and not was else "broken" if was and not is_ else "same"] += 1
        times += own
        of_pages += [float(np.mean(own))] if own else []
    pins_ = count["pins"]
    shares = [1000 * ms for each in (of_pages, times) for ms in percentiles(each, 50, 95, 100)]
    print(
        f"{name:<13}{len(of_pages):>6}{pins_:>6}{count['proven'] / pins_:>8.1%}"
        f"{count['moving']:>8}{count['moving'] / pins_:>7.0%}{count['fixed']:>7}"
        f"{count['broken']:>8}{count['same']:>7}{'':>3}{''.join(f'{ms:>8.1f}' for ms in shares)}",
        flush=True,
    )


def main() -> None:
    parser = Study(__doc__)
    parser.add_argument("--outputs", default=",".join(("demo", *OUTPUTS)))
    parser.add_argument("--pages", type=int, help="pages per model; default: all")
    parser.add_argument("--seconds", type=float, default=20, help="time limit per decoding")
    arguments = parser.parse_args()
    names = named(parser, arguments.outputs, ("demo", *OUTPUTS))
    if names != ["demo"]:
        require_outputs(parser)
    print(
        f"{'outputs':<13}{'pages':>6}{'pins':>6}{'proven':>8}{'moving':>8}{'':>7}{'fixed':>7}"
        f"{'broken':>8}{'other':>7}   {'by page, ms: 50 %, 95 %, worst':>24}; by pin"
    )
    budget = Budget(seconds=arguments.seconds)
    for name in names:
        if name == "demo":
            measure(name, read_jsonl(demo.shipped()), Rules.load(demo.RULES), budget)
        else:
            measure(name, outputs_of(name, arguments.pages), rules_of(name), budget)


if __name__ == "__main__":
    main()
