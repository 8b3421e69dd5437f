"""``lawful serve``: decoding over HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from lawful.base.extras import needed
from lawful.cli.options import RULE_NAMES, Quiet, rule_path
from lawful.readers.cache import ReadCache
from lawful.server.settings import Settings

EXAMPLE = "lawful serve --rules invoice=rules.yaml --port 8000"

_ACCESS = "Who may ask"


def serve(
    rules: list[str] | None = typer.Option(
        None, "--rules", "-r", metavar="NAME=FILE",
        show_default="receipt and invoice, and files are told to be one or the other",
        help=f"Rules and the name that requests call them by; may be repeated. A file alone is "
        f"called by its own name. One of {RULE_NAMES} stands for its file.",
    ),
    trust: list[str] | None = typer.Option(
        None, metavar="NAME=FILE", show_default="nothing passes",
        help="Model of lawful trust fit that says which documents under rules of this name pass; "
        "may be repeated.",
    ),
    host: str = typer.Option(
        "127.0.0.1", metavar="ADDRESS",
        help="Address to listen at; others than loopback need a token.",
    ),
    port: int = typer.Option(8000, metavar="N", help="Port; 0 takes a free one."),
    token_file: Path | None = typer.Option(
        None, metavar="FILE", rich_help_panel=_ACCESS, show_default="LAWFUL_TOKEN, if it is set",
        help="File with the token that requests must have.",
    ),
    allow_origin: list[str] | None = typer.Option(
        None, metavar="ORIGIN", rich_help_panel=_ACCESS, show_default="none",
        help="Origin of web pages that may call the service; may be repeated.",
    ),
    allow_host: list[str] | None = typer.Option(
        None, metavar="NAME", rich_help_panel=_ACCESS, show_default="loopback, if it listens there",
        help="Further name that the header Host may have, such as that of a proxy; may be "
        "repeated.",
    ),
    *,
    given: Settings,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Serve decoding over HTTP: documents as JSON lines in, decodings out."""
    for module in ("starlette", "uvicorn", "prometheus_client"):
        needed(module, "lawful serve")
    from lawful.server.jobs import Jobs
    from lawful.server.lifecycle import bind
    from lawful.server.rule_book import RuleBook, named_paths
    from lawful.server.security import LOOPBACK_HOSTS, check_address, find_token, is_loopback
    from lawful.server.supervisor import serve as serve_until_signal

    token = find_token(token_file)
    check_address(host, token)
    hosts = (*LOOPBACK_HOSTS, host, *(allow_host or ())) if is_loopback(host) else allow_host
    named = rules or ([] if given.inline_rules else ["receipt", "invoice"])
    if given.cache is not None:
        ReadCache.open(given.cache)  # it must be possible to keep something there
    settings = replace(
        given,
        rules={name: rule_path(path) or path for name, path in named_paths(named).items()},
        trust=named_paths(trust or [], "--trust"),
        token=token,
        origins=tuple(allow_origin or ()),
        hosts=None if hosts is None else tuple(hosts),
        by_kind=not rules and not given.inline_rules,
    )
    book = RuleBook.load(settings.rules, settings.trust)
    if given.jobs is not None:
        Jobs(given.jobs).close()  # it must be possible to use it
    with bind(host, port) as listener:
        code = serve_until_signal(settings, book, listener, "warning" if quiet else "info")
    raise typer.Exit(code)
