"""The built files are what the sources make, small, and free of what the policy forbids."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess

import pytest

from tests.helpers import ROOT

WEB, STATIC = ROOT / "web", ROOT / "src/lawful/review/static"
FILES = ("index.html", "review.css", "review.js")


def test_the_committed_files_are_those_that_the_sources_make(tmp_path):
    npm = shutil.which("npm")
    if npm is None or not (WEB / "node_modules").is_dir():
        pytest.skip("needs Node.js and what make test-web installs")
    built = subprocess.run(
        [npm, "--prefix", str(WEB), "run", "--silent", "build"],
        env={**os.environ, "OUT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(FILES)
    for name in FILES:
        same = (tmp_path / name).read_bytes() == (STATIC / name).read_bytes()
        assert same, f"{name} is not what web/ makes: run make web and commit it"


def test_the_page_is_small():
    script = (STATIC / "review.js").read_bytes()
    assert len(script) <= 88_000  # its texts are in three languages
    assert len(gzip.compress(script, 9)) <= 32 * 1024


def test_nothing_on_the_page_is_inline_or_from_elsewhere():
    shell = (STATIC / "index.html").read_text()
    assert "<style" not in shell
    assert " style=" not in shell
    assert shell.count("<script") == shell.count(
        '<script type="module" crossorigin src="/review.js">'
    )
    assert "http" not in shell + (STATIC / "review.css").read_text()


def test_the_sources_put_no_html_into_the_page():
    for each in (WEB / "src").iterdir():
        text = each.read_text()
        for forbidden in (
            "innerHTML",
            "dangerouslySet",
            "insertAdjacent",
            "document.write",
            "eval(",
        ):
            assert forbidden not in text, f"{each.name} has {forbidden}"


def test_the_lock_file_has_versions_and_no_addresses():
    lock = json.loads((WEB / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        assert "resolved" not in package, name
        assert not name or package.get("version"), name
