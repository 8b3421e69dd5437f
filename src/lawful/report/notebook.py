"""What notebooks show of documents and rules, and of a decoding on its page.

A decoding alone is shown as its card of the report (``lawful.report.page.notebook_card``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf

from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.report.page import Report, in_notebook
from lawful.report.view import Pictures, as_text, table
from lawful.results.decoding import Decoding
from lawful.rules.definitions import Rule
from lawful.rules.rule_set import Rules
from lawful.values import format_value

MAX_WORDS = 2_000
"""Words of a document that are drawn; a notebook should stay small."""

_WIDTH, _TALLEST = 640.0, 40.0  # of a page and of a word at most, in pixels
_STYLE = """
:scope{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}
svg{display:block;max-width:100%;height:auto;border:1px solid #8884;border-radius:4px}
svg text{font-family:ui-monospace,monospace;fill:currentColor}
table{border-collapse:collapse;margin:.3rem 0 .8rem}td,th{text-align:left}
td,th{padding:.15rem .7rem .15rem 0}th{font-weight:600}small{opacity:.7}
"""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of HTML that notebooks show."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def show(
    scored: Scored,
    decoding: Decoding,
    *,
    rules: Rules | None = None,
    pictures: Pictures | None = None,
) -> Fragment:
    """A decoding on the pages of its document, as the report draws it, for a notebook.

    With ``pictures``, such as ``lawful.readers.images.picture_of``, pages that have images are
    drawn from them.
    """
    view = Report(rules=rules, pictures=lambda _: pictures).view(scored, decoding)
    return Fragment(in_notebook(view))


def document_html(document: Document) -> str:
    """A document: its words where they are printed, or as running text."""
    words = f"{len(document):,} word{'s' * (len(document) != 1)}"
    numbers = sorted(set(document.pages)) if document.pages else [0]
    pages = f", {len(numbers)} pages" if len(numbers) > 1 else ""
    left_out = f" (the first {MAX_WORDS:,} are shown)" if len(document) > MAX_WORDS else ""
    head = f"<p><b>{as_text(document.id)}</b> <small>{words}{pages}{left_out}</small></p>"
    if document.boxes is None:
        text = as_text(document.text(0, min(len(document), MAX_WORDS)))
        return _scoped(f"{head}<p>{text}</p>")
    return _scoped(head + "".join(draw_words(document, number) for number in numbers))


def draw_words(document: Document, page: int, styles: Mapping[int, str] | None = None) -> str:
    """The words of a page in their boxes, as SVG; words with a style get a box of that class."""
    boxes = document.boxes or ()
    on_page = [
        i
        for i in range(min(len(document), MAX_WORDS))
        if document.pages is None or document.pages[i] == page
    ]
    if not on_page:
        return ""
    left = min(boxes[i].x0 for i in on_page)
    top = min(boxes[i].y0 for i in on_page)
    width = max(boxes[i].x1 for i in on_page) - left
    tallest = max(boxes[i].y1 - boxes[i].y0 for i in on_page)
    scale = min(_WIDTH / (width or 1.0), _TALLEST / (tallest or 1.0))
    width *= scale
    height = (max(boxes[i].y1 for i in on_page) - top) * scale
    parts = []
    for i in on_page:
        x0, y0, x1, y1 = (
            (edge - start) * scale for edge, start in zip(boxes[i], (left, top) * 2, strict=True)
        )
        if styles and i in styles:
            parts.append(
                f'<rect class="{styles[i]}" x="{x0 - 2:.1f}" y="{y0 - 1:.1f}" '
                f'width="{x1 - x0 + 4:.1f}" height="{y1 - y0 + 2:.1f}" rx="2"/>'
            )
        parts.append(
            f'<text x="{x0:.1f}" y="{y1 - 0.22 * (y1 - y0):.1f}" font-size="{0.8 * (y1 - y0):.1f}" '
            f'textLength="{max(x1 - x0, 1):.1f}" lengthAdjust="spacingAndGlyphs">'
            f"{as_text(document.words[i])}</text>"
        )
    size = f"{width + 12:.0f}", f"{height + 12:.0f}"
    shape = f'viewBox="-6 -6 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
    return f"<svg {shape}>{''.join(parts)}</svg>"


def rules_html(rules: Rules) -> str:
    """Rules as two tables: fields, and what must hold between them."""
    fields = [
        (
            as_text(field.name),
            f"<code>{as_text(field.label)}</code>",
            as_text(f"list of {field.type}" if field.many else field.type),
            "" if field.default is None else as_text(format_value(field.default)),
        )
        for field in rules.fields
    ]
    checks = [
        (as_text(parsed.id), _condition(rule), _weight(parsed.weight))
        for rule, parsed in zip(rules.rules, rules.parsed, strict=True)
    ]
    return _scoped(
        table(("field", "label", "type", "default"), fields)
        + table(("rule", "must hold", "weight"), checks)
    )


def _condition(rule: Rule) -> str:
    check = rule.check if isinstance(rule.check, str) else f"{rule.check.__name__}()"
    when = f" when <code>{as_text(rule.when)}</code>" if rule.when else ""
    each = f", in each {as_text(rule.each)}" if rule.each else ""
    return f"<code>{as_text(check)}</code>{when}{each}"


def _weight(weight: float) -> str:
    return "hard" if isinf(weight) else f"{weight:g}"


def _scoped(html: str) -> str:
    return f'<div class="lawful"><style>@scope{{{_STYLE}}}</style>{html}</div>'
