"""Values instead of labels on real documents: ad orders with five values each, and no labels.

    python -m lab.benchmarks.adbuy train --base MiniLM/ --device cuda --out build/adbuy
    python -m lab.benchmarks.adbuy measure build/adbuy

With the folders of several runs, ``measure`` takes the mean of their models' probabilities.

Needs the documents in ``../shared/data/adbuy``, which are not part of the project. They are split
in halves: a model is trained on the values of one half and tested on the other, both ways. A value
is right if it is the one that a person read, wherever it stands: amounts and dates by value, names
without regard to case, punctuation, blanks, an account number in parentheses (people wrote it down
or left it out), and one wrong letter in ten.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from math import exp, inf, log
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from lawful import Budget, Decoding, Document, Field, Rules, Scores, decode
from lawful.candidates.field_spans import field_spans
from lawful.candidates.grounding.matches import Occurrences, distance, fold
from lawful.documents.document import Box
from lawful.documents.scores import log_softmax
from lawful.documents.span_scores import SpanScores
from lawful.learn.align import Truth
from lawful.readers.page import Page, Word, make_document
from lawful.rules.packs import PACKS
from lawful.values import read
from tests.fixtures.outputs import SHARED

DATA = SHARED / "data" / "adbuy" / "documents.jsonl.gz"

COLUMNS = {
    "gross": "gross_amount",
    "contract": "contract_num",
    "flight_from": "flight_from",
    "flight_to": "flight_to",
    "advertiser": "advertiser",
}
_NUMBER = re.compile(r"\(\s*\d+\s*\)")
FOUR = ("gross", "contract", "flight_from", "flight_to")
"""The fields that are not names."""


@cache
def ad_rules() -> Rules:
    """The rule pack, whose five fields every document has."""
    rules = Rules.load(PACKS["ad-order"])
    fields = (
        replace(f, optional=False, presence="required") if f.name in COLUMNS else f
        for f in rules.fields
    )
    return replace(rules, fields=tuple(fields))


def read_ads(path: Path) -> Iterator[tuple[Document, Truth]]:
    """The documents that have words, in reading order, with their true values."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if not line["words"]:
                continue
            pages = [Page([], (612.0, 792.0)) for _ in range(max(line["pages"]) + 1)]
            for word, box, page in zip(line["words"], line["boxes"], line["pages"], strict=True):
                pages[page].words.append(Word(word, Box(*box)))
            values = {
                name: (line["label"][column],)
                for name, column in COLUMNS.items()
                if line["label"][column]
            }
            yield make_document(line["id"], pages), Truth(line["id"], values)


def half_of(document: Document, split: str) -> int:
    """The half that a document belongs to: by its id, or by the station that it names most."""
    key = document.id
    if split == "stations":
        calls = Counter(w[:4] for w in document.words if _is_call_sign(w))
        key = calls.most_common(1)[0][0] if calls else ""
    return sha256(key.encode()).digest()[0] % 2


def _is_call_sign(word: str) -> bool:
    letters = word.removesuffix("-TV").removesuffix("-DT").strip("(),.:")
    return len(letters) == 4 and letters.isalpha() and letters.isupper() and letters[0] in "WK"


@dataclass(frozen=True, slots=True)
class Run:
    """What is trained."""

    base: str
    device: str | None
    split: str
    rounds: int
    epochs: int
    layers: int | None
    lines: bool
    rate: float
    seed: int


def train(ads: list[tuple[Document, Truth]], run: Run, out: Path) -> None:
    """Trains on each half, and writes the scores of the other half's words."""
    from lawful.models.recipe import Recipe
    from lawful.models.rounds import train_on_values
    from lawful.models.tagger import from_pretrained

    rules = ad_rules()
    out.mkdir(parents=True, exist_ok=True)
    halves: list[list[tuple[Document, Truth]]] = [[], []]
    for document, truth in ads:
        halves[half_of(document, run.split)].append((document, truth))
    print(f"halves by {run.split}: {len(halves[0])} and {len(halves[1])} documents", flush=True)
    recipe = Recipe(epochs=run.epochs, batch=16, rate=run.rate, patience=run.epochs, seed=run.seed)
    for number, half in enumerate(halves):
        began = perf_counter()
        folder = out / f"model-{number}"
        for each in train_on_values(
            [document for document, _ in half],
            {truth.id: truth for _, truth in half},
            rules, run.base, folder, recipe,
            rounds=run.rounds, share=0.1, device=run.device, layers=run.layers,
            lines=run.lines,
        ):  # fmt: skip
            states = Counter(state for page in each.aligned for state in page.states.values())
            print(
                f"half {number}, round {each.number}: F1 {100 * each.f1:.1f}, {dict(states)}, "
                f"{each.changed} labels changed, {perf_counter() - began:.0f} s",
                flush=True,
            )
            tagger = from_pretrained(each.folder, device=run.device)
            arrays = {
                scored.document.id: scored.scores.log_probs.astype(np.float16)
                for scored in tagger.predict(document for document, _ in halves[1 - number])
            }
            path = out / f"scores-{each.number}-{number}.npz"
            np.savez_compressed(path, labels=np.array(tagger.labels), **arrays)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for a document: by field, whether it is right and how sure that is."""

    right: Mapping[str, bool]  # fields that have a true value
    sure: Mapping[str, float]  # nats; the lowest of all for a field without a value
    seconds: float


def mean_scores(paths: Sequence[Path]) -> Iterator[tuple[str, Scores]]:
    """The means of the probabilities in files of scores, by document."""
    files = [np.load(path) for path in paths]
    labels = files[0]["labels"].tolist()
    if any(file["labels"].tolist() != labels for file in files):
        raise SystemExit(f"models of other labels: {', '.join(map(str, paths))}")
    for id_ in sorted(set(files[0].files) - {"labels"}):
        probs = [np.exp(log_softmax(file[id_].astype(np.float64))) for file in files]
        yield id_, Scores.from_probs(np.mean(probs, axis=0), labels)


def answers(
    ads: Mapping[str, tuple[Document, Truth]], paths: Sequence[Path], rules: Rules
) -> Iterator[Answer]:
    """The answers for the documents of a file of scores, or of the mean of several."""
    for id_, scores in mean_scores(paths):
        document, truth = ads[id_]
        began = perf_counter()
        spans = field_spans(document, scores, rules)
        found = decode(document, spans, rules, budget=Budget(seconds=10))
        seconds = perf_counter() - began
        right, sure = {}, {}
        for f in rules.fields:
            if f.name in truth.values:
                value = next(iter(found.values(f.name)), None)
                right[f.name] = value is not None and is_right(value, truth.values[f.name][0], f)
                sure[f.name] = -inf if value is None else margin(spans, document, found, f, value)
        yield Answer(right, sure, seconds)


def margin(spans: SpanScores, document: Document, found: Decoding, f: Field, value: Any) -> float:
    """How sure a value is: the odds of all its occurrences, and the weights of its rules."""
    share = 0.0
    for span, odds in zip(spans.spans, spans.log_odds.tolist(), strict=True):
        if span.type == f.label and value in read(document.text(span.start, span.end), f.type)[:1]:
            share += 1 / (1 + exp(-odds))
    share = min(max(share, 1e-9), 1 - 1e-9)
    names = {rule.id: rule.names for rule in ad_rules().parsed}
    weights = {rule.id: min(rule.weight, 10.0) for rule in ad_rules().parsed}
    signs = {"satisfied": 1, "violated": -1}
    return log(share / (1 - share)) + sum(
        signs.get(check.state, 0) * weights[check.id]
        for check in found.checks
        if f.name in names.get(check.id, ())
    )


def is_right(found: Any, text: str, f: Field) -> bool:
    """Whether a value is the true one; dates with the month first."""
    if f.type == "text":
        one, other = (fold(_NUMBER.sub("", each)) for each in (str(found), text))
        return distance(one, other, len(other) // 10) <= len(other) // 10
    return found in read(text, f.type)[:1]


def automated(pages: Iterable[tuple[float, bool]], share: float = 0.99) -> float:
    """The share of documents that are above the lowest threshold at which enough are right."""
    ranked = sorted(pages, key=lambda page: (-page[0], page[1]))
    most = right = 0
    for count, (sure, is_right) in enumerate(ranked, 1):
        right += is_right
        last = count == len(ranked) or ranked[count][0] < sure
        if last and right >= share * count:
            most = count
    return most / max(len(ranked), 1)


def measure(ads: list[tuple[Document, Truth]], folders: Sequence[Path], number: int) -> None:
    """Prints how often fields are right, without and with rules, and what needs no person."""
    by_id = {document.id: (document, truth) for document, truth in ads}
    printed: Counter[str] = Counter()
    types = {f.name: f.type for f in ad_rules().fields}
    for document, truth in ads:
        occurrences = Occurrences(document)
        for name, values in truth.values.items():
            printed[name] += bool(occurrences.find(values[0], types[name]))
    for title, rules in (
        ("without rules", replace(ad_rules(), rules=())),
        ("with rules", ad_rules()),
    ):
        found = [
            answer
            for half in (0, 1)
            for answer in answers(
                by_id, [folder / f"scores-{number}-{half}.npz" for folder in folders], rules
            )
        ]
        print(f"{title}, {len(found)} documents, {sum(a.seconds for a in found):.0f} s")
        print("| field | right | of the printed | no person needed, 99 % right |")
        for name in COLUMNS:
            pages = [(a.sure[name], a.right[name]) for a in found if name in a.right]
            right = sum(is_right for _, is_right in pages)
            print(
                f"| {name} | {right / len(pages):.1%} | {right / printed[name]:.1%} | "
                f"{automated(pages):.1%} |"
            )
        four = [
            (min(a.sure.get(name, inf) for name in FOUR), all(a.right.get(n, True) for n in FOUR))
            for a in found
        ]
        right = sum(is_right for _, is_right in four)
        print(f"| all but the name | {right / len(four):.1%} | | {automated(four):.1%} |")
        print(f"slowest document: {max(a.seconds for a in found):.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("--base", required=True)
    training.add_argument("--device")
    training.add_argument("--split", choices=("ids", "stations"), default="ids")
    training.add_argument("--rounds", type=int, default=2)
    training.add_argument("--epochs", type=int, default=12)
    training.add_argument("--layers", type=int)
    training.add_argument("--lines", action="store_true", help="places in printed lines")
    training.add_argument("--limit", type=int, help="documents, at most")
    training.add_argument("--rate", type=float, default=1e-4)
    training.add_argument("--seed", type=int, default=0)
    training.add_argument("--out", type=Path, required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("folders", type=Path, nargs="+", metavar="folder")
    measuring.add_argument("--round", type=int, default=2)
    given = parser.parse_args()
    if not given.data.is_file():
        parser.error(f"needs {given.data}")
    ads = list(read_ads(given.data))
    if given.command == "measure":
        measure(ads, given.folders, given.round)
        return
    run = Run(
        given.base, given.device, given.split, given.rounds, given.epochs, given.layers,
        given.lines, given.rate, given.seed,
    )  # fmt: skip
    train(ads[: given.limit], run, given.out)


if __name__ == "__main__":
    main()
