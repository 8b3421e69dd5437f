"""Tokenizers of transformers, from a folder or the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawful.errors import InputError
from lawful.models.extras import needed


def check_source(source: str | Path) -> None:
    """Raises an ``InputError`` if the path is missing and cannot be a name on the hub."""
    text = str(source)
    if not Path(source).exists() and (text.startswith((".", "/", "~")) or text.count("/") > 1):
        raise InputError(f"no folder {source}")


def load_tokenizer(source: str | Path) -> Any:
    """The fast tokenizer of the one that ``AutoTokenizer`` loads."""
    transformers = needed("transformers", "loading a pretrained tokenizer")
    check_source(source)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(source))
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise InputError(f"cannot load a tokenizer from {source}: {first}") from None
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
