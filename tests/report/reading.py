"""Reports of small documents, and how a browser and a person read them."""

from __future__ import annotations

import io
from html.parser import HTMLParser

import numpy as np

from lawful import Document, Field, Rules, Scores, decode
from lawful.documents.records import Scored
from lawful.report.page import write_report

VOID = {"meta", "input", "br"}
LABELS = ["O", "B-total", "I-total", "B-cash", "I-cash"]
RULES = Rules([Field("total", "total", "money"), Field("cash", "cash", "money")], ["cash > total"])


class Reader(HTMLParser):
    """Reads the report as a browser would, and objects to tags that do not match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)


def report(*items, **options):
    out = io.StringIO()
    write_report(out, items, **options)
    return out.getvalue()


def shown(html):
    """What a person reads, blanks made one."""
    return " ".join(" ".join(Reader(html).text).split())


def scored(words, gold=None, first=None, **layout):
    """A document whose model prefers ``first`` (or gold), and finds ``cash`` almost as good."""
    probs = np.full((len(words), len(LABELS)), 0.01)
    for i, label in enumerate(first or gold or ["O"] * len(words)):
        probs[i, LABELS.index("B-cash")] = 1.0
        probs[i, LABELS.index(label)] = 2.0
    probs /= probs.sum(axis=1, keepdims=True)
    document = Document("r1", words, **layout)
    return Scored(document, Scores.from_probs(probs, LABELS), None if gold is None else tuple(gold))


def solved(*args, **layout):
    item = scored(*args, **layout)
    return item, decode(item.document, item.scores, RULES)


def corrected(**layout):
    """The model reads both amounts as totals, which do not agree; the second becomes cash."""
    return solved(
        ["Total", "66.000", "Cash", "70.000"],
        ["O", "B-total", "O", "B-cash"],
        ["O", "B-total", "O", "B-total"],
        **layout,
    )


BOXES = [(0, 0, 50, 10), (60, 0, 100, 10), (0, 20, 40, 30), (60, 20, 100, 30)]
