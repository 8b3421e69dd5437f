"""The HTML report: one self-contained page for any number of decodings; and notebooks."""

from lawful.report.notebook import show
from lawful.report.page import write_report

__all__ = ["show", "write_report"]
