"""The review page of the site: a recording of the server's answers, without a server."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.helpers import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    sys.path.insert(0, str(ROOT / "docs"))
    import playground

    playground.COUNT = 4
    folder = tmp_path_factory.mktemp("site")
    playground.make(folder)
    assert "receipt-00010" in (folder / "report.html").read_text(encoding="utf-8")
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_alternatives_and_verdicts_are_recorded_and_other_pins_are_refused(site, engine):
    page = engine.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{site}review/")
    page.get_by_role("button", name="Take it").first.click()
    page.get_by_text("0 of 4").wait_for()
    undo = page.get_by_role("button", name="Undo")
    page.wait_for_function("e => !e.disabled", arg=undo.element_handle())
    undo.click()
    page.get_by_role("button", name="✓ Accept").click()
    page.get_by_text("1 of 4").wait_for()
    page.keyboard.press("1")
    page.get_by_text("this page is a recording").first.wait_for()
    assert errors == []
    page.close()
