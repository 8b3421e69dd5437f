"""A small HTTP server on loopback that answers as it is told, well or badly."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(*texts, usage=True, logprobs=None, **more):
    """A response of chat completions with these texts."""
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    if logprobs is not None:
        choices[0]["logprobs"] = {
            "content": [{"token": token, "logprob": p} for token, p in logprobs]
        }
    found = {"id": "x", "object": "chat.completion", "choices": choices, **more}
    if usage:
        found["usage"] = {"prompt_tokens": 100, "completion_tokens": 10 * len(texts)}
    return found


class Raw:
    """What is sent instead of JSON: a status, headers, a body in parts, with pauses in between."""

    def __init__(self, *parts, status=200, headers=None, length=None, pause=0.0):
        self.parts = [p.encode() if isinstance(p, str) else p for p in parts]
        self.status, self.headers, self.pause = status, headers or {}, pause
        self.length = length  # said, whatever is sent


class Server:
    """The script, and the requests that came; a script is a list, or a function of the body."""

    def __init__(self, script):
        self.script, self.requests, self.headers, self.most, self._now = script, [], [], 0, 0
        self._lock = threading.Lock()

    def answer(self, method, path, body, headers):
        with self._lock:
            self.requests.append(body if method == "POST" else {"GET": path})
            self.headers.append(dict(headers))
            if method == "GET" and not callable(self.script):
                return {"data": [{"id": "tiny"}]}
            if callable(self.script):
                return self.script(body)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    @contextmanager
    def counted(self):
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1


@contextmanager
def serving(script):
    """A server with its ``url``, until the block ends."""
    server = Server(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.respond("GET", None)

        def do_POST(self):
            size = int(self.headers.get("Content-Length") or 0)
            self.respond("POST", json.loads(self.rfile.read(size)))

        def respond(self, method, body):
            with server.counted():
                found = server.answer(method, self.path, body, self.headers)
                raw = found if isinstance(found, Raw) else Raw(json.dumps(found))
                self.send(raw)

        def send(self, raw):
            self.send_response(raw.status)
            length = sum(map(len, raw.parts)) if raw.length is None else raw.length
            self.send_header("Content-Length", str(length))
            for name, value in raw.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for part in raw.parts:
                    time.sleep(raw.pause)
                    self.wfile.write(part)
                    self.wfile.flush()
            except OSError:  # the client went away
                pass
            self.close_connection = length != sum(map(len, raw.parts))

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = False  # closing the server waits for all of them
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
