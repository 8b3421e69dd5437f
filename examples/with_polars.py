"""Polars: scored documents in a frame, decodings in another, one row per field value."""

from itertools import islice

import polars

import lawful.arrow
from lab import receipts as demo

pages = islice(lawful.read_jsonl(demo.shipped()), 8)
documents = polars.DataFrame(lawful.arrow.scored_batch(list(pages)))

decoded = polars.DataFrame(
    lawful.arrow.decode_table(
        documents, lawful.Rules.load(demo.RULES), labels=demo.LABELS, kind="log_probs"
    )
)
print(decoded["status"].value_counts(sort=True))
values = decoded.select("id", "fields").explode("fields").unnest("fields")
print(values.filter(polars.col("name") == "total").select("id", "text", "number"))
