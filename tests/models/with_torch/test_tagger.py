"""Taggers: documents in, one distribution a word out, however long they are."""

import numpy as np
import pytest

import lawful
from lawful import Document, InputError, MissingExtraError, Rules, RulesError, from_pretrained
from lawful.documents.records import Labelled
from lawful.models.entities import entities
from lawful.rules import Field
from tests.fixtures.small_models import ODD, encoder, receipts

torch = pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")

from lawful.models.network import Network  # noqa: E402 - what is behind the extra
from lawful.models.recipe import Recipe  # noqa: E402
from lawful.models.tokenizer import Tokenizer  # noqa: E402
from lawful.models.training import labels_of, train  # noqa: E402

PAGES = receipts(24)
LABELS = labels_of(PAGES)
RULES = Rules([Field("total", "total", "money"), Field("tax", "tax", "money")], ["total > tax"])


@pytest.fixture(scope="module")
def folder(bert, tmp_path_factory):
    """A tagger that has learned the receipts."""
    out = tmp_path_factory.mktemp("tagger")
    network = Network.start(bert, LABELS)
    recipe = Recipe(epochs=10, batch=8, rate=5e-3, new_rate=5e-3)
    list(train(network, Tokenizer.load(bert), PAGES[:16], PAGES[16:], out, recipe))
    return out


@pytest.fixture(scope="module")
def tagger(folder):
    return from_pretrained(folder)


def test_the_one_liner(folder):
    for page, decoding in zip(
        PAGES, lawful.from_pretrained(folder).decode(PAGES, RULES), strict=True
    ):
        assert decoding.status == "satisfied"
        assert decoding.labels == page.gold


@pytest.mark.parametrize("units", ["words", "pieces"])
@pytest.mark.parametrize("pool", ["mean", "first", "product"])
def test_every_word_has_a_distribution(tagger, units, pool):
    documents = [
        Document("odd", ODD),
        Document("none", ()),
        Document("long", ("Total", "56.000") * 200),
        Document("word", ("1" * 5000,)),
    ]
    found = list(tagger.predict(documents, units=units, pool=pool))
    assert [scored.document.id for scored in found] == ["odd", "none", "long", "word"]
    for document, scored in zip(documents, found, strict=True):
        assert np.exp(scored.scores.log_probs).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
        if units == "words":
            assert scored.document == document
        else:
            joined = scored.to_words().document
            assert joined.words == document.words


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_batches_do_not_change_scores(tagger, batch):
    documents = [PAGES[0], Document("long", ("Total", "56.000") * 40), *PAGES[1:5]]
    expected = list(tagger.predict(documents, batch=7))
    for scored, other in zip(tagger.predict(documents, batch=batch), expected, strict=True):
        assert scored.scores.log_probs == pytest.approx(other.scores.log_probs, abs=1e-4)


def test_a_long_document_is_read_like_its_parts(tagger):
    """Far from the edges of windows, a word is what it is in a page of its own."""
    page = PAGES[0].document
    long = Document("long", page.words * 12, (page.boxes or ()) * 12)
    (scored,) = tagger.predict([long])
    gold = PAGES[0].gold * 12
    found = [LABELS[i] for i in scored.scores.log_probs.argmax(axis=1)]
    assert np.mean([a == b for a, b in zip(found, gold, strict=True)]) > 0.9


def test_gold_labels_travel_along(tagger):
    (scored,) = tagger.predict(PAGES[:1])
    assert scored.gold == PAGES[0].gold
    (pieces,) = tagger.predict(PAGES[:1], units="pieces")
    assert pieces.to_words("first").gold == PAGES[0].gold
    strange = Labelled(Document("d", ("a",)), ("B-shop",))
    with pytest.raises(InputError, match="'d' has gold label 'B-shop', which the model does not"):
        list(tagger.predict([strange]))


def test_a_stream_is_tagged_as_it_comes(tagger):
    def endless():
        while True:
            yield PAGES[0].document

    found = tagger.predict(endless(), batch=2)
    assert len([next(found) for _ in range(40)]) == 40


def test_rules_that_do_not_fit_the_labels_are_refused_at_once(tagger):
    rules = Rules([Field("shop", "shop", "text")], [])
    with pytest.raises(RulesError, match="'shop', which the model does not know; its labels: cash"):
        tagger.decode(PAGES, rules)


def test_what_is_no_document_is_refused(tagger):
    with pytest.raises(InputError, match="cannot tag a str, expected a Document"):
        list(tagger.predict(["Total 56.000"]))
    with pytest.raises(InputError, match="batch is 0"):
        list(tagger.predict(PAGES, batch=0))


def test_a_plain_folder_of_transformers_is_run_as_such(tmp_path):
    base = encoder("roberta", tmp_path / "m", labels=3)
    tagger = from_pretrained(base)
    assert tagger.labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    assert tagger.card.window == 48 - 2  # positions are counted from behind the padding's
    (scored,) = tagger.predict([Document("d", ("Total", "56.000") * 60)])
    assert len(scored.scores) == 120


def test_a_model_that_is_loaded_already_needs_its_tokenizer(folder):
    import transformers

    model = transformers.AutoModelForTokenClassification.from_pretrained(folder)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    tagger = from_pretrained(model, tokenizer=tokenizer)
    assert tagger.labels == LABELS
    with pytest.raises(InputError, match="tokenizer is None, expected the tokenizer of"):
        from_pretrained(model)
    with pytest.raises(InputError, match="model is a int, expected a folder, a name on the hub"):
        from_pretrained(3)


def test_the_same_scores_as_transformers_itself(tmp_path):
    """Pieces, marks and mask are what ``AutoTokenizer`` and the model make of the same words."""
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    for kind in ("bert", "roberta"):
        base = encoder(kind, tmp_path / kind, labels=4)
        model = transformers.AutoModelForTokenClassification.from_pretrained(base).eval()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(base / "tokenizer.json")
        )
        if kind == "roberta":  # what AutoTokenizer is told by add_prefix_space=True
            tokenizer.backend_tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=True)
        words = ["Total", "1,250.00", "crème", "12"]
        encoding = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            logits = model(
                input_ids=encoding["input_ids"], attention_mask=encoding["attention_mask"]
            ).logits[0]
        first = [encoding.word_ids().index(word) for word in range(len(words))]
        expected = logits.log_softmax(-1)[first].numpy()
        (scored,) = from_pretrained(base).predict([Document("d", words)], pool="first")
        assert scored.scores.log_probs == pytest.approx(expected, abs=1e-4)


def test_entities_are_dicts_as_the_pipeline_has_them(tagger):
    (scored,) = tagger.predict(PAGES[:1])
    found = entities(scored.document, scored.scores, PAGES[0].gold)
    text = " ".join(scored.document.words)
    assert {entity["entity_group"] for entity in found} == {"total", "tax", "cash"}
    for entity in found:
        assert text[entity["start"] : entity["end"]] == entity["word"]
        start, end = entity["words"]
        assert entity["word"] == scored.document.text(start, end)
        assert entity["box"] == scored.document.box(start, end)
        assert 0 < entity["score"] <= 1


def test_the_pipeline_of_transformers_decodes_under_rules(folder):
    import transformers

    from lawful.models.pipeline import RulesPipeline

    pipe = transformers.pipeline(
        "token-classification",
        model=transformers.AutoModelForTokenClassification.from_pretrained(folder),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"),
            pad_token="[PAD]",  # noqa: S106
        ),
        pipeline_class=RulesPipeline,
        rules=RULES,
    )
    text = "Total  56.000 Tax 3.50\nCash 100"
    found = pipe(text)
    for entity in found:
        assert text[entity["start"] : entity["end"]] == entity["word"]
    assert pipe.decoding.status == "satisfied"
    assert [entity["word"] for entity in found if entity["entity_group"] == "total"] == ["56.000"]
    assert pipe(["Total 56.000", ""])[1] == []
    with pytest.raises(InputError, match="rules is None"):
        transformers.pipeline(
            "token-classification", model=pipe.model, tokenizer=pipe.tokenizer,
            pipeline_class=RulesPipeline, rules=None,
        )  # fmt: skip


def test_without_torch_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"running this model needs torch.*'train' extra"):
        from_pretrained(folder)


def test_pipelines_refuse_models_whose_boxes_or_crf_they_would_lose(bert, tmp_path):
    import transformers

    from lawful.models.pipeline import RulesPipeline

    network = Network.start(bert, LABELS, boxes=True)
    network.save(tmp_path)
    Tokenizer.load(bert).save(tmp_path)
    with pytest.raises(InputError, match="a pipeline supports neither boxes nor a CRF"):
        transformers.pipeline(
            "token-classification",
            model=transformers.AutoModelForTokenClassification.from_pretrained(tmp_path),
            tokenizer=transformers.PreTrainedTokenizerFast(
                tokenizer_file=str(tmp_path / "tokenizer.json")
            ),
            pipeline_class=RulesPipeline,
            rules=RULES,
        )


def test_pipelines_tell_words_by_the_blanks_of_the_text(tmp_path):
    """Byte-level tokenizers count the blank before a word to its first piece."""
    import transformers

    from lawful.models.pipeline import RulesPipeline

    base = encoder("roberta", tmp_path / "m", labels=3)
    model = transformers.AutoModelForTokenClassification.from_pretrained(base)
    model.config.id2label = {0: "O", 1: "B-total", 2: "I-total"}
    pipe = transformers.pipeline(
        "token-classification",
        model=model,
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(base / "tokenizer.json"),
            pad_token="<pad>",  # noqa: S106
        ),
        pipeline_class=RulesPipeline,
        rules=Rules((), ()),
    )
    pipe("Total 56.000  crème 🧾")
    assert pipe.decoding.words == ("Total", "56.000", "crème", "🧾")
    pipe("   ")
    assert pipe.decoding is None
