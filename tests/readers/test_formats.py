"""Files of OCR engines: the same page as hOCR, ALTO, the JSON of Textract, Azure, docling."""

from __future__ import annotations

import json

import pytest

from lawful import Box, InputError
from lawful.readers import Reader
from lawful.readers.formats import FORMATS, read_alto, read_azure, read_hocr, read_textract
from lawful.readers.page import Word
from tests.helpers import run

WORDS = [("Total", 60, 80, 150, 100), ("Grüße", 60, 40, 130, 60), ("12,50", 300, 80, 380, 100)]
IN_ORDER = ("Grüße", "Total", "12,50")

HOCR = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/x.dtd">
<html><body><div class='ocr_page' id='page_1' title='image "a.png"; bbox 0 0 600 800; ppageno 0'>
<span class='ocr_line' title="bbox 60 80 380 100">{}</span></div></body></html>""".format(
    "".join(
        f"<span class='ocrx_word' title='bbox {a} {b} {c} {d}; x_wconf 90'><em>{w}</em></span> "
        for w, a, b, c, d in WORDS
    )
).encode()
ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>
<Page WIDTH="600" HEIGHT="800"><PrintSpace><TextLine>{}</TextLine></PrintSpace>
</Page></Layout></alto>""".format(
    "<SP/>".join(
        f'<String CONTENT="{w}" HPOS="{a}" VPOS="{b}" WIDTH="{c - a}" HEIGHT="{d - b}.0"/>'
        for w, a, b, c, d in WORDS
    )
).encode()
TEXTRACT = json.dumps(
    {
        "DocumentMetadata": {"Pages": 1},
        "Blocks": [
            {"BlockType": "PAGE", "Id": "1"},
            *(
                {
                    "BlockType": "WORD", "Text": w, "Page": 1, "Confidence": 99.0,
                    "Geometry": {
                        "BoundingBox": {
                            "Left": a / 612, "Top": b / 792,
                            "Width": (c - a) / 612, "Height": (d - b) / 792,
                        },
                        "Polygon": [],
                    },
                }
                for w, a, b, c, d in WORDS
            ),
        ],
    }
).encode()  # fmt: skip
AZURE = json.dumps(
    {
        "status": "succeeded",
        "analyzeResult": {
            "modelId": "prebuilt-layout",
            "pages": [
                {
                    "pageNumber": 1, "width": 600, "height": 800, "unit": "pixel",
                    "words": [
                        {"content": w, "polygon": [a, b, c, b, c, d, a, d], "confidence": 1}
                        for w, a, b, c, d in WORDS
                    ],
                }
            ],
        },
    }
).encode()  # fmt: skip
DOCLING = json.dumps(
    {
        "schema_name": "DoclingDocument",
        "pages": {"1": {"page_no": 1, "size": {"width": 600, "height": 800}}},
        "texts": [
            {
                "orig": w,
                "prov": [
                    {
                        "page_no": 1,
                        "bbox": {
                            "l": a, "t": 800 - b, "r": c, "b": 800 - d,
                            "coord_origin": "BOTTOMLEFT",
                        },
                        "charspan": [0, len(w)],
                    }
                ],
            }
            for w, a, b, c, d in WORDS
        ],
    }
).encode()  # fmt: skip
FILES = {
    "a.hocr": HOCR, "a.xml": ALTO, "a.json": TEXTRACT, "b.json": AZURE, "c.json": DOCLING,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_the_same_page_in_every_format(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    document = Reader().read(path)
    assert document.words == IN_ORDER
    assert document.boxes[1] == pytest.approx((60, 80, 150, 100), abs=0.01)
    assert document.pages == (0, 0, 0)
    assert document.sizes == (((612, 792) if name == "a.json" else (600, 800)),)


def test_variants():
    points = [{"x": 1, "y": 2}, {"x": 3, "y": 2}, {"x": 3, "y": 4}, {"x": 1, "y": 4}]
    page = {"width": 5, "height": 6, "words": [{"content": "a", "polygon": points}]}
    (found,) = read_azure(json.dumps({"pages": [page]}).encode())
    assert found.words == [Word("a", Box(1, 2, 3, 4))]
    both = read_textract(
        b"[" + TEXTRACT + b"," + TEXTRACT.replace(b'"Page": 1', b'"Page": 2') + b"]"
    )
    assert [len(page.words) for page in both] == [3, 3]
    assert read_hocr(b"<html></html>") == []


@pytest.mark.parametrize(
    ("read", "data", "said"),
    [
        (read_alto, b"<html/>", "the root of the XML is 'html', expected 'alto'"),
        (read_alto, ALTO.replace(b'"60"', b'"x"', 1), "found 'x' in the XML, expected a number"),
        (read_hocr, b"<span class=ocrx_word title='bbox 1 2 3 4'>a</span>", "outside of a page"),
        (read_textract, b"{}", "the JSON is not as expected"),
        (read_textract, b'{"Blocks": [{"BlockType": "WORD", "Page": 0}]}', "not numbered from 1"),
        (read_azure, b"[" * 100_000, "the JSON is not as expected"),
        (read_azure, b"{}", "the JSON has neither analyzeResult nor pages"),
    ],
)
def test_files_that_are_not_as_expected(read, data, said):
    with pytest.raises(InputError, match=said):
        read(data)


@pytest.mark.parametrize("format_", FORMATS)
def test_data_convert(tmp_path, format_):
    name = dict(zip(FORMATS, FILES, strict=True))[format_]
    (tmp_path / name).write_bytes(FILES[name])
    found = run("data", "convert", format_, tmp_path)
    assert found.returncode == 0, found.stderr
    assert tuple(json.loads(found.stdout)["words"]) == IN_ORDER
    (tmp_path / name).write_bytes(b"<")
    found = run("data", "convert", format_, tmp_path / name)
    assert (found.returncode, found.stdout) in ((2, ""), (0, found.stdout))
