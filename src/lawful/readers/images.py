"""Images: photos and scans as arrays, and pages as small pictures for reports."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lawful.base.errors import InputError, LawfulError
from lawful.base.extras import needed
from lawful.readers.limits import Limits
from lawful.readers.pdf import open_pdf

SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp", ".gif")
"""Names of image files end in one of these."""

_FORMATS = ("JPEG", "PNG", "TIFF", "BMP", "WEBP", "GIF")
_PAGE = re.compile(r"#(?:page=([1-9][0-9]{0,6}))?(?:(?:(?<=#)|&)turn=(90|180|270))?$")


@contextmanager
def open_image(path: Path, limits: Limits) -> Iterator[Any]:
    """An open image, checked before its pixels are unpacked; its frames are pages."""
    image = needed("PIL.Image", "reading images")
    limits.check("bytes", path.stat().st_size, "the file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of size: checked below
        try:
            opened = image.open(path, formats=_FORMATS)
        except image.DecompressionBombError:
            raise InputError(
                f"the image has more pixels than the limit of {limits.pixels:,}"
            ) from None
        except Exception as error:  # decoders raise whatever they like
            raise InputError(f"the image is damaged, or no image: {_reason(error)}") from None
        with opened:
            yield opened


def frame_of(opened: Any, number: int, limits: Limits) -> NDArray[np.uint8]:
    """A frame of an image as (height, width, 3) in RGB, turned as its camera says."""
    ops = needed("PIL.ImageOps", "reading images")
    try:
        opened.seek(number)
        width, height = opened.size
        limits.check("pixels", width * height, "the image")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            turned = ops.exif_transpose(opened)
            return np.array(turned.convert("RGB"))
    except (LawfulError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"the image is damaged: {_reason(error)}") from None


def picture_of(
    reference: str, width: int, limits: Limits | None = None, password: str | None = None
) -> bytes | None:
    """A page as a JPEG of at most this width, from an entry of ``Document.images``.

    ``None`` if the file is gone, cannot be read, or needs a package that is not installed.
    """
    limits = limits or Limits()
    found = _PAGE.search(reference)
    number = int(found[1]) - 1 if found and found[1] else 0
    turn = int(found[2]) if found and found[2] else 0
    path = Path(reference[: found.start()] if found else reference)
    try:
        if path.suffix.lower() == ".pdf":
            with open_pdf(path, limits, password) as pdf, pdf.page(number) as page:
                pixels, _ = page.render(limits, 72 * width / max(page.size[0], 1))
            pixels = np.ascontiguousarray(np.rot90(pixels, -turn // 90))
            image = needed("PIL.Image", "drawing pages").fromarray(pixels)
            return _jpeg(_fitted(image, width, 1))
        if path.suffix.lower() in SUFFIXES:
            with open_image(path, limits) as opened:
                return _jpeg(_small_frame(opened, number, limits, width, turn))
        return None
    except (LawfulError, MemoryError):
        return None
    except Exception:  # decoders raise whatever they like
        return None


_TURNED = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
"""Pillow's way of turning an image, by how its camera was held."""

_BY_ANGLE = {90: 4, 180: 3, 270: 2}


def _small_frame(opened: Any, number: int, limits: Limits, width: int, turn: int) -> Any:
    """A frame at most so wide, turned: made small as soon as possible, while it is unpacked."""
    opened.seek(number)
    limits.check("pixels", opened.width * opened.height, "the image")
    share = min(1.0, width / (opened.height if _lies(opened, turn) else opened.width))
    # A JPEG is unpacked at a half, a quarter or an eighth of its size.
    opened.draft("RGB", (round(opened.width * share), round(opened.height * share)))
    opened.load()
    # Pillow has turned some formats by now.
    held, lies = opened.getexif().get(0x0112, 1), _lies(opened, turn)
    image = opened if opened.mode in ("RGB", "L") else opened.convert("RGB")
    image = _fitted(image, width, 2 if lies else 1)
    for way in (_TURNED.get(held), _BY_ANGLE.get(turn)):
        if way is not None:
            image = image.transpose(way)
    return image


def _lies(opened: Any, turn: int) -> bool:
    """Whether the width of the turned image is its height as it is."""
    return (opened.getexif().get(0x0112, 1) in (5, 6, 7, 8)) != (turn in (90, 270))


def _fitted(image: Any, width: int, side: int) -> Any:
    """The image with a width, or for ``side`` 2 a height, of at most so many pixels."""
    share = min(1.0, width / (image.width if side == 1 else image.height))
    if share == 1.0:
        return image
    size = max(1, round(image.width * share)), max(1, round(image.height * share))
    return image.resize(size, reducing_gap=2.0)


def _jpeg(image: Any) -> bytes:
    if image.mode != "L":
        pixels = np.asarray(image)
        if (pixels.max(axis=2) - pixels.min(axis=2)).max() < 24:
            image = image.convert("L")  # a scan or print without colours
    file = io.BytesIO()
    image.save(file, "JPEG", quality=60, optimize=True)
    return file.getvalue()


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
