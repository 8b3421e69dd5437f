"""Scored documents as record batches, with the columns that ``lawful.arrow.documents`` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lawful.arrow.documents import KIND, LABELS
from lawful.base.errors import InputError, shown
from lawful.documents.records import Scored


def scored_batch(documents: Sequence[Scored]) -> Any:
    """Scored documents as a record batch: their log-probabilities, with labels in the metadata.

    All must have the same labels. Log-probabilities keep all their digits (``double``).
    """
    labels = documents[0].word_scores.labels if documents else ()
    for scored in documents:
        if scored.word_scores.labels != labels:
            raise InputError(
                f"document {shown(scored.document.id)} has other labels than the first one"
            )
    columns: dict[str, Any] = {
        "id": pa.array([each.document.id for each in documents], pa.string()),
        "words": pa.array([each.document.words for each in documents], pa.list_(pa.string())),
    }
    for name, type_ in _OPTIONAL.items():
        values = [getattr(each.document, name) for each in documents]
        if any(value is not None for value in values):
            columns[name] = pa.array(values, type_)
    for name in ("given", "classes", "values", "misreads"):
        values = [getattr(each.document, name) for each in documents]
        if any(values):
            lines = [None if value is None else _json(value) for value in values]
            columns[name] = pa.array(lines, pa.string())
    if any(each.document.pins for each in documents):
        pins = ([pin.to_dict() for pin in each.document.pins] for each in documents)
        columns["pins"] = pa.array(list(map(_json, pins)), pa.string())
    if any(each.scores.chain is not None for each in documents):
        chains = (each.scores.chain for each in documents)
        columns["chain"] = pa.array(
            [
                None if chain is None
                else _json({name: part.tolist() for name, part in chain._asdict().items()})
                for chain in chains
            ],
            pa.string(),
        )  # fmt: skip
    if any(each.gold is not None for each in documents):
        columns["gold"] = pa.array([each.gold for each in documents], pa.list_(pa.string()))
    columns["scores"] = _scores_column(
        [each.word_scores.log_probs for each in documents], len(labels)
    )
    metadata = {LABELS: msgspec.json.encode(labels), KIND: b"log_probs"}
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    return batch.replace_schema_metadata(metadata)


_OPTIONAL = {
    "boxes": pa.list_(pa.list_(pa.float64(), 4)),
    "pages": pa.list_(pa.int32()),
    "joins": pa.list_(pa.bool_()),
    "rows": pa.list_(pa.int64()),
    "sizes": pa.list_(pa.list_(pa.float64())),
    "images": pa.list_(pa.string()),
}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _scores_column(matrices: list[NDArray[np.float64]], labels: int) -> Any:
    """Matrices as lists of lists, from their numbers as they lie in memory."""
    rows = np.cumsum([0, *(len(matrix) for matrix in matrices)])
    flat = np.concatenate([matrix.ravel() for matrix in matrices] or [np.empty(0)])
    inner = pa.ListArray.from_arrays(
        np.arange(rows[-1] + 1, dtype=np.int32) * max(labels, 1), pa.array(flat)
    )
    return pa.ListArray.from_arrays(rows.astype(np.int32), inner)
