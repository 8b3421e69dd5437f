"""The figure of errors by how many documents pass: points where the numbers are."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lawful.learn.promise import POINTS, risks
from lawful.report.risk import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, draw_risk

LINE = re.compile(r'<polyline points="([^"]*)" stroke="#')


def test_points_are_where_the_numbers_are():
    drawn = draw_risk({"trust": [(0.5, 0.0), (1.0, 0.1)]}, wanted=0.01)
    (points,) = LINE.findall(drawn)
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in points.split())
    assert (x0, y0) == ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM)
    assert (x1, y1) == (WIDTH - RIGHT, TOP)  # 10 % is the top of the figure


def test_curves_have_names_that_are_text():
    drawn = draw_risk({"a<b": [(1.0, 0.5)], "c": [(1.0, 0.2)]})
    assert "a&lt;b" in drawn
    assert len(LINE.findall(drawn)) == 2


def test_risks_count_the_wrong_among_the_most_trusted():
    trusts = np.array([0.9, 0.8, 0.8, 0.1])
    wrong = np.array([False, True, False, True])
    assert risks(trusts, wrong) == [(0.25, 0.0), (0.75, pytest.approx(0.3333)), (1.0, 0.5)]


def test_a_long_curve_has_a_few_points_and_both_ends():
    random = np.random.default_rng(0)
    curve = risks(random.random(1000), random.random(1000) < 0.1)
    assert len(curve) == POINTS
    assert (curve[0][0], curve[-1][0]) == (0.001, 1.0)
