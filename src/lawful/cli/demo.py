"""``lawful demo``: the shipped receipts before and after decoding, and four ways to decode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from lawful.base.errors import MissingExtraError
from lawful.cli.counts import Tally, counts_of
from lawful.cli.demo_files import show_files
from lawful.decoders import decode
from lawful.documents.records import Scored
from lawful.evaluation.scoreboard import Scoreboard
from lawful.io.atomic import atomic_text
from lawful.io.jsonl import read_jsonl
from lawful.models.shipped import receipt_model
from lawful.models.tagger import from_pretrained
from lawful.report.page import write_report
from lawful.results.decoding import Decoding
from lawful.rules.definitions import PAPER
from lawful.rules.packs import DEMO
from lawful.rules.rule_set import Rules
from lawful.values import format_value

EXAMPLE = "lawful demo --out demo.html"

RULES, DOCUMENTS = DEMO / "rules.yaml", DEMO / "documents.jsonl.gz"

_HEADINGS = (
    "rules checked", "passed", "vacuous", "value F1", "entity F1", "pages right",
    "fixed", "broken",
)  # fmt: skip


def demo(
    out: Path = typer.Option(
        Path("lawful-demo.html"), "--out", "-o", metavar="FILE", help="HTML report to write."
    ),
    pages: int = typer.Option(
        3, "--full", metavar="N", min=0, help="Number of pages to print in full."
    ),
) -> None:
    """Decode the shipped receipts, show what changed, and compare ways of decoding."""
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe
    rules = Rules.load(RULES)
    documents = list(read_jsonl(DOCUMENTS))
    console.print(
        f"{len(documents)} generated receipts and invoices, scores of a simulated tagger (gold "
        "labels with realistic mistakes), and rules:"
    )
    for rule in rules.rules:
        console.print(f"    {rule.check}", markup=False)
    decodings = _show_all(console, documents, rules, pages)
    with atomic_text(out) as file:
        items = zip(documents, decodings, strict=True)
        write_report(file, items, title="lawful demo", rules=rules)
    console.print(f"report with all pages: {out}", markup=False)
    _show_by_model(console, documents, rules, out, pages)
    command = f"lawful review {DOCUMENTS} --rules {RULES}"
    console.print(f"\nto review these pages in the browser: {command}", markup=False)


def _show_by_model(
    console: Console, documents: list[Scored], rules: Rules, out: Path, pages: int
) -> None:
    """The same documents with the scores of the shipped model, and files."""
    try:
        tagger = from_pretrained(receipt_model())
    except MissingExtraError as error:
        console.print(f"\nleft out: the same pages, scored by a model; {error}", markup=False)
        return
    console.print(
        "\nthe same pages, scored by the receipt model that comes with lawful, which has seen\n"
        "none of this generator's pages:"
    )
    _show_all(console, list(tagger.predict(documents)), rules, min(pages, 1))
    show_files(console, out, rules, tagger, {page.document.id: page for page in documents})


def _show_all(
    console: Console, documents: list[Scored], rules: Rules, pages: int
) -> list[Decoding]:
    """Decodes the documents, shows some that the rules corrected, and compares ways to decode."""
    decodings = [decode(d.document, d.scores, rules) for d in documents]
    corrected = [(d, r) for d, r in zip(documents, decodings, strict=True) if _improved(d, r)]
    for scored, decoding in corrected[:pages]:
        _show_page(console, scored, rules, decoding)
    _compare(console, documents, rules, decodings)
    tally = Tally()
    for decoding in decodings:
        tally.update(counts_of(decoding.status, decoding.checks))
    console.print(f"lawful's defaults, {len(decodings)} documents: {tally}")
    return decodings


def _improved(scored: Scored, decoding: Decoding) -> bool:
    """Whether corrections because of a rule made the page right."""
    asked = any(set(c.because or ()) - {"legal"} for c in decoding.corrections)
    return asked and decoding.labels == scored.gold


def _show_page(console: Console, scored: Scored, rules: Rules, decoding: Decoding) -> None:
    before = decode(scored.document, scored.scores, rules, decoder="argmax")
    table = Table("field", "the model's answer", "lawful's answer", box=None, padding=(0, 2, 0, 2))
    for f in rules.fields:
        old, new = (_values(found, f.name) for found in (before, decoding))
        if old or new:
            table.add_row(f.name, old or "-", new or "-", style="bold" if old != new else "dim")
    console.print(f"\n[bold]{scored.document.id}[/bold], {len(scored.document)} words")
    console.print(table)
    for check in before.violations:
        console.print(f"  was violated: {check.message}", markup=False)
    for c in decoding.corrections:
        word, why = scored.document.words[c.word], f", {c.why}" if c.why else ""
        console.print(f"  {word}: {c.old} -> {c.new}, {c.price:.2f} nats{why}", markup=False)
    console.print(f"  now {decoding.status}, {decoding.counts}:")
    for check in decoding.rule_checks:
        console.print(f"    {check.message}", markup=False)


def _values(decoding: Decoding, field: str) -> str:
    found = decoding.fields.get(field, [])
    return " ".join("?" if v.value is None else format_value(v.value) for v in found)


def _compare(
    console: Console, documents: list[Scored], rules: Rules, decodings: list[Decoding]
) -> None:
    paper = rules.with_defaults(**PAPER)
    nothing = Rules(rules.fields, scheme=rules.scheme, defaults=rules.defaults).with_defaults(
        presence="free", repeat="any", weight=0.0
    )
    ways: dict[str, Callable[[Scored], Decoding]] = {
        "argmax": lambda d: decode(d.document, d.scores, rules, decoder="argmax"),
        "best legal labelling": lambda d: decode(d.document, d.scores, nothing),
        "the paper's semantics": lambda d: decode(d.document, d.scores, paper),
    }
    boards = {}
    for name, way in ways.items():
        boards[name] = _score(rules, documents, [way(d) for d in documents])
    boards["lawful's defaults"] = _score(rules, documents, decodings)
    baseline = boards["best legal labelling"]

    console.print(
        "\nways to decode (pages fixed and broken: compared with the best legal labelling)"
    )
    table = Table(box=None, padding=(0, 1))
    table.add_column("")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right")
    for name, board in boards.items():
        fixed, broken = board.against(baseline)
        table.add_row(
            name,
            str(board.checked),
            str(board.passed),
            str(board.unchecked),
            f"{100 * board.values.f1:.1f}",
            f"{100 * board.entities.f1:.1f}",
            f"{sum(board.right_pages)} of {board.pages}",
            "-" if board is baseline else str(fixed),
            "-" if board is baseline else str(broken),
        )
    console.print(table)


def _score(rules: Rules, documents: list[Scored], decodings: list[Decoding]) -> Scoreboard:
    board = Scoreboard(rules)
    for scored, decoding in zip(documents, decodings, strict=True):
        board.add(scored, decoding)
    return board
