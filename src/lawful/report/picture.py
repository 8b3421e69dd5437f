"""The pages of a document: as SVG if words have boxes, otherwise as running text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lawful.documents.document import NOWHERE, Box
from lawful.report.view import VERDICTS, Mark, View, as_text

_WORD_HEIGHT = 20  # in pixels, of a word of median height: the scale of a page
_MARGIN = 18
_NARROWEST, _WIDEST = 300, 1000  # pictures of pages
_GAPS = 0.15  # the share of a word's length by which gaps between letters may make it fit
_ZOOM = '<button type="button" class="zoom">zoom</button>'


def draw_pages(view: View) -> str:
    """The pages as HTML."""
    document = view.document
    if not len(document):
        return '<p class="quiet">no words</p>'
    numbers = document.pages or (0,) * len(document)
    parts = []
    for number in sorted(set(numbers)):
        words = [i for i, page in enumerate(numbers) if page == number]
        nowhere = document.boxes is not None and all(document.boxes[i] == NOWHERE for i in words)
        if nowhere:
            parts.append("<h3>Printed nowhere</h3>")
        elif document.pages is not None:
            parts.append(f"<h3>Page {number + 1}</h3>")
        if document.boxes is None or nowhere:
            parts.append(_flow(view, words))
        else:
            drawing = _image(view, number, words, document.boxes)
            parts.append(f"<figure>{drawing}{_ZOOM}</figure>")
    return "".join(parts)


def draw_legend(view: View) -> str:
    """A legend of the colours and signs on a document's pages."""
    keys = [(f"field c{view.colours[name]}", as_text(name)) for name in view.decoding.fields]
    keys += [("changed", "corrected")] * bool(view.decoding.corrections)
    seen = {mark.verdict for mark in view.marks}
    keys += [item for item in VERDICTS.items() if item[0] in seen]
    spans = " ".join(f'<span class="{style}">{name}</span>' for style, name in keys)
    return f'<p class="legend">{spans}</p>' if keys else ""


def _flow(view: View, words: list[int]) -> str:
    document = view.document
    parts = []
    for mark, run in view.runs(words):
        parts.append("" if document.joins and document.joins[run[0]] else " ")
        text = as_text(document.text(run[0], run[-1] + 1))
        if mark == Mark():
            parts.append(text)
            continue
        old, new = map(as_text, view.caption(mark, run[0]))
        small = f"<small>{f'<del>{old}</del> → ' if old else ''}{new}</small>" if new else ""
        if mark.verdict:
            sign = VERDICTS[mark.verdict].split()[0]
            small += f'<small class="{mark.verdict}">{sign}</small>'
        style = view.style(mark)
        parts.append(f'<mark class="{style}" title="{view.hint(mark)}">{text}{small}</mark>')
    return f'<p class="flow">{"".join(parts)}</p>'


def _image(view: View, page: int, words: list[int], boxes: Sequence[Box]) -> str:
    """A page as SVG, in pixels: its picture, or every word fitted into its box; and marks."""
    raw = np.array([boxes[i] for i in words])  # (words, 4)
    heights = raw[:, 3] - raw[:, 1]
    middle = float(np.median(heights[heights > 0])) if (heights > 0).any() else _WORD_HEIGHT
    picture, scale = "", _WORD_HEIGHT / middle
    size = _size(view, page)
    if size is not None:
        scale = min(max(scale, _NARROWEST / size[0]), _WIDEST / size[0])
        picture = _picture(view, page, size[0] * scale, size[1] * scale)
    if picture and size is not None:
        placed = raw * scale
        width, height = size[0] * scale, size[1] * scale
    else:
        scale = _WORD_HEIGHT / middle
        placed = (raw - np.tile(raw[:, :2].min(axis=0), 2)) * scale + _MARGIN
        width, height = (float(edge) + _MARGIN for edge in placed[:, 2:].max(axis=0))
    box_of = dict(zip(words, placed.tolist(), strict=True))
    parts: list[str] = []
    captions: list[tuple[str, str, list[float]]] = []
    for mark, run in view.runs(words):
        texts = "".join(_word(view.document.words[i], box_of[i]) for i in run if not picture)
        if mark == Mark():
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
                f'y="{(top + bottom) / 2 + 4:.0f}">{VERDICTS[mark.verdict].split()[0]}</text>'
            )
        hint = f"<title>{view.hint(mark)}</title>"
        parts.append(f'<g class="{view.style(mark)}">{hint}{shapes}{texts}</g>')
        old, new = view.caption(mark, run[0])
        captions += [(old, new, lines[0])] * bool(new)
    # Corrections first: if captions overlap, they are the ones to keep.
    captions.sort(key=lambda caption: not caption[0])
    parts += _captions(captions, placed, width)
    shape = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
    kind = ' class="photo"' if picture else ""
    return f"<svg {shape}{kind}>{picture}{''.join(parts)}</svg>"


def _size(view: View, page: int) -> tuple[float, float] | None:
    """The size of a page that has one."""
    sizes = view.document.sizes or ()
    return sizes[page] if page < len(sizes) and min(sizes[page]) > 0 else None


def _picture(view: View, page: int, width: float, height: float) -> str:
    """The picture of a page, or nothing if there is none."""
    images = view.document.images or ()
    reference = images[page] if page < len(images) else None
    data = view.pictures(reference, round(width)) if reference and view.pictures else None
    if data is None:
        return ""
    return (
        f'<image width="{width:.0f}" height="{height:.0f}" preserveAspectRatio="none" '
        f'href="data:image/jpeg;base64,{b64encode(data).decode()}"/>'
    )


def _word(word: str, box: list[float]) -> str:
    x0, y0, x1, y1 = box
    if not word.strip():
        return ""
    letters = sum(1.0 if ord(letter) > 0x2E80 else 0.6 for letter in word)
    size = min(0.8 * (y1 - y0), 2 * (x1 - x0) / letters) or 0.8 * _WORD_HEIGHT
    shape = "" if round(size) == 16 else f' font-size="{size:.3g}"'
    # Do not stretch single letters, or text far shorter than its box, out of shape.
    length = min(x1 - x0, (1.4 if len(word) > 1 else 1) * size * letters)
    if length > 0:
        shape += f' textLength="{length:.0f}"'
        # Small differences go into the gaps between letters, except where letters are joined.
        if not (word.isascii() and abs(length / (size * letters) - 1) < _GAPS):
            shape += ' lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x0:.0f}" y="{y1 - 0.2 * (y1 - y0):.0f}"{shape}>{as_text(word)}</text>'


def _lines(boxes: list[list[float]]) -> Iterator[list[float]]:
    """One box per line, from boxes in reading order."""
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
    """Captions above their words, or below if there is no room; field names may be left out."""
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
        struck = f'<tspan class="old">{as_text(old)}</tspan> → ' if old else ""
        yield f'<text class="caption" x="{x:.0f}" y="{spot[3]:.0f}">{struck}{as_text(new)}</text>'
