"""Files in requests: as the whole body, or as parts of ``multipart/form-data`` (RFC 7578)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from lawful.readers.images import SUFFIXES as IMAGES
from lawful.server.problems import HttpProblem

FILES: Mapping[str, str | None] = {
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/tiff": ".tif",
    "image/webp": ".webp",
    "application/octet-stream": None,
}
"""Media types of files, and the ending of each; any file that says by its beginning what it is."""

FORM = "multipart/form-data"

ENDINGS = (".pdf", *IMAGES, ".hocr", ".html", ".htm", ".alto", ".xml", ".json")
"""Endings of the names of files that can be read."""

MAX_PARTS = 8
_MAX_HEAD = 4096  # bytes of the headers of a part
_MAX_NAME = 200
_NAME = re.compile(r'[; ]name="((?:[^"\\\r\n]|\\.)*)"|[; ]name=([^";\s]+)', re.IGNORECASE)
_FILE_NAME = re.compile(
    r'[; ]filename="((?:[^"\\\r\n]|\\.)*)"|[; ]filename=([^";\s]+)', re.IGNORECASE
)
_BOUNDARY = re.compile(r'boundary=(?:"([^"\r\n]{1,70})"|([^\s;,"]{1,70}))', re.IGNORECASE)


class Upload(NamedTuple):
    """A file, or another part of a form."""

    content: bytes
    name: str | None = None
    media_type: str = ""

    @property
    def suffix(self) -> str:
        """The ending of a file that can be read, by its name, its media type, or its beginning."""
        ending = PurePosixPath(self.name or "").suffix.lower()
        found = ending if ending in ENDINGS else FILES.get(self.media_type) or self._sniffed()
        if found is None:
            said = self.name or self.media_type or "it"
            raise HttpProblem(
                415,
                f"the file ({said[:_MAX_NAME]}) is of an unknown kind, expected a name that ends "
                f"in one of {', '.join(ENDINGS)}",
            )
        return found

    def _sniffed(self) -> str | None:
        starts = {
            b"%PDF": ".pdf", b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"II*\0": ".tif",
            b"MM\0*": ".tif", b"RIFF": ".webp", b"GIF8": ".gif",
        }  # fmt: skip
        return next((end for start, end in starts.items() if self.content.startswith(start)), None)


def file_of(content: bytes, media_type: str, disposition: bytes | None) -> Upload:
    """A file that is the whole body; ``Content-Disposition`` may say its name."""
    text = (disposition or b"").decode("utf-8", "replace")
    return Upload(content, _quoted(_FILE_NAME, text), media_type)


def parts_of(content: bytes, content_type: bytes) -> dict[str, Upload]:
    """The parts of a form by name; a problem if it is no form, or a name comes twice."""
    found = _BOUNDARY.search(content_type.decode("latin-1"))
    if found is None:
        raise HttpProblem(422, f"the Content-Type {FORM} has no boundary")
    border = b"\r\n--" + (found[1] or found[2]).encode("latin-1")
    pieces = (b"\r\n" + content).split(border, MAX_PARTS + 1)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise HttpProblem(422, f"the form is not whole, or has more than {MAX_PARTS} parts")
    parts: dict[str, Upload] = {}
    for piece in pieces[1:-1]:
        name, part = _part(piece)
        if name in parts:
            raise HttpProblem(422, f"the form has {name!r} twice, expected one file per request")
        parts[name] = part
    return parts


def _part(piece: bytes) -> tuple[str, Upload]:
    head, blank, content = piece.partition(b"\r\n\r\n")
    if not blank or len(head) > _MAX_HEAD or not head.lstrip(b" \t").startswith(b"\r\n"):
        raise HttpProblem(422, "a part of the form has no headers, or too long ones")
    headers: Mapping[str, str] = {
        key.strip().lower(): text.strip()
        for key, _, text in (
            line.partition(":") for line in head.decode("utf-8", "replace").split("\r\n")[1:]
        )
    }
    said = headers.get("content-disposition", "")
    name = _quoted(_NAME, said)
    if name is None:
        raise HttpProblem(422, "a part of the form has no name")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return name, Upload(content, _quoted(_FILE_NAME, said), media_type)


def _quoted(pattern: re.Pattern[str], text: str) -> str | None:
    """A parameter of a header, without a path and without what no id should have."""
    found = pattern.search(text)
    if found is None:
        return None
    value = found[2] if found[1] is None else re.sub(r"\\(.)", r"\1", found[1])
    value = re.split(r"[\\/]", value)[-1]
    return "".join(c for c in value if c.isprintable())[:_MAX_NAME] or None
