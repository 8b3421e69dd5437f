"""The command line: one file per command, ``options`` and ``output`` for what they share.

No command imports another; ``app`` puts them together.
"""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of SIGINT, as shells have it."""
