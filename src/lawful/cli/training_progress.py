"""Progress of a training on standard error: a bar in a terminal, otherwise a line now and then."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lawful.cli.output import duration, plural
from lawful.cli.terminal import messages, say

if TYPE_CHECKING:
    from lawful.models.training import Step

INTERVAL = 15.0
"""Seconds between lines, at least."""

VALIDATION = 0.1
"""Share of an epoch's time that validation is taken to need, for estimates."""


class Follower:
    """Shows the steps of a training."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began = self._said = clock()
        self._before: int | None = None  # epochs of earlier runs
        self._bar = Progress(
            TextColumn(
                "epoch {task.fields[epoch]}, {task.fields[stage]}, loss {task.fields[loss]}, "
                "best F1 {task.fields[f1]}"
            ),
            BarColumn(), TimeRemainingColumn(), console=messages, transient=True,
            disable=not messages.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task(
            "", total=None, epoch="1", stage="training", loss="-", f1="-"
        )

    def __enter__(self) -> Follower:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def epoch(self, best: float) -> None:
        """Shows the best F1 so far."""
        self._bar.update(self._task, f1=f"{100 * best:.1f}" if best else "-")
        self._said = self._clock()  # the line of the epoch counts, too

    def step(self, step: Step) -> None:
        """Shows a step; if not in a terminal, only when the last line was some seconds ago."""
        if self._before is None:
            self._before = step.epoch - 1
        part = step.done / max(step.of, 1)
        trained = step.stage == "training"
        share = (1 - VALIDATION) * part if trained else 1 - VALIDATION * (1 - part)
        done = step.epoch - 1 + share
        self._bar.update(
            self._task,
            total=float(step.epochs),
            completed=done,
            epoch=step.epoch,
            stage=step.stage,
            loss=f"{step.loss:.3f}",
        )
        now = self._clock()
        if messages.is_terminal or now - self._said < INTERVAL:
            return
        self._said = now
        units = "batches" if trained else "documents validated"
        line = f"epoch {step.epoch} of {step.epochs}: {step.done:,} of {step.of:,} {units}"
        finished, spent = done - self._before, now - self._began
        left = duration(spent * (step.epochs - done) / finished) if finished > 0 else "unknown"
        say(f"{line}, loss {step.loss:.3f}, {duration(spent)} so far, at most about {left} left")


class Forecast:
    """Says once, after the first two batches, what a training will take at most."""

    def __init__(self, rounds: int = 1, clock: Callable[[], float] = monotonic) -> None:
        self._rounds, self._clock = rounds, clock
        self._first: float | None = None  # when the first batch was done
        self._said = False

    def step(self, step: Step) -> None:
        """Looks at a step; validation counts for its usual share."""
        if self._said or step.stage != "training":
            return
        now = self._clock()
        if self._first is None:
            self._first = now
            return
        self._said = True
        epochs = step.epochs - step.epoch + 1
        batches = self._rounds * epochs * step.of
        times = f"{self._rounds} x " if self._rounds > 1 else ""
        time = duration((now - self._first) * batches / (1 - VALIDATION))
        say(
            f"at most {times}{plural(epochs, 'epoch')} of {step.of:,} batches, about {time} by the "
            "speed of the first ones; training stops when it no longer gets better"
        )
