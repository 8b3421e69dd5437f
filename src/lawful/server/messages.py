"""What requests and answers look like: the structs that parse options and describe the API.

Documents are ``lawful.io.jsonl.DocumentLine``; answers are the lines of ``lawful decode`` and
``lawful check``, which the structs here describe for the OpenAPI document. Tests hold real answers
against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.requests import Request

from lawful.checking import Source
from lawful.decoding import Status
from lawful.errors import shown
from lawful.io.jsonl import DocumentLine
from lawful.scores import Pooling
from lawful.server.problems import HttpProblem

MOST_ALTERNATIVES = 100
MOST_CANDIDATES = 10**9

Name = Annotated[
    str | None, Meta(description="Name of the rules; may be left out if the service has only one.")
]
Above0 = Annotated[float, Meta(gt=0, le=1e9)]
As = Literal["decoding", "entities"]


class Form(Struct, forbid_unknown_fields=True, kw_only=True):
    """Options of all requests about documents."""

    rules: Name = None


class DecodeForm(Form, kw_only=True):
    """Options of ``/v1/decode``, by the names of the command line."""

    decoder: Annotated[str, Meta(description="Decoder, such as auto or exact.")] = "auto"
    candidates: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_CANDIDATES)] | None,
        Meta(description="Maximum number of candidates per document."),
    ] = None
    seconds: Annotated[
        Above0 | None,
        Meta(description="Maximum time per document; the service's own limit if that is less."),
    ] = None
    mass: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        Meta(description="Stop when candidates with this share of the probability were tried."),
    ] = None
    max_cost: Annotated[
        Annotated[float, Meta(ge=0, le=1e9)] | None,
        Meta(description="Maximum log-probability, in nats, to give up for the rules."),
    ] = None
    alternatives: Annotated[
        int,
        Meta(
            ge=0,
            le=MOST_ALTERNATIVES,
            description="Number of the next best decodings with other values.",
        ),
    ] = 0
    by_field: Annotated[
        bool, Meta(description="Find one span per field instead of labelling all words.")
    ] = False
    temperature: Annotated[
        Above0, Meta(description="Divide log-probabilities by this temperature first.")
    ] = 1.0
    pool: Annotated[
        Pooling | None, Meta(description="Merge word pieces into words before decoding.")
    ] = None
    as_: Annotated[
        As, Meta(description="Answer with the decoding, or with Hugging Face's list of entities.")
    ] = msgspec.field(name="as", default="decoding")


class ExtractForm(DecodeForm, kw_only=True):
    """Options of ``/v1/extract``."""

    id: Annotated[str, Meta(min_length=1, max_length=500, description="Id of the document.")] = (
        "document"
    )


class CheckForm(Form, kw_only=True):
    """Options of ``/v1/check``."""

    labels: Annotated[
        Source, Meta(description="Labels to judge: the true, the best, or the best legal ones.")
    ] = "gold"


FormType = TypeVar("FormType", bound=Struct)


def form_of(request: Request, form: type[FormType]) -> FormType:
    """The options of a request; a problem for one that is unknown, wrong, or given twice."""
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) < len(pairs):
        raise HttpProblem(422, "an option is given twice")
    try:
        return msgspec.convert(dict(pairs), form, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(each.encode_name for each in msgspec.structs.fields(form))
        said = _wrong_choice(form, dict(pairs)) or f"{error}; options: {known}"
        raise HttpProblem(422, f"options: {said}") from None


def _wrong_choice(form: type[Struct], given: Mapping[str, str]) -> str | None:
    """What the choices of an option are, if one was given that is not among them."""
    for name, choices in _choices(form).items():
        if (found := given.get(name)) is not None and found not in choices:
            return f"{name} is {shown(found)}, expected one of {', '.join(choices)}"
    return None


@cache
def _choices(form: type[Struct]) -> dict[str, tuple[str, ...]]:
    """The options that have choices, by name."""
    found = {}
    for option in msgspec.structs.fields(form):
        kind: Any = msgspec.inspect.type_info(option.type)
        kind = getattr(kind, "type", kind)  # without its description
        for each in getattr(kind, "types", (kind,)):
            if isinstance(each, msgspec.inspect.LiteralType):
                found[option.encode_name] = tuple(map(str, each.values))
    return found


class InlineDocument(DocumentLine):
    """A document that may bring its own rules, where the service allows it."""

    rules: dict[str, Any] | str | UnsetType = UNSET


class Problem(Struct):
    """What was found, and what was expected (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    line: int | UnsetType = UNSET  # of a rule file
    column: int | UnsetType = UNSET


class BadLine(Struct, forbid_unknown_fields=True):
    """In a stream, the answer to a line that could not be used, in its place."""

    line: int
    status: int
    error: str
    id: str | UnsetType = UNSET


class FieldValue(Struct, forbid_unknown_fields=True):
    """A value of a field: its text, what that means, and where it is."""

    text: str
    value: str | int | float | None
    words: tuple[int, int]
    box: tuple[float, float, float, float] | UnsetType | None = UNSET
    page: int | UnsetType = UNSET
    choice: int | UnsetType = UNSET
    row: int | UnsetType = UNSET


class Check(Struct, forbid_unknown_fields=True):
    """The verdict on a rule, or on a condition that a field implies."""

    id: str
    state: str
    message: str
    price: float | Literal["hard"] | UnsetType = UNSET
    implied: bool | UnsetType = UNSET


class Correction(Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A word whose label is not the model's first choice."""

    word: int
    from_: str
    to: str
    price: float
    because: list[str] | None


class Decoding(Struct):
    """The answer for one document: a line of ``lawful decode`` (docs/results.md)."""

    id: str
    status: Status
    checked: int
    rules: int
    optimal: bool
    log_prob: float
    labels: list[str]
    fields: dict[str, list[FieldValue]]
    checks: list[Check]
    corrections: list[Correction]
    decoder: str
    bound: float | None
    penalty: float | Literal["hard"]
    stopped_by: str | None
    tried: int
    mass: float
    seconds: float
    margin: float | Literal["Infinity"] | UnsetType | None = UNSET
    confidence: dict[str, tuple[float, float]] | UnsetType = UNSET
    alternatives: list[dict[str, Any]] | UnsetType = UNSET
    pins: list[dict[str, Any]] | UnsetType = UNSET
    moved: list[dict[str, Any]] | UnsetType | None = UNSET


class Entity(Struct, forbid_unknown_fields=True):
    """A span, with the keys of transformers' token-classification pipeline, words and box."""

    entity_group: str
    score: float
    word: str
    start: int
    end: int
    words: tuple[int, int]
    box: tuple[float, float, float, float] | None
    page: int | None


class Checked(Struct, forbid_unknown_fields=True):
    """The rules' verdict on given labels: a line of ``lawful check``."""

    id: str
    status: Literal["satisfied", "violated", "unchecked", "undecided"]
    checked: int
    rules: int
    fields: dict[str, list[FieldValue]]
    checks: list[Check]


class RuleField(Struct, forbid_unknown_fields=True):
    """A field of rules."""

    name: str
    label: str
    type: str
    many: bool
    presence: str


class Described(Struct, forbid_unknown_fields=True):
    """Rules that are valid."""

    scheme: str
    fields: list[RuleField]
    rules: list[str]


class Named(Described, forbid_unknown_fields=True):
    """Rules of the service; the hash is the same as long as they say the same."""

    name: str
    hash: str


class RuleList(Struct, forbid_unknown_fields=True):
    """All rules of the service."""

    rules: list[Named]


class State(Struct, forbid_unknown_fields=True):
    """Whether the service runs, or is ready for requests."""

    status: Literal["ok", "ready"]


class Version(Struct, forbid_unknown_fields=True):
    """The version of lawful."""

    version: str
