"""The paper's table of results, for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Reported(NamedTuple):
    """A cell of the paper's table: LayoutLM, word pieces, on the authors' machine."""

    f1s: float  # percent
    seconds: float  # per page


# Method and k, then F1^s and seconds per page on CORD, WildReceipt and DocILE.
_TABLE = (
    ("argmax", 1, 81.2, 0.000, 44.5, 0.000, 48.2, 0.000),
    ("beam", 2, 83.9, 0.002, 50.4, 0.005, 51.6, 0.010),
    ("beam", 4, 86.2, 0.006, 53.8, 0.015, 54.7, 0.030),
    ("beam", 8, 89.0, 0.017, 58.9, 0.047, 56.9, 0.110),
    ("beam", 16, 90.7, 0.055, 60.7, 0.169, 58.4, 0.430),
    ("beam", 32, 91.4, 0.293, 65.3, 0.907, 59.4, 2.969),
    ("best_first", 16, 90.7, 0.005, 60.7, 0.061, 58.4, 0.088),
    ("best_first", 32, 91.4, 0.007, 65.3, 0.103, 59.4, 0.161),
    ("best_first", 64, 92.2, 0.009, 68.8, 0.184, 60.3, 0.289),
    ("best_first", 128, 92.2, 0.015, 70.4, 0.340, 60.9, 0.520),
    ("best_first", 256, 92.5, 0.025, 72.0, 0.604, 61.2, 0.948),
    ("lazy_ilp", 1, 93.5, 0.618, 67.9, 1.592, 60.7, 2.188),
    ("lazy_ilp", 2, 94.5, 0.629, 72.2, 1.902, 61.6, 2.664),
    ("lazy_ilp", 4, 94.5, 0.641, 74.3, 2.434, 62.7, 3.889),
    ("lazy_ilp", 8, 94.5, 0.666, 75.8, 3.526, 63.3, 7.283),
    ("lazy_ilp", 16, 94.9, 0.725, 77.6, 5.926, 63.6, 16.024),
    ("lazyk", 32, 91.4, 0.002, 65.3, 0.007, 59.4, 0.005),
    ("lazyk", 64, 92.2, 0.002, 68.8, 0.011, 60.3, 0.007),
    ("lazyk", 128, 92.2, 0.003, 70.4, 0.018, 60.9, 0.012),
    ("lazyk", 512, 92.5, 0.006, 73.7, 0.056, 61.8, 0.037),
    ("lazyk", 2048, 93.9, 0.016, 77.1, 0.184, 62.4, 0.127),
    ("lazyk", 8192, 93.9, 0.046, 79.5, 0.620, 63.3, 0.439),
    ("lazyk", 32768, 93.9, 0.168, 81.2, 2.212, 63.5, 1.580),
    ("lazyk", 65536, 93.9, 0.333, 82.1, 4.155, 63.8, 3.013),
)

REPORTED: Mapping[tuple[str, str, int], Reported] = {
    (data, method, k): Reported(*numbers[2 * i : 2 * i + 2])
    for method, k, *numbers in _TABLE
    for i, data in enumerate(("cord", "wildreceipt", "docile"))
}
"""Cells by data set, method and candidates."""
