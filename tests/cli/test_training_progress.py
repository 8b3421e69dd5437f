"""Progress of a training where standard error is no terminal."""

from types import SimpleNamespace

import pytest

from lawful.cli import training_progress as follower
from lawful.cli.output import duration
from lawful.cli.training_progress import Follower, Forecast


@pytest.fixture
def said(monkeypatch):
    lines = []
    monkeypatch.setattr(follower, "say", lines.append)
    monkeypatch.setattr(follower, "messages", follower.messages.__class__(stderr=True))
    return lines


def step(epoch, done, of, stage="training", epochs=10):
    return SimpleNamespace(epoch=epoch, epochs=epochs, stage=stage, done=done, of=of, loss=0.5)


def test_a_line_comes_every_few_seconds_not_every_step(said):
    now = [0.0]
    with Follower(lambda: now[0]) as following:
        for done in range(1, 101):
            now[0] += 1.0
            following.step(step(1, done, 100))
        following.epoch(0.8)
        now[0] += 10
        following.step(step(1, 0, 40, "validation"))  # the line of the epoch was ten seconds ago
        now[0] += 10
        following.step(step(1, 20, 40, "validation"))
    assert len(said) == 7
    left = duration(15 * 9.865 / 0.135)  # 0.135 of an epoch is done
    assert said[0] == (
        f"epoch 1 of 10: 15 of 100 batches, loss 0.500, 15.0 s so far, at most about {left} left"
    )
    assert said[-1].startswith(
        "epoch 1 of 10: 20 of 40 documents validated, loss 0.500, 2 min 00 s"
    )


def test_a_resumed_run_does_not_count_the_epochs_of_earlier_ones(said):
    now = [0.0]
    with Follower(lambda: now[0]) as following:
        following.step(step(4, 0, 10, epochs=4))
        now[0] = 45.0
        following.step(step(4, 5, 10, epochs=4))
    assert said == [
        "epoch 4 of 4: 5 of 10 batches, loss 0.500, 45.0 s so far, at most about 55.0 s left"
    ]


def test_what_a_training_takes_is_said_after_its_first_batches(said):
    now = [0.0]
    forecast = Forecast(rounds=2, clock=lambda: now[0])
    for done in range(1, 6):
        now[0] += 9.0 if done == 1 else 0.9  # the first one also warms up
        forecast.step(step(1, done, 20))
    assert said == [
        "at most 2 x 10 epochs of 20 batches, about 6 min 40 s by the speed of the first ones; "
        "training stops when it no longer gets better"
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"), (59.94, "59.9 s"), (59.96, "1 min 00 s"), (250, "4 min 10 s"),
        (3599.6, "1 h 00 min"), (7500, "2 h 05 min"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert duration(seconds) == text
