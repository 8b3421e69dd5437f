"""Files that appear whole or not at all."""

from __future__ import annotations

import pytest

import lawful
from lawful.io.atomic import whole_file


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def fail():
        with whole_file(path) as out:
            out.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with whole_file(path) as out:
        out.write("after")
    assert path.read_text() == "after"
    with pytest.raises(lawful.InputError, match="cannot write"), whole_file(tmp_path / "no" / "x"):
        pass
    with pytest.raises(lawful.InputError, match="it is a folder"), whole_file(tmp_path):
        pass
