"""Documents whose scores are in an ``.npz`` file: odd members, damaged bytes."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

from lawful.documents.records import FailedDocument
from lawful.io.jsonl import read_jsonl
from tests.hostile.mutations import bent_array, damaged_bytes, damaged_value, json_bytes, odd_value

FOLDER = tempfile.TemporaryDirectory(prefix="hostile-npz-")
LINES = b'{"id": "a", "words": ["x", "1"]}\n{"id": "b", "words": ["2"], "labels": ["O", "B-x"]}\n'
MEMBERS = {
    "labels": np.array(["O", "B-x"]),
    "kind": np.array("log_probs"),
    "scores/a": np.log(np.full((2, 2), 0.5)),
    "scores/b": np.log(np.full((1, 2), 0.5)),
    "chain/start": np.zeros(2),
    "chain/between": np.zeros((2, 2)),
    "chain/end": np.zeros(2),
}


def draw(rng):
    """The lines and the bytes of the file."""
    members = dict(MEMBERS) if rng.random() < 0.5 else dict(list(MEMBERS.items())[:4])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(rng.choice((0, 1, 1, 2))):
            name = rng.choice(list(members))
            members[name] = bent_array(rng, members[name])
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            for name, array in members.items():
                file.writestr(f"{name}.npy", member(rng, array))
    data = packed.getvalue()
    lines = LINES
    if rng.random() < 0.2:
        records = [damaged_value(rng, json.loads(line)) for line in LINES.splitlines()]
        lines = b"\n".join(map(json_bytes, records))
    return lines, damaged_bytes(rng, data) if rng.random() < 0.4 else data


def member(rng, array):
    """The bytes of one array, sometimes with a header that says something else."""
    packed = io.BytesIO()
    try:
        np.lib.format.write_array(packed, np.asarray(array), allow_pickle=True)
    except (ValueError, TypeError):
        return bytes(str(odd_value(rng))[:100], "utf-8", "replace")
    data = packed.getvalue()
    if rng.random() < 0.1:
        shape = rng.choice((b"(9999999999, 2)", b"(2, 99999999)", b"(-1, 2)", b"(2.5,)", b"((),)"))
        data = data.replace(b"(2, 2)", shape)
    return damaged_bytes(rng, data) if rng.random() < 0.2 else data


def run(case):
    """Reads all documents."""
    lines, arrays = case
    path = Path(FOLDER.name) / "documents.jsonl"
    path.write_bytes(lines)
    path.with_suffix(".npz").write_bytes(arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bad = sum(isinstance(record, FailedDocument) for record in read_jsonl(path, "yield"))
    return "FailedDocument" if bad else "answer"
