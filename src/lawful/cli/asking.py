"""Options of ``lawful extract`` that are about a language model, and how documents go there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import typer

from lawful.base.errors import InputError
from lawful.base.options import option
from lawful.cli.options import load_rules
from lawful.cli.output import plural
from lawful.cli.scoring import load_tagger
from lawful.cli.terminal import say, warn
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.io.hashes import hash_of_model
from lawful.llm.asking import Usage
from lawful.llm.client import Client
from lawful.llm.extraction import MAX_QUESTIONS, MAX_SAMPLES, Asking, Show, settle_each
from lawful.llm.schemas import load_schema, schema_file, schema_of_rules
from lawful.models.shipped import invoice_model, receipt_model
from lawful.models.tagger import Tagger
from lawful.pipeline.call import DecodeOptions, Result
from lawful.pipeline.workers import Idle

_MOST_SAID = 20  # documents whose values that are printed nowhere are listed


@dataclass(frozen=True, slots=True)
class AskOptions:
    """A language model, and what it is asked."""

    PANEL: ClassVar[str] = "Language model"

    llm: str | None = option(
        None, metavar="URL", show_default=False,
        help="Ask a language model behind an OpenAI-compatible API, such as "
        "http://localhost:8000/v1, instead of the receipt model. Its key is that of the "
        "environment variable LAWFUL_LLM_KEY, or of the service's own.",
    )  # fmt: skip
    schema: str | None = option(
        None, metavar="SCHEMA", show_default="the fields of the rules",
        help="What to ask for: a Pydantic model as file.py:Class, whose file is executed, or a "
        "JSON Schema.",
    )  # fmt: skip
    tagger: str | None = option(
        None, metavar="MODEL", show_default=False,
        help="Settle the answers together with the scores of a model of words: receipt, invoice, "
        "or a folder. Its labels are those of the rules.",
    )  # fmt: skip
    samples: int = option(
        5, metavar="N", min=1, max=MAX_SAMPLES,
        help="Answers per document, among which the rules choose.",
    )  # fmt: skip
    questions: int = option(
        0, metavar="N", min=0, max=MAX_QUESTIONS,
        help="Further questions per document, at most: only for the fields whose answer would "
        "settle most.",
    )  # fmt: skip
    show: Show = option(
        "text",
        help="What the model is shown: the text with its layout, images of the pages, or both.",
    )
    record: Path | None = option(
        None, metavar="FILE", show_default=False,
        help="Write all questions and answers to this file, which has the texts of the documents.",
    )  # fmt: skip
    replay: Path | None = option(
        None, metavar="FILE", show_default=False,
        help="Answer from a file of --record, without a server.",
    )  # fmt: skip
    call_seconds: float = option(120.0, metavar="S", help="Maximum time of a call.")
    calls: int = option(8, metavar="N", min=1, max=1000, help="Maximum number of calls at a time.")
    price: str | None = option(
        None, metavar="IN,OUT", show_default=False,
        help="Price of a million tokens, read and written, such as 0.15,0.60: the summary has the "
        "cost.",
    )  # fmt: skip


_OF_TAGGER = ("pool", "batch", "device", "backend")
_OF_SCORES = ("by_field", "temperature")


class Model:
    """A language model, what it is asked for, and the rules of its answers."""

    def __init__(
        self,
        context: typer.Context,
        rules: Path | None,
        python: Path | None,
        how: DecodeOptions,
        password: str | None,
    ) -> None:
        given = context.params
        self.files = [rules, python]  # of the rules
        _refuse(context, (*_OF_TAGGER, *_OF_SCORES), "without --llm, as it scores no words")
        if given["schema"] is None and rules is None:
            raise InputError("--llm needs --schema or --rules, which say what to ask for")
        self._prices = _prices(given["price"])
        if given["schema"] is None:
            assert rules is not None  # noqa: S101 - checked above
            found = load_rules(rules, python)
            schema = schema_of_rules(found)
        else:
            schema, found = load_schema(given["schema"])
            self.files.append(schema_file(given["schema"]))
            found = found if rules is None else load_rules(rules, python)
        self._client = Client(
            given["llm"] or "http://localhost/v1", model=given["model"],
            timeout=given["call_seconds"], concurrency=given["calls"], cache=given["cache"],
            record=given["record"], replay=given["replay"],
        )  # fmt: skip
        self.call = how.call(found)
        tagger = None
        what = ("schema", "samples", "questions", "show", "model")
        self.setting = {f"--{name}": given[name] for name in what}
        if given["schema"] is not None:  # wherever it is
            self.setting["--schema"] = Path(given["schema"]).name
        if (named := given["tagger"]) is not None:
            folder = Path(SHIPPED[named]() if named in SHIPPED else named)
            model = load_tagger(folder, None, None)
            types = sorted({label.partition("-")[2] for label in model.labels} - {""})
            if not any(f.label in types for f in found.fields):
                raise InputError(
                    f"--tagger {named} knows no label of the rules; its labels: {', '.join(types)}"
                )
            tagger = partial(_scores_of, model)
            self.setting["--tagger"] = hash_of_model(folder)
        self._asking = Asking(
            self._client,
            schema,
            self.call,
            given["samples"],
            given["questions"],
            given["show"],
            password,
            tagger,
        )
        # A run resumes with the same schema and a language model, wherever they are.
        given["llm"] = True
        given["schema"] = msgspec.json.encode(schema, order="deterministic").decode()
        self._nowhere = 0
        self._unread: list[str] = []

    def results(
        self, found: Iterable[Document | Labelled | FailedDocument | Idle], *, quiet: bool
    ) -> Iterator[Result]:
        """The results of documents, in order; says which values are printed nowhere."""
        with self._client:
            for settled in settle_each(found, self._asking):
                self._unread += settled.unread
                if settled.not_printed and not quiet:
                    self._say(settled.result, settled.not_printed)
                yield settled.result

    def _say(self, result: Result, values: tuple[tuple[str, str], ...]) -> None:
        self._nowhere += 1
        if self._nowhere > _MOST_SAID or isinstance(result, FailedDocument):
            return
        some = ", ".join(f"{name} {text!r}" for name, text in values[:5])
        more = f" and {len(values) - 5} more" if len(values) > 5 else ""
        warn(f"{result[0].document.id}: printed nowhere: {some}{more}")

    def summarise(self) -> None:
        """Says which answers were of no use, how many calls there were, and what they cost."""
        if self._unread:
            why = Counter(each.partition(": ")[2] or each for each in self._unread)
            some = "; ".join(f"{n} × {what}" for what, n in why.most_common(3))
            warn(f"{plural(len(self._unread), 'answer')} could not be read: {some}")
        if self._nowhere > _MOST_SAID:
            warn(f"{plural(self._nowhere)} with values that are printed nowhere")
        say(spent(self._client.usage, self._prices))


SHIPPED = {"receipt": receipt_model, "invoice": invoice_model}
"""Models that come with the package lawful-models, by name."""


def _scores_of(tagger: Tagger, document: Document) -> Scores | SpanScores:
    (scored,) = tagger.predict([document])
    return scored.scores


def of_no_model(context: typer.Context) -> None:
    """Refuses options of a language model without one."""
    options = [each.name for each in fields(AskOptions) if each.name != "llm"]
    _refuse(context, options, "with --llm or --replay only")


def _refuse(context: typer.Context, names: Iterable[str], why: str) -> None:
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(f"--{name.replace('_', '-')} works {why}")


def _prices(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        read, written = (float(part) for part in given.split(","))
        if not (0 <= read < 1e6 and 0 <= written < 1e6):
            raise ValueError
    except ValueError:
        raise InputError(
            f"--price is {given}, expected two amounts per million tokens, such as 0.15,0.60"
        ) from None
    return read, written


def spent(usage: Usage, prices: tuple[float, float] | None) -> str:
    """Calls, tokens and cost, for the summary."""
    parts = [f"language model: {plural(usage.calls, 'call')}"]
    notes = [f"{usage.retries:,} repeated"] * bool(usage.retries)
    notes += [f"{plural(usage.kept, 'question')} answered before"] * bool(usage.kept)
    parts[0] += f" ({', '.join(notes)})" if notes else ""
    counted: list[Any] = [
        f"{usage.prompt_tokens:,} tokens read",
        f"{usage.completion_tokens:,} written",
    ]
    if usage.uncounted:
        counted[-1] += f" (and {plural(usage.uncounted, 'answer')} that the server did not count)"
    if prices is not None:
        cost = (usage.prompt_tokens * prices[0] + usage.completion_tokens * prices[1]) / 1e6
        counted.append(f"cost {cost:,.{2 if cost >= 1 else 6}f}")
    return ", ".join([*parts, *counted])
