"""``frame.lawful`` of pandas and Polars."""

import shutil

import pytest

import lawful
from lab import receipts as demo
from lawful.rules.packs import DEMO


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    pytest.importorskip("pyarrow")
    found = pytest.importorskip(request.param)
    import lawful.arrow.accessors  # noqa: F401 - registers them

    return found


def test_files_become_rows(frames, tmp_path):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("onnxruntime")
    shutil.copy(DEMO / "receipt-00021.pdf", tmp_path / "a.pdf")
    paths = [str(tmp_path / name) for name in ("a.pdf", "none.pdf")]
    frame = frames.DataFrame({"path": paths}).lawful.extract()
    assert list(frame["id"]) == paths
    assert next(iter(frame["total"])) == 373.46
    assert "no such file" in list(frame["error"])[1]
    with pytest.raises(lawful.InputError, match="no column 'file', expected one with paths"):
        frame.lawful.extract("file")


def test_scored_documents_become_decodings(frames):
    pages = list(lawful.read_jsonl(demo.shipped()))[:3]
    scored = frames.DataFrame(
        {
            "id": [page.document.id for page in pages],
            "words": [list(page.document.words) for page in pages],
            "scores": [page.scores.log_probs.tolist() for page in pages],
        }
    )
    rules = lawful.Rules.load(demo.RULES)
    found = scored.lawful.decode(rules, labels=demo.LABELS, kind="log_probs")
    expected = lawful.decode_many(pages, rules, workers=1)
    assert list(found["status"]) == [each.status for each in expected]
