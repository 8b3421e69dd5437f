"""Arrow in and out: record batches of scored documents, and of their decodings.

    for batch in lawful.arrow.decode_batches(table, rules): ...

Every engine that speaks Arrow can call this: Ray Data, Spark, Polars, DuckDB, ``datasets``. A page
that cannot be decoded is a row with ``error``, never an exception, which would end a whole job.
"""

from lawful.base.extras import needed

needed("pyarrow", "lawful.arrow")

from lawful.arrow.decode import decode_batches, decode_table  # noqa: E402 - the check comes first
from lawful.arrow.decodings import SCHEMA, spark_schema, to_batch  # noqa: E402
from lawful.arrow.extract import extract_batches, extract_table  # noqa: E402
from lawful.arrow.scored import scored_batch  # noqa: E402

__all__ = [
    "SCHEMA",
    "decode_batches",
    "decode_table",
    "extract_batches",
    "extract_table",
    "scored_batch",
    "spark_schema",
    "to_batch",
]
