"""Ray Data: a stage whose actors load rules and a model once.

    ds.map_batches(
        lawful.arrow.ray.DecodeActor,
        fn_constructor_kwargs={"rules": "rules.yaml", "model": "my-model"},
        batch_format="pyarrow",
        concurrency=2,
    )

Ray itself is not imported here: the class is what ``map_batches`` wants, and works without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawful.arrow import SCHEMA, decode_table, extract_table
from lawful.models.tagger import from_pretrained
from lawful.rules.rule_set import Rules


class DecodeActor:
    """Decodes Arrow tables: of scored documents or, with a ``model``, of files and documents.

    ``rules`` are ``Rules`` or the path of a rule file, ``model`` is a folder. ``how`` are options
    of ``lawful.arrow.decode_batches`` or, with a model, of ``extract_batches``. A document that
    fails is a row with ``error``, so no job ends because of it.
    """

    def __init__(
        self, rules: Rules | str | Path, *, model: str | Path | None = None, **how: Any
    ) -> None:
        self._rules = rules if isinstance(rules, Rules) else Rules.load(rules)
        self._tagger = None if model is None else from_pretrained(model)
        self._how = how

    def __call__(self, table: Any) -> Any:
        """The decodings of a table, in order."""
        if not table.num_rows:  # which may lack columns, too
            return SCHEMA.empty_table()
        if self._tagger is None:
            return decode_table(table, self._rules, **self._how)
        return extract_table(table, self._rules, model=self._tagger, **self._how)
