"""Control characters of documents, labels and rules never reach the terminal as they are."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from lawful.cli.app import run
from lawful.cli.terminal import escaped

EVIL = "\x1b[31m\x07\x85\u202e\u2066\ufeff"
RULES = {
    "fields": {"total": {"label": f"to{EVIL}tal", "type": "money"}},
    "rules": [{"id": f"small{EVIL}", "check": "total < 5", "message": f"{EVIL} {{total}}"}],
}
LABELS = ["O", f"B-to{EVIL}tal"]


@pytest.fixture
def files(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    record = {
        "id": f"r{EVIL}",
        "words": [f"{EVIL}7.00", "3.00"],
        "labels": LABELS,
        "probs": [[0.1, 0.9], [0.6, 0.4]],
        "gold": LABELS,
    }
    bad = {"id": f"b{EVIL}", "words": ["x"], "labels": LABELS, "probs": [[0.5, 0.5], [0.5, 0.5]]}
    wrong = {"id": f"w{EVIL}", "words": ["x"], "labels": LABELS, "probs": [[0.5, 0.5]]}
    wrong["gold"] = [f"B-{EVIL}"]
    documents = tmp_path / "documents.jsonl"
    documents.write_text("".join(json.dumps(each) + "\n" for each in (record, bad, wrong)))
    return documents, rules


@pytest.mark.parametrize(
    "command",
    [
        "decode {documents} --rules {rules} --out {out}",
        "explain {documents} --rules {rules}",
        "explain {documents} --rules {rules} --id no\x1b[31msuch",
        "check {documents} --rules {rules} --out {out}",
        "rules {rules}",
        "evaluate {documents} --rules {rules}",
        "calibrate {documents}",
        "data split {documents} --rules {rules} --out {out}",
        "decode no\x1b[31msuch --rules {rules}",
        "decode {documents} --rules no\x1b[31msuch",
        "decode {documents} --rules {rules} --decoder no\x1b[31msuch",
        "decode {documents} --rules {rules} --format no\x1b[31msuch",
        "no\x1b[31msuch",
    ],
)
def test_commands_escape_what_they_print(command, files, tmp_path, capsys, monkeypatch):
    documents, rules = files
    named = {"documents": documents, "rules": rules, "out": tmp_path / "out"}
    monkeypatch.setattr(sys, "argv", ["lawful", *(w.format(**named) for w in command.split())])
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            run()
    finally:
        signal.signal(signal.SIGTERM, before)
    printed = "".join(capsys.readouterr())
    assert ended.value.code in (0, 1, 2)
    assert "Traceback" not in printed
    assert printed
    assert escaped(printed) == printed


def test_lone_surrogates_are_shown():
    assert escaped("a\ud800b") == "a\\ud800b"


def test_ordinary_text_stays_as_it_is():
    text = "Straße\t12,50 €\n日本 e\u0301 \N{GRINNING FACE} الإجمالي"
    assert escaped(text) == text
