"""The heavy packages, imported where they are used, and named with their extra where missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lawful.errors import MissingExtraError

_EXTRAS = {
    "torch": "train",
    "transformers": "train",
    "safetensors.torch": "train",
    "tokenizers": "onnx",
    "onnxruntime": "onnx",
    "onnxruntime.quantization": "train",
    "onnx": "train",
    "onnxscript": "train",
}


def needed(module: str, what: str) -> Any:
    """The module, or a ``MissingExtraError`` that says what needs it and which extra has it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{what} needs {package}: install the {_EXTRAS[module]!r} extra ({error})"
        ) from None
