"""Haystack: a component from files to documents, with the fields in their metadata."""

from typing import Any

from haystack import Document, component

import lawful


@component
class LawfulExtractor:
    """Reads files, with the options of ``lawful.extract``; those that fail are in ``failed``."""

    def __init__(self, **how: Any) -> None:
        self.how = how

    @component.output_types(documents=list[Document], failed=list[str])
    def run(self, sources: list[str]) -> dict[str, Any]:
        """One document per file that can be read."""
        found = list(lawful.extract(sources, **self.how))
        good = [each for each in found if isinstance(each, lawful.Decoding)]
        documents = [
            Document(
                content=" ".join(each.words),
                meta={
                    "file": each.id,
                    "status": each.status,
                    **{name: str(each.values(name)[0]) for name in each.fields},
                },
            )
            for each in good
        ]
        return {
            "documents": documents,
            "failed": [f"{each.id}: {each.message}" for each in found if each not in good],
        }
