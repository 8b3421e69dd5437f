"""The command line: one file per command; ``options`` and ``output`` are shared.

No command imports another; ``app`` assembles them.
"""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells: 128 plus the number of SIGINT."""

DEFECT = 70
"""The exit code after an exception that nobody expected, as ``sysexits.h`` has it."""
