"""Imports of optional packages; if one is missing, the error names its extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lawful.base.errors import MissingExtraError

_EXTRAS = {
    "torch": "train",
    "transformers": "train",
    "safetensors.torch": "train",
    "tokenizers": "onnx",
    "onnxruntime": "onnx",
    "onnxruntime.quantization": "train",
    "onnx": "train",
    "onnxscript": "train",
    "pypdfium2": "pdf",
    "PIL.Image": "pdf",
    "PIL.ImageDraw": "pdf",
    "PIL.ImageFont": "pdf",
    "PIL.ImageOps": "pdf",
    "rapidocr": "ocr",
    "pycrfsuite": "crfsuite",
    "starlette": "server",
    "uvicorn": "server",
    "prometheus_client": "server",
    "pyarrow": "arrow",
    "pandas": "pandas",
    "lawful_models": "extract",
    "httpx": "llm",
    "xlsxwriter": "xlsx",
    "pyarrow.parquet": "arrow",
}

CPU_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
"""Installs torch without CUDA; on Linux, the torch of PyPI brings gigabytes of it."""


def needed(module: str, what: str) -> Any:
    """The imported module; if missing, a ``MissingExtraError`` that names its extra."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        package = {
            "PIL": "Pillow",
            "pycrfsuite": "python-crfsuite",
            "lawful_models": "lawful-models",
            "xlsxwriter": "XlsxWriter",
        }.get(name, name)
        first = f"; on a machine without a GPU, first {CPU_TORCH}" if package == "torch" else ""
        raise MissingExtraError(
            f"{what} needs {package}: install the {_EXTRAS[module]!r} extra{first} ({error})"
        ) from None
