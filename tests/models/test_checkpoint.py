"""The card of a checkpoint directory."""

from __future__ import annotations

import msgspec
import numpy as np

from lawful.models.checkpoint import CARD, Card, ChainTables, read_card

TABLES = {"start": [1.0, 2.0], "between": [[3.0, 4.0], [5.0, 6.0]], "end": [7.0, 8.0]}


def test_a_chain_is_written_by_name_and_read_back(tmp_path):
    Card(labels=("O", "B-x"), window=8, crf=True, chain=ChainTables(**TABLES)).save(tmp_path)
    assert msgspec.json.decode((tmp_path / CARD).read_bytes())["chain"] == TABLES
    for name, part in read_card(tmp_path).learned._asdict().items():
        assert np.array_equal(part, TABLES[name])


def test_a_chain_of_an_older_card_is_not_misread(tmp_path):
    # Cards used to have a list without names, in the order between, start, end.
    old = {"labels": ["O", "B-x"], "window": 8, "crf": True}
    old["chain"] = [TABLES["between"], TABLES["start"], TABLES["end"]]
    (tmp_path / CARD).write_bytes(msgspec.json.encode(old))
    for name, part in read_card(tmp_path).learned._asdict().items():
        assert np.array_equal(part, TABLES[name])
    assert not list(tmp_path.glob(".*"))
