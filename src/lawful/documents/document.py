"""``Document``: words in reading order, with boxes, pages and whatever else is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import exp, inf, isfinite
from numbers import Real
from operator import attrgetter
from typing import Any, NamedTuple

from lawful.base.errors import DocumentError, InputError, shown
from lawful.documents.misreads import Misread, Misreads, as_misreads, misread_spans
from lawful.documents.pins import Pin, as_pins
from lawful.documents.scores import TOLERANCE

UNNAMED = "document"
"""The id of a document that was given none."""


class Box(NamedTuple):
    """A rectangle on a page, in the unit of the data set; ``x0 <= x1`` and ``y0 <= y1``."""

    x0: float
    y0: float
    x1: float
    y1: float

    def union(self, other: Box) -> Box:
        """The smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )


NOWHERE = Box(0, 0, 0, 0)
"""The box of a word that is printed nowhere: somebody said that the document has it."""


@dataclass(frozen=True, slots=True)
class Document:
    """Words in reading order, checked when made: ``Document(id, words)`` or ``Document(words)``.

    Without an id, it is ``document``. Ids tell documents of one file apart.

    ``joins`` marks words that are joined to the one before: if the words are word pieces, ``"56"``,
    ``"."`` and ``"000"`` have the text ``56.000``. ``rows`` has the same number for adjacent words
    of one row, such as a line of an invoice, and ``None`` for words in no row. ``line`` is the
    document's line in its file; it does not count for equality. ``given`` has values that are known
    besides the words, as texts or numbers by name, for rules that use them. ``classes`` says
    what the document may be: by name, as in ``kind``, a model's log-probabilities of its classes.
    ``pins`` are a person's word about the document, which decoders obey (``lawful.Pin``).

    ``sizes`` has width and height of each page, in the unit of the boxes, and ``images`` what each
    page can be drawn from: the path of an image or of a PDF file, with ``#page=2`` for the second
    page of a file. ``values`` are known to be true, by label, such as those of an e-invoice's XML.
    ``misreads`` has, by word, other texts that OCR may have missed: ``Misread(text, price)``.
    """

    id: str = UNNAMED
    words: tuple[str, ...] = None  # type: ignore[assignment]
    boxes: tuple[Box, ...] | None = None
    pages: tuple[int, ...] | None = None
    joins: tuple[bool, ...] | None = None
    rows: tuple[int | None, ...] | None = None
    line: int | None = field(default=None, compare=False, repr=False)
    given: Mapping[str, str | float | None] | None = field(default=None, hash=False)
    classes: Mapping[str, Mapping[str, float]] | None = field(default=None, hash=False)
    pins: tuple[Pin, ...] = ()
    sizes: tuple[tuple[float, float], ...] | None = None
    images: tuple[str | None, ...] | None = None
    values: Mapping[str, tuple[str, ...]] | None = field(default=None, hash=False)
    misreads: Misreads | None = None

    def __post_init__(self) -> None:
        if self.words is None:
            self._take_first_as_words()
        if not isinstance(self.id, str) or not self.id:
            raise DocumentError(f"the document's id is {shown(self.id)}, expected a name")
        has_lists = any(getattr(self, name) is not None for name in UNITS)
        if has_lists or type(self.words) is not tuple:
            self._make_tuples()
        for i, word in enumerate(() if _are_texts(self.words) else self.words):
            if not isinstance(word, str):
                raise DocumentError(f"{self._name}: word {i} is {shown(word)}, expected a string")
        if has_lists:
            self._check_lists()
        if self.given is not None:
            object.__setattr__(self, "given", self._given())
        if self.classes is not None:
            object.__setattr__(self, "classes", self._classes())
        if self.pins != ():
            object.__setattr__(self, "pins", self._pins())
        if self.sizes is not None:
            object.__setattr__(self, "sizes", self._sizes())
        if self.images is not None:
            object.__setattr__(self, "images", self._images())
        if self.values is not None:
            object.__setattr__(self, "values", self._values())

    def _take_first_as_words(self) -> None:
        """Makes ``Document(words)`` of what was called with one argument by position."""
        if isinstance(self.id, str):
            raise DocumentError(
                f"{self._name} has no words, expected Document(id, words) or Document(words); "
                "Document.from_text makes words of a text"
            )
        object.__setattr__(self, "words", self.id)
        object.__setattr__(self, "id", UNNAMED)

    @classmethod
    def from_text(cls, text: str, id: str = UNNAMED) -> Document:  # noqa: A002 - as the field
        """The document of a text, whose words are separated by blanks and line breaks."""
        if not isinstance(text, str):
            raise DocumentError(f"text is {shown(text)}, expected a string")
        return cls(id, tuple(text.split()))

    def _make_tuples(self) -> None:
        """Makes tuples of the words and of all lists with an entry per word."""
        for name in ("words", *UNITS):
            values = getattr(self, name)
            if values is None and name != "words":
                continue
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise DocumentError(f"{self._name}: {name} is {shown(values)}, expected a list")
            object.__setattr__(self, name, tuple(values))

    def _check_lists(self) -> None:
        """Checks the lists with an entry per word."""
        for name, unit in UNITS.items():
            values = getattr(self, name)
            if values is not None:
                check_length(self, len(values), *unit)
        if self.boxes is not None:
            object.__setattr__(self, "boxes", tuple(map(self._box, range(len(self.words)))))
        for i, page in enumerate(self.pages or ()):
            if isinstance(page, bool) or not hasattr(page, "__index__") or page < 0:
                raise DocumentError(
                    f"{self._name}: page of word {i} is {shown(page)}, expected 0, 1, …"
                )
        for i, row in enumerate(self.rows or ()):
            if row is not None and (isinstance(row, bool) or not hasattr(row, "__index__")):
                raise DocumentError(
                    f"{self._name}: row of word {i} is {shown(row)}, expected a number or none"
                )
        if self.misreads is not None:
            object.__setattr__(self, "misreads", self._misreads())
        joins = self.joins or ()
        for i, mark in enumerate(() if _all_are(bool, joins) else joins):
            if not isinstance(mark, bool) and type(mark).__name__ != "bool":  # nor NumPy's bool
                raise DocumentError(
                    f"{self._name}: joins of word {i} is {shown(mark)}, expected true or false"
                )

    def _misreads(self) -> Misreads:
        try:
            return as_misreads(self.misreads or (), self.words)
        except InputError as error:
            raise DocumentError(f"{self._name}: {error}") from None

    def _given(self) -> dict[str, str | float | None]:
        given = self.given
        if not isinstance(given, Mapping):
            raise DocumentError(f"{self._name}: given is {shown(given)}, expected names and values")
        for name, value in given.items():
            known = isinstance(value, str | int | None) and not isinstance(value, bool)
            known = known or (isinstance(value, float | Decimal) and isfinite(value))
            if not isinstance(name, str) or not known:
                raise DocumentError(
                    f"{self._name}: given {shown(name)} is {shown(value)}, "
                    "expected a name and a text or a number"
                )
        return dict(given)

    def _classes(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        if not isinstance(self.classes, Mapping):
            raise DocumentError(
                f"{self._name}: classes is {shown(self.classes)}, expected names and scores"
            )
        for name, scores in self.classes.items():
            where = f"{self._name}: classes {shown(name)}"
            if not isinstance(name, str) or not isinstance(scores, Mapping) or not scores:
                raise DocumentError(f"{where} is {shown(scores)}, expected log-probabilities")
            for value, p in scores.items():
                number = isinstance(p, Real) and not isinstance(p, bool)
                # Written so that NaN, for which every comparison is false, is refused too.
                if (
                    not isinstance(value, str)
                    or not number
                    or not (p == -inf or -1e9 < p <= TOLERANCE)
                ):
                    raise DocumentError(
                        f"{where}: {shown(value)} is {shown(p)}, expected a log-probability"
                    )
            if abs((total := sum(map(exp, scores.values()))) - 1) > TOLERANCE:
                raise DocumentError(
                    f"{where}: probabilities sum to {total:.6g}, expected 1 (within {TOLERANCE:g})"
                )
            found[name] = {value: min(0.0, float(p)) for value, p in scores.items()}
        return found

    def _pins(self) -> tuple[Pin, ...]:
        try:
            pins = as_pins(self.pins)
        except InputError as error:
            raise DocumentError(f"{self._name}: {error}") from None
        for pin in pins:
            if pin.words is not None and pin.words[1] > len(self):
                count = f"{len(self)} word{'s' * (len(self) != 1)}"
                raise DocumentError(f"{self._name} has {count}, but a pin: {pin.said}")
        return pins

    def _sizes(self) -> tuple[tuple[float, float], ...]:
        found = []
        for number, size in enumerate(_listed(self, "sizes")):
            try:
                width, height = map(float, size)
            except (TypeError, ValueError, OverflowError):
                width = height = -1.0
            if not (0 <= width < 1e9 and 0 <= height < 1e9):
                raise DocumentError(
                    f"{self._name}: size of page {number} is {shown(size)}, "
                    "expected [width, height]"
                )
            found.append((width, height))
        if self.pages and max(self.pages) >= len(found):
            raise DocumentError(
                f"{self._name} has words on page {max(self.pages)}, but sizes of {len(found)} pages"
            )
        return tuple(found)

    def _images(self) -> tuple[str | None, ...]:
        images = _listed(self, "images")
        for number, image in enumerate(images):
            if image is not None and not isinstance(image, str):
                raise DocumentError(
                    f"{self._name}: image of page {number} is {shown(image)}, expected a path"
                )
        return images

    def _values(self) -> dict[str, tuple[str, ...]]:
        if not isinstance(self.values, Mapping):
            raise DocumentError(
                f"{self._name}: values is {shown(self.values)}, expected labels and texts"
            )
        for label, texts in self.values.items():
            is_list = isinstance(texts, Iterable) and not isinstance(texts, str)
            if not (isinstance(label, str) and is_list and all(isinstance(t, str) for t in texts)):
                raise DocumentError(
                    f"{self._name}: values of {shown(label)} is {shown(texts)}, "
                    "expected a list of texts"
                )
        return {label: tuple(texts) for label, texts in self.values.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return Document, _PARTS_OF_DOCUMENTS(self)

    @property
    def _name(self) -> str:
        return f"document {shown(self.id)}"

    def _box(self, i: int) -> Box:
        given = self.boxes[i] if self.boxes is not None else None
        try:
            box = Box(*map(float, given))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            box = None
        # Written so that NaN, for which every comparison is false, is refused too.
        if box is None or not (-1e9 < box.x0 <= box.x1 < 1e9 and -1e9 < box.y0 <= box.y1 < 1e9):
            raise DocumentError(
                f"{self._name}: box of word {i} is {shown(given)}, "
                "expected [x0, y0, x1, y1] with x0 <= x1 and y0 <= y1"
            )
        return box

    def _repr_html_(self) -> str:
        from lawful.report.notebook import document_html

        return document_html(self)

    def __len__(self) -> int:
        return len(self.words)

    def text(self, start: int, end: int) -> str:
        """The text of a span: words separated by blanks, except where they join."""
        if self.joins is None:
            return " ".join(self.words[start:end])
        glue = ("" if i == start or self.joins[i] else " " for i in range(start, end))
        return "".join(map("".join, zip(glue, self.words[start:end], strict=True)))

    def misread(self, start: int, end: int) -> list[Misread]:
        """The other texts that a span may have, with one of its words misread."""
        if self.misreads is None:
            return []
        return list(misread_spans(self.words, self.joins, self.misreads, start, end))

    def corrected(self) -> Document:
        """The same document with the texts that pins say its words have, which no OCR misread.

        A text with as many words as the pin has, separated by blanks, is theirs word by word.
        Any other text is that of the first word, and the other words are joined to it, empty.
        """
        if not self.pins or not (texts := [pin for pin in self.pins if pin.subject == "text"]):
            return self
        words = list(self.words)
        joins = [False] * len(words) if self.joins is None else list(self.joins)
        misreads = None if self.misreads is None else list(self.misreads)
        for pin in texts:
            (start, end), text = pin.words or (0, 0), str(pin.value)
            parts = text.split() if end - start > 1 else [text]
            if len(parts) != end - start or any(joins[start + 1 : end]):
                parts = [text, *([""] * (end - start - 1))]
                joins[start + 1 : end] = [True] * (end - start - 1)
            words[start:end] = parts
            if misreads is not None:
                misreads[start:end] = [()] * (end - start)
        return replace(
            self,
            words=tuple(words),
            joins=tuple(joins) if any(joins) else self.joins,
            misreads=None if misreads is None else tuple(misreads),
        )

    def box(self, start: int, end: int) -> Box | None:
        """The smallest box around a span, on the page where it starts."""
        if self.boxes is None or start >= end:
            return None
        box = self.boxes[start]
        for i in range(start + 1, end):
            if self.pages is None or self.pages[i] == self.pages[start]:
                box = box.union(self.boxes[i])
        return box

    def taking(self, numbers: Sequence[int], /, **changes: Any) -> Document:
        """The same document of the words with these numbers, with all that is known of each.

        ``changes`` are other parts; among them must be the pins, if there are any about words.
        """
        known = ((name, getattr(self, name)) for name in ("words", *UNITS))
        kept = {name: tuple([of[i] for i in numbers]) for name, of in known if of is not None}
        return replace(self, **{**kept, **changes})

    def at_line(self, line: int) -> Document:
        """The same document with the number of its line in the input."""
        return replace(self, line=line)

    def with_id(self, id_: str) -> Document:
        """The same document under another id."""
        return replace(self, id=id_)

    def page(self, start: int) -> int | None:
        """The page of a word."""
        return None if self.pages is None else self.pages[start]


_PARTS_OF_DOCUMENTS = attrgetter(*Document.__match_args__)


def _are_texts(values: tuple[Any, ...]) -> bool:
    """Whether all values are strings: nothing else can be joined, and joining is quick."""
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def _all_are(type_: type, values: Sequence[Any]) -> bool:
    """Whether all values are of exactly this type."""
    return set(map(type, values)) <= {type_}


def _listed(document: Document, name: str) -> tuple[Any, ...]:
    """A value per page, as a tuple."""
    values = getattr(document, name)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DocumentError(
            f"document {shown(document.id)}: {name} is {shown(values)}, expected a list"
        )
    return tuple(values)


UNITS = {
    "boxes": ("box", "boxes"),
    "pages": ("page", "pages"),
    "joins": ("join", "joins"),
    "rows": ("row", "rows"),
    "misreads": ("list of misreads", "lists of misreads"),
}


def check_length(document: Document, count: int, one: str, several: str) -> None:
    """Raises a ``DocumentError`` unless ``count`` is the number of words.

    ``one`` and ``several`` name the unit of ``count``: "gold label" and "gold labels".
    """
    words = len(document.words)
    if count != words:
        raise DocumentError(
            f"document {shown(document.id)} has {words} word{'s' * (words != 1)}, "
            f"but {count} {one if count == 1 else several}"
        )
