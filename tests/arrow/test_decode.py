"""Record batches in, decodings out: the same answers as through JSON lines."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from itertools import islice

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lawful
from lab import receipts as demo
from lawful import Budget, Document, Field, InputError, Rules, Scored, Scores, decode, rule
from lawful.arrow import SCHEMA, decode_batches, decode_table, scored_batch, to_batch
from lawful.arrow.documents import ScoredReader
from lawful.documents.labels import Span
from lawful.documents.records import FailedDocument
from lawful.io.jsonl import KINDS, decoding_line, read_lines, scored_line
from lawful.pipeline.batch import decode_lines
from lawful.pipeline.call import Call
from lawful.results.decoding import Correction, Move
from lawful.results.span_corrections import SpanCorrection
from lawful.results.wire import (
    Alternative,
    CheckData,
    ClassData,
    DecodingLine,
    KnownData,
    SpanChange,
    ValueData,
)
from tests.arrow.comparing import same
from tests.helpers import DOCUMENTS, RULES, needs_shared

LABELS = ("O", "B-total", "I-total", "B-item", "I-item")
RULES_OF_TWO = Rules(
    [Field("total", "total", "money"), Field("item", "item", "money", many=True)],
    ["total == sum(item)"],
)
NOTHING = Rules([])
NAMES = {"logits": "emissions"}


@pytest.fixture(scope="module")
def pages():
    return list(islice(lawful.read_jsonl(DOCUMENTS), 12))


@pytest.fixture(scope="module")
def rules():
    return Rules.load(RULES)


def through_lines(pages, rules, **how):
    """The decodings of documents that are written as lines and parsed again, as lines."""
    lines = [(i, scored_line(page).encode()) for i, page in enumerate(pages, 1)]
    results = decode_lines("-", lines, Call(rules, **how))
    return [
        result if isinstance(result, FailedDocument) else decoding_line(result[1], ranked=True)
        for result in results
    ]


def timeless(table):
    """A table without the time that each decoding took."""
    return pa.table(table).drop_columns(["seconds"])


@pytest.mark.parametrize("alternatives", [0, 2])
def test_demo_pages_are_decoded_as_through_json_lines(rules, alternatives):
    lines = list(islice(read_lines(DOCUMENTS), 12))
    read = list(islice(lawful.read_jsonl(DOCUMENTS), 12))
    call = Call(rules, alternatives=alternatives)
    expected = [decoding_line(d, ranked=True) for _, d in decode_lines("-", lines, call)]
    table = decode_table(scored_batch(read), rules, alternatives=alternatives)
    assert table.schema == SCHEMA
    for row, line in zip(table.to_pylist(), expected, strict=True):
        same(row, line)


@needs_shared
@pytest.mark.parametrize("name", ["cord-l2", "wild-l2text"])
def test_real_outputs_are_decoded_as_in_this_process(name):
    from lab.datasets import RULES as RULES_OF
    from tests.fixtures.outputs import OUTPUTS, read_outputs

    rules = Rules.load(RULES_OF[OUTPUTS[name]])
    pages = [page.to_words() for page in read_outputs(name, 60)]
    found = decode_table(scored_batch(pages), rules).to_pylist()
    for row, page in zip(found, pages, strict=True):
        same(row, decoding_line(lawful.decode(page.document, page.scores, rules), ranked=True))


WORDS = st.sampled_from(["Total", "1.00", "2.00", "3,00", "x", "", "7.50 EUR", "é"])


@st.composite
def documents(draw):
    """Documents of any size, with or without boxes and pages, some of them wrong."""
    words = draw(st.lists(WORDS, max_size=5))
    size = len(words)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    probs = rng.dirichlet(np.ones(len(LABELS)), size).astype(np.float32).astype(float)
    record = {
        "id": draw(st.sampled_from(["a", "b", "a", None])),
        "words": draw(st.sampled_from([words, words, words, words, None])),
        "probs": probs.tolist(),
    }
    if draw(st.booleans()):
        record["boxes"] = [[i, 0, i + 1.5, 1] for i in range(size)]
    if draw(st.booleans()):
        record["pages"] = sorted(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    match draw(st.integers(0, 9)):
        case 0 if size:
            record["probs"][draw(st.integers(0, size - 1))][2] = float("nan")
        case 1:
            record["probs"].append([1.0, 0, 0, 0, 0])
        case 2 if size:
            record["probs"][draw(st.integers(0, size - 1))].pop()
        case 3:
            record["boxes"] = [[0, 0, 1, 1]] * (size + 1)
        case 4:
            record["probs"] = None
        case 5 if size:
            words[-1] = None
    return record


def as_line(record):
    """The record as JSON; a document that JSON has no word for is no document there either."""
    known = {key: value for key, value in record.items() if value is not None}
    return lawful.io.jsonl.encode({**known, "labels": LABELS})


@settings(max_examples=150, deadline=None)
@given(records=st.lists(documents(), max_size=5))
def test_the_same_documents_give_the_same_decodings(records):
    lines = [(i, as_line(record)) for i, record in enumerate(records, 1)]
    expected = list(decode_lines("-", lines, Call(RULES_OF_TWO)))
    table = pa.table(
        {
            "id": pa.array([r["id"] for r in records], pa.string()),
            "words": pa.array([r["words"] for r in records], pa.list_(pa.string())),
            "probs": pa.array([r["probs"] for r in records], pa.list_(pa.list_(pa.float64()))),
            "boxes": pa.array([r.get("boxes") for r in records], pa.list_(pa.list_(pa.float32()))),
            "pages": pa.array([r.get("pages") for r in records], pa.list_(pa.int16())),
        }
    )
    found = decode_table(table, RULES_OF_TWO, labels=LABELS).to_pylist()
    assert len(found) == len(records)
    for row, result, record in zip(found, expected, records, strict=True):
        if isinstance(result, FailedDocument):
            assert row["error"], record
            assert row["id"] == record["id"]
            assert row["status"] is row["fields"] is None
        else:
            same(row, decoding_line(result[1], ranked=True))


def layouts():
    """One document in every layout of its scores that is accepted."""
    rng = np.random.default_rng(3)
    probs = rng.dirichlet(np.ones(len(LABELS)), 3).astype(np.float16)
    nested, flat = probs.tolist(), probs.ravel().tolist()
    width = len(LABELS)
    for number in (pa.float16(), pa.float32(), pa.float64()):
        for outer in (pa.list_, pa.large_list):
            yield pa.array([nested], outer(outer(number)))
            yield pa.array([nested], outer(pa.list_(number, width)))
            yield pa.array([flat], outer(number))
    yield pa.array([nested], pa.list_(pa.list_(pa.float32(), width), 3))
    yield pa.array([nested], pa.list_view(pa.list_view(pa.float32())))
    yield pa.array([flat], pa.list_(pa.float32(), 3 * width))
    yield pa.array([None, nested], pa.list_(pa.list_(pa.float32()))).slice(1)
    tensor = pa.fixed_shape_tensor(pa.float32(), [3, width])
    yield pa.ExtensionArray.from_storage(
        tensor, pa.array([flat], pa.list_(pa.float32(), 3 * width))
    )


def test_every_layout_of_scores_gives_the_same_decoding():
    words = ["Total", "2.00", "2.00"]
    found = []
    for column in layouts():
        for text, lists in ((pa.string(), pa.list_), (pa.large_string(), pa.large_list),
                            (pa.string_view(), pa.list_view)):  # fmt: skip
            table = pa.table(
                {
                    "id": pa.array(["a"], text),
                    "tokens": pa.array([words], lists(text)),
                    "scores": column,
                }
            )
            decoded = decode_table(
                table, RULES_OF_TWO, labels=LABELS, kind="probs", columns={"words": "tokens"}
            )
            found.append(timeless(decoded).to_pylist())
    assert len(found) == 3 * 23
    assert found[0][0]["error"] is None
    assert all(each == found[0] for each in found)


def test_scores_are_not_copied_on_the_way_in():
    from lawful.arrow.documents import Matrices

    values = np.arange(12, dtype=np.float32)
    inner = pa.ListArray.from_arrays(np.arange(0, 13, 3, dtype=np.int32), pa.array(values))
    for column in (
        pa.ListArray.from_arrays(np.array([0, 2, 4], np.int32), inner),
        pa.ListArray.from_arrays(np.array([0, 6, 12], np.int32), pa.array(values)),
    ):
        matrix = Matrices(column).matrix(1, 2, 3)
        assert matrix.tolist() == values[6:].reshape(2, 3).tolist()
        assert np.shares_memory(matrix, values)


@pytest.mark.parametrize("flat", [False, True])
def test_log_probabilities_in_64_bits_are_never_copied(flat):
    values = np.log(np.random.default_rng(5).dirichlet(np.ones(5), 4))
    inside = pa.array(values.ravel())
    if not flat:
        inside = pa.ListArray.from_arrays(np.arange(0, 21, 5, dtype=np.int32), inside)
    each = 5 if flat else 1
    column = pa.ListArray.from_arrays(np.array([0, 2, 4], np.int32) * each, inside)
    table = pa.record_batch(
        {"id": ["a", "b"], "words": [["1.00", "2.00"]] * 2, "log_probs": column}
    )
    found = [
        record.scores.log_probs for record in ScoredReader(table.schema, labels=LABELS).read(table)
    ]
    assert np.array_equal(np.concatenate(found), values)
    assert all(np.shares_memory(matrix, values) and not matrix.flags.writeable for matrix in found)


def test_texts_that_are_null_are_named():
    probs = [[[1.0, 0.0, 0.0, 0.0, 0.0]]] * 3
    names = [list(LABELS), None, [*LABELS[:4], None]]
    columns = {
        "id": ["a", "b", "c"],
        "words": [["x"], ["y"], ["z"]],
        "probs": probs,
        "labels": names,
    }
    table = pa.record_batch(columns | {"gold": [[None], ["O"], ["O"]]})
    found = ScoredReader(table.schema).read(table)
    assert [record.message for record in found] == [
        "document 'a': gold of word 0 is None, which is not among the labels of the scores",
        "document 'b' has no labels: a list of names, one per column",
        "label 4 is None, expected a name such as 'O' or 'B-total'",
    ]
    table = pa.record_batch({"id": ["a"], "words": [["x", None]], "probs": [probs[0] * 2]})
    (found,) = ScoredReader(table.schema, labels=LABELS).read(table)
    assert found.message == "document 'a': word 1 is None, expected a string"


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("kind", ["probs", "log_probs", "logits"])
def test_scores_checked_together_are_those_checked_alone(flat, kind, monkeypatch):
    """Documents share one check; a bad one is named by itself, and its neighbours are fine."""
    monkeypatch.setattr("lawful.arrow.documents.MAX_TOGETHER", 2**16)
    dice = np.random.default_rng(3)
    found = {
        "probs": lambda size: dice.dirichlet(np.ones(5), size),
        "log_probs": lambda size: np.log(dice.dirichlet(np.ones(5), size)),
        "logits": lambda size: dice.normal(size=(size, 5)),
    }
    matrices = [found[kind](size) for size in (3, 0, 9000, 1, 7000, 2)]
    for bad in (None, 3, 5):
        if bad is not None:
            matrices[bad] = np.full_like(matrices[bad], np.nan)
        scores = [(each.ravel() if flat else each).tolist() for each in matrices]
        words = [["1.00"] * len(each) for each in matrices]
        ids = [str(i) for i in range(len(matrices))]
        table = pa.record_batch({"id": ids, "words": words, kind: scores})
        records = ScoredReader(table.schema, labels=LABELS).read(table)
        for at, (record, matrix) in enumerate(zip(records, matrices, strict=True)):
            if np.isnan(matrix).any():
                assert f"row 0, label 0 of {NAMES.get(kind, kind)} is nan" in record.message
                continue
            alone = KINDS[kind](matrix, LABELS)
            np.testing.assert_array_equal(record.scores.log_probs, alone.log_probs, str(at))


def test_labels_come_from_the_metadata_a_column_or_an_argument(pages, rules):
    batch = scored_batch(pages)
    expected = timeless(decode_table(batch, rules)).to_pylist()
    bare = batch.replace_schema_metadata(None)
    assert timeless(
        decode_table(bare, rules, labels=list(demo.LABELS), kind="log_probs")
    ).to_pylist() == expected  # fmt: skip
    names = pa.array([demo.LABELS] * len(pages), pa.list_(pa.dictionary(pa.int8(), pa.string())))
    column = pa.table(bare).append_column("labels", names)
    assert timeless(decode_table(column, rules, kind="log_probs")).to_pylist() == expected


class Stream:
    """A producer that says nothing but that it has a stream, as those of other libraries do."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_any_producer_of_batches_is_accepted(pages, rules):
    batch = scored_batch(pages)
    table = pa.Table.from_batches([batch.slice(0, 5), batch.slice(5, 0), batch.slice(5)])
    expected = timeless(decode_table(batch, rules)).to_pylist()
    for given_ in (
        table,
        table.to_reader(),
        table.to_batches(),
        iter(table.to_batches()),
        Stream(table),
        [Stream(table.slice(0, 3)), table.slice(3)],
    ):
        found = pa.Table.from_batches(decode_batches(given_, rules), SCHEMA)
        assert timeless(found).to_pylist() == expected
    assert decode_table(table.slice(0, 0), rules).num_rows == 0


def test_the_nested_columns_of_json_lines_are_read(rules):
    chain = {"between": [[0.0, -1.0, -1.0]] * 3}
    document = Document(
        "d", ("kind", "2.00", "x"), given={"limit": "3.00"}, rows=(1, 1, None),
        classes={"kind": {"a": float(np.log(0.5)), "b": float(np.log(0.5))}},
        sizes=[(10, 20)], images=["x.png"], pages=(0, 0, 0), values={"t": ("2.00",)},
        pins=[lawful.Pin("nothing", words=(2, 3))],
    )  # fmt: skip
    scores = Scores.from_probs(np.full((3, 3), 1 / 3), ("O", "B-t", "I-t")).with_chain(**chain)
    scored = Scored(document, scores, ("O", "B-t", "O"))
    from lawful.arrow.documents import ScoredReader

    batch = scored_batch([scored])
    (found,) = ScoredReader(batch.schema).read(batch)
    assert found.document == document
    assert found.gold == scored.gold
    np.testing.assert_array_equal(found.scores.log_probs, scores.log_probs)
    assert [part.tolist() for part in found.scores.chain] == [p.tolist() for p in scores.chain]


def test_maps_and_structs_are_read_as_mappings():
    from lawful.arrow.documents import DocumentReader

    texts = pa.map_(pa.string(), pa.string())
    table = pa.table(
        {
            "id": ["a"],
            "words": [["2.00"]],
            "given": pa.array([[("limit", "3.00")]], texts),
            "values": pa.array([{"t": ["2.00"], "u": None}]),
            "pins": pa.array([[{"words": [0, 1], "field": "t"}, {"field": "t", "value": None}]]),
        }
    )
    (batch,) = table.to_batches()
    (found,) = DocumentReader(batch.schema).read(batch)
    if isinstance(found, FailedDocument):
        raise AssertionError(found.message)
    assert found.given == {"limit": "3.00"}
    assert found.values == {"t": ("2.00",)}
    assert found.pins == (lawful.Pin("is", (0, 1), "t"), lawful.Pin("absent", field="t"))


def batch_of(**columns):
    return pa.table({"id": ["a"], "words": [["x"]], "probs": [[[1.0, 0.0]]], **columns})


@pytest.mark.parametrize(
    ("table", "how", "message"),
    [
        (batch_of(), {}, "no label names: give the argument labels"),
        (batch_of(), {"columns": {"words": "tokens"}}, "no column 'tokens'; columns: id, words"),
        (batch_of(), {"columns": {"word": "x"}}, "unknown name 'word'; did you mean 'words'"),
        (batch_of(logits=[[[1.0]]]), {}, "the columns have probs and logits, expected one"),
        (batch_of().drop_columns(["probs"]), {}, "the columns have no scores, expected one"),
        (batch_of(words=[["x"]]).rename_columns(["id", "words", "scores"]), {"labels": ["O", "B"]},
         "the kind of scores is None, expected one of probs, log_probs, logits"),
        (batch_of().drop_columns(["id"]), {}, "no column 'id'"),
        (batch_of(words=["x"]), {}, "column 'words' holds string, expected lists of texts"),
        (batch_of(probs=[[["1"]]]), {}, "column 'probs' holds .*, expected lists of lists of numb"),
        (batch_of(), {"labels": ["O", "O"]}, "label 1 is 'O', the same as label 0"),
        (batch_of(), {"workers": 0}, "workers is 0"),
        (batch_of(), {"decoder": "best"}, "unknown decoder 'best'"),
        (batch_of(), {"kind": "scores", "labels": ["O"]}, "the kind of scores is 'scores'"),
        (["x"], {}, "found 'x', expected an Arrow table"),
        (3, {}, "found 3, expected an Arrow table"),
    ],
)  # fmt: skip
def test_what_is_wrong_for_all_documents_is_an_error(table, how, message):
    with pytest.raises(lawful.LawfulError, match=message):
        list(decode_batches(table, NOTHING, **how))


def test_metadata_that_is_no_list_of_labels_is_an_error():
    table = batch_of().replace_schema_metadata({"lawful.labels": "O"})
    with pytest.raises(InputError, match=r"lawful\.labels in the schema's metadata"):
        decode_table(table, NOTHING)


def test_a_text_that_is_no_utf8_spoils_its_own_row_only(rules):
    bad = pa.array([b"x", b"\xff", b"y"]).view(pa.string())
    words = pa.ListArray.from_arrays(np.array([0, 1, 2, 3], np.int32), bad)
    table = pa.table({"id": ["a", "b", "c"], "words": words, "probs": [[[1.0, 0.0]]] * 3})
    found = decode_table(table, NOTHING, labels=["O", "B-x"]).to_pylist()
    assert [row["error"] is None for row in found] == [True, False, True]
    assert "cannot be read" in found[1]["error"]


@rule(reads=["total"])
def fails_on_seven(total):
    """A rule that raises what no one expects."""
    if total == 7:
        raise KeyError("seven")
    return True


@rule(reads=["total"])
def dies_on_seven(total):
    """A rule that kills its process."""
    if total == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return True


def totals(values):
    probs = [[[0.1, 0.9]]] * len(values)
    ids = [f"d{i}" for i in range(len(values))]
    return pa.table({"id": ids, "words": [[value] for value in values], "probs": probs})


TOTAL = Rules([Field("total", "t", "number")])


def test_a_rule_that_raises_is_a_row_with_an_error():
    rules = TOTAL.with_rules(fails_on_seven)
    found = decode_table(totals(["1", "7", "2"]), rules, labels=["O", "B-t"]).to_pylist()
    assert [row["id"] for row in found] == ["d0", "d1", "d2"]
    assert [row["error"] is None for row in found] == [True, False, True]
    assert "seven" in found[1]["error"]


def test_workers_give_the_same_rows(pages, rules):
    batch = scored_batch(pages * 3)
    alone = timeless(decode_table(batch, rules)).to_pylist()
    assert timeless(decode_table(batch, rules, workers=2)).to_pylist() == alone


def test_a_page_that_kills_its_worker_costs_no_other_page():
    values = [str(i % 10) for i in range(60)]
    rules = TOTAL.with_rules(dies_on_seven)
    found = decode_table(totals(values), rules, labels=["O", "B-t"], workers=2).to_pylist()
    assert [row["id"] for row in found] == [f"d{i}" for i in range(60)]
    for row, value in zip(found, values, strict=True):
        assert (row["error"] is not None) == (value == "7")
    assert "the worker process died" in found[7]["error"]


def test_a_budget_is_kept(pages, rules):
    found = decode_table(scored_batch(pages), rules, budget=Budget(candidates=1)).to_pylist()
    expected = [
        lawful.decode(page.document, page.scores, rules, budget=Budget(candidates=1)).status
        for page in pages
    ]
    assert [row["status"] for row in found] == expected
    assert "exhausted" in expected


def test_decodings_of_decode_many_are_a_batch(pages, rules):
    decodings = list(lawful.decode_many([*pages, "no document"], rules, workers=1))
    table = timeless(to_batch(decodings)).to_pylist()
    assert table[:-1] == timeless(decode_table(scored_batch(pages), rules)).to_pylist()
    assert "expected a Scored" in table[-1]["error"]
    with pytest.raises(InputError, match="expected a Decoding"):
        to_batch(["x"])


def test_values_that_arrow_cannot_hold_are_an_error_of_their_row(pages, rules):
    first, second = lawful.decode_many(pages[:2], rules, workers=1)
    from dataclasses import replace

    odd = replace(first, labels=("\ud800",))
    rows = to_batch([odd, second]).to_pylist()
    assert "does not fit into Arrow" in rows[0]["error"]
    assert rows[1]["id"] == second.id
    assert rows[1]["error"] is None


def test_labels_must_be_the_same_in_a_batch():
    one = Scored(Document("a", ("x",)), Scores.from_probs([[1.0, 0.0]], ("O", "B-x")))
    other = Scored(Document("b", ("x",)), Scores.from_probs([[1.0, 0.0]], ("O", "B-y")))
    with pytest.raises(InputError, match="document 'b' has other labels"):
        scored_batch([one, other])
    assert scored_batch([]).num_rows == 0


def test_batches_are_read_when_their_rows_are_asked_for(pages, rules):
    """So an engine whose next stage is slow holds back the stage before, too."""
    read = []

    def batches():
        for page in pages:
            read.append(page)
            yield scored_batch([page])

    decoded = decode_batches(batches(), rules)
    for done in range(1, 6):
        next(decoded)
        assert len(read) <= done + 1


def test_columns_are_the_keys_of_json_lines():
    # confidence is beside the values that it is about, and a row may be an error.
    assert {*SCHEMA.names} == {*DecodingLine.__struct_fields__, "error"} - {"confidence"}
    ours = {"name", "value", "number", "date", "start", "end", "confidence", "confidence_high"}
    for column, struct in (
        ("fields", ValueData),
        ("checks", CheckData),
        ("corrections", Correction),
        ("span_corrections", SpanChange),
        ("alternatives", Alternative),
        ("classes", ClassData),
        ("moved", Move),
        ("known", KnownData),
    ):
        keys = {each.name for each in msgspec.inspect.type_info(struct).fields} - {"words"}
        found = {part.name for part in SCHEMA.field(column).type.value_type}
        assert found - ours == keys - ours, column


def test_a_row_says_what_a_line_says_under_every_key():
    document = Document("d", ["7.00", "8.00"], values={"total": ("7.00",)})
    scores = Scores.from_probs([[0.2, 0.8, 0], [0.4, 0.6, 0]], ["O", "B-total", "B-tax"])
    rules = Rules([Field("total", "total", "money")], ["total == 8"])
    pins = [{"words": [1, 2], "field": "total"}]
    found = decode(document, scores, rules, pins=pins, alternatives=1)
    spans = (SpanCorrection(None, Span("total", 1, 2), 0.5, ("total == 8",)),)
    found = replace(found, span_corrections=spans, clash=("a", "b"), clash_minimal=True)
    (row,) = to_batch([found]).to_pylist()
    line = json.loads(decoding_line(found))
    same(row, decoding_line(found))
    new = {"label": "total", "start": 1, "end": 2, "text": "8.00"}
    assert row["span_corrections"] == [
        {"old": None, "new": new, "price": 0.5, "because": ["total == 8"]}
    ]
    assert json.loads(row["pins"]) == line["pins"] == pins
    assert row["known"] == [{"name": "total", **line["known"]["total"]}]
    for name in ("checked", "rules", "clash", "clash_minimal", "chosen", "moved"):
        assert row[name] == line[name], name
    assert row["row_checks"] == {"checked": 0, "all": 0}
