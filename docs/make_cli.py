"""Writes the reference of all commands into ``docs/cli.md``, from the commands themselves.

python docs/make_cli.py          # write what stands behind the mark in docs/cli.md
python docs/make_cli.py --check  # only complain if it differs
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from lawful.cli.app import app
from lawful.cli.commands import commands_of

PAGE = Path(__file__).with_name("cli.md")
MARK = "<!-- What follows is made by docs/make_cli.py. -->\n"
SHARED = 2
"""An option that at least so many commands have, with the same words, is described once."""


def commands(group: Any, path: str = "lawful") -> Iterator[tuple[str, Any]]:
    """All commands with their names in full, in the order of the help pages."""
    for name, command in commands_of(group).items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def options(command: Any) -> list[Any]:
    """The options of a command, without ``--help``."""
    return [p for p in command.params if p.param_type_name == "option" and p.name != "help"]


def row(parameter: Any, context: Any) -> tuple[str, str]:
    """The two cells of an option or an argument: how it is written, and what it means."""
    written, text = parameter.get_help_record(context)
    default = r"\s*\[default: (?:\((.*?)\)|([^\];]*))(?:; .*)?\]"
    text = re.sub(default, lambda found: f" Default: {found[1] or found[2]}.", text)
    text = re.sub(r"\s*\[required\]", " Required.", text)
    text = re.sub(r"\s*\[env var: (\w+)\]", r" Environment variable: \1.", text)
    written = re.sub(r" <(list\[)?(str|path|int|float)\]?>$", "", written)
    return f"`{written}`".replace("|", "\\|"), text.replace("|", "\\|").replace("<", "\\<")


def table(head: str, rows: list[tuple[str, str]]) -> list[str]:
    """A table of two columns, or nothing."""
    lines = [f"| {head} | |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows), ""]
    return lines if rows else []


def reference() -> str:
    """The text of all commands, and of the options that many of them share."""
    listed = [(name, each, each.make_context(name, [], resilient_parsing=True))
              for name, each in commands(get_command(app))]  # fmt: skip
    rows = {name: [row(p, context) for p in options(each)] for name, each, context in listed}
    counts = Counter(each for found in rows.values() for each in found)
    frequent = [each for each, count in counts.most_common() if count >= SHARED]
    shared = set({_name(each): each for each in reversed(frequent)}.values())
    lines = ["## Commands", ""]
    for name, each, context in listed:
        arguments = [p for p in each.params if p.param_type_name == "argument"]
        lines += [f"### {name}", "", _sentence(each), "", f"    {_example(each)}", ""]
        own = [row(p, context) for p in arguments]
        lines += table("", own + [found for found in rows[name] if found not in shared])
        if names := [_name(found) for found in rows[name] if found in shared]:
            lines += [f"And [shared options](#shared-options): {', '.join(names)}.", ""]
    lines += ["## Shared options", "", *table("", sorted(shared, key=_name))]
    return "\n".join(lines).rstrip() + "\n"


def _name(written: tuple[str, str]) -> str:
    """The long name of an option, as code."""
    return f"`{re.search(r'--[a-z-]+', written[0])[0]}`"  # type: ignore[index]


def _sentence(command: Any) -> str:
    return " ".join((command.help or "").replace("\b", "").split()).replace("<", "\\<")


def _example(command: Any) -> str:
    return " ".join((command.epilog or "").split()).removeprefix("Example: ")


def main() -> None:
    """Writes the page, or checks it."""
    kept = PAGE.read_text(encoding="utf-8")
    made = kept.partition(MARK)[0] + MARK + "\n" + reference()
    if "--check" in sys.argv[1:]:
        if made != kept:
            sys.exit(f"{PAGE.name} is not what the commands say: python docs/make_cli.py")
    else:
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
