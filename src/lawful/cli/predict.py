"""``lawful predict``: from documents to scored documents.

Exit code 0: all documents were scored. 1: a line was bad. 2: no line could be used.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from lawful.batch import score_records
from lawful.cli.options import (
    BackendOption,
    BadLinesOption,
    Batch,
    Device,
    Model,
    ModelPool,
    Out,
    Quiet,
    UnscoredDocuments,
    flag,
)
from lawful.cli.output import Progress, summarise, usable
from lawful.cli.tagging import UnscoredFile, load_tagger
from lawful.cli.tally import BAD, Tally
from lawful.errors import InputError
from lawful.io.jsonl import write_jsonl, write_npz
from lawful.models.tagger import Units

EXAMPLE = "lawful predict documents.jsonl --model my-model --out scored.jsonl"


def predict(
    documents: UnscoredDocuments,
    out: Out = "-",
    model: Model = None,
    units: Annotated[Units, typer.Option(help="Score words, or the model's word pieces.")] = (
        "words"
    ),
    pool: ModelPool = "mean",
    npz: Annotated[
        bool, flag("--npz", help="Write the scores to an .npz file of the same name as --out.")
    ] = False,
    batch: Batch = 32,
    device: Device = None,
    backend: BackendOption = None,
    bad_lines: BadLinesOption = "skip",
    quiet: Quiet = False,
) -> None:
    """Score documents with a model, for lawful decode to read."""
    if npz and out == "-":
        raise InputError("--npz writes a file next to --out, which must be a file then")
    tagger = load_tagger(model, device, backend)
    source = UnscoredFile(documents, tagger, keep_gold=True)
    score = partial(tagger.predict, batch=batch, units=units, pool=pool)
    tally = Tally()
    with Progress(quiet=quiet) as progress:
        scored = usable(progress.documents(score_records(score, source)), bad_lines, tally)
        count = write_npz(out, scored) if npz else write_jsonl(out, scored)
    tally["scored"] = count
    if not quiet:
        summarise(tally)
        source.warn_of_boxless()
    raise typer.Exit(0 if not tally[BAD] else 1 if count else 2)
