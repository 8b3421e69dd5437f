"""Groups of commands that are too large for ``cli``; one file each."""
