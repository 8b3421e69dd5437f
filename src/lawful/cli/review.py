"""``lawful review``: a page in the browser on which a person settles what rules could not."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from lawful.cli.options import (
    Command,
    PythonFile,
    ReviewGroup,
    RuleFile,
    flag,
    load_rules,
)
from lawful.cli.output import plural, say
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.serving import open_desk, serve, shared
from lawful.review.store import Store

app = typer.Typer(help="Review documents in the browser, and export what was found.",
                  cls=ReviewGroup)  # fmt: skip

Database = Annotated[
    Path, typer.Option("--db", metavar="FILE", help="File of the reviews, an SQLite database.")
]


@app.command(
    "open", cls=Command,
    epilog="Example: lawful review open documents.jsonl --rules rules.yaml --images scans/",
)  # fmt: skip
def open_(
    documents: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENTS",
            help="Scored documents as JSON lines (plain or gzipped); - reads standard input.",
        ),
    ],
    rules: RuleFile,
    python: PythonFile = None,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder of page images or PDF files named by the documents' ids, or a template "
            "such as scans/{id}-{page}.png with pages from 1.",
        ),
    ] = None,
    db: Database = Path("review.db"),
    port: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=65535, show_default="any free one",
                     help="Port to listen on, on this machine only."),
    ] = 0,
    no_browser: Annotated[bool, flag("--no-browser", help="Only print the address.")] = False,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="the name of the user", help="Who reviews."),
    ] = None,
) -> None:  # fmt: skip
    """Open a page in the browser on which a person reviews documents, the worst first."""
    common = shared(load_rules(rules, python), rules.stem, python)
    found = Documents.open(documents)
    folders = [] if documents == "-" else [Path(documents).parent]
    store = Store(db)

    def ready(address: str) -> None:
        say(f"{plural(len(found))}; reviews are kept in {db}")
        say(f"open {address} (Ctrl-C ends it)")

    with open_desk(found, store, common, Pictures(folders, images)) as desk:
        try:
            serve(desk, reviewer or _user(), port=port, ready=ready, browser=not no_browser)
        except KeyboardInterrupt:
            say(f"ended; reviews are in {db}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "reviewer"
