"""A real server, llama.cpp's, on loopback, and its recorded traffic: ``make test-llm``.

The record is made again by ``LAWFUL_RECORD=1 make test-llm``, if questions are put in other words.
"""

import json
import os
from importlib.util import find_spec

import pytest

from lawful import Document, Rules
from lawful.llm import Ask, Client, EndpointError
from lawful.llm.extraction import Asking, settle_each
from lawful.llm.schemas import asked
from lawful.pipeline.call import Call
from tests.command_line import ROOT
from tests.helpers import run, timeless
from tests.llm.real_server import serving_model

RECORD = ROOT / "tests" / "llm" / "recorded" / "llama_cpp.jsonl"
EXPECTED = RECORD.with_suffix(".expected.jsonl")
SCHEMA = {
    "type": "object",
    "properties": {
        "paid": {"type": "boolean"},
        "kind": {"enum": ["bill", "note", "receipt"]},
        "pages": {"type": "integer", "minimum": 0, "maximum": 99},
        "marks": {"type": "array", "maxItems": 3, "items": {"enum": ["a", "b"]}},
    },
    "required": ["paid", "kind"],
    "lawful": {"rules": ["pages < 50"]},
}
LINES = [{"id": name, "words": f"{name} a bill of 12 pages, not paid".split()} for name in "xy"]
needs_server = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs a server: make test-llm"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving_model(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return tmp_path


def extract(folder, *arguments):
    done = run(
        "extract", "d.jsonl", "--schema", "schema.json", "--samples", 2, "--questions", 1,
        *arguments, cwd=folder,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done


@needs_server
def test_answers_are_of_the_schema_and_have_log_probabilities(url):
    messages = [{"role": "user", "content": "Is the bill paid?"}]
    with Client(url) as client:
        reply = client.ask(Ask(messages, asked(SCHEMA), samples=2))
    found = [json.loads(text) for text in reply.texts]
    assert len(found) == 2
    for each in found:
        assert set(each) == set(SCHEMA["properties"])
        assert each["kind"] in ("bill", "note", "receipt", None)
        assert each["paid"] in (True, False, None)
    assert (reply.usage.calls, reply.usage.uncounted) == (1, 0)
    assert reply.usage.completion_tokens > 20
    assert all(answer.tokens and answer.log_prob < 0 for answer in reply.answers)


@needs_server
def test_more_answers_than_the_server_has_places_come_in_several_calls(url):
    with Client(url) as client:
        reply = client.ask(Ask([{"role": "user", "content": "Paid?"}], asked(SCHEMA), samples=5))
        assert [set(json.loads(text)) for text in reply.texts] == [set(SCHEMA["properties"])] * 5
        assert reply.usage.calls == 5


@needs_server
def test_what_a_server_says_of_a_text_that_is_too_long_is_understood(url):
    with Client(url) as client, pytest.raises(EndpointError) as error:
        client.ask(Ask([{"role": "user", "content": "word " * 10_000}]))
    assert error.value.too_long


@needs_server
def test_a_document_that_is_too_long_is_asked_about_in_windows(url):
    page = Document("long", ["word"] * 1_500)
    rules = Rules.from_json_schema(SCHEMA)
    with Client(url) as client:
        [found] = settle_each([page], Asking(client, SCHEMA, Call(rules), samples=1))
        assert client.usage.calls > 1
    assert found.result[1].id == "long"


@needs_server
def test_a_run_is_recorded_and_replayed(url, folder):
    done = extract(folder, "--llm", url, "--record", "r.jsonl")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in found] == ["x", "y"]
    assert timeless(extract(folder, "--replay", "r.jsonl").stdout) == timeless(done.stdout)
    if os.environ.get("LAWFUL_RECORD"):
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_bytes((folder / "r.jsonl").read_bytes())
        EXPECTED.write_text("".join(f"{json.dumps(each)}\n" for each in timeless(done.stdout)))


def test_recorded_traffic_of_a_real_server_gives_the_same_values(folder):
    done = extract(folder, "--replay", RECORD)
    fields = [each["fields"] for each in timeless(done.stdout)]
    assert fields == [each["fields"] for each in timeless(EXPECTED.read_text())]
    assert "language model: 0 calls" in done.stderr
