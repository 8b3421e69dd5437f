"""Hashes of files and folders: whether they are those of an earlier run."""

from __future__ import annotations

from hashlib import file_digest, sha256
from pathlib import Path


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    names = "\n".join(f"{hash_of(file)} {file.relative_to(path)}" for file in files)
    return sha256(names.encode()).hexdigest()


def hash_of_model(model: Path) -> str:
    """The hash of a model's files; of one on the hub, its name."""
    return hash_of(model) if model.exists() else str(model)
