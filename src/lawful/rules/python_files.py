"""Rules in a Python file: the ``Rule`` objects of its module, in order of definition."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from lawful.base.errors import LawfulError, RulesError
from lawful.rules.definitions import Rule


def load_python(path: Path) -> tuple[Rule, ...]:
    """The rules of a Python file, which is executed; a ``RulesError`` if it has none.

    They can be pickled: another process executes the file again.
    """
    found = rules_of(path.absolute())
    if not found:
        raise RulesError(
            f"{path.absolute()}: no rules; make a function a rule with @lawful.rule(reads=...)"
        )
    return found


def rules_of(path: Path) -> tuple[Rule, ...]:
    """The same, none included."""
    return tuple(
        replace(found, check=FileFunction(path, name)) if callable(found.check) else found
        for name, found in _rules_in(path).items()
    )


@dataclass(frozen=True, slots=True)
class FileFunction:
    """The function of a rule in a Python file."""

    path: Path
    name: str

    def __call__(self, *values: Any) -> Any:
        function = _rules_in(self.path)[self.name].check
        assert callable(function)  # noqa: S101 - of a rule that is a function
        return function(*values)


@cache
def module_of(path: Path) -> ModuleType:
    """The module of a Python file, executed once."""
    module = ModuleType(f"lawful_rules_{path.stem}")
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        sys.modules[module.__name__] = module
        exec(code, module.__dict__)  # noqa: S102 - the user asked for it
    except (Exception, SystemExit) as error:
        raise _failure(error, path) from error
    return module


@cache
def _rules_in(path: Path) -> Mapping[str, Rule]:
    """The rules of a file by name; by the first one, if a rule has several."""
    module = module_of(path)
    names: dict[int, str] = {}
    for name, found in vars(module).items():
        if isinstance(found, Rule):
            names.setdefault(id(found), name)
    return {name: vars(module)[name] for name in names.values()}


def _failure(error: BaseException, path: Path) -> RulesError:
    """The error of a file that cannot be read or executed, with the line that failed."""
    if isinstance(error, OSError) and str(error.filename) == str(path):
        return RulesError(f"cannot read {path}: {error.strerror}")
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return RulesError(f"{path}, line {error.lineno}: {error.msg}")
    frames = extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    where = f"{path}, line {lines[-1]}" if lines else str(path)
    name = "" if isinstance(error, LawfulError) else f"{type(error).__name__}: "
    return RulesError(f"{where}: {name}{error}")
