"""The service under way: access, limits, its end, reloads, and processes that die."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic

import httpx
import pytest

from tests.helpers import RULES, run
from tests.server.raw import answer_of, connect, exchange, head, problem_of, rest_of, status_of
from tests.server.services import LONG, decoded_by_command, demo_documents, serving, timeless

TOKEN = "a-token-of-24-characters"  # noqa: S105 - of tests
LINES = demo_documents(8)
JSON = {"Content-Type": "application/json"}
SLOW = "fields: {x: {label: x, pattern: '(a|aa)+$'}}"
"""Rules whose pattern takes years on ``slow_document``, and so is given up after a second."""


def slow_document():
    return json.dumps(
        {"id": "slow", "words": ["a" * 60 + "!"], "labels": ["O", "B-x"], "probs": [[0.1, 0.9]]}
    )


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with a token, an allowed origin and host, and inline rules."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN)
    options = ("--token-file", file, "--allow-origin", "https://app.example", "--inline-rules")
    with serving(*options, "--allow-host", "proxy.example", "--seconds", 60) as found:
        yield found


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A service with room for two requests, slow rules, and little time for bodies."""
    file = tmp_path_factory.mktemp("rules") / "slow.yaml"
    file.write_text(SLOW)
    options = ("--concurrency", 1, "--waiting", 1, "--body-seconds", 4, "--seconds", 30)
    with serving(*options, rules=(f"receipt={RULES}", file)) as found:
        yield found


def test_only_those_with_the_token_may_ask(guarded):
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for path in ("/version", "/metrics", "/openapi.json", "/v1/rules", "/nothing"):
        assert guarded.client.get(path).status_code == 401
    for path in ("/health", "/ready"):
        assert guarded.client.get(path).status_code == 200
    assert guarded.client.get("/version", headers=bearer).status_code == 200
    assert guarded.decode(LINES[0]).status_code == 401
    found = guarded.client.post("/v1/decode", content=LINES[0], headers={**bearer, **JSON})
    assert timeless(found.content + b"\n") == timeless(decoded_by_command(LINES[:1]))
    assert TOKEN not in "".join(guarded.log)
    described = guarded.client.get("/openapi.json", headers=bearer).json()
    assert described["security"] == [{"bearer": []}]


def test_a_body_without_the_token_is_not_read(guarded):
    answer = exchange(guarded.port, head("POST", "/v1/decode", "Content-Length: 999999999"))
    assert status_of(answer) == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 401), ("proxy.example", 401), ("evil.example", 421), ("127.0.0.1.evil", 421)],
)
def test_host_is_checked_before_the_token(guarded, host, status):
    assert guarded.client.get("/version", headers={"Host": host}).status_code == status
    assert guarded.client.get("/health", headers={"Host": host}).status_code == 200


def test_browsers_may_call_from_allowed_origins_only(guarded, service):
    ask = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    mine = {"Origin": "https://app.example"}
    found = guarded.client.options("/v1/decode", headers={**ask, **mine})
    assert found.status_code == 200
    assert found.headers["access-control-allow-origin"] == "https://app.example"
    other = guarded.client.options("/v1/decode", headers={**ask, "Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers
    off = service.client.options("/v1/decode", headers={**ask, **mine})
    assert off.status_code == 405
    assert not [name for name in off.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("host", "headers", "status"),
    [
        ("127.0.0.1", [], 401),
        ("evil.example", [], 421),
        ("127.0.0.1", [f"Authorization: Bearer {TOKEN}", f"Content-Length: {2**30}"], 413),
        ("127.0.0.1", [f"Authorization: Bearer {TOKEN}", "Content-Encoding: gzip"], 415),
    ],
)
def test_pages_of_allowed_origins_can_read_problems(guarded, host, headers, status):
    def ask(origin):
        more = (*headers, f"Origin: {origin}", "Connection: close")
        return exchange(guarded.port, head("POST", "/v1/decode", *more, host=host)).lower()

    mine, other = ask("https://app.example"), ask("https://evil.example")
    assert status_of(mine) == status_of(other) == status
    assert b"\r\naccess-control-allow-origin: https://app.example\r\n" in mine
    assert b"\r\naccess-control-allow-origin:" not in other


def test_documents_may_bring_rules_if_that_is_allowed(guarded):
    bearer = {"Authorization": f"Bearer {TOKEN}", **JSON}

    def ask(rules, path="/v1/decode", **more):
        body = json.dumps({**json.loads(LINES[0]), "rules": rules})
        return guarded.client.post(path, content=body, headers=bearer, **more)

    rules = {"fields": {"amount": {"label": "total", "type": "money"}}, "rules": ["amount > 0"]}
    assert set(ask(rules).json()["fields"]) == {"amount"}
    text = "fields:\n  amount: {label: total, type: money}\nrules:\n  - amuont > 0\n"
    wrong = ask(text)
    assert wrong.status_code == 422
    assert (wrong.json()["line"], wrong.json()["column"]) == (4, 5)
    assert ask(text.replace("amuont", "amount"), "/v1/check").json()["status"] == "satisfied"
    assert ask(rules, params={"rules": "receipt"}).status_code == 422  # which ones?
    files = ask({"fields": {"a": {"label": "total", "in": "README.md"}}})
    assert "no files are read" in files.json()["detail"]
    assert ask("x" * 70_000).status_code == 413
    assert ask(None).status_code == 422
    described = guarded.client.get("/openapi.json", headers=bearer).json()
    assert "rules" in described["components"]["schemas"]["InlineDocument"]["properties"]


def test_a_slow_pattern_is_given_up_and_said(narrow):
    found = narrow.decode(slow_document(), rules="slow")
    assert found.status_code == 422
    assert "pattern '(a|aa)+$' takes more than 1 s" in found.json()["detail"]
    assert not narrow.records("failure")


def test_an_answer_comes_back_at_the_limit_of_time(narrow):
    body = b"\n".join(demo_documents(40))
    found = narrow.decode_lines(body, rules="receipt", seconds="1e-7").text.splitlines()
    stopped = [json.loads(line)["stopped_by"] for line in found]
    assert len(stopped) == 40
    assert "seconds" in stopped


def test_more_work_than_fits_is_told_to_come_back(narrow):
    found, urls = [], []

    def ask():
        with httpx.Client(base_url=narrow.url, timeout=LONG) as client:
            more = {"params": {"rules": "slow"}, "headers": JSON}
            found.append(client.post("/v1/decode", content=slow_document(), **more))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        urls.append(narrow.client.get("/health").status_code)  # never limited
    assert {answer.status_code for answer in found} == {422, 503}
    for answer in found:
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == "1"
            assert "which is the maximum" in answer.json()["detail"]
    assert set(urls) == {200}
    assert narrow.decode(LINES[0], rules="receipt").status_code == 200


def test_a_second_stream_waits_for_the_first_to_end(narrow):
    with connect(narrow.port) as first:
        kind = "Content-Type: application/x-ndjson"
        path = "/v1/decode?rules=receipt"
        first.sendall(head("POST", path, kind, "Transfer-Encoding: chunked"))
        first.sendall(b"3\r\n{}\n\r\n")
        answer = first.recv(2**16)
        while b'"line":1' not in answer:
            answer += first.recv(2**16)
        refused = narrow.decode_lines(LINES[0], rules="receipt")
        assert refused.status_code == 503
        first.sendall(b"0\r\n\r\n")
        while b"0\r\n\r\n" not in first.recv(2**16):
            pass
    assert narrow.decode_lines(LINES[0], rules="receipt").status_code == 200


def test_what_is_no_http_in_a_refused_body_is_no_defect(narrow):
    """The refusal and the answer to a body that is no HTTP met, and filled the log."""
    for line in (b"1;" + b"a" * 2**18, b"zz\r\n"):
        with connect(narrow.port) as connection, suppress(ConnectionError):
            connection.sendall(head("POST", "/nothing", "Transfer-Encoding: chunked") + line)
            connection.sendall(b"a" * 2**18)
            assert status_of(rest_of(connection)) in (400, 404)
    assert narrow.client.get("/health").status_code == 200
    assert [each for each in narrow.records() if each["level"] == "error"] == []


def test_connections_without_end_do_not_fill_the_log():
    """Without a file left for a connection, the event loop wrote two million lines a minute."""
    resource = pytest.importorskip("resource")

    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))

    with serving(prepare=few_files) as found, ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(connect(found.port)).send(b"GET / HTTP")
        stack.pop_all().close()
        assert found.decode(LINES[0]).status_code == 200
        assert len(found.log) < 50


def test_slow_clients_are_given_up_and_hold_up_nobody(narrow):
    """Sixty-four clients that stop in the middle of their bodies."""
    with ExitStack() as stack:
        slow = [stack.enter_context(connect(narrow.port)) for _ in range(64)]
        for i, connection in enumerate(slow):
            kind = "x-ndjson" if i == 0 else "json"
            headers = f"Content-Type: application/{kind}", "Content-Length: 1000"
            connection.sendall(head("POST", "/v1/decode?rules=receipt", *headers) + b'{"id":')
        assert narrow.decode(LINES[0], rules="receipt").status_code == 200
        stream, *bodies = [rest_of(connection) for connection in slow]
    assert {status_of(answer) for answer in bodies} == {408}
    assert b'"line":1,"status":408,"error":"the body did not come within 4 seconds' in stream
    assert narrow.decode(LINES[0], rules="receipt").status_code == 200


def test_clients_that_vanish_leave_nothing_behind(narrow):
    for body in (b"", LINES[0][:100], LINES[0] + b"\n" + LINES[1]):
        for kind in ("json", "x-ndjson"):
            with connect(narrow.port) as connection:
                headers = f"Content-Type: application/{kind}", f"Content-Length: {10**5}"
                connection.sendall(head("POST", "/v1/decode?rules=receipt", *headers) + body)
                # Closes with a reset, as a client that is killed.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    until = monotonic() + LONG
    while "\nlawful_requests_in_flight 1.0\n" not in narrow.client.get("/metrics").text:
        assert monotonic() < until
    assert narrow.decode(LINES[0], rules="receipt").status_code == 200
    assert narrow.decode_lines(LINES[0], rules="receipt").status_code == 200
    assert not narrow.records("failure")


def test_a_half_closed_client_gets_its_answers(narrow):
    body = b"\n".join(LINES[:3])
    headers = "Content-Type: application/x-ndjson", f"Content-Length: {len(body)}"
    with connect(narrow.port) as connection:
        connection.sendall(head("POST", "/v1/decode?rules=receipt", *headers) + body)
        connection.shutdown(socket.SHUT_WR)
        assert rest_of(connection).count(b'"labels":') == 3


def test_pipelined_requests_are_answered_in_order(narrow):
    first, last = head("GET", "/version"), head("GET", "/nothing", "Connection: close")
    answer = exchange(narrow.port, first + first + last)
    statuses = [part.split(b" ")[0] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"404"]


def test_requests_finish_before_the_service_ends_and_the_rest_is_told():
    with serving("--drain-seconds", 5) as found, ExitStack() as stack:
        endless, waiting, finishing = (stack.enter_context(connect(found.port)) for _ in range(3))
        lines = "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"
        endless.sendall(head("POST", "/v1/decode", *lines) + b"3\r\n{}\n\r\n")
        answer = endless.recv(2**16)
        while b'"line":1' not in answer:
            answer += endless.recv(2**16)
        one = "Content-Type: application/json", f"Content-Length: {len(LINES[0])}"
        for connection in (waiting, finishing):
            connection.sendall(head("POST", "/v1/decode", *one) + LINES[0][:100])
        for _ in range(1000):
            if "\nlawful_requests_in_flight 4.0\n" in found.client.get("/metrics").text:
                break  # these three, and the one that asks
        found.process.send_signal(signal.SIGTERM)
        found.wait_for("drain")
        finishing.sendall(LINES[0][100:])
        assert status_of(rest_of(finishing)) == 200
        assert not accepts(found.port)
        told = rest_of(waiting)
        assert status_of(told) == 503
        assert b"retry-after: 5" in told.lower()
        answer += rest_of(endless)
        assert b'{"line":2,"status":503,"error":"the service ends; ask again"}' in answer
        assert answer.endswith(b"0\r\n\r\n")  # a whole answer, whose last line says why
        assert found.wait_for("end")


def test_two_workers_share_rules_and_counts_and_are_replaced_when_they_die(tmp_path):
    rules = tmp_path / "mine.yaml"
    rules.write_text("fields: {total: {label: total, type: money}}")
    with serving(rules=(rules,), workers=2) as found:
        pids = {record["pid"] for record in found.records("ready")}
        assert len(pids) == 2
        first = rules_of(found)

        rules.write_text("fields: {total: {label: [")
        found.process.send_signal(signal.SIGHUP)
        assert "mine.yaml" in found.wait_for("reload refused")["detail"]
        assert rules_of(found) == first
        assert found.decode(LINES[0]).status_code == 200

        rules.write_text("fields: {sum: {label: total, type: money}}")
        found.process.send_signal(signal.SIGHUP)
        found.wait_for("reload", 2)  # in both workers
        second = rules_of(found)
        assert second != first
        assert {tuple(found.decode(LINES[0]).json()["fields"]) for _ in range(10)} == {("sum",)}

        rules.write_text("broken, and not reloaded")
        with connect(found.port) as held:
            kind = "Content-Type: application/x-ndjson"
            held.sendall(head("POST", "/v1/decode", kind, "Transfer-Encoding: chunked"))
            held.sendall(b"3\r\n{}\n\r\n")
            answer = held.recv(2**16)
            while b'"line":1' not in answer:
                answer += held.recv(2**16)
            victim = pid_of_peer(held, pids)
            os.kill(victim, signal.SIGKILL)
            assert not rest_of_killed(held).endswith(b"0\r\n\r\n")  # seen to be cut off
        for line in LINES:  # by the other worker, at once
            with httpx.Client(base_url=found.url, timeout=LONG) as client:
                assert client.post("/v1/decode", content=line, headers=JSON).status_code == 200
        assert found.wait_for("worker died")["pid"] == victim
        found.wait_for("ready", 3)
        assert {rules_of(found) for _ in range(6)} == {second}  # of the last rules that loaded
        text = found.client.get("/metrics").text
        assert 'lawful_documents_total{path="/v1/decode",status="' in text


def test_metrics_count_work_that_waits_in_all_processes(tmp_path):
    rules = tmp_path / "slow.yaml"
    rules.write_text(SLOW)
    with (
        serving("--concurrency", 1, rules=(rules,), workers=2) as found,
        ExitStack() as stack,
    ):
        one = "Content-Type: application/json", f"Content-Length: {len(slow_document())}"
        asking = [stack.enter_context(connect(found.port)) for _ in range(6)]
        for connection in asking:
            connection.sendall(head("POST", "/v1/decode", *one) + slow_document().encode())
        most = 0.0
        until = monotonic() + LONG
        while not most and monotonic() < until:
            most = max(most, waiting_of(found))
        assert most >= 1
        assert {status_of(answer_of(connection)) for connection in asking} == {422}
        assert waiting_of(found) == 0


def waiting_of(service):
    text = service.client.get("/metrics").text
    return float(text.partition("\nlawful_work_waiting ")[2].splitlines()[0])


def accepts(port):
    try:
        connect(port).close()
    except ConnectionRefusedError:
        return False
    return True


def rules_of(service):
    with httpx.Client(base_url=service.url, timeout=LONG) as client:  # maybe of another worker
        return client.get("/v1/rules").json()["rules"][0]["hash"]


def rest_of_killed(connection):
    try:
        return rest_of(connection)
    except ConnectionResetError:
        return b""


def pid_of_peer(connection, pids):
    """The process that holds the other end of a connection."""
    ours, theirs = connection.getsockname()[1], connection.getpeername()[1]
    with Path("/proc/net/tcp").open(encoding="ascii") as table:
        rows = [line.split() for line in list(table)[1:]]
    wanted = f":{theirs:04X}", f":{ours:04X}"
    (inode,) = [row[9] for row in rows if row[1].endswith(wanted[0]) and row[2].endswith(wanted[1])]
    for pid in pids:
        links = [str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
        if f"socket:[{inode}]" in links:
            return pid
    raise AssertionError("no worker holds the connection")


def test_one_process_reloads_too(tmp_path):
    rules = tmp_path / "mine.yaml"
    rules.write_text("fields: {total: {label: total}}")
    with serving(rules=(rules,)) as found:
        assert list(found.decode(LINES[0]).json()["fields"]) == ["total"]
        rules.write_text("fields: {total: {label: total}}\nrules: [total ==]")
        found.process.send_signal(signal.SIGHUP)
        assert "line 2" in found.wait_for("reload refused")["detail"]
        assert list(found.decode(LINES[0]).json()["fields"]) == ["total"]
        rules.write_text("fields: {sum: {label: total}}")
        found.process.send_signal(signal.SIGHUP)
        found.wait_for("reload")
        assert list(found.decode(LINES[0]).json()["fields"]) == ["sum"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "refusing to listen at 0.0.0.0 without a token"),  # noqa: S104
        (["--token-file", "/nonexistent"], "cannot read the token file"),
        (["--allow-origin", "*"], "--allow-origin * lets every web page in: it needs a token"),
        (["--seconds", "0"], "--seconds is 0, expected a number above 0"),
        (["--workers", "1000"], "--workers is 1000, expected at most 64"),
        (["--rules", "a/b=x.yaml"], "'a/b' is no name for rules"),
        (["--rules", f"receipt={RULES}"], "there are rules of the name 'receipt' already"),
        (["--rules", "x=missing.yaml"], "cannot read rule file missing.yaml"),
        (["--port", "99999"], "cannot listen at 127.0.0.1, port 99999"),
    ],
)
def test_a_service_that_cannot_start_says_why(options, said, monkeypatch):
    monkeypatch.delenv("LAWFUL_TOKEN", raising=False)
    found = run("serve", "--port", "0", "--rules", f"receipt={RULES}", *options)
    assert found.returncode == 2
    assert said in " ".join(found.stderr.split())


def test_workers_that_cannot_start_say_why_and_end_the_service():
    found = run(
        "serve", "--port", "0", "--rules", f"receipt={RULES}", "--workers", "2", "--model", "./nope"
    )
    assert found.returncode == 1
    records = [json.loads(line) for line in found.stderr.splitlines()]
    unable = [record for record in records if record["event"] == "cannot start"]
    assert 1 <= len(unable) <= 2
    assert {record["detail"] for record in unable} == {"no folder ./nope"}


def test_what_is_no_http_is_a_problem(service):
    answer = exchange(service.port, b"hello\r\n\r\n")
    assert problem_of(answer)["status"] == 400
