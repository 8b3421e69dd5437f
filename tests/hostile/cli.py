"""Argument vectors of all commands, over files that are right, damaged or missing.

Most run in this process, a few in one of their own. The exit code is 0, 1 or 2, and there is never
a traceback. The experiments are left out, which take hours.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from lab import receipts as demo
from lawful.cli import app
from lawful.cli.terminal import messages
from tests.hostile.mutations import MARKS, damaged_bytes, json_bytes

COMMANDS = (
    "decode", "decode", "explain", "check", "rules", "evaluate", "calibrate", "extract", "predict",
    "train", "export", "data", "data convert", "data info", "data rules", "data split",
    "experiments", "", "--version", "--help", "nothing",
)  # fmt: skip
VALUES = {
    "--rules": ("{rules}", "{rules}", "{rules}", "cord", "{broken}", "{folder}", "{missing}", "-"),
    "--out": ("{out}", "{out}", "-", "{folder}", "{nowhere}", "{documents}", "/dev/null", ""),
    "--format": ("jsonl", "csv", "html", "xml", ""),
    "--decoder": ("auto", "exact", "paths", "lazyk", "beam", "argmax", "nothing", ""),
    "--candidates": ("1", "5", "0", "-1", "1e3", "9" * 30, "x"),
    "--seconds": ("0.01", "1", "0", "-1", "nan", "inf", "1e-300", "x"),
    "--mass": ("0.5", "1", "0", "2", "nan"),
    "--max-cost": ("1", "0", "-1", "inf", "nan"),
    "--alternatives": ("0", "2", "-1", "9" * 20),
    "--temperature": ("1", "0.5", "0", "-1", "nan", "inf", "1e7"),
    "--pool": ("mean", "first", "product", "nothing"),
    "--bad-lines": ("skip", "fail", "x"),
    "--unchecked": ("pass", "fail", "x"),
    "--labels": ("gold", "argmax", "legal", "x"),
    "--id": ("a", "nothing", "\x1b[0m", ""),
    "--decodings": ("{out}", "{documents}", "{missing}"),
    "--share": ("0.5", "0", "1", "2", "nan"),
    "--seed": ("0", "-1", "9" * 30, "x"),
    "--split": ("train", "nothing"),
    "--model": ("{missing}", "{folder}", ""),
    "--units": ("words", "pieces", "x"),
    "--workers": ("1", "0", "-1", "1000", "x"),
    "--json-schema": (None,),
    "--quiet": (None,),
    "--by-page": (None,),
    "--npz": (None,),
    "--only-satisfied": (None,),
    "--help": (None,),
    "--nothing": (None, "x"),
}
TAKES = {  # options that a command knows, to draw from more often
    "decode": "--rules --out --format --decoder --candidates --seconds --mass --max-cost "
    "--alternatives --temperature --pool --bad-lines --unchecked --workers --quiet",
    "explain": "--rules --id --decoder --candidates --max-cost --alternatives --temperature --pool",
    "check": "--rules --out --labels --pool --bad-lines --unchecked --quiet",
    "evaluate": "--rules --out --decoder --decodings --only-satisfied --temperature --pool --quiet",
    "calibrate": "--rules --out --share --seed --decoder --bad-lines",
    "data split": "--rules --out --seed",
    "rules": "--json-schema",
}
DATA = ("cord", "wildreceipt", "docile", "nothing")
WORDS = 15  # of a document, so that no command takes long
LINES = tuple(
    json_bytes(
        {
            key: value[-WORDS:] if isinstance(value, list) and key != "labels" else value
            for key, value in json.loads(demo.json_line(each)).items()
        }
    )
    for each in demo.generate(6, seed=1)
)
RULES = demo.RULES.read_bytes()
FOLDER = tempfile.TemporaryDirectory(prefix="hostile-cli-")
OWN_PROCESS = 0.2  # of the cases


def draw(rng):
    """The arguments, the files, standard input, and whether to run in a process of its own."""
    command = rng.choice(COMMANDS)
    arguments = command.split()
    if rng.random() < 0.95:
        count = rng.choice((0, 1, 1, 1, 1, 1, 1, 2))
        if command.startswith(("data convert", "data info", "data rules")):
            arguments.append(rng.choice(DATA))
        files = ("{documents}",) * 12 + ("{rules}", "{missing}", "{folder}", "{broken}", "-", "")
        arguments += [rng.choice(files) for _ in range(count)]
    known = TAKES.get(command, " ".join(VALUES)).split()
    chosen = ["--rules"] if "--rules" in known and rng.random() < 0.8 else []
    chosen += [rng.choice(known) for _ in range(rng.choice((0, 0, 1, 2, 4)))]
    chosen += [rng.choice(tuple(VALUES)) for _ in range(rng.random() < 0.1)]
    for option in chosen:
        value = rng.choice(VALUES[option] if rng.random() < 0.2 else VALUES[option][:1])
        arguments += [option] if value is None else [option, value]
    if rng.random() < 0.1 and arguments:
        arguments[rng.randrange(len(arguments))] += rng.choice([m for m in MARKS if m != "\0"])
    if rng.random() < 0.05:
        rng.shuffle(arguments)
    lines = b"\n".join(rng.sample(LINES, rng.randrange(3)))
    lines = damaged_bytes(rng, lines) if rng.random() < 0.3 else lines
    if rng.random() < 0.05:
        lines = gzip.compress(lines)
    rules = damaged_bytes(rng, RULES) if rng.random() < 0.1 else RULES
    return arguments, lines, rules, rng.random() < OWN_PROCESS


def run(case):
    """Runs the command; the outcome is its exit code."""
    arguments, lines, rules, own_process = case
    folder = Path(FOLDER.name) / "work"
    paths = _files(folder, lines, rules)
    arguments = [_filled(argument, paths) for argument in arguments]
    before = Path.cwd()
    os.chdir(folder)
    try:
        if own_process:
            code, printed = _run_outside(arguments, lines)
        else:
            code, printed = _run_inside(arguments, lines)
    finally:
        os.chdir(before)
    assert "Traceback" not in printed, printed
    assert code in (0, 1, 2), (code, printed)
    return "answer" if code == 0 else f"exit {code}"


def _files(folder, lines, rules):
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    names = {"folder": folder / "folder", "missing": folder / "missing.jsonl"}
    names["folder"].mkdir(parents=True)
    for name, content in (
        ("documents", lines), ("rules", rules), ("broken", json_bytes({"id": [None]})),
    ):  # fmt: skip
        names[name] = folder / f"{name}.{'yaml' if name == 'rules' else 'jsonl'}"
        names[name].write_bytes(content)
    return names | {"out": folder / "out.jsonl", "nowhere": folder / "no" / "where"}


def _filled(argument, paths):
    for name, path in paths.items():
        argument = argument.replace("{" + name + "}", str(path))
    return argument


def _run_outside(arguments, lines):
    usable = [a.encode("utf-8", "surrogatepass") for a in arguments]
    found = subprocess.run(
        [sys.executable, "-m", "lawful", *usable], input=lines, capture_output=True, check=False,
        timeout=28,  # importing torch takes long on a busy machine
    )  # fmt: skip
    return found.returncode, (found.stdout + found.stderr).decode("utf-8", "replace")


def _run_inside(arguments, lines):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    given = sys.argv, sys.stdin, signal.getsignal(signal.SIGTERM), messages.file
    sys.argv, sys.stdin = ["lawful", *arguments], io.TextIOWrapper(io.BufferedReader(_Bytes(lines)))
    messages.file = err
    code = None
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            app.run()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv, sys.stdin, handler, messages.file = given
        signal.signal(signal.SIGTERM, handler)
    printed = b"".join(file.detach().getvalue() for file in (out, err) if not file.flush())
    return code, printed.decode("utf-8", "replace")


class _Bytes(io.BytesIO):
    """Standard input, whose file stays open when its wrapper closes."""

    def close(self):
        pass
