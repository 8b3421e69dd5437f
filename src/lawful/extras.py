"""Imports of optional packages; if one is missing, the error names its extra."""

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
    """The imported module; if missing, a ``MissingExtraError`` that names its extra."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{what} needs {package}: install the {_EXTRAS[module]!r} extra ({error})"
        ) from None
