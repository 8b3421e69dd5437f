"""Decoders: algorithms that find the best labelling. One file each, behind one Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from time import perf_counter
from typing import Any, Protocol, cast, runtime_checkable

from lawful.base.clock import is_up
from lawful.base.errors import InputError, shown
from lawful.decoders.argmax import Argmax
from lawful.decoders.auto import Auto
from lawful.decoders.exact import Exact, with_clash
from lawful.decoders.lazyk import LazyK
from lawful.decoders.paths import Paths
from lawful.decoders.readings import Readings
from lawful.documents.document import Document, check_length
from lawful.documents.pins import Pin, as_pins
from lawful.documents.span_scores import AnyScores, SpanScores
from lawful.results.decoding import Budget, Decoding, moves
from lawful.results.known import compare_known
from lawful.rules.language.patterns import one_document
from lawful.rules.rule_set import Rules
from lawful.search.classes import best_of_classes
from lawful.search.problem import Problem

__all__ = ["DECODERS", "Decoder", "decode"]


@runtime_checkable
class Decoder(Protocol):
    """Finds the labelling of highest worth: log-probability minus its penalty.

    Every document gets a decoding, whose ``status`` says whether the rules hold. With enough
    budget, an ``exact`` decoder returns the best labelling there is, marked as ``optimal``.
    """

    @property
    def name(self) -> str:
        """The name that users choose it by."""

    @property
    def exact(self) -> bool:
        """Whether it proves its answer, given enough budget."""

    @property
    def chains(self) -> bool:
        """Whether it can use a CRF's transition scores."""

    @property
    def default_budget(self) -> Budget:
        """The budget of candidates, unless the caller gives one."""

    def decode(self, problem: Problem, budget: Budget) -> Decoding:
        """The decoding of the best labelling it finds."""


@runtime_checkable
class Ranked(Decoder, Protocol):
    """A decoder that can find more than the best labelling, and how sure its fields are."""

    def decode_ranked(self, problem: Problem, budget: Budget, alternatives: int) -> Decoding:
        """What ``decode`` finds, the next best ones with other values, and confidences."""


DECODERS: dict[str, Decoder] = {
    decoder.name: decoder
    for decoder in (
        Auto(),
        Exact(),
        Readings(),
        Paths(),
        LazyK(),
        Argmax(),
    )
}


_UNLIMITED = Budget()


def decode(
    document: Document,
    scores: AnyScores,
    rules: Rules,
    *,
    decoder: str | Decoder = "auto",
    budget: Budget | None = None,
    alternatives: int = 0,
    confidence: bool = False,
    pins: Iterable[Pin | Mapping[str, Any]] = (),
    before: Decoding | None = None,
) -> Decoding:
    """The most probable labelling that the rules accept, or the best trade-off where they clash.

    Maximises log-probability minus penalty over legal labellings; without rules, that is the best
    legal labelling. The decoding says whether it is proven to be optimal, which labels it changed
    and why. ``alternatives`` is how many of the next best decodings to add, each with other field
    values; then every field also has a confidence. ``confidence`` asks for that alone, in less time
    and in wider intervals; of the fields that rules need, if they say so. The answer is the same
    with both and without. ``pins``, and those that the document has, are
    a person's word (``lawful.Pin``), which the labelling must agree with. ``before`` is the
    decoding that ``moved`` compares with: by default the one without pins, which takes as long.
    With ``SpanScores``, the labels are those of the
    best spans that do not overlap, in BIO, and ``span_corrections`` says what was changed.

    Raises a ``RuleFailure`` if slow matches of patterns take more than a second together.
    """
    chosen = check_call(decoder, budget, alternatives)
    if pins != () and isinstance(document, Document):
        document = replace(document, pins=(*document.pins, *as_pins(pins)))
    return decode_checked(
        document, scores, rules, chosen, budget, alternatives, before, confidence=confidence
    )


@one_document
def decode_checked(
    document: Document,
    scores: AnyScores,
    rules: Rules,
    chosen: Decoder,
    budget: Budget | None,
    alternatives: int,
    before: Decoding | None = None,
    *,
    confidence: bool = False,
) -> Decoding:
    """What ``decode`` does with arguments that ``check_call`` has seen, once for many documents."""
    began = perf_counter()
    problem = Problem(document, scores, rules)
    if before is not None:
        _check_before(before, document)
    if isinstance(scores, SpanScores):
        _check_for_spans(chosen)
    elif scores.chain is not None and (alternatives or not chosen.chains):
        what = "alternatives" if alternatives else f"decoder {chosen.name}"
        raise InputError(
            f"document {document.id!r} has transition scores, which {what} cannot use; "
            "use decoder paths, or pass scores.marginals()"
        )
    filled = (budget or _UNLIMITED).filled(chosen.default_budget)
    deadline = filled.deadline(began)
    # To ask whether it is an instance of the Protocol takes as long as a short document.
    if alternatives or (confidence and scores.chain is None and hasattr(chosen, "decode_ranked")):
        chosen = cast(Ranked, chosen)  # check_call has seen to it
        decoding = chosen.decode_ranked(problem, filled.ending(deadline), alternatives)
    else:
        decoding = _decode(chosen, problem, filled.ending(deadline))
    if known := compare_known(document, decoding.fields, rules):
        decoding = replace(decoding, known=known)
    if not document.pins:
        return decoding
    if before is None and not is_up(deadline):
        without = Problem(replace(document, pins=()), scores, rules)
        before = _decode(chosen, without, filled.ending(deadline))
    moved = None if before is None else moves(before, decoding, document.pins)
    return replace(decoding, pins=document.pins, moved=moved, seconds=perf_counter() - began)


def _decode(decoder: Decoder, problem: Problem, budget: Budget) -> Decoding:
    """The best decoding over all classes of the document; argmax is the model's own choice."""
    choices = problem.judge.choices
    if isinstance(decoder, Argmax):
        return decoder.decode(problem, budget)
    deadline = budget.deadline(perf_counter())

    def decode(part: Problem, share: Budget) -> Decoding:
        found = decoder.decode(part, share)
        return found if found.clash else with_clash(found, part, deadline)

    if len(choices) == 1:
        return decode(problem, budget)
    return best_of_classes(problem, budget, choices, decode)


def _check_before(before: Any, document: Document) -> None:
    if not isinstance(before, Decoding):
        raise InputError(f"before is of type {type(before).__name__}, expected a Decoding")
    check_length(document, len(before.labels), "label before", "labels before")


def _check_for_spans(chosen: Decoder) -> None:
    """Raises an ``InputError`` unless the decoder can use span scores."""
    if not getattr(chosen, "spans", False):
        able = ", ".join(name for name, other in DECODERS.items() if getattr(other, "spans", False))
        raise InputError(f"decoder {chosen.name} cannot use span scores; decoders that do: {able}")


def check_call(decoder: str | Decoder, budget: Budget | None, alternatives: int) -> Decoder:
    """The decoder; raises ``InputError`` for arguments that are wrong for every document."""
    chosen = decoder_named(decoder) if isinstance(decoder, str) else decoder
    # A look at a Protocol is slow, and decoders of the list have been looked at.
    known = isinstance(decoder, str)
    if not known and (isinstance(chosen, type) or not isinstance(chosen, Decoder)):
        raise InputError(
            f"decoder is {shown(decoder)}, expected a decoder or one of {', '.join(DECODERS)}"
        )
    if budget is not None and not isinstance(budget, Budget):
        raise InputError(f"budget is {shown(budget)}, expected a Budget")
    is_count = type(alternatives) is int or (
        isinstance(alternatives, Integral) and not isinstance(alternatives, bool)
    )
    if not is_count or alternatives < 0:
        raise InputError(f"alternatives is {shown(alternatives)}, expected a count of 0 or more")
    if alternatives and not isinstance(chosen, Ranked):
        able = ", ".join(name for name, other in DECODERS.items() if isinstance(other, Ranked))
        raise InputError(f"decoder {chosen.name} finds no alternatives; decoders that do: {able}")
    return chosen


def decoder_named(name: str) -> Decoder:
    """The decoder of this name; raises ``InputError`` with the known names."""
    if name not in DECODERS:
        raise InputError(f"unknown decoder {shown(name)}; decoders: {', '.join(DECODERS)}")
    return DECODERS[name]
