"""Airflow: a task per file, which goes on where it was; the fields are its result (XCom)."""

from pathlib import Path
from typing import Any

from airflow.sdk import dag, task

import lawful


@task
def files(folder: str) -> list[str]:
    """The PDF files and images of a folder."""
    return [str(path) for path in lawful.readers.files_in(Path(folder))]


@task(retries=2)
def extract(path: str) -> dict[str, Any]:
    """The fields of a file, with status, checks and boxes, as plain data."""
    found: dict[str, Any] = lawful.extract(path).to_dict()
    return found


@dag
def read_invoices(folder: str = "invoices") -> None:
    """Extracts the fields of every file of a folder."""
    extract.expand(path=files(folder))


read_invoices()
