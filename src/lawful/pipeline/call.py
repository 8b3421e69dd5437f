"""How documents are decoded: the options that Python, the command line, HTTP and Arrow share.

A new option is a field of ``Call``, which does what it says; and of ``DecodeOptions``, which the
command line and HTTP are made of, or of ``Options``, by which Python names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeAlias, TypedDict, get_args

from msgspec import Meta, Struct

from lawful.base.errors import InputError, LawfulError
from lawful.candidates.field_spans import field_spans
from lawful.candidates.stated import Stated
from lawful.decoders import DECODERS, Decoder, check_call, decode_checked
from lawful.documents.records import FailedDocument, Scored
from lawful.documents.scores import Pooling, check_temperature
from lawful.documents.span_scores import SpanScores
from lawful.results.decoding import Budget, Decoding
from lawful.results.promise import NO_PROMISE
from lawful.rules.rule_set import Rules

Record: TypeAlias = Scored | FailedDocument
Result: TypeAlias = tuple[Scored, Decoding] | FailedDocument


class Options(TypedDict, total=False):
    """The options of ``Call`` by name, without those that differ where a model scores words."""

    decoder: str | Decoder
    budget: Budget | None
    alternatives: int
    confidence: bool
    by_field: bool
    temperature: float


@dataclass(frozen=True, slots=True)
class Call:
    """The rules and decoding options shared by all documents of a run, checked on construction."""

    rules: Rules
    decoder: str | Decoder = "auto"
    budget: Budget | None = None
    alternatives: int = 0
    confidence: bool = False  # of each field; of those that rules need, always
    by_field: bool = False  # one span per field, instead of labels of all words (``field_spans``)
    temperature: float = 1.0  # that log-probabilities are divided by first
    pool: Pooling | None = None  # how word pieces are merged into words before that
    chosen: Decoder = field(init=False, repr=False)  # the decoder of this name

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Rules):
            raise InputError(f"rules is of type {type(self.rules).__name__}, expected a Rules")
        chosen = check_call(self.decoder, self.budget, self.alternatives)
        object.__setattr__(self, "chosen", chosen)
        check_temperature(self.temperature)

    @property
    def rule_sets(self) -> tuple[Rules, ...]:
        """The rules of all documents: several if each document's kind decides."""
        return (self.rules,)

    def given(self, scored: Scored) -> Scored:
        """What is decoded: the document in words, with its own scores or those of fields' spans."""
        if self.pool is not None:
            scored = scored.to_words(self.pool)
        scores = scored.scores
        if self.temperature != 1.0:
            scores = scores.with_temperature(self.temperature)
        if self.by_field and not isinstance(scores, SpanScores):
            scores = field_spans(scored.document, scores, self.rules)
        return scored if scores is scored.scores else replace(scored, scores=scores)

    def decode(self, given: Scored) -> Decoding:
        """Decodes one document, as it is given, in the same way as ``lawful.decode``."""
        stated = given if isinstance(given, Stated) else None
        rules = stated.rules_for(self.rules) if stated else self.rules
        found = decode_checked(
            given.document, given.scores, rules, self.chosen, self.budget, self.alternatives,
            confidence=self.confidence or bool(self.rules.needs),
        )  # fmt: skip
        if stated:
            found = stated.checked(found)
        if not self.rules.needs:
            return found
        return replace(found, passes=False, passes_because=NO_PROMISE)


def bad_line(record: Record, why: str) -> FailedDocument:
    """The bad line that replaces a record; a record that is a bad line stays as it is."""
    if isinstance(record, FailedDocument):
        return record
    return FailedDocument(record.line or 0, why, record.document.id)


def decode_one(record: Record, call: Call) -> Result:
    """The result of one record: the document as it was decoded, and its decoding.

    The document has the texts that pins say. If it cannot be decoded, a ``FailedDocument`` says
    why. All that decodes many documents calls this.
    """
    if isinstance(record, FailedDocument):
        return record
    try:
        given = call.given(record)
        decoding = call.decode(given)
        document = given.document.corrected()
        return given if document is given.document else replace(given, document=document), decoding
    except LawfulError as error:
        return bad_line(record, str(error))
    except MemoryError:
        return bad_line(record, "not enough memory to decode it")


def in_words(records: Iterable[Record], pool: Pooling | None) -> Iterator[Record]:
    """The records with word pieces merged; one in which that is impossible becomes a bad line."""
    for record in records:
        try:
            if pool is None or isinstance(record, FailedDocument):
                yield record
            else:
                yield record.to_words(pool)
        except LawfulError as error:
            yield bad_line(record, str(error))


def _described(
    text: str, metavar: str | None = None, short: str | None = None, **limits: Any
) -> Any:
    """What the command line and HTTP say about an option; the limits are those of HTTP."""
    return Meta(description=text, extra={"metavar": metavar, "short": short}, **limits)


class DecodeOptions(Struct, frozen=True, kw_only=True):
    """The options of ``Call`` as plain values, described for the command line and HTTP."""

    decoder: Annotated[str, _described(f"Decoder: one of {', '.join(DECODERS)}.", "NAME", "-d")] = (
        "auto"
    )
    candidates: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        _described("Maximum number of candidates per document.", "N"),
    ] = None
    seconds: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        _described("Maximum time per document, in seconds.", "S"),
    ] = None
    mass: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        _described(
            "Stop when candidates with this share of the model's probability have been tried.", "P"
        ),
    ] = None
    max_cost: Annotated[
        Annotated[float, Meta(ge=0, le=1e9)] | None,
        _described("Maximum log-probability, in nats, to give up for the rules.", "NATS"),
    ] = None
    alternatives: Annotated[
        int,
        _described(
            "Number of alternatives per document: the next best decodings with other values.",
            "N",
            ge=0,
            le=100,
        ),
    ] = 0
    confidence: Annotated[
        bool,
        _described("Say how sure each field is, without alternatives and in less time."),
    ] = False
    needs: Annotated[
        str | None,
        _described(
            "Fields, separated by commas, that decide whether a document passes: instead of those "
            "of the rule file.",
            "NAMES",
        ),
    ] = None
    by_field: Annotated[
        bool,
        _described("Find one span per field instead of labelling all words: for long documents."),
    ] = False
    temperature: Annotated[
        float,
        _described(
            "Divide log-probabilities by this temperature before decoding.", "T", ge=1e-6, le=1e6
        ),
    ] = 1.0
    pool: Annotated[
        Pooling | None,
        _described(
            "Merge word pieces into words before decoding: "
            f"one of {', '.join(get_args(Pooling))}.",
            "HOW",
        ),
    ] = None  # fmt: skip

    def call(self, rules: Rules) -> Call:
        """The call with these options."""
        if self.needs is not None:
            needs = tuple(name.strip() for name in self.needs.split(",") if name.strip())
            rules = replace(rules, needs=needs)
        budget = Budget(self.candidates, self.seconds, self.mass, self.max_cost)
        return Call(
            rules, self.decoder, budget, self.alternatives, self.confidence, self.by_field,
            self.temperature, self.pool,
        )  # fmt: skip
