"""What an operator starts from names options and metrics that are there."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from lawful.server.metrics import Metrics
from lawful.server.work import Answer
from tests.helpers import ROOT

DEPLOY = ROOT / "deploy"


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "lawful.service"])
def test_options_are_those_of_the_command(name):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    serve = page[page.index("## lawful serve") :].partition("\n## ")[0]
    text = (DEPLOY / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.search(r"CMD|ENTRY|command:|ExecStart", line)]
    found = set(re.findall(r"--[a-z-]+", " ".join(lines)))
    assert "--jobs" in found
    assert all(f"`{option}" in serve for option in found), found


def test_the_dashboard_and_its_page_show_metrics_that_are_there():
    metrics = Metrics()
    metrics.began()
    metrics.ended("/v1/extract", 200, 0.1)
    metrics.answered("/v1/extract", Answer(b"", "satisfied", 3, True, "receipt", 0.9, True))
    known = set(re.findall(r"^(lawful_\w+)", metrics.text().decode(), re.MULTILINE))
    panels = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))["panels"]
    shown = {name for p in panels for t in p["targets"]
             for name in re.findall(r"lawful_\w+", t["expr"])}  # fmt: skip
    assert len(shown) > 5
    assert shown <= known
    page = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(lawful_\w+)`", page)) <= known | {"lawful_request_seconds"}


def test_files_for_containers_and_prometheus_are_yaml():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert compose["services"]["lawful"]["build"]["dockerfile"] == "deploy/Dockerfile"
    scrape = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
    assert scrape["scrape_configs"][0]["job_name"] == "lawful"
