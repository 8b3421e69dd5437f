"""What requests and answers look like: the structs that parse options and describe the API.

Documents are ``lawful.io.document_line.DocumentLine``, and answers about them lines of
``lawful decode`` and ``lawful check`` (``lawful.results.wire``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.datastructures import QueryParams
from starlette.requests import Request

from lawful.base.errors import shown
from lawful.candidates.candidates import SMOOTHING
from lawful.evaluation.checking import Source
from lawful.io.candidate_lines import CandidateLine
from lawful.io.document_line import DocumentLine
from lawful.pipeline.call import DecodeOptions
from lawful.server.problems import HttpProblem

Name = Annotated[
    str | None, Meta(description="Name of the rules; may be left out if the service has only one.")
]
As = Literal["decoding", "entities"]


class DecodeForm(DecodeOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Options of ``/v1/decode``: those of the command line, by the same names."""

    rules: Name = None
    as_: Annotated[
        As, Meta(description="Answer with the decoding, or with Hugging Face's list of entities.")
    ] = msgspec.field(name="as", default="decoding")


Id = Annotated[
    Annotated[str, Meta(min_length=1, max_length=500)] | None,
    Meta(description="Id of the document; by default the name of its file, or else document."),
]


class ExtractForm(DecodeForm, frozen=True, kw_only=True):
    """Options of ``/v1/extract``."""

    id: Id = None


class ChooseForm(DecodeOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Options of ``/v1/choose``: those of the command line, by the same names."""

    rules: Name = None
    smoothing: Annotated[
        float,
        Meta(
            ge=1e-6, le=1e6,
            description="Votes that each text, and a missing value, get beside those of the "
            "samples.",
        ),
    ] = SMOOTHING  # fmt: skip


NOT_FOR_CANDIDATES = ("by_field", "temperature", "pool")
"""Options about scores of words, which candidates do not have."""


class GroundForm(Struct, forbid_unknown_fields=True, kw_only=True):
    """Options of ``/v1/ground``."""

    rules: Annotated[
        str | None, Meta(description="Name of rules, whose fields say the types of values.")
    ] = None
    id: Id = None


class CheckForm(Struct, forbid_unknown_fields=True, kw_only=True):
    """Options of ``/v1/check``."""

    rules: Name = None
    labels: Annotated[
        Source, Meta(description="Labels to judge: the true, the best, or the best legal ones.")
    ] = "gold"


FormType = TypeVar("FormType", bound=Struct)


def form_of(request: Request, form: type[FormType]) -> FormType:
    """The options of a request; a problem for one that is unknown, wrong, or given twice."""
    return form_of_query(request.query_params, form)


def form_of_query(query: QueryParams, form: type[FormType]) -> FormType:
    """The options of a query, in the same way."""
    pairs = query.multi_items()
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


class ChooseRequest(CandidateLine):
    """Candidates as in a line of ``lawful choose``, and the page that they were read from."""

    document: DocumentLine | UnsetType = UNSET


class GroundRequest(Struct):
    """A page with words and boxes, and the object whose values are looked for."""

    document: DocumentLine
    values: dict[str, Any]


class GroundedValue(Struct, forbid_unknown_fields=True):
    """A value, and the words that it is printed on; without any, what is most like it."""

    path: list[str | int]
    value: Any
    words: list[int]
    text: str | None
    box: tuple[float, float, float, float] | None
    page: int | None
    probability: float
    nearest: str | None


class GroundedLine(Struct, forbid_unknown_fields=True):
    """Where the values of an object are printed; ``optimal``: this is proven to be the best."""

    id: str
    optimal: bool
    values: list[GroundedValue]


JobStatus = Literal["queued", "running", "done", "failed"]


class Job(Struct):
    """A file that is extracted without a request that waits: how far it is, and the answer.

    ``page`` of ``pages`` have been read; their number is there once the file is open.
    """

    id: str
    status: JobStatus
    created: str
    page: int
    pages: int | UnsetType = UNSET
    answer: msgspec.Raw | UnsetType = UNSET
    problem: msgspec.Raw | UnsetType = UNSET


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
