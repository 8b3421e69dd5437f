"""A document as the report shows it: fields, corrections and errors, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import NamedTuple, TypeAlias

from lawful.documents.document import Document, check_length
from lawful.report.plain import doubt
from lawful.results.decoding import Decoding

Pictures: TypeAlias = Callable[[str, int], bytes | None]
"""A JPEG of an entry of ``Document.images``, of at most a width; ``None`` if there is none."""

VERDICTS = {"fixed": "✓ was wrong, now right", "wrong": "✗ still wrong", "broken": "✗! made wrong"}
"""Verdicts on words with gold labels, each with its sign."""


class Mark(NamedTuple):
    """The mark of a word; adjacent words with the same mark are drawn as one."""

    span: tuple[str, int, int] | None = None  # field, words
    change: tuple[str, str] | None = None  # old, new
    verdict: str = ""  # with gold: fixed, wrong, or broken if the model was right
    gold: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A document as the report shows it."""

    document: Document
    decoding: Decoding
    colours: dict[str, int]
    marks: list[Mark]
    has_gold: bool
    single: frozenset[str]  # fields that have one value
    pictures: Pictures | None = None

    @property
    def doubt(self) -> str | None:
        """Why the document needs a person, one of ``DOUBTS``; ``None`` if it does not."""
        return doubt(self.decoding)

    @classmethod
    def of(
        cls,
        document: Document,
        true_labels: tuple[str, ...] | None,
        decoding: Decoding,
        colours: dict[str, int],
        single: frozenset[str],
    ) -> View:
        check_length(document, len(decoding.labels), "decoded label", "decoded labels")
        spans = {
            word: (name, *value.words)
            for name, values in decoding.fields.items()
            for value in values
            for word in range(*value.words)
        }
        changes = {c.word: c for c in decoding.corrections}
        marks = []
        for word, (label, gold) in enumerate(
            zip(decoding.labels, true_labels or decoding.labels, strict=True)
        ):
            change = changes.get(word)
            verdict = ""
            if label != gold:
                verdict = "broken" if change and change.old == gold else "wrong"
            elif change and true_labels:
                verdict = "fixed"
            right = short_labels(label, gold)[1] if label != gold else ""
            changed = short_labels(change.old, change.new) if change else None
            marks.append(Mark(spans.get(word), changed, verdict, right))
        return cls(document, decoding, colours, marks, true_labels is not None, single)

    def count(self) -> dict[str, int]:
        """The document's contribution to the totals."""
        verdicts = Counter(mark.verdict for mark in self.marks if mark.verdict)
        all_right = self.has_gold and not verdicts["wrong"] + verdicts["broken"]
        outcome = "person" if self.doubt else "passed"
        return {
            "documents": 1,
            outcome: 1,
            **({f"doubt {self.doubt}": 1} if self.doubt else {}),
            f"gold {outcome}": int(self.has_gold),
            f"right {outcome}": int(all_right),
            "corrected": int(self.decoding.changed > 0),
            "corrections": self.decoding.changed,
            self.decoding.status: 1,
            **self.decoding.counts.totals,
            "implied violated": sum(check.implied for check in self.decoding.violations),
            **verdicts,
        }

    def runs(self, words: Sequence[int]) -> Iterator[tuple[Mark, list[int]]]:
        """Runs of words with the same mark, including the empty mark."""
        for mark, run in groupby(words, self.marks.__getitem__):
            yield mark, list(run)

    def style(self, mark: Mark) -> str:
        """The classes of marked words in the style sheet."""
        field = f"field c{self.colours[mark.span[0]]}" if mark.span else ""
        return f"{field} {'changed' * bool(mark.change)}".strip()

    def caption(self, mark: Mark, start: int) -> tuple[str, str]:
        """The caption of marked words: the old label, to be struck through, and the new one."""
        if mark.change:
            return mark.change
        return "", mark.span[0] if mark.span and mark.span[1] == start else ""

    def hint(self, mark: Mark) -> str:
        """The tooltip of marked words."""
        lines = [f"{mark.span[0]}: {self.document.text(*mark.span[1:])}"] if mark.span else []
        if mark.change:
            lines.append("corrected: {} → {}".format(*mark.change))
        if mark.verdict:
            lines.append(VERDICTS[mark.verdict] + f", gold is {mark.gold}" * bool(mark.gold))
        return as_text("\n".join(lines))


_UNWRITABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def as_text(text: str) -> str:
    """Text escaped for HTML, with � for characters that are not allowed there."""
    return escape(_UNWRITABLE.sub("\ufffd", text))


def table(heads: Iterable[str], rows: Iterable[str | Sequence[str]]) -> str:
    """A table, if it has rows: the heads of its columns, and rows of cells or in one piece.

    All are HTML.
    """
    columns = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(f"<tr>{row if isinstance(row, str) else cells(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>" * bool(body)


def cells(row: Iterable[str]) -> str:
    """Cells of a table, which are HTML."""
    return "".join(f"<td>{cell}</td>" for cell in row)


def short_labels(old: str, new: str) -> tuple[str, str]:
    """Two labels for display, with prefixes only if nothing else differs."""
    types = [re.sub("^[BIESLU]-", "", label) for label in (old, new)]
    if types[0] == types[1]:
        return old, new
    # An O that is struck through looks like a Θ.
    old, new = ("no field" if name == "O" else name for name in types)
    return old, new


def words_wrong(count: Counter[str] | dict[str, int]) -> str:
    """The numbers of wrong words before and after decoding, as text."""
    fixed, wrong, broken = (count.get(verdict, 0) for verdict in VERDICTS)
    return f"{fixed + wrong:,} → {wrong + broken:,}"
