"""HTTP by hand: requests that no client library would send."""

from __future__ import annotations

import json
import socket


def connect(port):
    """A connection to the service; reading from it fails after a minute."""
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def head(method, path, *headers, host="127.0.0.1"):
    """The head of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def rest_of(connection):
    """Everything until the service closes the connection."""
    found = b""
    while part := connection.recv(2**16):
        found += part
    return found


def answer_of(connection):
    """One answer with a Content-Length, of a connection that stays open."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += connection.recv(2**16)
    first, _, body = found.partition(b"\r\n\r\n")
    length = int(first.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(2**16)
    return first + b"\r\n\r\n" + body


def exchange(port, request):
    """What the service answers to these bytes, until it closes the connection."""
    with connect(port) as connection:
        connection.sendall(request)
        return rest_of(connection)


def status_of(answer):
    """The status code of an answer."""
    return int(answer.split(b" ", 2)[1])


def problem_of(answer):
    """The problem that an answer tells."""
    first, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in first.lower()
    return json.loads(body)
