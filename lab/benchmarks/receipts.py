"""The shipped receipt model on receipts of others: per field, with and without rules.

    python -m lab.benchmarks.receipts [--model FOLDER]

Needs the data sets in ``../shared/data``, which are not part of the project, and for photos the
``ocr`` extra. The model has seen the training pages of CORD, but nothing of WildReceipt and of the
photos (SROIE). Words are sorted into reading order by their boxes, as ``lawful extract`` does. A
value is the one of a field's first readable occurrence, as in ``lawful evaluate``; only fields that
a data set has labels for are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lawful_models import RECEIPT as MODEL

from lab.benchmarks.data import DATA, PHOTOS, amount, sorted_page, true_total
from lab.benchmarks.study import study
from lab.datasets.cord import read_cord
from lab.datasets.wildreceipt import read_wildreceipt
from lab.receipts.labels import CORD, WILDRECEIPT, renamed
from lawful import Labelled, MissingExtraError, Rules, decode
from lawful.evaluation.scoreboard import Counts, Scoreboard, best_legal
from lawful.models.tagger import Tagger, from_pretrained
from lawful.readers import Reader
from lawful.rules.packs import PACKS

WILD_FIELDS = ("total", "subtotal", "tax")
SPANS = ("item.price", "item.name", "item.count", "date", "shop.name")
CORD_FIELDS = ("total", "subtotal", "tax", "service", "discount", "cash", "change")


def score(
    name: str, tagger: Tagger, pages: Iterable[Labelled], rules: Rules, fields: tuple[str, ...]
) -> None:
    """Prints the F1 of values by field, without rules and with them."""
    plain, ruled = Scoreboard(rules), Scoreboard(rules)
    for scored in tagger.predict(map(sorted_page, pages)):
        plain.add_labels(scored, best_legal(scored, rules))
        ruled.add(scored, decode(scored.document, scored.scores, rules))
    fixed, broken = ruled.against(plain)
    statuses = ", ".join(f"{count} {status}" for status, count in ruled.statuses.items())
    print(f"\n{name}: {plain.pages} pages ({statuses}); {fixed} fixed by rules, {broken} broken")
    print(f"{'':18}{'without rules':>24}{'with rules':>24}")
    parts = {field: (field,) for field in fields} | {"all of these": fields}
    for part, some in parts.items():
        cells = [_cell([board.by_field[each] for each in some]) for board in (plain, ruled)]
        print(f"{part:18}" + "".join(f"{cell:>24}" for cell in cells))
    for label in SPANS:
        cells = [_cell([board.by_label.get(label, Counts())]) for board in (plain, ruled)]
        if label in plain.by_label:
            print(f"{label + ' (spans)':24}" + "".join(f"{cell:>21}" for cell in cells))


def _cell(counts: list[Counts]) -> str:
    found, true, right = (sum(getattr(c, n) for c in counts) for n in ("found", "true", "right"))
    f1 = 2 * right / (found + true) if found + true else 0.0
    return f"{100 * f1:.1f} ({right}/{true})"


def photos(tagger: Tagger, path: Path) -> None:
    """Prints on how many photos the total is right."""
    rules = Rules.load(path)
    bare = Rules(rules.fields, scheme=rules.scheme, defaults=rules.defaults)
    reader = Reader()
    right = {"without rules": 0, "with rules": 0}
    printed = count = 0
    for file in sorted((PHOTOS / "img").glob("*.jpg")):
        (scored,) = tagger.predict([reader.read(file)])
        truth = true_total(file)
        printed += any(amount(word) == truth for word in scored.document.words)
        count += 1
        for name, some in (("without rules", bare), ("with rules", rules)):
            found = decode(scored.document, scored.scores, some).values("total")[:1]
            right[name] += found == (truth,)
            if name == "with rules" and found != (truth,):
                print(f"{file.name}: total is {truth}, found {' '.join(map(str, found)) or 'none'}")
    print(f"photos: {count}; the true total is among the words of {printed}")
    for name, some in right.items():
        print(f"total right {name}: {some} ({100 * some / count:.1f} %)")


def main() -> None:
    """Prints the figures of the model on all data sets."""
    arguments = study(__doc__, DATA, model=MODEL, rules=PACKS["receipt"])
    rules = Rules.load(arguments.rules)
    tagger = from_pretrained(arguments.model)
    wild = read_wildreceipt(DATA / "wildreceipt/raw/part.txt.gz")
    score("WildReceipt", tagger, (renamed(p, WILDRECEIPT) for p in wild), rules, WILD_FIELDS)
    test = read_cord(DATA / "cord/raw", "test")
    score("CORD, test pages", tagger, (renamed(p, CORD) for p in test), rules, CORD_FIELDS)
    print()
    try:
        photos(tagger, arguments.rules)
    except MissingExtraError as error:
        print(f"left out: photos; {error}")


if __name__ == "__main__":
    main()
