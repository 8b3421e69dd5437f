"""The building blocks of services, each around a small application."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import socket
import threading
from time import monotonic

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from lawful.base.errors import InputError
from lawful.server import connections
from lawful.server.body_limits import BodyLimit, BodyLimits
from lawful.server.lifecycle import Drain, Draining, bind, run_app
from lawful.server.logs import JsonLines
from lawful.server.problems import HANDLERS, HttpProblem, Problems
from lawful.server.security import BearerToken, HostCheck, check_address, find_token, host_name
from lawful.server.supervisor import Worker
from lawful.server.worker_pool import SMALL, WorkerPool
from tests.server.raw import answer_of, connect, exchange, head, problem_of, rest_of, status_of

TOKEN = "a-token-of-24-characters"  # noqa: S105 - of tests
TEXT = "Invoice of Mrs Miller"


async def echo(request: Request):
    return PlainTextResponse(str(len(await request.body())))


async def broken(_: Request):
    raise KeyError(TEXT)


async def refused(_: Request):
    raise HttpProblem(422, "no such thing", line=3, column=None)


async def half(_: Request):
    async def parts():
        yield b"first"
        raise ValueError(TEXT)

    return StreamingResponse(parts())


def application():
    routes = [Route("/echo", echo, methods=["POST"])]
    routes += [Route(f"/{made.__name__}", made) for made in (broken, refused, half)]
    return Starlette(routes=routes, exception_handlers=HANDLERS)


def ask(app, method, path, **more):
    async def asked():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, **more)

    return asyncio.run(asked())


@pytest.fixture
def port():
    """The port of a server in a thread, with limits of 1,000 bytes and half a second."""
    drain = Drain(1.0)
    app = Problems(Draining(BodyLimit(application(), BodyLimits(1000, 0.5)), drain))
    listener, servers, started = bind("127.0.0.1", 0), [], threading.Event()

    def start(server):
        servers.append(server)
        started.set()

    thread = threading.Thread(
        target=run_app, args=(app, listener, drain), kwargs={"on_start": start}
    )
    thread.start()
    assert started.wait(30)
    yield listener.getsockname()[1]
    servers[0].should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def test_problems_say_what_is_wrong():
    found = ask(Problems(application()), "GET", "/refused")
    assert found.status_code == 422
    assert found.headers["content-type"] == "application/problem+json"
    assert found.json() == {
        "type": "about:blank", "title": "Unprocessable Entity", "status": 422,
        "detail": "no such thing", "line": 3,
    }  # fmt: skip


@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/echo", 405)])
def test_what_the_framework_refuses_is_a_problem_too(path, status):
    found = ask(Problems(application()), "GET", path)
    assert found.json()["status"] == found.status_code == status


def test_an_unexpected_exception_is_logged_by_type_and_place_without_its_message(caplog):
    with caplog.at_level(logging.INFO, "lawful.server"):
        found = ask(Problems(application()), "GET", "/broken")
    assert found.status_code == 500
    (record,) = caplog.records
    line = json.loads(JsonLines().format(record))
    assert line["error"] == "KeyError"
    assert "test_blocks.py" in line["at"][-1]
    assert TEXT not in found.text + str(line)


def test_an_answer_that_breaks_off_is_cut_off(port):
    answer = exchange(port, head("GET", "/half"))
    assert status_of(answer) == 200
    assert b"first" in answer
    assert not answer.endswith(b"0\r\n\r\n")  # so the client knows that it is not whole


@pytest.mark.parametrize(
    "given", [None, f"Basic {TOKEN}", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x"]
)
def test_a_wrong_token_is_refused(given):
    app = Problems(BearerToken(application(), TOKEN, ["/refused"]))
    found = ask(app, "POST", "/echo", headers={} if given is None else {"Authorization": given})
    assert found.status_code == 401
    assert found.headers["www-authenticate"] == "Bearer"
    assert ask(app, "GET", "/refused").status_code == 422  # an open path


def test_the_right_token_is_accepted():
    app = Problems(BearerToken(application(), TOKEN))
    assert ask(app, "POST", "/echo", headers={"Authorization": f"bearer {TOKEN}"}).text == "0"
    twice = [("Authorization", f"Bearer {TOKEN}")] * 2
    assert ask(app, "POST", "/echo", headers=twice).status_code == 401


def test_tokens_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("LAWFUL_TOKEN", raising=False)
    assert find_token(None) is None
    monkeypatch.setenv("LAWFUL_TOKEN", TOKEN)
    assert find_token(None) == TOKEN
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}-of-a-file\n")
    assert find_token(file) == f"{TOKEN}-of-a-file"
    for wrong in (b"short", b"", b"\xff" * 20, "Schlüssel-mit-Umlaut".encode()):
        file.write_bytes(wrong)
        with pytest.raises(InputError, match="token"):
            find_token(file)
    with pytest.raises(InputError, match="cannot read the token file"):
        find_token(tmp_path / "missing")


def test_nobody_listens_beyond_loopback_without_a_token():
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        check_address(host, None)
    for host in ("0.0.0.0", "::", "192.168.1.4", "example.org", ""):  # noqa: S104 - refused
        check_address(host, TOKEN)
        with pytest.raises(InputError, match="refusing to listen"):
            check_address(host, None)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (b"LocalHost:80", "localhost"),
        (b"[::1]:8000", "[::1]"),
        (b"[::1]", "[::1]"),
        (b"evil.example", "evil.example"),
        (b"127.0.0.1:80@evil.example", "127.0.0.1:80@evil.example"),
    ],
)
def test_host_headers(header, name):
    assert host_name(header) == name


def test_a_foreign_host_is_refused():
    app = Problems(HostCheck(application(), ["localhost"], ["/echo"]))
    assert ask(app, "GET", "/refused", headers={"Host": "localhost:99"}).status_code == 422
    assert ask(app, "GET", "/refused", headers={"Host": "evil.example"}).status_code == 421
    assert ask(app, "POST", "/echo", headers={"Host": "evil.example"}).status_code == 200


def chunks(*parts):
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


CHUNKED = head("POST", "/echo", "Transfer-Encoding: chunked")


def test_bodies_are_counted_as_they_come(port):
    close = "Connection: close"
    assert exchange(
        port, head("POST", "/echo", "Content-Length: 1000", close) + b"x" * 1000
    ).endswith(b"1000")
    assert status_of(exchange(port, head("POST", "/echo", "Content-Length: 1001"))) == 413
    whole = head("POST", "/echo", "Transfer-Encoding: chunked", close)
    assert status_of(exchange(port, whole + chunks(b"x" * 1000, b""))) == 200
    answer = exchange(port, CHUNKED + chunks(b"x" * 600, b"x" * 600))
    assert (
        problem_of(answer)["detail"] == "the body has more than 1,000 bytes, which is the maximum"
    )


def test_a_client_that_goes_on_sending_can_read_the_refusal(port, monkeypatch):
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.5)
    with connect(port) as connection:
        connection.sendall(CHUNKED + chunks(b"x" * 2000))
        answer = answer_of(connection)
        assert status_of(answer) == 413
        closed = False
        for _ in range(1000):
            try:
                connection.sendall(chunks(b"x" * 500))
            except OSError:
                closed = True  # in the end, it is not read any more
                break
            threading.Event().wait(0.02)
        assert closed


def test_a_connection_outlives_a_refused_body(port):
    with connect(port) as connection:
        connection.sendall(CHUNKED + chunks(b"x" * 2000))
        assert status_of(answer_of(connection)) == 413
        connection.sendall(chunks(b"") + head("GET", "/refused"))
        assert status_of(answer_of(connection)) == 422
        # The end of that body and the next request came together, and the limit for it stayed.
        threading.Event().wait(1.2 * connections.LINGER_SECONDS)
        connection.sendall(head("GET", "/refused"))
        assert status_of(answer_of(connection)) == 422


def test_a_slow_body_is_given_up(port):
    with connect(port) as connection:
        connection.sendall(head("POST", "/echo", "Content-Length: 10") + b"x")
        answer = rest_of(connection)
    assert problem_of(answer)["detail"].startswith("the body did not come within 0.5 seconds")
    assert status_of(answer) == 408


def test_slow_headers_are_given_up(port, monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    with connect(port) as idle:
        assert rest_of(idle) == b""
    with connect(port) as slow:
        slow.sendall(b"GET /refused HTTP/1.1\r\nHo")
        assert status_of(rest_of(slow)) == 408
    with connect(port) as second:  # of a connection that is kept open
        second.sendall(head("GET", "/refused"))
        first = answer_of(second)
        assert status_of(first) == 422
        second.sendall(b"GET /refu")
        assert status_of(rest_of(second)) == 408


def test_a_client_that_has_closed_its_side_gets_its_answer(port):
    with connect(port) as connection:
        connection.sendall(head("POST", "/echo", "Content-Length: 3") + b"abc")
        connection.shutdown(socket.SHUT_WR)
        assert rest_of(connection).endswith(b"\r\n\r\n3")
    with connect(port) as connection:
        connection.sendall(head("POST", "/echo", "Content-Length: 3") + b"ab")
        connection.shutdown(socket.SHUT_WR)
        assert rest_of(connection) == b""  # nothing is decoded of a part


@pytest.mark.parametrize(
    "request_",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET /refused\r\n\r\n",
        b"GET /refused HTTP/1.1\r\n\r\n",  # no Host
        head("POST", "/echo", "Content-Length: 3", "Content-Length: 4"),
        head("POST", "/echo", "Content-Length: -1"),
        head("POST", "/echo", "Content-Length: 3", "Transfer-Encoding: chunked"),
        head("POST", "/echo", "Transfer-Encoding: xchunked") + b"0\r\n\r\n",
        head("POST", "/echo", "Transfer-Encoding : chunked") + b"0\r\n\r\n",
        head("POST", "/echo", "Transfer-Encoding: chunked") + b"-5\r\nhello\r\n0\r\n\r\n",
        head("GET", "/refused", "X: " + "y" * 70_000),
        head("GET", "/refused", *(f"X-{i}: y" for i in range(7000))),
    ],
)
def test_bad_framing_is_refused_and_the_connection_closed(port, request_):
    answer = exchange(port, request_)
    assert problem_of(answer)["status"] == status_of(answer)
    assert status_of(answer) == (431 if len(request_) > 10_000 else 400)


def test_too_many_connections_are_refused(port, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    with connect(port) as first, connect(port):
        first.sendall(head("GET", "/refused"))
        assert status_of(answer_of(first)) == 422
        answer = exchange(port, b"")
        assert status_of(answer) == 503
        assert b"retry-after: 1" in answer.lower()


def test_answers_do_not_wait_for_acknowledgements():
    """The listener did not say that it is TCP, so that Nagle's algorithm stayed on: 40 ms each."""

    async def accept():
        found = asyncio.get_running_loop().create_future()
        with bind("127.0.0.1", 0) as listener:
            server = await asyncio.start_server(lambda _, w: found.set_result(w), sock=listener)
            async with server:
                _, client = await asyncio.open_connection(*listener.getsockname())
                writer = await found
                accepted = writer.get_extra_info("socket")
                nodelay = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                for each in (client, writer):
                    each.close()
                    await each.wait_closed()
                return nodelay

    assert asyncio.run(accept())


def test_an_address_that_is_taken_is_said():
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen at 127.0.0.1, port {port}"):
            bind("127.0.0.1", port)
    with pytest.raises(InputError, match="port 99999"):
        bind("127.0.0.1", 99999)


def test_rules_are_given_to_a_worker_that_does_not_read():
    """More than a pipe holds; the worker gets the newest, once it reads."""
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        worker = Worker(None, ours)
        began = monotonic()
        for text in ("first", "second", "third"):
            worker.give(text * 10**6)
        assert monotonic() - began < 5
        for _ in range(3):
            last = theirs.recv()
        assert last.startswith("third")


def test_small_work_does_not_wait_for_large_work():
    """A small page waited until eight large ones before it had ended."""

    async def play():
        pool, go = WorkerPool(3, 4), threading.Event()
        large = [asyncio.create_task(pool.run(go.wait, SMALL + 1)) for _ in range(4)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(pool.run(lambda: "small", SMALL), 30) == "small"
        assert not any(task.done() for task in large)
        assert pool.waiting == 2
        pool.check(SMALL + 1)
        large += [asyncio.create_task(pool.run(go.wait, SMALL + 1)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(HttpProblem, match="4 requests wait already"):
            pool.check(SMALL + 1)
        pool.check(SMALL)
        large.pop().cancel()  # while it waits: its place is nobody's
        go.set()
        assert await asyncio.gather(*large) == [True] * 5
        assert pool.waiting == 0

    asyncio.run(play())


def test_one_place_is_for_all_work():
    async def play():
        pool = WorkerPool(1, 4)
        assert await asyncio.gather(pool.run(lambda: 1, 2 * SMALL), pool.run(lambda: 2)) == [1, 2]

    asyncio.run(play())
