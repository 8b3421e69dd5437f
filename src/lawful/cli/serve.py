"""``lawful serve``: decoding over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawful.base.extras import needed
from lawful.cli.commands import flag
from lawful.cli.options import RULE_NAMES, Quiet, rule_path
from lawful.readers.cache import ReadCache

EXAMPLE = "lawful serve --rules invoice=rules.yaml --port 8000"

_ACCESS = "Who may ask"
_LIMITS = "Limits, per process"
_FILES = "Files"


def serve(
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rules", "-r", metavar="NAME=FILE",
            help=f"Rules and the name that requests call them by; may be repeated. A file alone is "
            f"called by its own name. One of {RULE_NAMES} stands for its file.",
            show_default="receipt and invoice, and files are told to be one or the other",
        ),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", show_default="nothing passes",
            help="Model of lawful trust fit that says which documents under rules of this name "
            "pass; may be repeated.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen at; others than loopback need a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="Port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Number of processes.")] = 1,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_ACCESS, show_default="LAWFUL_TOKEN, if it is set",
            help="File with the token that requests must have.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", rich_help_panel=_ACCESS, show_default="none",
            help="Origin of web pages that may call the service; may be repeated.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", rich_help_panel=_ACCESS, show_default="loopback, if it listens there",
            help="Further name that the header Host may have, such as that of a proxy; may be "
            "repeated.",
        ),
    ] = None,
    inline_rules: Annotated[
        bool,
        flag(
            "--inline-rules", rich_help_panel=_ACCESS,
            help="Allow documents to bring their own rules.",
        ),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            metavar="S", rich_help_panel=_LIMITS,
            help="Maximum time to decode a document; the best answer so far comes back.",
        ),
    ] = 2.0,
    max_bytes: Annotated[
        int,
        typer.Option(
            metavar="N", rich_help_panel=_LIMITS, min=1,
            help="Maximum bytes of a body, and of a line of a stream.",
        ),
    ] = 16 * 2**20,
    max_cells: Annotated[
        int,
        typer.Option(
            metavar="N", rich_help_panel=_LIMITS, min=1,
            help="Maximum words × labels of a document.",
        ),
    ] = 1_000_000,
    body_seconds: Annotated[
        float,
        typer.Option(
            metavar="S", rich_help_panel=_LIMITS,
            help="Maximum time to wait for a body, and for a line of a stream.",
        ),
    ] = 30.0,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", rich_help_panel=_LIMITS, min=1, show_default="two per core, at most 8",
            help="Documents that are decoded at the same time.",
        ),
    ] = None,
    waiting: Annotated[
        int,
        typer.Option(
            metavar="N", rich_help_panel=_LIMITS, min=1,
            help="Requests that may wait for their turn, and streams; more are answered with 503.",
        ),
    ] = 64,
    drain_seconds: Annotated[
        float,
        typer.Option(
            metavar="S", rich_help_panel=_LIMITS,
            help="Time for requests to finish after SIGTERM.",
        ),
    ] = 10.0,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", metavar="MODEL", rich_help_panel=_FILES,
            show_default="the shipped one that knows the rules",
            help="Model for /v1/extract: a folder, or a name on the hub.",
        ),
    ] = None,
    warm: Annotated[
        bool,
        flag(
            "--warm", rich_help_panel=_FILES,
            help="Load models and OCR at the start, not with the first file.",
        ),
    ] = False,
    readers: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=64, rich_help_panel=_FILES,
            show_default="one per four cores, at least 2",
            help="Processes that read files, and stay warm between them.",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", rich_help_panel=_FILES, show_default="nothing is kept",
            help="Keep in this folder what was read: a file of the same content is read once.",
        ),
    ] = None,
    jobs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel=_FILES, show_default="no jobs",
            help="SQLite database of jobs, which answer long files later: Prefer: respond-async.",
        ),
    ] = None,
    job_seconds: Annotated[
        float,
        typer.Option(
            metavar="S", rich_help_panel=_FILES, help="Maximum time to read the file of a job."
        ),
    ] = 900.0,
    job_pages: Annotated[
        int,
        typer.Option(
            metavar="N", rich_help_panel=_FILES, min=1,
            help="Maximum number of pages of the file of a job.",
        ),
    ] = 300,
    file_seconds: Annotated[
        float,
        typer.Option(metavar="S", rich_help_panel=_FILES, help="Maximum time to read one file."),
    ] = 30.0,
    max_pages: Annotated[
        int,
        typer.Option(
            metavar="N", rich_help_panel=_FILES, min=1,
            help="Maximum number of pages of a file.",
        ),
    ] = 50,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Serve decoding over HTTP: documents as JSON lines in, decodings out."""
    for module in ("starlette", "uvicorn", "prometheus_client"):
        needed(module, "lawful serve")
    from lawful.server.body_limits import BodyLimits
    from lawful.server.jobs import Jobs
    from lawful.server.lifecycle import bind
    from lawful.server.rule_book import RuleBook, named_paths
    from lawful.server.security import LOOPBACK_HOSTS, check_address, find_token, is_loopback
    from lawful.server.settings import CONCURRENCY, READERS, Settings
    from lawful.server.supervisor import serve as serve_until_signal

    token = find_token(token_file)
    check_address(host, token)
    hosts = (*LOOPBACK_HOSTS, host, *(allow_host or ())) if is_loopback(host) else allow_host
    named = rules or ([] if inline_rules else ["receipt", "invoice"])
    if cache is not None:
        ReadCache.open(cache)  # it must be possible to keep something there
    settings = Settings(
        rules={name: rule_path(path) or path for name, path in named_paths(named).items()},
        seconds=seconds,
        body=BodyLimits(max_bytes, body_seconds),
        cells=max_cells,
        concurrency=concurrency or CONCURRENCY,
        waiting=waiting,
        drain_seconds=drain_seconds,
        workers=workers,
        token=token,
        origins=tuple(allow_origin or ()),
        hosts=None if hosts is None else tuple(hosts),
        inline_rules=inline_rules,
        trust=named_paths(trust or [], "--trust"),
        by_kind=not rules and not inline_rules,
        model=model,
        warm=warm,
        readers=readers or READERS,
        cache=cache,
        jobs=jobs,
        job_seconds=job_seconds,
        job_pages=job_pages,
        file_seconds=file_seconds,
        pages=max_pages,
    )
    book = RuleBook.load(settings.rules, settings.trust)
    if jobs is not None:
        Jobs(jobs).close()  # it must be possible to use it
    with bind(host, port) as listener:
        code = serve_until_signal(settings, book, listener, "warning" if quiet else "info")
    raise typer.Exit(code)
