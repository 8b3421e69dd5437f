"""Requests of all kinds, for a service under load: light, heavy and wrong ones, no two alike.

Numbers in documents, names of labels and rules differ from request to request, so that whatever a
service keeps per text, per list of labels or per set of rules grows as fast as it can.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, NamedTuple

from lab import receipts as demo
from lawful.documents.records import Scored

LINES = "application/x-ndjson"
JSON = "application/json"


class Request(NamedTuple):
    """A request, and whether the service should find nothing wrong with it."""

    path: str
    body: bytes
    media_type: str = JSON
    usable: bool = True


class Mix:
    """Draws requests; the same ones for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)  # noqa: S311 - not for cryptography
        self._small = _documents(demo.generate(200, seed=seed + 1, words=(20, 90)))
        self._large = _documents(demo.generate(8, seed=seed + 2, words=(600, 1500), noise=3))
        self._kinds: dict[Callable[[], Request], float] = {
            self._light: 70,
            self._checked: 5,
            self._other_labels: 4,
            self._own_rules: 4,
            self._stream: 1,
            self._heavy: 1,
            self._other_file: 3,
            self._wrong: 12,
        }

    def draw(self) -> Request:
        """The next request."""
        (kind,) = self._random.choices(list(self._kinds), list(self._kinds.values()))
        return kind()

    def light(self) -> Request:
        """A small document."""
        return self._light()

    def worst(self) -> Request:
        """A long page with many mistakes, for which the service needs all the time it gives."""
        body = json.dumps(self._fresh(self._random.choice(self._large), 300)).encode()
        return Request("/v1/decode?rules=receipt&alternatives=20&by_field=true&mass=0.99", body)

    def _light(self) -> Request:
        return Request("/v1/decode?rules=receipt", self._document())

    def _checked(self) -> Request:
        return Request("/v1/check?rules=receipt&labels=gold", self._document())

    def _heavy(self) -> Request:
        page = self._fresh(self._random.choice(self._large), 100)
        options = f"alternatives={self._random.randrange(5)}&seconds=0.1"
        return Request(f"/v1/decode?rules=receipt&{options}", json.dumps(page).encode())

    def _stream(self) -> Request:
        lines = [self._document() for _ in range(20)]
        lines.insert(self._random.randrange(20), b'{"id": 1}')
        return Request("/v1/decode?rules=receipt", b"\n".join(lines), LINES)

    def _other_labels(self) -> Request:
        """A model with more types than others have."""
        page = self._fresh(self._random.choice(self._small), 5)
        types = [f"other.{self._random.randrange(10**9)}" for _ in range(20)]
        page["labels"] = page["labels"] + [f"{p}-{name}" for name in types for p in "BI"]
        page["probs"] = [[*row, *[0.0] * 40] for row in page["probs"]]
        del page["gold"]
        return Request("/v1/decode?rules=receipt", json.dumps(page).encode())

    def _own_rules(self) -> Request:
        """A document that brings its own rules."""
        page = self._fresh(self._random.choice(self._small), 5)
        page["rules"] = self._rules()
        return Request("/v1/decode", json.dumps(page).encode())

    def _other_file(self) -> Request:
        """A rule file to validate."""
        return Request("/v1/rules/validate", json.dumps(self._rules()).encode())

    def _rules(self) -> dict[str, Any]:
        number = self._random.randrange(10**9)
        words = [f"{self._random.randrange(10**9)}" for _ in range(40)]
        return {
            "fields": {
                "total": {"label": "total", "type": "money"},
                "shop": {"label": "shop.name", "pattern": "(?i)" + "|".join(words)},
            },
            "rules": [f"total != {number}", "total > 0"],
        }

    def _wrong(self) -> Request:
        page = self._document()
        number = str(self._random.randrange(10**9)).encode()
        bodies = [
            Request(f"/v1/{number.decode()}", page),
            Request(f"/v1/decode?rules={number.decode()}", page),
            Request(f"/v1/decode?rules=receipt&{number.decode()}=1", page),
            Request("/v1/decode?rules=receipt", page, "text/" + number.decode()),
            Request("/v1/decode?rules=receipt", page[: self._random.randrange(len(page))]),
            Request("/v1/decode?rules=receipt", page.replace(b"0.0", b"NaN", 1)),
            Request("/v1/decode?rules=receipt", page.replace(b"0.0", b"1e400", 1)),
            Request("/v1/decode?rules=receipt", b'{"' + number + b'":' + page),
            Request("/v1/decode?rules=receipt", b"[" * self._random.randrange(10_000)),
            Request("/v1/decode?rules=receipt", self._random.randbytes(1000)),
            Request("/v1/decode?rules=receipt", b'{"words":["a"],"labels":["O"],"probs":[[2]]}'),
            Request("/v1/rules/validate", b'{"fields": {"a' + number + b'": {"pattern": "("}}}'),
        ]
        return self._random.choice(bodies)._replace(usable=False)

    def _document(self) -> bytes:
        return json.dumps(self._fresh(self._random.choice(self._small), 5)).encode()

    def _fresh(self, page: dict[str, Any], count: int) -> dict[str, Any]:
        """The page with a new id, and other numbers in so many of its words."""
        words = list(page["words"])
        for _ in range(count):
            words[self._random.randrange(len(words))] = f"{self._random.randrange(10**7) / 100:,}"
        return {**page, "id": f"{self._random.randrange(10**9)}", "words": words}


def _documents(pages: Iterable[Scored]) -> list[dict[str, Any]]:
    return [json.loads(demo.json_line(page)) for page in pages]
