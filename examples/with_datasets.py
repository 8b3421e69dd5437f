"""Hugging Face datasets: ``map`` over batches in Arrow, with the names of columns that it has."""

from itertools import islice

import datasets
import pyarrow

import lawful.arrow
from lab import receipts as demo

datasets.disable_progress_bars()
rules = lawful.Rules.load(demo.RULES)
pages = list(islice(lawful.read_jsonl(demo.shipped()), 8))
documents = datasets.Dataset.from_dict(
    {
        "id": [page.document.id for page in pages],
        "tokens": [list(page.document.words) for page in pages],
        "scores": [page.scores.log_probs.tolist() for page in pages],
    }
)


def decode(table: pyarrow.Table) -> pyarrow.Table:
    """The decodings of a batch."""
    columns = {"words": "tokens"}
    return lawful.arrow.decode_table(
        table, rules, labels=demo.LABELS, kind="log_probs", columns=columns
    )


decoded = documents.with_format("arrow").map(
    decode, batched=True, batch_size=4, remove_columns=documents.column_names
)
for row in decoded.with_format(None):
    print(row["id"], row["status"], [field["text"] for field in row["fields"]][:3])
