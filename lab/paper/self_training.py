"""Self-training, the paper's future work: a model is trained on pages that rules have corrected.

    python -m lab.paper.self_training --data build/cord --base MiniLM --layers 2 --rules cord.yaml

A teacher is trained on a share of the training documents and labels the rest, without their gold
labels. Students are trained from scratch on the share and, of the rest, on

- nothing: as the teacher, with another seed;
- legal: all pages, with the best legal labelling;
- sure: the pages with the most probable legal labellings, as many as in ``rules``;
- rules: pages that ``auto`` decodes with status ``satisfied`` and a margin of at least ``--margin``
  over the next best values;
- gold: all pages, with gold labels: the upper bound.

Measured on the test documents: entity F1 of the best legal labelling, and value F1 without and with
rules. Each result is a line added to ``--out``; ``--show FILE...`` prints a table of results.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, pstdev
from tempfile import TemporaryDirectory
from typing import Any

from lawful import Rules, Scored, decode, from_pretrained
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import Scoreboard, best_legal
from lawful.evaluation.split import sample
from lawful.io.jsonl import read_labelled
from lawful.models.network import Network
from lawful.models.recipe import Recipe
from lawful.models.tagger import Tagger
from lawful.models.tokenizer import Tokenizer
from lawful.models.training import labels_of, train

ARMS = ("nothing", "legal", "sure", "rules", "gold")


def fitted(
    pages: Sequence[Labelled],
    validation: Sequence[Labelled],
    labels: tuple[str, ...],
    arguments: argparse.Namespace,
    seed: int,
) -> Tagger:
    """A model trained on these pages, from its best epoch."""
    network = Network.start(arguments.base, labels, layers=arguments.layers, seed=seed)
    # The same number of steps for all, so that more pages do not mean longer training.
    epochs = max(1, round(arguments.pages / len(pages)))
    recipe = Recipe(epochs=epochs, batch=16, rate=arguments.rate, patience=epochs, seed=seed)
    with TemporaryDirectory() as folder:
        tokenizer = Tokenizer.load(arguments.base)
        for _ in train(network, tokenizer, pages, validation, Path(folder), recipe):
            pass
        return from_pretrained(folder)


def corrected(
    pages: Sequence[Scored], rules: Rules, margin: float
) -> Iterator[tuple[Labelled, bool]]:
    """For each page, its labels under rules, and whether they are used for training."""
    for page in pages:
        found = decode(page.document, page.scores, rules, alternatives=1)
        sure = found.margin is not None and found.margin >= margin
        kept = found.status == "satisfied" and found.optimal and sure
        yield Labelled(page.document, found.labels), kept


def legal(pages: Sequence[Scored], rules: Rules) -> Iterator[tuple[Labelled, float]]:
    """For each page, the best legal labelling, and its log-probability per word."""
    for page in pages:
        found = decode(page.document, page.scores, rules, decoder="paths")
        yield Labelled(page.document, found.labels), found.log_prob / max(1, len(page.document))


def measured(tagger: Tagger, test: Sequence[Labelled], rules: Rules) -> dict[str, float]:
    """The scores of a model on the test documents."""
    plain, ruled = Scoreboard(rules), Scoreboard(rules)
    for scored in tagger.predict(test):
        plain.add_labels(scored, best_legal(scored, rules))
        ruled.add(scored, decode(scored.document, scored.scores, rules))
    return {
        "entity_f1": plain.entities.f1,
        "value_f1": plain.values.f1,
        "value_f1_rules": ruled.values.f1,
        "entity_f1_rules": ruled.entities.f1,
    }


def run(arguments: argparse.Namespace, seed: int) -> Iterator[dict[str, object]]:
    """All arms for one seed."""
    rules = Rules.load(arguments.rules)
    free = Rules((), (), scheme=rules.scheme)
    parts = {
        p: list(read_labelled(arguments.data / f"{p}.jsonl"))
        for p in ("train", "validation", "test")
    }
    labels = labels_of([page for some in parts.values() for page in some])
    chosen = sample([page.document.id for page in parts["train"]], arguments.share, seed)
    mine = [page for page in parts["train"] if page.document.id in chosen]
    rest = [page for page in parts["train"] if page.document.id not in chosen]
    teacher = fitted(mine, parts["validation"], labels, arguments, seed)
    scored = list(teacher.predict([page.document for page in rest]))
    by_rules = [page for page, kept in corrected(scored, rules, arguments.margin) if kept]
    by_model = list(legal(scored, free))
    surest = sorted(by_model, key=lambda pair: -pair[1])[: len(by_rules)]
    added = {
        "nothing": [],
        "legal": [page for page, _ in by_model],
        "sure": [page for page, _ in surest],
        "rules": by_rules,
        "gold": rest,
    }
    truth = {page.document.id: page.gold for page in rest}
    for arm in ARMS:
        student = fitted([*mine, *added[arm]], parts["validation"], labels, arguments, seed + 100)
        right = [page.gold == truth[page.document.id] for page in added[arm]]
        yield {
            "data": arguments.data.name,
            "seed": seed,
            "arm": arm,
            "labelled": len(mine),
            "added": len(right),
            "added_right": sum(right),
            **measured(student, parts["test"], rules),
        }


def show(files: Sequence[Path]) -> None:
    """Prints means and standard deviations over seeds, as Markdown."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for file in files:
        for line in map(json.loads, file.read_text().splitlines()):
            found.setdefault((line["data"], line["arm"]), []).append(line)
    print("| data | trained on | pages | all right | entity F1 | value F1 | with rules |")
    print("| --- " * 7 + "|")
    for (data, arm), lines in sorted(found.items(), key=lambda pair: pair[0][0]):
        counts = [f"{mean(line[key] for line in lines):.0f}" for key in ("added", "added_right")]
        scores = [
            f"{100 * mean(some):.1f} ± {100 * pstdev(some):.1f}"
            for key in ("entity_f1", "value_f1", "value_f1_rules")
            for some in [[line[key] for line in lines]]
        ]
        print(f"| {' | '.join([data, arm, *counts, *scores])} |")


def main() -> None:
    """Trains and measures all arms for one seed, or prints a table of results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", type=Path, nargs="+", help="files of results to print a table of")
    parser.add_argument(
        "--data", type=Path, help="folder with train.jsonl, validation.jsonl and test.jsonl"
    )
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--base", type=Path, help="folder of the encoder")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument(
        "--share", type=float, default=0.1, help="share of documents with gold labels"
    )
    parser.add_argument("--margin", type=float, default=2.0, help="minimum margin, in nats")
    parser.add_argument("--pages", type=int, default=10_000, help="pages in all epochs together")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/self_training.jsonl"))
    arguments = parser.parse_args()
    if arguments.show:
        show(arguments.show)
        return
    if None in (arguments.data, arguments.rules, arguments.base):
        parser.error("--data, --rules and --base are needed, or --show")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for line in run(arguments, arguments.seed):
        print(line, flush=True)
        with arguments.out.open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
