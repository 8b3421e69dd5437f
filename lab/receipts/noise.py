"""What photos and OCR do to a printed page: glued and torn words, wrong letters, shaken boxes."""

from __future__ import annotations

from dataclasses import dataclass

from lab.receipts.dice import Dice
from lab.receipts.layout import Print
from lawful.documents.document import Box, Document
from lawful.documents.reading_order import reading_order
from lawful.documents.records import Labelled

CONFUSED = {
    "0": "OoDQ", "1": "lIi|", "2": "Zz", "5": "Ss", "6": "bG", "8": "B&", "9": "gq", "O": "0Q",
    "o": "0", "I": "1l", "l": "1I", "S": "5", "B": "8", "Z": "2", "G": "6", "e": "c", "c": "e",
    "a": "o", "n": "r", "r": "n", "t": "f", "h": "b", "u": "v", "v": "u", "E": "F", "R": "A",
    "M": "N", "$": "S8", ".": ",", ",": ".", ":": ".;",
}  # fmt: skip
"""Characters that OCR takes for others."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How much of each damage a page has."""

    glue: float  # share of neighbouring words of one cell without a blank between them
    swap: float  # share of wrong characters in words
    swap_amounts: float  # and in amounts and dates
    drop: float  # share of words that are not found
    shake: float  # of boxes, in heights of a word
    split: float  # share of amounts that are torn

    @classmethod
    def drawn(cls, dice: Dice) -> Noise:
        """The noise of a page: many pages have little, some have much."""
        photo = dice.chance(0.6)
        glue = dice.weighted(((0.0, 4.0), (0.15, 2.0), (0.5, 1.0), (1.0, 4.0)))
        return cls(
            glue=glue,
            swap=dice.between(0, 0.04) if photo else 0.0,
            swap_amounts=dice.between(0, 0.006) if photo else 0.0,
            drop=dice.between(0, 0.03) if photo else 0.0,
            shake=dice.between(0, 0.18) if photo else dice.between(0, 0.05),
            split=dice.between(0, 0.06) if photo else 0.0,
        )


@dataclass(slots=True)
class _Word:
    text: str
    box: Box
    label: str
    page: int = 0

    @property
    def field(self) -> str:
        return self.label.partition("-")[2]


def photographed(dice: Dice, page: Print, id_: str, noise: Noise | None = None) -> Labelled:
    """The pages as OCR reads them from photos, with the labels of the words that it finds."""
    noise = noise or Noise.drawn(dice)
    numbers = page.pages or [0] * len(page.words)
    parts = zip(page.words, page.boxes, page.labels, numbers, strict=True)
    words = [_Word(*each) for each in parts]
    words = [_misread(dice, noise, word) for word in _torn(dice, noise, _glued(dice, noise, words))]
    words = [word for word in words if word.text and not dice.chance(noise.drop)] or words[:1]
    words = [_shaken(dice, noise, word) for word in words]
    order = reading_order([word.box for word in words], [word.page for word in words])
    words = [words[i] for i in order]
    labels = _legal([word.label for word in words])
    has_boxes = not dice.chance(0.1)
    return Labelled(
        Document(
            id_,
            tuple(word.text or "-" for word in words),
            tuple(w.box for w in words) if has_boxes else None,
            tuple(w.page for w in words) if words[-1].page else None,
        ),
        tuple(labels),
    )


def _legal(labels: list[str]) -> list[str]:
    """Labels in which no ``I-`` follows a word of another field."""
    done: list[str] = []
    for label in labels:
        is_torn = label.startswith("I-") and (not done or done[-1][1:] != label[1:])
        done.append(f"B{label[1:]}" if is_torn else label)
    return done


def _glued(dice: Dice, noise: Noise, words: list[_Word]) -> list[_Word]:
    """Words of one field, or of none, that stand close together become one."""
    done: list[_Word] = []
    for word in words:
        last = done[-1] if done else None
        if last is not None and last.field == word.field and not word.label.startswith("B-"):
            gap = word.box.x0 - last.box.x1
            near = last.page == word.page and (
                0 <= gap <= 1.1 * (last.box.y1 - last.box.y0) and abs(word.box.y0 - last.box.y0) < 8
            )
            if near and dice.chance(noise.glue):
                box = Box(
                    last.box.x0,
                    min(last.box.y0, word.box.y0),
                    word.box.x1,
                    max(last.box.y1, word.box.y1),
                )
                done[-1] = _Word(last.text + word.text, box, last.label, last.page)
                continue
        done.append(word)
    return done


def _torn(dice: Dice, noise: Noise, words: list[_Word]) -> list[_Word]:
    """Some amounts in two words, with a blank that is not printed."""
    done: list[_Word] = []
    for word in words:
        cut = dice.whole(1, len(word.text) - 1) if len(word.text) > 2 else 0
        if (
            cut
            and word.label != "O"
            and any(map(str.isdigit, word.text))
            and dice.chance(noise.split)
        ):
            middle = word.box.x0 + (word.box.x1 - word.box.x0) * cut / len(word.text)
            inside = word.label if word.label == "O" else f"I-{word.field}"
            done.append(_Word(word.text[:cut], word.box._replace(x1=middle), word.label, word.page))
            done.append(_Word(word.text[cut:], word.box._replace(x0=middle), inside, word.page))
        else:
            done.append(word)
    return done


def _misread(dice: Dice, noise: Noise, word: _Word) -> _Word:
    share = noise.swap_amounts if any(map(str.isdigit, word.text)) else noise.swap
    if share == 0:
        return word
    draws = dice.generator.random(len(word.text))
    letters = [
        (dice.pick(CONFUSED[c]) if c in CONFUSED else ("" if c in "-_" else c))
        if draw < share
        else c
        for c, draw in zip(word.text, draws, strict=True)
    ]
    return _Word("".join(letters), word.box, word.label, word.page)


def _shaken(dice: Dice, noise: Noise, word: _Word) -> _Word:
    high = word.box.y1 - word.box.y0
    x0, y0, x1, y1 = (at + noise.shake * high * dice.between(-0.5, 0.5) for at in word.box)
    box = Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    return _Word(word.text, box, word.label, word.page)
