"""Parquet files of documents, and their decodings in one process."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from lab import receipts as demo
from lawful import Rules
from lawful.arrow import decode_table, scored_batch
from tests.helpers import RULES

FILES, PAGES = 6, 12


@pytest.fixture(scope="session")
def pages():
    return list(demo.generate(FILES * PAGES, words=(24, 60)))


@pytest.fixture(scope="session")
def folder(tmp_path_factory, pages):
    """Parquet files without metadata, which Spark would drop; labels are a column."""
    path = tmp_path_factory.mktemp("in")
    for number in range(FILES):
        some = pages[number * PAGES : (number + 1) * PAGES]
        table = pa.table(scored_batch(some)).replace_schema_metadata(None)
        table = table.rename_columns(
            ["log_probs" if name == "scores" else name for name in table.column_names]
        )
        labels = pa.array([demo.LABELS] * len(some), pa.list_(pa.string()))
        parquet.write_table(table.append_column("labels", labels), path / f"{number}.parquet")
    return str(path)


@pytest.fixture(scope="session")
def rules():
    return Rules.load(RULES)


def by_id(table):
    """The rows of a table, by id, without the time that each took."""
    rows = table.drop_columns(["seconds"]).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture(scope="session")
def alone(pages):
    """A function: the rows that one process gives, by id."""
    return lambda rules: by_id(decode_table(scored_batch(pages), rules))


@pytest.fixture(scope="session")
def rows():
    return by_id
