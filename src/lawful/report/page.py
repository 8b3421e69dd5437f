"""A report to look at: every document drawn, with its fields, checks and corrections, in one file.

It is written as the documents come. So the totals stand at the end of the file, and its style sheet
shows them at the top.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import IO

from lawful.decoding import Decoding
from lawful.document import Document, Scored
from lawful.report.card import STATUSES, draw_card, other_checks
from lawful.report.view import View, as_text, words_wrong
from lawful.rules.definitions import Rules

_HUES = (210, 38, 145, 285, 325, 80, 185, 15, 250, 110)


def write_report(
    out: IO[str],
    items: Iterable[tuple[Scored, Decoding]],
    *,
    title: str = "lawful",
    rules: Rules | None = None,
) -> None:
    """One self-contained HTML file: no network, no external fonts or scripts.

    Written as the items come, so memory stays flat however many there are. ``rules`` say which
    fields have one value, by which alternatives are compared; without them, by all occurrences.
    """
    single = frozenset(f.name for f in rules.fields if not f.many) if rules else frozenset()
    script = _resource("report.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    out.write(_HEAD.format(title=as_text(title), script=digest, style=_style_sheet()))
    totals: Counter[str] = Counter()
    colours: dict[str, int] = {}  # by field, in order of appearance: the same on every page
    for scored, decoding in items:
        for name in decoding.fields:
            colours.setdefault(name, len(colours) % len(_HUES))
        view = View.of(scored.document, scored.gold, decoding, colours, single)
        totals.update(view.count())
        out.write(draw_card(view))
    out.write(f"</main>\n{_totals(totals)}\n<script>{script}</script>\n</body>\n</html>\n")


def notebook_card(decoding: Decoding) -> str:
    """A decoding's card as a fragment of HTML, whose style stays within it."""
    words = decoding.words or ("",) * len(decoding.labels)
    document = Document(decoding.id, words)
    colours = {name: i % len(_HUES) for i, name in enumerate(decoding.fields)}
    view = View.of(document, None, decoding, colours, frozenset())
    # Elsewhere these are of the page; browsers that know no @scope show the card without style.
    style = re.sub(r":root|(?<![.\w])body(?=\{)", ":scope", _style_sheet())
    return f'<div class="lawful"><style>@scope{{{style}}}</style>{draw_card(view)}</div>'


@cache
def _style_sheet() -> str:
    """The style sheet, with a colour for every field."""
    hues = "".join(f".c{i}{{--hue:{hue}}}" for i, hue in enumerate(_HUES))
    return _resource("report.css") + hues


@cache
def _resource(name: str) -> str:
    return "\n" + files(__package__).joinpath(name).read_text(encoding="utf-8")


def _totals(totals: Counter[str]) -> str:
    def tile(number: str, what: str, *parts: tuple[str, str, int], more: str = "") -> str:
        bar = "".join(f'<i class="{style}" style="flex:{n}"></i>' for style, _, n in parts if n)
        keys = "".join(f'<li class="{style}"><b>{n:,}</b> {name}</li>' for style, name, n in parts)
        shares = f'<div class="bar">{bar}</div><ul>{keys}</ul>' if parts else ""
        note = f"<p>{more}</p>" if more else ""
        return f'<div class="tile"><p><b>{number}</b> {what}</p>{shares}{note}</div>'

    documents, corrected = totals["documents"], totals["corrected"]
    passed, violated = totals["rule satisfied"], totals["rule violated"]
    implied = totals["implied violated"]
    statuses = ((name, f"{sign} {name}", totals[name]) for name, (sign, _) in STATUSES.items())
    tiles = tile(f"{documents:,}", "documents", *statuses)
    tiles += tile(
        f"{passed + violated:,}",
        "rules checked",
        ("satisfied", "✓ passed", passed),
        ("violated", "✗ violated", violated),
        ("vacuous", "○ not checked", totals["rule vacuous"]),
        more=f"{other_checks(implied)}: what fields ask for by themselves" if implied else "",
    )
    tiles += tile(
        f"{totals['corrections']:,}",
        "corrections",
        ("corrected", "documents corrected", corrected),
        ("vacuous", "left alone", documents - corrected),
    )
    if totals["has gold"]:
        tiles += tile(words_wrong(totals), "words wrong, before and after")
    return f'<section id="totals" aria-label="totals">{tiles}</section>'


# The policy forbids all that is not in the file, and every script but ours: should a document's
# text ever get past the escaping, it still could not run.
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'sha256-{script}'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
<form class="tools" aria-label="documents to show">
<label><input type="radio" name="show" id="all" checked> all</label>
<label><input type="radio" name="show" id="corrected"> corrected</label>
<label><input type="radio" name="show" id="open"> not satisfied</label>
<button type="button" value="open" hidden>open all</button>
<button type="button" value="" hidden>close all</button>
</form>
<main>
<p class="nothing quiet">No such documents.</p>
"""
