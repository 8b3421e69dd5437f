"""Samples: objects as in JSON without their nesting, or the answers of language models as texts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any, TypeAlias

from lawful.base.errors import InputError, shown
from lawful.candidates.answers import read_answer

Path: TypeAlias = tuple[str, ...]
"""The names that lead to a value: ``("total",)``, ``("seller", "name")``, ``("lines", "sum")``."""

Texts: TypeAlias = dict[Path, str]
"""The texts of one object without its lists, by path."""

MAX_DIGITS = 30  # of a number before its decimals
DEEPEST = 8


def text_of(value: Any, where: str) -> str | None:
    """A value of JSON as text, which its type reads as this value; ``None`` if it is missing."""
    match value:
        case None:
            return None
        case str():
            return value.strip() or None
        case bool():
            return "true" if value else "false"
        case int() | float() if abs(value) < 10**MAX_DIGITS:
            return _number(Decimal(str(value)))
        case Decimal() if value.is_finite() and abs(value.adjusted()) < MAX_DIGITS:
            return _number(value)
        case date():
            return value.isoformat()
    raise InputError(f"{where} is {shown(value)}, expected a text, a number or null")


def _number(value: Decimal) -> str:
    """A number as text. Three decimals would look like thousands, so they become four."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    decimals = len(text.partition(".")[2])
    return f"{text}0" if decimals == 3 else text


@dataclass(frozen=True, slots=True)
class Sample:
    """An object without its nesting: texts by path, and for each list its items, by path."""

    texts: Texts
    lists: Mapping[Path, list[Texts]]  # an item that is no object has the empty path
    nulls: frozenset[Path] | None = None  # of an answer that was cut off, what it said is missing

    @classmethod
    def of(cls, given: Any, where: str, *, cut: bool = False) -> Sample:
        given = as_mapping(given)
        if not isinstance(given, Mapping):
            raise InputError(f"{where} is {shown(given)}, expected an object")
        lists: dict[Path, list[Texts]] = {}
        nulls: set[Path] = set()
        texts = _flatten(given, (), where, lists, nulls)
        return cls(texts, lists, frozenset(nulls) if cut else None)

    def silent(self, path: Path) -> bool:
        """Whether the answer ended before it came to a value."""
        return self.nulls is not None and path not in self.texts and path not in self.nulls

    @property
    def key(self) -> Hashable:
        """Equal for equal samples."""
        lists = ((p, tuple(map(_frozen, rows))) for p, rows in self.lists.items())
        return _frozen(self.texts), frozenset(lists)


def as_mapping(given: Any) -> Any:
    """An object of Pydantic or a dataclass as a mapping; anything else as it is."""
    if hasattr(given, "model_dump"):
        return given.model_dump()
    return asdict(given) if is_dataclass(given) and not isinstance(given, type) else given


def read_samples(given: Sequence[Any], name: str) -> tuple[dict[int, Sample], tuple[str, ...]]:
    """By number, the samples that can be read; and why others cannot."""
    kept: dict[int, Sample] = {}
    failed = []
    for i, each in enumerate(given):
        where = f"{name} {i}"
        if not (each is None or isinstance(each, str | bytes | BaseException)):
            kept[i] = Sample.of(each, where)
            continue
        answer = read_answer(each)
        alone = isinstance(answer.value, list) and len(answer.value) == 1
        try:
            if answer.problem:
                raise InputError(f"{where}: {answer.problem}")
            value = answer.value[0] if alone else answer.value
            kept[i] = Sample.of(value, where, cut=answer.cut)
        except InputError as error:
            failed.append(str(error))
    return kept, tuple(failed)


def listed_alike(samples: Sequence[Sample]) -> list[Sample]:
    """The samples; what is a list in some of them is one in all, if need be of one item."""
    paths = dict.fromkeys(path for sample in samples for path in sample.lists)
    found = []
    for sample in samples:
        texts, lists = dict(sample.texts), dict(sample.lists)
        for path in paths:
            inside = [each for each in texts if each[: len(path)] == path]
            if inside:
                item = {each[len(path) :]: texts.pop(each) for each in inside}
                lists[path] = [*lists.get(path, ()), item]
        found.append(Sample(texts, lists, sample.nulls))
    return found


def _frozen(texts: Texts) -> frozenset[tuple[Path, str]]:
    return frozenset(texts.items())


def _flatten(
    given: Mapping[Any, Any],
    path: Path,
    where: str,
    lists: dict[Path, list[Texts]] | None,
    nulls: set[Path],
) -> Texts:
    """The texts below an object, by path; lists go into ``lists``, unless there can be none."""
    found: Texts = {}
    if len(path) > DEEPEST:
        raise InputError(f"{where}: objects are nested more than {DEEPEST} deep")
    for name, value in given.items():
        here, there = (*path, str(name)), f"{where}: {'.'.join((*path, str(name)))}"
        if isinstance(value, Mapping):
            found |= _flatten(value, here, where, lists, nulls)
        elif isinstance(value, list | tuple):
            if lists is None:
                raise InputError(f"{there} is a list in a list, which cannot be compared")
            lists[here] = [_item(each, f"{there}[{i}]") for i, each in enumerate(value)]
        elif (text := text_of(value, there)) is not None:
            found[here] = text
        else:
            nulls.add(here)
    return found


def _item(value: Any, where: str) -> Texts:
    if isinstance(value, Mapping):
        return _flatten(value, (), where, None, set())
    text = text_of(value, where)
    return {} if text is None else {(): text}
