"""The OpenAPI 3.1 document, made of the structs that parse requests and describe answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from lawful.io.document_line import DocumentLine
from lawful.results.wire import CheckedLine, DecodingLine
from lawful.server import messages
from lawful.server.candidates import CANDIDATES, VALUES
from lawful.server.extraction import FILE
from lawful.server.settings import Settings
from lawful.server.uploads import FILES, FORM

_PROBLEM = "application/problem+json"
_LINES = "application/x-ndjson"
_ANSWERS = (
    DecodingLine, CheckedLine, messages.GroundedLine, messages.ChooseRequest,
    messages.GroundRequest, messages.Job, messages.Entity, messages.BadLine, messages.Problem,
    messages.RuleList, messages.Described, messages.State, messages.Version,
)  # fmt: skip

JOB = "/v1/jobs/{id}"

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_OF_JOBS = (401, 404, 421, 501, 503)
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "respond-async: a file is extracted later, as a job.",
    "schema": {"type": "string", "enum": ["respond-async"]},
}

PROBLEMS: Mapping[int, str] = {
    400: "The request is no HTTP that can be read.",
    401: "The token is missing or wrong.",
    403: "The document has rules, and the service does not allow that.",
    404: "There are no rules of this name, or no such job.",
    408: "The body came too slowly.",
    413: "The body, or the document, is too large.",
    415: "The body is of an unknown type.",
    421: "The header Host does not name this service.",
    422: "The document, the rules or an option cannot be used.",
    431: "The headers are too long.",
    500: "A defect of the service.",
    501: "An optional dependency is not installed, or the service has no jobs.",
    503: "The service is busy, or ends; Retry-After says when to ask again.",
}


def openapi(settings: Settings, version: str) -> dict[str, Any]:
    """The document, as plain values."""
    document = messages.InlineDocument if settings.inline_rules else DocumentLine
    names = (document, *_ANSWERS)
    references, schemas = msgspec.json.schema_components(
        names, ref_template="#/components/schemas/{name}"
    )
    ref = {name.__name__: reference for name, reference in zip(names, references, strict=True)}
    scored = ref[document.__name__]
    decoded = {"anyOf": [ref["DecodingLine"], {"type": "array", "items": ref["Entity"]}]}
    texts = {"schema": {"type": "string"}}
    one = {"application/json": {"schema": scored}, _LINES: texts}
    secured: dict[str, Any] = {}
    components: dict[str, Any] = {"schemas": schemas}
    if settings.token is not None:
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        secured = {"security": [{"bearer": []}]}

    def get(
        what: str,
        schema: Any,
        kind: str = "application/json",
        problems: tuple[int, ...] = (401, 421, 503),
    ) -> dict[str, Any]:
        return {"get": {"summary": what, **_responses({kind: {"schema": schema}}, problems)}}

    def probe(what: str, *problems: int) -> dict[str, Any]:
        return _open(get(what, ref["State"], problems=problems))

    def post(
        what: str, body: Any, answer: Any, form: type | None, *more: int, job: Any = None
    ) -> dict[str, Any]:
        problems = (400, 401, 408, 413, 415, 421, 422, 431, 500, 503, *more)
        found = {
            "summary": what,
            "parameters": [] if form is None else _parameters(form),
            "requestBody": {"required": True, "content": body},
            **_responses(answer, problems),
        }
        if job is not None:
            found["parameters"].append(_PREFER)
            found["responses"]["202"] = {
                "description": "The file is extracted later: Location is that of the job.",
                "headers": {"Location": {"schema": {"type": "string"}}},
                "content": {"application/json": {"schema": job}},
            }
        return {"post": found}

    answers = {"application/json": {"schema": decoded}, _LINES: texts}
    checked = {"application/json": {"schema": ref["CheckedLine"]}, _LINES: texts}
    described = {"application/json": {"schema": ref["Described"]}}
    rules = {
        "application/yaml": texts,
        "application/toml": texts,
        "application/json": {"schema": {}},
    }
    file = {"type": "string", "format": "binary"}
    files = {kind: {"schema": file} for kind in FILES}
    html = {"text/html": {"schema": {"type": "string"}}}
    page = {**html, "text/plain": {"schema": {"type": "string"}}}
    files[FORM] = _form({FILE: file})
    object_ = {"type": "string", "contentMediaType": "application/json"}

    def asked(name: str, part: str) -> dict[str, Any]:
        own = {"application/json": {"schema": ref[name]}, _LINES: texts}
        return {**own, FORM: _form({part: object_, FILE: file})}

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lawful",
            "version": version,
            "description": "The most probable labelling that obeys your rules. Documents and "
            "answers are the JSON lines of `lawful decode`.",
        },
        **secured,
        "paths": {
            "/": _open(
                {"get": {"summary": "What this is.", **_responses(page, (421,))}}, probe=False
            ),
            "/docs": _open(
                {"get": {"summary": "This document, to read.", **_responses(html, (421,))}},
                probe=False,
            ),
            "/health": probe("Whether the process runs."),
            "/ready": probe("Whether requests are welcome; not when the service ends.", 503),
            "/version": get("The version of lawful.", ref["Version"]),
            "/metrics": get("Counts for Prometheus.", {"type": "string"}, "text/plain"),
            "/openapi.json": get("This document.", {"type": "object"}),
            "/v1/rules": get("The rules of the service.", ref["RuleList"]),
            "/v1/rules/validate": post("Validates a rule file.", rules, described, None),
            "/v1/decode": post(
                "Decodes a document, or lines of them.", one, answers, messages.DecodeForm, 403, 404
            ),
            "/v1/check": post(
                "Judges given labels.", one, checked, messages.CheckForm, 403, 404
            ),
            "/v1/extract": post(
                "Decodes a file, or a document without scores.", {**one, **files}, answers,
                messages.ExtractForm, 404, 501, job=ref["Job"],
            ),
            JOB: {
                "get": {
                    "summary": "How far a job is, and its answer.",
                    "parameters": [_ID],
                    **_responses({"application/json": {"schema": ref["Job"]}}, _OF_JOBS),
                },
                "delete": {
                    "summary": "Cancels a job, or forgets its answer.",
                    "parameters": [_ID],
                    **_responses({}, _OF_JOBS, status=204),
                },
            },
            "/v1/choose": post(
                "Chooses among candidates per field, such as answers of language models.",
                asked("ChooseRequest", CANDIDATES),
                {"application/json": {"schema": ref["DecodingLine"]}, _LINES: texts},
                messages.ChooseForm, 404, 501,
            ),
            "/v1/ground": post(
                "Finds the words of the values of an object on a page.",
                asked("GroundRequest", VALUES),
                {"application/json": {"schema": ref["GroundedLine"]}, _LINES: texts},
                messages.GroundForm, 404, 501,
            ),
        },
        "components": components,
    }  # fmt: skip


def _form(parts: dict[str, Any]) -> dict[str, Any]:
    """A form with these parts, all of which it needs, and no others."""
    schema = {
        "type": "object", "properties": parts, "required": list(parts),
        "additionalProperties": False,
    }  # fmt: skip
    return {"schema": schema}


def _open(path: dict[str, Any], *, probe: bool = True) -> dict[str, Any]:
    """The same path for everyone, without a token; HEAD of a probe is answered, too."""
    path["get"]["security"] = []
    if not probe:
        return path
    head = {"summary": path["get"]["summary"], "security": []}
    head["responses"] = {
        code: {"description": each["description"]}
        for code, each in path["get"]["responses"].items()
    }
    return {**path, "head": head}


def _parameters(form: type) -> list[dict[str, Any]]:
    """The options of a form, as parameters of the query."""
    _, schemas = msgspec.json.schema_components([form])
    found = []
    for name, described in schemas[form.__name__]["properties"].items():
        if form is messages.ChooseForm and name in messages.NOT_FOR_CANDIDATES:
            continue
        schema: dict[str, Any] = {**described}
        parameter = {"name": name, "in": "query", "required": False, "schema": schema}
        if "anyOf" in schema:  # a query has no null
            some = [each for each in schema.pop("anyOf") if each != {"type": "null"}]
            if schema.get("default", 0) is None:
                del schema["default"]
            schema.update(some[0] if len(some) == 1 else {"anyOf": some})
        if (text := schema.pop("description", None)) is not None:
            parameter["description"] = text
        found.append(parameter)
    return found


def _responses(content: Any, problems: tuple[int, ...], status: int = 200) -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        "responses": {
            str(status): {"description": "The answer.", "content": content},
            **{
                str(code): {"description": PROBLEMS[code], "content": {_PROBLEM: problem}}
                for code in problems
            },
        }
    }
