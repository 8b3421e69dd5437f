"""The list of pages, links between pages, public names, and pictures."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache

import pytest

import lawful
from tests.docs.pages import DOCS, PAGES
from tests.helpers import ROOT

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    listed = [line for tree in trees for line in tree.split("\n\n", 1)[1].split()]
    elsewhere = "outside/rules-in-the-search"  # Sphinx has a search.html of its own
    assert elsewhere in listed
    inside = [name for name in listed if not name.startswith("outside/") and name != "notebook"]
    inside.append("search")
    pages = {page.stem for page in DOCS} - {"index"}
    assert set(inside) == pages, "docs/index.md lists each page, with a link and in a toctree"
    assert len(set(listed)) == len(listed)
    linked = {link.partition("#")[0] for link in LINK.findall(index)}
    assert {f"{name}.md" for name in inside} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for link in LINK.findall(re.sub(r"`[^`]*`", "", prose(page))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def prose(page):
    """A page without its code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return set(found)


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^\.\. (?:auto\w+|py:data):: lawful\.(\w+)$", text, re.MULTILINE)
    assert sorted(names) == sorted(lawful.__all__), "docs/api.md lists each public name once"
    names = re.findall(r"^\.\. (?:auto\w+|py:data):: lawful\.(\w+\.\w+)$", text, re.MULTILINE)
    further = {name: getattr(lawful, name).__all__ for name in lawful.SUBMODULES}
    listed = [f"{name}.{n}" for name in further for n in further[name] if n not in lawful.__all__]
    assert sorted(names) == sorted(listed), "docs/api.md lists each name of a public module once"


def test_the_reference_of_commands_is_what_they_say():
    """Run ``python docs/make_cli.py``. In a process of its own: ``lab`` adds names to the help."""
    command = [sys.executable, str(ROOT / "docs" / "make_cli.py"), "--check"]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


def test_pictures_are_as_they_are_drawn_today():
    """Run ``python docs/pictures/draw.py`` if the library's answers have changed."""
    folder = ROOT / "docs" / "pictures"
    drawn = dict(runpy.run_path(str(folder / "draw.py"))["pictures"]())
    measured = {"risk.svg", "teach.svg"}  # drawn by lab.benchmarks
    assert set(drawn) | measured == {path.name for path in folder.glob("*.svg")}
    for name, picture in drawn.items():
        assert (folder / name).read_text(encoding="utf-8") == picture
        root = ET.fromstring(picture)  # noqa: S314 - our own file
        assert root.get("aria-label")


def test_the_notebook_is_made_from_the_script():
    """Run ``python docs/make_notebook.py``; ``make docs`` also executes it."""
    maker = runpy.run_path(str(ROOT / "docs" / "make_notebook.py"))
    kept = json.loads(maker["NOTEBOOK"].read_text(encoding="utf-8"))["cells"]
    made = maker["cells"](maker["SCRIPT"].read_text(encoding="utf-8"))
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in kept] == made
    shown = [cell["outputs"] for cell in kept if cell["cell_type"] == "code"]
    assert sum("text/html" in out.get("data", {}) for each in shown for out in each) == 4
