"""LangExtract in: what several runs found becomes candidate spans, and rules choose among them."""

import re
from typing import Any

import lawful


def decoded(runs: list[Any], rules: lawful.Rules) -> lawful.Decoding:
    """The most probable extractions under rules; ``runs`` are results of ``lx.extract``.

    What LangExtract could not place in the text has no ``char_interval``, and is no candidate.
    """
    found = list(re.finditer(r"\S+", runs[0].text))
    document = lawful.Document(runs[0].document_id, [word.group() for word in found])
    entities = [
        [
            {"start": at.start_pos, "end": at.end_pos, "label": each.extraction_class}
            for each in run.extractions
            if (at := each.char_interval) is not None
        ]
        for run in runs
    ]
    types = [field.label for field in rules.fields]
    scores = lawful.SpanScores.from_runs(entities, [word.span() for word in found], types)
    return lawful.decode(document, scores, rules)
