"""``lawful demo``: the shipped receipts, decoded and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "lawful demo --out demo.html"


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="HTML report to write.")
    ] = Path("lawful-demo.html"),
    pages: Annotated[
        int, typer.Option("--full", metavar="N", help="Number of pages to print in full.", min=0)
    ] = 3,
) -> None:
    """Decode the shipped receipts, show what changed, and compare ways of decoding."""
    from lawful.cli.demo_show import show

    show(out, pages)
