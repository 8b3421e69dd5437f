"""Files as documents: PDF files and images, what OCR engines write, and e-invoices inside PDFs.

``Reader.read`` reads one file in this process. ``read_files`` reads many in processes of their own,
so that a file that crashes or stalls a library costs no other.
"""

from __future__ import annotations

from lawful.files.limits import Limits
from lawful.files.many import Item, read_files
from lawful.files.reader import OcrMode, Reader, files_in, kind_of
from lawful.files.selection import Selection

__all__ = ["Item", "Limits", "OcrMode", "Reader", "Selection", "files_in", "kind_of", "read_files"]
