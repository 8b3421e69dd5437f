"""``lawful export``: a trained model as ONNX."""

from __future__ import annotations

from pathlib import Path

import typer

from lawful.base.extras import needed
from lawful.cli.commands import flag
from lawful.cli.terminal import say

EXAMPLE = "lawful export my-model --out my-model-onnx --int8"


def export(
    model: str = typer.Argument(
        ..., metavar="MODEL", help="Trained model: a folder, or a name on the hub."
    ),
    out: Path = typer.Option(..., "--out", "-o", metavar="FOLDER", help="Folder to write."),
    int8: bool = flag("--int8", help="Quantise weights to 8 bits: a quarter of the size."),
) -> None:
    """Export a model to ONNX, so that it runs without torch."""
    needed("torch", "lawful export")
    needed("transformers", "lawful export")
    from lawful.models.export import export as run
    from lawful.models.network import Network
    from lawful.models.tokenizer import Tokenizer

    file = run(Network.load(model), Tokenizer.load(model), out, int8=int8)
    say(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")
