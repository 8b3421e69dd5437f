"""The demo's report and review page as static files, to be tried without an installation.

The review page has a recording of the server's answers instead of a server: documents,
alternatives, each of these chosen, and the verdicts about all of them. Other requests are refused,
with the reason.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lawful
from lawful.io.jsonl import encode
from lawful.review import __file__ as review
from lawful.review import desk as desks
from lawful.review.desk import Desk
from lawful.review.documents import Documents
from lawful.review.pictures import Pictures
from lawful.review.serving import open_desk, shared
from lawful.review.store import Store
from lawful.rules.packs import DEMO

COUNT = 12
"""Documents of the recording."""

SHIM = """
const recorded = %s, at = {};
window.fetch = async (path, request = {}) => {
  const name = path.replace("/api/", ""), [, n] = name.split("/");
  const body = request.body ? JSON.parse(request.body) : {};
  const state = body.pins ? JSON.stringify(body.pins) : name.endsWith("/undo") ? "" : at[n] ?? "";
  const key = [name.replace("/pins", ""), state, body.verdict ?? ""].join(" ");
  const known = /pins$|undo$|verdict$/.test(name) ? key.replace("/undo", "") : key;
  const found = recorded[known] ?? (request.method === "POST" ? null : recorded[name + "  "]);
  if (found && request.method === "POST") {
    at[n] = state;
    const queue = recorded["queue  "], done = { accepted: 0, rejected: 0, skipped: 0, null: 0 };
    queue.documents = queue.documents.map((each) => (each.n === found.n ? found.entry : each));
    for (const each of queue.documents) done[each.verdict] += 1;
    Object.assign(queue.progress, { ...done, open: done.null });
  }
  const why = "this page is a recording, without the search; it has the alternatives, and the "
    + "verdicts. Installed, lawful decodes again after every click.";
  return new Response(JSON.stringify(found ?? { title: "Not recorded", detail: why, status: 422 }),
    { status: found ? 200 : 422, headers: { "Content-Type": "application/json" } });
};
"""


def make(out: Path) -> None:
    """Writes ``report.html``, and ``review/``."""
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "lawful", "demo", "--out", str(out / "report.html")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    static, page = Path(review).parent / "static", out / "review"
    shutil.copytree(static, page, dirs_exist_ok=True)
    head = (static / "index.html").read_text(encoding="utf-8").replace('"/review.', '"review.')
    head = head.replace("<script type", '<script src="recorded.js"></script>\n    <script type', 1)
    (page / "index.html").write_text(head.replace(" crossorigin", ""), encoding="utf-8")
    (page / "recorded.js").write_text(SHIM.lstrip() % encode(recorded()).decode(), encoding="utf-8")


def recorded() -> dict[str, Any]:
    """Answers by path, pins and verdict."""
    desks.RANKING = lawful.Budget(seconds=60)  # what is recorded says nothing of this machine
    with TemporaryDirectory() as folder, gzip.open(DEMO / "documents.jsonl.gz", "rt") as lines:
        documents = Path(folder, "documents.jsonl")
        documents.write_text("".join(islice(lines, COUNT)), encoding="utf-8")
        common = shared(lawful.Rules.load(DEMO / "rules.yaml"), "rules")
        store = Store(Path(folder, "reviews.db"))
        with open_desk(Documents.open(str(documents)), store, common, Pictures()) as desk:
            while desk.listing()["decoded"] < COUNT:
                time.sleep(0.05)
            found = {"session  ": desk.session("you"), "queue  ": desk.listing()}
            for n in range(COUNT):
                found |= _of_document(desk, n)
    return found


def _of_document(desk: Desk, n: int) -> dict[str, Any]:
    name, first, more = f"documents/{n}", desk.document(n), desk.alternatives(n)
    found = {f"{name}  ": first, f"{name}/alternatives  ": more}
    for pins in ([], *(each["pins"] for each in more["alternatives"])):
        now = desk.pin(n, desk.document(n)["seq"], pins, "you")
        key = encode(pins).decode()
        found[f"{name} {key} "] = now
        for verdict in ("accepted", "rejected", "skipped"):
            judged = desk.judge(
                n, desk.document(n)["seq"], verdict, "you", confirmed=True, seen=None
            )
            found[f"{name}/verdict {key} {verdict}"] = judged
            if not pins:
                found[f"{name}/verdict  {verdict}"] = judged
    return found
