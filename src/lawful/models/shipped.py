"""The models of the package lawful-models, and rules for what they read.

``lawful extract`` uses them by default, and ``lawful demo`` shows results of the receipt model.
"""

from __future__ import annotations

from pathlib import Path

from lawful.base.extras import needed
from lawful.models.checkpoint import CARD, CONFIG, read_card
from lawful.rules.packs import PACKS
from lawful.rules.rule_set import Rules

RULES = PACKS["receipt"]
"""The arithmetic of receipts."""

RULES_FILE = "rules.yaml"
"""The rules in the folder of a model that ``lawful teach`` made."""


def rules_for(model: str | Path | None) -> Path:
    """The rules that a model is used with unless others are given."""
    own = None if model is None else Path(model) / RULES_FILE
    return own if own is not None and own.is_file() else RULES


def receipt_model() -> Path:
    """The folder of the receipt model: a tagger in ONNX; a ``MissingExtraError`` without it."""
    return Path(needed("lawful_models", "the receipt model").RECEIPT)


def invoice_model() -> Path:
    """The folder of the invoice model, which also tells kinds of pages apart."""
    return Path(needed("lawful_models", "the invoice model").INVOICE)


def base_named(base: str) -> str:
    """The model to start training from: the folder of a shipped one by ``receipts``, ``invoices``.

    Another name, or a folder with such a name that has a model, is as it was.
    """
    shipped = {"receipts": receipt_model, "invoices": invoice_model}.get(base)
    if shipped is None or any((Path(base) / name).is_file() for name in (CARD, CONFIG)):
        return base
    return str(shipped())


def model_for(rules: Rules) -> Path:
    """The shipped model that knows most labels of the rules; that of receipts if both know some."""
    labels = {f"B-{field.label}" for field in rules.fields}

    def known(folder: Path) -> int:
        card = read_card(folder)
        return len(labels & set(card.labels)) if card else 0

    return max((receipt_model(), invoice_model()), key=known)
