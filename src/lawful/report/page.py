"""A report to look at: every document drawn, with its fields, checks and corrections, in one file.

It is written as the documents come. So the totals stand at the end of the file, and its style sheet
shows them at the top.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import groupby
from math import exp, floor, inf
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lawful.decoding import CLASHES, STOPPED, Decoding, differences, how_checked
from lawful.document import Box, Document, Scored, check_length
from lawful.rules.definitions import Rules
from lawful.values import format_value

# Signs stand beside all colours: nobody needs to tell the colours apart.
_STATUSES = {
    "satisfied": ("✓", "Every rule that could be checked holds."),
    "unchecked": ("○", "No rule could be checked: nothing speaks for this but the model."),
    "relaxed": ("≈", "The best trade-off violates a weighted rule."),
    "exhausted": ("…", "The budget ended first: this is the best answer so far."),
    "infeasible": ("✗", "Proven: the hard rules cannot hold."),
}
_STATES = {"satisfied": "✓", "violated": "✗", "vacuous": "○"}
_VERDICTS = {"fixed": "✓ was wrong, now right", "wrong": "✗ still wrong", "broken": "✗! made wrong"}
_HUES = (210, 38, 145, 285, 325, 80, 185, 15, 250, 110)

_WORD_HEIGHT = 20  # in pixels, of the middle word of a page, whatever unit its boxes have
_MARGIN = 18
_WIDE = 620  # pages wider than this stand above their tables, not beside them


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
    script = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
    hues = "".join(f".c{i}{{--hue:{hue}}}" for i, hue in enumerate(_HUES))
    out.write(_HEAD.format(title=_text(title), script=script, style=_STYLE + hues))
    totals: Counter[str] = Counter()
    colours: dict[str, int] = {}  # by field, in order of appearance: the same on every page
    for scored, decoding in items:
        for name in decoding.fields:
            colours.setdefault(name, len(colours) % len(_HUES))
        view = _View.of(scored, decoding, colours, single)
        totals.update(view.count())
        out.write(_card(view))
    out.write(f"</main>\n{_totals(totals)}\n<script>{_SCRIPT}</script>\n</body>\n</html>\n")


class _Mark(NamedTuple):
    """What there is to see about a word; neighbours with the same mark are drawn as one."""

    span: tuple[str, int, int] | None = None  # field, words
    change: tuple[str, str] | None = None  # old, new
    verdict: str = ""  # where gold is known: fixed, wrong, or broken if the model was right
    gold: str = ""


@dataclass(frozen=True, slots=True)
class _View:
    """A document as the report shows it."""

    document: Document
    decoding: Decoding
    colours: dict[str, int]
    marks: list[_Mark]
    has_gold: bool
    single: frozenset[str]  # fields that have one value

    @classmethod
    def of(
        cls,
        scored: Scored,
        decoding: Decoding,
        colours: dict[str, int],
        single: frozenset[str],
    ) -> _View:
        check_length(scored.document, len(decoding.labels), "decoded label", "decoded labels")
        spans = {
            word: (name, *value.words)
            for name, values in decoding.fields.items()
            for value in values
            for word in range(*value.words)
        }
        changes = {c.word: c for c in decoding.corrections}
        marks = []
        for word, (label, gold) in enumerate(
            zip(decoding.labels, scored.gold or decoding.labels, strict=True)
        ):
            change = changes.get(word)
            verdict = ""
            if label != gold:
                verdict = "broken" if change and change.old == gold else "wrong"
            elif change and scored.gold:
                verdict = "fixed"
            right = _differ(label, gold)[1] if label != gold else ""
            changed = _differ(change.old, change.new) if change else None
            marks.append(_Mark(spans.get(word), changed, verdict, right))
        return cls(scored.document, decoding, colours, marks, scored.gold is not None, single)

    def count(self) -> dict[str, int]:
        """What it adds to the totals."""
        return {
            "documents": 1,
            "has gold": self.has_gold,
            "corrected": bool(self.decoding.corrections),
            "corrections": len(self.decoding.corrections),
            self.decoding.status: 1,
            **Counter(f"rule {check.state}" for check in self.decoding.rules),
            "implied violated": sum(check.implied for check in self.decoding.violations),
            **Counter(mark.verdict for mark in self.marks if mark.verdict),
        }

    def runs(self, words: Sequence[int]) -> Iterator[tuple[_Mark, list[int]]]:
        """Words with the same mark, together; unmarked ones too."""
        for mark, run in groupby(words, self.marks.__getitem__):
            yield mark, list(run)

    def style(self, mark: _Mark) -> str:
        """How marked words look, as classes of the style sheet."""
        field = f"field c{self.colours[mark.span[0]]}" if mark.span else ""
        return f"{field} {'changed' * bool(mark.change)}".strip()

    def caption(self, mark: _Mark, start: int) -> tuple[str, str]:
        """What is written at marked words: a label to strike through, and the one that stands."""
        if mark.change:
            return mark.change
        return "", mark.span[0] if mark.span and mark.span[1] == start else ""

    def hint(self, mark: _Mark) -> str:
        """What the pointer shows over marked words."""
        lines = [f"{mark.span[0]}: {self.document.text(*mark.span[1:])}"] if mark.span else []
        if mark.change:
            lines.append("corrected: {} → {}".format(*mark.change))
        if mark.verdict:
            lines.append(_VERDICTS[mark.verdict] + f", gold is {mark.gold}" * bool(mark.gold))
        return _text("\n".join(lines))


_UNWRITABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _text(text: str) -> str:
    """Text made harmless: nothing in it is markup, and all of it can be written and parsed."""
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _differ(old: str, new: str) -> tuple[str, str]:
    """Two labels as people say them, with prefixes only where nothing else differs."""
    types = [re.sub("^[BIESLU]-", "", label) for label in (old, new)]
    if types[0] == types[1]:
        return old, new
    # A struck O looks like a Θ.
    old, new = ("no field" if name == "O" else name for name in types)
    return old, new


def _gold(count: Counter[str] | dict[str, int]) -> str:
    """How many words were wrong, and are."""
    fixed, wrong, broken = (count.get(verdict, 0) for verdict in _VERDICTS)
    return f"{fixed + wrong:,} → {wrong + broken:,}"


# A document


def _card(view: _View) -> str:
    decoding = view.decoding
    sign, meaning = _STATUSES[decoding.status]
    corrected, is_open = len(decoding.corrections), decoding.status != "satisfied"
    kinds = "card" + " corrected" * bool(corrected) + " open" * is_open
    implied = sum(check.implied for check in decoding.violations)
    violated = len(decoding.violations) - implied
    chips = [how_checked(decoding.rules) + f", {violated} violated" * bool(violated)]
    chips += [_others(implied)] * bool(implied)
    chips += [f"{corrected} correction{'s' * (corrected != 1)}"] * bool(corrected)
    proof = "Proven optimal." if decoding.optimal else ""
    if decoding.stopped_by and not decoding.optimal:
        proof = f"Not proven optimal: {STOPPED[decoding.stopped_by]}."
    gold = f", words wrong: {_gold(view.count())}" if view.has_gold else ""
    pages, widest = _pages(view)
    return (
        f'<details class="{kinds}"{" open" * bool(corrected or is_open)}><summary>'
        f'<b class="badge {decoding.status}">{sign} {decoding.status}</b>'
        f"<bdi>{_text(decoding.id)}</bdi><i>{' · '.join(chips)}</i>"
        f"<small>{decoding.tried:,} candidate{'s' * (decoding.tried != 1)} · "
        f"{decoding.seconds * 1000:,.1f} ms</small></summary>"
        f'<div class="body{" wide" * (widest > _WIDE)}"><div>{pages}{_legend(view)}</div>'
        f'<div class="facts"><div>{_fields(view)}</div><div>{_clash(view)}{_checks(view)}'
        f"{_corrections(view)}{_alternatives(view)}"
        f'<p class="quiet">{meaning} {proof}<br>Decoder {_text(decoding.decoder)}, '
        f"p = {exp(decoding.log_prob):.2g}{gold}</p></div></div></div></details>\n"
    )


def _others(implied: int) -> str:
    """Violated checks that are no rules: of what fields ask for by themselves."""
    return f"{implied:,} other check{'s' * (implied != 1)} violated"


def _fields(view: _View) -> str:
    rows = []
    confidence = view.decoding.confidence
    for name, values in view.decoding.fields.items():
        head = (
            f'<th scope="row" rowspan="{len(values)}">'
            f'<span class="field c{view.colours[name]}">{_text(name)}</span></th>'
        )
        sure = f'<td rowspan="{len(values)}">{_sure(view, name)}</td>' if confidence else ""
        for value in values:
            read = "<em>✗ unreadable</em>"
            if value.value is not None:
                read = f"<bdi>{_text(format_value(value.value))}</bdi>"
            cells = f"<td><bdi>{_text(value.text)}</bdi></td><td>{read}</td>"
            rows.append(f"<tr>{head}{cells}{sure}</tr>")
            head = sure = ""
    for name in confidence:
        if name not in view.decoding.fields:
            cells = f'<td class="quiet" colspan="2">missing</td><td>{_sure(view, name)}</td>'
            rows.append(f'<tr><th scope="row">{_text(name)}</th>{cells}</tr>')
    names = ("field", "text", "read as", *(("sure",) if confidence else ()))
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return "<h3>Fields</h3>" + (table if rows else '<p class="quiet">none found</p>')


def _sure(view: _View, name: str) -> str:
    """How sure a field's value is, if that is known."""
    sure = view.decoding.confidence.get(name)
    return "" if sure is None else str(sure).removesuffix(" sure")


def _clash(view: _View) -> str:
    if not view.decoding.clash:
        return ""
    rules = "".join(f"<li><code>{_text(rule)}</code></li>" for rule in view.decoding.clash)
    which = CLASHES[view.decoding.clash_minimal]
    return f"<h3>Clash</h3><p>{which.capitalize()}:</p><ol>{rules}</ol>"


def _checks(view: _View) -> str:
    rows = []
    for check in view.decoding.checks:
        message = f": <span>{_text(check.message)}</span>" if check.message else ""
        rows.append(
            f'<li class="{check.state}"><b>{_STATES[check.state]} {check.state}</b>'
            f"<span><code>{_text(check.id)}</code>{message}</span></li>"
        )
    return f"<h3>Checks</h3><ul>{''.join(rows)}</ul>" if rows else ""


def _corrections(view: _View) -> str:
    rows = []
    for c in view.decoding.corrections:
        old, new = map(_text, _differ(c.old, c.new))
        why = ", ".join(f"<code>{_text(rule)}</code>" for rule in c.because or ())
        why = f"because of {why}" if why else c.why
        rows.append(
            f"<li>“<bdi>{_text(view.document.words[c.word])}</bdi>”: <del>{old}</del> → "
            f"<b>{new}</b>, {c.price:.2f} nats{', ' * bool(why)}{why}</li>"
        )
    return f"<h3>Corrections</h3><ol>{''.join(rows)}</ol>" if rows else ""


def _alternatives(view: _View) -> str:
    """The next best values, where they were asked for, and how far behind they are."""
    decoding = view.decoding
    if decoding.margin is None and not decoding.alternatives:
        return ""
    rows = []
    for other in decoding.alternatives:
        changes = []
        for name, gone, new in differences(decoding, other, view.single):
            change = f"with <b>{_text(new)}</b>" if new else f"without <del>{_text(gone)}</del>"
            if gone and new:
                change = f"<del>{_text(gone)}</del> → <b>{_text(new)}</b>"
            changes.append(f"{_text(name)} {change}")
        broken = ", ".join(f"<code>{_text(check.id)}</code>" for check in other.violations)
        rows.append(
            f"<li>{decoding.worth - other.worth:.2f} nats worse: {'; '.join(changes)}"
            f"{f' (violates {broken})' if broken else ''}"
            f"{'' if other.optimal else ', not proven the next best'}</li>"
        )
    listed = f"<ol>{''.join(rows)}</ol>" if rows else ""
    return f'<h3>Next best values</h3>{listed}<p class="quiet near">{_margin(decoding)}</p>'


def _margin(decoding: Decoding) -> str:
    if decoding.margin is None:
        return "Margin unknown: the answer is not proven best."
    if decoding.margin == inf:
        return "No other values are possible."
    margin = floor(100 * decoding.margin) / 100
    return f"Everything with other values is worth at least {margin:.2f} nats less."


# Its pages


def _pages(view: _View) -> tuple[str, float]:
    """The pages, drawn where there are boxes and as running text else; and how wide they are."""
    document = view.document
    if not len(document):
        return '<p class="quiet">no words</p>', 0
    numbers = document.pages or (0,) * len(document)
    parts, widest = [], 0.0
    for number in sorted(set(numbers)):
        words = [i for i, page in enumerate(numbers) if page == number]
        if document.pages is not None:
            parts.append(f"<h3>Page {number + 1}</h3>")
        if document.boxes is None:
            parts.append(_flow(view, words))
        else:
            image, width = _image(view, words, document.boxes)
            parts.append(image)
            widest = max(widest, width)
    return "".join(parts), widest


def _legend(view: _View) -> str:
    keys = [(f"field c{view.colours[name]}", _text(name)) for name in view.decoding.fields]
    keys += [("changed", "corrected")] * bool(view.decoding.corrections)
    seen = {mark.verdict for mark in view.marks}
    keys += [item for item in _VERDICTS.items() if item[0] in seen]
    spans = " ".join(f'<span class="{style}">{name}</span>' for style, name in keys)
    return f'<p class="legend">{spans}</p>' if keys else ""


def _flow(view: _View, words: list[int]) -> str:
    document = view.document
    parts = []
    for mark, run in view.runs(words):
        parts.append("" if document.joins and document.joins[run[0]] else " ")
        text = _text(document.text(run[0], run[-1] + 1))
        if mark == _Mark():
            parts.append(text)
            continue
        old, new = map(_text, view.caption(mark, run[0]))
        small = f"<small>{f'<del>{old}</del> → ' if old else ''}{new}</small>" if new else ""
        if mark.verdict:
            sign = _VERDICTS[mark.verdict].split()[0]
            small += f'<small class="{mark.verdict}">{sign}</small>'
        style = view.style(mark)
        parts.append(f'<mark class="{style}" title="{view.hint(mark)}">{text}{small}</mark>')
    return f'<p class="flow">{"".join(parts)}</p>'


def _image(view: _View, words: list[int], boxes: Sequence[Box]) -> tuple[str, float]:
    """A page as SVG, in pixels: every word fitted into its box, with what is marked around it."""
    raw = np.array([boxes[i] for i in words])  # (words, 4)
    heights = raw[:, 3] - raw[:, 1]
    middle = float(np.median(heights[heights > 0])) if (heights > 0).any() else _WORD_HEIGHT
    corner = np.tile(raw[:, :2].min(axis=0), 2)
    placed = (raw - corner) * (_WORD_HEIGHT / middle) + _MARGIN
    width, height = (float(edge) + _MARGIN for edge in placed[:, 2:].max(axis=0))
    box_of = dict(zip(words, placed.tolist(), strict=True))
    parts: list[str] = []
    captions: list[tuple[str, str, list[float]]] = []
    for mark, run in view.runs(words):
        texts = "".join(_word(view.document.words[i], box_of[i]) for i in run)
        if mark == _Mark():
            parts.append(texts)
            continue
        lines = list(_lines([box_of[i] for i in run]))
        shapes = "".join(
            f'<rect x="{x0 - 2:.0f}" y="{y0 - 1:.0f}" width="{x1 - x0 + 4:.0f}" '
            f'height="{y1 - y0 + 2:.0f}"/>'
            for x0, y0, x1, y1 in lines
        )
        if mark.verdict:
            _, top, right, bottom = lines[-1]
            texts += (
                f'<text class="{mark.verdict}" x="{right + 3:.0f}" '
                f'y="{(top + bottom) / 2 + 4:.0f}">{_VERDICTS[mark.verdict].split()[0]}</text>'
            )
        hint = f"<title>{view.hint(mark)}</title>"
        parts.append(f'<g class="{view.style(mark)}">{hint}{shapes}{texts}</g>')
        old, new = view.caption(mark, run[0])
        captions += [(old, new, lines[0])] * bool(new)
    # Corrections first: where captions are in each other's way, they are the ones to keep.
    captions.sort(key=lambda caption: not caption[0])
    parts += _captions(captions, placed, width)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
    return f"<svg {size}>{''.join(parts)}</svg>", width


def _word(word: str, box: list[float]) -> str:
    x0, y0, x1, y1 = box
    if not word.strip():
        return ""
    letters = sum(1.0 if ord(letter) > 0x2E80 else 0.6 for letter in word)
    size = min(0.8 * (y1 - y0), 2 * (x1 - x0) / letters) or 0.8 * _WORD_HEIGHT
    shape = "" if round(size) == 16 else f' font-size="{size:.3g}"'
    # Lone letters, and text far shorter than its box, would be drawn out of shape.
    length = min(x1 - x0, (1.4 if len(word) > 1 else 1) * size * letters)
    if length > 0:
        shape += f' textLength="{length:.0f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x0:.0f}" y="{y1 - 0.2 * (y1 - y0):.0f}"{shape}>{_text(word)}</text>'


def _lines(boxes: list[list[float]]) -> Iterator[list[float]]:
    """Boxes in reading order, joined as long as the line goes on."""
    line = boxes[0]
    for box in boxes[1:]:
        overlap = min(line[3], box[3]) - max(line[1], box[1])
        if box[0] >= line[0] and overlap > (box[3] - box[1]) / 2:
            line = [*map(min, line[:2], box[:2]), *map(max, line[2:], box[2:])]
        else:
            yield line
            line = box
    yield line


def _captions(
    captions: list[tuple[str, str, list[float]]], words: NDArray[np.float64], width: float
) -> Iterator[str]:
    """Captions above their words, or below where that is taken; field names give way to text."""
    taken = words
    for old, new, (left, top, _, bottom) in captions:
        length = (len(old) + 3 * bool(old) + len(new)) * 5.6
        x = max(0.0, min(left, width - length))
        spots = [np.array([x, y - 8, x + length, y]) for y in (top - 2, bottom + 8)]
        free = [
            spot
            for spot in spots
            if ((spot[2:] - 2 <= taken[:, :2]) | (spot[:2] + 2 >= taken[:, 2:])).any(axis=1).all()
        ]
        if not (free or old):
            continue
        spot = (free or spots)[0]
        taken = np.vstack([taken, spot])
        struck = f'<tspan class="old">{_text(old)}</tspan> → ' if old else ""
        yield f'<text class="caption" x="{x:.0f}" y="{spot[3]:.0f}">{struck}{_text(new)}</text>'


# Totals, and the page around it all


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
    statuses = ((name, f"{sign} {name}", totals[name]) for name, (sign, _) in _STATUSES.items())
    tiles = tile(f"{documents:,}", "documents", *statuses)
    tiles += tile(
        f"{passed + violated:,}",
        "rules checked",
        ("satisfied", "✓ passed", passed),
        ("violated", "✗ violated", violated),
        ("vacuous", "○ not checked", totals["rule vacuous"]),
        more=f"{_others(implied)}: what fields ask for by themselves" if implied else "",
    )
    tiles += tile(
        f"{totals['corrections']:,}",
        "corrections",
        ("corrected", "documents corrected", corrected),
        ("vacuous", "left alone", documents - corrected),
    )
    if totals["has gold"]:
        tiles += tile(_gold(totals), "words wrong, before and after")
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

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--back:#f4f5f7;--ink:#1c2128;--muted:#57606a;
--line:#d5d9df;--good:#116329;--warn:#8a5300;--bad:#b3261e;--accent:#0a58ca;--tint:90% 45% / .17}
@media(prefers-color-scheme:dark){:root{--paper:#171b21;--back:#0e1116;--ink:#e4e9ef;--muted:#9aa4b0;
--line:#323943;--good:#5fd07a;--warn:#e8b04a;--bad:#ff8378;--accent:#7ab3ff;--tint:75% 60% / .26}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:78rem;display:flex;flex-direction:column;
background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
header{order:-3}#totals{order:-2}.tools{order:-1}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 1rem;letter-spacing:-.02em;overflow-wrap:anywhere}
h3,thead th{font-size:.75rem;font-weight:600;letter-spacing:.05em;text-transform:uppercase;
color:var(--muted);margin:1.2rem 0 .3rem}h3:first-child{margin-top:0}
ul,ol{list-style:none;margin:0;padding:0}bdi,code,.flow{overflow-wrap:anywhere}
code{font:.92em ui-monospace,monospace}del,.old{text-decoration:line-through;color:var(--muted)}
.quiet,.vacuous,.unchecked,small{color:var(--muted)}.satisfied,.fixed{color:var(--good)}
.relaxed,.exhausted{color:var(--warn)}.tile .corrected{color:var(--accent)}
.infeasible,.violated,.wrong,.broken,em{color:var(--bad);font-style:normal}
#totals{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem}
.tile,.card{background:var(--paper);border:1px solid var(--line);border-radius:.6rem}
.tile{padding:.8rem 1rem;font-size:.87rem}.tile p{margin:0;color:var(--muted)}
.tile p b{font-size:1.7rem;line-height:1.2;color:var(--ink);margin-right:.2rem}
.tile ul{display:flex;flex-wrap:wrap;gap:.1rem .9rem}.bar .vacuous{color:var(--line)}
.bar{display:flex;gap:2px;height:.5rem;margin:.45rem 0;border-radius:.25rem;overflow:hidden}
.bar i{min-width:3px;background:currentColor}
.tools{display:flex;flex-wrap:wrap;gap:.4rem 1.1rem;align-items:center;margin:1rem 0}
.tools label{cursor:pointer}.tools input{accent-color:var(--accent);margin:0 .3rem 0 0}
.tools button{font:inherit;font-size:.87rem;color:var(--accent);background:none;border:0;padding:0;
cursor:pointer;text-decoration:underline}.tools button:first-of-type{margin-left:auto}
.nothing,body:has(#corrected:checked) .card:not(.corrected),
body:has(#open:checked) .card:not(.open){display:none}
body:has(#corrected:checked):not(:has(.card.corrected)) .nothing,
body:has(#open:checked):not(:has(.card.open)) .nothing,body:not(:has(.card)) .nothing{display:block}
.card{margin-bottom:.6rem;content-visibility:auto;contain-intrinsic-size:auto 3rem}
.card[open]{contain-intrinsic-size:auto 40rem}
summary{display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline;padding:.6rem 1rem;
cursor:pointer}summary::-webkit-details-marker{display:none}
summary::before{content:"▸";color:var(--muted)}[open]>summary::before{content:"▾"}
summary bdi{font-weight:600}summary i{color:var(--muted);font-style:normal;font-size:.87rem}
summary small{margin-left:auto;font-size:.87rem;font-variant-numeric:tabular-nums}
.badge{font-size:.8rem;border:1px solid;border-radius:1rem;padding:0 .55rem;white-space:nowrap}
.body{display:grid;grid-template-columns:fit-content(56%) minmax(18rem,1fr);gap:1.2rem 2rem;
padding:1rem;border-top:1px solid var(--line)}.body>div{min-width:0}
.wide{grid-template-columns:100%}.wide .facts{display:grid;grid-template-columns:1fr 1fr;gap:2rem}
h3{break-after:avoid}.facts li,.facts tr,.facts p{break-inside:avoid}
.facts>div+div{margin-top:1.2rem}.wide .facts>div+div{margin:0}
svg{display:block;max-width:100%;max-height:200rem;height:auto;border:1px solid var(--line);
border-radius:.3rem;font:16px ui-monospace,monospace;margin-bottom:.5rem}
svg text{fill:var(--ink)}svg rect{fill:none;rx:2px}
svg .field rect{fill:hsl(var(--hue) var(--tint))}
svg .changed rect{stroke:var(--accent);stroke-width:1.5}svg .changed{outline:0}
svg .caption{font:10px system-ui,sans-serif;stroke:var(--paper);stroke-width:2px;paint-order:stroke}
svg .old{fill:var(--muted);stroke:none}
svg .fixed,svg .wrong,svg .broken{font-size:11px;font-weight:700;fill:currentColor}
mark{color:inherit;background:none}.field,.changed{border-radius:.2rem;padding:.05rem .25rem}
.field{background:hsl(var(--hue) var(--tint))}.changed{outline:1.5px solid var(--accent)}
mark small{font-size:.75rem;margin-left:.3rem}.flow{margin:0 0 .5rem;line-height:2;max-width:42rem}
.legend{display:flex;flex-wrap:wrap;gap:.3rem .7rem;margin:.2rem 0 0;font-size:.8rem;width:0;
min-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.22rem .8rem .22rem 0;
border-bottom:1px solid var(--line)}tbody th{font-weight:400}
.facts li{font-size:.9rem;padding:.12rem 0}.facts ul li{display:flex;gap:.7rem}
.facts ul li>b{flex:0 0 6.2rem;font-weight:600}.facts li>span{color:var(--ink)}
.facts .vacuous>span,.facts .satisfied>span>span{color:var(--muted)}
.facts li>span{font-variant-numeric:tabular-nums}.facts p{font-size:.82rem;margin:1.2rem 0 0}
.facts .near,.facts h3+p{margin-top:.3rem}
@media screen and (max-width:50rem){.body,.wide .facts{grid-template-columns:100%}
summary small{margin-left:0}}
@media print{body{display:block;padding:0;max-width:none;font-size:11px;background:none;
print-color-adjust:exact;-webkit-print-color-adjust:exact}.tools{display:none}
main{margin-top:1rem}.card{content-visibility:visible;break-inside:avoid}svg{max-height:14cm}
.body{grid-template-columns:fit-content(50%) 1fr}.wide{grid-template-columns:100%}}
"""

_SCRIPT = """
document.querySelector("header").after(document.getElementById("totals"));
for (const button of document.querySelectorAll("button")) {
  button.hidden = false;
  button.onclick = () => {
    for (const card of document.querySelectorAll(".card")) card.open = Boolean(button.value);
  };
}
"""
