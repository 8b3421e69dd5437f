"""The command line in tests: a process of its own, but one that has imported everything."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
import warnings
from functools import partial
from multiprocessing import forkserver, get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import lab.__main__  # noqa: F401 - imported once, not in every process; adds to lawful's commands
from lawful.__main__ import main

ROOT = Path(__file__).parents[1]
"""The root of the repository."""


def run(*arguments, stdin=None, cwd=ROOT, env=None):
    """Runs the command line in a process of its own, with these variables added.

    The process is a copy of this one, which saves the time of importing everything; standard input,
    output and error are files, and warnings are shown as Python shows them.
    """
    arguments = [*map(str, arguments)]
    if "fork" not in get_all_start_methods():
        return subprocess.run(
            [sys.executable, "-m", "lab", *arguments],
            input=stdin, cwd=cwd, capture_output=True, text=True, timeout=600, check=False,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
    with TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(stdin or "", encoding="utf-8", errors="surrogateescape", newline="")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
            process = get_context("fork").Process(
                target=_main, args=(arguments, cwd, env or {}, files)
            )
            process.start()
        process.join(600)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(arguments, 600)
        texts = [file.read_text(encoding="utf-8") if file.exists() else "" for file in files[1:]]
    return subprocess.CompletedProcess(arguments, process.exitcode, *texts)


def _main(arguments, cwd, env, files):
    """The command line in the copied process."""
    for number, (file, flags) in enumerate(
        zip(files, (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_APPEND] * 2), strict=True)
    ):
        os.dup2(os.open(file, flags), number)
    opened = partial(open, encoding="utf-8", closefd=False)
    sys.stdin, sys.stdout = opened(0, errors="surrogateescape"), opened(1, "w")
    sys.stderr = opened(2, "w", errors="backslashreplace", buffering=1)
    warnings.resetwarnings()
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.showwarning = lambda *given: print(
        warnings.formatwarning(*given[:4]), end="", file=sys.stderr
    )
    server = forkserver._forkserver  # the one of the original process is none of this one's
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None
    os.chdir(cwd)
    os.environ.update(env)
    sys.argv = ["lawful", *arguments]
    code = 1
    try:
        main()
    except SystemExit as exit_:
        code = exit_.code
    except BaseException:
        traceback.print_exc()
    sys.exit(code)  # with nothing left of the command, whose workers end with it
