"""Random small documents, with scores, rules of all kinds, and options to decode them with."""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf
from typing import NamedTuple

import numpy as np

import lab.decoders  # noqa: F401 - the paper's slower ones are asked, too
from lawful import Box, Budget, Document, Field, Rule, Rules, RulesError, Scores
from lawful.rules import Boundaries, Order, RowKind, RuleDefaults, WordRule
from tests.oracles.checks_by_hand import FUNCTIONS, NUMBERS, POSSIBLE_VALUES, WORDS
from tests.oracles.row_checks_by_hand import BY_ROWS

EXACT = ("auto", "exact", "readings", "paths", "lazyk", "best_first")
EXPLAINING = ("auto", "exact")  # find alternatives, and name what clashes
ENOUGH = Budget(candidates=10**6)
SMALL = (
    *(Budget(candidates=n) for n in (1, 2, 5, 20)),
    *(Budget(candidates=10**6, max_cost=nats) for nats in (0, 0.5, 2)),
    Budget(candidates=5, max_cost=1),
    Budget(seconds=1e-4),
    Budget(mass=0.3),
    Budget(),
)


class Asked(NamedTuple):
    """The decoder and options that a document is decoded with."""

    decoder: str
    budget: Budget
    alternatives: int

    @property
    def generous(self):
        """Whether the decoder must prove all true statements, not only make no false ones."""
        return self.decoder in EXACT and self.budget == ENOUGH


TEXTS = ("A", "B", "net")
TYPES = {  # by field: its types, the kinds of words that suit it, whether it is a list
    "total": (("money", "money", "number", "integer"), NUMBERS, False),
    "tax": (("money", "number", "percent"), NUMBERS, False),
    "parts": (("money",), NUMBERS, True),
    "day": (("date",), POSSIBLE_VALUES["date"], False),
    "due": (("date",), POSSIBLE_VALUES["date"], False),
    "days": (("date",), POSSIBLE_VALUES["date"], True),
    "shop": (("text",), TEXTS, False),
    "name": (("text",), TEXTS, False),
    "quantity": (("integer", "number", "money"), NUMBERS, False),
    "price": (("money",), NUMBERS, False),
    "amount": (("money", "money", "number"), NUMBERS, False),
    "note": (("text",), TEXTS, False),
    "rate": (("number", "percent"), NUMBERS, False),
    "basis": (("money",), NUMBERS, False),
    "heading": (("text",), TEXTS, False),
    "subtotal": (("money",), NUMBERS, False),
    "carried": (("money",), NUMBERS, False),
}
KINDS = {"line": ("quantity", "price", "amount", "note"), "vat": ("rate", "basis")}
SECTIONS = {"section": ("heading", "subtotal"), "sheet": ("carried",)}
# Fields of a document, those whose spans may have several words with a plus; x is no field.
LAYOUTS = (
    "", "total", "total+", "parts+", "total+ parts", "total+ tax", "total tax parts", "day+ due",
    "total parts+", "day due days", "total day due", "shop+ total", "shop name+", "tax parts days",
    "total+ x+", "tax total x", "total tax parts shop",
)  # fmt: skip
ROW_LAYOUTS = (
    "quantity amount",
    "quantity+ amount",
    "amount",
    "amount+",
    "quantity price amount",
    "quantity amount total",
    "note amount",
    "note+ amount",
    "note amount total",
    "amount total+",
    "quantity price amount total",
    "quantity amount rate basis",
    "rate basis",
    "quantity total",
)
SECTION_LAYOUTS = (
    "amount subtotal", "amount+ subtotal", "amount heading", "amount subtotal total",
    "amount heading subtotal", "quantity amount subtotal", "amount carried", "amount carried total",
    "amount subtotal carried",
)  # fmt: skip
GIVEN = {  # by name: its type, and what documents may bring
    "ordered": ("money", ("2", "3", "1.000", 3, 1.5, None)),
    "unit": ("number", ("2", 2, "0.5", None)),
    "vendor": ("text", ("A", "B", None)),
    "deadline": ("date", ("2024-04-03", "05/04/2024", None)),
}
CLASSES = ("A", "B", "credit note")  # of kind, as rules call it
PREFIXES = {  # of labels for spans of several words, and of one
    "BIO": ("BI", "B"), "IOB2": ("BI", "B"), "IOB1": ("IB", "I"), "IO": ("I", "I"),
    "IOBES": ("BIES", "S"), "BIOES": ("BIE", "S"), "BILOU": ("BILU", "U"),
}  # fmt: skip
MAX_LABELLINGS = 1300
MASKED = (-700.0, -1e3, -1e4)  # what models are given for labels that are forbidden


class Dice:
    """A random number generator that chooses among things."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def chance(self, probability):
        return self.rng.random() < probability

    def some(self, options, least=0):
        """Some of the options, in any order."""
        count = self.rng.integers(least, len(options) + 1)
        return tuple(options[i] for i in self.rng.permutation(len(options))[:count])


def draw(number):
    """The problem with this number, and the options to decode it with."""
    dice = Dice(number)
    rng, one_of, chance = dice.rng, dice.one_of, dice.chance
    scheme = one_of("BIO", *PREFIXES)
    layouts = SECTION_LAYOUTS if chance(0.3) else ROW_LAYOUTS if chance(0.4) else LAYOUTS
    layout = one_of(*layouts).split()
    shared = _draw_shared(dice, [name.rstrip("+") for name in layout])
    outside = [] if layout and chance(0.1) else ["O"]
    if outside and chance(0.1) and scheme != "IO":
        outside.append("other")
    labels = outside + [
        f"{prefix}-{name.rstrip('+')}"
        for name in layout
        if name.rstrip("+") not in shared
        for prefix in PREFIXES[scheme][not name.endswith("+")]
    ]
    rng.shuffle(labels)
    names = [name.rstrip("+") for name in layout if not name.startswith("x")]

    longest = max(n for n in range(1, 7) if n == 1 or len(labels) ** n <= MAX_LABELLINGS)
    size = int(rng.integers(1, min(longest, 4) + 1)) if chance(0.5) else longest
    kinds = _draw_kinds(dice, names)
    if kinds and chance(0.75):
        words, true, rows = _draw_rows(dice, names, max(size, min(longest, 4)))
        probs = _peaked(dice, [type_of(label) for label in labels], true)
    else:
        words, rows = _draw_words(dice, names, size), rng.integers(0, 3, size).tolist()
        if chance(0.7):
            rows.sort()
        probs = _draw_probs(rng, size, len(labels))
    rules = _draw_rules(dice, names, scheme, kinds, shared)
    document = _draw_document(dice, words, rows, rules)
    return document, _draw_scores(dice, probs, labels), rules, _draw_questions(dice)


def type_of(label):
    return label.partition("-")[2]


# Words and scores.


def _draw_words(dice, names, size):
    one_of = dice.one_of
    if dice.chance(0.1):
        return [one_of(*WORDS) for _ in range(size)]
    suited = [word for name in names for word in TYPES[name][1]] or ["A"]
    few = [one_of(*suited) for _ in range(3)]  # repeated words make rules hold
    return [one_of(*few, one_of(*suited), one_of(*suited, "Rp", "net")) for _ in range(size)]


def _draw_rows(dice, names, size):
    """Words of a document with rows for which rules often hold, their fields, and their rows."""
    one_of, chance, words, true, ids, amounts = dice.one_of, dice.chance, [], [], [], [0]
    of_row = [name for kind in KINDS.values() for name in kind if name in names]
    of_section = [name for kind in SECTIONS.values() for name in kind if name in names]
    of_page = [name for name in names if name not in of_row + of_section]
    if dice.chance(0.2):
        dice.rng.shuffle(of_row)
    while len(words) < size - len(of_page):
        quantity, price = one_of(1, 2, 3), one_of(1, 2) if "price" in names else 2
        amounts.append(quantity * price if dice.chance(0.7) else one_of(1, 2, 3))
        values = {"quantity": quantity, "price": price, "amount": amounts[-1], "rate": quantity}
        values |= {"basis": amounts[-1], "note": one_of("A", "B")}
        words += [str(values[name]) for name in of_row]
        true += of_row
        ids += [len(amounts)] * len(of_row)
        if of_section and chance(0.6):
            total = str(sum(amounts[-2:] if chance(0.4) else amounts))
            words += [one_of("A", "B") if name == "heading" else total for name in of_section]
            true += of_section
            ids += [one_of(len(amounts), 20 + len(amounts), None)] * len(of_section)
    words = words[: size - len(of_page)] + [str(sum(amounts))] * len(of_page)
    words = [word if word in WORDS else "4" for word in words]
    true = true[: size - len(of_page)] + of_page
    ids = ids[: size - len(of_page)] + [one_of(None, 9)] * len(of_page)
    return words[:size], true[:size], ids[:size]


def _peaked(dice, types, true):
    """The scores of a model that is sure of most fields, on the first of their labels."""
    rng = dice.rng
    weights = rng.random((len(true), len(types))) ** 3
    weights[rng.random(weights.shape) < 0.3] = 0
    for row, name in zip(weights, true, strict=True):
        if name in types:
            row[types.index(name)] = dice.one_of(2, 50, 500, 500, 500)
    weights[weights.sum(axis=1) == 0, 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def _draw_probs(rng, words, labels):
    style = rng.integers(5)
    if style == 0:  # ties everywhere
        weights = rng.integers(0, 2, (words, labels)).astype(float)
    elif style == 1:  # peaked, with ties and zeros
        weights = rng.integers(0, 5, (words, labels)).astype(float) ** 3
    elif style == 2:
        weights = np.exp(rng.normal(0, 3, (words, labels)))
    elif style == 3:  # no ties, some zeros
        weights = rng.random((words, labels)) * (rng.random((words, labels)) < 0.7)
    else:
        weights = rng.integers(0, 5, (words, labels)).astype(float)
    weights[weights.sum(axis=1) == 0, rng.integers(labels)] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def _draw_scores(dice, probs, labels):
    """The scores; some of those that are zero, or of a whole word but one label, are masked."""
    if not dice.chance(0.12):
        return Scores.from_probs(probs, labels)
    low = dice.one_of(*MASKED)
    with np.errstate(divide="ignore"):
        logits = np.log(probs)
    logits[np.isinf(logits)] = dice.one_of(low, -inf)
    for word in logits[dice.rng.random(len(logits)) < 0.4]:
        word[np.arange(len(labels)) != dice.rng.integers(len(labels))] = low
    logits[(logits == -inf).all(axis=1)] = low
    return Scores.from_logits(logits, labels)


def _draw_document(dice, words, rows, rules):
    """The document, with row ids, boxes, pages and given values, or without."""
    size, boxes, pages = len(words), None, None
    rows = rows if rules.rows and dice.chance(0.6) else None
    if rows and dice.chance(0.2):
        rows = [None if dice.chance(0.2) else row for row in rows]
    if dice.chance(0.5):
        tops = 40 * dice.rng.integers(0, 3, size)
        if dice.chance(0.8):
            tops.sort()
        boxes = [Box(40 * i, y + 0.5, 40 * i + 30, y + 10.5) for i, y in enumerate(tops.tolist())]
    if dice.chance(0.8 if any(kind.by for kind in rules.rows) else 0.3):
        pages = np.sort(dice.rng.integers(0, 3, size)).tolist()
    given = {name: dice.one_of(*GIVEN[name][1]) for name in rules.given if dice.chance(0.9)}
    classes = None
    if rules.classes and dice.chance(0.85):
        names = dice.some(CLASSES, 1)
        probs = dice.one_of([1 / len(names)] * len(names), dice.rng.dirichlet([1] * len(names)))
        classes = {"kind": dict(zip(names, np.log(probs).tolist(), strict=True))}
    given = given or dice.one_of(None, {})
    misreads = _draw_misreads(dice, words) if dice.chance(0.3) else None
    return Document(
        "d", words, boxes, pages, rows=rows, given=given, classes=classes, misreads=misreads
    )


def _draw_misreads(dice, words):
    """Other texts of some words, of those that occur or of any."""
    return [
        [
            (dice.one_of(*words, *WORDS), dice.one_of(0.0, 0.5, 1.5, 3.0, 8.0))
            for _ in range(dice.one_of(0, 1, 1, 2))
        ]
        for _ in words
    ]


# Rules.


CONDITIONS = (
    "reads", "max_words", "pattern", "starts", "ends", "in", "where", "words", "boundary",
    "required", "agrees",
)  # fmt: skip
MATCHES = ("^[0-9]", "[.]", "A|B", "^2", "t$")


def _draw_kinds(dice, names):
    """The kinds of rows of a document with these fields."""
    kinds = []
    for kind, known in KINDS.items():
        fields = [name for name in known if name in names]
        if fields:
            fields = dice.some(fields, len(fields))
            starts = dice.one_of(None, None, None, *fields)
            required = dice.some(fields) if dice.chance(0.2) else ()
            kinds.append(RowKind(kind, fields, starts, required))
    for kind, known in SECTIONS.items():
        fields = [name for name in known if name in names]
        if not fields or not kinds or dice.chance(0.1):
            continue
        required = dice.some(fields) if dice.chance(0.1) else ()
        inner = dice.one_of(*kinds).name
        if kind == "sheet" or dice.chance(0.1):
            kinds.append(RowKind(kind, fields, None, required, of=inner, by="page"))
            continue
        starts, ends = dice.one_of((fields[0], None), (None, fields[-1]), (fields[0], fields[-1]))
        kinds.append(RowKind(kind, fields, starts, required, of=inner, ends=ends))
    if dice.chance(0.3):
        dice.rng.shuffle(kinds)
    return kinds


def _draw_shared(dice, names):
    """The fields that have the label of another field, which is their value."""
    pairs = (("day", "due"), ("shop", "name"), ("total", "tax"))
    together = [sorted(pair, key=names.index) for pair in pairs if {*pair} <= {*names}]
    return {second: first for first, second in together if dice.chance(0.35)}


def _draw_rules(dice, names, scheme, kinds, shared):
    one_of, chance = dice.one_of, dice.chance
    ambiguities = (inf, inf, 0.0, 0.5, 2.0)
    weights = (None, 0.0, 0.5, 2.0, inf)
    defaults = {
        "presence": one_of("keep", "free", "required"),
        "repeat": one_of("agree", "first", "any"),
        "weight": one_of(0.0, 0.3, 1.0, 3.0, 10.0, inf),
        "tolerance": one_of(Decimal("0.005"), Decimal("0.005"), Decimal(0), Decimal(1)),
        "max_words": one_of(None, None, None, 1, 2),
        "ambiguity": one_of(*ambiguities),
        "unchecked": one_of(0.0, 0.0, 0.5, 2.0),
        "misreads": one_of(0.0, 2.0, 6.0),
    }
    in_rows = {name for kind in kinds for name in kind.fields}
    fields = [_draw_field(dice, name, name in in_rows, ambiguities, shared) for name in names]
    if names and chance(0.3):
        implied = [f"{name}:{condition}" for name in names for condition in CONDITIONS]
        defaults["weights"] = {
            one_of(*implied): one_of(0.0, 0.5, 2.0, inf) for _ in range(dice.rng.integers(1, 5))
        }
    given = {name: type_ for name, (type_, _) in GIVEN.items() if chance(0.4)}
    classes = {"kind": "kind"} if chance(0.2) else {}
    of_page = {*names} - in_rows
    rules = {}
    for _ in range(dice.rng.integers(0, 5)):
        each = one_of(*kinds).name if kinds and chance(0.6) else None
        possible = [text for text in BY_ROWS[each] if names_in(text) <= {*names, *given, *classes}]
        # Few of these suit any layout.
        rare = {*GIVEN, *classes} if each is None else {*GIVEN, *classes, *of_page}
        possible += [t for t in possible if " where " in t or names_in(t) & rare] * 3
        functions = [f for f in FUNCTIONS if each is None and {*_parameters(f)} <= {*names}]
        if not possible:
            continue
        function = one_of(*functions) if functions and chance(0.12) else None
        check = function or one_of(*possible)
        made = Rule(
            check,
            when=one_of(*possible) if chance(0.2) else None,
            weight=one_of(None, 0.0, 0.3, 1.0, 3.0, 10.0, inf),
            tolerance=one_of(None, None, None, 0, 1),
            unchecked=one_of(None, None, 0.0, 0.5, 2.0),
            reads=_parameters(function) if function else (),
            each=each,
        )
        try:
            Rules(fields, [made], scheme=scheme, rows=kinds, given=given, classes=classes)
        except RulesError as error:  # a list in sections of one kind is a value in those of another
            if "needs a list" not in str(error):
                raise
        else:
            rules[check] = made
    words = [
        WordRule(dice.some(names), **_match(dice), weight=one_of(*weights))
        for _ in range(one_of(0, 0, 0, 1, 2))
    ]
    orders = {}
    for _ in range(one_of(0, 0, 1, 2) if len(names) > 1 else 0):
        order = Order(dice.some(names, 2), one_of(*weights))
        orders[order.id] = order
    return Rules(
        fields,
        rules.values(),
        scheme=scheme,
        defaults=RuleDefaults(**defaults),
        rows=kinds,
        words=words,
        boundaries=Boundaries(one_of(*MATCHES), one_of(*weights)) if chance(0.25) else None,
        orders=orders.values(),
        given=given,
        classes=classes,
    )


def _draw_field(dice, name, in_rows, ambiguities, shared):
    one_of, chance = dice.one_of, dice.chance
    types, suited, many = TYPES[name]
    kind = one_of(*types)
    default = {"tax": one_of(0, 2), "due": "2024-04-03", "shop": "A"}.get(name)
    pattern = {"date": "2024.*", "text": "A.*"}.get(kind, "[0-9.]+")
    texts = dice.some((*suited, "a  A", "Rp 2"), 1)
    first = name in shared.values()
    return Field(
        name, shared.get(name, name), kind, many,
        default=default if chance(0.4) and not in_rows else None,
        presence=one_of(None, None, "keep", "free", "required"),
        repeat=one_of(None, None, "agree", "first", "any"),
        max_words=one_of(None, None, None, 1, 2),
        pattern=pattern if chance(0.15) else None,
        ambiguity=one_of(None, *ambiguities),
        starts=one_of(*MATCHES) if chance(0.12) else None,
        ends=one_of(*MATCHES) if chance(0.12) else None,
        lexicon=texts if chance(0.08) else None,
        where=f"start <= {dice.rng.integers(4)}" if first or chance(0.05) else None,
        misreads=one_of(None, None, 0.0, 2.0, 9.0),
    )  # fmt: skip


def _match(dice):
    if dice.chance(0.6):
        return {"match": dice.one_of(*MATCHES)}
    return {"lexicon": dice.some(("a", "NET", "1", "2", "Rp"), 1)}


def names_in(text):
    """The fields and given values that a check names."""
    return set(re.findall(r"[a-z]+", text)) & {*TYPES, *GIVEN, "kind"}


def _parameters(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _draw_questions(dice):
    one_of = dice.one_of
    alternatives = one_of(1, 2, 5)
    yield Asked(one_of(*EXPLAINING), ENOUGH, alternatives)
    for decoder in dice.rng.permutation(EXACT)[:2].tolist():
        yield Asked(decoder, ENOUGH, 0)
    decoder = one_of(*EXPLAINING, *EXACT, "beam")
    yield Asked(decoder, one_of(*SMALL), one_of(0, alternatives) if decoder in EXPLAINING else 0)
    if dice.chance(0.2):
        yield Asked(one_of("beam", "argmax"), one_of(ENOUGH, Budget()), 0)
