"""Files that appear whole or not at all."""

from __future__ import annotations

import pytest

import lawful
from lawful.io.atomic import atomic_text


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def fail():
        with atomic_text(path) as out:
            out.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with atomic_text(path) as out:
        out.write("after")
    assert path.read_text() == "after"
    with pytest.raises(lawful.InputError, match="cannot write"), atomic_text(tmp_path / "no" / "x"):
        pass
    with pytest.raises(lawful.InputError, match="it is a folder"), atomic_text(tmp_path):
        pass


def test_temporary_files_of_killed_processes_are_removed(tmp_path):
    left, mine = tmp_path / ".out.txt.a1b2c3d4.tmp", tmp_path / ".out.txt.swp"
    left.write_text("half")
    mine.write_text("not ours")
    with atomic_text(tmp_path / "out.txt") as first:
        first.write("first")
        with atomic_text(tmp_path / "out.txt") as second:  # leaves what another one is writing
            second.write("second")
        first.flush()
    assert not left.exists()
    assert mine.exists()
    assert (tmp_path / "out.txt").read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 2
