"""Ray Data: the same rows as in one process, also if a worker dies or a page is slow."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lawful_models import RECEIPT as MODEL

from lawful import Rules
from lawful.arrow import extract_table, scored_batch
from lawful.arrow.ray import DecodeActor
from lawful.models.shipped import RULES as RECEIPT_RULES
from tests.command_line import ROOT
from tests.engines.importable import (
    DiesOnce,
    rules_with_functions,
    takes_its_time,
    total_is_positive,
)

ray = pytest.importorskip("ray", reason="make test-engines installs it")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(
        num_cpus=4, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )  # fmt: skip
    yield
    ray.shutdown()


def collected(dataset):
    return pa.concat_tables([ray.get(part) for part in dataset.to_arrow_refs()])


def decoded(folder, **constructor):
    return ray.data.read_parquet(folder).map_batches(
        DecodeActor, fn_constructor_kwargs=constructor, batch_format="pyarrow", batch_size=8,
        concurrency=2,
    )  # fmt: skip


def test_actors_give_the_rows_of_one_process(folder, alone, rows):
    """With rules that are Python functions, one of which is slow on some pages."""
    rules = rules_with_functions(total_is_positive, takes_its_time)
    assert rows(collected(decoded(folder, rules=rules))) == alone(rules)


def test_a_worker_that_dies_costs_nothing(folder, rules, alone, rows, tmp_path):
    stage = DiesOnce(str(tmp_path / "died"), rules)
    found = ray.data.read_parquet(folder).map_batches(
        stage.decode, batch_format="pyarrow", batch_size=8
    )
    assert rows(collected(found)) == alone(rules)
    assert (tmp_path / "died").exists()


def test_a_model_is_loaded_by_the_actors(pages, rows, tmp_path):
    from pyarrow import parquet

    words = pa.table(scored_batch(pages[:8])).select(["id", "words", "boxes"])
    parquet.write_table(words, tmp_path / "words.parquet")
    found = decoded(str(tmp_path), rules=str(RECEIPT_RULES), model=str(MODEL))
    expected = extract_table(words, Rules.load(RECEIPT_RULES))
    assert rows(collected(found)) == rows(expected)
    assert expected["error"].null_count == 8
