"""``lawful train``: fine-tunes an encoder on documents with gold labels, or with true values."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import typer

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.base.options import option, switch
from lawful.cli.commands import flag
from lawful.cli.options import RULE_NAMES, Device, Seed
from lawful.cli.output import duration, plural
from lawful.cli.terminal import Interrupted, results_console, say, warn
from lawful.cli.training_progress import Follower, Forecast
from lawful.cli.truth_files import (
    Columns,
    Known,
    TruthOption,
    labels_in_words,
    read_known,
    table_of,
)
from lawful.io.jsonl import read_labelled
from lawful.models.coverage import Coverage, hold_out
from lawful.models.pretrained import check_source
from lawful.models.shipped import base_named
from lawful.rules.packs import rules_named
from lawful.rules.rule_set import Rules

if TYPE_CHECKING:
    from lawful.models.recipe import Recipe
    from lawful.models.training import Epoch, Step, Told

EXAMPLE = "lawful train labelled.jsonl --base distilroberta-base --boxes --out my-model"

FEW = 100
"""Documents with true values below which ``lawful teach`` is the better start."""


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """What is made of the encoder: options of ``Network.start``."""

    PANEL: ClassVar[str] = "Model"

    layers: int | None = option(
        None, metavar="N", show_default="all", help="Keep only the first N encoder layers."
    )
    boxes: bool = switch("--boxes", help="Add box embeddings to a text encoder.")
    lines: bool = switch(
        "--lines", help="Add embeddings of places in printed lines to a text encoder."
    )
    crf: bool = switch("--crf", help="Add a CRF: scores of transitions.")
    window: int | None = option(
        None, metavar="N", show_default="the encoder's maximum",
        help="Window size, in word pieces.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How it is trained: options of ``Recipe``."""

    PANEL: ClassVar[str] = "Training"

    epochs: int | None = option(
        None, metavar="N", show_default="20; more for few documents",
        help="Maximum number of epochs.",
    )  # fmt: skip
    patience: int | None = option(
        None, metavar="N", show_default="a quarter of all; at least 5",
        help="Stop after N epochs without a better F1; while it is 0, without a lower loss.",
    )  # fmt: skip
    batch: int | None = option(
        None, metavar="N", show_default="32; fewer for few documents",
        help="Batch size, in windows.",
    )  # fmt: skip
    rate: float = option(1e-4, metavar="RATE", help="Encoder learning rate.")
    new_rate: float = option(
        1e-3, metavar="RATE", help="Learning rate of new parameters: head, boxes, CRF."
    )
    legal: float = option(
        0.0, metavar="WEIGHT", help="Weight of the loss term for illegal transitions."
    )


def train(
    documents: Path = typer.Argument(
        ..., metavar="DOCUMENTS", help="Documents as JSON lines with gold labels, or see --truth."
    ),
    base: str = typer.Option(
        ..., metavar="MODEL",
        help="Model to fine-tune: receipts or invoices (the shipped ones), a folder, or a name on "
        "the hub.",
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="FOLDER", help="Folder to write the model to."
    ),
    validation: Path | None = typer.Option(
        None, metavar="FILE", show_default="a share of DOCUMENTS", help="Documents to validate on."
    ),
    share: float = typer.Option(
        0.2, metavar="P", help="Share of DOCUMENTS to validate on, unless --validation."
    ),
    rules: str | None = typer.Option(
        None, "--rules", "-r", metavar="FILE",
        help=f"Check that the labels fit these rules: a file, or one of {RULE_NAMES}.",
    ),
    truth: TruthOption = None,
    column: Columns = None,
    rounds: int = typer.Option(
        2, metavar="N", help="With --truth: how often to label by the values, and train."
    ),
    *,
    encoder: EncoderOptions,
    training: TrainingOptions,
    seed: Seed = 0,
    device: Device = None,
    resume: bool = flag("--resume", help="Continue an interrupted run from its last epoch."),
) -> None:  # fmt: skip
    """Fine-tune an encoder on documents with gold labels, and keep the best epoch.

    With --truth, documents need no labels: the words that carry true values are labelled, a model
    is trained on them, chooses among the occurrences of each value, and is trained once more.
    """
    needed("torch", "lawful train")
    needed("transformers", "lawful train")
    from lawful.models.network import Network
    from lawful.models.recipe import Recipe
    from lawful.models.tagger import BOXLESS
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import labels_of
    from lawful.models.training import train as run

    recipe = Recipe(seed=seed, **asdict(training))
    base = base_named(base)
    check_source(base)
    if not Path(base).exists():
        say(f"no folder {base}: asking the hub for a model of that name")
    if truth is not None:
        if rules is None or validation is not None or resume:
            raise InputError(
                "--truth needs --rules, and goes with neither --validation nor --resume"
            )
        _train_on_values(
            read_known(documents, truth, rules_named(rules), column or ()),
            rules_named(rules), base, out, recipe, rounds, share, device, encoder,
        )  # fmt: skip
        return
    pages = list(read_labelled(documents))
    if validation is None:
        pages, checked = hold_out(pages, share, seed)
    else:
        checked = list(read_labelled(validation))
    labels = labels_of([*pages, *checked])
    coverage = Coverage.of(pages, checked)
    checks = None if rules is None else rules_named(rules)
    coverage.check(checks)
    if checks is not None:
        checks.scheme_for(labels)
    network = Network.start(base, labels, seed=seed, **asdict(encoder))
    say(
        f"{plural(len(pages))} to train on, {len(checked):,} to validate on; "
        f"{len(labels)} labels; {sum(p.numel() for p in network.parameters()):,} weights"
    )
    for warning in coverage.warnings():
        warn(warning)
    warnings.filterwarnings("ignore", BOXLESS)  # training on documents without boxes is deliberate
    tokenizer = Tokenizer.load(base)
    _follow(
        lambda step: run(
            network, tokenizer, pages, checked, out, recipe, device=device, resume=resume, told=step
        ),
        out,
    )


def _train_on_values(
    known: Known,
    rules: Rules,
    base: str,
    out: Path,
    recipe: Recipe,
    rounds: int,
    share: float,
    device: str | None,
    encoder: EncoderOptions,
) -> None:
    from lawful.models.deep import train_on_values
    from lawful.models.tagger import BOXLESS

    warnings.filterwarnings("ignore", BOXLESS)  # training on documents without boxes is deliberate

    def tell(number: int, epoch: Epoch) -> None:
        say(
            f"round {number}, epoch {epoch.number} of {epoch.of}: {_result(epoch)} "
            f"({epoch.seconds:.1f} s)"
        )

    say(f"{plural(len(known.documents))} with true values")
    if len(known.documents) < FEW:
        say("that is few for this kind of model: lawful teach learns from 20 documents in seconds")
    for each in train_on_values(
        known.documents, known.truths, rules, base, out, recipe, rounds=rounds, share=share,
        device=device, told=Forecast(rounds).step, epoch=tell, **asdict(encoder),
    ):  # fmt: skip
        results_console(stderr=True).print(table_of(each.aligned, rules))
        say(
            f"round {each.number}: {labels_in_words(each.aligned)}, {each.changed:,} changed; "
            f"F1 {100 * each.f1:.1f} by these labels on documents that were held back"
        )
        if not each.f1:
            warn(f"round {each.number}: {NOTHING_LEARNT}")
    say(f"{out}: the model of the last round")
    if not each.f1:
        raise typer.Exit(1)


NOTHING_LEARNT = (
    "F1 is 0.0: the model finds nothing right in the validation documents, so it is of no use. "
    "More epochs (--epochs), a higher --rate such as 2e-4, a smaller --batch or more labelled "
    "documents help"
)


def _result(epoch: Epoch) -> str:
    """The loss and the F1 of an epoch, and what that means."""
    text = f"loss {epoch.loss:.3f}, F1 {100 * epoch.f1:.1f} on the validation documents"
    if epoch.best:
        return text + ", the best so far" * epoch.progress
    text += ": the model still says O everywhere"
    if epoch.found:
        text = text.removesuffix("the model still says O everywhere")
        text += f"none of the {epoch.found:,} spans that the model finds is right"
    if epoch.number > 1:
        text += "; the loss still falls" if epoch.progress else "; the loss does not fall"
    return text


def _follow(run: Callable[[Told], Iterator[Epoch]], out: Path) -> None:
    """Runs a training and prints its epochs; ``run`` takes a callback for every step."""
    last = None
    try:
        forecast = Forecast()
        with Follower() as follower:

            def step(each: Step) -> None:
                forecast.step(each)
                follower.step(each)

            for epoch in run(step):
                last = epoch
                follower.epoch(epoch.best)
                seconds = duration(epoch.seconds)
                say(f"epoch {epoch.number} of {epoch.of}: {_result(epoch)} ({seconds})")
    except KeyboardInterrupt:
        if last is None:
            message = "interrupted before the end of the first epoch; nothing was saved"
        else:
            kept = "a model that finds nothing right yet"
            if last.best:
                kept = f"the best model so far, F1 {100 * last.best:.1f}"
            message = f"interrupted; {out} has {kept}; continue with --resume"
        raise Interrupted(message) from None
    if last is None:
        say(f"{out}: the run had already ended")
        return
    if last.number < last.of:
        what = "a better F1" if last.best else "an F1 above 0 or a lower loss"
        say(f"stopped: {last.stale} epochs without {what}")
    say(f"{out}: F1 {100 * last.best:.1f} on the validation documents")
    if not last.best:
        warn(NOTHING_LEARNT)
        raise typer.Exit(1)
