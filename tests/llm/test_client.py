"""The client: against a scripted server on loopback that behaves well, or badly in every way."""

from __future__ import annotations

import asyncio
import json
import socket
import time

import pytest

from lawful import InputError
from lawful.llm import Ask, Client, EndpointError, asking
from lawful.llm import client as client_module
from lawful.llm.endpoint import Endpoint
from tests.llm.scripted import Raw, completion, serving

ASK = Ask([{"role": "user", "content": "What is the total?"}], {"type": "object"}, samples=3)
THREE = completion('{"total": 1}', '{"total": 2}', '{"total": 3}')
TEXTS = ['{"total": 1}', '{"total": 2}', '{"total": 3}']


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_WAIT", 0.01)
    for name in ("LAWFUL_LLM_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def asked(script, ask=ASK, **how):
    with serving(script) as server, Client(server.url, model="tiny", **how) as client:
        return client.ask(ask), server


def failure(script, **how):
    with pytest.raises(EndpointError) as error:
        asked(script, **{"retries": 1, **how})
    return str(error.value)


def test_several_answers_come_in_one_call():
    reply, server = asked([THREE])
    assert reply.texts == TEXTS
    [body] = server.requests
    assert (body["n"], body["model"], body["temperature"]) == (3, "tiny", 0.8)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        1, 100, 30,
    )  # fmt: skip


def test_a_server_that_answers_once_is_asked_again_and_then_one_by_one():
    with serving([completion("a")]) as server, Client(server.url, model="tiny") as client:
        assert client.ask(ASK).texts == ["a"] * 3
        assert [body.get("n") for body in server.requests] == [3, None, None]
        client.ask(ASK)
        assert [body.get("n") for body in server.requests[3:]] == [None] * 3


def test_more_answers_than_asked_for_are_left_out():
    reply, _ = asked([completion("a", "b", "c", "d")])
    assert reply.texts == ["a", "b", "c"]


def test_the_only_model_is_the_one_that_is_asked():
    with serving([THREE]) as server, Client(server.url) as client:
        client.ask(ASK)
        assert server.requests[1]["model"] == "tiny"


def test_of_several_models_one_must_be_named():
    models = {"data": [{"id": "small"}, {"id": "large"}]}
    with (
        serving(lambda _: models) as server,
        Client(server.url) as client,
        pytest.raises(EndpointError, match="has 2 models: small, large; say which one"),
    ):
        client.ask(ASK)


LACKS = {
    "response_format": ("response_format is not supported", lambda b: b["response_format"]),
    "logprobs": ("unknown parameter: logprobs", lambda b: b["logprobs"]),
    "n": ("only 'n' = 1 is supported", lambda b: b["n"]),
    "max_tokens": ("use max_completion_tokens instead", lambda b: b["max_tokens"]),
    "temperature": ("'temperature' does not support 0.8", lambda b: b["temperature"]),
    "all": ("bad request", lambda b: b.get("n") or b.get("logprobs") or b["response_format"]),
}


@pytest.mark.parametrize("lacking", LACKS)
def test_what_a_server_refuses_is_left_out_from_then_on(lacking):
    message, uses = LACKS[lacking]

    def script(body):
        try:
            uses(body)
        except KeyError:
            return completion(*["a"] * body.get("n", 1))
        return Raw(json.dumps({"error": {"message": message}}), status=400)

    with serving(script) as server, Client(server.url, model="tiny") as client:
        assert client.ask(ASK).texts == ["a"] * 3
        before = len(server.requests)
        assert client.ask(ASK).texts == ["a"] * 3
        kept = server.requests[before:]
        assert len(kept) in (1, 3)
        for body in kept:
            with pytest.raises(KeyError):
                uses(body)


def test_a_request_that_is_refused_for_good_has_the_servers_words():
    refusal = Raw(json.dumps({"error": {"message": "no pictures, please"}}), status=400)
    assert "refused the request: 'no pictures, please'" in failure([refusal])


def test_a_document_that_is_too_long_is_told_from_other_refusals():
    refusal = Raw(json.dumps({"error": "maximum context length is 8192 tokens"}), status=400)
    with pytest.raises(EndpointError) as error:
        asked([refusal])
    assert error.value.too_long


def test_failures_that_pass_are_retried():
    busy = [Raw("busy", status=503), Raw("{", status=200), Raw("", status=502)]
    reply, server = asked([*busy, THREE])
    assert reply.texts == TEXTS
    assert (len(server.requests), reply.usage.retries) == (4, 3)


def test_retry_after_is_obeyed_in_seconds_and_as_a_date():
    begin = time.monotonic()
    reply, _ = asked([Raw("slow down", status=429, headers={"Retry-After": "0.3"}), THREE])
    assert reply.texts == TEXTS
    assert 0.3 <= time.monotonic() - begin < 2
    past = Raw("slow down", status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    assert asked([past, THREE])[0].texts == TEXTS


def test_a_limit_of_rates_holds_all_calls_back():
    script = [Raw("slow down", status=429, headers={"Retry-After": "0.4"}), completion("a")]

    async def both(client):
        async with client:
            first = asyncio.create_task(client.ask_async(Ask(ASK.messages)))
            await asyncio.sleep(0.2)
            begin = time.monotonic()
            await client.ask_async(Ask(ASK.messages))
            await first
            return time.monotonic() - begin

    with serving(script) as server:
        assert asyncio.run(both(Client(server.url, model="tiny"))) >= 0.15


def test_a_server_that_wants_a_long_pause_has_failed():
    later = Raw("quota", status=429, headers={"Retry-After": "3600"})
    assert "it asks to wait 3600 s" in failure([later])


def test_an_endpoint_that_is_down_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        Client(f"http://127.0.0.1:{port}", model="tiny", retries=1) as client,
        pytest.raises(EndpointError, match=f"127.0.0.1:{port} cannot be reached") as error,
    ):
        client.ask(ASK)
    assert error.value.lasting


def test_a_server_that_drips_is_cut_off():
    begin = time.monotonic()
    drip = Raw(*"x" * 100, pause=0.1)
    assert "did not answer within 0.3 s in 2 attempts" in failure([drip], timeout=0.3)
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Raw("<!doctype html><title>Welcome</title>"), "a page of HTML, '<!doctype html>"),
        (Raw('{"choices": [', length=500), "broke off"),
        (Raw('{"choices": ['), "answered '{\"choices\": \\[', expected JSON"),
        (Raw(""), "answered nothing, expected JSON"),
        (Raw("[1, 2]"), "answered \\[1, 2\\], expected an object with choices"),
        (Raw('{"error": "no"}'), "expected an object with choices"),
        (Raw('{"choices": [7]}'), "a choice is 7, expected one with a message"),
        (Raw("no such model", status=404), "status 404: 'no such model'"),
        (Raw(b"\xff\xfe\x00", status=500), "answered with status 500"),
    ],
    ids=lambda e: "" if isinstance(e, Raw) else e,
)  # fmt: skip
def test_what_is_no_answer_is_named(bad, message):
    import re

    assert re.search(message, failure([bad])), failure([bad])


def test_a_response_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(client_module, "MAX_BYTES", 2**16)
    assert "answered with over 65,536 bytes" in failure([Raw("x" * 2**17)])


def test_an_answer_of_ten_megabytes_is_none_and_says_so():
    reply, _ = asked([completion("x" * 10**7, "fine", "fine")])
    assert reply.texts == [None, "fine", "fine"]
    assert reply.answers[0].why == "an answer of 10,000,000 characters, over 1,000,000"


def test_refusals_and_empty_answers_are_none_and_cut_off_ones_are_marked():
    response = completion(None, " ", '{"total": ')
    response["choices"][0]["message"]["refusal"] = "I cannot"
    response["choices"][2]["finish_reason"] = "length"
    reply, _ = asked([response])
    assert reply.texts == [None, None, '{"total": ']
    assert [a.why for a in reply.answers] == ["the model refused: I cannot", "no text", ""]
    assert [a.ended for a in reply.answers] == [True, True, False]


def test_log_probabilities_are_those_of_the_tokens():
    tokens = [("{", -0.1), ("}", -0.25)]
    reply, _ = asked([completion("{}", "a", "b", logprobs=tokens)])
    assert reply.answers[0].tokens == tuple(tokens)
    assert [a.log_prob for a in reply.answers] == [pytest.approx(-0.35), None, None]


def test_tokens_that_a_server_does_not_count_are_said_to_be_uncounted():
    reply, _ = asked([completion("a", "b", "c", usage=False)])
    assert (reply.usage.calls, reply.usage.tokens, reply.usage.uncounted) == (1, 0, 1)


def test_no_more_calls_than_allowed_run_at_a_time():
    def slow(_):
        return Raw(json.dumps(completion("a")), pause=0.05)

    async def many(client):
        async with client:
            return await asyncio.gather(*(client.ask_async(Ask(ASK.messages)) for _ in range(12)))

    with serving(slow) as server:
        replies = asyncio.run(many(Client(server.url, model="tiny", concurrency=3)))
        assert [reply.texts for reply in replies] == [["a"]] * 12
        assert server.most == 3


def test_ask_works_within_a_running_loop():
    async def within(client):
        return client.ask(ASK).texts

    with serving([THREE]) as server, Client(server.url, model="tiny") as client:
        assert asyncio.run(within(client)) == TEXTS


KEY = "sk-very-secret-123"


def test_a_key_is_sent_and_appears_nowhere_else(monkeypatch, tmp_path):
    monkeypatch.setenv("LAWFUL_LLM_KEY", KEY)
    record, cache = tmp_path / "record.jsonl", tmp_path / "cache"
    reply, server = asked([completion(f"your key is {KEY}", "b", "c")], record=record, cache=cache)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert reply.texts[0] == "your key is ***"
    wrong = Raw(json.dumps({"error": f"wrong key {KEY}"}), status=401)
    message = failure([wrong], record=record)
    assert "wrong key ***; its key is that of LAWFUL_LLM_KEY" in message.replace("'", "")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert all(KEY not in path.read_text() for path in files)
    assert KEY not in repr(Endpoint.of("https://api.openai.com/v1"))


def test_keys_of_services_are_sent_to_their_hosts_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Endpoint.of("https://api.openai.com/v1").key == KEY
    for url in ("http://localhost", "https://api.openai.com.evil.org", "https://notapi.openai.co"):
        assert Endpoint.of(url).key is None
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure")
    azure = Endpoint.of("https://me.openai.azure.com/openai/deployments/x?api-version=1")
    assert azure.headers == {"api-key": "azure"}
    assert azure.address("chat/completions").endswith("/x/chat/completions?api-version=1")


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://host", "http://", "http://[", "http://host:99999"],
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(InputError, match="expected one such as http://localhost:8000/v1"):
        Endpoint.of(url)


@pytest.mark.parametrize("url", ["http://me:pass@host", "http://host/v1?key=abc", "http://u@host"])
def test_an_address_with_a_key_is_refused_without_repeating_it(url):
    with pytest.raises(InputError, match="set the environment variable LAWFUL_LLM_KEY") as error:
        Endpoint.of(url)
    assert "pass" not in str(error.value).replace("password", "")
    assert "abc" not in str(error.value)


def test_hosts_alone_are_completed():
    for url in ("http://host:1", "http://host:1/", "http://host:1/v1/", "http://host:1/v1"):
        assert Endpoint.of(url).address("models") == "http://host:1/v1/models"
    whole = Endpoint.of("http://host/v1/chat/completions")
    assert whole.address("models") == "http://host/v1/models"


def test_equal_questions_cost_one_call_with_a_cache(tmp_path):
    with serving([THREE]) as server:
        for number in range(2):
            with Client(server.url, model="tiny", cache=tmp_path) as client:
                reply = client.ask(ASK)
                assert reply.texts == TEXTS
                assert (reply.usage.calls, reply.usage.kept) == (1 - number, number)
        with Client(server.url, model="other", cache=tmp_path) as client:
            assert client.ask(ASK).usage.calls == 1
        assert len(server.requests) == 2


def test_a_damaged_file_of_the_cache_costs_a_call(tmp_path):
    for expected in (1, 0, 1):
        reply, _ = asked([THREE], cache=tmp_path)
        assert (reply.texts, reply.usage.calls) == (TEXTS, expected)
        if not expected:
            next(tmp_path.rglob("*.json")).write_text('[{"choices"')


def test_a_record_answers_without_a_server_and_without_a_key(tmp_path):
    path = tmp_path / "record.jsonl"
    reply, _ = asked([THREE], record=path)
    with Client(replay=path) as client:
        assert client.ask(ASK).answers == reply.answers
        with pytest.raises(EndpointError, match="has no answer to this question"):
            client.ask(Ask(ASK.messages, samples=2))


def test_a_record_keeps_what_the_server_lacks_out_of_the_question(tmp_path):
    path = tmp_path / "record.jsonl"
    asked([completion("a")], record=path)  # three calls: the server has one answer each
    with Client(replay=path) as client:
        assert client.ask(ASK).texts == ["a"] * 3


def whole_lines(path):
    return path.read_text().splitlines()


def test_a_record_goes_on_after_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "record.jsonl"
    asked([THREE], record=path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "abc", "requ')
    asked([completion("b")], Ask(ASK.messages), record=path)
    assert [json.loads(line)["request"]["samples"] for line in whole_lines(path)] == [3, 1]
    assert path.read_bytes().startswith(whole)


def test_records_that_are_none_are_named(tmp_path):
    path = tmp_path / "record.jsonl"
    for text, message in [
        ("", "has no questions"), ("{}\n", "line 1: expected an object with key"),
        ('{"key": "a", "responses": []}\n', "line 1"), ("<html>\n", "line 1"),
    ]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            Client(replay=path)
    with pytest.raises(InputError, match="cannot read"):
        Client(replay=tmp_path / "none")


def test_images_are_recorded_as_digests():
    picture = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}
    ask = Ask([{"role": "user", "content": [picture]}])
    text = json.dumps(ask.as_record("tiny"))
    assert "AAAA" not in text
    assert "sha256:" in text
    other = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,BBBB"}}
    assert ask.key("tiny") != Ask([{"role": "user", "content": [other]}]).key("tiny")


def test_options_out_of_range_are_refused():
    for how in ({"timeout": 0}, {"retries": -1}, {"concurrency": 0}, {"timeout": float("nan")}):
        with pytest.raises(InputError, match="expected seconds above 0"):
            Client(**how)


def test_answers_as_parts_are_joined():
    response = completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    assert asking.answers_of(response)[0].text == "ab"
