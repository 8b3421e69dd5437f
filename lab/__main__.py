"""``python -m lab``: the command line of lawful, with what the paper needs."""

from __future__ import annotations

import lab.datasets
import lab.decoders  # noqa: F401 - known by name from here on, also in the help of commands
from lab.paper import commands
from lawful.__main__ import main
from lawful.cli.app import app

app.add_typer(commands.app, name="experiments")

if __name__ == "__main__":
    main()
