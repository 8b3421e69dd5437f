"""Decodings as data frames."""

from __future__ import annotations

import datetime
from itertools import islice

import pytest

import lawful
from lawful import FailedDocument, InputError, MissingExtraError, Rules
from tests.helpers import DOCUMENTS, RULES


@pytest.fixture(scope="module")
def decodings():
    pages = islice(lawful.read_jsonl(DOCUMENTS), 5)
    return list(lawful.decode_many([*pages, "no document"], Rules.load(RULES), workers=1))


def test_a_row_per_document(decodings):
    pytest.importorskip("pandas")
    frame = lawful.to_frame(decodings)
    assert list(frame["id"][:-1]) == [each.id for each in decodings[:-1]]
    assert frame["error"].iloc[-1].startswith("found str")
    for number, each in enumerate(decodings[:-1]):
        assert frame["total"][number] == float(each.values("total")[0])
        assert frame["violated"][number] == ", ".join(c.id for c in each.violations)
    dates = [value for value in frame["issued"] if isinstance(value, datetime.date)]
    assert dates
    assert len(lawful.to_frame([])) == 0


def test_a_row_per_value(decodings):
    pytest.importorskip("pandas")
    frame = lawful.to_frame(decodings, by="field")
    values = [
        (each.id, name, str(value.value))
        for each in decodings[:-1]
        for name, found in each.fields.items()
        for value in found
        if value.value is not None
    ]
    read = frame[frame["value"].notna()]
    assert list(zip(read["id"], read["field"], read["value"], strict=True)) == values
    money = read[read["field"] == "items"]
    assert (money["number"] == money["value"].astype(float)).all()


def test_bad_arguments_are_errors(decodings):
    if not _has_pandas():
        with pytest.raises(MissingExtraError, match="install the 'pandas' extra"):
            lawful.to_frame(decodings)
        return
    with pytest.raises(InputError, match="by is 'page', expected document or field"):
        lawful.to_frame(decodings, by="page")
    with pytest.raises(InputError, match="expected a Decoding or a FailedDocument"):
        lawful.to_frame([FailedDocument(0, "x"), 3])


def _has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True
