"""docling in: what it read of a file, with its boxes, is read as any file of an OCR engine."""

from pathlib import Path
from typing import Any

import lawful


def extract(converted: Any, path: Path, **how: Any) -> lawful.Decoding:
    """The fields of ``DocumentConverter().convert("x.pdf").document``, kept as ``path``."""
    converted.save_as_json(path)
    return lawful.extract(path, **how)
