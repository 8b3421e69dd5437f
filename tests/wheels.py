"""What is released, built and tried as users will: ``python -m tests.wheels``.

The source distribution is built from the tree, wheels from the source distribution, and each wheel
is installed into an empty environment of every Python on this machine that it is meant for. There
the demo and the tests of the core run, against the installed package. With the first Python, also
the tutorial and the notebook, with all that ``pip install 'lawful[extract]'`` brings.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import ROOT
from tests.sbom import sbom

OUT = ROOT / "build" / "release"
TESTS = "@tests/core.txt"
"""The tests of the core, and of how rules reach it."""
TUTORIAL = "tests/docs/test_tutorial.py"
PACKAGES = ("pytest", "hypothesis")
"""Packages that these tests need besides lawful."""

_ABOUT = (
    "import sys, sysconfig;"
    "print(sys.version_info[0], sys.version_info[1], sys.version_info[2],"
    "int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"
)


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python of this machine."""

    minor: int
    free_threaded: bool
    micro: int
    path: str

    def __str__(self) -> str:
        return f"3.{self.minor}.{self.micro}{'t' if self.free_threaded else ''}"

    def takes(self, wheel: Path) -> bool:
        """Whether it can install the wheel."""
        python, abi = wheel.stem.split("-")[2:4]
        if abi == "abi3":
            return not self.free_threaded and self.minor >= int(python[3:])
        return abi == f"cp3{self.minor}{'t' if self.free_threaded else ''}"


def main() -> None:
    """Builds and tries everything, and stops at the first thing that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", nargs="*", help="more interpreters than those that are found")
    found = interpreters(parser.parse_args().python)
    if not found:
        sys.exit("no Python 3.11 or newer found")
    shutil.rmtree(OUT, ignore_errors=True)
    say("pythons", ", ".join(f"{each} ({each.path})" for each in found))
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", OUT / "dist", ROOT)
    (sdist,) = (OUT / "dist").glob("*.tar.gz")
    models = ROOT / "packages" / "lawful-models"
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", OUT / "data", models
    )
    say("source", f"{sdist.name}, {sdist.stat().st_size / 1e6:.1f} MB")
    for each in found:
        if not any(each.takes(wheel) for wheel in (OUT / "dist").glob("*.whl")):
            build(each, sdist)
    inspect(sorted((OUT / "dist").glob("*.whl")))
    (data,) = (OUT / "data").glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", data)
    say("models", f"{data.name}, {data.stat().st_size / 1e6:.1f} MB")
    wheels = sorted((OUT / "dist").glob("*.whl"))
    bill = sbom([wheels[0], data])
    path = OUT / "data" / f"{wheels[0].name.split('-cp')[0]}.cdx.json"
    path.write_text(json.dumps(bill, indent=1), encoding="utf-8")
    say("sbom", f"{path.name}, {len(bill['components'])} components")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(try_out, found))
    try_everything(found[0], data)


def interpreters(more: list[str]) -> list[Interpreter]:
    """One Python per version from 3.11 on, of those that pyenv has and those on the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [*map(str, pyenv.glob("versions/*/bin/python3")), sys.executable, *more]
    names = [f"python3.{minor}{kind}" for minor in range(11, 20) for kind in ("", "t")]
    places += [path for path in map(shutil.which, names) if path and "/shims/" not in path]
    newest: dict[tuple[int, bool], Interpreter] = {}
    for place in places:
        asked = subprocess.run([place, "-c", _ABOUT], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            continue
        major, minor, micro, free = map(int, asked.stdout.split())
        each = Interpreter(minor, bool(free), micro, place)
        if (major, minor) >= (3, 11) and micro >= newest.get((minor, bool(free)), each).micro:
            newest[minor, bool(free)] = each
    return sorted(newest.values())


def build(python: Interpreter, sdist: Path) -> None:
    """Builds the wheel of one Python from the source distribution."""
    home = environment(python, "build")
    run(home / "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", OUT / "dist", sdist)
    (wheel,) = (wheel for wheel in (OUT / "dist").glob("*.whl") if python.takes(wheel))
    say("wheel", f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, by Python {python}")


def inspect(wheels: list[Path]) -> None:
    """Asks the tools of the Python Packaging Authority, and abi3audit, about the files."""
    for wheel in wheels:
        shown = run(sys.executable, "-m", "auditwheel", "show", wheel)
        tags = re.findall(r"\"?((?:many|musl)linux_\w+)\"?", shown)
        if not tags:
            sys.exit(f"auditwheel finds no manylinux tag that {wheel.name} could have:\n{shown}")
        say("auditwheel", f"{wheel.name}: {tags[0]}")
        if "-abi3-" in wheel.name:
            run(sys.executable, "-m", "abi3audit", "--strict", "--assume-minimum-abi3=3.12", wheel)
            say("abi3audit", f"{wheel.name}: no symbol outside the stable ABI")
    run(sys.executable, "-m", "twine", "check", "--strict", *(OUT / "dist").iterdir())
    say("twine", "the descriptions will be shown")


def try_out(python: Interpreter) -> None:
    """Installs its wheel into an empty environment; runs the demo and the core's tests there."""
    (wheel,) = (wheel for wheel in (OUT / "dist").glob("*.whl") if python.takes(wheel))
    home = environment(python, "try")
    run(home / "pip", "install", "--quiet", "--only-binary=:all:", wheel, *PACKAGES)
    demo = run(home / "lawful", "demo", "--out", OUT / f"demo-{python}.html", folder=OUT)
    (counts,) = re.findall(r"^lawful's defaults, 48 documents: (.*)$", demo, re.MULTILINE)[:1]
    tests = run(home / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS)
    say(str(python), f"{wheel.name}: {counts}; {tests.splitlines()[-1].strip('= ')}")


def try_everything(python: Interpreter, models: Path) -> None:
    """Tries what ``pip install`` brings with models, in a folder without the source."""
    (wheel,) = (wheel for wheel in (OUT / "dist").glob("*.whl") if python.takes(wheel))
    home = environment(python, "all")
    extract = f"lawful[extract] @ {wheel.as_uri()}"
    needed = (*PACKAGES, "pydantic", "pyyaml", "matplotlib")
    run(home / "pip", "install", "--quiet", "--only-binary=:all:", extract, models, *needed)
    where = run(home / "python", "-c", "import lawful; print(lawful.__file__)", folder=OUT)
    if str(home.parent) not in where:
        sys.exit(f"lawful was imported from {where}")
    found = run(home / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", TUTORIAL)
    say("tutorial", found.splitlines()[-1].strip("= "))
    alone = OUT / "alone"
    alone.mkdir()
    notebook = shutil.copy(ROOT / "examples" / "notebook.py", alone)
    last = run(home / "python", notebook, folder=alone).splitlines()[-1]
    say("notebook", last)
    run(home / "lawful", "demo", "--out", "demo.html", folder=alone)
    say("demo", ", ".join(sorted(each.name for each in alone.iterdir())))


def environment(python: Interpreter, purpose: str) -> Path:
    """The programs of a new, empty environment."""
    home = OUT / f"{purpose}-{python}"
    run(python.path, "-m", "venv", home)
    return home / "bin"


def run(*command: object, folder: Path = ROOT) -> str:
    """What a command prints; if it fails, the run ends with that."""
    tools = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    tools |= {"COLUMNS": "300", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env={**os.environ, **tools},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nended with {done.returncode}")
    return done.stdout


def say(what: str, result: str) -> None:
    """Prints one line, with the seconds since the start."""
    print(f"{time.monotonic() - _BEGAN:4.0f} s  {what:10}  {result}", flush=True)


_BEGAN = time.monotonic()

if __name__ == "__main__":
    main()
