"""Spark: ``mapInArrow`` gives the same rows as one process, also if a worker dies."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from lawful.arrow import decode_batches, spark_schema
from tests.command_line import ROOT
from tests.engines.importable import DiesOnce, rules_with_functions

sql = pytest.importorskip("pyspark.sql", reason="make test-engines installs it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(ROOT)
    session = (
        sql.SparkSession.builder.master("local[2,4]")  # with retries, as on a cluster
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_gives_the_rows_of_one_process(spark, folder, alone, rows):
    rules = rules_with_functions()  # Python functions, which workers import
    found = spark.read.parquet(folder).mapInArrow(
        lambda batches: decode_batches(batches, rules), spark_schema()
    )
    assert rows(found.toArrow()) == alone(rules)


def test_a_worker_that_dies_costs_nothing(spark, folder, rules, alone, rows, tmp_path):
    stage = DiesOnce(str(tmp_path / "died"), rules)
    found = spark.read.parquet(folder).mapInArrow(stage.batches, spark_schema())
    assert rows(found.toArrow()) == alone(rules)
    assert (tmp_path / "died").exists()
