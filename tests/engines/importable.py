"""What workers of engines import: rules with Python functions, and stages that die or dawdle."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lawful import Rules, rule
from lawful.arrow import decode_batches, decode_table
from tests.helpers import RULES


@rule(reads=["total"])
def total_is_positive(total):
    """A rule that is a Python function, which workers find by its name."""
    return total > 0


@rule(reads=["total"])
def takes_its_time(total):
    """A rule that is slow on some pages."""
    if int(total) % 7 == 0:
        time.sleep(0.5)
    return True


def rules_with_functions(*functions):
    """The demo's rules with some of the functions above."""
    return Rules.load(RULES).with_rules(*functions or (total_is_positive,))


class DiesOnce:
    """Decodes, but the first process that tries dies: ``mark`` is a file that says so."""

    def __init__(self, mark, rules, **how):
        self._mark, self._rules, self._how = mark, rules, how

    def _die(self):
        try:
            Path(self._mark).touch(exist_ok=False)
        except FileExistsError:
            return
        os._exit(1)

    def decode(self, table):
        """A stage of Ray."""
        self._die()
        return decode_table(table, self._rules, **self._how)

    def batches(self, batches):
        """A stage of Spark."""
        for batch in batches:
            self._die()
            yield from decode_batches([batch], self._rules, **self._how)
