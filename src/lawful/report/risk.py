"""A figure: how many of the documents that pass are wrong, by how many pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Curve = Sequence[tuple[float, float]]
"""For rising shares of documents that pass, the share of wrong ones among these."""

WIDTH, HEIGHT = 520, 260
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 14, 40
COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7c3aed", "#db2777", "#0e7490")


def draw_risk(
    curves: Mapping[str, Curve], wanted: float | None = None, passed: float | None = None
) -> str:
    """The curves as SVG; with the promised error rate, and the share of a run that passes."""
    worst = max((risk for curve in curves.values() for _, risk in curve), default=0.0)
    top = next(t for t in (0.05, 0.1, 0.2, 0.4, 1.0) if t >= min(max(worst, 2 * (wanted or 0)), 1))

    def at(share: float, risk: float) -> str:
        x = LEFT + share * (WIDTH - LEFT - RIGHT)
        return f"{x:.1f},{HEIGHT - BOTTOM - min(risk / top, 1) * (HEIGHT - TOP - BOTTOM):.1f}"

    def line(start: tuple[float, float], end: tuple[float, float], style: str) -> str:
        return f'<polyline points="{at(*start)} {at(*end)}" {style}/>'

    def text(x: float, y: float, what: str, anchor: str, fill: str = "currentColor") -> str:
        where = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
        return f'<text {where} fill="{fill}">{escape(what)}</text>'

    parts, ink = [], 'stroke="currentColor"'
    for step in range(5):
        share = step / 4
        x, y = (float(each) for each in at(share, share * top).split(","))
        parts.append(line((0, share * top), (1, share * top), f'{ink} opacity=".15"'))
        parts.append(text(x, HEIGHT - BOTTOM + 16, f"{share:.0%}", "middle"))
        parts.append(text(LEFT - 6, y + 4, f"{100 * share * top:g} %", "end"))
    if wanted is not None:
        parts.append(line((0, wanted), (1, wanted), f'{ink} stroke-dasharray="5 4"'))
    if passed is not None:
        parts.append(line((passed, 0), (passed, top), f'{ink} stroke-dasharray="2 3"'))
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(at(*point) for point in curve)
        parts.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="2"/>')
        if len(curves) > 1:
            parts.append(text(LEFT + 12, TOP + 14 + 16 * number, name, "start", colour))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, HEIGHT - 6, "documents that pass", "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="error rate by share of documents that pass" width="{WIDTH}" '
        f'font-family="sans-serif" font-size="12" fill="none">'
        f'<g stroke-linejoin="round">{"".join(parts)}</g></svg>'
    )
