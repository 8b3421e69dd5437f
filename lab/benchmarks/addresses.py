"""US addresses by usaddress' own model: its tag function, and each label in one run.

The model was trained on these addresses, so the shares of right words do not say how good it is on
new ones. ``tag`` refuses some true labels, too: there, one run per label cannot be right.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import usaddress

from examples.addresses import decoded
from tests.fixtures.outputs import SHARED

ADDRESSES = SHARED / "data" / "tasks" / "address-usaddress" / "training"
PAIRS = 40


def read_addresses(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Words and labels of each address."""
    for address in ET.parse(path).getroot():  # noqa: S314 - a file of ours
        words = [part.text or "" for part in address]
        if words and all(usaddress.tokenize(word) == [word] for word in words):
            yield words, [part.tag for part in address]


def is_tagged(labels: Sequence[str]) -> bool:
    """Whether usaddress.tag accepts these labels: it raises an error if one is in two runs."""
    seen: set[str] = set()
    last, second = "", False
    for label in labels:
        second = second or label == "IntersectionSeparator"
        name = f"Second{label}" if second and "StreetName" in label else label
        if name != last and name in seen:
            return False
        seen.add(name)
        last = name
    return True


def judge_addresses() -> None:
    """Prints errors, right words, right addresses and times, by file; then of glued addresses."""
    print(
        "| addresses | number | errors of tag | with the rule | not proven | errors on true labels "
        "| right words of refused ones, % | with the rule | median ms | worst ms |"
    )
    print(f"|{' --- |' * 10}")
    files = [
        (name, list(read_addresses(ADDRESSES / name)))
        for name in ("labeled.xml", "us50_train_tagged.xml")
    ]
    every = [each for _, some in files for each in some]
    chosen = np.random.default_rng(0).integers(0, len(every), (PAIRS, 2)).tolist()
    glued = [(every[a][0] + every[b][0], every[a][1] + every[b][1]) for a, b in chosen]
    for name, addresses in (*files, ("two in one string", glued)):
        errors = still = unproven = true_errors = words_refused = right_before = right_now = 0
        times = []
        for words, true in addresses:
            before = usaddress.TAGGER.tag(usaddress.tokens2features(words))
            begin = perf_counter()
            found = decoded(words)
            times.append(1000 * (perf_counter() - begin))
            still += not is_tagged(found.labels)
            unproven += not found.optimal or found.decoder != "paths"
            if is_tagged(before):
                if list(found.labels) != before:
                    raise RuntimeError(f"{words} were accepted, but changed")
                continue
            errors += 1
            true_errors += not is_tagged(true)
            words_refused += len(words)
            right_before += sum(a == b for a, b in zip(before, true, strict=True))
            right_now += sum(a == b for a, b in zip(found.labels, true, strict=True))
        shares = (
            f"{100 * right / words_refused:.1f}" if words_refused else "-"
            for right in (right_before, right_now)
        )
        print(
            f"| {name} | {len(addresses):,} | {errors} | {still} | {unproven} | {true_errors} "
            f"| {' | '.join(shares)} | {np.median(times):.1f} | {max(times):.0f} |",
            flush=True,
        )
