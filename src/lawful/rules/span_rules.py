"""Rules about the words, edges and order of spans, whatever their values are.

What a span costs because of its words and edges depends on the span alone, so it is known before
the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lawful.base.errors import RulesError, shown
from lawful.rules.judging.reading import Occurrence, Spans
from lawful.rules.language.patterns import check_pattern, compiled
from lawful.rules.lexicons import Lexicon
from lawful.rules.number_checks import as_names, as_weight, check_writable


@dataclass(frozen=True, slots=True)
class WordRule:
    """Words that may be in spans of some fields ``only``, or in no field.

    These are the words in which the regular expression ``match`` is found, or those of a
    ``lexicon`` (a file, a list of texts). Every such word in a span of another field costs
    ``weight``.
    """

    only: tuple[str, ...]
    match: str | None = None
    lexicon: Lexicon | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        where = "words: "
        object.__setattr__(self, "only", as_names(self.only, f"{where}only"))
        if (self.match is None) == (self.lexicon is None):
            raise RulesError(f"{where}expected either match or in")
        check_pattern(self.match, f"{where}match")
        if self.lexicon is not None:
            object.__setattr__(self, "lexicon", Lexicon.of(self.lexicon, where))
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight, where))

    def applies_to(self, word: str) -> bool:
        """Whether it is about this word."""
        if self.match is not None:
            return compiled(self.match).occurs_in(word)
        return self.lexicon is not None and word in self.lexicon


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where spans may begin: at the first word, or after one in which ``after`` is found.

    Every span of a field that begins elsewhere costs ``weight``. Where one span follows another,
    their common boundary is the beginning of the second one, so it is charged once.
    """

    after: str
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.after is None:
            raise RulesError("boundaries: after is missing: expected a regular expression")
        check_pattern(self.after, "boundaries: after")
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight, "boundaries: "))

    def allow_after(self, word: str) -> bool:
        """Whether a span may begin after this word."""
        return compiled(self.after).occurs_in(word)


@dataclass(frozen=True, slots=True)
class Order:
    """Fields in the order in which they occur: every span comes before all of later fields.

    A span that comes after one of a later field costs ``weight``. Fields may be missing.
    """

    fields: tuple[str, ...]
    weight: float | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", as_names(self.fields, "order"))
        if len(self.fields) < 2:
            raise RulesError(f"order is {shown(list(self.fields))}, expected two or more fields")
        if self.id is None:
            object.__setattr__(self, "id", f"order: {', '.join(self.fields)}")
        if not isinstance(self.id, str) or not self.id:
            raise RulesError(f"order: id is {shown(self.id)}, expected a name")
        check_writable(self.id, "order: id")
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight, "order: "))

    def late(self, spans: Mapping[str, Spans]) -> list[Late]:
        """The spans that come after one of a later field, by the spans of each field."""
        ranks = {name: rank for rank, name in enumerate(self.fields)}
        found = []
        last: tuple[str, Occurrence] | None = None  # of the latest field so far
        for span, name in sorted((span, each) for each in self.fields for span in spans[each]):
            if last is not None and ranks[name] < ranks[last[0]]:
                found.append(Late(name, span, *last))
            else:
                last = name, span
        return found


class Late(NamedTuple):
    """A span that comes after a span of a field that is later in an order."""

    name: str
    span: Occurrence
    after: str
    after_span: Occurrence
