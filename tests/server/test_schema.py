"""Requests that the OpenAPI document allows, and others, drawn by schemathesis with a seed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from lab import receipts as demo
from lawful.server.rule_book import RuleBook
from lawful.server.service import Service
from lawful.server.settings import Settings

CASES = 40
"""Requests per operation: about 1,000 in all."""


_folder = TemporaryDirectory(prefix="lawful-tests-")


@schemathesis.serializer("application/toml", "application/x-ndjson")
def as_text(_, value):
    return str(value).encode()


def application():
    rules = {"receipt": demo.RULES}
    chosen = Settings(
        rules, max_bytes=2**20, inline_rules=True, max_cells=20_000, file_seconds=5,
        jobs=Path(_folder.name) / "jobs.db",
    )  # fmt: skip
    return Service(chosen, RuleBook.load(rules)).app()


schema = schemathesis.openapi.from_asgi("/openapi.json", application())


@schema.exclude(path="/v1/extract").parametrize()
@settings(
    max_examples=CASES,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_documented(case):
    # A schema cannot say that probabilities add up to one, or that rules name known fields.
    excluded = [positive_data_acceptance]
    # Bad lines are answered one by one, and files of forms are drawn as no files.
    if case.media_type in ("application/x-ndjson", "multipart/form-data"):
        excluded.append(negative_data_rejection)
    if case.media_type == "multipart/form-data" and find_spec("rapidocr") is None:
        excluded.append(not_a_server_error)  # 501: images are not read without OCR
    case.call_and_validate(excluded_checks=excluded)


def test_the_document_is_openapi_3_1_and_names_every_route():
    raw = schema.raw_schema
    assert raw["openapi"].startswith("3.1")
    paths = Path(__file__).parents[2] / "src" / "lawful" / "server" / "service.py"
    assert set(raw["paths"]) == {
        "/health", "/ready", "/version", "/metrics", "/openapi.json", "/v1/rules",
        "/v1/rules/validate", "/v1/decode", "/v1/check", "/v1/extract", "/v1/choose", "/v1/ground",
        "/v1/jobs/{id}", "/", "/docs",
    }  # fmt: skip
    for path in raw["paths"]:
        assert f'"{path}"' in paths.read_text(encoding="utf-8")
    names = {each["name"] for each in raw["paths"]["/v1/decode"]["post"]["parameters"]}
    assert {"rules", "seconds", "candidates", "mass", "max_cost", "alternatives", "as"} <= names
    assert json.loads(json.dumps(raw)) == raw


def test_probes_are_said_to_answer_as_they_do():
    """Without a token and under any host; only the end of the service makes one answer 503."""
    for path, statuses in (("/health", {"200"}), ("/ready", {"200", "503"})):
        for method in ("get", "head"):
            assert set(schema.raw_schema["paths"][path][method]["responses"]) == statuses
    state = schema.raw_schema["components"]["schemas"]["State"]
    assert state["properties"]["status"]["enum"] == ["ok", "ready"]


@pytest.mark.parametrize(
    "name", ["DecodingLine", "CheckedLine", "GroundedLine", "Problem", "Entity", "RuleList"]
)
def test_answers_have_schemas(name):
    assert schema.raw_schema["components"]["schemas"][name]["properties"]
