"""Prefect: a task per file; what fails is tried again, and the others go on."""

from pathlib import Path

from prefect import flow, task

import lawful


@task(retries=2)
def extract(path: Path) -> lawful.Decoding:
    """The fields of a file."""
    return lawful.extract(path)


@flow
def read_invoices(folder: str) -> list[lawful.Decoding]:
    """The fields of every file of a folder."""
    files = list(lawful.readers.files_in(Path(folder)))
    found: list[lawful.Decoding] = extract.map(files).result()
    return found
