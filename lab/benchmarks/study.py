"""What studies share: their arguments, and the files of their results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fixtures.outputs import require_outputs


class Study(argparse.ArgumentParser):
    """The arguments of a study; exits where its data (or the outputs of models) is not there."""

    def __init__(
        self, doc: str | None = None, *needs: Path, outputs: bool = False, **more: Any
    ) -> None:
        more |= {"description": doc, "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(**more)
        self.needs, self.outputs = needs, outputs

    def parse_args(self, *given: Any, **more: Any) -> Any:
        found = super().parse_args(*given, **more)
        if self.outputs:
            require_outputs(self)
        for path in self.needs:
            if not path.exists():
                self.error(f"needs {path}, which is not part of the project")
        return found


def study(
    doc: str | None, *needs: Path, outputs: bool = False, **options: Any
) -> argparse.Namespace:
    """The arguments of a study whose options have defaults, or a type where there is none.

    ``False`` is a flag, a tuple are the choices, of which the first is the default.
    """
    parser = Study(doc, *needs, outputs=outputs)
    for name, default in options.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, tuple):
            parser.add_argument(flag, choices=default, default=default[0])
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        else:
            kind = Path if isinstance(default, Path) else type(default)
            parser.add_argument(flag, type=kind, default=default, help="default: %(default)s")
    return parser.parse_args()


def numbers(text: str) -> list[int]:
    """Whole numbers, separated by commas."""
    return [int(part) for part in text.split(",")]


def named(made: argparse.ArgumentParser, text: str, known: Sequence[str]) -> list[str]:
    """Some of the known names, separated by commas."""
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        made.error(f"unknown name {unknown[0]!r}; known are {', '.join(known)}")
    return names


def write(file: Path, record: Any) -> None:
    """Writes results as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1))
    print(f"written to {file}")
