"""What was filled into the form of a PDF file."""

import pytest

from lawful.readers import Reader
from lawful.readers.forms import place_words
from tests.fixtures import pdfs

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")


def form(*fields, content=b"", keys=""):
    """A page with a form; a field is its rectangle and the keys of its dictionary."""
    numbers = [6 + i for i in range(len(fields))]
    listed = " ".join(f"{number} 0 R" for number in numbers)
    more = [b"<</Type /Font /Subtype /Type1 /BaseFont /Courier>>"]
    more += [
        (
            f"<</Type /Annot /Subtype /Widget /P 3 0 R /Rect [{rectangle}] /T (f{i}) "
            f"/DA (/F1 10 Tf 0 g) {given}>>"
        ).encode("latin-1")
        for i, (rectangle, given) in enumerate(fields)
    ]
    data = pdfs.one_page(
        content, fonts="/Font <</F1 5 0 R>>", more=more, keys=f"/Annots [{listed}] {keys}"
    )
    form_ = f"/AcroForm <</Fields [{listed}] /DR <</Font <</F1 5 0 R>>>>>>"
    return data.replace(b"/Type /Catalog", f"/Type /Catalog {form_}".encode(), 1)


def read(folder, data):
    (folder / "a.pdf").write_bytes(data)
    return Reader(ocr="never").read(folder / "a.pdf")


def test_values_are_words_in_their_boxes(tmp_path):
    document = read(
        tmp_path,
        form(
            ("100 700 300 716", "/FT /Tx /V (Jane M. Doe)"),
            ("400 700 500 716", "/FT /Tx /V (1.234,50) /Q 2"),
            ("100 600 300 660", "/FT /Tx /Ff 4096 /V (first line\\nsecond)"),
            ("100 500 300 516", "/FT /Ch /Ff 131072 /Opt [(EUR) (USD)] /V (EUR)"),
            content=b"BT /F1 10 Tf 50 704 Td (Name) Tj ET",
        ),
    )
    assert document.words == (
        "Name",
        "Jane",
        "M.",
        "Doe",
        "1.234,50",
        "first",
        "line",
        "second",
        "EUR",
    )
    places = dict(zip(document.words, document.boxes, strict=True))
    assert places["Jane"].x0 == 100
    assert places["Doe"].x1 < 300
    assert places["1.234,50"].x1 == 500  # to the right
    assert 842 - 716 <= places["Jane"].y0 < places["Jane"].y1 <= 842 - 700
    assert places["first"].y1 <= places["second"].y0


@pytest.mark.parametrize(
    "given",
    [
        "/FT /Tx /V (secret) /F 2",  # hidden
        "/FT /Tx /V (secret) /F 32",  # not to be seen
        "/FT /Tx /V (secret) /Ff 8192",  # a password
        "/FT /Tx /V ()",
        "/FT /Btn /V /Yes /AS /Yes",
        "/FT /Tx",
        "/V (none)",
    ],
)
def test_what_nobody_sees_is_no_word(tmp_path, given):
    document = read(
        tmp_path,
        form(("100 700 300 716", given), content=b"BT /F1 10 Tf 50 704 Td (Name) Tj ET"),
    )
    assert document.words == ("Name",)


def test_values_that_are_printed_too_come_once(tmp_path):
    content = b"BT /F1 10 Tf 102 704 Td (Doe) Tj ET BT /F1 10 Tf 102 604 Td (Doe) Tj ET"
    document = read(tmp_path, form(("100 700 300 716", "/FT /Tx /V (Doe)"), content=content))
    assert document.words == ("Doe", "Doe")


def test_values_turn_with_the_page(tmp_path):
    turned = read(tmp_path, form(("100 700 300 716", "/FT /Tx /V (Doe)"), keys="/Rotate 90"))
    assert turned.sizes == ((842, 595),)
    (box,) = turned.boxes
    assert 700 <= box.x0 < box.x1 <= 716
    assert box.y0 == pytest.approx(100, abs=1)


def test_long_values_stay_inside():
    words = list(place_words([["abc"] * 50], (0, 0, 100, 10)))
    assert len(words) == 50
    assert words[0].box[0] == 0
    assert words[-1].box[2] == pytest.approx(100)
    assert list(place_words([[], []], (0, 0, 1, 1))) == []
    (middle,) = place_words([["ab"]], (0, 0, 100, 10), align=1)
    assert middle.box[0] + middle.box[2] == pytest.approx(100)
