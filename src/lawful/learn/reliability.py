"""How often each source is right, from documents whose values are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any

from lawful.base.errors import InputError, shown
from lawful.candidates.sources import Voices, shrunk, what_is_said

TRUTH = "the truth"


def learn_reliability(
    documents: Iterable[tuple[Mapping[str, Any], Any]],
) -> dict[str, dict[str, float]]:
    """By source and field, how often it is right: ``reliability`` of ``Candidates.from_sources``.

    Documents are pairs: what each source says, as for ``from_sources``, and the true object. Texts
    are right if they say the same; rows are aligned by what they say. With few documents, a field
    is taken to be as reliable as its source is in all, and that as usual. ``*`` are fields that no
    document has.
    """
    right: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    names: dict[str, None] = {}
    for sources, truth in documents:
        if not isinstance(sources, Mapping) or TRUTH in sources:
            raise InputError(f"sources is {shown(sources)}, expected what each says, by name")
        names |= dict.fromkeys(sources)
        voices = Voices.of_sources({**sources, TRUTH: truth}, None, None)
        if len(sources) not in voices.of:
            raise InputError(f"the truth is {shown(truth)}, expected an object")
        for each in what_is_said(voices):
            true = each.shares.get(len(sources), {})
            for number, name in enumerate(sources):
                shares = each.shares.get(number, {})
                counts = right[name, ".".join(each.path)]
                counts[0] += fsum(share for key, share in shares.items() if key in true)
                counts[1] += fsum(shares.values())
    if not names:
        raise InputError("there are no documents, expected some with sources and truth")
    return {name: shrunk({path: (r, n) for (of, path), (r, n) in right.items() if of == name})
            for name in names}  # fmt: skip
