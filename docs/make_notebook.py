"""Makes the notebook from ``examples/notebook.py``, and executes it.

python docs/make_notebook.py          # execute, and write docs/notebook.ipynb
python docs/make_notebook.py --check  # execute only; complain if the file differs
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "notebook.py"
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def cells(script: str) -> list[tuple[str, str]]:
    """The cells of a script, each as its kind, ``markdown`` or ``code``, and its text."""
    found = []
    for kind, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", script, re.M | re.S):
        source = text.strip("\n")
        if kind:
            source = re.sub(r"^# ?", "", source, flags=re.MULTILINE)
        found.append(("markdown" if kind else "code", source))
    return found


def main() -> None:
    """Executes the notebook, and writes or checks it."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.v4.new_notebook()
    made.metadata["language_info"] = {"name": "python"}
    for number, (kind, source) in enumerate(cells(SCRIPT.read_text(encoding="utf-8"))):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        made.cells.append(make(source, id=f"cell-{number}"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made.metadata["kernelspec"] = kernel
    NotebookClient(made, timeout=600, kernel_name="python3").execute()
    if "--check" in sys.argv[1:]:
        kept = nbformat.read(NOTEBOOK, as_version=4)
        if [cell.source for cell in kept.cells] != [cell.source for cell in made.cells]:
            sys.exit(f"{NOTEBOOK} is not made from {SCRIPT}: python docs/make_notebook.py")
        _compare_texts(kept, made)
        return
    for cell in made.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data.pop("text/plain", None)  # which names files of this machine
    nbformat.write(made, NOTEBOOK)


def _compare_texts(kept: Any, made: Any) -> None:
    """Complains about printed texts that are no longer those of the file."""
    for old, new in zip(kept.cells, made.cells, strict=True):
        texts = [
            "".join(out.text for out in cell.get("outputs", ()) if out.output_type == "stream")
            for cell in (old, new)
        ]
        if texts[0] != texts[1]:
            sys.exit(f"{NOTEBOOK} prints {texts[0]!r}, now {texts[1]!r}: python {__file__}")


if __name__ == "__main__":
    main()
