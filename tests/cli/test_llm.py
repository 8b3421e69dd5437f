"""``lawful extract --llm``: from files to fields, with a language model on loopback or replayed."""

import json
import re

import pytest

from lab import receipts as demo
from tests.helpers import run, timeless
from tests.llm.scripted import Raw, completion, serving

MODEL = """
import lawful, pydantic

class Bill(pydantic.BaseModel):
    total: float
    net: float | None = None
    tax: float | None = None

adds_up = lawful.Rule("total == net + tax")
"""
GOOD = {"total": 53.28, "net": 48, "tax": 5.28}
KEY = "sk-very-secret-123"


def answers(body):
    """A model that misreads one of the documents, and cannot read another."""
    said = body["messages"][1]["content"]
    wrong = {**GOOD, "tax": 9.99} if "Shop1" in said else {**GOOD, "total": 5.28}
    if "Shop2" in said:
        return Raw(json.dumps({"error": f"context length exceeded, {KEY}"}), status=400)
    return completion(*map(json.dumps, [wrong, *[GOOD] * 4][: body.get("n", 1)]))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bill.py").write_text(MODEL)
    words = ["Net", "48.00", "Tax", "5.28", "Total", "53.28"]
    lines = ({"id": f"d{i}", "words": [f"Shop{i}", *words]} for i in range(4))
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def extract(folder, *arguments, code=1, script=answers, **how):
    """A run with a server, and what it was asked."""
    with serving(script) as server:
        url = [] if "--replay" in arguments else ["--llm", server.url, "--model", "tiny"]
        schema = [] if "--rules" in arguments else ["--schema", "bill.py:Bill"]
        done = run("extract", "d.jsonl", *schema, *url, *arguments, cwd=folder, **how)
        assert done.returncode == code, done.stderr
        return done, server


def totals(done):
    found = (json.loads(line) for line in done.stdout.splitlines())
    return {each["id"]: each["fields"]["total"][0]["value"] for each in found}


def test_documents_go_to_the_model_and_rules_choose(folder):
    done, server = extract(folder, "--samples", 3, "--price", "100,1000")
    assert totals(done) == {"d0": 53.28, "d1": 53.28, "d3": 53.28}
    assert "line 3: the language model at 127.0.0.1" in done.stderr
    assert "3 documents: 3 satisfied, 1 bad line; 3 of 3 rules checked, 3 hold" in done.stderr
    said = "language model: 3 calls, 300 tokens read, 90 written, cost 0.120000"
    assert said in done.stderr
    assert {body["n"] for body in server.requests} == {3}


def test_answers_that_cannot_be_read_are_counted(folder):
    """Three of five answers were lost without a word."""

    def script(body):
        return completion("sorry", "I cannot", *[json.dumps(GOOD)] * 3)

    done, _ = extract(folder, code=0, script=script)
    assert "8 answers could not be read: " in done.stderr
    assert totals(done) == dict.fromkeys(("d0", "d1", "d2", "d3"), 53.28)


def test_a_record_is_replayed_without_a_server(folder):
    first, _ = extract(folder, "--record", "r.jsonl")
    done, server = extract(folder, "--replay", "r.jsonl")
    assert timeless(done.stdout) == timeless(first.stdout)
    assert not server.requests
    assert "language model: 0 calls (3 questions answered before)" in done.stderr
    assert "r.jsonl has no answer to this question" in done.stderr  # of the one that failed
    done, _ = extract(folder, "--replay", "r.jsonl", "--samples", 2, code=2)
    assert "recorded with another document, schema, model or number of samples" in done.stderr


def test_a_cache_answers_equal_questions(folder):
    extract(folder, "--cache", "c")
    done, server = extract(folder, "--cache", "c")
    assert len(server.requests) == 1  # about the document that failed
    assert "0 calls (3 questions answered before)" in done.stderr


def test_a_run_that_the_server_ended_is_resumed(folder):
    def dies(body):
        if "Shop1" in body["messages"][1]["content"]:
            return Raw(json.dumps({"error": "no money"}), status=402)
        return answers(body)

    out = ["--out", "out.jsonl", "--calls", 1]
    done, _ = extract(folder, *out, "--no-resume", script=dies, code=2)
    assert "no money" in done.stderr
    assert "the results of 1 line are kept: --resume continues" in done.stderr
    _, server = extract(folder, *out, "--resume")
    assert not any("Shop0" in body["messages"][1]["content"] for body in server.requests)
    whole, _ = extract(folder)
    assert timeless((folder / "out.jsonl").read_text()) == timeless(whole.stdout)


def test_a_run_is_not_resumed_with_another_schema(folder):
    out = ["--out", "out.jsonl", "--resume"]
    extract(folder, *out, "--bad-lines", "fail", code=2)
    (folder / "bill.py").write_text(MODEL.replace("net: float | None", "net: int | None"))
    done, _ = extract(folder, *out, code=2)
    assert "--schema" in done.stderr


def test_values_that_are_printed_nowhere_are_named(folder):
    done, _ = extract(folder, "--samples", 1)
    assert "d1: printed nowhere: tax '9.99'" in done.stderr
    assert "d0: printed nowhere" not in done.stderr


def test_fields_in_doubt_are_asked_for_again(folder):
    done, server = extract(folder, "--samples", 1, "--questions", 1)
    said = [body["messages"][1]["content"] for body in server.requests]
    again = [each for each in said if "Earlier answers are in doubt" in each]
    assert any("total is 5.28, net + tax is 53.28" in each for each in again)
    assert totals(done)["d0"] == 53.28
    assert f"language model: {3 + len(again)} calls" in done.stderr


def test_the_key_is_in_no_file_and_no_message(folder):
    done, server = extract(
        folder, "--record", "r.jsonl", "--cache", "c", "--out", "out.jsonl",
        env={"LAWFUL_LLM_KEY": KEY},
    )  # fmt: skip
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "context length exceeded, ***" in done.stderr
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) >= 7
    assert all(KEY not in path.read_text() for path in files)
    assert KEY not in done.stderr + done.stdout


def test_rules_alone_say_what_to_ask_for(folder):
    (folder / "rules.yaml").write_text("""
fields:
  total: {label: T, type: money}
  net: {label: N, type: money}
rules: [total >= net]
""")
    done, server = extract(folder, "--rules", "rules.yaml")
    assert totals(done)["d3"] == 53.28
    asked = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert asked["required"] == ["total", "net"]


def test_pdf_files_are_read_and_reports_are_written(folder):
    pytest.importorskip("pypdfium2", reason="needs the 'pdf' extra")
    from tests.fixtures.pdfs import text_pdf

    (folder / "in").mkdir()
    text = ["Shop9", "Net 48.00", "Tax 5.28", "Total 53.28"]
    (folder / "in" / "bill.pdf").write_bytes(text_pdf(text))
    with serving(answers) as server:
        for show in ("text", "both"):
            done = run(
                "extract", "in", "--schema", "bill.py:Bill", "--llm", server.url, "--model", "m",
                "--show", show, "--out", f"{show}.html", cwd=folder,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    assert "Net 48.00" in server.requests[0]["messages"][1]["content"]
    assert server.requests[1]["messages"][1]["content"][1]["type"] == "image_url"
    assert "53.28" in (folder / "both.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--llm", "http://h"], "--llm needs --schema or --rules"),
        (["--llm", "http://h", "--schema", "none.json"], "cannot read the schema none.json"),
        (["--llm", "h", "--schema", "bill.py:Bill"], "expected one such as http://localhost"),
        (["--llm", "http://me:pw@h", "--schema", "bill.py:Bill"], "has a key or a password in it"),
        (["--llm", "http://h", "--schema", "bill.py:Bill", "--price", "1"], "--price is 1, expe"),
        (["--llm", "http://h", "--schema", "bill.py:Bill", "--device", "cpu"], "--device works wi"),
        (["--replay", "none", "--schema", "bill.py:Bill"], "cannot read none"),
        (["--tagger", "receipt"], "--tagger works with --llm or --replay only"),
        (["--schema", "bill.py:Bill"], "--schema works with --llm or --replay only"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, arguments, message):
    done = run("extract", "d.jsonl", *arguments, cwd=folder)
    assert (done.returncode, message in re.sub(r"\s+", " ", done.stderr)) == (2, True), done.stderr
    assert "pw" not in done.stderr


def test_answers_are_settled_with_the_scores_of_a_tagger(folder):
    """The language model has nothing to say; the tagger knows the total of a generated receipt."""
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    (page,) = demo.generate(1, seed=3, words=(20, 40))
    line = {"id": "r", "words": page.document.words, "boxes": page.document.boxes}
    (folder / "d.jsonl").write_text(json.dumps(line) + "\n")

    def script(body):
        return completion(*["{}"] * body.get("n", 1))

    how = ["--rules", "receipt", "--samples", 2]
    done, _ = extract(folder, *how, "--tagger", "receipt", script=script)
    (found,) = map(json.loads, done.stdout.splitlines())
    (total,) = (
        word for word, label in zip(page.document.words, page.gold, strict=True)
        if label == "B-total"
    )  # fmt: skip
    assert found["fields"]["total"][0]["text"] == total
    (folder / "rules.yaml").write_text("fields:\n  sum: {label: sum, type: money}\n")
    done, _ = extract(folder, "--rules", "rules.yaml", "--tagger", "receipt", code=2, script=script)
    assert "--tagger receipt knows no label of the rules; its labels: card, cash" in done.stderr


def test_results_and_true_values_carry_a_promise(folder):
    """Of 60 bills, every tenth answer has a total that is wrong, and breaks the rule."""
    words = ["Net", "48.00", "Tax", "5.28", "Total", "53.28", "Cash", "99.99"]
    lines = ({"id": f"d{i}", "words": [f"Shop{i}.", *words]} for i in range(60))
    (folder / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    truth = "".join(f"d{i},53.28\n" for i in range(60))
    (folder / "truth.csv").write_text(f"id,total\n{truth}")

    def script(body):
        number = int(re.search(r"Shop(\d+)\.", body["messages"][1]["content"])[1])
        said = GOOD if number % 10 else {**GOOD, "total": 99.99}
        return completion(*[json.dumps(said)] * body.get("n", 1))

    needs = ["--needs", "total", "--samples", 3]
    record = ["--record", "traffic.jsonl"]
    found, _ = extract(folder, *needs, *record, script=script)
    (folder / "results.jsonl").write_text(found.stdout)
    assert "lawful trust fit makes a promise" in " ".join(found.stderr.split())
    fit = ["trust", "fit", "results.jsonl", "--schema", "bill.py:Bill", "--needs", "total"]
    asked = ["--error", 0.1, "--confidence", 0.8, "--out", "trust.json"]
    done = run(*fit, "--truth", "truth.csv", *asked, cwd=folder)
    assert done.returncode == 0, done.stderr
    again = ["--replay", "traffic.jsonl", "--model", "tiny", "--schema", "bill.py:Bill"]
    how = ["extract", "d.jsonl", *again, "--trust", "trust.json"]
    found = run(*how, *needs, cwd=folder)
    lines = timeless(found.stdout)
    assert [line["id"] for line in lines if not line["passes"]] == [
        f"d{i}" for i in range(0, 60, 10)
    ]
    assert "54 of 60 pass, at most 10 in 100 wrong (80 % sure)" in found.stderr
    for other in (["--needs", "total", "--samples", 2], [*needs, "--temperature", 1]):
        found = run(*how, *other, cwd=folder)
        assert (found.returncode, found.stdout) == (2, "")
    assert "was fitted to results of other rules, options or models" in run(
        *how, "--needs", "total", "--samples", 2, cwd=folder
    ).stderr.replace("\n", " ")
    # New documents of the same kind, of which every second total is another one than was found.
    news = [{**line, "id": f"n{line['id']}"} for line in lines]
    (folder / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in news))
    (folder / "wrong.csv").write_text(
        "id,total\n" + "".join(f"nd{i},{53.28 if i % 2 else 48}\n" for i in range(60))
    )
    check = ["trust", "check", "new.jsonl", *fit[3:], "--trust", "trust.json"]
    found = run(*check, "--truth", "wrong.csv", cwd=folder)
    assert (found.returncode, "the promise is broken" in found.stdout) == (1, True)
    (folder / "rules.yaml").write_text("fields:\n  total: {label: total, type: money}\n")
    check = [*check[:3], "-r", "rules.yaml", *check[5:]]
    found = run(*check, cwd=folder)
    assert "was fitted to results: check these with --truth" in found.stderr.replace("\n", " ")
    found = run(*fit, "--truth", "truth.csv", *asked, "--mass", 0.5, cwd=folder)
    assert "--mass works without --truth only" in found.stderr


def test_what_was_chosen_can_be_reviewed_on_its_page(folder):
    done, _ = extract(folder, "--scored-out", "scored.jsonl", "--samples", 3)
    lines = [json.loads(line) for line in (folder / "scored.jsonl").read_text().splitlines()]
    assert [each["id"] for each in lines] == ["d0", "d1", "d3"]
    assert lines[0]["words"][:7] == ["Shop0", "Net", "48.00", "Tax", "5.28", "Total", "53.28"]
    (folder / "rules.yaml").write_text(
        "fields:\n"
        + "".join(f"  {n}: {{label: {n}, type: money}}\n" for n in ("total", "net", "tax"))
        + "rules: [total == net + tax]\n"
    )
    again = run("decode", "scored.jsonl", "--rules", "rules.yaml", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert totals(again) == totals(done)
    begun = run(
        "extract", "d.jsonl", "--schema", "bill.py:Bill", "--llm", "http://127.0.0.1:9/v1",
        "--scored-out", "d.jsonl", cwd=folder,
    )  # fmt: skip
    assert begun.returncode == 2
