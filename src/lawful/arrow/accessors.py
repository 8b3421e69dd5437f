"""``frame.lawful``: fields for the frames of pandas and Polars, whichever are installed.

import lawful.arrow.accessors
pandas.DataFrame({"path": ["a.pdf", "b.jpg"]}).lawful.extract()
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Unpack

from lawful.arrow.decode import decode_table
from lawful.arrow.frames import columns_of
from lawful.base.errors import InputError, shown
from lawful.models.extraction import How, extract
from lawful.rules.rule_set import Rules


class Accessor:
    """What a data frame can do with lawful."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def extract(self, column: str = "path", **how: Unpack[How]) -> Any:
        """The fields of the files that a column names: a frame with one row per file, in order.

        Options are those of ``lawful.extract``, columns those of ``lawful.to_frame``.
        """
        if column not in self._frame.columns:
            known = ", ".join(map(str, self._frame.columns))
            raise InputError(
                f"no column {shown(column)}, expected one with paths; columns: {known}"
            )
        paths = [str(path) for path in self._frame[column]]
        return type(self._frame)(columns_of(extract(paths, **how)))

    def decode(self, rules: Rules, **how: Any) -> Any:
        """The decodings of documents with scores, as ``lawful.arrow.decode_table`` makes them."""
        if hasattr(self._frame, "to_pandas"):
            return type(self._frame)(decode_table(self._frame, rules, **how))
        import pyarrow as pa

        return decode_table(pa.Table.from_pandas(self._frame), rules, **how).to_pandas()


if find_spec("pandas"):
    import pandas

    pandas.api.extensions.register_dataframe_accessor("lawful")(Accessor)
if find_spec("polars"):
    import polars

    polars.api.register_dataframe_namespace("lawful")(Accessor)
