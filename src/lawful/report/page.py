"""The report: one HTML file with every document, its fields, checks and corrections.

Documents are written as they arrive, so the totals are at the end of the file; the style sheet
moves them to the top.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import IO

from lawful.candidates.on_page import on_page
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Scored
from lawful.report.card import draw_card, draw_failed, draw_open_card, other_checks
from lawful.report.plain import DOUBTS, STATUSES, counted, plural
from lawful.report.risk import draw_risk
from lawful.report.view import Pictures, View, as_text, words_wrong
from lawful.results.decoding import Decoding
from lawful.results.promise import Promise
from lawful.rules.judging.checks import RuleCounts
from lawful.rules.rule_set import Rules

FAILED = "failed"
"""In the totals: documents that could not be read or decoded."""

COLOURS = 30  # of fields, in look.css: ten hues by three kinds of lines


class Report:
    """The parts of a report: its head, a card for each document, and its foot."""

    def __init__(
        self,
        title: str = "lawful report",
        rules: Rules | None = None,
        pictures: Callable[[Document], Pictures | None] = lambda _: None,
        promise: Promise | None = None,
    ) -> None:
        """``pictures`` gives the function that draws a document's pages, or ``None``."""
        self._rules, self._pictures = rules, pictures
        fields = rules.fields if rules else ()
        self._single = frozenset(f.name for f in fields if not f.many)
        # The same on every card; without rules, in order of appearance.
        self._colours = {f.name: i % COLOURS for i, f in enumerate(fields)}
        self._title = title
        self._promise = promise
        self._script = _resource("report.js")

    def head(self) -> str:
        """The HTML before the first card."""
        digest = b64encode(sha256(self._script.encode()).digest()).decode()
        return page_head(self._title, style_sheet(), f"script-src 'sha256-{digest}'") + "<main>\n"

    def card(self, scored: Scored, decoding: Decoding) -> tuple[str, dict[str, int]]:
        """The HTML of a document, and what it adds to the totals."""
        view = self.view(scored, decoding)
        return draw_card(view), view.count()

    def failed(self, found: FailedDocument) -> str:
        """The HTML of a document that could not be read or decoded."""
        return draw_failed(found.id or f"line {found.line}", found.message)

    def view(self, scored: Scored, decoding: Decoding) -> View:
        """A document as the report shows it."""
        for name in decoding.fields:
            self._colours.setdefault(name, len(self._colours) % COLOURS)
        if self._rules is not None and (placed := on_page(scored, self._rules)) is not None:
            scored, decoding = placed.scored, placed.decoding(decoding)
        document = scored.document
        view = View.of(document, scored.gold, decoding, self._colours, self._single)
        return replace(view, pictures=self._pictures(document))

    def foot(self, totals: Counter[str], failed: int = 0) -> str:
        """The HTML after the last card, with the totals and the number of ``failed`` documents."""
        rules = len(self._rules.rules) if self._rules else 0
        script = f"<script>{self._script}</script>"
        summary = _totals(totals + Counter({FAILED: failed}), rules, self._promise)
        return f"</main>\n{summary}\n{_VIEWER}{script}\n</body>\n</html>\n"


def write_report(
    out: IO[str],
    items: Iterable[tuple[Scored, Decoding]],
    *,
    title: str = "lawful report",
    rules: Rules | None = None,
    pictures: Pictures | None = None,
) -> None:
    """Writes one self-contained HTML file: no network, no external fonts or scripts.

    Items are written as they arrive, in constant memory. With ``rules``, alternatives are compared
    by the value of fields that are no lists; without, by all occurrences. With ``pictures``, such
    as ``lawful.readers.images.picture_of``, pages that have images are drawn from them.
    """
    report = Report(title, rules, lambda _: pictures)
    out.write(report.head())
    totals: Counter[str] = Counter()
    for scored, decoding in items:
        card, counts = report.card(scored, decoding)
        totals.update(counts)
        out.write(card)
    out.write(report.foot(totals))


def notebook_card(decoding: Decoding) -> str:
    """A decoding's card as a fragment of HTML, whose style stays within it."""
    words = decoding.words or ("",) * len(decoding.labels)
    document = Document(decoding.id, words)
    colours = {name: i % COLOURS for i, name in enumerate(decoding.fields)}
    view = View.of(document, None, decoding, colours, frozenset())
    return in_notebook(view)


def in_notebook(view: View) -> str:
    """An open card as a fragment of HTML, whose style stays within it."""
    # Elsewhere these are of the page; browsers that know no @scope show the card without style.
    style = re.sub(r":root|(?<![.\w])body(?=\s*\{)", ":scope", style_sheet())
    return f'<div class="lawful"><style>@scope{{{style}}}</style>{draw_open_card(view)}</div>'


@cache
def page_head(title: str, style: str, *allowed: str) -> str:
    """The head of a page and its heading.

    Its policy forbids external resources and all scripts, except what is ``allowed``: even if a
    document's text got past the escaping, it could not run.
    """
    policy = ("default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", *allowed)
    return _HEAD.format(title=as_text(title), style=style, policy="; ".join(policy))


def style_sheet() -> str:
    """The look that the report shares with the review page, and the report's own style."""
    return _resource("look.css") + _resource("report.css")


@cache
def _resource(name: str) -> str:
    return "\n" + files(__package__).joinpath(name).read_text(encoding="utf-8")


def tile(number: str, what: str, *parts: tuple[str, str, int], more: str = "") -> str:
    """A total, and its parts (style, name, count) as a bar."""
    bar = "".join(f'<i class="{style}" style="flex:{n}"></i>' for style, _, n in parts if n)
    shown = ((style, f"<b>{n:,}</b> {name}") for style, name, n in parts if n)
    keys = "".join(f'<li class="sign {style}">{text}</li>' for style, text in shown)
    shares = f'<div class="bar">{bar}</div><ul>{keys}</ul>' if parts else ""
    note = f"<p>{more}</p>" if more else ""
    return f'<div class="tile"><p><b>{number}</b> {what}</p>{shares}{note}</div>'


def _totals(totals: Counter[str], rules: int, promise: Promise | None) -> str:
    """What the report says about all documents, and the choice of those to show."""
    documents, corrected = totals["documents"], totals["corrected"]
    failed = totals[FAILED]
    found, implied = RuleCounts.summed(totals), totals["implied violated"]
    row_checks = f"{found.rows_checked:,} of {counted(found.row_checks, 'row check')} made"
    others = f"{other_checks(implied)}: conditions that fields imply"
    more = [text for text, n in ((row_checks, found.row_checks), (others, implied)) if n]
    statuses = ((name, words, totals[name]) for name, (words, _) in STATUSES.items())
    tiles = tile(
        f"{documents + failed:,}",
        plural(documents + failed, "document"),
        *statuses,
        ("violated", "no result", failed),
    )
    tiles += tile(
        f"{found.checked:,}",
        f"{plural(found.checked, 'rule')} checked",
        ("satisfied", "hold", found.hold),
        ("violated", "broken", found.broken),
        ("vacuous", "not checked", found.unchecked),
        more="; ".join(more),
    )
    tiles += tile(
        f"{totals['corrections']:,}",
        plural(totals["corrections"], "correction"),
        ("corrected", "corrected", corrected),
        ("untouched", "as the model read them", documents - corrected),
    )
    if totals["gold passed"] + totals["gold person"]:
        tiles += tile(words_wrong(totals), "words wrong, before and after", more=_gold(totals))
    tools = _TOOLS.format(
        documents=documents + failed, person=totals["person"] + failed, corrected=corrected
    )
    lead = f'<p class="lead">{_lead(totals, rules, promise)}</p>'
    lead += _risk(totals, promise)
    return f'<section id="totals" aria-label="summary">{lead}<div>{tiles}</div>{tools}</section>'


def _lead(totals: Counter[str], rules: int, promise: Promise | None) -> str:
    """What this is, how many documents passed, and how many need a person."""
    under = f", under {counted(rules, 'rule')}" * bool(rules)
    passed, person, failed = totals["passed"], totals["person"], totals[FAILED]
    of = f"{passed + person:,} of " * bool(failed)
    what = f"The fields found in {of}{counted(passed + person + failed, 'document')}{under}."
    fine = (
        f"<b>{passed:,} passed</b>: every rule that could be checked holds, and the values are "
        "proven to be the best ones, by model and rules together."
    )
    if promise is not None:
        fine = f"<b>{promise.headline(passed, passed + person)}</b>."
    person += failed
    reasons = [(failed, "that could not be read or decoded")]
    reasons += [(totals[f"doubt {name}"], words) for name, words in DOUBTS.items()]
    listed = ", ".join(f"{number:,} {words}" for number, words in reasons if number)
    needs = f"<b>{person:,} need{'s' * (person == 1)} a person</b>: {listed}."
    return f"{what} {fine} {needs if person else '<b>None needs a person.</b>'}"


def _risk(totals: Counter[str], promise: Promise | None) -> str:
    """The figure of a promise: how many are wrong, by how many pass."""
    if promise is None or not promise.curve:
        return ""
    passed = totals["passed"] / max(totals["passed"] + totals["person"], 1)
    what = (
        f"Of {counted(promise.documents, 'reviewed document')}, the share of wrong ones among the "
        "most trusted, by how many these are. Dashed: what is promised. Dotted: how many pass here."
    )
    figure = draw_risk({"": promise.curve}, promise.error, passed)
    return f'<details class="risk"><summary>{what}</summary>{figure}</details>'


def _gold(totals: Counter[str]) -> str:
    """In how many documents all words are right, of those that passed and of the others."""
    parts = [
        f"{totals[f'right {side}']:,} of {totals[f'gold {side}']:,} documents that {words}"
        for side, words in (("passed", "passed"), ("person", "need a person"))
        if totals[f"gold {side}"]
    ]
    return f"No word is wrong in {' and in '.join(parts)}."


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
"""

_TOOLS = """<form aria-label="documents to show">
<label><input type="radio" name="show" value="all" checked> all {documents:,}</label>
<label><input type="radio" name="show" value="person"> {person:,} need a person</label>
<label><input type="radio" name="show" value="corrected"> {corrected:,} corrected</label>
<label class="search">find <input type="search" placeholder="a document or words in it"></label>
<button type="button" name="cards" value="open">open all</button>
<button type="button" name="cards" value="close">close all</button>
</form>
"""

_VIEWER = """<dialog id="viewer" aria-label="page">
<form method="dialog">
<button type="button" value="-" title="smaller (-)">−</button>
<output>100 %</output>
<button type="button" value="+" title="larger (+)">+</button>
<button type="button" value="0" title="as wide as the window (0)">fit</button>
<button title="close (Esc)">close</button>
</form>
<div class="sheet" tabindex="0"></div>
</dialog>
"""
