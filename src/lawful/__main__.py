"""The ``lawful`` command; ``python -m lawful`` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line, or says which extra it needs."""
    try:
        import rich
        import typer  # noqa: F401
    except ImportError:
        print("the command line needs typer and rich: install the 'cli' extra", file=sys.stderr)
        sys.exit(2)
    del rich
    try:
        from lawful.cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
