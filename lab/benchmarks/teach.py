"""``lawful teach`` on real documents: how often fields are right, with few documents, in seconds.

    python -m lab.benchmarks.teach ads|brokers|invoices [--part shown|chosen] [--taught 20,50,148]

Needs ``../shared/data``, which is not part of the project. A model is taught on the values of some
documents and tested on others, of which it has seen nothing:

- ``ads``: the halves of the ad orders, both ways, under the pack ``ad-order``;
- ``brokers``: notes of banks, text only: taught on four fifths of the banks, tested on the others;
- ``invoices``: Factur-X, taught on the 19 documents of odd layouts, tested on the 24 of even ones.

Settings are chosen with ``--part chosen``, which sees only documents that some model of ``shown``
is taught on: three quarters against one of half 0 of the ad orders (so that of ``shown``, only
"half 1" is of documents that no choice has seen), and other parts of the banks.

A field is right if the value is the one that a person read, wherever it stands, of all documents
that have a value, and of those that print it. Models are taught on up to four sets of documents;
shares are means, and those of the worst set. Seconds are of one core, and those of teaching include
cross-validation; the time of a page is that of scoring, without decoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from time import process_time

from lab.benchmarks import adbuy, invoices
from lab.benchmarks.data import DATA, records
from lab.benchmarks.study import Study
from lawful import Budget, Decoding, Document, Rules, decode
from lawful.candidates.grounding.matches import Occurrences
from lawful.documents.document import Box
from lawful.documents.span_scores import SpanScores
from lawful.learn.align import Truth
from lawful.models.quick import QuickTagger
from lawful.models.teaching import Teacher
from lawful.readers import Reader
from lawful.rules.packs import PACKS

BUDGET = Budget(seconds=10)

DRAWS = 4
"""Sets of documents that models are taught on, at most, for a number of documents."""

INSTEAD = {"gross": "amount"}
"""The field that has the value of a broker's note where it is not printed with words of its own."""

Known = tuple[Document, Truth]
Right = Callable[[Decoding, Known], Iterator[tuple[str, bool, bool]]]
"""By field with a true value: its name, whether it is printed, whether it is right."""


@dataclass(frozen=True, slots=True)
class Split:
    """What a model is taught on, and what it is tested on."""

    name: str
    taught: Sequence[Known]
    tested: Sequence[Known]


def by_hash(key: str, count: int) -> int:
    """The part that a key belongs to."""
    return int.from_bytes(sha256(key.encode()).digest()[1:5]) % count


def ads(part: str) -> list[Split]:
    halves: list[list[Known]] = [[], []]
    for known in adbuy.read_ads(adbuy.DATA):
        halves[adbuy.half_of(known[0])].append(known)
    for half in halves:
        half.sort(key=lambda known: sha256(known[0].id.encode()).digest())
    if part == "shown":
        return [Split(f"half {1 - n}", halves[n], halves[1 - n]) for n in (0, 1)]
    held = [by_hash(document.id, 4) == 0 for document, _ in halves[0]]
    return [
        Split(
            "a quarter of half 0",
            [known for known, out in zip(halves[0], held, strict=True) if not out],
            [known for known, out in zip(halves[0], held, strict=True) if out],
        )
    ]


def laid_out(id_: str, text: str) -> Document:
    """The words of a text, in lines and columns of a fixed pitch."""
    words, boxes = [], []
    for line, content in enumerate(text.split("\n")):
        at = 0
        for word in content.split():
            at = content.index(word, at)
            words.append(word)
            boxes.append(Box(6.0 * at, 12.0 * line, 6.0 * (at + len(word)), 12.0 * line + 10))
            at += len(word)
    return Document(id_, words, boxes)


def brokers(part: str) -> list[Split]:
    parts: dict[int, list[Known]] = {n: [] for n in range(5)}
    names = ("amount", "gross", "tax", "fee", "shares", "date", "isin")
    for note in records(DATA / "brokers" / "notes.jsonl.gz"):
        given = {n: note["truth"].get(n) for n in names}
        given["date"] = (given["date"] or "")[:10]
        # A tax or fee of zero is not printed as a rule, and zeros stand everywhere.
        values = {n: (v,) for n, v in given.items() if v and v != "0.00"}
        document = laid_out(note["id"], note["text"])
        parts[by_hash(note["bank"], 5)].append((document, Truth(note["id"], values)))
    tested, left = (0, {1, 2, 3, 4}) if part == "shown" else (1, {2, 3, 4})
    taught = [known for n in sorted(left) for known in parts[n]]
    taught.sort(key=lambda known: sha256(known[0].id.encode()).digest())
    return [Split("other banks", taught, parts[tested])]


@cache
def _invoice_truths() -> dict[str, invoices.Truth]:
    return {t["id"]: t for t in invoices.documents(DATA / "facturx", None)}


def e_invoices(part: str) -> list[Split]:
    reader = Reader()
    groups: list[list[Known]] = [[], []]
    keys = invoices.AMOUNTS | invoices.TEXTS | invoices.DATES
    for id_, truth in _invoice_truths().items():
        document = reader.read(DATA / "facturx" / "pdf" / f"{id_}.pdf")
        document = replace(document, id=id_, values=None)
        header = truth["truth"]
        values = {n: (header[k].split("\n")[0],) for n, k in keys.items() if header.get(k)}
        groups[truth["group"] % 2].append((document, Truth(id_, values)))
    even, odd = groups
    if part == "shown":
        return [Split("other layouts", odd, even)]
    return [Split("other layouts", odd[::2], odd[1::2])]


def right_values(
    rules: Rules, *, signs: bool = True, instead: Mapping[str, str] | None = None
) -> Right:
    instead = instead or {}

    def right(found: Decoding, known: Known) -> Iterator[tuple[str, bool, bool]]:
        document, truth = known
        occurrences = Occurrences(document)
        for f in rules.fields:
            if f.name in truth.values:
                text = truth.values[f.name][0]
                values = found.values(f.name) or found.values(instead.get(f.name, f.name))
                value = next(iter(values), None)
                if f.type == "money" and value is not None and not signs:
                    value = abs(value)
                good = value is not None and adbuy.is_right(value, text, f)
                yield f.name, bool(occurrences.find(text, f.type)), good

    return right


def right_notes(rules: Rules) -> Right:
    """The values of notes, and whether all of their amounts that are not zero are right."""
    values = right_values(rules, signs=False, instead=INSTEAD)

    def right(found: Decoding, known: Known) -> Iterator[tuple[str, bool, bool]]:
        seen = {name: (printed, good) for name, printed, good in values(found, known)}
        yield from ((name, *each) for name, each in seen.items())
        four = [seen[name] for name in ("amount", "gross", "tax", "fee") if name in seen]
        yield "all four amounts", *(all(each) for each in zip(*four, strict=True))

    return right


def right_headers(found: Decoding, known: Known) -> Iterator[tuple[str, bool, bool]]:
    for name, good in invoices.right_fields(found, _invoice_truths()[known[0].id]):
        yield name, True, good


def broker_rules() -> Rules:
    pack = Rules.load(PACKS["broker-note"])
    must = ("amount", "date")
    return replace(
        pack,
        fields=tuple(
            replace(f, optional=False, presence="required") if f.name in must else f
            for f in pack.fields
        ),
    )


def invoice_rules() -> Rules:
    return Rules.load(PACKS["invoice"])


@dataclass(frozen=True, slots=True)
class Data:
    """A data set: its splits, fields and rules, and how many documents models are taught on."""

    splits: Callable[[str], list[Split]]
    rules: Callable[[], Rules]
    right: Callable[[Rules], Right]
    taught: str


SETS = {
    "ads": Data(ads, adbuy.ad_rules, right_values, "20,50,148"),
    "brokers": Data(brokers, broker_rules, right_notes, "50,1000"),
    "invoices": Data(e_invoices, invoice_rules, lambda _: right_headers, "20"),
}


def taught_on(known: Sequence[Known], rules: Rules) -> tuple[QuickTagger, float]:
    """A model, and the seconds of one core that it took, with cross-validation."""
    began = process_time()
    teacher = Teacher(rules)
    for document, truth in known:
        teacher.add(document, truth)
    return teacher.teach().tagger, process_time() - began


def decoded(document: Document, scores: SpanScores, rules: Rules) -> Decoding:
    return decode(document, scores, rules, budget=BUDGET)


@dataclass(slots=True)
class Counts:
    """Of the models of one row of draws: what they found, and the seconds of one core."""

    given: Counter[str] = field(default_factory=Counter)
    printed: Counter[str] = field(default_factory=Counter)
    right: dict[str, list[Counter[str]]] = field(
        default_factory=lambda: {"without": [], "with": []}
    )
    teaching: float = 0.0
    scoring: float = 0.0
    pages: int = 0


def draws(known: Sequence[Known], count: int) -> list[Sequence[Known]]:
    """Up to ``DRAWS`` sets of so many documents, none in two of them; else all that there are."""
    starts = range(0, len(known) - count + 1, count)
    return [known[start : start + count] for start in starts][:DRAWS] or [known]


def measure(split: Split, taught: Sequence[Known], data: Data, counts: Counts) -> None:
    """Teaches a model, and counts what it finds."""
    rules = data.rules()
    right = data.right(rules)
    tagger, seconds = taught_on(taught, rules)
    counts.teaching += seconds
    good: dict[str, Counter[str]] = {"without": Counter(), "with": Counter()}
    for known in split.tested:
        began = process_time()
        scores = tagger.scores_of(known[0])
        counts.scoring += process_time() - began
        counts.pages += len(set(known[0].pages or (0,)))
        for how, some in (("without", replace(rules, rules=())), ("with", rules)):
            for name, is_printed, is_good in right(decoded(known[0], scores, some), known):
                good[how][name] += is_good
                counts.given[name] += how == "with"
                counts.printed[name] += how == "with" and is_printed
    for how, each in good.items():
        counts.right[how].append(each)


def show(split: Split, taught: int, counts: Counts) -> None:
    """Prints the rows of a table: shares, and that of the worst draw."""
    times = len(counts.right["with"])
    print(
        f"\n{split.name}: {len(split.tested)} documents; taught on {taught}, {times} times, in "
        f"{counts.teaching / times:.1f} s; {1000 * counts.scoring / counts.pages:.1f} ms per page\n"
        "\n| field | of | right | with rules | worst | printed | right | with rules |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for name, given in counts.given.items():
        found = {how: sum(each[name] for each in of) for how, of in counts.right.items()}
        worst = min(each[name] for each in counts.right["with"]) / (given / times)
        cells = [found["without"] / given, found["with"] / given, worst]
        more = [found[how] / max(counts.printed[name], 1) for how in ("without", "with")]
        texts = [f"{100 * share:.1f}" for share in (*cells, *more)]
        texts.insert(3, str(counts.printed[name] // times))
        print(f"| {name} | {given // times} | {' | '.join(texts)} |", flush=True)


def main() -> None:
    parser = Study(__doc__, DATA)
    parser.add_argument("data", choices=SETS)
    parser.add_argument("--part", choices=("shown", "chosen"), default="shown")
    parser.add_argument("--taught", help="numbers of documents; default: those of the table")
    options = parser.parse_args()
    data = SETS[options.data]
    splits = data.splits(options.part)
    for count in map(int, (options.taught or data.taught).split(",")):
        for split in splits:
            counts = Counts()
            sets = draws(split.taught, count)
            for taught in sets:
                measure(split, taught, data, counts)
            show(split, len(sets[0]), counts)


if __name__ == "__main__":
    main()
