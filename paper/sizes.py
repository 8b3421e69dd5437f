"""The paper's second experiment: what decoding under rules is worth to smaller models.

    lawful data split cord.jsonl --rules cord --out build/cord
    python paper/sizes.py --data build/cord --base MiniLM --layers 1,2,3,6 --seeds 0,1,2

Trains an encoder, cut to its first layers, once for every size and seed, and scores the test
documents with it: word pieces, as in the paper. ``lawful bench paper --predictions`` then decodes
what lies in ``--out``, and ``paper/figure_sizes.py`` draws it. A model that is there is not trained
again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path


def lawful(*arguments: object) -> None:
    """Runs a command of lawful, quietly; what went wrong is said."""
    command = [sys.executable, "-m", "lawful", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    print(done.stderr.strip().splitlines()[-1], flush=True)


def fit(data: Path, base: Path, layers: int, seed: int, out: Path, more: list[str]) -> None:
    """Trains one model and scores the test documents with it."""
    name = f"{data.name}-{base.name}-{layers}-s{seed}"
    scores = out / f"{name}.jsonl"
    if scores.exists():
        return
    model = out / "models" / name
    lawful(
        "train", data / "train.jsonl", "--validation", data / "validation.jsonl", "--base", base,
        "--layers", layers, "--seed", seed, "--out", model, *more,
    )  # fmt: skip
    lawful("predict", data / "test.jsonl", "--model", model, "--units", "pieces", "--npz",
           "--out", scores)  # fmt: skip


def numbers(text: str) -> list[int]:
    """Whole numbers, parted by commas."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of splits")
    parser.add_argument("--base", type=Path, required=True, help="the encoder's folder")
    parser.add_argument("--layers", type=numbers, required=True, help="such as 1,2,3,6")
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2], help="0,1,2")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time")
    parser.add_argument("--out", type=Path, default=Path("build/sizes"))
    arguments, more = parser.parse_known_args()  # what is left goes to lawful train
    arguments.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = product(arguments.data, arguments.layers, arguments.seeds)
        jobs = [
            pool.submit(fit, data, arguments.base, layers, seed, arguments.out, more)
            for data, layers, seed in runs
        ]
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
