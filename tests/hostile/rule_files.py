"""Rule files as text in three formats: random bytes, and mutations of valid files."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful import Rules
from tests.fixtures.rule_file import FILE

TOML = """
weight = 8
rules = ["subtotal == sum(items)", {id = "small", check = "tax <= 1000", tolerance = 0.5}]
[fields]
total = {label = "total", type = "money"}
tax = {label = "tax", type = "money", default = 0}
[fields.subtotal]
label = "sub"
type = "money"
[fields.items]
label = "item"
type = "money"
many = true
"""
JSON = json.dumps(
    {
        "weight": 8,
        "fields": {
            "total": {"label": "total", "type": "money"},
            "tax": {"label": "tax", "type": "money", "default": 0},
            "items": {"label": "item", "type": "money", "many": True},
        },
        "rules": ["total == sum(items)", {"id": "small", "check": "tax <= 1000"}],
    },
    indent=1,
)
FILES = {".yaml": FILE, ".toml": TOML, ".json": JSON}
TOKENS = [
    *"{}[]:,-?&*!|>%@`#'\"\\\n\t \0=.~<",
    *("&a ", "*a", "!!bool ", "!!binary ", "!!set ", "!!timestamp ", "!!python/object:os.system "),
    *("no", "on", "12:30:00", "2024-12-31", "010", "0o7", ".nan", "-.inf", "1e999", "9" * 5000),
    *("---\n", "...\n", "%YAML 1.1\n", "? ", "- ", ": ", "[[", "'''", '"""', "<<: ", "null"),
    *("0,01", "\ufeff", "\u2028", "\x85", "é", "\ud7ff", "[" * 2000, "{a: " * 500, "(", "rules"),
    *("1979-05-27T07:32:00Z", "inf", "nan", "NaN", "Infinity", "\\ud800", "\\u0000", "a.b = 1\n"),
    *("{check: round(tax, 2)}", "fields"),
]


def draw(rng):
    """The suffix of a file, and its bytes."""
    suffix = rng.choice(list(FILES))
    if rng.random() < 0.05:
        return suffix, rng.randbytes(rng.randrange(200))
    text = FILES[suffix]
    for _ in range(rng.choice([0, 1, 1, 2, 4, 10])):
        at, to = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        to = min(to, at + rng.choice([0, 0, 1, 5, 40]))
        other = rng.choice([rng.choice(TOKENS), text[at:to] * 2, ""])
        text = text[:at] + other + text[to:]
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(content))
        content = content[:at] + rng.randbytes(2) + content[at + 1 :]
    return suffix, content


def run(case) -> str:
    """Loads the file."""
    suffix, content = case
    with TemporaryDirectory() as folder:
        path = Path(folder, f"rules{suffix}")
        path.write_bytes(content)
        Rules.load(path)
    return "answer"
