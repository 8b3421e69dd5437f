"""Models of CRFsuite: scores against the library's own tagger, and usaddress without its error."""

import importlib.util
import struct
from functools import cache
from itertools import pairwise, product
from unittest import mock

import numpy as np
import pytest

from lawful import Budget, Document, InputError, Rules, Scores, decode
from lawful.models.crfsuite import CrfsuiteModel
from lawful.rules import Field
from tests.helpers import ROOT

pycrfsuite = pytest.importorskip("pycrfsuite", reason="needs python-crfsuite, extra 'crfsuite'")

LABELS = ("O", "B-größe", "I-größe", "x")
WORDS = ("a", "b", "ä:ö", "c=d", "7")


def features(rng, words):
    """Features of all the kinds that python-crfsuite takes, some unknown to the model."""
    items = []
    for word in words:
        item = {"word": word, word: float(rng.normal()), "yes": bool(rng.integers(2))}
        item["inside"] = {"deep": word, "number": int(rng.integers(3))}
        item["many"] = [word, "z"]
        items.append(item)
    return items


def train(path, seed):
    rng = np.random.default_rng(seed)
    trainer = pycrfsuite.Trainer("l2sgd" if seed % 2 else "lbfgs", verbose=False)
    for _ in range(30):
        size = int(rng.integers(1, 6))
        words = rng.choice(WORDS[:4], size)
        trainer.append(features(rng, words.tolist()), rng.choice(LABELS, size).tolist())
    trainer.set_params({"max_iterations": 20, "feature.possible_transitions": seed % 3 == 0})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_marginals_and_best_labels_are_those_of_the_library(seed, tmp_path):
    path = tmp_path / "a.crfsuite"
    tagger, model = train(path, seed), CrfsuiteModel.load(path)
    assert model.labels == tuple(tagger.labels())
    rng = np.random.default_rng(seed + 100)
    free = Rules([], [], scheme="IO").with_defaults()
    for _ in range(40):
        words = rng.choice(WORDS, rng.integers(1, 5)).tolist()
        items = features(rng, words)
        scores = model.scores(items)
        tagger.set(items)
        marginals = np.exp(scores.marginals().log_probs)
        for i, name in product(range(len(words)), model.labels):
            assert marginals[i, model.labels.index(name)] == pytest.approx(
                tagger.marginal(name, i), abs=1e-9
            )
        best = tagger.tag()
        found = decode(Document("d", words), Scores(*plain(scores)), free)
        assert found.log_prob == pytest.approx(np.log(tagger.probability(best)), abs=1e-9)
        others = rng.choice(model.labels, len(words)).tolist()
        assert log_prob(scores, others) == pytest.approx(
            np.log(tagger.probability(others)), abs=1e-9
        )


def plain(scores):
    """The same scores under names that every scheme takes."""
    return scores.log_probs, tuple(f"I-{i}" for i in range(len(scores.labels))), scores.chain


def log_prob(scores, labels):
    at = [scores.labels.index(label) for label in labels]
    steps = sum(scores.chain.between[a, b] for a, b in pairwise(at))
    return scores.log_probs[range(len(at)), at].sum() + steps - scores.log_total


def test_items_may_be_an_item_sequence_and_none(tmp_path):
    train(tmp_path / "a", 0)
    model = CrfsuiteModel.load(tmp_path / "a")
    items = [{"word": "a"}, ["b", "yes"]]
    again = model.scores(pycrfsuite.ItemSequence(items))
    assert np.array_equal(model.scores(items).log_probs, again.log_probs)
    assert len(model.scores([])) == 0


def test_an_unknown_attribute_is_ignored(tmp_path):
    train(tmp_path / "a", 0)
    model = CrfsuiteModel.load(tmp_path / "a")
    assert np.allclose(np.exp(model.scores([{"nowhere": 5.0}]).log_probs), 1 / len(model.labels))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "a"
    train(path, 0)
    data = path.read_bytes()
    broken = {
        "begins with b'abcd'": b"abcd" + data[4:],
        "requires a buffer": data[:20],
        f"it has {len(data) - 1} bytes, expected {len(data)}": data[:-1],
        "expected b'FEAT'": data.replace(b"FEAT", b"FEET", 1),
        "expected b'CQDB'": data.replace(b"CQDB", b"CQDA", 1),
        "version 101": data[:12] + struct.pack("<I", 101) + data[16:],
        "out of bounds": data[:64] + struct.pack("<2I", 2**31, 2**31) + data[72:],
        "not finite": data[:72] + struct.pack("<d", np.nan) + data[80:],
    }
    for message, wrong in broken.items():
        path.write_bytes(wrong)
        with pytest.raises(InputError, match="is not a model of CRFsuite: ") as caught:
            CrfsuiteModel.load(path)
        assert message in str(caught.value)
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        CrfsuiteModel.load(tmp_path / "missing")


def test_damaged_files_are_refused_or_read(tmp_path):
    path = tmp_path / "a"
    train(path, 0)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    for _ in range(500):
        wrong = data.copy()
        for place in rng.integers(0, len(data), 3):
            wrong[place] = rng.integers(256)
        path.write_bytes(wrong)
        try:
            CrfsuiteModel.load(path)
        except InputError as error:
            assert "is not a model of CRFsuite" in str(error)  # noqa: PT017 - most damage is harmless


@cache
def addresses():
    """The example as a module."""
    pytest.importorskip("usaddress")
    spec = importlib.util.spec_from_file_location("addresses", ROOT / "examples" / "addresses.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_tagged(labels):
    """Whether usaddress.tag accepts these labels."""
    import usaddress

    parsed = [("w", label) for label in labels]
    with mock.patch.object(usaddress, "parse", return_value=parsed):
        try:
            usaddress.tag("any")
        except usaddress.RepeatedLabelError:
            return False
    return True


def test_the_rules_of_the_example_are_those_of_usaddress():
    example = addresses()
    rng = np.random.default_rng(0)
    some = ("StreetName", "StreetNamePostType", "IntersectionSeparator", "PlaceName")
    seen = set()
    for _ in range(400):
        labels = rng.choice(some, rng.integers(1, 8)).tolist()
        at = [example.model.labels.index(label) for label in labels]
        probs = np.zeros((len(labels), len(example.model.labels)))
        probs[range(len(at)), at] = 1
        scores = Scores.from_probs(probs, example.model.labels)
        found = decode(Document("d", ["w"] * len(labels)), scores, example.rules)
        assert (found.status == "satisfied") == is_tagged(labels), labels
        seen.add(found.status)
    assert seen == {"satisfied", "infeasible"}


def test_no_label_is_repeated_in_strings_that_usaddress_cannot_tag():
    example = addresses()
    raised = 0
    glued = [f"{a} {b}" for a, b in zip(example.ADDRESSES, example.ADDRESSES[1:3], strict=False)]
    for address in (*example.ADDRESSES, *glued, "", "&", "a"):
        items = example.usaddress.tokenize(address)
        before = [label for _, label in example.usaddress.parse(address)]
        raised += not is_tagged(before)
        found = example.decoded(items)
        assert len(found.labels) == len(items)
        assert is_tagged(found.labels)
        if is_tagged(before):
            assert list(found.labels) == before
    assert raised >= 6


def test_the_best_labelling_with_one_run_per_label_matches_brute_force():
    rng = np.random.default_rng(0)
    labels = ("a", "b", "c")
    rules = Rules(
        [Field(label, label, presence="free", repeat="any") for label in labels],
        [f"count({label}) <= 1" for label in labels],
        scheme="IO",
    ).with_defaults(weight=np.inf)
    for _ in range(60):
        size = int(rng.integers(1, 6))
        scores = Scores.from_logits(rng.normal(0, 2, (size, 3)).round(), labels)
        scores = scores.with_chain(between=rng.normal(0, 2, (3, 3)).round())
        allowed = [
            log_prob(scores, each)
            for each in product(labels, repeat=size)
            if sum(a != b for a, b in pairwise(each)) + 1 == len(set(each))
        ]
        found = decode(Document("d", ["w"] * size), scores, rules, budget=Budget(np.inf))
        assert found.optimal
        assert found.log_prob == pytest.approx(max(allowed))
