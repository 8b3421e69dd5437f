"""What every stream promises, whatever it enumerates."""

from __future__ import annotations

import _thread
import copy
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

import lawful
from tests.fixtures.rows import bio_labels, peaked


def open_assignments(probs, **options):
    return lawful.assignments(probs, **options)


def open_paths(probs, **options):
    labels = np.shape(probs)[1]
    return lawful.paths(probs, lawful.Scheme.named("BIO", bio_labels(labels)), **options)


streams = pytest.mark.parametrize("open_stream", [open_assignments, open_paths])


@pytest.fixture
def probs():
    return peaked(np.random.default_rng(7), 60, 9)


def same(a, b):
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


@streams
def test_is_an_iterator_of_pairs(open_stream, probs):
    stream = open_stream(probs)
    assert isinstance(stream, lawful.search.Stream)
    assert isinstance(stream, Iterator)
    assert iter(stream) is stream
    labels, log_prob = next(stream)
    assert labels.shape == (60,)
    assert labels.dtype == np.uint8
    assert isinstance(log_prob, float)
    assert log_prob == pytest.approx(np.log(probs[np.arange(60), labels]).sum())
    assert (stream.words, stream.labels, stream.yielded) == (60, 9, 1)
    assert "60 words x 9 labels, 1 yielded" in repr(stream)


@streams
def test_take_continues_where_iteration_stopped(open_stream, probs):
    whole = open_stream(probs).take(500)
    stream = open_stream(probs)
    stepped = list(islice(stream, 7))
    parts = [stream.take(k) for k in (0, 1, 90)]
    stepped += list(islice(stream, 2))
    parts.append(stream.take(400))
    assert [len(labels) for labels, _ in parts] == [0, 1, 90, 400]
    labels = np.concatenate([[row for row, _ in stepped[:7]], parts[1][0], parts[2][0],
                             [row for row, _ in stepped[7:]], parts[3][0]])  # fmt: skip
    assert np.array_equal(labels, whole[0])
    assert parts[3][1].tolist() == whole[1][100:].tolist()


@streams
def test_same_input_same_order_ties_included(open_stream):
    flat = np.full((8, 5), 0.2)
    first = open_stream(flat).take(3000)
    assert same(first, open_stream(flat.copy()).take(3000))
    assert [row.tolist() for row, _ in islice(open_stream(flat), 3000)] == first[0].tolist()


@streams
def test_out_is_used_again(open_stream, probs):
    expected = open_stream(probs).take(96)
    stream = open_stream(probs)
    out = stream.take(32)
    kept = [array.copy() for array in out]
    for _ in range(2):
        again = stream.take(32, out=out)
        assert again[0] is out[0]
        assert again[1] is out[1]
        kept = [np.concatenate(pair) for pair in zip(kept, again, strict=True)]
    assert same(kept, expected)


def test_out_gives_views_when_the_stream_ends():
    stream = lawful.assignments([[0.5, 0.5]])
    out = (np.empty((8, 1), np.uint8), np.empty(8))
    labels, log_probs = stream.take(8, out=out)
    assert len(labels) == len(log_probs) == 2
    assert np.shares_memory(labels, out[0])
    assert len(stream.take(8, out=out)[0]) == 0


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((4, 60), np.uint8), "out is a numpy.ndarray"),
        ((np.empty((4, 60), np.uint8),), "out is a tuple"),
        ((np.empty((4, 60), np.int64), np.empty(4)), "int64 of shape"),
        ((np.empty((3, 60), np.uint8), np.empty(4)), r"uint8 of shape \(3, 60\), expected .*4, 60"),
        ((np.empty((4, 61), np.uint8), np.empty(4)), r"\(4, 61\)"),
        ((np.empty((60, 4), np.uint8).T, np.empty(4)), "C-contiguous"),
        ((np.empty((4, 60), np.uint8), np.empty(4, np.float32)), "log_probs.* float32"),
        ((np.empty((4, 60), np.uint8), [0.0] * 4), "log_probs.* is list"),
    ],
)
def test_out_that_does_not_fit_is_refused_and_nothing_is_lost(out, message, probs):
    stream = lawful.assignments(probs)
    with pytest.raises(lawful.InputError, match=message):
        stream.take(4, out=out)
    assert stream.yielded == 0


def test_a_read_only_out_is_refused(probs):
    out = lawful.assignments(probs).take(4)
    out[0].flags.writeable = False
    with pytest.raises(lawful.InputError, match="writable"):
        lawful.assignments(probs).take(4, out=out)


@streams
def test_exhaustion_is_no_error(open_stream):
    stream = open_stream([[0.5, 0.5, 0.0]])
    labels, log_probs = stream.take(10**12)
    assert len(labels) == len(log_probs) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(stream)
        assert stream.take(1)[0].shape == (0, 1)


@pytest.mark.parametrize("count", [-1, -(2**40)])
def test_a_negative_count_is_refused(count, probs):
    with pytest.raises(lawful.InputError, match=f"cannot take {count}"):
        lawful.assignments(probs).take(count)


@pytest.mark.parametrize("count", [1.5, "3", None, 2**80])
def test_a_count_that_is_no_count_is_a_type_error(count, probs):
    with pytest.raises(TypeError):
        lawful.assignments(probs).take(count)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)],
)
def test_labels_have_the_smallest_type_that_fits(labels, dtype):
    costs = np.arange(2 * labels, dtype=float).reshape(2, labels)[:, ::-1]
    stream = lawful.assignments(costs, kind="costs")
    row, _ = next(stream)
    assert row.dtype == stream.take(1)[0].dtype == dtype
    assert row.tolist() == [labels - 1] * 2


@streams
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
def test_any_dtype_and_memory_order_and_input_is_left_alone(open_stream, probs, dtype, order):
    given = probs.astype(dtype)
    if order == "F":
        given = np.asfortranarray(given)
    elif order == "strided":
        given = np.repeat(given, 2, axis=1)[:, ::2]
    elif order == "reversed":
        given = given[::-1, ::-1].copy()[::-1, ::-1]
    before = copy.deepcopy(given)
    found = open_stream(given).take(50)
    assert np.array_equal(given, before)
    with np.errstate(divide="ignore"):  # half precision knows no number below 6e-8
        costs = -np.log(probs.astype(dtype).astype(float))
    assert same(found, open_stream(costs, kind="costs").take(50))


def test_changing_the_input_later_changes_nothing(probs):
    costs = -np.log(probs)
    expected = lawful.assignments(costs, kind="costs").take(40)
    stream = lawful.assignments(costs, kind="costs")
    costs[:] = np.nan
    assert same(stream.take(40), expected)


def test_yielded_arrays_are_the_users_own(probs):
    stream = lawful.assignments(probs)
    labels, _ = next(stream)
    expected = labels.copy()
    labels[:] = 0
    assert np.array_equal(lawful.assignments(probs).take(1)[0][0], expected)
    assert labels.flags.owndata


@streams
def test_the_memory_budget_stops_the_stream_and_loses_nothing(open_stream, probs):
    budget = 300_000
    stream = open_stream(probs, memory=budget)
    first, _ = next(stream)
    with pytest.raises(lawful.MemoryBudgetError, match="300000 bytes is spent after") as caught:
        stream.take(10**9)
    assert isinstance(caught.value, MemoryError)
    assert stream.memory <= budget
    left = int(str(caught.value).split("of which ")[1].split()[0])
    labels, log_probs = stream.take(left)
    expected = open_stream(probs).take(1 + left)
    assert left > 1000
    assert np.array_equal(first, expected[0][0])
    assert same((labels, log_probs), (expected[0][1:], expected[1][1:]))
    for _ in range(2):
        with pytest.raises(lawful.MemoryBudgetError, match="0 can still be taken"):
            next(stream)


@streams
def test_a_budget_below_the_scores_says_so(open_stream, probs):
    with pytest.raises(lawful.MemoryBudgetError, match="does not even hold the scores"):
        open_stream(probs, memory=100)


@pytest.mark.parametrize("memory", [-1, 1.5, "1 MB", True])
def test_a_budget_that_is_no_number_of_bytes_is_refused(memory, probs):
    with pytest.raises(lawful.InputError, match="memory is"):
        lawful.assignments(probs, memory=memory)


@streams
def test_the_limit_on_candidates_is_reported_not_overflowed(open_stream, probs):
    stream = open_stream(probs)
    stream._limit(1000)
    with pytest.raises(lawful.LimitError, match="any more candidates after 1000"):
        stream.take(1001)
    assert len(stream.take(1000)[0]) == 1000
    with pytest.raises(lawful.LimitError):
        next(stream)


@pytest.mark.parametrize(("kind", "low", "high"), [("assignments", 39, 52), ("paths", 64, 105)])
@pytest.mark.parametrize(("words", "labels", "count"), [(353, 53, 65_536), (2000, 20, 20_000)])
def test_the_budget_counts_as_many_bytes_as_the_docs_say(kind, low, high, words, labels, count):
    rng = np.random.default_rng(0)
    probs = np.exp(2 * rng.normal(size=(words, labels)))
    probs[:, 0] *= 50
    probs /= probs.sum(axis=1, keepdims=True)
    names = ["O", *(f"{prefix}-t{i}" for i in range(labels) for prefix in "BI")][:labels]
    scheme = lawful.Scheme.named("BIO", names)
    stream = lawful.paths(probs, scheme) if kind == "paths" else lawful.assignments(probs)
    stream.take(1)
    before = stream.memory
    stream.take(count)
    assert low <= round((stream.memory - before) / count) <= high


def test_memory_per_candidate_does_not_grow_with_the_words():
    held = []
    for words in (50, 500):
        stream = lawful.assignments(peaked(np.random.default_rng(1), words, 9))
        next(stream)
        before = stream.memory
        for _ in range(64):
            stream.take(1024)
        held.append((stream.memory - before) / 2**16)
    assert max(held) < 64


@streams
def test_two_threads_with_their_own_streams_agree_with_one(open_stream, probs):
    expected = open_stream(probs).take(20_000)
    found = [None, None]

    def work(i):
        found[i] = open_stream(probs).take(20_000)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(found[0], expected)
    assert same(found[1], expected)


def test_take_releases_the_gil():
    stream = lawful.assignments(peaked(np.random.default_rng(1), 100, 20))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    stream.take(400_000)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) > 3


@streams
def test_threads_may_share_a_stream_and_each_candidate_goes_to_one(open_stream, probs):
    stream = open_stream(probs)
    expected, _ = open_stream(probs).take(9_000)
    parts = [[] for _ in range(3)]

    def work(mine, taken):
        while taken < 3_000:
            if taken % 2:
                mine.append(next(stream)[0][None])
            else:
                mine.append(stream.take(min(37, 3_000 - taken))[0])
            taken += len(mine[-1])

    threads = [threading.Thread(target=work, args=(mine, 0)) for mine in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = {row.tobytes() for mine in parts for block in mine for row in block}
    assert rows == {row.tobytes() for row in expected}


@streams
def test_ctrl_c_interrupts_a_long_take_and_loses_nothing(open_stream):
    probs = peaked(np.random.default_rng(2), 120, 21, hard=0.5)
    stream = open_stream(probs, memory=2**31)
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        stream.take(10**11)
    assert stream.yielded == 0
    assert same(stream.take(100), open_stream(probs).take(100))


def test_a_signal_handler_that_takes_from_the_stream_is_told_not_hung(probs):
    stream = lawful.assignments(peaked(np.random.default_rng(2), 120, 21, hard=0.5))
    told = []

    def handler(*_):
        told.append(stream.yielded)  # looking is fine, taking is not
        with pytest.raises(lawful.InputError, match="in use by this very thread"):
            next(stream)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            stream.take(10**10)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert told == [0]


def test_out_may_be_a_subclass_but_is_not_trusted(probs):
    class Odd(np.ndarray):
        def __getitem__(self, key):
            return 7

    expected = lawful.assignments(probs).take(4)
    out = (np.empty((9, 60), np.uint8).view(Odd), np.empty(9).view(Odd))
    found = lawful.assignments(probs).take(4, out=out)
    assert type(found[0]) is np.ndarray
    assert same(found, expected)


def test_out_arrays_that_share_memory_are_refused(probs):
    memory = np.empty(4 * 60, np.uint8)
    out = (memory.reshape(4, 60), memory[:32].view(np.float64))
    with pytest.raises(lawful.InputError, match="share memory"):
        lawful.assignments(probs).take(4, out=out)


def test_a_stream_that_was_never_opened_is_no_crash():
    with pytest.raises(TypeError):
        next(lawful.search.Stream.__new__(lawful.search.Stream))
    with pytest.raises(TypeError):
        type("Mine", (lawful.search.Stream,), {})


def test_a_daemon_thread_inside_take_does_not_abort_the_exit():
    script = (
        "import threading, time, lawful\n"
        "def loop():\n"
        "    stream = lawful.assignments([[0.05] * 20] * 200)\n"
        "    while True: stream.take(5000)\n"
        "for _ in range(2): threading.Thread(target=loop, daemon=True).start()\n"
        "time.sleep(0.2)\n"
    )
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


def test_certainty_has_log_probability_zero():
    _, log_prob = next(lawful.assignments([[1.0, 0.0]]))
    assert str(log_prob) == "0.0"


def test_a_stream_is_neither_copied_nor_pickled(probs):
    stream = lawful.assignments(probs)
    with pytest.raises(TypeError):
        copy.copy(stream)
    with pytest.raises(TypeError):
        pickle.dumps(stream)


def test_scores_are_streamed_like_their_matrix(probs):
    labels = bio_labels(9)
    scores = lawful.Scores.from_probs(probs, labels)
    scheme = lawful.Scheme.named("BIO", labels)
    assert same(lawful.assignments(scores).take(50), lawful.assignments(probs).take(50))
    assert same(lawful.paths(scores, scheme).take(50), lawful.paths(probs, scheme).take(50))
    assert same(lawful.paths(scores, "BIO").take(50), lawful.paths(probs, scheme).take(50))
    anything = lawful.Scheme.table(np.ones((9, 9)))
    assert same(lawful.paths(scores, anything).take(50), lawful.paths(probs, anything).take(50))


def test_scores_and_a_scheme_of_other_labels_are_refused(probs):
    labels = bio_labels(9)
    scores = lawful.Scores.from_probs(probs, labels)
    with pytest.raises(lawful.SchemeError, match="differ in their labels or the order"):
        lawful.paths(scores, lawful.Scheme.named("BIO", labels[::-1]))
    with pytest.raises(lawful.SchemeError, match="unknown scheme 'BIOX'"):
        lawful.paths(scores, "BIOX")
    chained = scores.with_chain(between=np.zeros((9, 9)))
    with pytest.raises(lawful.InputError, match=r"have a chain.*use paths"):
        lawful.assignments(chained)
