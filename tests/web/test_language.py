"""The page in the reader's language: every text that it shows has a German and a French one."""

from __future__ import annotations

import re

import pytest

from tests.helpers import ROOT
from tests.web.pages import RULES, broken, doubtful, expect, title, value

SOURCE = ROOT / "web" / "src"
TEXTS = (SOURCE / "texts.ts").read_text(encoding="utf-8")
ENTRY = re.compile(r'(?m)^  "((?:[^"\\]|\\.)*)": \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\],$')
FILES = [file for file in sorted(SOURCE.glob("*.ts*")) if file.name != "texts.ts"]


def test_each_text_has_the_same_places_to_fill_in():
    entries = ENTRY.findall(TEXTS)
    assert len(entries) == TEXTS.count('": ["') > 150
    for texts in entries:
        assert len({tuple(sorted(re.findall(r"\{\d\}", each))) for each in texts}) == 1, texts
        assert all(texts)


def test_no_text_is_left_that_the_page_does_not_show():
    code = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
    # Some are chosen by the verdict.
    code += " ".join(
        f'"this document is {v}" "{{0}} is {v}."' for v in ("accepted", "rejected", "skipped")
    )
    # Names of fields of an object are written without quotes.
    names = set(re.findall(r"(?m)^\s+([a-z]+):", code))
    unused = [text for text, _, _ in ENTRY.findall(TEXTS)
              if f'"{text}"' not in code and text not in names]  # fmt: skip
    assert unused == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_text_of_the_page_is_only_english(file):
    """What is written in the markup, or said, goes through the table; names of keys do not."""
    code = re.sub(r"(?m)//.*$|/\*.*?\*/", "", file.read_text(encoding="utf-8"))
    assert not re.findall(
        r'(?:aria-label|aria-roledescription|title|placeholder|hint|confirm)="[^"]*[a-z]{3}', code
    )
    assert not re.findall(r'(?:live\.value =|says:|text:) ["`][A-Za-z]', code)
    if file.suffix == ".tsx":
        markup = re.sub(r"=>|<kbd>\w+</kbd>|<code>.*?</code>|<h1.*?</h1>", "", code)
        assert not re.findall(r">\s*(?:[^\s<>{}=;()]+ )*[A-Za-z]{4,}[^<>{}=;()]*<", markup)


@pytest.mark.parametrize(
    ("locale", "more", "wanted"),
    [
        ("de-AT", (), ("Regeln gelten", "Annehmen", "Prüfungen", "zu prüfen")),
        ("fr-FR", (), ("règles respectées", "Accepter", "Contrôles", "à vérifier")),
        ("pl-PL", (), ("rules hold", "Accept", "Checks", "to look at")),
        ("en-US", ("--language", "de"), ("Regeln gelten", "Annehmen", "Prüfungen", "zu prüfen")),
    ],
)
def test_the_page_speaks_the_readers_language(review, visit, locale, more, wanted):
    page = visit(review([doubtful("one"), broken("two")], RULES, *more), locale=locale, n=0)
    expect(title(page)).to_have_text("one")
    expect(page.locator(".badge").first).to_contain_text(wanted[0])
    expect(page.get_by_role("button", name=f"a ✓ {wanted[1]}")).to_be_visible()
    expect(page.get_by_role("region", name=wanted[2])).to_be_visible()
    expect(page.locator("select option").first).to_contain_text(wanted[3])
    assert page.locator("html").get_attribute("lang") == {"Regeln gelten": "de"}.get(
        wanted[0], {"fr-FR": "fr"}.get(locale, "en")
    )
    value(page, "total").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
