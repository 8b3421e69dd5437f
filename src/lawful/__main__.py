"""The ``lawful`` command; ``python -m lawful`` is the same."""

from __future__ import annotations

import sys

from lawful.cli import INTERRUPTED


def main() -> None:
    """Runs the command line."""
    try:
        from lawful.cli.app import run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
