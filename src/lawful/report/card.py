"""A document's card: a line with its status, then its pages, fields, checks and corrections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, floor, isfinite

from lawful.report.fields import draw_fields, draw_known, draw_rows
from lawful.report.picture import draw_legend, draw_pages
from lawful.report.plain import STATES, STATUSES, counted, how_far_behind, less_likely
from lawful.report.view import View, as_text, short_labels, words_wrong
from lawful.results.decoding import CLASHES, STOPPED, ClassValue, Correction, Decoding, differences
from lawful.results.span_corrections import SpanCorrection

_LONG = 45  # rows and list entries; on paper, only longer cards go on on the next page


def draw_card(view: View) -> str:
    """The card as HTML: closed, its body in ``<noscript>``.

    A browser that runs scripts reads that as text, so that a report with thousands of cards opens
    quickly; the report's script turns it into elements when the card is opened. Without scripts,
    the browser does so itself.
    """
    body = _body(view)
    is_long = body.count("<tr>") + body.count("<li") > _LONG
    kinds = {"person": view.doubt, "corrected": view.decoding.changed, "long": is_long}
    classes = " ".join(["card", *(name for name, applies in kinds.items() if applies)])
    hidden = f"<noscript>{body}</noscript>"
    return f'<details class="{classes}">{_summary(view)}{hidden}</details>\n'


def draw_open_card(view: View) -> str:
    """The same card, open and for a page without the report's script."""
    return f'<details class="card" open>{_summary(view)}{_body(view)}</details>\n'


def draw_failed(name: str, why: str) -> str:
    """The card of a document that could not be read or decoded, open to say why."""
    return (
        '<details class="card person" open><summary><b class="badge violated">no result</b>'
        f'<h2><bdi>{as_text(name)}</bdi></h2></summary><div class="body"><p><bdi>{as_text(why)}'
        "</bdi></p></div></details>\n"
    )


def other_checks(implied: int) -> str:
    """The number of violated implied checks, in words."""
    return f"{counted(implied, 'other check')} broken"


def _summary(view: View) -> str:
    decoding = view.decoding
    words, _ = STATUSES[decoding.status]
    reason = next((check.message or check.id for check in decoding.violations), "")
    return (
        f'<summary><b class="badge {decoding.status}" title="status: {decoding.status}">{words}</b>'
        f"<h2><bdi>{as_text(decoding.id)}</bdi></h2>"
        f"<span>{' · '.join(_facts(decoding))}</span>"
        f'<span class="reason"><bdi>{as_text(reason)}</bdi></span></summary>'
    )


def _facts(decoding: Decoding) -> Iterable[str]:
    """What a document's line says about it."""
    implied = sum(check.implied for check in decoding.violations)
    counts, corrected = decoding.counts, decoding.changed
    yield counts.in_words(f", {counts.broken} broken" * bool(counts.broken))
    if implied:
        yield other_checks(implied)
    if corrected:
        yield counted(corrected, "correction")
    if decoding.trust is not None:
        yield f"trust {floor(1000 * decoding.trust) / 10:.1f} %, {decoding.in_review}"
    if decoding.confidence:
        name, sure = min(decoding.confidence.items(), key=lambda item: item[1].low)
        yield f"{as_text(name)} {sure}"


def _body(view: View) -> str:
    _, meaning = STATUSES[view.decoding.status]
    return (
        f'<div class="body"><div class="pages">{draw_pages(view)}{draw_legend(view)}</div>'
        f'<div class="facts"><p class="sign {view.decoding.status}">{meaning} '
        f"{_proof(view.decoding)}</p>{draw_fields(view)}{draw_known(view)}{draw_rows(view)}"
        f"{_clash(view)}{_checks(view)}{_corrections(view)}{_pins(view)}{_alternatives(view)}"
        f"{_more(view)}</div></div>"
    )


def _proof(decoding: Decoding) -> str:
    if decoding.optimal:
        return "They are proven to be the best ones, by model and rules together."
    if decoding.stopped_by:
        return f"They are not proven to be the best ones: {STOPPED[decoding.stopped_by]}."
    return ""


def _clash(view: View) -> str:
    if not view.decoding.clash:
        return ""
    which = CLASHES[view.decoding.clash_minimal]
    rules = _list(f"<code>{as_text(rule)}</code>" for rule in view.decoding.clash)
    return f"<h3>Clash</h3><p>{which.capitalize()}:</p>{rules}"


def _checks(view: View) -> str:
    """The checks, broken ones first."""
    rows = []
    for check in sorted(view.decoding.checks, key=lambda check: check.state != "violated"):
        text = check.message.removeprefix(f"{STATES['vacuous']}: ")
        message = f": <span>{as_text(text)}</span>" if text else ""
        rows.append(
            f'<li class="{check.state}"><b class="sign">{STATES[check.state]}</b>'
            f"<span><code>{as_text(check.id)}</code>{message}</span></li>"
        )
    return f'<h3>Rules</h3><ul class="checks">{"".join(rows)}</ul>' if rows else ""


def _corrections(view: View) -> str:
    rows = [_change(*change) for change in _changes(view)]
    return f"<h3>Corrections</h3>{_list(rows)}" if rows else ""


def _changes(
    view: View,
) -> Iterable[tuple[str, str, str, Correction | ClassValue | SpanCorrection]]:
    """What was corrected, as HTML; its old and its new label; the correction."""
    for name, found in view.decoding.classes.items():
        if found.value != found.first:
            yield as_text(name), found.first, found.value, found
    words = view.document.words
    for c in view.decoding.corrections:
        yield _quoted(words[c.word]), *short_labels(c.old, c.new), c
    for moved in view.decoding.span_corrections:
        span = moved.new or moved.old
        text = "" if span is None else " ".join(words[span.start : span.end])
        yield _quoted(text), *_places(moved, words), moved


def _quoted(text: str) -> str:
    return f"“<bdi>{as_text(text)}</bdi>”"


def _places(change: SpanCorrection, words: Sequence[str]) -> tuple[str, str]:
    """What a span was and is: its types, and its old text if that is another one."""
    old, new = change.old, change.new
    was = "nothing" if old is None else old.type
    if old is not None and new is not None and old[1:] != new[1:]:
        was += f" {' '.join(words[old.start : old.end])}"
    return was, "nothing" if new is None else new.type


def _change(what: str, old: str, new: str, change: Correction | ClassValue | SpanCorrection) -> str:
    why = ", ".join(map(_reason, change.because or ()))
    why = f"because of {why}" if why else change.why
    return (
        f"{what}: <del>{as_text(old)}</del> → <b>{as_text(new)}</b>{', ' * bool(why)}{why} "
        f'<span class="quiet">({less_likely(change.price)} by the model alone)</span>'
    )


def _reason(rule: str) -> str:
    return "the labelling scheme" if rule == "legal" else f"<code>{as_text(rule)}</code>"


def _pins(view: View) -> str:
    """What a person said, and the words that moved because of it."""
    rows = [f"<code>{as_text(pin.id)}</code>" for pin in view.decoding.pins]
    for move in view.decoding.moved or ():
        old, new = map(as_text, short_labels(move.old, move.new))
        word = _quoted(view.document.words[move.word])
        rows.append(f"moved {word}: <del>{old}</del> → <b>{new}</b>")
    return f"<h3>Pins</h3>{_list(rows)}" if rows else ""


def _alternatives(view: View) -> str:
    """The next best values, if requested, and how far behind the best ones they are."""
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
            f"{'; '.join(changes)}{f', which breaks {broken}' if broken else ''} "
            f'<span class="quiet">({less_likely(decoding.worth - other.worth)}'
            f"{'' if other.optimal else ', not proven to be the next best'})</span>"
        )
    margin = "How far behind other values are is unknown: these are not proven to be the best."
    if decoding.margin is not None:
        margin = f"All other values are {how_far_behind(decoding.margin)}, broken rules included."
    return f'<h3>Next best values</h3>{_list(rows)}<p class="quiet">{margin}</p>'


def _more(view: View) -> str:
    """The figures of the search, in its own units, for those who ask."""
    decoding = view.decoding
    unit = "partial reading" if decoding.decoder == "exact" else "candidate"
    rows = [
        ("status", decoding.status),
        ("decoder", f"<bdi>{as_text(decoding.decoder)}</bdi>"),
        ("tried", counted(decoding.tried, unit)),
        ("time", f"{decoding.seconds * 1000:,.1f} ms"),
        ("probability", f"{exp(decoding.log_prob):.2g} ({decoding.log_prob:.2f} nats)"),
    ]
    if decoding.penalty:
        hard = not isfinite(decoding.penalty)
        rows.append(("penalty", "a hard rule" if hard else f"{decoding.penalty:.2f} nats"))
    if decoding.margin is not None and isfinite(decoding.margin):
        rows.append(("margin", f"{floor(100 * decoding.margin) / 100:.2f} nats"))
    for what, old, new, change in _changes(view):
        rows.append(
            (f"{what}: {as_text(old)} → {as_text(new)}", f"{change.price:.2f} nats"),
        )
    if view.has_gold:
        rows.append(("words wrong, before → after", words_wrong(view.count())))
    cells = "".join(f'<tr><th scope="row">{name}</th><td>{text}</td></tr>' for name, text in rows)
    return (
        '<details class="more"><summary>Figures of the search</summary>'
        f"<table><tbody>{cells}</tbody></table></details>"
    )


def _list(rows: Iterable[str]) -> str:
    items = "".join(f"<li>{row}</li>" for row in rows)
    return f"<ol>{items}</ol>" if items else ""
