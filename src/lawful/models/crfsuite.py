"""Models of CRFsuite, as python-crfsuite and sklearn-crfsuite train them, as scores with a chain.

The weights are read from the model's file (https://www.chokkan.org/software/crfsuite), in full
precision, which the library's own dump does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.documents.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEADER = struct.Struct("<4sI4s8I")
_FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class CrfsuiteModel:
    """A linear-chain CRF: weights of attributes by label, and of labels that follow each other."""

    labels: tuple[str, ...]
    attributes: Mapping[str, int]
    states: NDArray[np.float64]  # (attributes, labels)
    transitions: NDArray[np.float64]  # (labels, labels): from, to

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CrfsuiteModel:
        """Reads a model's file; raises an ``InputError`` if it is not one."""
        try:
            return cls._parsed(Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except (struct.error, ValueError, IndexError) as error:
            raise InputError(f"{path} is not a model of CRFsuite: {error}") from None

    @classmethod
    def _parsed(cls, data: bytes) -> CrfsuiteModel:
        magic, size, kind, version, _, _, _, features, labels, attributes, _ = _HEADER.unpack_from(
            data
        )
        if magic != b"lCRF" or kind != b"FOMC" or version != 100:
            raise ValueError(
                f"it begins with {data[:4]!r}, type {kind!r}, version {version}, "
                "expected b'lCRF', b'FOMC', 100"
            )
        if size != len(data):
            raise ValueError(f"it has {len(data)} bytes, expected {size}")
        names, attribute_names = _texts(data, labels), _texts(data, attributes)
        if not names:
            raise ValueError("it has no labels")
        chunk, _, count = struct.unpack_from("<4sII", data, features)
        if chunk != b"FEAT":
            raise ValueError(f"its features begin with {chunk!r}, expected b'FEAT'")
        weights = np.frombuffer(data, _FEATURE, count, features + 12)
        if not np.isfinite(weights["weight"]).all():
            raise ValueError("it has weights that are not finite")
        states = np.zeros((len(attribute_names), len(names)))
        transitions = np.zeros((len(names), len(names)))
        for table, which in ((states, _STATE), (transitions, _TRANSITION)):
            chosen = weights[weights["kind"] == which]
            table[chosen["source"], chosen["target"]] = chosen["weight"]
            table.flags.writeable = False
        numbers = {name: i for i, name in enumerate(attribute_names)}
        return cls(tuple(names), numbers, states, transitions)

    def scores(self, items: Sequence[Any]) -> Scores:
        """Scores of a sequence, given what ``pycrfsuite.Tagger.tag`` is given: features by word.

        The probability of a labelling is the one that CRFsuite computes. Attributes that the model
        does not know are ignored, as CRFsuite does.
        """
        crfsuite = needed("pycrfsuite", "reading features of a CRFsuite model")
        sequence: Any = items
        if not isinstance(items, crfsuite.ItemSequence):
            sequence = crfsuite.ItemSequence(items)
        words = sequence.items()
        emissions = np.zeros((len(words), len(self.labels)))
        for i, values in enumerate(words):
            for name, value in values.items():
                if name in self.attributes:
                    emissions[i] += value * self.states[self.attributes[name]]
        return Scores.from_logits(emissions, self.labels).with_chain(between=self.transitions)


def _texts(data: bytes, offset: int) -> list[str]:
    """The texts of a table (a constant quark database), by number."""
    chunk, _, _, order, count, links = struct.unpack_from("<4s5I", data, offset)
    if chunk != b"CQDB" or order != 0x62445371:
        raise ValueError(f"a table of names begins with {chunk!r} and {order:#x}, expected b'CQDB'")
    texts: list[str] = []
    for place in np.frombuffer(data, "<u4", count, offset + links).tolist():
        number, size = struct.unpack_from("<2I", data, offset + place)
        text = data[offset + place + 8 : offset + place + 8 + size]
        if number != len(texts) or len(text) != size:
            raise ValueError(f"name {len(texts)} of a table is incomplete")
        texts.append(text.rstrip(b"\0").decode("utf-8"))
    return texts
