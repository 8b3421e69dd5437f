"""Runners of a network: torch, or onnxruntime, which needs no torch."""

from __future__ import annotations

import os
import re
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError
from lawful.base.extras import needed
from lawful.documents.chain import Chain
from lawful.models.checkpoint import first_line

if TYPE_CHECKING:
    from lawful.models.network import Network

Logits = NDArray[np.float32]


class Runner(Protocol):
    """A network that can be run."""

    copies: bool
    """Whether processes can have it, each for itself."""

    @property
    def chain(self) -> Chain | None:
        """The learned scores of transitions, or ``None`` without a CRF."""

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], boxes: NDArray[np.int64]
    ) -> Logits:
        """Logits of shape (batch, pieces, labels); those of masked pieces have no meaning.

        Shapes: ``ids`` and ``mask`` (batch, pieces), ``boxes`` (batch, pieces, 4).
        """


class TorchRunner:
    """Runs a network with torch, in 32 bits: in 16 bits, different scores become ties."""

    copies = False

    def __init__(self, network: Network, device: str | None = None) -> None:
        torch = needed("torch", "running this model")
        self.device = device_named(device)
        self._torch = torch
        self.network = network.to(self.device)

    @property
    def chain(self) -> Chain | None:
        head = self.network.chain
        if head is None:
            return None
        parts = {name: getattr(head, name) for name in Chain._fields}
        return Chain(**{name: p.detach().cpu().double().numpy() for name, p in parts.items()})

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], boxes: NDArray[np.int64]
    ) -> Logits:
        torch = self._torch
        was_training = self.network.training
        self.network.eval()
        try:
            with torch.inference_mode():
                given = (torch.from_numpy(each).to(self.device) for each in (ids, mask, boxes))
                logits: Logits = self.network(*given).float().cpu().numpy()
                return logits
        except torch.OutOfMemoryError:
            raise InputError(
                f"out of memory on {self.device} with a batch of {len(ids)} windows of "
                f"{ids.shape[1]} pieces: use a smaller batch"
            ) from None
        except (IndexError, RuntimeError) as error:
            raise InputError(f"the model cannot be run: {first_line(error)}") from None
        finally:
            self.network.train(was_training)


def half_precision(device: str) -> Any:
    """A context for bf16 if the GPU supports it; otherwise one that does nothing."""
    torch = needed("torch", "running this model")
    able = device.startswith("cuda") and torch.cuda.is_bf16_supported()
    return torch.autocast(device.split(":", maxsplit=1)[0], torch.bfloat16, enabled=able)


def device_named(device: str | None) -> str:
    """The device, checked to exist; by default a GPU if there is one."""
    torch = needed("torch", "running this model")
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"no device {device!r}: {first_line(error)}") from None
    return device


class OnnxRunner:
    """Runs an exported network on the CPU, without torch.

    Windows are run one by one, without padding: the scores of a window do not depend on others (in
    a network with 8-bit weights, one run has one scale), and memory does not grow with the batch.
    A copy in another process opens the file again, for one thread. A fork also keeps the session of
    its parent: it has none of its threads, and would wait for them if it closed it.
    """

    copies = True

    def __init__(self, file: Path, chain: Chain | None = None, threads: int | None = None) -> None:
        _check_contained(file)
        self._file, self.chain = file, chain
        session = self._open(threads)
        self._sessions = {os.getpid(): session}
        self._inputs = {given.name for given in session.get_inputs()}
        if unknown := self._inputs - {"ids", "mask", "boxes"}:
            raise InputError(f"{file}: input {min(unknown)!r}, expected ids, mask and boxes")
        shape = next((given.shape for given in session.get_outputs()), None)
        self.labels = shape[-1] if shape and isinstance(shape[-1], int) else None  # their number

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxRunner, (self._file, self.chain, 1)

    def _open(self, threads: int | None) -> Any:
        onnxruntime = needed("onnxruntime", "running model.onnx")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if not _has_vnni():  # without it, products of 8-bit numbers overflow
            options.add_session_config_entry("session.x64quantprecision", "1")
        # Threads that wait would otherwise take the processor from reading, OCR and decoding.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if threads is not None:
            options.intra_op_num_threads = threads
        try:
            return onnxruntime.InferenceSession(
                str(self._file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise InputError(f"{self._file}: not an ONNX model that can be run: {error}") from None

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], boxes: NDArray[np.int64]
    ) -> Logits:
        if os.getpid() not in self._sessions:
            self._sessions[os.getpid()] = self._open(1)
        rows = [self._run(ids, mask, boxes, row) for row in range(len(ids))]
        logits = np.zeros((*ids.shape, rows[0].shape[-1] if rows else 0), dtype=np.float32)
        for row, found in enumerate(rows):
            logits[row, : len(found)] = found
        return logits

    def _run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        boxes: NDArray[np.int64],
        row: int,
    ) -> Logits:
        """Logits of the pieces of one window, those that are not masked."""
        length = int(mask[row].sum())
        given = {"ids": ids, "mask": mask, "boxes": boxes}
        wanted = {name: given[name][row : row + 1, :length] for name in self._inputs}
        try:
            return np.asarray(self._sessions[os.getpid()].run(None, wanted)[0][0], dtype=np.float32)
        except Exception as error:
            raise InputError(f"the model cannot be run: {first_line(error)}") from None


def _has_vnni() -> bool:
    """Whether this processor is known to multiply 8-bit numbers without overflow."""
    try:
        return "_vnni" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


_KEY = re.compile(rb"(?:\x0a|\x8a\x80*\x00)(?:\x08|\x88\x80*\x00)\Z")
"""What protobuf writes before a key of eight letters: its field and its length, in any encoding."""


def _check_contained(file: Path) -> None:
    """Raises an ``InputError`` if weights are in other files, which could be any on the machine."""
    try:
        with file.open("rb") as data, mmap(data.fileno(), 0, access=ACCESS_READ) as content:
            at = content.find(b"location")  # the key of a path to another file
            while at >= 0 and not _KEY.search(content[max(at - 20, 0) : at]):
                at = content.find(b"location", at + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from None
    if at >= 0:
        raise InputError(f"{file}: weights are in another file, expected all in this one")
