"""The receipt model that comes with the package, and rules for its fields.

``lawful extract`` uses both by default, and ``lawful demo`` shows their results.
"""

from __future__ import annotations

from pathlib import Path

from lawful.packs import PACKS

MODEL = Path(__file__).parent.parent / "receipt_model" / "model"
"""A tagger in ONNX, trained on generated receipts and on CORD."""

RULES = PACKS["receipt"]
"""The arithmetic of receipts."""
