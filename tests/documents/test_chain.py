"""A CRF's scores of transitions: totals, marginals and decodings, against all labellings."""

import numpy as np
import pytest

from lawful import (
    Budget,
    Document,
    InputError,
    Rules,
    Scored,
    Scores,
    ScoresError,
    decode,
    paths,
    read_jsonl,
    write_jsonl,
)
from lawful.io.jsonl import write_npz
from lawful.rules import Field
from tests.oracles.chains import every_labelling, marginals

LABELS = ("O", "B-total", "I-total")
FREE = Rules([], [])
MONEY = Rules(
    [Field("total", "total", "money"), Field("tax", "tax", "money")],
    ["total == 12", "tax == 2"],
).with_defaults(presence="free", repeat="first", unchecked=0.0)


def case(seed: int, labels=LABELS, words=None):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5) if words is None else words
    logits = rng.normal(0, 2, (size, len(labels)))
    between = rng.normal(0, 2, (len(labels), len(labels)))
    if seed % 3 == 0:
        between[rng.integers(len(labels)), rng.integers(len(labels))] = -np.inf
    start, end = rng.normal(0, 1, (2, len(labels)))
    return Scores.from_logits(logits, labels).with_chain(start=start, between=between, end=end)


@pytest.mark.parametrize("seed", range(60))
def test_totals_and_marginals_are_those_of_all_labellings(seed):
    scores = case(seed)
    assert scores.log_total == pytest.approx(every_labelling(scores)[1])
    found = scores.marginals()
    assert found.chain is None
    assert np.exp(found.log_probs) == pytest.approx(marginals(scores), abs=1e-9)


@pytest.mark.parametrize("decoder", ["auto", "paths"])
@pytest.mark.parametrize("seed", range(60))
def test_the_best_legal_labelling_counts_transitions(decoder, seed):
    scores = case(seed)
    probabilities, _ = every_labelling(scores)
    scheme = FREE.scheme_for(LABELS)
    best = max((labels for labels in probabilities if scheme.allows(labels)), key=probabilities.get)
    document = Document("d", [f"w{i}" for i in range(len(scores))])
    found = decode(document, scores, FREE, decoder=decoder)
    if probabilities[best] == 0:
        assert found.status == "infeasible"
        return
    assert np.exp(found.log_prob) == pytest.approx(probabilities[best])
    assert found.optimal
    assert scheme.indices(found.labels).tolist() == list(best)


@pytest.mark.parametrize("seed", range(40))
def test_under_rules_the_best_worth_is_found(seed):
    labels = ("O", "B-total", "I-total", "B-tax", "I-tax")
    scores = case(seed, labels, words=4)
    document = Document("d", ["12", "2", "7", "12"])
    probabilities, _ = every_labelling(scores)
    scheme = MONEY.scheme_for(labels)
    values = dict(enumerate((12, 2, 7, 12)))

    def worth(labelling):
        """Log-probability less 10 for each of: a wrong total, a wrong tax, an unreadable text."""
        spans = scheme.spans(np.array(labelling))
        penalty = 0.0
        for name, right in (("total", 12), ("tax", 2)):
            mine = [span for span in spans if span.type == name]
            whole = [span for span in mine if span.end == span.start + 1]
            penalty += 10.0 * (len(mine) - len(whole))
            if whole and values[whole[0].start] != right:
                penalty += 10.0
        return np.log(probabilities[labelling]) - penalty

    # A text of two words may be a number, too ("12 2"), so the best of the others is a bound.
    single = [p for p in probabilities if scheme.allows(p) and probabilities[p] > 0]
    single = [p for p in single if all(s.end == s.start + 1 for s in scheme.spans(np.array(p)))]
    best = max(map(worth, single), default=-np.inf)
    found = decode(document, scores, MONEY, budget=Budget(candidates=10**5))
    assert found.optimal
    assert found.worth >= best - 1e-9
    spans = scheme.spans(scheme.indices(found.labels))
    if all(span.end == span.start + 1 for span in spans):
        assert found.worth == pytest.approx(best)


@pytest.mark.parametrize("seed", range(20))
def test_paths_have_the_probabilities_of_the_crf(seed):
    scores = case(seed)
    probabilities, _ = every_labelling(scores)
    scheme = FREE.scheme_for(LABELS)
    found, log_probs = paths(scores, "BIO").take(200)
    expected = {p: v for p, v in probabilities.items() if scheme.allows(p) and v > 0}
    assert {tuple(row): p for row, p in zip(found.tolist(), np.exp(log_probs), strict=True)} == (
        pytest.approx(expected)
    )


def test_a_temperature_flattens_transitions_too():
    scores = case(1)
    probabilities, _ = every_labelling(scores)
    flat, _ = every_labelling(scores.with_temperature(2.0))
    roots = {labels: p**0.5 for labels, p in probabilities.items()}
    total = sum(roots.values())
    assert flat == pytest.approx({labels: root / total for labels, root in roots.items()})


def test_decoders_that_cannot_add_transitions_say_so():
    scores = case(1)
    document = Document("page", [f"w{i}" for i in range(len(scores))])
    with pytest.raises(InputError, match=r"page.*which decoder lazyk cannot use; use decoder p"):
        decode(document, scores, FREE, decoder="lazyk")
    with pytest.raises(InputError, match="which alternatives cannot use"):
        decode(document, scores, FREE, alternatives=2)
    assert decode(document, scores.marginals(), FREE, decoder="lazyk").status == "unchecked"


def test_chains_are_written_and_read(tmp_path):
    scores = case(1)
    document = Document("d", [f"w{i}" for i in range(len(scores))])
    write_jsonl(tmp_path / "d.jsonl", [Scored(document, scores)])
    (read,) = read_jsonl(tmp_path / "d.jsonl")
    for part, again in zip(scores.chain, read.scores.chain, strict=True):
        assert part == pytest.approx(again)


def test_chains_may_lie_beside_the_lines(tmp_path):
    scores = case(1)
    words = [f"w{i}" for i in range(len(scores))]
    (tmp_path / "d.jsonl").write_text(f'{{"id": "d", "words": {words}}}'.replace("'", '"'))
    chain = {f"chain/{name}": part for name, part in scores.chain._asdict().items()}
    np.savez(
        tmp_path / "d.npz",
        labels=LABELS,
        kind="log_probs",
        **{"scores/d": scores.log_probs},
        **chain,
    )
    (read,) = read_jsonl(tmp_path / "d.jsonl")
    assert read.scores.log_total == pytest.approx(scores.log_total)


def test_a_chain_of_another_size_is_refused():
    scores = Scores.from_logits(np.zeros((2, 3)), LABELS)
    with pytest.raises(ScoresError, match=r"between of the chain has shape \(2, 2\), expected"):
        scores.with_chain(between=np.zeros((2, 2)))
    with pytest.raises(ScoresError, match="start of the chain has NaN or inf, or"):
        scores.with_chain(between=np.zeros((3, 3)), start=[np.nan, 0, 0])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (10**400, "holds object, expected real numbers"),
        ("1", "holds <U32, expected real numbers"),
        (1j, "holds complex128, expected real numbers"),
        (1e101, "numbers above 1e[+]100 in size"),
    ],
)
def test_a_chain_of_anything_but_numbers_is_refused(entry, message):
    scores = Scores.from_probs([[0.5, 0.5]], ["O", "B-x"])
    with pytest.raises(ScoresError, match=message):
        scores.with_chain(between=[[0.0, entry], [0.0, 0.0]])


def test_an_older_npz_file_has_nothing_to_say_of_lines_with_their_own_scores(tmp_path):
    scores = case(1)
    document = Document("d", [f"w{i}" for i in range(len(scores))])
    write_npz(tmp_path / "d.jsonl", [Scored(document, scores)])
    write_jsonl(tmp_path / "d.jsonl", [Scored(document, scores.marginals())])
    (read,) = read_jsonl(tmp_path / "d.jsonl")
    assert read.scores.chain is None


def test_an_npz_file_has_one_chain_and_every_id_once(tmp_path):
    scores = case(1, words=2)
    first, second = (Scored(Document(name, ("a", "b")), scores) for name in ("x", "x.npy"))
    other = Scored(Document("x.npy", ("a", "b")), case(2, words=2))
    assert write_npz(tmp_path / "d.jsonl", [first, second]) == 2
    for read in read_jsonl(tmp_path / "d.jsonl"):
        assert read.scores.log_total == pytest.approx(scores.log_total, abs=1e-5)
    before = (tmp_path / "d.jsonl").read_bytes(), (tmp_path / "d.npz").read_bytes()
    with pytest.raises(InputError, match="two documents have the id 'x'"):
        write_npz(tmp_path / "d.jsonl", [first, first])
    with pytest.raises(InputError, match="has other labels or another chain than the first"):
        write_npz(tmp_path / "d.jsonl", [first, other])
    with pytest.raises(InputError, match=r"cannot name scores in an \.npz file"):
        write_npz(tmp_path / "d.jsonl", [Scored(Document("a\0b", ("a", "b")), scores)])
    assert before == ((tmp_path / "d.jsonl").read_bytes(), (tmp_path / "d.npz").read_bytes())


def test_forbidden_transitions_are_written_and_read(tmp_path):
    between = np.zeros((3, 3))
    between[0, 2] = -np.inf
    scores = Scores.from_logits(np.zeros((2, 3)), LABELS).with_chain(between=between)
    write_jsonl(tmp_path / "d.jsonl", [Scored(Document("d", ("a", "b")), scores)])
    (read,) = read_jsonl(tmp_path / "d.jsonl")
    assert read.scores.chain.between.tolist() == between.tolist()


def test_transitions_that_allow_nothing_are_infeasible():
    scores = Scores.from_logits(np.zeros((2, 3)), LABELS).with_chain(
        between=np.full((3, 3), -np.inf)
    )
    found = decode(Document("d", ("a", "b")), scores, FREE)
    assert found.status == "infeasible"


def test_what_is_nearly_impossible_is_not_forbidden_by_writing_it(tmp_path):
    scores = Scores.from_logits([[0.0, -2000.0, -5.0]], LABELS)
    write_jsonl(tmp_path / "d.jsonl", [Scored(Document("d", ("a",)), scores)])
    (read,) = read_jsonl(tmp_path / "d.jsonl")
    assert np.isfinite(read.scores.log_probs).all()
