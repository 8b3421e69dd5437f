"""Questions and their answers on disk: records of runs, their replay, and a cache.

Each keeps the responses of a server by the content of the question. Neither has headers, so none
has a key; images are written as digests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec

from lawful.base.errors import InputError
from lawful.io.atomic import atomic_bytes, make_folder
from lawful.llm.asking import Ask

Responses: TypeAlias = Sequence[Mapping[str, Any]]


class Traffic(Protocol):
    """Something that knows responses, or keeps them."""

    def find(self, key: str) -> Responses | None:
        """The responses to a question, if they are known."""

    def keep(self, key: str, model: str, ask: Ask, responses: Responses) -> None:
        """Keeps the responses to a question."""


class Cache(Traffic):
    """A folder with a file per question; processes may share it."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        make_folder(self._folder)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def find(self, key: str) -> Responses | None:
        try:
            found = msgspec.json.decode(self._path(key).read_bytes(), type=list[dict[str, Any]])
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return None  # a damaged file costs a call, no more
        return found or None

    def keep(self, key: str, model: str, ask: Ask, responses: Responses) -> None:
        path = self._path(key)
        make_folder(path.parent)
        with atomic_bytes(path) as file:
            file.write(msgspec.json.encode(responses))


class Record(Traffic):
    """A file of JSON lines, one per question as it is answered; a run that goes on appends."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._kept: set[str] = set()
        try:
            self._path.touch(mode=0o600)  # it has the texts of documents
            with self._path.open("rb+") as file:  # a killed run may have left part of a line
                file.truncate(file.read().rfind(b"\n") + 1)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
        self._kept = {line["key"] for line in _lines(self._path)}

    def find(self, key: str) -> Responses | None:
        return None

    def keep(self, key: str, model: str, ask: Ask, responses: Responses) -> None:
        if key in self._kept:
            return
        self._kept.add(key)
        line = {"key": key, "request": ask.as_record(model), "responses": responses}
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


class Replay(Traffic):
    """The questions of a record, and nothing else: for runs without a server."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        lines = list(_lines(self.path))
        if not lines:
            raise InputError(f"{path} has no questions, expected a file of --record")
        self._known = {line["key"]: line["responses"] for line in lines}
        self.model = str(lines[0].get("request", {}).get("model", ""))

    def find(self, key: str) -> Responses | None:
        return self._known.get(key)

    def keep(self, key: str, model: str, ask: Ask, responses: Responses) -> None:
        pass


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a record; the last one may be cut off, if the run was killed."""
    try:
        texts = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    for number, text in enumerate(texts[:-1], 1):
        try:
            line = msgspec.json.decode(text, type=dict[str, Any])
            _ = line["key"], line["responses"][0]
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
            raise InputError(
                f"{path}, line {number}: expected an object with key, request and responses, as "
                "--record writes them"
            ) from None
        yield line
