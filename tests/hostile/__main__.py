"""``python -m tests.hostile``: see ``tests.hostile.runner``."""

import sys

from tests.hostile.runner import main

if __name__ == "__main__":
    sys.exit(main())
