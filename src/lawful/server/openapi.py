"""The OpenAPI 3.1 document, made of the structs that parse requests and describe answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from lawful.io.jsonl import DocumentLine
from lawful.server import messages
from lawful.server.settings import Settings

_PROBLEM = "application/problem+json"
_LINES = "application/x-ndjson"
_FILES = ("application/pdf", "image/png", "image/jpeg", "image/tiff", "image/webp")
_ANSWERS = (
    messages.Decoding, messages.Entity, messages.Checked, messages.BadLine, messages.Problem,
    messages.RuleList, messages.Described, messages.State, messages.Version,
)  # fmt: skip

PROBLEMS: Mapping[int, str] = {
    400: "The request is no HTTP that can be read.",
    401: "The token is missing or wrong.",
    403: "The document has rules, and the service does not allow that.",
    404: "There are no rules of this name.",
    408: "The body came too slowly.",
    413: "The body, or the document, is too large.",
    415: "The body is of an unknown type.",
    421: "The header Host does not name this service.",
    422: "The document, the rules or an option cannot be used.",
    431: "The headers are too long.",
    500: "A defect of the service.",
    501: "An optional dependency is not installed.",
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
    decoded = {"anyOf": [ref["Decoding"], {"type": "array", "items": ref["Entity"]}]}
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

    def post(what: str, body: Any, answer: Any, form: type | None, *more: int) -> dict[str, Any]:
        problems = (400, 401, 408, 413, 415, 421, 422, 431, 500, 503, *more)
        return {
            "post": {
                "summary": what,
                "parameters": [] if form is None else _parameters(form),
                "requestBody": {"required": True, "content": body},
                **_responses(answer, problems),
            }
        }

    answers = {"application/json": {"schema": decoded}, _LINES: texts}
    checked = {"application/json": {"schema": ref["Checked"]}, _LINES: texts}
    described = {"application/json": {"schema": ref["Described"]}}
    rules = {
        "application/yaml": texts,
        "application/toml": texts,
        "application/json": {"schema": {}},
    }
    files = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _FILES}
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
                messages.ExtractForm, 404, 501,
            ),
        },
        "components": components,
    }  # fmt: skip


def _open(path: dict[str, Any]) -> dict[str, Any]:
    """The same path for everyone, without a token; HEAD is answered, too."""
    path["get"]["security"] = []
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


def _responses(content: Any, problems: tuple[int, ...]) -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        "responses": {
            "200": {"description": "The answer.", "content": content},
            **{
                str(code): {"description": PROBLEMS[code], "content": {_PROBLEM: problem}}
                for code in problems
            },
        }
    }
