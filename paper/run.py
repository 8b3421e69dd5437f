"""The paper's table of results, again: the same as ``lawful bench paper``.

python paper/run.py --help
"""

from __future__ import annotations

import sys

from lawful.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["bench", "paper"]
    main()
