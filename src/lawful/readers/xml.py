"""XML from strangers: a small tree, without entities, document types, network or deep nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from lawful.base.errors import InputError

MAX_ELEMENTS = 1_000_000
DEEPEST = 200


@dataclass(slots=True)
class Element:
    """An element: its name without namespace, its attributes, its own text and its children."""

    name: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in the element, without blanks around it."""
        return "".join(self.texts).strip()

    def all(self, *names: str) -> Iterator[Element]:
        """The elements below with one of these names, or all, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if (not names or element.name in names) and element is not self:
                yield element
            waiting.extend(reversed(element.children))

    def first(self, *names: str) -> Element | None:
        """The first element below with one of these names."""
        return next(self.all(*names), None)


def parse_xml(data: bytes) -> Element:
    """The root element; raises an ``InputError`` for what is no XML, or could be an attack.

    A document type is refused, and with it all entities: those that grow without bound, and those
    that name files or addresses.
    """
    root = Element("", {})
    path = [root]
    count = 0
    parser = expat.ParserCreate(namespace_separator="}")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(path) > DEEPEST:
            raise InputError(
                f"the XML has more than {MAX_ELEMENTS:,} elements, or is nested more than "
                f"{DEEPEST} deep"
            )
        plain = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        element = Element(name.rpartition("}")[2], plain)
        path[-1].children.append(element)
        path.append(element)

    def add(text: str) -> None:
        path[-1].texts.append(text)

    def refuse(*_: Any) -> int:
        raise InputError("the XML has a document type or an entity, which are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: path.pop()
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(f"the XML is damaged: {error}") from None
    except (ValueError, LookupError) as error:  # an unknown encoding
        if isinstance(error, InputError):
            raise
        raise InputError(f"the XML is damaged: {error}") from None
    return root.children[0]
