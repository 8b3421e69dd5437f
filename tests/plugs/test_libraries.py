"""The plugs with the real libraries, as far as they are installed: ``make test-plugs``."""

import asyncio
import json
import shutil

import pytest

import lawful
from lawful.rules.packs import DEMO
from tests.plugs.loading import (
    ANSWERS,
    BILL,
    RIGHT,
    RULES,
    amounts,
    bill_rules,
    plug,
    served,
)


def test_langextract():
    lx = pytest.importorskip("langextract")
    from langextract.core.base_model import BaseLanguageModel
    from langextract.core.types import ScoredOutput

    class Recorded(BaseLanguageModel):
        """Answers one after the other."""

        def infer(self, batch_prompts, **_):
            for _ in batch_prompts:
                found = [{name: f"{value:.2f}"} for name, value in next(answers).items()]
                yield [ScoredOutput(score=1.0, output=json.dumps({"extractions": found}))]

    answers = iter(ANSWERS)
    example = lx.data.ExampleData(
        text="Total 9.00", extractions=[lx.data.Extraction("total", "9.00")]
    )
    runs = [
        lx.extract(
            BILL, prompt_description="amounts", examples=[example], model=Recorded(),
            fence_output=False, use_schema_constraints=False, show_progress=False,
        )
        for _ in ANSWERS
    ]  # fmt: skip
    decoding = plug("with_langextract").decoded(runs, bill_rules())
    assert (decoding.status, amounts(decoding)) == ("satisfied", RIGHT)


def test_instructor():
    instructor = pytest.importorskip("instructor")
    import httpx
    import openai

    asked = []

    def answer(request):
        asked.append(json.loads(request.content))
        arguments = json.dumps(ANSWERS[len(asked) - 1])
        call = {"name": asked[-1]["tools"][0]["function"]["name"], "arguments": arguments}
        message = {
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": call}],
        }  # fmt: skip
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        return httpx.Response(200, json={**reply, "choices": [choice]})

    transport = httpx.MockTransport(answer)
    client = openai.OpenAI(api_key="none", http_client=httpx.Client(transport=transport))
    made = instructor.from_openai(client, model="m")
    example = plug("with_instructor")
    page = lawful.Document.from_text(BILL)
    decoding = example.extract(made, page, samples=3)
    assert BILL in json.dumps(asked[0])
    assert (decoding.status, amounts(decoding)) == ("satisfied", RIGHT)
    assert decoding.to_model(example.Invoice).total == RIGHT["total"]


def test_pydantic_ai():
    ai = pytest.importorskip("pydantic_ai")
    from pydantic import BaseModel
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    class Invoice(BaseModel):
        net: float
        tax: float
        total: float

    answers = iter([*ANSWERS, None])

    def answer(_, info):
        found = next(answers)
        if found is None:
            raise RuntimeError("the server has gone")
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, found)])

    agent = ai.Agent(FunctionModel(answer), output_type=Invoice)
    rules = lawful.Rules.from_pydantic(Invoice, ["total == net + tax"])
    page = lawful.Document.from_text(BILL)
    found = asyncio.run(plug("with_pydantic_ai").extract(agent, page, rules, samples=4))
    assert found == Invoice(**RIGHT)


def test_dspy():
    dspy = pytest.importorskip("dspy")

    answers = iter(ANSWERS)

    def answer(_, body):
        texts = [
            "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in next(answers).items())
            for _ in range(body.get("n") or 1)
        ]
        choices = [
            {"index": i, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for i, text in enumerate(texts)
        ]
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": choices}  # fmt: skip

    signature = "page: str -> net: float, tax: float, total: float"
    with (
        served(answer) as (address, _),
        dspy.context(lm=dspy.LM("openai/m", api_base=address, api_key="none", cache=False)),
    ):
        found = plug("with_dspy").Lawful(signature, bill_rules(), samples=3)(page=BILL)
    assert found.decoding.status == "satisfied"
    assert {name: float(found[name]) for name in RIGHT} == RIGHT


def test_spacy(tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.language import Language
    from spacy.tokens import Span, SpanGroup

    @Language.component("candidates")
    def candidates(doc):
        texts = {token.text: token.i for token in doc}
        found = [("48.00", "total", 0.55), ("53.28", "total", 0.5), ("5.28", "tax", 0.8)]
        found += [("48.00", "net", 0.5)]
        spans = [Span(doc, texts[text], texts[text] + 1, label) for text, label, _ in found]
        scores = [score for _, _, score in found]
        doc.spans["sc"] = SpanGroup(doc, spans=spans, attrs={"scores": scores})
        return doc

    (tmp_path / "rules.yaml").write_text(RULES)
    nlp = spacy.blank("en")
    nlp.add_pipe("candidates")
    nlp.add_pipe("lawful", config={"rules": str(tmp_path / "rules.yaml")})
    doc = nlp(BILL)
    assert {each.label_: float(each.text) for each in doc.ents} == RIGHT
    assert doc._.lawful.status == "satisfied"
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")(BILL)
    assert [each.text for each in again.ents] == [each.text for each in doc.ents]

    without = spacy.blank("en")
    without.add_pipe("lawful", config={"rules": str(tmp_path / "rules.yaml")})
    with pytest.raises(lawful.InputError, match="no spans 'sc'"):
        without(BILL)


@pytest.fixture
def folder(tmp_path):
    """A receipt, and a file that is none."""
    shutil.copy(DEMO / "receipt-00021.pdf", tmp_path / "a.pdf")
    (tmp_path / "b.pdf").write_text("nonsense")
    return tmp_path


TOTAL = 373.46  # of the receipt


def test_docling(tmp_path):
    core = pytest.importorskip("docling_core.types.doc")
    page = lawful.readers.Reader().read(DEMO / "receipt-00021.pdf")
    document = core.DoclingDocument(name="receipt")
    (width, height), *_ = page.sizes
    document.add_page(page_no=1, size=core.Size(width=width, height=height))
    for word, box in zip(page.words, page.boxes, strict=True):
        there = core.BoundingBox(
            l=box.x0, t=height - box.y0, r=box.x1, b=height - box.y1,
            coord_origin=core.CoordOrigin.BOTTOMLEFT,
        )  # fmt: skip
        place = core.ProvenanceItem(page_no=1, bbox=there, charspan=(0, len(word)))
        document.add_text(label=core.DocItemLabel.TEXT, text=word, prov=place)
    decoding = plug("with_docling").extract(document, tmp_path / "x.json", rules="receipt")
    expected = lawful.extract(DEMO / "receipt-00021.pdf", rules="receipt")
    found = {name: decoding.values(name) for name in decoding.fields}
    assert found == {name: expected.values(name) for name in expected.fields}
    assert float(decoding.values("total")[0]) == TOTAL


def test_llama_index(folder):
    pytest.importorskip("llama_index.core")
    from llama_index.core import SimpleDirectoryReader

    reader = plug("with_llama_index").LawfulReader()
    files = SimpleDirectoryReader(input_files=[folder / "a.pdf"], file_extractor={".pdf": reader})
    (document,) = files.load_data()
    assert float(document.metadata["total"]) == TOTAL
    assert document.metadata["file_name"] == "a.pdf"


def test_haystack(folder):
    haystack = pytest.importorskip("haystack")
    pipeline = haystack.Pipeline()
    pipeline.add_component("lawful", plug("with_haystack").LawfulExtractor())
    files = [str(folder / name) for name in ("a.pdf", "b.pdf")]
    found = pipeline.run({"lawful": {"sources": files}})["lawful"]
    (document,) = found["documents"]
    assert float(document.meta["total"]) == TOTAL
    assert [each.split(":")[0] for each in found["failed"]] == [files[1]]


def test_prefect(folder):
    pytest.importorskip("prefect")
    from prefect.testing.utilities import prefect_test_harness

    (folder / "b.pdf").unlink()
    with prefect_test_harness(server_startup_timeout=300):
        (found,) = plug("with_prefect").read_invoices(str(folder))
    assert float(found.values("total")[0]) == TOTAL


def test_airflow(folder):
    pytest.importorskip("airflow.sdk")
    example = plug("with_airflow")
    listed = example.files.function(str(folder))
    found = example.extract.function(listed[0])
    assert float(found["fields"]["total"][0]["value"]) == TOTAL
    assert set(example.read_invoices().task_ids) == {"files", "extract"}
