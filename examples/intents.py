"""Intents and slots: what a sentence asks for, decoded together with what its words mean.

Two small models are trained on a dozen sentences: one of slots, one of intents. Each alone makes
mistakes. The rules say which slots an intent allows and needs. Needs python-crfsuite.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pycrfsuite

import lawful
from lawful.models.crfsuite import CrfsuiteModel

SENTENCES = {  # slots are marked as slot:words
    "play": (
        "play track:yesterday by artist:the_beatles",
        "play artist:nina_simone on service:spotify",
        "i want to hear track:blue_train by artist:john_coltrane",
        "play some artist:miles_davis on service:deezer",
    ),
    "book": (
        "book a table for size:four at place:the_blue_train",
        "find me a table for size:two in city:boston",
        "i want to book place:chez_panisse for size:six",
        "book a table in city:dallas for size:four",
    ),
    "weather": (
        "will it rain in city:boston time:tomorrow",
        "what is the weather in city:dallas time:tonight",
        "is it cold in city:oslo",
        "how hot will it be in city:denver time:tomorrow",
    ),
}
NEW = (
    "i want to hear denver tonight on spotify",
    "play the blue table by boston tonight",
    "what is the blue train on deezer",
)


def labelled(sentence: str) -> tuple[list[str], list[str]]:
    """Words and their labels in BIO."""
    words, labels = [], []
    for part in sentence.split():
        slot, _, texts = part.rpartition(":")
        for i, word in enumerate(texts.split("_")):
            words.append(word)
            labels.append(f"{'I' if i else 'B'}-{slot}" if slot else "O")
    return words, labels


def features(words: list[str]) -> list[list[str]]:
    """By word, the word and its neighbours."""
    padded = ["<", *words, ">"]
    return [[f"{step} {padded[i + step]}" for step in range(3)] for i in range(len(words))]


def trained(examples: list[tuple[list[list[str]], list[str]]]) -> CrfsuiteModel:
    """A CRF; over sequences of one item, this is a logistic regression."""
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.0, "c2": 0.1}, verbose=False)
    for items, labels in examples:
        trainer.append(items, labels)
    with TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        return CrfsuiteModel.load(Path(folder) / "model")


pairs = [(intent, *labelled(each)) for intent, some in SENTENCES.items() for each in some]
slots = trained([(features(words), labels) for _, words, labels in pairs])
intents = trained([([words], [intent]) for intent, words, _ in pairs])

allowed: dict[str, set[str]] = {}
for intent, _, labels in pairs:
    for label in labels:
        if label != "O":
            allowed.setdefault(label[2:], set()).add(intent)
rules = lawful.Rules(
    [lawful.Field(slot, slot, presence="free", repeat="any") for slot in allowed],
    [
        *(
            lawful.Rule(
                f"not present({slot}) or " + " or ".join(f"intent == {i!r}" for i in sorted(some)),
                id=f"{slot} is allowed",
            )
            for slot, some in allowed.items()
        ),
        lawful.Rule("present(size)", when="intent == 'book'"),
        lawful.Rule("present(artist)", when="intent == 'play'"),
    ],
    classes={"intent": "intent"},
)
separate = lawful.Rules(rules.fields, classes=rules.classes)


def shown(found: lawful.Decoding) -> str:
    """The intent and the slots of a sentence."""
    texts = (f"{name}={each.text!r}" for name, some in found.fields.items() for each in some)
    return f"{found.classes['intent'].value}({', '.join(texts)})"


for sentence in NEW:
    words = sentence.split()
    scores = intents.scores([words])
    classes = dict(zip(scores.labels, scores.log_probs[0].tolist(), strict=True))
    document = lawful.Document(sentence, words, classes={"intent": classes})
    print(sentence)
    for name, each in (("separately", separate), ("together", rules)):
        print(f"  {name:<12}{shown(lawful.decode(document, slots.scores(features(words)), each))}")
