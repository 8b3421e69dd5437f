"""Documents and decodings as JSON lines, written as ``lawful.io.jsonl`` reads them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lawful.decoding import Decoding
from lawful.document import Document, Labelled, Scored
from lawful.errors import InputError
from lawful.io.atomic import whole_bytes, whole_file
from lawful.io.jsonl import npz_name
from lawful.rules.checks import Check
from lawful.scores import Chain

encode = msgspec.json.Encoder(decimal_format="number").encode


def decoding_line(decoding: Decoding, *, ranked: bool = False) -> str:
    """A decoding as one line of JSON; amounts keep their digits."""
    return encode(decoding_record(decoding, ranked=ranked)).decode()


def decoding_record(decoding: Decoding, *, ranked: bool = False) -> dict[str, Any]:
    """A decoding as plain values, in the order in which people read it.

    ``ranked``: alternatives were asked for, so what is said of them is there even if it is nothing.
    """
    more: dict[str, Any] = {}
    if decoding.clash:
        more["clash"] = list(decoding.clash)
        more["clash_minimal"] = decoding.clash_minimal
    if ranked or decoding.alternatives or decoding.confidence or decoding.margin is not None:
        # JSON has no infinity; float() and Number() read the word.
        more["margin"] = "Infinity" if decoding.margin == inf else decoding.margin
        more["confidence"] = {name: list(sure) for name, sure in decoding.confidence.items()}
        more["alternatives"] = [
            {
                "optimal": other.optimal,
                "log_prob": other.log_prob,
                "penalty": _price(other.penalty),
                "fields": _fields_record(other),
                "violated": [check.id for check in other.violations],
            }
            for other in decoding.alternatives
        ]
    return {
        "id": decoding.id,
        "status": decoding.status,
        "checked": decoding.checked,
        "rules": len(decoding.rules),
        "optimal": decoding.optimal,
        "log_prob": decoding.log_prob,
        "labels": list(decoding.labels),
        "fields": _fields_record(decoding),
        "checks": [check_record(check) for check in decoding.checks],
        "corrections": [
            {
                "word": c.word,
                "from": c.old,
                "to": c.new,
                "price": c.price,
                "because": None if c.because is None else list(c.because),
            }
            for c in decoding.corrections
        ],
        **more,
        "decoder": decoding.decoder,
        **({"chosen": decoding.chosen} if decoding.chosen else {}),
        "bound": decoding.bound if np.isfinite(decoding.bound) else None,
        "penalty": _price(decoding.penalty),
        "stopped_by": decoding.stopped_by,
        "tried": decoding.tried,
        "mass": decoding.mass,
        "seconds": decoding.seconds,
    }


def check_record(check: Check) -> dict[str, Any]:
    """What came of a rule as plain values; ``implied`` and ``price`` only where there is one."""
    record: dict[str, Any] = {"id": check.id, "state": check.state, "message": check.message}
    if check.price:
        record["price"] = _price(check.price)
    if check.implied:
        record["implied"] = True
    return record


def _price(nats: float) -> float | str:
    return nats if np.isfinite(nats) else "hard"


def _fields_record(decoding: Decoding) -> dict[str, Any]:
    return {
        name: [
            {
                "text": value.text,
                "value": value.value,
                "words": list(value.words),
                "box": None if value.box is None else list(value.box),
                **({} if value.page is None else {"page": value.page}),
                **({"reading": value.reading} if value.reading else {}),
            }
            for value in values
        ]
        for name, values in decoding.fields.items()
    }


def _document_record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id, "words": document.words}
    for name in ("boxes", "pages", "joins"):
        if (values := getattr(document, name)) is not None:
            record[name] = values
    return record


def scored_line(scored: Scored) -> str:
    """A scored document as one line, as ``read_jsonl`` reads it."""
    record = _document_record(scored.document)
    record["labels"] = scored.scores.labels
    # What is too small for a probability is not forbidden yet.
    log_probs = scored.scores.log_probs
    probs = np.where(np.isinf(log_probs), 0.0, np.exp(np.maximum(log_probs, -690.0)))
    # Significant digits, not decimals: what is rounded to zero would be forbidden.
    record["probs"] = [[float(f"{p:.9g}") for p in row] for row in probs.tolist()]
    if scored.scores.chain is not None:
        parts = scored.scores.chain._asdict().items()
        record["chain"] = {name: part.tolist() for name, part in parts}  # -inf becomes null
    if scored.gold is not None:
        record["gold"] = scored.gold
    return msgspec.json.encode(record).decode()


def labelled_line(labelled: Labelled) -> str:
    """A document with its true labels as one line, as ``read_labelled`` reads it."""
    record = _document_record(labelled.document) | {"gold": labelled.gold}
    if labelled.split is not None:
        record["split"] = labelled.split
    return msgspec.json.encode(record).decode()


def write_jsonl(path: str | Path, documents: Iterable[Scored]) -> int:
    """Writes scored documents, whole or not at all; says how many."""
    return _write_lines(path, map(scored_line, documents))


def write_npz(path: str | Path, documents: Iterable[Scored]) -> int:
    """Writes documents as JSON lines, and their scores into the ``.npz`` file beside them.

    Both whole or not at all, and smaller than scores in JSON are. Says how many.
    """
    count = 0
    labels: tuple[str, ...] | None = None
    chain: Chain | None = None
    seen: set[str] = set()
    with (
        whole_file(path) as lines,
        whole_bytes(npz_name(Path(path))) as raw,
        zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as arrays,
    ):
        for scored in documents:
            scores = scored.scores
            _check_key(scored.document.id, seen)
            if labels is None:
                labels, chain = scores.labels, scores.chain
                shared = {"labels": np.array(labels), "kind": np.array("log_probs")}
                if scores.chain is not None:
                    shared |= {f"chain/{k}": v for k, v in scores.chain._asdict().items()}
                for name, array in shared.items():
                    _put(arrays, name, array)
            if scores.labels != labels or not _same(scores.chain, chain):
                raise InputError(
                    f"document {scored.document.id!r} has other labels or another chain than the "
                    "first one, which an .npz file cannot say"
                )
            _put(arrays, f"scores/{scored.document.id}", scores.log_probs.astype(np.float32))
            record = _document_record(scored.document)
            if scored.gold is not None:
                record["gold"] = scored.gold
            lines.write(msgspec.json.encode(record).decode() + "\n")
            count += 1
        lines.flush()  # a full disk is noticed before either file is replaced
    return count


def _check_key(id_: str, seen: set[str]) -> None:
    if id_ in seen:
        raise InputError(f"two documents have the id {id_!r}, which an .npz file cannot tell apart")
    if "\0" in id_ or len(id_.encode(errors="replace")) > 60_000:
        raise InputError(f"the id {id_[:50]!r} cannot name scores in an .npz file")
    seen.add(id_)


def _same(one: Chain | None, other: Chain | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(map(np.array_equal, one, other))


def _put(arrays: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    """Adds an array as ``np.savez`` does, without waiting for the others."""
    with arrays.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def write_labelled(path: str | Path, documents: Iterable[Labelled]) -> int:
    """Writes documents with their true labels, whole or not at all; says how many."""
    return _write_lines(path, map(labelled_line, documents))


def _write_lines(path: str | Path, lines: Iterable[str]) -> int:
    count = 0
    with whole_file(path) as out:
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count
