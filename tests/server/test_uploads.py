"""Forms as clients send them, and as nobody should."""

from __future__ import annotations

from contextlib import suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.server.problems import HttpProblem
from lawful.server.uploads import MAX_PARTS, Upload, file_of, parts_of

NAMES = st.text("abc XYZ-_.", min_size=1, max_size=12).filter(str.strip)
ODD = [b"", b"\r\n", b"--", b"\r\n--", b"\r\n\r\n--x"]
CONTENTS = st.binary(max_size=200) | st.sampled_from(ODD)
PIECES = [b"--b", b"\r\n", b"\r\n\r\n", b"--", b"Content-Disposition:", b'form-data; name="', b'"']


@given(st.dictionaries(NAMES, st.tuples(NAMES, CONTENTS), min_size=1, max_size=MAX_PARTS))
def test_what_a_client_sends_comes_back_to_the_byte(parts):
    request = httpx.Request("POST", "http://x/", files=parts)
    found = parts_of(request.read(), request.headers["content-type"].encode())
    assert {name: (part.name, part.content) for name, part in found.items()} == parts


@given(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_any_bytes_are_parts_or_a_problem(body):
    for each in (body, b"--b" + body + b"--b--", b"--b\r\n" + body + b"\r\n--b--\r\n"):
        with suppress(HttpProblem):
            parts_of(each, b"multipart/form-data; boundary=b")


def test_names_have_no_paths_and_kinds_are_told_by_name_type_or_beginning():
    assert file_of(b"", "", rb'attachment; filename="..\\a/..//x.PDF"').name == "x.PDF"
    assert Upload(b"", "x.PDF").suffix == ".pdf"
    assert Upload(b"", "photo", "image/tiff").suffix == ".tif"
    assert Upload(b"\x89PNG...", "photo", "text/plain").suffix == ".png"
    with pytest.raises(HttpProblem, match="unknown kind"):
        Upload(b"MZ", "x.exe").suffix  # noqa: B018 - asks for it


def test_a_form_needs_a_boundary():
    with pytest.raises(HttpProblem, match="no boundary"):
        parts_of(b"", b"multipart/form-data")
