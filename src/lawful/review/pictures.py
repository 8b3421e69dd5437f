"""Pictures of pages, from files that the reviewer has named, and no others.

A document is a stranger's text: its id and the paths in it may say anything. So a path counts only
if, links followed, it lies in a folder that the reviewer has named: that of ``--images-from``, or
that of the documents themselves.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from lawful.base.errors import InputError
from lawful.documents.document import Document
from lawful.io.atomic import atomic_path
from lawful.pipeline.workers import leave_signals_to_parent, signals_held
from lawful.readers.images import SUFFIXES, picture_of

WIDTH = 1600
"""The most pixels that a picture is wide."""

MAX_BYTES = 2**30
"""Of pictures that are kept on the disk; the oldest ones go first."""

FORM = 1
"""Of pictures: to be raised when they are made otherwise."""

_KINDS = (*SUFFIXES, ".pdf")


class Pictured(NamedTuple):
    """What the pictures of a document are found by."""

    id: str
    images: tuple[str | None, ...] | None
    pages: int


class Pictures:
    """Draws pages of documents as JPEG, in processes of their own, and keeps them on the disk.

    A page that somebody waits for is not behind those that are drawn ahead, nor behind a large
    one; a file that crashes a library costs its own picture only.
    """

    def __init__(
        self,
        folders: Iterable[Path] = (),
        images: str | None = None,
        password: str | None = None,
        cache: Path | None = None,
    ) -> None:
        """``images`` is a folder, or a template of paths with ``{id}`` and ``{page}``, from 1.

        ``cache`` is the folder in which pictures are kept; without one, they are drawn anew.
        """
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
        self._kept = _Kept(cache)
        self._now = _Artists(max(2, min(4, os.cpu_count() or 1)))
        self._ahead = _Artists(1, polite=True)
        self._stopped = threading.Event()

    def close(self) -> None:
        """Ends all drawing."""
        self._stopped.set()
        self._now.close()
        self._ahead.close()

    def there(self, document: Document, page: int) -> bool:
        """Whether there is a file that the page could be drawn from."""
        return next(self._references(document.id, document.images, page), None) is not None

    def draw(self, document: Document, page: int) -> bytes | None:
        """The page as a JPEG, or ``None`` if it cannot be drawn."""
        for reference in self._references(document.id, document.images, page):
            if (found := self._drawn(reference, self._now)) is not None:
                return found
        return None

    def draw_ahead(self, documents: Callable[[], Iterator[Pictured]]) -> None:
        """Draws the pages of all documents in the background, unless nothing is kept.

        What draws pages that somebody waits for is ready then.
        """
        self._now.warm()
        if self._kept.folder is not None:
            work = partial(self._draw_all, documents)
            threading.Thread(target=work, daemon=True, name="pictures").start()

    def _draw_all(self, documents: Callable[[], Iterator[Pictured]]) -> None:
        with suppress(InputError, ValueError):  # the input was changed, or closed
            for each in documents():
                for page in range(each.pages):
                    if self._stopped.is_set():
                        return
                    reference = next(self._references(each.id, each.images, page), None)
                    if reference is not None:
                        self._drawn(reference, self._ahead)

    def _drawn(self, reference: str, artists: _Artists) -> bytes | None:
        if (found := self._kept.get(reference)) is not None:
            return found
        found = artists.draw(reference, self._password)
        if found is not None:
            self._kept.keep(reference, found)
        return found

    def _references(
        self, id_: str, images: Sequence[str | None] | None, page: int
    ) -> Iterator[str]:
        """Files of a page, as ``Document.images`` names them, all of them within the folders."""
        if images and page < len(images) and (named := images[page]) is not None:
            path, mark, fragment = named.partition("#")
            for place in (Path(path), *(root / path for root in self._roots)):
                if (inside := self._inside(place)) is not None:
                    yield f"{inside}{mark}{fragment}"
        for place, fragment in self._by_name(id_, page):
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


class _Artists:
    """Processes that draw pages; a page is drawn once, however many wait for it."""

    def __init__(self, number: int, *, polite: bool = False) -> None:
        self._number, self._polite = number, polite
        self._pool: ProcessPoolExecutor | None = None
        self._drawing: dict[str, Future[bytes | None]] = {}
        self._lock = threading.Lock()

    def draw(self, reference: str, password: str | None) -> bytes | None:
        """The page, or ``None`` if it cannot be drawn, or the process that drew it died."""
        with self._lock:
            work = self._drawing.get(reference)
            if work is None:
                work = self._submit(partial(picture_of, reference, WIDTH, None, password))
                self._drawing[reference] = work
        try:
            return work.result()
        except (BrokenProcessPool, CancelledError):
            with self._lock:
                self._pool = None  # the next page has new processes
            return None
        finally:
            with self._lock:
                self._drawing.pop(reference, None)

    def _submit(self, work: Callable[[], Any]) -> Future[Any]:
        pool = self._opened()  # begins multiprocessing's tracker, which lets signals through
        with signals_held():
            return pool.submit(work)

    def _opened(self) -> ProcessPoolExecutor:
        if self._pool is None:
            begin = partial(_begin, polite=self._polite)
            self._pool = ProcessPoolExecutor(self._number, get_context("spawn"), begin)
        return self._pool

    def warm(self) -> None:
        """Starts the processes, so that the first page does not wait for that."""
        with self._lock:
            for _ in range(self._number):
                self._submit(_load)

    def close(self) -> None:
        """Ends the processes."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def _load() -> None:
    """Imports what draws pages."""
    with suppress(ImportError):
        import_module("PIL.Image")


def _begin(*, polite: bool) -> None:
    """Prepares a process; a polite one lets everybody else go first."""
    leave_signals_to_parent()
    if polite:
        os.nice(10)


class _Kept:
    """Pictures in a folder, by what their file is now; those not asked for lately go first."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._held: int | None = None  # bytes; unknown at first

    def get(self, reference: str) -> bytes | None:
        """The picture, if it is kept."""
        with suppress(OSError):
            if (file := self._file(reference)) is not None:
                found = file.read_bytes()
                os.utime(file)
                return found
        return None

    def keep(self, reference: str, picture: bytes) -> None:
        """Keeps a picture, if there is a folder that can be written."""
        with suppress(OSError):
            if (file := self._file(reference)) is not None:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with atomic_path(file) as new:
                    new.write_bytes(picture)
                self._make_room(len(picture))

    def _file(self, reference: str) -> Path | None:
        if self.folder is None:
            return None
        path, mark, fragment = reference.partition("#")
        stat = Path(path).stat()
        key = (FORM, WIDTH, path, mark, fragment, stat.st_size, stat.st_mtime_ns)
        return self.folder / f"{sha256(repr(key).encode()).hexdigest()[:32]}.jpg"

    def _make_room(self, more: int) -> None:
        assert self.folder is not None  # noqa: S101 - something was kept
        with self._lock:
            if self._held is not None and self._held + more <= MAX_BYTES:
                self._held += more
                return
            found = [(each, each.stat()) for each in self.folder.glob("*.jpg")]
            found.sort(key=lambda pair: pair[1].st_mtime)
            self._held = sum(stat.st_size for _, stat in found)
            for file, stat in found:
                if self._held <= 0.8 * MAX_BYTES:
                    break
                file.unlink(missing_ok=True)
                self._held -= stat.st_size


def _before_names(template: str) -> Path:
    """The folder of a template: the part of its path before the first name in braces."""
    return Path(template[: template.index("{")] + "x").parent
