"""What reviews give to other programs: gold lines, a table of changes, Label Studio's tasks."""

from __future__ import annotations

import csv
import io
import json

import pytest

pytest.importorskip("starlette")

from contextlib import closing

from lab import receipts as demo
from tests.helpers import RULES, demo_lines, run
from tests.review.client import desk_of


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text(demo_lines(30))
    return path


@pytest.fixture
def db(tmp_path):
    return tmp_path / "review.db"


def accept_the_truth(desk):
    """A reviewer who knows the gold labels: pins every field that is wrong, then accepts."""
    fields = {f.label: f.name for f in desk.shared.rules.fields}
    for slip in desk.documents.slips:
        gold = desk.scored(slip.n).gold
        true = set()
        for start, label in enumerate(gold):
            if label.startswith("B-") and label[2:] in fields:
                end = start + 1
                while end < len(gold) and gold[end] == f"I-{label[2:]}":
                    end += 1
                true.add((fields[label[2:]], (start, end)))
        pins = [{"words": list(words), "field": name} for name, words in sorted(true)]
        seq = desk.pin(slip.n, 0, pins, "ada")["seq"]
        desk.judge(slip.n, seq, "accepted", "ada", confirmed=True, seconds=2.0)


def test_gold_goes_straight_into_the_other_commands(documents, db, tmp_path):
    with closing(desk_of(documents, db)) as desk:
        accept_the_truth(desk)
    gold = tmp_path / "gold.jsonl"
    export = ("review", "export", documents, "--rules", RULES, "--db", db, "--out", gold)
    found = run(*export)
    assert found.returncode == 0, found.stderr
    assert "30 documents with gold labels" in found.stderr
    for before, after in zip(lines_of(documents), lines_of(gold), strict=True):
        assert {**before, "gold": after["gold"], "pins": after["pins"]} == after
    for command in (
        ("evaluate", gold, "--rules", RULES),
        ("calibrate", gold, "--rules", RULES),
        ("rules", "learn", gold, "--rules", RULES, "--out", tmp_path / "learned.yaml"),
        ("rules", "debug", gold, "--rules", RULES),
    ):
        found = run(*command)
        assert found.returncode in (0, 1), (command, found.stderr)
        assert found.stdout, command


def test_a_reviewers_labels_and_corrected_texts_arrive(documents, db, tmp_path):
    with closing(desk_of(documents, db)) as desk:
        document = desk.document(3)
        start, end = document["answer"]["fields"]["total"][0]["words"]
        pins = [{"words": [start, end], "text": "1.479,23"}]
        after = desk.pin(3, 0, pins, "ada")
        assert after["texts"] == {str(start): "1.479,23"}
        assert after["answer"]["status"] == "satisfied"
        desk.judge(3, after["seq"], "accepted", "ada")
        wide = [{"words": [0, 3], "text": "one text"}]  # of three words
        desk.judge(4, desk.pin(4, 0, wide, "ada")["seq"], "accepted", "ada", confirmed=True)
        desk.judge(5, 0, "rejected", "ada")
    gold = tmp_path / "gold.jsonl"
    found = run("review", "export", documents, "--rules", RULES, "--db", db, "--out", gold)
    assert "left out: 27 not reviewed; 1 rejected" in found.stderr
    one, other = lines_of(gold)
    assert one["words"][start] == "1.479,23"
    assert one["gold"] == after["answer"]["labels"]
    assert not [pin for pin in one["pins"] if "text" in pin]
    assert other["words"][:3] == ["one text", "", ""]
    assert other["joins"][:3] == [False, True, True]
    assert run("evaluate", gold, "--rules", RULES).returncode in (0, 1)
    decoded = run("decode", gold, "--rules", RULES)
    assert "word pieces" not in decoded.stderr


def test_an_export_decodes_to_what_was_accepted(documents, db, tmp_path):
    """A removed price came back, as the model's scores are those of before."""
    accepted = []
    with closing(desk_of(documents, db)) as desk:
        for n in range(8):
            answer = desk.document(n)["answer"]
            names = [name for name in answer["fields"] if name != "total"]
            pins = [{"words": answer["fields"][names[0]][0]["words"], "not": names[0]}]
            pins += [{"field": names[-1], "value": None}] * (len(names) > 1)
            after = desk.pin(n, 0, pins, "ada")
            desk.judge(n, after["seq"], "accepted", "ada", confirmed=True)
            accepted.append(after["answer"])
    gold = tmp_path / "gold.jsonl"
    run("review", "export", documents, "--rules", RULES, "--db", db, "--out", gold)
    decoded = run("decode", gold, "--rules", RULES).stdout.splitlines()
    checked = run("check", gold, "--rules", RULES).stdout.splitlines()
    for answer, line, judged in zip(accepted, decoded, checked, strict=True):
        assert json.loads(line)["labels"] == answer["labels"]
        texts = {name: [v["text"] for v in values] for name, values in answer["fields"].items()}
        for fields in (json.loads(line)["fields"], json.loads(judged)["fields"]):
            assert {n: [v["text"] for v in values] for n, values in fields.items()} == texts
    plain = [{**line, "pins": []} for line in lines_of(gold)]  # what was exported before
    (tmp_path / "plain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    again = run("decode", tmp_path / "plain.jsonl", "--rules", RULES).stdout.splitlines()
    assert any(
        json.loads(line)["labels"] != answer["labels"]
        for answer, line in zip(accepted, again, strict=True)
    )
    scores = [run("evaluate", each, "--rules", RULES).stdout for each in
              (gold, tmp_path / "plain.jsonl")]  # fmt: skip
    assert scores[0] == scores[1]  # what people said does not make the model better


def test_what_was_accepted_under_other_rules_is_left_out_and_said(documents, db, tmp_path):
    with closing(desk_of(documents, db)) as desk:
        desk.judge(0, 0, "accepted", "ada", confirmed=True)
    other = tmp_path / "other.yaml"
    other.write_text(demo.RULES.read_text() + "  - {id: more, check: total >= 0}\n")
    export = ("review", "export", documents, "--rules", other, "--db", db)
    found = run(*export)
    assert found.stdout == ""
    assert "1 accepted under other rules" in found.stderr
    assert len(run(*export, "--any-rules").stdout.splitlines()) == 1
    comment = tmp_path / "comment.yaml"
    comment.write_text("# the same rules\n" + demo.RULES.read_text())
    found = run("review", "export", documents, "--rules", comment, "--db", db)
    assert len(found.stdout.splitlines()) == 1


def test_changes_are_a_table_without_formulas(documents, db):
    with closing(desk_of(documents, db)) as desk:
        start, end = desk.document(3)["answer"]["fields"]["total"][0]["words"]
        pins = [{"words": [start, end], "text": "=cmd()"}]
        seq = desk.pin(3, 0, pins, "@ada")["seq"]
        desk.judge(3, seq, "rejected", "ada", note="+SUM(A1)", seconds=1.25)
    found = run("review", "export", documents, "--rules", RULES, "--db", db, "--format", "changes")
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    (first,) = [row for row in rows if row["field"] == "total" and row["action"] == "pins"]
    assert first["before"] == "1.479,25"
    assert first["reviewer"] == "'@ada"
    assert rows[-1] | {"at": ""} == {
        "seq": "2", "at": "", "reviewer": "ada", "document": "receipt-00003", "action": "verdict",
        "verdict": "rejected", "field": "", "before": "", "after": "",
        "status": rows[-1]["status"], "pins": rows[-1]["pins"], "note": "'+SUM(A1)",
        "seconds": "1.2",
    }  # fmt: skip
    assert not any(cell[:1] in "=+@" for row in rows for cell in row.values() if cell)


def test_label_studio_there_and_back(documents, db, tmp_path):
    with closing(desk_of(documents, db)) as desk:
        accept_the_truth(desk)
        labels = [desk.document(n)["answer"]["labels"] for n in range(30)]
    tasks = tmp_path / "tasks.json"
    found = run("review", "export", documents, "--rules", RULES, "--db", db, "--out", tasks,
                "--format", "label-studio")  # fmt: skip
    assert '<Label value="item.price"/>' in found.stderr
    exported = json.loads(tasks.read_text())
    assert len(exported) == 30
    region = exported[3]["annotations"][0]["result"][0]
    value, text = region["value"], exported[3]["data"]["text"]
    assert text[value["start"] : value["end"]] == value["text"]

    new = tmp_path / "new.db"
    found = run("review", "import", tasks, documents, "--rules", RULES, "--db", new)
    assert found.returncode == 0, found.stderr
    assert "30 documents imported" in found.stderr
    assert_same_fields(documents, new, labels)

    for task in exported:  # as drawn by people: nothing says which words
        for region in task["annotations"][0]["result"]:
            del region["meta"]
    tasks.write_text(json.dumps(exported))
    drawn = tmp_path / "drawn.db"
    assert (
        run("review", "import", tasks, documents, "--rules", RULES, "--db", drawn).returncode == 0
    )
    assert_same_fields(documents, drawn, labels)
    found = run("review", "import", tasks, documents, "--rules", RULES, "--db", drawn)
    assert found.returncode == 1
    assert "task 1: document 'receipt-00000' has a review already, which is kept" in found.stderr


def assert_same_fields(documents, db, labels):
    with closing(desk_of(documents, db)) as desk:
        types = {f.label for f in desk.shared.rules.fields}
        for n, expected in enumerate(labels):
            found = desk.document(n)
            assert found["verdict"] == "accepted"
            for word, label in enumerate(found["answer"]["labels"]):
                if {label[2:], expected[word][2:]} & types:
                    assert label == expected[word], (n, word)


def test_label_studio_regions_on_pages_there_and_back(documents, db, tmp_path):
    """Documents with boxes, sizes and images become rectangles in percent of the page."""
    lines = lines_of(documents)[:6]
    for line in lines:
        corners = [max(box[i] for box in line["boxes"]) for i in (2, 3)]
        line["sizes"] = [corners] * (max(line.get("pages", [0])) + 1)
        line["images"] = [f"{line['id']}-{page}.png" for page in range(len(line["sizes"]))]
    documents.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with closing(desk_of(documents, db)) as desk:
        accept_the_truth(desk)
        labels = [desk.document(n)["answer"]["labels"] for n in range(6)]
    tasks = tmp_path / "tasks.json"
    found = run("review", "export", documents, "--rules", RULES, "--db", db, "--out", tasks,
                "--format", "label-studio")  # fmt: skip
    assert '<Image name="image" valueList="$pages"/>' in found.stderr
    exported = json.loads(tasks.read_text())
    for task in exported:
        for region in task["annotations"][0]["result"]:
            assert region["type"] in ("rectanglelabels", "textarea")
            assert (
                0 <= region["value"]["x"] <= region["value"]["x"] + region["value"]["width"] <= 101
            )
            del region["meta"]
    tasks.write_text(json.dumps(exported))
    drawn = tmp_path / "drawn.db"
    found = run("review", "import", tasks, documents, "--rules", RULES, "--db", drawn)
    assert found.returncode == 0, found.stderr
    assert_same_fields(documents, drawn, labels)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ([], "expected a task with data"),
        ({"data": {"id": 3}}, "expected that of a document"),
        ({"data": {"id": "receipt-00001"}, "annotations": 5}, "expected a list"),
        ({"data": {"id": "nobody"}, "annotations": [{"result": []}]}, "no document 'nobody'"),
        ({"data": {"id": "receipt-00001"}, "meta": {"lawful": {"hash": "other"}},
          "annotations": [{"result": []}]}, "has changed since it was exported"),
        ({"data": {"id": "receipt-00001"}, "annotations": [{"result": [
            {"type": "labels", "value": {"start": 9**9, "end": 9**10, "labels": ["total"]}}]}]},
         "covers no word"),
        ({"data": {"id": "receipt-00001"}, "annotations": [{"result": [
            {"type": "rectanglelabels", "value": {"x": "?", "rectanglelabels": ["total"]}}]}]},
         "has no place"),
        ({"data": {"id": "receipt-00001"}, "annotations": [{"result": [
            {"type": "labels", "meta": {"words": [0, 2]}, "value": {"labels": ["total"]}},
            {"type": "labels", "meta": {"words": [1, 3]}, "value": {"labels": ["tax"]}}]}]},
         "two pins contradict each other"),
    ],
)  # fmt: skip
def test_a_task_that_cannot_be_used_is_said_and_the_rest_go_on(
    documents, db, tmp_path, task, message
):
    good = {"data": {"id": "receipt-00002"}, "annotations": [{"result": [], "completed_by": 7}]}
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([task, good]))
    found = run("review", "import", tasks, documents, "--rules", RULES, "--db", db)
    assert found.returncode == 1
    assert message in found.stderr
    assert "1 document imported" in found.stderr
    with closing(desk_of(documents, db)) as desk:
        assert desk.document(2)["reviewer"] == "7"
        assert desk.document(2)["answer"]["fields"] == {}


def test_tasks_of_documents_that_nobody_reviewed_are_exported_and_counted(documents, db, tmp_path):
    with closing(desk_of(documents, db)) as desk:
        desk.judge(0, 0, "accepted", "ada", confirmed=True)
    found = run("review", "export", documents, "--rules", RULES, "--db", db, "--format",
                "label-studio", "--out", tmp_path / "tasks.json")  # fmt: skip
    assert found.stderr.startswith("30 tasks;")
    assert "without an annotation: 29 not reviewed" in found.stderr
    assert "left out" not in found.stderr
