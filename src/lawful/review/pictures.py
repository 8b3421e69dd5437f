"""Pictures of pages, from files that the reviewer has named, and no others.

A document is a stranger's text: its id and the paths in it may say anything. So a path counts only
if, links followed, it lies in a folder that the reviewer has named: that of ``--images``, or that
of the documents themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from lawful.cache import Cache
from lawful.document import Document
from lawful.errors import InputError
from lawful.files.images import SUFFIXES, picture_of

WIDTH = 1600
"""The most pixels that a picture is wide."""

MOST_BYTES = 2**26
_KINDS = (*SUFFIXES, ".pdf")


class Pictures:
    """Draws pages of documents as JPEG."""

    def __init__(
        self, folders: Iterable[Path] = (), images: str | None = None, password: str | None = None
    ) -> None:
        """``images`` is a folder, or a template of paths with ``{id}`` and ``{page}``, from 1."""
        self._template = images if images is not None and "{" in images else None
        named = None
        if images is not None:
            named = Path(images) if self._template is None else _before_names(images)
        self._named = named if self._template is None else None
        if named is not None and not named.is_dir():
            raise InputError(f"cannot read pictures in {named}: it is no folder")
        roots = [*folders, *([named] if named is not None else [])]
        self._roots = [root.resolve() for root in roots]
        self._password = password
        self._drawn: Cache[tuple[str, int], bytes] = Cache(MOST_BYTES)
        self._lock = threading.Lock()  # PDFium is not to be used by several threads

    def there(self, document: Document, page: int) -> bool:
        """Whether there is a file that the page could be drawn from."""
        return next(self._references(document, page), None) is not None

    def draw(self, document: Document, page: int) -> bytes | None:
        """The page as a JPEG, or ``None`` if it cannot be drawn."""
        for reference in self._references(document, page):
            with self._lock:
                found = self._drawn.get((reference, page))
                if found is None:
                    found = picture_of(reference, WIDTH, password=self._password)
                    if found is not None:
                        self._drawn.keep((reference, page), found, len(found))
            if found is not None:
                return found
        return None

    def _references(self, document: Document, page: int) -> Iterator[str]:
        """Files of a page, as ``Document.images`` names them, all of them within the folders."""
        images = document.images or ()
        if page < len(images) and (named := images[page]) is not None:
            path, mark, fragment = named.partition("#")
            for place in (Path(path), *(root / path for root in self._roots)):
                if (inside := self._inside(place)) is not None:
                    yield f"{inside}{mark}{fragment}"
        for place, fragment in self._by_name(document.id, page):
            if (inside := self._inside(place)) is not None:
                yield f"{inside}{fragment}"

    def _by_name(self, id_: str, page: int) -> Iterator[tuple[Path, str]]:
        if self._template is not None:
            path = self._template.replace("{page}", str(page + 1)).replace("{id}", id_)
            yield Path(path), "" if "{page}" in self._template else f"#page={page + 1}"
        if self._named is None:
            return
        for suffix in _KINDS:
            yield self._named / f"{id_}-{page + 1}{suffix}", ""
        for suffix in _KINDS:
            if page == 0 or suffix in (".pdf", ".tif", ".tiff"):
                yield self._named / f"{id_}{suffix}", f"#page={page + 1}"

    def _inside(self, path: Path) -> Path | None:
        """The file itself, if it is one and lies in one of the folders."""
        try:
            real = path.resolve()
            if real.suffix.lower() in _KINDS and real.is_file():
                return real if any(real.is_relative_to(root) for root in self._roots) else None
        except (OSError, ValueError, RuntimeError):  # an impossible name, or links in a circle
            return None
        return None


def _before_names(template: str) -> Path:
    """The folder of a template: the part of its path before the first name in braces."""
    return Path(template[: template.index("{")] + "x").parent
