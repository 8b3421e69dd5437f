"""Options in groups: a command takes a group as one parameter, which has one option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer
from msgspec import Meta

from lawful.pipeline.call import DecodeOptions

DEFAULTS = DecodeOptions()


class Without:
    """In the annotation of a group: the options that a command does not have."""

    def __init__(self, *names: str) -> None:
        self.names = names


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer expects it: options in place of each ``DecodeOptions``.

    The default of such a parameter has the defaults of its options.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, list[str]] = {}
    for each in inspect.signature(command, eval_str=True).parameters.values():
        group, *marks = get_args(each.annotation) or (each.annotation,)
        if group is not DecodeOptions:
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        left_out = [name for mark in marks for name in mark.names]
        options = [each for each in _options(each.default) if each.name not in left_out]
        groups[each.name] = [option.name for option in options]
        parameters += options
    if not groups:
        return command

    @wraps(command)
    def whole(**given: Any) -> None:
        for name, options in groups.items():
            given[name] = DecodeOptions(**{option: given.pop(option) for option in options})
        command(**given)

    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {each.name: each.annotation for each in parameters}
    return whole


def _options(defaults: DecodeOptions) -> list[inspect.Parameter]:
    """The options of decoding, described as in ``DecodeOptions``."""
    types = get_type_hints(DecodeOptions)
    described = get_type_hints(DecodeOptions, include_extras=True)
    found = []
    for name, type_ in types.items():
        meta: Meta = described[name].__metadata__[0]
        extra = meta.extra or {}
        names = f"--{name.replace('_', '-')}", extra["short"]
        option = typer.Option(
            *filter(None, names), metavar=extra["metavar"] or "", help=meta.description,
            rich_help_panel="Decoding",
        )  # fmt: skip
        kind, default = inspect.Parameter.KEYWORD_ONLY, getattr(defaults, name)
        annotation = Annotated[type_, option]  # type: ignore[valid-type]
        found.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    return found
