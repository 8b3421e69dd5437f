"""Processes: forks beside native searches, leaving workers at once, and workers that die."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

import lawful
from lawful import Decoding, Document, FailedDocument, Field, LawfulError, Rules, Scores
from lawful.pipeline.batch import decode_lines, decode_many
from lawful.pipeline.call import Call
from lawful.pipeline.workers import AHEAD, BATCH, in_order

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
pytestmark = needs_fork

UNLUCKY = 13
LABELS = ["O", "B-total"]
PROBS = [[1.0, 0.0], [0.0, 1.0]]


def page(amount):
    """A page whose total is the amount, which is its id as well."""
    return Document(str(amount), ["Total", f"{amount}.00"]), Scores.from_probs(PROBS, LABELS)


def pages(count):
    return [page(amount) for amount in range(1, count + 1)]


def unlucky():
    """Pages that come to the unlucky one when some have been decoded."""
    return [page(amount) for amount in (*range(100, 116), *range(1, 21))]


def rules_that(act):
    """Rules of which one acts where the total is unlucky."""

    def lucky(total):
        if total == UNLUCKY:
            act()
        return True

    return Rules([Field("total", "total", "money")], [lawful.rule(reads="total")(lucky)])


def run(script, *options, **how):
    return subprocess.run(
        [sys.executable, *options, "-c", script],
        capture_output=True, text=True, check=False, timeout=300, **how,
    )  # fmt: skip


FORKS = """
import os, sys, threading, time
import numpy as np
import lawful

def search():
    while True:
        lawful.assignments(probs).take(200)

probs = np.random.default_rng(0).dirichlet(np.ones(8), 60)
for _ in range(3):
    threading.Thread(target=search, daemon=True).start()
for _ in range(30):
    child = os.fork()
    if not child:
        sys.exit(7)
    limit = time.monotonic() + 60
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > limit:
            os.kill(child, 9)
            sys.exit("a child hangs")
        time.sleep(0.005)
    assert os.waitstatus_to_exitcode(ended[1]) == 7
"""


def test_a_fork_beside_native_searches_ends():
    """A child waited at exit for threads that only its parent had."""
    done = run(FORKS, "-W", "ignore")
    assert (done.returncode, done.stderr) == (0, "")


# Leaving.


def loop():
    while True:
        pass


def sleep():
    time.sleep(600)


def backtrack():
    re.match(r"(a+)+$", "a" * 60 + "b")


def search():
    lawful.assignments(np.full((60, 8), 1 / 8)).take(10**8)


def ignore():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def gone(since):
    """Whether all processes are gone, long before those that are stuck would end by themselves."""
    gc.collect()
    return not multiprocessing.active_children() and time.monotonic() < since + 60


@pytest.mark.parametrize("act", [loop, sleep, backtrack, search, ignore])
def test_leaving_ends_workers_that_are_stuck(act):
    results = decode_many(unlucky(), rules_that(act), workers=2)
    assert next(results).id == "100"
    time.sleep(0.3)  # until the first worker is at the unlucky page
    began = time.monotonic()
    results.close()
    assert gone(began)


def test_forgetting_the_results_ends_the_workers():
    results = decode_many(unlucky(), rules_that(loop), workers=2)
    assert next(results).id == "100"
    began = time.monotonic()
    del results
    assert gone(began)


def test_an_exception_in_the_loop_ends_the_workers():
    try:
        for result in decode_many(unlucky(), rules_that(loop), workers=2):
            began = time.monotonic()
            raise ValueError(result.id)
    except ValueError:
        assert gone(began)


def test_progress_that_fails_ends_the_workers():
    def progress(done):
        raise ZeroDivisionError

    results = decode_many(unlucky(), rules_that(loop), workers=2, progress=progress)
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert gone(time.monotonic())


def test_no_process_is_left_at_the_end():
    assert len(list(decode_many(pages(40), rules_that(int), workers=3))) == 40
    assert gone(time.monotonic())


STUCK = """
import re, sys, threading
from lawful.pipeline import workers

class Task:
    def start(self):
        return self.work
    def work(self, item):
        print(f"at {item}\\n", end="", flush=True)  # one write: lines of workers do not mix
        if item >= 8:
            re.match(r"(a+)+$", "a" * 60 + "b")

results = workers.in_order(Task(), range(100), 2)
"""
# Standard output ends when all processes that have it have ended.


def started(script):
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    for line in process.stdout:
        if line == "at 8\n":
            return process
    pytest.fail(process.communicate()[1])


@pytest.mark.parametrize("to_all", [True, False])
def test_ctrl_c_ends_workers_that_are_stuck(to_all):
    process = started(STUCK + "for _ in results: pass")
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a stuck process")
def test_workers_that_are_stuck_die_with_their_parent():
    process = started(STUCK + "for _ in results: pass")
    process.kill()
    process.communicate(timeout=60)


def test_workers_of_a_thread_end_when_the_process_is_killed():
    """These are not tied to their parent by the system, but see that nobody is there."""
    script = STUCK.replace("re.match", "while True: pass #")
    process = started(script + "threading.Thread(target=list, args=[results]).start()")
    process.kill()
    process.communicate(timeout=60)


def test_workers_left_open_do_not_keep_python_from_ending():
    done = run(STUCK + "next(results)")
    assert (done.returncode, done.stderr) == (0, "")


def test_workers_outlive_the_thread_that_started_them():
    results = decode_many(pages(60), rules_that(int), workers=2)
    first = []
    thread = threading.Thread(target=lambda: first.append(next(results)))
    thread.start()
    thread.join()
    assert all(isinstance(result, Decoding) for result in [*first, *results])


FORK = """
import os, sys
from lawful.pipeline import workers

class Task:
    def start(self):
        return lambda item: item
    def lost(self, item, why):
        return why

results = workers.in_order(Task(), range(1000), 2)
assert next(results) == 0
child = os.fork()
if not child:
    sys.stderr = None  # where multiprocessing says that it has children that are not its own
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert list(results) == list(range(1, 1000))
"""


def test_a_fork_of_the_caller_leaves_the_workers_alone():
    done = run(FORK)
    assert (done.returncode, done.stderr) == (0, "")


# Dying.


def leave_with_3():
    os._exit(3)


def be_killed():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("act", "cause"),
    [(leave_with_3, "exit code 3"), (be_killed, "killed by signal 9, perhaps out of memory")],
)
def test_only_the_document_of_a_dead_worker_is_lost(act, cause):
    documents = pages(100)
    documents[30] = page(UNLUCKY)  # two more, next to each other
    documents[31] = page(UNLUCKY)
    seen = []
    found = list(decode_many(documents, rules_that(act), workers=2, progress=seen.append))
    message = f"the worker process died while decoding it ({cause})"
    for result, (document, _) in zip(found, documents, strict=True):
        if document.id == str(UNLUCKY):
            assert result == FailedDocument(document.line or 0, message, document.id)
        else:
            assert isinstance(result, Decoding)
            assert result.id == document.id
    assert seen == list(range(1, 101))
    assert gone(time.monotonic())


def test_lines_of_dead_workers_are_bad_lines(tmp_path):
    rules = rules_that(be_killed)
    lines = []
    for number in range(5, 25):
        words = ["Total", f"{number}.00"]
        line = {"id": str(number), "words": words, "labels": LABELS, "probs": PROBS}
        lines.append((number, json.dumps(line).encode()))
    found = list(decode_lines(str(tmp_path / "lines"), lines, Call(rules), workers=2))
    bad = [result for result in found if isinstance(result, FailedDocument)]
    assert [result[1].id for result in found if result not in bad] == [
        str(number) for number in range(5, 25) if number != UNLUCKY
    ]
    (bad,) = bad
    assert bad.line == UNLUCKY
    assert bad.message.startswith("the worker process died while decoding it (killed by signal 9")


def test_a_run_of_nothing_but_deaths_ends():
    documents = [page(UNLUCKY) for _ in range(20)]
    found = list(decode_many(documents, rules_that(be_killed), workers=3))
    assert [type(result) for result in found] == [FailedDocument] * 20


@dataclass
class Do:
    """Calls what it is given, so that items say what happens to their worker."""

    at_start: object = None

    def start(self):
        if self.at_start is not None:
            self.at_start()
        return lambda item: item() if callable(item) else item

    def lost(self, item, why):
        return "lost"


class Deadly:
    """Kills the worker that reads it."""

    def __reduce__(self):
        return be_killed, ()


def test_an_item_that_kills_before_its_turn_is_found():
    items = [*range(20), Deadly(), *range(20)]
    assert list(in_order(Do(), items, 2)) == [*range(20), "lost", *range(20)]


def test_workers_killed_from_outside_are_replaced():
    def some():
        for number in range(400):
            if number % 100 == 50:
                for worker in multiprocessing.active_children():
                    worker.kill()
            yield number

    found = list(in_order(Do(), some(), 2))
    assert len(found) == 400
    assert all(result in (number, "lost") for number, result in enumerate(found))
    assert found.count("lost") <= 8


def test_a_child_that_keeps_the_pipe_open_does_not_hide_a_death():
    def fork_and_die():
        if not os.fork():
            time.sleep(40)
            os._exit(0)
        os._exit(1)

    class Forks(Do):
        def start(self):
            return lambda item: fork_and_die() if item == 3 else item

    began = time.monotonic()
    assert list(in_order(Forks(), range(5), 2)) == [0, 1, 2, "lost", 4]
    assert time.monotonic() < began + 30


def test_workers_that_cannot_start_are_an_error():
    with pytest.raises(LawfulError, match=r"5 workers in a row died as they started \(exit code 3"):
        list(in_order(Do(leave_with_3), range(100), 3))
    with pytest.raises(ZeroDivisionError):
        list(in_order(Do(lambda: 1 / 0), range(100), 3))
    assert gone(time.monotonic())


def test_documents_of_a_worker_that_dies_as_it_starts_are_not_lost(tmp_path):
    def die_once():
        try:
            (tmp_path / "died").touch(exist_ok=False)
        except FileExistsError:
            return
        time.sleep(0.2)  # until it has been sent its first documents
        os._exit(3)

    assert list(in_order(Do(die_once), range(100), 2)) == list(range(100))
    assert (tmp_path / "died").exists()


def raise_it():
    raise KeyError("it")


class OddError(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def raise_odd():
    raise OddError(1, 2)


def test_exceptions_are_raised_in_their_turn():
    results = in_order(Do(), [*range(3 * BATCH), raise_it, *range(3 * BATCH)], 2)
    assert [next(results) for _ in range(3 * BATCH)] == list(range(3 * BATCH))
    with pytest.raises(KeyError, match="it") as caught:
        next(results)
    assert "in raise_it" in caught.value.__notes__[0]
    with pytest.raises(LawfulError, match="OddError: 1 2"):
        list(in_order(Do(), [1, raise_odd], 2))
    results = in_order(Do(), [*range(BATCH), threading.Lock()], 2)
    assert [next(results) for _ in range(BATCH)] == list(range(BATCH))
    with pytest.raises(TypeError, match="cannot pickle"):
        next(results)
    assert gone(time.monotonic())


def test_results_come_one_by_one_where_items_are_slow():
    class Slow(Do):
        def start(self):
            return lambda seconds: time.sleep(seconds) or seconds

    began = time.monotonic()
    results = in_order(Slow(), [1.0] * BATCH, 2)
    assert next(results) == 1.0
    assert time.monotonic() < began + BATCH
    results.close()


def test_a_fixed_number_of_items_is_held():
    taken = []

    def endless():
        while True:
            taken.append(None)
            yield b"x" * 100_000  # more than a pipe holds

    results = in_order(Do(), endless(), 3)
    for done, _ in zip(range(1, 500), results, strict=False):
        assert len(taken) <= done + (3 * AHEAD + 1) * BATCH
    results.close()
