"""``lawful train``, ``predict``, ``extract`` and ``export``: from words to scores and fields."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lawful import demo
from lawful.batch import Result
from lawful.cli.options import (
    Candidates,
    DecoderName,
    Pool,
    Seconds,
    counted,
    rule_path,
    told,
)
from lawful.cli.output import (
    WRITERS,
    BadLines,
    Format,
    Unchecked,
    UncheckedOption,
    complain,
    good,
    leave,
    summarise,
)
from lawful.cli.tally import Tally
from lawful.datasets import rules_named
from lawful.datasets.split import sample
from lawful.decoders import check_call, decode
from lawful.decoding import Budget
from lawful.document import BadLine, Document, Labelled
from lawful.errors import InputError, LawfulError
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import read_documents, read_labelled, write_jsonl, write_npz
from lawful.models.extras import needed
from lawful.rules.definitions import Rules

if TYPE_CHECKING:
    from lawful.models.tagger import Tagger
    from lawful.models.training import Recipe


class Backend(StrEnum):
    """What runs the network."""

    torch = "torch"
    onnx = "onnx"


class Units(StrEnum):
    """What gets a label."""

    words = "words"
    pieces = "pieces"


Words = Annotated[
    str, typer.Argument(help="Documents, JSON lines with words and boxes; - is stdin.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="A folder or a hub's name; the shipped model by default."),
]
Device = Annotated[str | None, typer.Option(help="Such as cpu or cuda; a GPU if there is one.")]
Batch = Annotated[int, typer.Option(help="Windows at once.", min=1)]
BackendOption = Annotated[Backend | None, typer.Option(help="What runs the network.")]
BadLinesOption = Annotated[BadLines, typer.Option(help="Skip bad lines, or stop.")]


def train(
    documents: Annotated[Path, typer.Argument(help="JSON lines with words and gold labels.")],
    base: Annotated[str, typer.Option(help="The encoder: a folder, or a name on the hub.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the trained model.")],
    validation: Annotated[
        Path | None, typer.Option(help="The same for validation; a share of the others if not.")
    ] = None,
    share: Annotated[float, typer.Option(help="To validate on, if no file is given.")] = 0.2,
    rules: Annotated[
        str | None,
        typer.Option("--rules", "-r", help="A file or data set: check that the labels fit it."),
    ] = None,
    layers: Annotated[int | None, typer.Option(help="Keep the encoder's first so many.")] = None,
    boxes: Annotated[
        bool, typer.Option("--boxes", help="Tell an encoder of text where words stand.")
    ] = False,
    crf: Annotated[bool, typer.Option("--crf", help="Learn which label follows which.")] = False,
    window: Annotated[int | None, typer.Option(help="Pieces at once; what it can read.")] = None,
    epochs: Annotated[int, typer.Option(help="At most.")] = 20,
    batch: Annotated[int, typer.Option(help="Windows a step.")] = 32,
    rate: Annotated[float, typer.Option(help="The encoder's learning rate.")] = 1e-4,
    new_rate: Annotated[float, typer.Option(help="Of what is new: head, boxes, CRF.")] = 1e-3,
    patience: Annotated[int, typer.Option(help="Epochs without a better F1.")] = 5,
    legal: Annotated[float, typer.Option(help="What illegal transitions cost.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    device: Device = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
) -> None:
    """Fine-tune an encoder on documents with gold labels; the best epoch is kept."""
    needed("torch", "lawful train")
    needed("transformers", "lawful train")
    from lawful.models.network import Network
    from lawful.models.tokenizer import Tokenizer
    from lawful.models.training import Recipe, labels_of

    recipe = Recipe(
        epochs=epochs, batch=batch, rate=rate, new_rate=new_rate, patience=patience, seed=seed,
        legal=legal,
    )  # fmt: skip
    pages = list(read_labelled(documents))
    if validation is None:
        held = sample([page.document.id for page in pages], share, seed)
        checked = [page for page in pages if page.document.id in held]
        pages = [page for page in pages if page.document.id not in held]
    else:
        checked = list(read_labelled(validation))
    labels = labels_of([*pages, *checked])
    if rules is not None:
        rules_named(rules).scheme_for(labels)
    network = Network.start(
        base, labels, layers=layers, boxes=boxes, crf=crf, window=window, seed=seed
    )
    told.print(
        f"{len(pages):,} documents to train on, {len(checked):,} to validate on; "
        f"{len(labels)} labels; {sum(p.numel() for p in network.parameters()):,} weights",
        markup=False,
    )
    _train(network, Tokenizer.load(base), pages, checked, out, recipe, device, resume)


def _train(
    network: Any,
    tokenizer: Any,
    pages: list[Labelled],
    checked: list[Labelled],
    out: Path,
    recipe: Recipe,
    device: str | None,
    resume: bool,
) -> None:
    from lawful.models.tagger import BOXLESS
    from lawful.models.training import train as run

    warnings.filterwarnings("ignore", BOXLESS)  # that some lack them is no news to their owner
    bar = Progress(
        TextColumn("epoch {task.fields[epoch]}, loss {task.fields[loss]}, F1 {task.fields[f1]}"),
        BarColumn(), TimeRemainingColumn(), console=told, transient=True,
        disable=not told.is_terminal,
    )  # fmt: skip
    task = bar.add_task("", total=None, epoch="1", loss="-", f1="-")

    def step(epoch: int, step: int, steps: int, loss: float) -> None:
        done = (epoch - 1) * steps + step
        total = recipe.epochs * steps
        bar.update(task, completed=done, total=total, epoch=epoch, loss=f"{loss:.3f}")

    best, last = None, 0
    try:
        with bar:
            for epoch in run(
                network, tokenizer, pages, checked, out, recipe,
                device=device, resume=resume, told=step,
            ):  # fmt: skip
                mark = ", the best so far" if best is None or epoch.f1 > best else ""
                best, last = epoch.best, epoch.number
                bar.update(task, f1=f"{100 * epoch.best:.1f}")
                told.print(
                    f"epoch {epoch.number}: loss {epoch.loss:.3f}, F1 {100 * epoch.f1:.1f}{mark} "
                    f"({epoch.seconds:.1f} s)"
                )
    except KeyboardInterrupt:
        message = "interrupted before the first epoch ended: nothing is kept"
        if best is not None:
            kept = f"the best model so far, F1 {100 * best:.1f}"
            message = f"interrupted; {out} has {kept}, and --resume goes on"
        told.print(f"lawful: {message}", markup=False, style="red")
        sys.exit(130)  # as shells have it
    if best is None:
        told.print(f"{out}: nothing was left to train", markup=False)
    else:
        if last < recipe.epochs:
            told.print(f"stopped: {recipe.patience} epochs without a better F1")
        told.print(f"{out}: F1 {100 * best:.1f} on the validation documents", markup=False)


def predict(
    documents: Words,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write; - is stdout.")] = "-",
    model: Model = None,
    units: Annotated[Units, typer.Option(help="What gets scores.")] = Units.words,
    pool: Annotated[Pool, typer.Option(help="What a word takes from its pieces.")] = Pool.mean,
    npz: Annotated[
        bool, typer.Option("--npz", help="Put the scores into an .npz file beside the lines.")
    ] = False,
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    bad_lines: BadLinesOption = BadLines.skip,
) -> None:
    """Score documents with a model: what lawful decode reads."""
    if npz and out == "-":
        raise InputError("--npz puts a file beside --out, which must be a file then")
    tagger = _tagger(model, device, backend)
    lines = _Lines(documents, tagger, bad_lines, with_gold=True)
    scored = tagger.predict(counted(lines), batch=batch, units=units.value, pool=pool.value)
    count = write_npz(out, scored) if npz else write_jsonl(out, scored)
    lines.tally["scored"] = count
    summarise(lines.tally)
    lines.say_boxless()
    raise typer.Exit(0 if not lines.tally["bad lines"] else 1 if count else 2)


def export(
    model: Annotated[str, typer.Argument(help="A trained model: a folder, or a hub's name.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    int8: Annotated[
        bool, typer.Option("--int8", help="Round weights to 8 bits: a quarter of the size.")
    ] = False,
) -> None:
    """Write a model as ONNX, to be run without torch."""
    needed("torch", "lawful export")
    needed("transformers", "lawful export")
    from lawful.models.export import export as run
    from lawful.models.network import Network
    from lawful.models.tokenizer import Tokenizer

    file = run(Network.load(model), Tokenizer.load(model), out, int8=int8)
    told.print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB", markup=False)


def extract(
    documents: Words,
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules", "-r", help="The rule file; a receipt's by default.", callback=rule_path
        ),
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write; - is stdout.")] = "-",
    model: Model = None,
    decoder: DecoderName = "auto",
    candidates: Candidates = None,
    seconds: Seconds = None,
    pool: Annotated[Pool, typer.Option(help="What a word takes from its pieces.")] = Pool.mean,
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    format_: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.jsonl,
    bad_lines: BadLinesOption = BadLines.skip,
    unchecked: UncheckedOption = Unchecked.fail,
) -> None:
    """Read fields off documents: score their words with a model, decode them under rules."""
    loaded = Rules.load(rules or demo.RULES)
    budget = Budget(candidates, seconds)
    check_call(decoder, budget, 0)
    tagger = _tagger(model, device, backend)
    loaded.scheme_for(tagger.labels)
    lines = _Lines(documents, tagger, bad_lines, with_gold=False)

    def results() -> Iterator[Result]:
        for scored in counted(tagger.predict(lines, batch=batch, pool=pool.value)):
            try:
                found = decode(
                    scored.document, scored.scores, loaded, decoder=decoder, budget=budget
                )
                yield scored, found
            except LawfulError as error:
                yield BadLine(scored.line or 0, str(error))

    with atomic_text(out) as file:
        WRITERS[format_](file, good(results(), bad_lines, lines.tally), loaded, ranked=False)
    summarise(lines.tally)
    lines.say_boxless()
    leave(lines.tally, unchecked)


def _tagger(model: str | None, device: str | None, backend: Backend | None) -> Tagger:
    from lawful.models.tagger import BOXLESS, from_pretrained

    warnings.filterwarnings("ignore", BOXLESS)  # said when all is done, with how many
    name = None if backend is None else backend.value
    return from_pretrained(model or demo.MODEL, device=device, backend=name)  # type: ignore[arg-type]


class _Lines:
    """The documents of a file for a tagger; what cannot be used is complained of."""

    def __init__(self, path: str, tagger: Tagger, bad_lines: BadLines, *, with_gold: bool) -> None:
        """With gold, documents keep their true labels, which the tagger has to know."""
        self._path, self._tagger, self._bad_lines = path, tagger, bad_lines
        self._with_gold = with_gold
        self.tally = Tally()
        self._boxless = 0

    def __iter__(self) -> Iterator[Document | Labelled]:
        known = set(self._tagger.labels)
        for found in read_documents(self._path):
            if isinstance(found, BadLine):
                complain(found, self._bad_lines, self.tally)
                continue
            document = found.document if isinstance(found, Labelled) else found
            gold = found.gold if isinstance(found, Labelled) and self._with_gold else ()
            if unknown := set(gold) - known:
                message = (
                    f"document {document.id!r} has gold label {min(unknown)!r}, which the model "
                    f"does not know; its labels: {', '.join(self._tagger.labels)}"
                )
                complain(BadLine(found.line or 0, message), self._bad_lines, self.tally)
                continue
            self._boxless += self._tagger.lacks_boxes(document)
            yield found if self._with_gold else document

    def say_boxless(self) -> None:
        """Says how many documents lack what the model was trained with."""
        if self._boxless:
            told.print(
                f"{self._boxless:,} without boxes, which the model was trained with", style="yellow"
            )
