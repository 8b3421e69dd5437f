"""The receipt tagger that comes with the package, and rules for its fields.

``lawful extract`` uses both by default, and ``lawful demo`` shows their results.
"""

from __future__ import annotations

from pathlib import Path

_DEMO = Path(__file__).parent.parent / "demo"

MODEL = _DEMO / "model"
"""A small tagger in ONNX, trained on generated receipts."""

RULES = _DEMO / "rules.yaml"
"""The arithmetic of receipts; about 72 % of the generated pages obey all rules."""
