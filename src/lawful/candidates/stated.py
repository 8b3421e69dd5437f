"""Values that a file states itself, as an e-invoice does in XML: no model has to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from lawful.candidates.candidates import Candidates
from lawful.candidates.choose import laid_out, on_spots, with_places, without_places
from lawful.candidates.placed import Spot
from lawful.documents.document import Document
from lawful.documents.records import Scored
from lawful.results.decoding import Decoding
from lawful.rules.judging.checks import Check
from lawful.rules.rule_set import Rules


@dataclass(frozen=True, slots=True)
class Stated(Scored):
    """The values of a file, laid out as its only candidates, each with its place on the page.

    Rules judge them, and cannot change them. ``checks`` are what else is known of them, such as
    whether they are printed; rules whose ids are in ``audited`` are judged by these checks instead.
    """

    spots: Sequence[Spot] | None = None  # as in ``LaidOut``; none without a page
    checks: tuple[Check, ...] = field(default=())
    audited: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        document: Document,
        rules: Rules,
        classes: Mapping[str, Mapping[str, float]] | None,
        checks: tuple[Check, ...],
        audited: frozenset[str],
    ) -> Stated:
        """The values of a document's file: an object, whose names are labels or fields."""
        only = Candidates.from_samples(
            [values], id=document.id, line=document.line, classes=classes
        )
        found = laid_out(only, rules, document if len(document) else None)
        return cls(found.document, found.scores, None, found.spots or None, checks, audited)

    def __reduce__(self) -> tuple[Any, ...]:
        return Stated, (
            self.document, self.scores, self.gold, self.spots, self.checks, self.audited,
        )  # fmt: skip

    def rules_for(self, rules: Rules) -> Rules:
        """The rules for values that are no words of a page, without those that are audited."""
        rules = _without(rules, self.audited)
        return without_places(rules) if self.spots is None else with_places(rules)

    def checked(self, decoding: Decoding) -> Decoding:
        """The decoding with places and checks; what breaks one is not ``satisfied``."""
        found = on_spots(decoding, self.spots or ())
        states = {check.state for check in self.checks}
        status = found.status
        if "violated" in states and status in OPEN:
            status = "relaxed"
        elif "satisfied" in states and status == "unchecked":
            status = "satisfied"
        return replace(found, status=status, checks=(*found.checks, *self.checks))


@lru_cache(maxsize=16)
def _without(rules: Rules, ids: frozenset[str]) -> Rules:
    return replace(rules, rules=tuple(rule for rule in rules.rules if rule.id not in ids))


OPEN = ("satisfied", "unchecked")
"""Statuses that say that nothing is violated."""
