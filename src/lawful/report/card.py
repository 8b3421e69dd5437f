"""A document's card: its status, its pages, and tables of fields, checks and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, floor, inf

from lawful.decoding import (
    CLASHES,
    STOPPED,
    ClassValue,
    Correction,
    Decoding,
    differences,
    how_checked,
)
from lawful.report.picture import draw_legend, draw_pages
from lawful.report.view import View, as_text, short_labels, words_wrong
from lawful.span_corrections import SpanCorrection
from lawful.values import format_value

STATUSES = {
    "satisfied": "Every rule that could be checked holds.",
    "unchecked": "No rule could be checked: only the model supports this answer.",
    "relaxed": "The best trade-off violates a weighted rule.",
    "exhausted": "The budget ended first: this is the best answer so far.",
    "infeasible": "Proven: the hard rules cannot hold.",
}
_WIDE = 620  # in pixels; wider pages are placed above their tables, not next to them


def draw_card(view: View) -> str:
    """The card as HTML; open if the document is corrected or not satisfied."""
    decoding = view.decoding
    meaning = STATUSES[decoding.status]
    corrected = decoding.changed
    is_open = decoding.status != "satisfied"
    classes = "card" + " corrected" * bool(corrected) + " open" * is_open
    implied = sum(check.implied for check in decoding.violations)
    violated = len(decoding.violations) - implied
    chips = [how_checked(decoding.rules) + f", {violated} violated" * bool(violated)]
    chips += [other_checks(implied)] * bool(implied)
    chips += [f"{corrected} correction{'s' * (corrected != 1)}"] * bool(corrected)
    if decoding.trust is not None:
        review = ", for review" * bool(decoding.review)
        chips.append(f"trust {floor(1000 * decoding.trust) / 10:.1f} %{review}")
    proof = "Proven optimal." if decoding.optimal else ""
    if decoding.stopped_by and not decoding.optimal:
        proof = f"Not proven optimal: {STOPPED[decoding.stopped_by]}."
    gold = f", words wrong: {words_wrong(view.count())}" if view.has_gold else ""
    pages, widest = draw_pages(view)
    return (
        f'<details class="{classes}"{" open" * bool(corrected or is_open)}><summary>'
        f'<b class="badge {decoding.status}">{decoding.status}</b>'
        f"<bdi>{as_text(decoding.id)}</bdi><i>{' · '.join(chips)}</i>"
        f"<small>{decoding.tried:,} candidate{'s' * (decoding.tried != 1)} · "
        f"{decoding.seconds * 1000:,.1f} ms</small></summary>"
        f'<div class="body{" wide" * (widest > _WIDE)}"><div>{pages}{draw_legend(view)}</div>'
        f'<div class="facts"><div>{_fields(view)}{_known(view)}{_rows(view)}</div><div>'
        f"{_clash(view)}{_checks(view)}{_corrections(view)}{_pins(view)}{_alternatives(view)}"
        f'<p class="quiet">{meaning} {proof}<br>Decoder {as_text(decoding.decoder)}, '
        f"p = {exp(decoding.log_prob):.2g}{gold}</p></div></div></div></details>\n"
    )


def other_checks(implied: int) -> str:
    """The number of violated implied checks, in words."""
    return f"{implied:,} other check{'s' * (implied != 1)} violated"


def _fields(view: View) -> str:
    rows = []
    confidence = view.decoding.confidence
    for name, found in view.decoding.classes.items():
        sure = f"<td>{_sure(view, name)}</td>" if confidence else ""
        cells = f'<td colspan="2"><bdi>{as_text(found.value)}</bdi></td>{sure}'
        rows.append(f'<tr><th scope="row">{as_text(name)}</th>{cells}</tr>')
    for name, values in view.decoding.fields.items():
        head = (
            f'<th scope="row" rowspan="{len(values)}">'
            f'<span class="field c{view.colours[name]}">{as_text(name)}</span></th>'
        )
        sure = f'<td rowspan="{len(values)}">{_sure(view, name)}</td>' if confidence else ""
        for value in values:
            read = "<em>✗ unreadable</em>"
            if value.value is not None:
                read = f"<bdi>{as_text(format_value(value.value))}</bdi>"
            cells = f"<td><bdi>{as_text(value.text)}</bdi></td><td>{read}</td>"
            rows.append(f"<tr>{head}{cells}{sure}</tr>")
            head = sure = ""
    for name in confidence:
        if name not in view.decoding.fields and name not in view.decoding.classes:
            cells = f'<td class="quiet" colspan="2">missing</td><td>{_sure(view, name)}</td>'
            rows.append(f'<tr><th scope="row">{as_text(name)}</th>{cells}</tr>')
    names = ("field", "text", "read as", *(("sure",) if confidence else ()))
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return "<h3>Fields</h3>" + (table if rows else '<p class="quiet">none found</p>')


def _known(view: View) -> str:
    """The values that the document itself states, beside those that were found."""
    rows = "".join(
        f'<tr><th scope="row">{as_text(each.field)}</th>'
        f"<td><bdi>{as_text('; '.join(each.known))}</bdi></td>"
        f"<td><bdi>{as_text('; '.join(each.found))}</bdi></td>"
        f'<td class="{"fixed" if each.right else "wrong"}">{"✓" if each.right else "✗"}</td></tr>'
        for each in view.known
    )
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("field", "known", "found", ""))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<h3>Known values</h3>{table}" if rows else ""


def _rows(view: View) -> str:
    """A table for each kind of rows."""
    tables = []
    for kind, names in view.decoding.row_kinds.items():
        rows = view.decoding.rows(kind)
        shown = [name for name in names if any(name in row for row in rows)]
        heads = "".join(f'<th scope="col">{as_text(name)}</th>' for name in shown)
        lines = []
        for number, row in enumerate(rows, 1):
            cells = "".join(
                f"<td><bdi>{as_text(row[name].text) if name in row else ''}</bdi></td>"
                for name in shown
            )
            lines.append(f'<tr><th scope="row">{number}</th>{cells}</tr>')
        head = f"<thead><tr><th></th>{heads}</tr></thead>"
        table = f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"
        nothing = '<p class="quiet">no rows found</p>'
        tables.append(f"<h3>Rows: {as_text(kind)}</h3>{table if rows else nothing}")
    return "".join(tables)


def _sure(view: View, name: str) -> str:
    """The confidence in a field's value, or nothing if unknown."""
    sure = view.decoding.confidence.get(name)
    return "" if sure is None else str(sure).removesuffix(" sure")


def _clash(view: View) -> str:
    if not view.decoding.clash:
        return ""
    rules = "".join(f"<li><code>{as_text(rule)}</code></li>" for rule in view.decoding.clash)
    which = CLASHES[view.decoding.clash_minimal]
    return f"<h3>Clash</h3><p>{which.capitalize()}:</p><ol>{rules}</ol>"


def _checks(view: View) -> str:
    rows = []
    for check in view.decoding.checks:
        message = f": <span>{as_text(check.message)}</span>" if check.message else ""
        rows.append(
            f'<li class="{check.state}"><b class="sign">{check.state}</b>'
            f"<span><code>{as_text(check.id)}</code>{message}</span></li>"
        )
    return f"<h3>Checks</h3><ul>{''.join(rows)}</ul>" if rows else ""


def _corrections(view: View) -> str:
    rows = [
        _change(as_text(name), found.first, found.value, found)
        for name, found in view.decoding.classes.items()
        if found.value != found.first
    ]
    for c in view.decoding.corrections:
        word = f"“<bdi>{as_text(view.document.words[c.word])}</bdi>”"
        rows.append(_change(word, *short_labels(c.old, c.new), c))
    words = view.document.words
    for moved in view.decoding.span_corrections:
        span = moved.new or moved.old
        text = "" if span is None else " ".join(words[span.start : span.end])
        rows.append(_change(f"“<bdi>{as_text(text)}</bdi>”", *_places(moved, words), moved))
    return f"<h3>Corrections</h3><ol>{''.join(rows)}</ol>" if rows else ""


def _places(change: SpanCorrection, words: Sequence[str]) -> tuple[str, str]:
    """What a span was and is: its types, and its old text if that is another one."""
    old, new = change.old, change.new
    was = "nothing" if old is None else old.type
    if old is not None and new is not None and old[1:] != new[1:]:
        was += f" {' '.join(words[old.start : old.end])}"
    return was, "nothing" if new is None else new.type


def _change(what: str, old: str, new: str, change: Correction | ClassValue | SpanCorrection) -> str:
    why = ", ".join(f"<code>{as_text(rule)}</code>" for rule in change.because or ())
    why = f"because of {why}" if why else change.why
    return (
        f"<li>{what}: <del>{as_text(old)}</del> → <b>{as_text(new)}</b>, "
        f"{change.price:.2f} nats{', ' * bool(why)}{why}</li>"
    )


def _pins(view: View) -> str:
    """What a person said, and the words that moved because of it."""
    rows = [f"<li><code>{as_text(pin.id)}</code></li>" for pin in view.decoding.pins]
    for move in view.decoding.moved or ():
        old, new = map(as_text, short_labels(move.old, move.new))
        word = as_text(view.document.words[move.word])
        rows.append(f"<li>moved “<bdi>{word}</bdi>”: <del>{old}</del> → <b>{new}</b></li>")
    return f"<h3>Pins</h3><ol>{''.join(rows)}</ol>" if rows else ""


def _alternatives(view: View) -> str:
    """The next best values, if requested, and their distance from the best ones."""
    decoding = view.decoding
    if decoding.margin is None and not decoding.alternatives:
        return ""
    rows = []
    for other in decoding.alternatives:
        changes = []
        for name, gone, new in differences(decoding, other, view.single):
            change = f"with <b>{as_text(new)}</b>" if new else f"without <del>{as_text(gone)}</del>"
            if gone and new:
                change = f"<del>{as_text(gone)}</del> → <b>{as_text(new)}</b>"
            changes.append(f"{as_text(name)} {change}")
        broken = ", ".join(f"<code>{as_text(check.id)}</code>" for check in other.violations)
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
