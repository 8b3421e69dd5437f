"""Models and tokenizers of transformers, from a folder or the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.models.checkpoint import CONFIG, first_line


def check_source(source: str | Path) -> None:
    """Raises an ``InputError`` if the path is missing and cannot be a name on the hub."""
    text = str(source)
    if not Path(source).exists() and (text.startswith((".", "/", "~")) or text.count("/") > 1):
        raise InputError(f"no folder {source}")


def load(kind: Any, what: str, source: str | Path, **more: Any) -> Any:
    """What ``kind.from_pretrained`` loads from a folder or by name, without running its code.

    A folder is loaded without access to the network, and from files that are inside it.
    """
    check_source(source)
    folder = Path(source)
    is_there = folder.exists()
    if is_there:
        _check_json(folder)
        _check_indices(folder)
    try:
        return kind.from_pretrained(
            str(source), trust_remote_code=False, local_files_only=is_there, **more
        )
    except Exception as error:  # of any library that transformers uses
        why = first_line(error)
        if "trust_remote_code" in str(error):
            why = "it needs Python code of its own, which lawful does not run"
        elif "weights_only" in str(error):
            why = "its weights are a pickle with more than tensors, which could run code"
        where = source if is_there else f"no folder {source}, and from the hub"
        raise InputError(f"cannot load {what}: {where}: {why}") from None


def _check_json(folder: Path) -> None:
    """Raises an ``InputError`` if a file of settings is not a JSON object."""
    for file in (folder / name for name in (CONFIG, "tokenizer_config.json")):
        if not file.is_file():
            continue
        try:
            found = json.loads(file.read_bytes())
        except (ValueError, RecursionError, OSError) as error:
            raise InputError(f"{file}: not JSON: {error}") from None
        if not isinstance(found, dict):
            raise InputError(f"{file}: {type(found).__name__}, expected an object")


def _check_indices(folder: Path) -> None:
    """Raises an ``InputError`` if an index of weights leads out of the folder."""
    root = folder.resolve()
    inside = [root]
    if root.parent.name == "snapshots":  # of the hub's cache, where files are links
        inside.append(root.parent.parent / "blobs")
    for index in sorted(folder.rglob("*.index.json")):
        try:
            names = set(msgspec.json.decode(index.read_bytes(), type=_Index).weight_map.values())
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
            raise InputError(f"{index}: not an index of weights: {error}") from None
        for name in sorted(names):
            try:
                is_inside = any(map((root / name).resolve().is_relative_to, inside))
            except (OSError, ValueError, RuntimeError):  # a NUL, or a link to itself
                is_inside = False
            if not is_inside:
                raise InputError(f"{index}: {name!r} is not in the model's folder")


class _Index(msgspec.Struct):
    """The files of weights that are in several files."""

    weight_map: dict[str, str]


def load_tokenizer(source: str | Path) -> Any:
    """The fast tokenizer of the one that ``AutoTokenizer`` loads."""
    transformers = needed("transformers", "loading a pretrained tokenizer")
    tokenizer = load(transformers.AutoTokenizer, "a tokenizer", source)
    backend = fast(tokenizer, source)
    if set(backend.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise InputError(f"no tokenizer in {source}: its vocabulary is empty")
    return backend


def fast(tokenizer: Any, source: object) -> Any:
    """The tokenizer of the tokenizers library that a tokenizer of transformers wraps."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            f"the tokenizer of {source} is a {type(tokenizer).__name__}, expected a fast "
            "tokenizer: others do not say which word a piece belongs to"
        )
    return backend
