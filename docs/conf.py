"""How Sphinx builds the site from these pages: ``make docs``.

The pages are Markdown that reads well by itself. They link to a few files outside of this folder;
those become pages of the site, too, and links to source files become plain text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import lawful

HERE = Path(__file__).parent
OUTSIDE = {
    "../CHANGELOG.md": "outside/changelog.md",
    "../CONTRIBUTING.md": "outside/contributing.md",
    "../SECURITY.md": "outside/security.md",
    "../cpp/search/README.md": "outside/how-the-search-is-kept-small.md",
    "../cpp/streams/README.md": "outside/how-streams-enumerate.md",
    "../lab/datasets/README.md": "outside/data-sets.md",
    "../lab/paper/README.md": "outside/paper.md",
    "../lab/results/RESULTS.md": "outside/paper-results.md",
    "search.md": "outside/rules-in-the-search.md",  # Sphinx has a search.html of its own
}
"""Files that become pages under other names: as links name them, and the pages."""
for measured in sorted((HERE.parent / "lab" / "results").glob("[a-z]*.md")):
    OUTSIDE[f"../lab/results/{measured.name}"] = f"outside/measured-{measured.name}"

project = "lawful"
author = "the lawful developers"
copyright = author  # noqa: A001  (Sphinx wants this name)
release = version = lawful.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["pictures", "search.md"]
nb_execution_mode = "off"  # the notebook is kept executed: docs/make_notebook.py
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # JSON with an ellipsis is no JSON

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"lawful {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}


def bring_outside_pages(app: Sphinx) -> None:
    """Copies the files of ``OUTSIDE``, with links that hold where they are now."""
    for source, page in OUTSIDE.items():
        path = (HERE / source).resolve()
        folder = path.parent.relative_to(HERE.parent).as_posix()
        text = path.read_text(encoding="utf-8")

        def moved(found: re.Match[str], folder: str = folder) -> str:
            return f"]({_moved(found[1], folder)}"

        text = re.sub(r"\]\((?!https?:|#|mailto:)([^)\s]+)", moved, text)
        target = HERE / page
        target.parent.mkdir(exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def _moved(link: str, folder: str) -> str:
    """A link of a file in ``folder`` of the repository, seen from ``docs/outside``."""
    path = (HERE.parent / folder / link.partition("#")[0]).resolve()
    anchor = link[link.find("#") :] if "#" in link else ""
    for source, page in OUTSIDE.items():
        if path == (HERE / source).resolve():
            return Path(page).name + anchor
    relative = path.relative_to(HERE.parent).as_posix()
    return (
        f"../{relative.removeprefix('docs/')}"
        if relative.startswith("docs/")
        else f"../../{relative}"
    ) + anchor


def link_to_pages(app: Sphinx, name: str, content: list[str]) -> None:
    """Lets links to files elsewhere lead to their pages, and makes text of all others."""

    def replaced(found: re.Match[str]) -> str:
        text, link = found[1], found[2]
        path, _, anchor = link.partition("#")
        if not name.startswith("outside/") and path in OUTSIDE:
            return f"[{text}]({OUTSIDE[path]}{'#' + anchor if anchor else ''})"
        inside = (HERE / name).parent / path
        return found[0] if inside.resolve().is_relative_to(HERE) else text

    pattern = r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s]+)\)"
    content[0] = re.sub(pattern, replaced, content[0])


def add_playground(app: Sphinx, error: Exception | None) -> None:
    """Writes the pages that are no pages of Sphinx: the demo's report and review."""
    if error is None and app.builder.format == "html":
        sys.path.insert(0, str(HERE))
        import playground

        playground.make(Path(app.outdir, "playground"))


def setup(app: Sphinx) -> None:
    """Connects the functions above."""
    app.connect("build-finished", add_playground)
    app.connect("builder-inited", bring_outside_pages)
    app.connect("source-read", link_to_pages)
