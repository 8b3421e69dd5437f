"""``lawful einvoice`` on real hybrid invoices: what it finds, and how many planted contradictions.

    python -m lab.benchmarks.einvoices [--part chosen|shown|both] [--plants N]

The PDF files of ``../shared/data/facturx``. A contradiction is planted in a file by changing one
amount, in the XML or on the page: one digit, two neighbouring digits swapped, all digits at random,
or ten times as much (in the XML only). An amount is one that the audit reads: sums, prices and
amounts of lines, bases and taxes of rates, allowances and charges; on the page, one where the audit
has placed an amount. It is found if a check is violated that was not before. Neutral changes are a
letter of a text, in the XML or on the page; a check must not be violated by them. Settings were
chosen on files of even groups (``chosen``); ``shown`` are the others.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from time import perf_counter
from typing import Any

from lab.benchmarks.data import FACTURX, records
from lab.benchmarks.study import study
from lawful import Document
from lawful.evaluation.einvoices import Audit, audit
from lawful.evaluation.printed import AMOUNTS, place_amounts
from lawful.readers import Reader
from lawful.readers.einvoice import EInvoice, read_einvoice
from lawful.readers.reader import FileDocument
from lawful.rules.packs import rules_named

LABELS = {".".join(names) for names in AMOUNTS}
LEAST = Decimal("0.05")
"""A change that is no contradiction if it is smaller: prices have four decimals, and tolerances."""

KINDS = ("digit", "swap", "all digits", "ten times")
_TEXTS = re.compile(rb"(?<=>)[^<>]*\S[^<>]*(?=</)")


def read_files(part: str) -> Iterator[tuple[FileDocument, bytes]]:
    """The files of a part with e-invoices, and their XML."""
    groups = {line["id"]: line["group"] for line in records(FACTURX / "documents.jsonl.gz")}
    for name in sorted(groups):
        if part == "both" or (part == "chosen") == (groups[name] % 2 == 0):
            document = Reader("never").read(FACTURX / "pdf" / f"{name}.pdf")
            if isinstance(document, FileDocument) and document.invoice:
                yield replace(document, id=name), (FACTURX / "xml" / f"{name}.xml").read_bytes()
            else:
                print(f"{name}: {getattr(document, 'notes', 'no e-invoice')}")


def changed(text: str, kind: str, draw: random.Random) -> str | None:
    """A number with other digits; ``None`` if it cannot be changed so."""
    places = [i for i, mark in enumerate(text) if mark.isdigit()]
    marks = list(text)
    first = text[places[0]] != "0"
    if kind == "ten times":
        return f"{Decimal(text) * 10:f}" if re.fullmatch(r"-?\d+(\.\d+)?", text) else None
    if kind == "swap":
        pairs = [(a, b) for a, b in pairwise(places) if text[a] != text[b]]
        if not pairs:
            return None
        a, b = draw.choice(pairs)
        marks[a], marks[b] = marks[b], marks[a]
        if first and marks[places[0]] == "0" and len(places) > 3:
            return None  # 03,00 is no amount
    else:
        for i in places if kind == "all digits" else [draw.choice(places)]:
            lowest = int(i == places[0] and first)
            marks[i] = draw.choice([d for d in "0123456789"[lowest:] if d != text[i]])
    return "".join(marks)


def amounts_of(invoice: EInvoice) -> list[tuple[str, int, Decimal]]:
    """The amounts of an e-invoice by label and number."""
    return [
        (label, number, Decimal(text))
        for label, texts in invoice.values.items() if label in LABELS
        for number, text in enumerate(texts)
    ]  # fmt: skip


def plant_in_xml(
    xml: bytes, invoice: EInvoice, kind: str, draw: random.Random
) -> tuple[str, EInvoice] | None:
    """The e-invoice with one amount changed in its XML, and what was changed."""
    texts = [m for m in _TEXTS.finditer(xml) if re.fullmatch(rb"\s*-?\d+(\.\d+)?\s*", m[0])]
    found = draw.choice(texts)
    old = found[0].decode().strip()
    new = changed(old, kind, draw) if Decimal(old) else None
    if new is None or abs(Decimal(new) - Decimal(old)) < LEAST:
        return None
    other = read_einvoice(xml[: found.start()] + new.encode() + xml[found.end() :])
    pairs = zip(amounts_of(invoice), amounts_of(other), strict=True)
    moved = [(a[0], a[2], b[2]) for a, b in pairs if a != b]
    if len(moved) != 1:
        return None  # not an amount that the audit reads
    return f"XML, {kind}, {moved[0][0]} {moved[0][1]} -> {moved[0][2]}", other


def plant_in_print(
    document: Document, invoice: EInvoice, kind: str, draw: random.Random
) -> tuple[str, Document] | None:
    """The page with one amount changed, and what was changed."""
    placed = [
        each for each in place_amounts(invoice, document, rules_named("invoice"))
        if each.words and not each.differs and "".join(document.words[i] for i in each.words)[-3:-2]
        in (".", ",")
    ]  # fmt: skip
    if not placed:
        return None
    amount = draw.choice(placed)
    text = "\0".join(document.words[i] for i in amount.words)
    new = changed(text, kind, draw)
    if new is None or new == text:
        return None
    words = list(document.words)
    for i, word in zip(amount.words, new.split("\0"), strict=True):
        words[i] = word
    name = ".".join(map(str, amount.path))
    return f"print, {kind}, {name} {text} -> {new}".replace("\0", " "), replace(
        document, words=tuple(words)
    )


def neutral(
    document: Document, xml: bytes, draw: random.Random
) -> tuple[str, Document, EInvoice] | None:
    """A file with one letter of a text changed, in the XML or on the page."""
    if draw.random() < 0.5:
        texts = [m for m in _TEXTS.finditer(xml) if re.fullmatch(rb"[A-Za-z .]{6,}", m[0])]
        if not texts:
            return None
        found = draw.choice(texts)
        at = draw.randrange(found.start(), found.end())
        new = xml[:at] + b"x" + xml[at + 1 :]
        return f"XML, {found[0]!r}", document, read_einvoice(new)
    texts = [i for i, word in enumerate(document.words) if word.isalpha() and len(word) > 2]
    at = draw.choice(texts)
    word = document.words[at]
    i = draw.randrange(len(word))
    words = (*document.words[:at], word[:i] + "x" + word[i + 1 :], *document.words[at + 1 :])
    return f"print, {word}", replace(document, words=words), read_einvoice(xml)


def new_findings(before: Audit, after: Audit) -> list[str]:
    old = {(check.id, check.row, check.message) for check in before.findings}
    return [str(c) for c in after.findings if (c.id, c.row, c.message) not in old]


def plants(
    files: Sequence[tuple[FileDocument, bytes]],
    audits: Mapping[str, Audit],
    where: str,
    kind: str,
    count: int,
    draw: random.Random,
) -> Iterator[bool]:
    """Whether each of so many planted contradictions is found."""
    while count:
        document, xml = draw.choice(files)
        planted: tuple[str, Any] | None
        if where == "XML":
            planted = plant_in_xml(xml, document.invoice, kind, draw)
            after = planted and audit(document, planted[1])
        else:
            planted = plant_in_print(document, document.invoice, kind, draw)
            after = planted and audit(planted[1], document.invoice)
        if planted is not None:
            count -= 1
            found = bool(new_findings(audits[document.id], after))
            yield found
            if not found:
                print(f"  missed in {document.id}: {planted[0]}")


def main() -> None:
    given = study(__doc__, part=("both", "chosen", "shown"), plants=200, seed=1)
    start = perf_counter()
    files = list(read_files(given.part))
    read = perf_counter() - start
    start = perf_counter()
    audits = {document.id: audit(document, document.invoice) for document, _ in files}
    seconds = perf_counter() - start
    states: Counter[tuple[str, str]] = Counter()
    for name, each in audits.items():
        states.update((check.id, check.state) for check in each.checks)
        for check in each.findings:
            print(f"  {name} {check.id}: {check.message}")
    flagged = sum(bool(each.findings) for each in audits.values())
    print(f"{len(files)} files audited, {flagged} with findings; {read:.1f} s to read, "
          f"{seconds:.1f} s to audit")  # fmt: skip
    for rule in sorted({rule for rule, _ in states}):
        print(f"  {rule:<12}", {s: states[rule, s] for s in ("satisfied", "violated", "vacuous")})
    draw = random.Random(given.seed)  # noqa: S311 - no secret
    counts: Counter[tuple[str, str]] = Counter()
    sound = [(document, xml) for document, xml in files if not audits[document.id].findings]
    for kind in KINDS:
        for where in ("XML", "print") if kind != "ten times" else ("XML",):
            for found in plants(sound, audits, where, kind, given.plants // 2, draw):
                counts[f"{where}, {kind}", "found" if found else "missed"] += 1
    while sum(n for (kind, _), n in counts.items() if kind == "neutral") < given.plants:
        document, xml = draw.choice(files)
        if (made := neutral(document, xml, draw)) is not None:
            found = new_findings(audits[document.id], audit(made[1], made[2]))
            counts["neutral", "flagged" if found else "silent"] += 1
            if found:
                print(f"  flagged! {document.id}: {made[0]}: {found}".replace("BR-", "BR "))
    print(dict(counts))


if __name__ == "__main__":
    main()
