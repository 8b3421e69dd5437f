"""Training: it learns, it resumes as if nothing had happened, and it loses nothing."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lawful import Document, InputError, Rules, Scheme, from_pretrained
from lawful.documents.records import Labelled
from lawful.evaluation.scoreboard import Counts
from tests.fixtures.small_models import KINDS, encoder, receipts
from tests.oracles.chains import score_of

torch = pytest.importorskip("torch", reason="needs the 'train' extra: make test-models")

from lawful.models import training  # noqa: E402 - what is behind the extra
from lawful.models.checkpoint import Card, read_card  # noqa: E402
from lawful.models.crf import ChainHead  # noqa: E402
from lawful.models.network import Network  # noqa: E402
from lawful.models.recipe import Recipe  # noqa: E402
from lawful.models.tokenizer import Tokenizer  # noqa: E402
from lawful.models.training import (  # noqa: E402
    CHECKPOINT,
    entity_f1,
    illegality,
    labels_of,
    train,
)

PAGES = receipts(24)
LABELS = labels_of(PAGES)
QUICK = Recipe(epochs=3, batch=8, rate=5e-3, new_rate=5e-3, patience=3)


def fit(base, folder, recipe=QUICK, *, resume=False, **how):
    network = Network.start(base, LABELS, seed=recipe.seed, **how)
    tokenizer = Tokenizer.load(base)
    return train(network, tokenizer, PAGES[:16], PAGES[16:], folder, recipe, resume=resume)


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_labels_are_those_of_the_documents():
    assert LABELS == ("O", "B-cash", "I-cash", "B-tax", "I-tax", "B-total", "I-total")
    page = Labelled(Document("odd", ("a", "b")), ("O", "E-x"))
    with pytest.raises(InputError, match=r"'odd': gold of word 1 is 'E-x', expected O, B-… or I-…"):
        labels_of([page])


def test_it_learns(bert, tmp_path):
    epochs = list(fit(bert, tmp_path, replace(QUICK, epochs=10, patience=10), boxes=True))
    assert epochs[-1].loss < epochs[0].loss
    assert epochs[-1].best > 0.9
    tagger = from_pretrained(tmp_path)
    assert entity_f1(tagger, PAGES[16:], Scheme.named("BIO", LABELS)) == epochs[-1].best
    assert not (tmp_path / CHECKPOINT).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_every_family_trains_saves_and_loads(kind, tmp_path):
    base = encoder(kind, tmp_path / "base")
    (epoch,) = fit(base, tmp_path / "out", Recipe(epochs=1, batch=8), layers=1)
    assert np.isfinite(epoch.loss)
    tagger = from_pretrained(tmp_path / "out")
    assert tagger.card.boxes == (kind in ("layoutlm", "lilt", "layoutlmv3"))
    assert not tagger.card.own_boxes
    assert tagger.runner.network.encoder.config.num_hidden_layers == 1
    boxes = tuple((i, 0, i + 1, 2) for i in range(120))
    long = Document("long", ("Total", "1,250.00") * 60, boxes)
    scored, again = list(tagger.predict([long, PAGES[0]]))
    assert len(scored.scores) == 120
    assert again.gold == PAGES[0].gold


@pytest.mark.parametrize(
    "how", [{"boxes": True}, {"lines": True}, {"crf": True}, {"boxes": True, "crf": True}]
)
def test_what_is_added_is_saved_and_loaded(bert, tmp_path, how):
    list(fit(bert, tmp_path, **how))
    tagger = from_pretrained(tmp_path)
    network = tagger.runner.network
    assert (network.boxes is not None) == bool({"boxes", "lines"} & how.keys())
    assert tagger.card.lines == ("lines" in how)
    assert (network.chain is not None) == how.get("crf", False)
    for part in network.ours.values():
        assert any(p.abs().sum() > 0 for p in part.parameters())
    (scored,) = tagger.predict(PAGES[:1])
    assert (scored.scores.chain is not None) == how.get("crf", False)
    rules = Rules((), ())
    (decoding,) = tagger.decode(PAGES[:1], rules)
    assert decoding.status == "unchecked"


@pytest.mark.parametrize("how", ["boxes", "lines"])
def test_places_start_at_zero_so_that_an_encoder_begins_as_it_was(bert, how):
    plain, placed = (Network.start(bert, LABELS, **more).eval() for more in ({}, {how: True}))
    ids = torch.randint(5, 40, (2, 9))
    boxes = torch.randint(0, 500, (2, 9, 4)).cumsum(-1).clamp(max=1000)
    mask = torch.ones_like(ids)
    with torch.no_grad():
        same = torch.allclose(plain(ids, mask, boxes), placed(ids, mask, boxes), atol=1e-5)
    assert same


def test_boxes_and_lines_exclude_each_other(bert):
    with pytest.raises(InputError, match="boxes and lines are both asked for"):
        Network.start(bert, LABELS, boxes=True, lines=True)


def test_a_seed_says_everything(bert, tmp_path):
    runs = [list(fit(bert, tmp_path / str(i), Recipe(epochs=2, batch=8))) for i in (0, 1)]
    other = list(fit(bert, tmp_path / "2", Recipe(epochs=2, batch=8, seed=1)))
    assert [e.loss for e in runs[0]] == [e.loss for e in runs[1]]
    assert [e.loss for e in runs[0]] != [e.loss for e in other]


def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(bert, tmp_path):
    whole = list(fit(bert, tmp_path / "whole"))
    broken = fit(bert, tmp_path / "broken")
    first = next(broken)
    broken.close()
    assert (tmp_path / "broken" / CHECKPOINT).exists()
    with pytest.raises(InputError, match="checkpoint of an unfinished run: resume it"):
        next(fit(bert, tmp_path / "broken"))
    rest = list(fit(bert, tmp_path / "broken", resume=True))
    assert [e.loss for e in (first, *rest)] == pytest.approx([e.loss for e in whole])
    for name, tensor in weights(tmp_path / "whole").items():
        assert torch.equal(tensor, weights(tmp_path / "broken")[name])


def test_what_cannot_be_resumed_says_why(bert, tmp_path):
    with pytest.raises(InputError, match=f"no {CHECKPOINT} in"):
        next(fit(bert, tmp_path, resume=True))
    next(run := fit(bert, tmp_path))
    run.close()
    with pytest.raises(InputError, match="another recipe or other labels: batch was 8 and is 4"):
        next(fit(bert, tmp_path, replace(QUICK, batch=4), resume=True))
    with pytest.raises(InputError, match="of another network"):
        next(fit(bert, tmp_path, resume=True, layers=1))
    before = weights(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match=r"not a checkpoint that can be resumed.*delete it to"):
        next(fit(bert, tmp_path, resume=True))
    for name, tensor in weights(tmp_path).items():  # what was trained is still there
        assert torch.equal(tensor, before[name])


@pytest.mark.parametrize("step", ["tokenizer", "weights", "before the card", "checkpoint"])
def test_an_interruption_at_any_write_leaves_a_model_and_can_be_resumed(
    bert, tmp_path, monkeypatch, step
):
    """Weights and their checksum are two files, and the process may end between them."""
    rising = iter(range(1, 100))
    monkeypatch.setattr(training, "entity_counts", lambda *_: Counts(next(rising), 50, 50))
    whole = list(fit(bert, tmp_path / "whole"))
    folder = tmp_path / "broken"
    next(run := fit(bert, folder))
    run.close()

    def stop(*_, **__):
        raise KeyboardInterrupt

    saves = iter([Card.save, Card.save, Card.save, stop])

    def save(*given, **how):
        next(saves)(*given, **how)

    with monkeypatch.context() as patch:
        if step == "tokenizer":
            patch.setattr(Tokenizer, "save", stop)
        elif step == "weights":
            patch.setattr("safetensors.torch.save_file", stop)
        elif step == "checkpoint":
            patch.setattr(torch, "save", stop)
        else:  # the weights are new, and the card is that of the old ones
            patch.setattr(Card, "save", save)
        with pytest.raises(KeyboardInterrupt):
            list(fit(bert, folder, resume=True))
    assert from_pretrained(folder).labels == LABELS
    list(fit(bert, folder, resume=True))
    assert {"model.safetensors", "tokenizer.json"} == set(read_card(folder).sha256)
    assert from_pretrained(folder).labels == LABELS
    assert len(whole) == QUICK.epochs
    for name, tensor in weights(tmp_path / "whole").items():
        assert torch.equal(tensor, weights(folder)[name])


def test_it_stops_when_it_gets_no_better(bert, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "entity_counts", lambda *_: Counts(1, 50, 50))
    recipe = Recipe(epochs=9, batch=8, rate=0.0, new_rate=0.0, patience=2)
    assert len(list(fit(bert, tmp_path, recipe))) == 3  # the first is the best, two are no better


def losses(monkeypatch, *values):
    given = iter(values)
    monkeypatch.setattr(training._Run, "_epoch", lambda *_: next(given))


def test_it_does_not_stop_before_anything_is_learnt_while_the_loss_falls(
    bert, tmp_path, monkeypatch
):
    """Small data sets stay at an F1 of 0 for epochs, in which the loss falls."""
    losses(monkeypatch, 3.5, 1.5, 0.7, 0.68, 0.55, 0.5, 0.4, 0.41, 0.41)
    counts = iter(
        [Counts(0, 0, 9)] * 4 + [Counts(0, 2, 9), Counts(1, 2, 9)] + [Counts(0, 1, 9)] * 3
    )
    monkeypatch.setattr(training, "entity_counts", lambda *_: next(counts))
    epochs = list(fit(bert, tmp_path, Recipe(epochs=9, batch=8, patience=2)))
    assert [epoch.progress for epoch in epochs] == [True] * 6 + [False] * 2
    assert [epoch.found for epoch in epochs] == [0, 0, 0, 0, 2, 2, 1, 1]


def test_it_stops_when_nothing_is_learnt_and_the_loss_does_not_fall(bert, tmp_path, monkeypatch):
    losses(monkeypatch, 0.5, 0.499, 0.498, 0.3)
    monkeypatch.setattr(training, "entity_counts", lambda *_: Counts(0, 0, 9))
    epochs = list(fit(bert, tmp_path, Recipe(epochs=9, batch=8, patience=2)))
    assert [epoch.stale for epoch in epochs] == [0, 1, 2]


def test_a_run_that_goes_on_knows_the_best_epoch_before(bert, tmp_path, monkeypatch):
    right = iter([9, 8, 7])
    monkeypatch.setattr(training, "entity_counts", lambda *_: Counts(next(right), 9, 9))
    run = fit(bert, tmp_path)
    assert next(run).progress
    run.close()
    epoch = next(fit(bert, tmp_path, resume=True))
    assert (epoch.number, epoch.progress, epoch.best) == (2, False, 1.0)


@pytest.mark.parametrize(
    ("windows", "batch", "epochs", "patience"),
    [(1, 4, 400, 100), (24, 4, 67, 16), (100, 8, 31, 7), (400, 32, 31, 7), (645, 32, 20, 5)],
)
def test_few_documents_get_small_batches_and_many_epochs(windows, batch, epochs, patience):
    recipe = Recipe().filled(windows)
    assert (recipe.batch, recipe.epochs, recipe.patience) == (batch, epochs, patience)
    assert Recipe(epochs=3, batch=7, patience=9).filled(windows) == Recipe(3, 7, patience=9)


def test_running_out_of_memory_keeps_the_best_so_far(bert, tmp_path, monkeypatch):
    run = fit(bert, tmp_path)
    next(run)

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.optim.AdamW, "step", full)
    with pytest.raises(InputError, match=r"out of memory on cpu with batches of 8.*best of epoch"):
        next(run)
    assert from_pretrained(tmp_path).labels == LABELS


def test_a_rate_that_explodes_is_an_error(bert, tmp_path, monkeypatch):
    monkeypatch.setattr(
        torch.nn.functional, "cross_entropy", lambda logits, *_, **__: logits.sum() * float("nan")
    )
    with pytest.raises(InputError, match="loss is nan in epoch 1: use a smaller rate"):
        next(fit(bert, tmp_path))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"layers": 3}, "layers is 3, expected 1 to 2"),
        ({"layers": 0}, "layers is 0, expected 1 to 2"),
        ({"window": 500}, "window is 500, expected 8 to 48"),
    ],
)
def test_what_an_encoder_cannot_be_cut_to(bert, how, said):
    with pytest.raises(InputError, match=said):
        Network.start(bert, LABELS, **how)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"epochs": 0}, "epochs is 0, expected a whole number of 1 or more"),
        ({"batch": 2.5}, "batch is 2.5"),
        ({"rate": -1.0}, "rate is -1.0, expected a number from 0 to 1"),
        ({"legal": float("nan")}, "legal is nan"),
    ],
)
def test_recipes_are_checked(how, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Recipe(**how)


def test_no_words_are_nothing_to_train_on(bert, tmp_path):
    network = Network.start(bert, LABELS)
    empty = [Labelled(Document("d", ()), ())]
    with pytest.raises(InputError, match="no words to train on"):
        next(train(network, Tokenizer.load(bert), empty, PAGES, tmp_path))
    with pytest.raises(InputError, match="no words to validate on"):
        next(train(network, Tokenizer.load(bert), PAGES, [], tmp_path))
    page = Labelled(Document("odd", ("a",)), ("B-shop",))
    with pytest.raises(InputError, match="'odd' has gold label 'B-shop', which the model does not"):
        next(train(network, Tokenizer.load(bert), [page], PAGES, tmp_path))


def test_boxes_are_not_learned_from_documents_without_any(bert, tmp_path):
    bare = [replace(page, document=replace(page.document, boxes=None)) for page in PAGES]
    network = Network.start(bert, LABELS, boxes=True)
    with pytest.raises(InputError, match="takes boxes, but no training document has any"):
        next(train(network, Tokenizer.load(bert), bare, PAGES, tmp_path))


def test_folders_that_are_no_models_say_so(bert, tmp_path):
    with pytest.raises(InputError, match=r"no config\.json in .*: not a checkpoint directory"):
        from_pretrained(tmp_path)
    list(fit(bert, tmp_path / "m", Recipe(epochs=1)))
    whole = (tmp_path / "m" / "model.safetensors").read_bytes()
    (tmp_path / "m" / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"model\.safetensors is damaged or of another model"):
        from_pretrained(tmp_path / "m")
    card = read_card(tmp_path / "m")
    del card.sha256["model.safetensors"]
    card.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"model\.safetensors: not a file of weights"):
        from_pretrained(tmp_path / "m")
    (tmp_path / "m" / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"no model\.safetensors in"):
        from_pretrained(tmp_path / "m")
    (tmp_path / "m" / "lawful.json").write_text("{}")
    with pytest.raises(InputError, match=r"lawful\.json: not the card of a model"):
        from_pretrained(tmp_path / "m")
    with pytest.raises(InputError, match="no device 'moon': "):
        from_pretrained(bert, device="moon")


def chain_case(seed):
    generator = torch.Generator().manual_seed(seed)
    head = ChainHead(3)
    for part in head.parameters():
        part.data = torch.randn(part.shape, generator=generator)
    scores = torch.randn((2, 4, 3), generator=generator)
    targets = torch.randint(0, 3, (2, 4), generator=generator)
    return head, scores, targets


@pytest.mark.parametrize("seed", range(10))
def test_the_loss_of_a_chain_is_that_of_all_labellings(seed):
    head, scores, targets = chain_case(seed)
    lengths = [4, 1 + seed % 4]
    mask = torch.tensor([[i < length for i in range(4)] for length in lengths])
    starts, ends = torch.tensor([True, seed % 2 == 0]), torch.tensor([seed % 3 == 0, True])
    edges = iter(zip(starts.tolist(), ends.tolist(), strict=True))

    def score(row, labels, edge):
        start, end = edge[0] * head.start, edge[1] * head.end
        return score_of(row[: len(labels)], labels, start, head.between, end)

    expected = 0.0
    for row, target, length in zip(scores, targets.tolist(), lengths, strict=True):
        edge = next(edges)
        every = torch.stack([score(row, p, edge) for p in product(range(3), repeat=length)])
        expected += (torch.logsumexp(every, 0) - score(row, target[:length], edge)).item()
    loss = head.loss(scores, targets, mask, starts, ends)
    assert loss.item() == pytest.approx(expected / sum(lengths))


def test_illegality_is_the_chance_of_an_illegal_step():
    scheme = Scheme.named("BIO", ("O", "B-x", "I-x"))
    illegal = torch.tensor(~scheme.allowed[1], dtype=torch.float32)
    probs = torch.tensor([[[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]])
    there = torch.tensor([[True, True, False]])
    assert illegality(probs.log(), there, illegal).item() == pytest.approx(0.5 * 0.7)


def test_rewarding_legal_labels_makes_them_more_legal(bert, tmp_path):
    def share(weight, folder):
        recipe = replace(QUICK, epochs=4, legal=weight, patience=4, rate=1e-3, new_rate=1e-3)
        list(fit(bert, folder, recipe))
        illegal = torch.tensor(~Scheme.named("BIO", LABELS).allowed[1], dtype=torch.float32)
        total = 0.0
        for page in from_pretrained(folder).predict(PAGES[16:], units="pieces"):
            logits = torch.tensor(page.scores.log_probs)[None].float()
            there = torch.ones(logits.shape[:2], dtype=torch.bool)
            total += illegality(logits, there, illegal).item()
        return total

    assert share(30.0, tmp_path / "legal") < share(0.0, tmp_path / "plain")


def test_a_folder_with_a_model_is_left_alone(bert, tmp_path):
    list(fit(bert, tmp_path, Recipe(epochs=1)))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(InputError, match="already has a model: choose another folder"):
        next(fit(bert, tmp_path))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_run_is_resumed_on_the_same_documents_only(bert, tmp_path):
    next(run := fit(bert, tmp_path))
    run.close()
    network, tokenizer = Network.start(bert, LABELS), Tokenizer.load(bert)
    for pages, checked in ((PAGES[1:16], PAGES[16:]), (PAGES[:16], PAGES[17:])):
        again = train(network, tokenizer, pages, checked, tmp_path, QUICK, resume=True)
        with pytest.raises(InputError, match="is of a run on other documents, or with another"):
            next(again)


@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_rates_never_exceed_the_recipes(bert, tmp_path, epochs, monkeypatch):
    rates = []
    step = torch.optim.AdamW.step

    def seen(self, *given):
        rates.append([group["lr"] / group["peak"] for group in self.param_groups])
        return step(self, *given)

    monkeypatch.setattr(torch.optim.AdamW, "step", seen)
    list(fit(bert, tmp_path, Recipe(epochs=epochs, batch=16, patience=9)))
    assert len(rates) == epochs
    assert 0 < np.max(rates) <= 1


def test_weights_that_are_missing_are_not_made_up(tmp_path):
    import transformers

    base = encoder("bert", tmp_path / "base")
    bare = transformers.BertModel.from_pretrained(base)
    bare.save_pretrained(tmp_path / "bare")
    Tokenizer.load(base).save(tmp_path / "bare")
    with pytest.raises(InputError, match=r"has no weights for classifier\.bias and 1 others"):
        from_pretrained(tmp_path / "bare")
    Network.start(tmp_path / "bare", LABELS)  # a new head is what training is for
    odd = transformers.DistilBertForTokenClassification.from_pretrained(
        encoder("distilbert", tmp_path / "distil")
    )
    odd.save_pretrained(tmp_path / "odd")
    (tmp_path / "odd" / "config.json").write_bytes((base / "config.json").read_bytes())
    with pytest.raises(InputError, match="which would be random"):
        Network.start(tmp_path / "odd", LABELS)


def test_a_model_without_a_tokenizer_is_refused(tmp_path):
    base = encoder("bert", tmp_path / "base")
    (base / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="tokenizer"):
        from_pretrained(base)
