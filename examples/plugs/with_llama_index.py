"""LlamaIndex: a reader of files whose documents have the fields as metadata.

files = SimpleDirectoryReader("invoices", file_extractor={".pdf": LawfulReader()})
files.load_data()
"""

from pathlib import Path
from typing import Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

import lawful


class LawfulReader(BaseReader):
    """Reads one file, with the options of ``lawful.extract``."""

    def __init__(self, **how: Any) -> None:
        self.how = how

    def load_data(self, file: Path, extra_info: dict[str, Any] | None = None) -> list[Document]:
        """The document of a file; ``status`` says whether its fields obey the rules."""
        found = lawful.extract(file, **self.how)
        fields = {name: str(found.values(name)[0]) for name in found.fields}
        metadata = {**(extra_info or {}), **fields, "status": found.status}
        return [Document(text=" ".join(found.words), metadata=metadata)]
