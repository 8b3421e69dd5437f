"""Draws the pictures of the documentation: ``python docs/pictures/draw.py``.

Their numbers come from the library; a test compares the files with what it draws today.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from math import exp, log
from pathlib import Path

from lawful_models import RECEIPT

import lawful
from lab import receipts as demo
from lawful.cli.counts import Tally, counts_of
from lawful.readers import Reader
from lawful.report.notebook import draw_words
from lawful.results.decoding import Decoding
from lawful.rules.packs import DEMO, PACKS

HERE = Path(__file__).parent
PAGE = "receipt-00010"

STYLE = """
svg{color-scheme:light dark;--paper:#fff;--ink:#1c2128;--muted:#57606a;--line:#d5d9df;
--good:#116329;--bad:#b3261e;--soft:#eef1f5;--tint:90% 45% / .2}
@media(prefers-color-scheme:dark){svg{--paper:#171b21;--ink:#e4e9ef;--muted:#9aa4b0;--line:#323943;
--good:#5fd07a;--bad:#ff8378;--soft:#232a33;--tint:75% 60% / .3}}
svg{font:15px system-ui,sans-serif}text{fill:var(--ink)}.quiet{fill:var(--muted)}
.small{font-size:13px}.title{font-weight:600;font-size:17px}.good{fill:var(--good)}.bad{fill:var(--bad)}
.paper{fill:var(--paper);stroke:var(--line)}.bar{fill:var(--line)}.bar.good{fill:var(--good)}
.box{fill:var(--soft);stroke:var(--line)}.box.good{stroke:var(--good);stroke-width:2;fill:var(--soft)}
.box.bad{stroke:var(--bad);stroke-width:2;stroke-dasharray:5 4;fill:var(--soft)}
path{stroke:var(--line);stroke-width:1.5}path,path.good,path.bad{fill:none}
path.good{stroke:var(--good);stroke-width:3}
path.bad{stroke:var(--bad);stroke-width:2;stroke-dasharray:5 4}.middle{text-anchor:middle}
.mono,svg svg text{font-family:ui-monospace,monospace}
.field{fill:hsl(var(--hue) var(--tint))}.changed{stroke:var(--good);stroke-width:2.5}
.wrong{stroke:var(--bad);stroke-width:2.5;stroke-dasharray:6 4}
"""


def main() -> None:
    """Writes all pictures."""
    for name, picture in pictures():
        (HERE / name).write_text(picture, encoding="utf-8")


def pictures() -> Iterator[tuple[str, str]]:
    """The name of each file, and what is in it."""
    yield "search.svg", draw_search()
    yield "before-after.svg", draw_before_and_after()
    yield "recording.svg", draw_recording()


# --- how the search works -----------------------------------------------------------------------

WORDS = ("48.00", "5.28", "53.28")
LABELS = ("O", "B-subtotal", "B-tax", "B-total")
PROBS = ((0.02, 0.31, 0.02, 0.65), (0.10, 0.02, 0.86, 0.02), (0.02, 0.55, 0.02, 0.41))
FIELDS = ("subtotal", "tax", "total")


def draw_search() -> str:
    """Candidates by falling probability, and the graph that rules search in their place."""
    fields = [lawful.Field(name, label=name, type="money") for name in FIELDS]
    rules = lawful.Rules(fields, ["total == subtotal + tax"])
    document = lawful.Document("d", WORDS)
    scores = lawful.Scores.from_probs(PROBS, LABELS)
    answer = lawful.decode(document, scores, rules)
    parts = [
        _text(28, 40, "1 · Candidates come best first", "title"),
        _text(
            28, 63, "The first one that the rule accepts is the most probable one.", "quiet small"
        ),
    ]
    scheme = lawful.Scheme.named("BIO", list(LABELS))
    y, tried, accepted = 96, 0, False
    for labels, log_prob in lawful.paths(PROBS, scheme):
        names = [LABELS[i] for i in labels]
        found = {n.removeprefix("B-"): w for n, w in zip(names, WORDS, strict=True) if n != "O"}
        accepted = tuple(names) == answer.labels
        tried += 1
        shown = " · ".join(
            f"{name.removeprefix('B-')} {word}" for name, word in zip(names, WORDS, strict=True)
        ).replace("O ", "– ")
        verdict = _verdict(names, found, accepted=accepted)
        good = " good" if accepted else ""
        length = 320 * exp(log_prob)
        shape = f'x="28" y="{y}" width="{length:.0f}" height="22" rx="3"'
        parts.append(f'<rect class="bar{good}" {shape}/>')
        parts.append(_text(160, y + 16, f"{exp(log_prob):.1%}", "mono small"))
        parts.append(_text(230, y + 16, shown, "mono small"))
        parts.append(_text(610, y + 16, verdict, f"small {'good' if accepted else 'bad'}"))
        y += 30
        if accepted:
            break
    parts.append(_text(230, y + 14, f"{4**3 - tried} others are never looked at", "quiet small"))
    parts += _graph(answer, top=y + 50)
    return _svg(980, 560, "How the search works", parts)


def _verdict(names: list[str], found: dict[str, str], *, accepted: bool) -> str:
    if accepted:
        return "✓ 53.28 = 48.00 + 5.28: the answer, proven"
    repeated = {name for name in names if name != "O" and names.count(name) > 1}
    if repeated:
        return f"✗ two values of {repeated.pop().removeprefix('B-')}"
    if set(found) != set(FIELDS):
        return "✗ a value that the model was sure of is gone"
    both = float(found["subtotal"]) + float(found["tax"])
    return f"✗ {found['total']} is not {both:.2f}"


def _graph(answer: Decoding, top: int) -> Iterator[str]:
    yield _text(28, top, "2 · Rules steer the search", "title")
    how = (
        "Word by word, with all that the rule still needs to know. Of ways that it cannot tell "
        "apart, only the cheapest goes on."
    )
    yield _text(28, top + 23, how, "quiet small")
    shown = [sorted(range(4), key=lambda i, row=row: -row[i])[:2] for row in PROBS]
    first = [row[0] for row in shown]
    left, step, size = 60, 300, (170, 46)
    places: dict[tuple[int, int], tuple[int, int]] = {}
    for word, row in enumerate(shown):
        for place, label in enumerate(row):
            places[word, label] = (left + 40 + word * step, top + 75 + place * 70)
    chosen = [LABELS.index(label) for label in answer.labels]
    ways = {
        (word, a, b)
        for word, (before, after) in enumerate(pairwise(shown))
        for a in before
        for b in after
    }
    for way in sorted(ways, key=lambda w: w[1] == chosen[w[0]] and w[2] == chosen[w[0] + 1]):
        word, a, b = way
        kind = ""
        if a == first[word] and b == first[word + 1]:
            kind = "bad"
        if a == chosen[word] and b == chosen[word + 1]:
            kind = "good"
        (x0, y0), (x1, y1) = places[word, a], places[word + 1, b]
        x0, y0, y1 = x0 + size[0], y0 + size[1] // 2, y1 + size[1] // 2
        yield f'<path class="{kind}" d="M{x0} {y0}C{x0 + 50} {y0} {x1 - 50} {y1} {x1} {y1}"/>'
    for (word, label), (x, y) in places.items():
        kind = "good" if label == chosen[word] else "bad" if label == first[word] else ""
        name = "no field" if label == 0 else LABELS[label].removeprefix("B-")
        shape = f'x="{x}" y="{y}" width="{size[0]}" height="{size[1]}" rx="6"'
        yield f'<rect class="box {kind}" {shape}/>'
        yield _text(
            x + size[0] // 2, y + 20, f"{name} {WORDS[word] if label else ''}".strip(), "middle"
        )
        price = _nats(PROBS[word], label)
        yield _text(x + size[0] // 2, y + 38, f"{price:.2f} nats", "middle quiet small")
    x = left + 40
    yield _text(
        x, top + 245, "- - -  the model's own answer: total 48.00 is not 53.28 + 5.28", "bad small"
    )
    corrections = sum(c.price for c in answer.corrections)
    yield _text(
        x + 470, top + 245,
        f"——  lawful's: {corrections:.2f} nats less probable, and it adds up", "good small",
    )  # fmt: skip


def _nats(row: tuple[float, ...], label: int) -> float:
    return log(max(row)) - log(row[label])


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{style}">{escape(text)}</text>'


# --- a page before and after --------------------------------------------------------------------

HUES = (210, 38, 145, 285, 325, 80, 185, 15, 250)
SCALE = 0.72  # of a page


def draw_before_and_after() -> str:
    """A receipt of the demo with the model's labels, and with lawful's."""
    rules = lawful.Rules.load(demo.RULES)
    (scored,) = (s for s in lawful.read_jsonl(demo.shipped()) if s.document.id == PAGE)
    before = lawful.decode(scored.document, scored.scores, rules, decoder="argmax")
    after = lawful.decode(scored.document, scored.scores, rules)
    changed = {c.word for c in after.corrections}
    names = [field.name for field in rules.fields]
    width, height = 1010, 0.0
    parts = []
    for x, title, decoding, mark in (
        (24, "The model's answer", before, "wrong"),
        (520, "lawful's answer", after, "changed"),
    ):
        styles = {
            word: f"field h{names.index(name)}{f' {mark}' * (word in changed)}"
            for name, values in decoding.fields.items()
            for value in values
            for word in range(*value.words)
        }
        page = draw_words(scored.document, 0, styles)
        height = max(height, float(page.split('viewBox="', 1)[1].split('"', 1)[0].split()[3]))
        parts.append(_text(x, 38, title, "title"))
        for i, check in enumerate(decoding.rule_checks):
            good = check.state == "satisfied"
            line = f"{'✓' if good else '✗'} {check.message}"
            parts.append(_text(x, 66 + 22 * i, line, f"small {'good' if good else 'bad'}"))
        parts.append(f'<g transform="translate({x} 130) scale({SCALE})">{page}</g>')
    used = dict.fromkeys(name for found in (before, after) for name in found.fields)
    x, y = 24.0, 130 + height * SCALE + 34
    for name in used:
        shape = f'x="{x}" y="{y - 14:.0f}" width="18" height="18" rx="3"'
        parts.append(f'<rect class="field h{names.index(name)}" {shape}/>')
        parts.append(_text(x + 25, round(y), name, "small"))
        x += 48 + 8 * len(name)
    hues = "".join(f".h{i}{{--hue:{hue}}}" for i, hue in enumerate(HUES))
    return _svg(width, round(y + 22), "A receipt before and after decoding", parts, hues)


# --- from a file to fields, in forty seconds ----------------------------------------------------

STEPS = ("extract", "report", "review", "export")
WIDE, HIGH, LASTS = 640, 645, 40  # seconds, as many for each step
MISREAD, PRINTED = "6.54", "16.54"


def draw_recording() -> str:
    """A receipt of the demo, step by step; without motion for those who do not want it."""
    document = Reader(ocr="never").read(DEMO / "receipt-00021.pdf").with_id("receipt.pdf")
    (scored,) = lawful.from_pretrained(RECEIPT).predict([document])
    rules = lawful.Rules.load(PACKS["receipt"])
    found = lawful.decode(scored.document, scored.scores, rules)
    word = document.words.index(MISREAD)
    pin = lawful.Pin("text", (word, word + 1), None, PRINTED)
    mended = lawful.decode(scored.document, scored.scores, rules, pins=[pin])
    tally = Tally(counts_of(found.status, found.checks))
    scenes = [
        [
            _text(24, 92, "$ lawful extract receipt.pdf --out report.html", "mono"),
            _text(24, 122, f"1 document: {tally}", "mono small quiet"),
            f'<g transform="translate(24 150) scale(.9)">{draw_words(document, 0, {})}</g>',
        ],
        [*_page_of(found, rules, scored, {c.word for c in found.corrections}, word),
         *_facts_of(found, f"one rule does not hold: look at {MISREAD}", "bad")],
        [*_page_of(mended, rules, scored, {word}, None),
         *_facts_of(mended, f"“{MISREAD}” says {PRINTED}: all is decoded again", "good")],
        [
            _text(24, 92, "$ lawful review export --db review.db --out accepted.csv", "mono"),
            *(
                _text(24, 126 + 25 * i, f"{name:<10}{mended.fields[name][0].text}", "mono")
                for i, name in enumerate(SHOWN)
            ),
            _text(24, 320, f"{mended.status}: {mended.counts}", "good"),
            _text(24, 346, "Every value has its words, its page and its box.", "quiet"),
        ],
    ]  # fmt: skip
    parts = []
    for number, scene in enumerate(scenes):
        marks = [
            _text(24 + 150 * i, 42, f"{i + 1} {step}", "title" if i == number else "title faint")
            for i, step in enumerate(STEPS)
        ]
        parts.append(f'<g class="scene" style="--n:{number}">{"".join([*marks, *scene])}</g>')
    hues = "".join(f".h{i}{{--hue:{hue}}}" for i, hue in enumerate(HUES * 3))
    share = 100 / len(STEPS)
    motion = (
        f".scene{{opacity:0;animation:show {LASTS}s infinite;"
        f"animation-delay:calc(var(--n)*{LASTS // len(STEPS)}s)}}"
        f"@keyframes show{{0%,{share - 1:.0f}%{{opacity:1}}{share:.0f}%,100%{{opacity:0}}}}"
        "@media(prefers-reduced-motion){.scene{animation:none}.scene:nth-of-type(2){opacity:1}}"
        ".faint{opacity:.35}.mono{white-space:pre}"
    )
    return _svg(WIDE, HIGH, "A receipt from a PDF file to fields", parts, hues + motion)


SHOWN = ("issued", "shop", "subtotal", "tax", "total", "cash", "change")


def _page_of(
    found: Decoding,
    rules: lawful.Rules,
    scored: lawful.Scored,
    changed: set[int],
    wrong: int | None,
) -> Iterator[str]:
    names = [field.name for field in rules.fields]
    styles = {
        word: f"field h{names.index(name)}"
        f"{' wrong' if word == wrong else ' changed' if word in changed else ''}"
        for name, values in found.fields.items()
        for value in values
        for word in range(*value.words)
    }
    page = draw_words(scored.document, 0, styles)
    yield f'<g transform="translate(24 66) scale(.9)">{page}</g>'


def _facts_of(found: Decoding, said: str, style: str) -> Iterator[str]:
    for i, name in enumerate(SHOWN):
        x, y = 24 + 240 * (i // 4), 524 + 24 * (i % 4)
        yield _text(x, y, name, "small quiet")
        yield _text(x + 75, y, _value(found, name), "mono small")
    y = 524
    for check in found.rule_checks:
        if check.state != "vacuous" and check.id in ("items", "total", "change"):
            good = check.state == "satisfied"
            mark, kind = ("✓", "good") if good else ("✗", "bad")
            yield _text(500, y, f"{mark} {check.id}", f"small {kind}")
            y += 24
    yield _text(24, HIGH - 18, said, style)


def _value(found: Decoding, name: str) -> str:
    text = found.fields[name][0].text
    return text if len(text) < 20 else text[:18] + "…"


def _svg(width: int, height: int, label: str, parts: list[str], style: str = "") -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'role="img" aria-label="{label}">\n<style>{STYLE}{style}</style>\n'
        f'<rect class="paper" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>\n'
        f"{body}\n</svg>\n"
    )


if __name__ == "__main__":
    main()
