"""The receipt tagger that comes with the package, and rules for the fields that it finds.

``lawful extract`` uses both unless others are named; ``lawful demo`` shows them at work.
"""

from __future__ import annotations

from pathlib import Path

_DEMO = Path(__file__).parent.parent / "demo"

MODEL = _DEMO / "model"
"""A small tagger that was trained on generated receipts; onnxruntime runs it."""

RULES = _DEMO / "rules.yaml"
"""The arithmetic of receipts, which about 72 % of the generated pages obey in full."""
