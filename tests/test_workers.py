"""Processes: forks beside native searches, leaving workers at once, and workers that die."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

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
    limit = time.monotonic() + 10
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > limit:
            os.kill(child, 9)
            sys.exit("a child hangs")
        time.sleep(0.005)
    assert os.waitstatus_to_exitcode(ended[1]) == 7
"""


@needs_fork
def test_a_fork_beside_native_searches_ends():
    """A child waited at exit for threads that only its parent had."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
