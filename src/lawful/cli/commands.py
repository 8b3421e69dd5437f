"""Commands and groups of them; a command is imported when it is called or its help is asked for."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from lawful.base.errors import InputError

OUTPUTS = ("out", "review_out", "scored_out")
"""Options that name output files."""


class Command(TyperCommand):
    """A command that never writes over its input; its help page shows flags without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Runs the command, unless its output is one of its input files."""
        outputs = {name: out for name in OUTPUTS if (out := ctx.params.get(name)) is not None}
        for option, out in outputs.items():
            for name, value in ctx.params.items():
                for given in value if isinstance(value, list | tuple) else [value]:
                    if name not in OUTPUTS and _is_same_file(out, given):
                        raise InputError(
                            f"--{option.replace('_', '-')} {out} is the input file {given}: choose "
                            "another name"
                        )
        return super().invoke(ctx)


class Listed(TyperCommand):
    """A command of ``lawful`` that is imported when it is called, or its own help is asked for.

    ``place`` is the module in this folder that has it, and the name of its function if that is
    not ``name``; a group is called ``app``. The list of commands needs its first sentence only.
    """

    def __init__(self, name: str, sentence: str, place: str = "") -> None:
        super().__init__(name, help=sentence)
        self._place = place or name

    @cached_property
    def command(self) -> Any:
        """The command itself."""
        from lawful.cli.groups import with_groups

        module, _, function = self._place.partition(":")
        found = import_module(f"lawful.cli.{module}")
        target = getattr(found, function or (module if hasattr(found, module) else "app"))
        if isinstance(target, typer.Typer):
            return get_group(target)
        alone = typer.Typer(add_completion=False)
        register = alone.command(self.name, cls=Command, epilog=f"Example: {found.EXAMPLE}")
        register(with_groups(target))
        return get_command(alone)

    def make_context(self, *arguments: Any, **how: Any) -> Any:
        """The context in which the command itself runs."""
        return self.command.make_context(*arguments, **how)


class Group(TyperGroup):
    """A group of commands whose help page shows flags without a type."""

    listed: ClassVar[tuple[Listed, ...]] = ()
    """Its commands, before those that are added to it."""

    def __init__(self, *, commands: dict[str, Any], **how: Any) -> None:
        listed = {str(each.name): each for each in self.listed}
        super().__init__(commands=listed | commands, **how)

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


def commands_of(group: Any) -> dict[str, Any]:
    """The commands of a group by name, all imported."""
    return {name: getattr(each, "command", each) for name, each in group.commands.items()}


class FileGroup(Group):
    """A group whose command ``show`` need not be named: ``lawful rules FILE``."""

    unnamed = "show"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Adds that command unless one is named, or help is asked for."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [self.unnamed, *args]
        return super().parse_args(ctx, args)


class ReviewGroup(FileGroup):
    """A group whose command ``open`` need not be named: ``lawful review FILE``."""

    unnamed = "open"


def _is_same_file(out: Any, given: Any) -> bool:
    """Whether two options name one regular file."""
    paths = [Path(each) for each in (out, given) if isinstance(each, str | Path) and each != "-"]
    return len(paths) == 2 and all(map(_is_file, paths)) and paths[0].samefile(paths[1])


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an option that is no path
        return False


def _without_type(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


def flag(*names: str, **how: Any) -> Any:
    """The default of a parameter that is false unless its option, without a value, is given."""
    return typer.Option(False, *names, metavar="", **how)
