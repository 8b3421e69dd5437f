"""Examples as modules, and servers for them."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from runpy import run_path
from threading import Thread
from types import SimpleNamespace

import lawful
from tests.helpers import ROOT

PLUGS = ROOT / "examples" / "plugs"

RULES = """
fields:
  net: {label: net, type: money}
  tax: {label: tax, type: money}
  total: {label: total, type: money}
rules: [total == net + tax]
"""

BILL = "Bill 7 Net 48.00 Tax 5.28 Total 53.28 Cash 60.00"

ANSWERS = (
    {"net": 48.0, "tax": 5.28, "total": 60.0},
    {"net": 48.0, "tax": 5.28, "total": 60.0},
    {"net": 53.28, "tax": 5.28, "total": 53.28},
)
"""No answer obeys the rules; the net of one and the total of another do."""

RIGHT = {"net": 48, "tax": 5.28, "total": 53.28}


def plug(name):
    """The names of an example."""
    return SimpleNamespace(**run_path(str(PLUGS / f"{name}.py")))


def bill_rules():
    """The rules of the bill."""
    return lawful.Rules(
        [lawful.Field(name, name, type="money") for name in RIGHT], ["total == net + tax"]
    )


def amounts(decoding):
    """The values of a decoding as numbers."""
    return {name: float(decoding.values(name)[0]) for name in RIGHT}


@contextmanager
def served(answer):
    """A server on loopback that answers JSON: yields its address, and what it is asked.

    ``answer`` is called with method and path, and the body.
    """
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            asked.append((f"{self.command} {self.path}", body))
            found = answer(asked[-1][0], body)
            data = json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = handle_any  # noqa: N815 - as the library calls them

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
