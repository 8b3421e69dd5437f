"""``python -m lab.invoices.bare TOKENIZER FOLDER``: makes windows without building lawful.

For machines with a GPU on which nothing can be installed. Making windows needs of the core only
the lines of a page, and nothing of msgspec: stand-ins take their places.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

MISSING = ("msgspec", "typing_extensions", "lawful_models")

PACKAGES = ("lawful", *(f"lawful.{p}" for p in ("readers", "rules", "results", "pipeline")))
"""Packages of which only some modules are imported, and not what their ``__init__`` imports."""


class _OfNothing(type):
    """Of a class that stands for anything, and does nothing."""

    def __getattr__(cls, name: str) -> Any:
        return _attribute(name)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return type.__call__(cls) if cls is Nothing else type.__call__(cls, *given, **named)

    def __or__(cls, other: Any) -> Any:
        return Nothing

    def __ror__(cls, other: Any) -> Any:
        return Nothing

    def __getitem__(cls, key: Any) -> Any:
        return Nothing


class Nothing(metaclass=_OfNothing):
    """Stands for a class, a function or a value."""

    def __init_subclass__(cls, **named: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return _attribute(name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return Nothing


def _attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing


class StandIn(ModuleType):
    """A module with everything in it."""

    def __getattr__(self, name: str) -> Any:
        return _attribute(name)


class Finder:
    """Finds stand-ins for modules that are not there."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        loader: Any = self
        return (
            ModuleSpec(name, loader, is_package=True) if name.partition(".")[0] in MISSING else None
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def lines(boxes: Any, order: Any, least: float) -> Any:
    """What the core's function of this name does."""
    rows = boxes.tolist()
    lasts: list[tuple[float, float]] = []
    numbers = np.zeros(len(rows), np.int64)
    for i in order.tolist():
        _, top, _, bottom = rows[i]
        best, line = 0.0, len(lasts)
        for n, (start, end) in enumerate(lasts):
            overlap = min(bottom, end) - max(top, start)
            if overlap > 0:
                level = overlap / max(min(bottom - top, end - start), 1e-9)
                if level >= least and level > best:
                    best, line = level, n
        if line == len(lasts):
            lasts.append((top, bottom))
        lasts[line] = top, bottom
        numbers[i] = line
    return numbers


def main() -> None:
    """Puts stand-ins in their places, and makes windows."""
    finder: Any = Finder()
    sys.meta_path.insert(0, finder)
    for name in (*PACKAGES, "lab.receipts"):
        package = ModuleType(name)
        package.__path__ = [f"{'src/' * name.startswith('lawful')}{name.replace('.', '/')}"]
        sys.modules[name] = package
    core: Any = StandIn("lawful._core")
    core.lines = lines
    sys.modules["lawful._core"] = core
    document = importlib.import_module("lawful.documents.document")
    lawful: Any = sys.modules["lawful"]
    lawful.Box, lawful.Document = document.Box, document.Document
    importlib.import_module("lab.invoices.windows").main()


if __name__ == "__main__":
    main()
