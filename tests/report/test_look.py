"""The look that report and review page share: no colour stands alone."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from lawful.report.page import COLOURS, style_sheet
from lawful.results.decoding import Status
from lawful.rules.judging.checks import State

STYLE = re.sub(r"/\*.*?\*/", "", style_sheet(), flags=re.DOTALL)


def properties(name):
    """All that the style sheet says about a class."""
    found = {}
    for selectors, body in re.findall(r"([^{}]+){([^{}]*)}", STYLE):
        if re.search(rf"(^|[,(\s])\.{name}(?=[,)\s]|$)", selectors.strip()):
            found |= dict(re.findall(r"([\w-]+)\s*:\s*([^;]+);", body))
    return found


@pytest.mark.parametrize("name", [*get_args(Status), *get_args(State)])
def test_every_status_and_state_has_a_colour_and_a_sign(name):
    assert properties(name)["color"].startswith("var(--")
    assert properties(name)["--sign"]


@pytest.mark.parametrize("name", ["unchecked", "vacuous"])
def test_what_was_not_checked_is_grey(name):
    assert properties(name)["color"] == "var(--muted)"


def test_fields_differ_in_hue_or_line():
    looks = set()
    for number in range(COLOURS):
        look = {"--style": "solid", "--dash": "none"} | properties(f"c{number}")
        looks.add((look["--hue"], look["--style"], look["--dash"]))
    assert len(looks) == COLOURS
    assert not properties(f"c{COLOURS}")
