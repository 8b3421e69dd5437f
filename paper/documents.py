"""The documents that experiments run on: real outputs by name, or files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.outputs import HERE, NEEDED, OUTPUTS, read_outputs
from lawful import BadLine, Rules, Scored, read_jsonl
from lawful.data import RULES


def load(
    names: Iterable[str], rules: Path | None, units: str = "words"
) -> Iterator[tuple[str, list[Scored], Rules]]:
    """What to compare: real outputs by name, or a file of scored documents with gold labels."""
    for name in names:
        if name in OUTPUTS:
            if not HERE:
                raise SystemExit(f"{name} {NEEDED}")
            pages = list(read_outputs(name))
            if units == "words":
                pages = [page.to_words() for page in pages]
            yield name, pages, Rules.load(RULES[OUTPUTS[name]])
            continue
        if rules is None:
            raise SystemExit(f"{name} needs --rules; known outputs: {', '.join(OUTPUTS)}")
        read = list(read_jsonl(name))
        for bad in (line for line in read if isinstance(line, BadLine)):
            raise SystemExit(f"{name}, line {bad.line}: {bad.message}")
        yield Path(name).name, [p for p in read if isinstance(p, Scored)], Rules.load(rules)
