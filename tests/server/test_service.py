"""The service as its clients see it: documents in, answers out, problems for the rest."""

from __future__ import annotations

import json
import re
import socket
import threading

import msgspec
import pytest

import lawful
from lawful.results.wire import CheckedLine, DecodingLine
from lawful.server import messages
from tests.helpers import DOCUMENTS, RULES, run
from tests.server.raw import connect, head, rest_of
from tests.server.services import decoded_by_command, demo_documents, serving, timeless

LINES = demo_documents(40)


def test_a_document_is_answered_with_the_line_of_the_command(service):
    found = service.decode(LINES[0], rules="receipt")
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/json"
    assert timeless(found.content) + b"\n" == timeless(decoded_by_command(LINES[:1]))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"alternatives": "2"}, ["--alternatives", 2]),
        ({"decoder": "lazyk", "candidates": "3"}, ["--decoder", "lazyk", "--candidates", 3]),
        ({"max_cost": "1.5", "temperature": "2"}, ["--max-cost", 1.5, "--temperature", 2]),
        ({"by_field": "true"}, ["--by-field"]),
    ],
)
def test_a_stream_is_answered_byte_for_byte_as_by_the_command(service, options, arguments):
    some = LINES if not options else LINES[:2]
    found = service.decode_lines(b"\n".join(some), **options)
    assert found.status_code == 200
    assert timeless(found.content) == timeless(decoded_by_command(some, *arguments))


def test_checks_are_those_of_the_command(service):
    for labels in ("gold", "argmax", "legal"):
        found = service.client.post(
            "/v1/check", content=b"\n".join(LINES[:5]), params={"labels": labels},
            headers={"Content-Type": "application/x-ndjson"},
        )  # fmt: skip
        assert found.content == decoded_by_command(LINES[:5], "--labels", labels, command="check")


def test_bad_lines_are_answered_in_their_place(service):
    deep = b'{"id": ' + b"[" * 50_000
    long = b'{"id": "' + b"x" * 2**20 + b'"}'
    bad = [
        b"{}",
        b"not JSON",
        deep,
        long,
        b'{"id": "\xff"}',
        b'{"id":"n","words":["a"],"probs":[[NaN]]}',
    ]
    lines = [LINES[0], *bad, b"", b"  ", LINES[1]]
    answers = [json.loads(line) for line in service.decode_lines(b"\n".join(lines)).iter_lines()]
    assert [each.get("line") for each in answers] == [None, 2, 3, 4, 5, 6, 7, None]
    assert [each["status"] for each in answers[1:-1]] == [422, 422, 422, 413, 422, 422]
    assert answers[4]["error"] == "the line has more than 1,048,576 bytes, which is the maximum"
    assert "NaN and Infinity are not JSON" in answers[6]["error"]
    assert answers[-1]["id"] == json.loads(LINES[1])["id"]
    for each in answers[1:-1]:
        msgspec.convert(each, messages.BadLine)


def test_answers_come_while_the_body_still_comes_in(service):
    with connect(service.port) as connection:
        kind = "Content-Type: application/x-ndjson"
        connection.sendall(head("POST", "/v1/decode", kind, "Transfer-Encoding: chunked"))
        found = b""
        for line in LINES[:3]:
            connection.sendall(b"%x\r\n%b\n\r\n" % (len(line) + 1, line))
            name = json.loads(line)["id"].encode()
            while name not in found:
                found += connection.recv(2**16)
        connection.sendall(b"0\r\n\r\n")
        while not found.endswith(b"0\r\n\r\n"):
            found += connection.recv(2**16)


def test_a_client_may_send_everything_before_it_reads(service):
    some = LINES * 2
    body = b"\n".join(some)
    request = head(
        "POST", "/v1/decode", "Content-Type: application/x-ndjson", f"Content-Length: {len(body)}",
        "Connection: close",
    )  # fmt: skip
    with connect(service.port) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(request + body)
        assert rest_of(connection).count(b'"labels":') == len(some)


def test_a_hundred_thousand_tiny_lines_are_all_answered(service):
    found = service.decode_lines(b"0\n" * 100_000)
    assert found.content.count(b"\n") == 100_000
    assert json.loads(found.content.splitlines()[-1])["line"] == 100_000


def test_an_empty_stream_has_no_answers(service):
    assert service.decode_lines(b"").content == b""
    assert service.decode_lines(b"\n \n").content == b""


def test_entities_are_those_of_token_classifiers(service):
    found = service.decode(LINES[0], **{"as": "entities"}).json()
    entities = msgspec.convert(found, list[messages.Entity])
    words = json.loads(LINES[0])["words"]
    text = " ".join(words)
    assert {"entity_group", "score", "word", "start", "end"} <= set(found[0])
    for each in entities:
        assert text[each.start : each.end] == each.word == " ".join(words[slice(*each.words)])
    decoding = service.decode(LINES[0]).json()
    total = decoding["fields"]["total"][0]
    assert [e.word for e in entities if e.entity_group == "total"] == [total["text"]]


def test_documents_with_scores_of_spans_are_answered_too(service):
    line = json.dumps(
        {"id": "s", "words": ["Total", "7.00"], "types": ["total", *OTHERS],
         "spans": [[1, 2, "total", 0.9], [0, 1, "total", 0.2]]}
    ).encode()  # fmt: skip
    found = service.decode(line)
    assert found.json()["fields"]["total"][0]["text"] == "7.00"
    (entity,) = service.decode(line, **{"as": "entities"}).json()
    assert entity["score"] == pytest.approx(0.9)
    assert entity["word"] == "7.00"


OTHERS = ["subtotal", "tax", "service", "discount", "cash", "change", "item.price", "date"]


def test_pins_are_part_of_the_document(service):
    document = json.loads(LINES[0])
    found = service.decode(LINES[0]).json()
    word = found["fields"]["total"][0]["words"][0]
    document["pins"] = [{"words": [word, word + 1], "not": "total"}]
    pinned = service.decode(json.dumps(document)).json()
    assert pinned["labels"][word] != "B-total"
    assert pinned["pins"] == document["pins"]
    assert word in [move["word"] for move in pinned["moved"]]


def test_answers_are_as_the_api_describes_them(service):
    for line in LINES[:5]:
        msgspec.convert(service.decode(line, alternatives="1").json(), DecodingLine)
        msgspec.convert(service.decode(line).json(), DecodingLine)
        headers = {"Content-Type": "application/json"}
        found = service.client.post("/v1/check", content=line, headers=headers)
        msgspec.convert(found.json(), CheckedLine)
    msgspec.convert(service.client.get("/v1/rules").json(), messages.RuleList)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the body is empty, expected a document"),
        (b"{", "truncated"),
        (b"[]", "Expected `object`"),
        (b'{"id": 7, "words": []}', "Expected `str`"),
        (b'{"id": "x", "words": ["a"], "labels": ["O"]}', "has no scores, expected one of probs"),
        (b'{"id": "x", "words": ["a"], "labels": ["O"], "probs": [[0.5]]}', "sums to 0.5"),
        (b'{"id": "x", "words": ["a"], "labels": ["O"], "probs": [[Infinity]]}', "not JSON"),
        (b'{"id": "x", "words": ["a"], "labels": ["O"], "probs": [[1e999]]}', "out of range"),
        (b"[" * 100_000, ""),
        (b'{"id": "\\ud800", "words": []}', ""),
        (b"\xff\xfe", ""),
    ],
)
def test_a_document_that_cannot_be_used_is_a_problem(service, body, said):
    found = service.decode(body)
    assert found.status_code == 422, found.text
    assert found.headers["content-type"] == "application/problem+json"
    problem = msgspec.convert(found.json(), messages.Problem)
    assert said in problem.detail


def test_a_document_may_not_have_labels_without_end(service):
    """One word with 9,000 labels took half a minute, one with 90,000 took 3 GB."""
    labels = ["O", *(f"B-{i}" for i in range(142))]
    line = {"id": "x", "words": ["a"], "labels": labels, "logits": [[0] * len(labels)]}
    found = service.decode(json.dumps(line))
    assert found.status_code == 413
    assert "143 × 143 labels = 20,449, expected at most 20,000" in found.json()["detail"]


def test_lines_that_are_sent_as_one_document_get_a_hint(service):
    hint = "; several documents, one per line, are sent as application/x-ndjson"
    lines = service.decode(LINES[0] + b"\n" + LINES[1])
    assert lines.status_code == 422
    assert lines.json()["detail"].endswith(hint)
    on_two_lines = service.decode(b'{"id": "x",\n"words": 7}')
    assert on_two_lines.status_code == 422
    assert hint not in on_two_lines.json()["detail"]


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ({"rules": "recipt"}, 404, "no rules 'recipt'; did you mean 'receipt'? names: receipt"),
        ({"rules": "../../../etc/passwd"}, 404, "names: receipt"),
        ({"rules": "receipt\0"}, 404, "names: receipt"),
        ({"rules": "x" * 3000}, 404, "…"),
        ({"colour": "red"}, 422, "unknown field `colour`; options: decoder, candidates, seconds"),
        ({"seconds": "0"}, 422, "Expected `float` > 0"),
        ({"seconds": "nan"}, 422, "seconds"),
        ({"seconds": "soon"}, 422, "seconds"),
        ({"alternatives": "101"}, 422, "Expected `int` <= 100"),
        ({"alternatives": "-1"}, 422, "Expected `int` >= 0"),
        ({"decoder": "magic"}, 422, "unknown decoder 'magic'; decoders: auto, exact"),
        ({"decoder": "lazyk", "alternatives": "1"}, 422, "decoder lazyk finds no alternatives"),
        ({"temperature": "1e-300"}, 422, "Expected `float` >= 1e-06"),  # was a defect
        ({"as": "poem"}, 422, "as is 'poem', expected one of decoding, entities"),
        ({"pool": "sum"}, 422, "pool is 'sum', expected one of first, mean, product"),
    ],
)
def test_options_are_checked(service, options, status, said):
    found = service.decode(LINES[0], **options)
    assert found.status_code == status, found.text
    assert said in found.json()["detail"]
    streamed = service.decode_lines(LINES[0], **options)
    assert streamed.status_code == status  # before a line is read


def test_a_wrong_choice_of_labels_names_the_choices(service):
    headers = {"Content-Type": "application/json"}
    found = service.client.post("/v1/check?labels=huh", content=LINES[0], headers=headers)
    assert found.status_code == 422
    said = "options: labels is 'huh', expected one of argmax, gold, legal"
    assert found.json()["detail"] == said


def test_an_option_may_be_given_once(service):
    headers = {"Content-Type": "application/json"}
    found = service.client.post("/v1/decode?seconds=1&seconds=2", content=LINES[0], headers=headers)
    assert found.status_code == 422


def test_documents_have_a_size(service):
    words, labels = 2001, ["O", *(f"B-{i}" for i in range(9))]
    probs = [[1.0] + [0.0] * 9] * words
    document = {"id": "x", "words": ["a"] * words, "labels": labels, "probs": probs}
    found = service.decode(json.dumps(document))
    assert found.status_code == 413
    assert "2,001 words × 10 labels = 20,010, expected at most 20,000" in found.json()["detail"]
    commas = service.decode(b'{"id":"x","words":[' + b'"",' * 200_000 + b'""]}')
    assert commas.status_code == 413
    assert "200,001 commas" in commas.json()["detail"]
    assert service.decode(b"x" * (2**20 + 1)).status_code == 413


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/xml", "application/x-www-form-urlencoded"]
)
def test_other_types_of_bodies_are_refused(service, kind):
    found = service.decode(LINES[0], kind)
    assert found.status_code == 415
    assert "application/json, application/x-ndjson" in found.json()["detail"]
    assert service.decode(LINES[0], "Application/JSON; charset=utf-8").status_code == 200


def test_compressed_bodies_are_refused(service):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert service.client.post("/v1/decode", content=LINES[0], headers=headers).status_code == 415


def test_keys_that_are_given_twice_mean_the_last_as_on_the_command_line(service):
    twice = b'{"id":"first",' + LINES[0][1:]
    assert service.decode(twice).json()["id"] == json.loads(LINES[0])["id"]
    assert timeless(service.decode(twice).content + b"\n") == timeless(decoded_by_command([twice]))


def test_ids_may_be_any_text(service):
    name = "Rechnung № 7 \u202e \U0001f9fe \x00\n\"'"
    document = {**json.loads(LINES[0]), "id": name}
    assert service.decode(json.dumps(document)).json()["id"] == name
    assert service.decode_lines(json.dumps(document)).text.count("\n") == 1


def test_probes_and_version(service):
    for path, status in (("/health", "ok"), ("/ready", "ready")):
        assert service.client.get(path).json() == {"status": status}
        found = service.client.head(path)
        assert (found.status_code, found.content) == (200, b"")
        assert service.client.post(path).status_code == 405
    assert service.client.get("/version").json() == {"version": lawful.__version__}
    assert {record["path"] for record in service.records("request")}.isdisjoint(
        {"/health", "/ready"}
    )


def test_metrics_count(service):
    def count(name):
        text = service.client.get("/metrics").text
        rows = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[:1] != "#")
        return float(rows.get(name, 0))

    satisfied = 'lawful_documents_total{path="/v1/decode",status="satisfied"}'
    errors = 'lawful_documents_total{path="/v1/decode",status="error"}'
    before = [
        count(name)
        for name in (satisfied, errors, "lawful_words_total", "lawful_documents_proven_total")
    ]
    service.decode_lines(LINES[0] + b"\n{}\n")
    after = [
        count(name)
        for name in (satisfied, errors, "lawful_words_total", "lawful_documents_proven_total")
    ]
    words = len(json.loads(LINES[0])["words"])
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, words, 1]
    assert count("lawful_requests_in_flight") == 1  # this one
    service.client.get("/some/path/that/nobody/knows")
    assert count('lawful_requests_total{path="other",status="404"}') >= 1


def test_rules_are_validated_with_line_and_column(service):
    def validate(text, kind="application/yaml"):
        headers = {"Content-Type": kind}
        return service.client.post("/v1/rules/validate", content=text, headers=headers)

    good = validate("fields: {a: {label: a, type: money}}\nrules: [a > 3]\n")
    assert good.status_code == 200
    assert msgspec.convert(good.json(), messages.Described).rules == ["a > 3"]
    wrong = validate("fields: {a: {label: a}}\nrules:\n  - a == b\n")
    assert wrong.status_code == 422
    assert (wrong.json()["line"], wrong.json()["column"]) == (3, 10)
    assert "unknown field 'b'" in wrong.json()["detail"]
    assert validate("{", "application/json").json()["line"] == 1
    assert validate("a = [1 2]", "application/toml").json()["column"] == 8
    assert (
        "no files are read" in validate("fields: {a: {label: a, in: /etc/passwd}}").json()["detail"]
    )
    assert validate("fields: {a: {label: a, pattern: '('}}").status_code == 422
    assert validate("a: &a [*a]").status_code == 422
    assert validate("x", "text/plain").status_code == 415
    assert validate("#" * 70_000).status_code == 413
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )
    assert validate(bomb).status_code == 422


def test_rules_of_documents_need_to_be_allowed(service):
    document = {**json.loads(LINES[0]), "rules": {"fields": {"t": {"label": "total"}}}}
    found = service.decode(json.dumps(document))
    assert found.status_code == 403
    assert "--inline-rules" in found.json()["detail"]


def test_many_clients_at_once_get_their_own_answers(service):
    expected = {
        json.loads(line)["id"]: timeless(line) for line in decoded_by_command(LINES).splitlines()
    }
    wrong = []

    def ask(line):
        found = service.decode(line)
        if timeless(found.content) != expected[json.loads(line)["id"]]:
            wrong.append(found.text)

    threads = [
        threading.Thread(target=lambda: [ask(line) for line in LINES[:20]]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_log_has_request_ids_and_no_texts(service):
    secret = "Umsatzsteuer-Identnummer-123"  # noqa: S105 - of a document
    document = {**json.loads(LINES[0]), "id": secret}
    document["words"][0] = secret
    found = service.client.post(
        "/v1/decode", content=json.dumps(document),
        headers={"Content-Type": "application/json", "X-Request-Id": "my-request.7"},
    )  # fmt: skip
    assert found.headers["x-request-id"] == "my-request.7"
    for bad in (b'{"id":"%b"' % secret.encode(), json.dumps({**document, "labels": [secret]})):
        refused = service.decode(bad)
        assert refused.status_code == 422
        assert len(refused.headers["x-request-id"]) == 16
        assert service.decode_lines(bad).status_code == 200
    forged = {"Content-Type": "application/json", "X-Request-Id": 'x"\x7f{}' + "y" * 100}
    assert (
        service.client.get("/version", headers=forged).headers["x-request-id"]
        != forged["X-Request-Id"]
    )
    service.wait_for("request")
    record = next(r for r in service.records("request") if r["id"] == "my-request.7")
    assert {"method": "POST", "path": "/v1/decode", "status": 200}.items() <= record.items()
    assert secret not in "".join(service.log)
    assert not service.records("failure")


def without_setting(line):
    return json.loads(line) | {"seconds": 0, "setting": None}


def test_documents_pass_as_by_the_command_and_are_counted(tmp_path):
    trust = tmp_path / "trust.json"
    needs = ("--needs", "total,tax")
    fit = ("--error", 0.1, "--confidence", 0.9, "--out", trust)
    assert run("trust", "fit", DOCUMENTS, "-r", RULES, *needs, *fit).returncode == 0
    lines = demo_documents(12)
    expected = decoded_by_command(lines, *needs, "--trust", trust)
    with serving("--trust", f"receipt={trust}", "--seconds", 60) as found:
        answers = found.decode_lines(b"\n".join(lines))
        assert [without_setting(line) for line in answers.text.splitlines()] == [
            without_setting(line) for line in expected.splitlines()
        ]
        passed = sum(json.loads(line)["passes"] for line in answers.text.splitlines())
        assert 0 < passed < 12
        other = found.decode(lines[0], by_field="true")  # is another way to decode
        assert "trust" not in other.json()
        text = found.client.get("/metrics").text
        assert 'lawful_trust_count{rules="receipt"} 12.0' in text
        assert f'lawful_documents_passed_total{{rules="receipt"}} {passed}.0' in text
        mean = sum(json.loads(line)["trust"] for line in answers.text.splitlines()) / 12
        said = float(re.search(r'lawful_trust_sum\{rules="receipt"\} (\S+)', text)[1])
        assert said / 12 == pytest.approx(mean)


@pytest.mark.parametrize(
    ("name", "said"), [("other", "no rules of this name"), ("receipt", "another --rules")]
)
def test_trust_is_that_of_the_rules(tmp_path, name, said):
    trust = tmp_path / "trust.json"
    fit = ("--error", 0.1, "--confidence", 0.9, "--needs", "total,tax", "--out", trust)
    assert run("trust", "fit", DOCUMENTS, "-r", RULES, *fit).returncode == 0
    found = run("serve", "--rules", "receipt", "--trust", f"{name}={trust}")
    assert found.returncode == 2
    assert said in found.stderr
