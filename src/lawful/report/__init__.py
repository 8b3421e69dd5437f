"""The HTML report: one self-contained page for any number of decodings."""

from lawful.report.page import write_report

__all__ = ["write_report"]
