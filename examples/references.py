"""References: the fields of bibliography entries under rules about texts.

A model of single words is trained on eight references. The rules say that each field is one run of
words, that fields begin after punctuation, that they come in an order, and where years may be.
Needs python-crfsuite.
"""

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import pycrfsuite

import lawful
from lawful.models.crfsuite import CrfsuiteModel

FIELDS = ("author", "title", "journal", "volume", "pages", "date")
REFERENCES = (  # fields by their first letters; P is pages
    "a:Smith, J., t:On the growth of trees. j:Nature, v:12, P:33-40, d:1998.",
    "a:Adams, A. and Brown, B., t:Measuring light. j:Optics Letters, v:3, P:1-9, d:2004.",
    "a:Chen, L. d:(2011). t:Deep rivers and their fish. j:Journal of Water, v:45(2), P:101-120.",
    "a:Díaz, M. d:(2001). t:A theory of games. j:Games Review, v:7, P:77-80.",
    "a:Evans, O., t:The year 1917 in letters. j:History Today, v:9, P:5-12, d:1987.",
    "a:Fischer, K. d:(1995). t:Counting stars. j:Science, v:88, P:12-15.",
    "a:Green, P. and Hall, R., t:Birds of the north. j:Journal of Birds, v:2, P:200-210, d:1976.",
    "a:Ito, S. d:(2015). t:Paper and ink. j:Journal of Craft, v:1(4), P:3-8.",
)
NEW = (
    "Jones, T., Rain in Spain, and other weather. Nature Reviews, 14, 50-61, 2003.",
    "Nolan, Q., Trees of the North in 1998 and in 2004. The Journal, 3, 4-5, 2010.",
    "Olsen, B. (2011). Fish, Birds and Trees of Nature. Science of Water, 8, 99-105.",
    "Stone, E., Games of 1917. Review of History, Part A, 6(3), 14-18, 1990.",
)


def labelled(reference: str) -> tuple[list[str], list[str]]:
    """Words and their labels in BIO."""
    words, labels = [], []
    names = {name[0]: name for name in FIELDS} | {"P": "pages"}
    for word in reference.split():
        begins = word[1:2] == ":"
        if begins:
            name = names[word[0]]
        words.append(word[2:] if begins else word)
        labels.append(f"{'B' if begins else 'I'}-{name}")
    return words, labels


def features(words: list[str]) -> list[list[str]]:
    """By word, the kind and the end of the word and of its neighbours."""
    kinds = [
        "digits" if any(map(str.isdigit, w)) else "name" if w[0].isupper() else "other"
        for w in words
    ]
    looks = ["<", *(f"{kind}{w[-1]}" for kind, w in zip(kinds, words, strict=True)), ">"]
    return [
        [words[i].lower(), *(f"{step} {looks[i + step]}" for step in range(3))]
        for i in range(len(words))
    ]


def trained() -> CrfsuiteModel:
    """A logistic regression: a CRF that sees one word at a time has no transitions."""
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.0, "c2": 0.1}, verbose=False)
    for words, labels in map(labelled, REFERENCES):
        for item, label in zip(features(words), labels, strict=True):
            trainer.append([item], [label])
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        return CrfsuiteModel.load(Path(folder) / "model")


fields = [lawful.Field(name, name, presence="free", repeat="any") for name in FIELDS]
rules = lawful.Rules(
    fields,
    [f"count({name}) <= 1" for name in FIELDS],
    orders=[lawful.rules.Order(("author", "title", "journal", "volume", "pages"))],
    boundaries=lawful.rules.Boundaries(after=r"[.,)]$"),
    words=[lawful.rules.WordRule(only=("date", "title"), match=r"^\(?(19|20)\d\d\b")],
)

model = trained()
for reference in NEW:
    words = reference.split()
    scores = model.scores(features(words)).marginals()
    print(reference)
    for name, each in (("no rules", lawful.Rules(fields)), ("rules", rules)):
        found = lawful.decode(lawful.Document("r", words), scores, each)
        types = [label[2:] for label in found.labels]
        runs = groupby(zip(types, words, strict=True), key=itemgetter(0))
        print(
            f"  {name:<10}" + " | ".join(f"{t}: {' '.join(w for _, w in run)}" for t, run in runs)
        )
