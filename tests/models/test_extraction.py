"""``lawful.extract``: the answers of the command, for one file or several."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import pytest

import lawful
from lab import receipts as demo
from lab.receipts.drawing import draw_pdf
from lawful import Budget, FailedDocument, Field, InputError, Rules, RulesError
from lawful.base.errors import RulesWarning
from lawful.io.jsonl import decoding_line
from lawful.models.extraction import check_labels
from lawful.models.shipped import RULES, receipt_model
from lawful.readers import Limits, Reader
from tests.helpers import timeless

pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")


@pytest.fixture(scope="module")
def tagger():
    return lawful.from_pretrained(receipt_model())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for page in demo.generate(3):
        draw_pdf(page.document, folder / f"{page.document.id}.pdf")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    return sorted(folder.iterdir())


def command(*arguments):
    words = [sys.executable, "-m", "lawful", "extract", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return timeless(done.stdout)


def lines_of(*decodings, ranked=False):
    return timeless("\n".join(decoding_line(each, ranked=ranked) for each in decodings))


def test_one_file_gives_what_the_command_writes(files):
    found = lawful.extract(files[1])
    assert found.id == str(files[1])
    assert found.values("total")
    written = command(files[1])
    assert lines_of(found) == written
    again = lawful.extract(str(files[1]), rules="receipt", model=receipt_model())
    assert lines_of(again) == command(files[1], "--rules", "receipt")
    assert (again.fields, found.classes["kind"].value) == (found.fields, "receipt")


@pytest.mark.parametrize("workers", [1, 2])
def test_several_files_give_a_result_each(files, tagger, workers):
    found = lawful.extract(iter(files), model=tagger, workers=workers)
    failed, *decodings = found
    assert failed == FailedDocument(1, "the PDF is damaged, or no PDF", str(files[0]))
    assert lines_of(*decodings) == command(*files[1:], "--rules", "receipt")


def test_a_copy_for_another_process_opens_the_model_again(tagger):
    page = next(iter(demo.generate(1))).document
    scores = [
        next(each.predict([page])).scores for each in (tagger, pickle.loads(pickle.dumps(tagger)))
    ]
    assert scores[0].log_probs.tobytes() == scores[1].log_probs.tobytes()


def test_options_are_those_of_the_command(files, tagger):
    rules = Rules.load(RULES)
    how = {"rules": rules, "model": tagger}
    found = lawful.extract(files[1], alternatives=1, budget=Budget(max_cost=50), **how)
    more = ("--rules", "receipt", "--alternatives", 1, "--max-cost", 50)
    assert lines_of(found, ranked=True) == command(files[1], *more)
    found = lawful.extract(files[1], by_field=True, temperature=1.5, **how)
    assert lines_of(found) == command(
        files[1], "--rules", "receipt", "--by-field", "--temperature", 1.5
    )
    assert lawful.extract(files[1], decoder="argmax", **how).decoder == "argmax"


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(files, tagger, tmp_path):
    with pytest.raises(InputError, match=r"broken\.pdf: the PDF is damaged, or no PDF"):
        lawful.extract(files[0], model=tagger)
    with pytest.raises(InputError, match=r"nowhere\.pdf: there is no such file"):
        lawful.extract(tmp_path / "nowhere.pdf", model=tagger)
    with pytest.raises(InputError, match="is a folder, expected a file; lawful"):
        lawful.extract(tmp_path, model=tagger)
    with pytest.raises(InputError, match=r"\.pdf: a page has .*too many words"):
        lawful.extract(files[1], model=tagger, reader=Reader(limits=Limits(words=1)))


def test_wrong_options_are_refused_before_a_file_is_read(files, tagger):
    for paths in (files[1], files):
        with pytest.raises(InputError, match="unknown decoder 'best'"):
            lawful.extract(paths, model=tagger, decoder="best")
        with pytest.raises(RulesError, match="no rule file 'recept'; rules by name: receipt"):
            lawful.extract(paths, model=tagger, rules="recept")
        with pytest.raises(InputError, match="rules is of type int, expected a Rules"):
            lawful.extract(paths, model=tagger, rules=3)
        with pytest.raises(InputError, match="workers is 0"):
            lawful.extract(paths, model=tagger, workers=0)
    with pytest.raises(InputError, match="paths is 3, expected a path or several"):
        lawful.extract(3, model=tagger)
    with pytest.raises(TypeError, match="unexpected keyword argument 'page'"):
        lawful.extract(files[1], page=3)


def test_rules_of_other_documents_are_refused(tagger):
    other = Rules([Field("iban", "iban", optional=True)], [])
    with pytest.raises(InputError, match="the model does not know 1 of 1 labels of the rules"):
        check_labels(other, tagger)
    fields = [Field(name, name, optional=True) for name in ("total", "iban", "bic")]
    with pytest.warns(UserWarning, match=r"does not know 2 of 3 labels of the rules \(iban, bic\)"):
        check_labels(Rules(fields, []), tagger)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("default", RulesWarning)
        check_labels(Rules.load(RULES), tagger)
