"""Files as documents: PDF files and images, what OCR engines write, and e-invoices inside PDFs.

``Reader.read`` reads one file in this process. ``read_files`` reads many in processes of their own,
so that a file that crashes or stalls a library costs no other.
"""

from __future__ import annotations

from lawful.readers.limits import Limits
from lawful.readers.many import Item, read_files
from lawful.readers.reader import OcrMode, Reader, files_in, kind_of
from lawful.readers.selection import Selection

__all__ = ["Item", "Limits", "OcrMode", "Reader", "Selection", "files_in", "kind_of", "read_files"]
