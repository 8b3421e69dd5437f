"""Labels that training documents have too few of, or none."""

import pytest

from lawful import Document, Field, InputError, Rules
from lawful.documents.records import Labelled
from lawful.models.coverage import RARE, Coverage, count_labels, hold_out


def page(id_, *gold):
    return Labelled(Document(id_, ["w"] * len(gold)), gold)


def rules(**fields):
    return Rules([Field(name, **how) for name, how in fields.items()], [])


def test_spans_are_counted_not_words():
    pages = [page("a", "B-x", "I-x", "B-x", "O", "I-y", "I-x"), page("b", "B-y", "I-y", "B-y")]
    assert count_labels(pages) == {"x": 3, "y": 3}


def test_labels_that_never_occur_in_training_are_refused_with_their_counts():
    coverage = Coverage.of([page("a", "B-x")], [page("b", "B-y", "B-y", "B-z"), page("c", "B-y")])
    with pytest.raises(InputError) as error:
        coverage.check()
    assert str(error.value).startswith(
        "2 labels are never in the training documents, so a model cannot learn them: "
        "y (3 in the validation documents); z (1 in the validation documents). Add training"
    )


def test_labels_of_rules_are_needed_unless_they_are_optional():
    coverage = Coverage.of([page("a", "B-x")], [page("b", "B-x")])
    coverage.check(rules(x={"label": "x"}, y={"label": "y", "optional": True}))
    with pytest.raises(InputError, match=r"learn it: y \(used by field 'why' of the rules\)\. Add"):
        coverage.check(rules(why={"label": "y"}))
    both = Coverage.of([page("a", "B-x")], [page("b", "B-y")])
    with pytest.raises(
        InputError, match=r"y \(1 in the validation documents, used by field 'y' of the rules\)"
    ):
        both.check(rules(y={"label": "y"}))


def test_a_long_list_is_cut_off():
    many = [f"B-{number:02}" for number in range(15)]
    with pytest.raises(InputError, match=r"11 \(1 in the validation documents\), and 3 more\. Add"):
        Coverage.of([page("a", "B-x")], [page("b", *many)]).check()


def test_rare_labels_and_labels_without_validation_are_said():
    coverage = Coverage.of(
        [page("a", *["B-often"] * RARE, *["B-some"] * (RARE - 1), "B-once")],
        [page("b", "B-often", "B-once")],
    )
    coverage.check()
    assert list(coverage.warnings()) == [
        "2 labels are fewer than 10 times in the training documents, too few to learn from: "
        "once 1, some 9",
        "1 label is never in the validation documents, so F1 does not say how well it is learnt: "
        "some 9",
    ]
    fine = [page("a", *["B-x"] * RARE)]
    assert list(Coverage.of(fine, fine).warnings()) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_document_with_the_only_label_of_a_kind_is_trained_on(seed):
    pages = [page(f"p{i}", "B-x", *(["B-rare"] if i == 3 else [])) for i in range(10)]
    trained, held = hold_out(pages, 0.5, seed)
    Coverage.of(trained, held).check()
    assert sorted(p.document.id for p in (*trained, *held)) == sorted(p.document.id for p in pages)
    assert len(held) in (4, 5)
    assert "p3" in {p.document.id for p in trained}


def test_documents_with_the_same_id_stay_together():
    pages = [page(f"p{i // 2}", "B-x") for i in range(20)]
    for seed in range(5):
        trained, held = hold_out(pages, 0.3, seed)
        assert not {p.document.id for p in trained} & {p.document.id for p in held}
