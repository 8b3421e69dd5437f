"""The hyperparameters of training, which depend on how much there is to learn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lawful.base.errors import InputError

ENOUGH_STEPS = 400
"""The steps that a run has at least by default. The paper's epochs and batch size come to about as
many on CORD; with few documents, they would come to a few dozen, in which nothing is learnt."""

PAPER_EPOCHS, PAPER_BATCH = 20, 32
_MIN_BATCH, _BATCHES = 4, 12  # batches per epoch, unless that makes them too small
_MIN_PATIENCE = 5  # epochs, or a quarter of all


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters of training. ``None`` depends on the size of the training documents.

    With many windows, epochs and batch size are the paper's; with few, batches are smaller and
    epochs more, so that there are ``ENOUGH_STEPS``.

    The paper's learning rate, 0.001, is used for new parameters only (head, boxes, CRF). The
    encoder's rate is ten times lower: at 0.001, pretrained weights are lost.
    """

    epochs: int | None = None  # at most
    batch: int | None = None  # windows per step
    rate: float = 1e-4
    new_rate: float = 1e-3
    warm_up: float = 0.1  # share of steps with rising rates; then the rates fall to zero
    decay: float = 0.01
    patience: int | None = None  # epochs without progress before training stops; see ``Epoch``
    seed: int = 0
    legal: float = 0.0  # weight of the loss term for the probability of illegal transitions

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("patience", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is None and name != "seed":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} is {value!r}, expected a whole number of {least} or more")
        for name, most in (
            ("rate", 1.0), ("new_rate", 1.0), ("warm_up", 1.0), ("decay", 1.0), ("legal", 1e3),
        ):  # fmt: skip
            if not 0 <= getattr(self, name) <= most:
                raise InputError(
                    f"{name} is {getattr(self, name)!r}, expected a number from 0 to {most:g}"
                )

    def filled(self, windows: int) -> Recipe:
        """The same recipe with epochs, batch size and patience for so many windows."""
        batch = self.batch
        if batch is None:
            most = max(_MIN_BATCH, min(PAPER_BATCH, windows // _BATCHES))
            batch = 1 << (most.bit_length() - 1)  # a power of two
        steps = max(1, -(-windows // batch))
        epochs = self.epochs or max(PAPER_EPOCHS, -(-ENOUGH_STEPS // steps))
        patience = self.patience or max(_MIN_PATIENCE, epochs // 4)
        return replace(self, epochs=epochs, batch=batch, patience=patience)
