"""The time of the search on long pages: shared PDF files under the pack that fits, and another.

    python -m lab.benchmarks.long_pages [--every 1] [--against ../earlier]

E-invoices are scored by the invoice model, ad orders by the receipt model, which knows nothing of
them. Times are those of the processor. With ``--against``, a checkout of another commit, installed
in its own ``.venv``, decodes the same scores, and answers are compared by their worth: the
log-probability less the penalty. Needs ``../shared/data``.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from lab.benchmarks.study import study
from lawful import decode
from lawful.rules.packs import rules_named

PACKS = {"facturx": "invoice", "adbuy": "receipt"}


def score(file: Path, every: int) -> None:
    """Scores the documents, which takes minutes."""
    from lawful import from_pretrained
    from lawful.models.shipped import model_for
    from lawful.readers import Reader, files_in
    from tests.fixtures.outputs import SHARED

    scored = {}
    for name, pack in PACKS.items():
        tagger = from_pretrained(model_for(rules_named(pack)))
        files = list(files_in(SHARED / "data" / name / "pdf"))[::every]
        scored[name] = list(tagger.predict(map(Reader("never").read, files), batch=1))
    file.write_bytes(pickle.dumps(scored))


def measure(file: Path) -> None:
    """Decodes what was scored; one line of JSON."""
    found = {}
    for name, some in pickle.loads(file.read_bytes()).items():  # noqa: S301 - of this very script
        rules = rules_named(PACKS[name])
        found[name] = []
        for page in some:
            start = process_time()
            decoding = decode(page.document, page.scores, rules)
            took = process_time() - start
            found[name].append((took, decoding.status, decoding.log_prob - decoding.penalty))
    print(json.dumps(found))


def main() -> None:
    arguments = study(__doc__, every=1, against=Path, decode=Path)
    if arguments.decode:
        measure(arguments.decode)
        return
    with TemporaryDirectory() as work:
        file = Path(work, "scored")
        score(file, arguments.every)
        pythons = {"now": sys.executable}
        if arguments.against:
            pythons["earlier"] = str(arguments.against / ".venv" / "bin" / "python")
        runs = {
            version: json.loads(
                subprocess.run(
                    [python, __file__, "--decode", file], check=True, stdout=subprocess.PIPE
                ).stdout
            )
            for version, python in pythons.items()
        }
    for name, pack in PACKS.items():
        for version, found in runs.items():
            times = 1000 * np.array([took for took, *_ in found[name]])
            print(f"{name} under {pack}, {version}: median {np.median(times):.0f} ms, 95 % "
                  f"{np.percentile(times, 95):.0f}, worst {times.max():.0f}, over 100 ms: "
                  f"{(times > 100).sum()} of {len(times)}; "
                  f"{dict(Counter(status for _, status, _ in found[name]))}")  # fmt: skip
        if arguments.against:
            pairs = zip(runs["now"][name], runs["earlier"][name], strict=True)
            gains = np.array([now - before for (*_, now), (*_, before) in pairs])
            print(f"  answers: {(gains > 1e-6).sum()} worth more, {(gains < -1e-6).sum()} less, "
                  f"by {gains.sum():+.0f} nats in all")  # fmt: skip


if __name__ == "__main__":
    main()
