"""The weights of a model that was exported with 8 bits, as floats: to go on training it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

BERT = "encoder.bert."
LAYER = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""The matrices of a layer, in the order in which they are used."""

HEAD = "encoder.classifier.weight"


def exported_weights(file: Path) -> dict[str, NDArray[Any]]:
    """The weights of a BERT network of lawful by name; its matrices have no names, but an order."""
    arrays = {  # exports since 20 November 2026 name their weights network.encoder…
        e.name.removeprefix("network."): numpy_helper.to_array(e)
        for e in onnx.load(file).graph.initializer
    }
    found: dict[str, NDArray[Any]] = {}
    matrices: list[NDArray[Any]] = []
    for kept, array in arrays.items():
        name = kept.removesuffix("_quantized")
        if name != kept:
            zero = arrays[f"{name}_zero_point"].astype(np.float32)
            real = (array.astype(np.float32) - zero) * arrays[f"{name}_scale"]
            if name.startswith("val_"):
                matrices.append(real.T)
            else:
                found[name] = real
        elif name.startswith("encoder.") and array.dtype == np.float32 and array.ndim:
            found[name] = array
    layers = (len(matrices) - 1) // len(LAYER)
    names = [f"{BERT}encoder.layer.{i}.{part}.weight" for i in range(layers) for part in LAYER]
    return found | dict(zip((*names, HEAD), matrices, strict=True))
