"""Options in groups: a command takes a group as one parameter, which has one option per field.

A group is ``DecodeOptions``, which HTTP has, too, or a dataclass. The options of that are made by
``option``, or annotated as parameters of commands are; other fields keep their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass, replace
from functools import wraps
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import typer
from msgspec import Meta
from msgspec.structs import replace as replace_struct

from lawful.base.options import OPTION
from lawful.pipeline.call import DecodeOptions


class Without:
    """In the annotation of a group: the options that a command does not have."""

    def __init__(self, *names: str) -> None:
        self.names = names


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer expects it: options in place of each group.

    The default of such a parameter, or else of its type, has the defaults of its options.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for each in inspect.signature(command, eval_str=True).parameters.values():
        group, *marks = get_args(each.annotation) or (each.annotation,)
        if group is not DecodeOptions and not is_dataclass(group):
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        left_out = [name for mark in marks for name in mark.names]
        defaults = cast(Any, group)() if each.default is each.empty else each.default
        options = [each for each in _options(defaults) if each.name not in left_out]
        groups[each.name] = defaults, [option.name for option in options]
        parameters += options
    if not groups:
        return command

    @wraps(command)
    def whole(**given: Any) -> None:
        for name, (defaults, options) in groups.items():
            change = replace_struct if isinstance(defaults, DecodeOptions) else replace
            given[name] = change(defaults, **{option: given.pop(option) for option in options})
        command(**given)

    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    whole.__annotations__ = {each.name: each.annotation for each in parameters}
    return whole


def _options(defaults: Any) -> list[inspect.Parameter]:
    """The options of a group."""
    types = get_type_hints(type(defaults), include_extras=True)
    if isinstance(defaults, DecodeOptions):
        found = {name: _described(name, type_) for name, type_ in types.items()}
    else:
        own = fields(defaults)
        found = {each.name: _annotated(each, types[each.name], defaults) for each in own}
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=type_
        )
        for name, type_ in found.items()
        if get_origin(type_) is Annotated
    ]


def _annotated(each: Field[Any], type_: Any, group: Any) -> Any:
    """The type with its option, if it is one, on the part of the help page that its group names."""
    if OPTION not in each.metadata:
        return type_
    names, how = each.metadata[OPTION]
    panel = getattr(group, "PANEL", None)
    return Annotated[type_, typer.Option(*names, **{"rich_help_panel": panel, **how})]


def _described(name: str, type_: Any) -> Any:
    """An option of ``DecodeOptions``, which describes it."""
    meta: Meta = type_.__metadata__[0]
    extra = meta.extra or {}
    names = f"--{name.replace('_', '-')}", extra["short"]
    info = typer.Option(
        *filter(None, names), metavar=extra["metavar"] or "", help=meta.description,
        rich_help_panel="Decoding",
    )  # fmt: skip
    return Annotated[type_.__origin__, info]
