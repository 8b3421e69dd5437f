"""From documents to values: a language model is asked, and what it says is settled by rules.

The answers to one question are samples; ``choose`` settles them on the page that they were read
from. All documents are asked about at once, as many as the client allows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeAlias

from lawful.base.errors import InputError, LawfulError, shown
from lawful.candidates.candidates import Candidates
from lawful.candidates.choose import LaidOut, ready
from lawful.documents.document import Document
from lawful.documents.records import FailedDocument, Labelled, Scored
from lawful.documents.scores import Scores
from lawful.documents.span_scores import SpanScores
from lawful.llm.asking import Ask, EndpointError, Reply
from lawful.llm.client import Client
from lawful.llm.page_text import Line, lines_of, text_of, windows
from lawful.llm.prompts import messages, pictures_of
from lawful.llm.questions import Doubt, crop, doubts_of, partial, paths_to
from lawful.llm.schemas import Schema, asked, part_of
from lawful.pipeline.call import Call, Result
from lawful.pipeline.workers import Idle
from lawful.results.decoding import Decoding
from lawful.rules.definitions import Rule
from lawful.rules.rule_set import Rules
from lawful.rules.schemas import schema_of

Show: TypeAlias = Literal["text", "images", "both"]

SMALLEST = 1_000
"""Characters of a window that is not made smaller, however little the model can read."""

MAX_SAMPLES = 100

MAX_QUESTIONS = 10

ANSWERS = 5
"""Answers to a question about a few fields; they are short."""

MAX_PICTURES = 8  # in a call

AHEAD = 4
"""Documents that are asked about, as a multiple of the calls that may run at a time."""


Scorer: TypeAlias = Callable[[Document], Scores | SpanScores]
"""A model that scores the words of a document."""

_SCORING = Lock()


class Part(NamedTuple):
    """A part of a document as the model is shown it."""

    lines: list[Line]
    pictures: list[str]

    def halves(self) -> list[Part]:
        """The part in two, or as it is if it is small."""
        length = sum(len(line.text) + 1 for line in self.lines)
        if length < 2 * SMALLEST or len(self.lines) < 2:
            return [self]
        return [Part(run, self.pictures) for run in windows(self.lines, length // 2 + 1)]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a document, and which of its values are printed nowhere: field and text.

    ``unread`` says of which answers nothing could be read, and why.
    """

    result: Result
    not_printed: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """How documents are asked about: whom, for what, how often, and how answers are settled."""

    client: Client
    schema: Schema
    call: Call
    samples: int = 5
    questions: int = 0
    show: Show = "text"
    password: str | None = field(default=None, repr=False)
    tagger: Scorer | None = None  # its scores of words join the answers, in one search

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MAX_SAMPLES:
            raise InputError(f"samples is {shown(self.samples)}, expected 1 to {MAX_SAMPLES}")
        if not 0 <= self.questions <= MAX_QUESTIONS:
            raise InputError(f"questions is {shown(self.questions)}, expected 0 to {MAX_QUESTIONS}")

    async def settle(self, document: Document) -> Settled:
        """The values of a document; raises an ``EndpointError`` that is about all documents."""
        try:
            parts = self._parts(document)
            replies = await self._replies(parts)
            answers = [list(reply.texts) for reply in replies]
            scores = await asyncio.to_thread(self._scores, document)
            chosen = await asyncio.to_thread(self._chosen, document, answers, scores)
            known: set[str] = set()  # what was asked again
            for _ in range(self.questions):
                doubts = await asyncio.to_thread(chosen.doubts, self.call, self.samples, known)
                more = await self._again(parts, chosen, doubts) if doubts else []
                if not more:
                    break
                known |= {doubt.field for doubt in doubts}
                answers[0] += more
                chosen = await asyncio.to_thread(self._chosen, document, answers, scores)
            return chosen.settled()
        except LawfulError as error:
            if isinstance(error, EndpointError) and error.lasting:
                raise
            return Settled(FailedDocument(document.line or 0, str(error), document.id))

    def _parts(self, document: Document) -> list[Part]:
        """What the model is shown of a document, in parts that it can read."""
        pictures = pictures_of(document, self.password) if self.show != "text" else []
        if self.show == "images":
            starts = range(0, len(pictures), MAX_PICTURES)
            return [Part([], pictures[i : i + MAX_PICTURES]) for i in starts]
        lines = lines_of(document)
        if not lines:
            raise InputError("the document has no text to show to the language model")
        return [
            Part(
                run, [pictures[page] for page in sorted({e.page for e in run})] if pictures else []
            )
            for run in windows(lines)
        ]

    async def _replies(self, parts: Sequence[Part]) -> list[Reply]:
        """The replies about the parts of a document; smaller ones if the model needs them."""
        asks = [self._ask(part, (i, len(parts))) for i, part in enumerate(parts, 1)]
        try:
            return list(await asyncio.gather(*map(self.client.ask_async, asks)))
        except EndpointError as error:
            smaller = [half for part in parts for half in part.halves()]
            if not error.too_long or len(smaller) == len(parts):
                raise
            return await self._replies(smaller)

    def _ask(self, part: Part, number: tuple[int, int]) -> Ask:
        text = text_of(part.lines) if part.lines else None
        said = messages(self.schema, text, part.pictures, number if number[1] > 1 else None)
        return Ask(said, asked(self.schema), self.samples)

    async def _again(
        self, parts: Sequence[Part], chosen: Chosen, doubts: Sequence[Doubt]
    ) -> list[str]:
        """The answers to a question about a few fields, as far as they can be read."""
        names = {doubt.field for doubt in doubts}
        paths = paths_to(self.schema, chosen.found.rules, names)
        lines = crop([line for part in parts for line in part.lines], chosen.found, names)
        schema = part_of(self.schema, paths)
        pictures = parts[0].pictures if len(parts) == 1 else []
        why = [each for doubt in doubts for each in doubt.why]
        said = messages(schema, text_of(lines) or None, pictures, None, why)
        ask = Ask(said, asked(schema), ANSWERS)
        try:
            reply = await self.client.ask_async(ask)
        except EndpointError as error:
            if error.lasting:
                raise
            return []  # what is known already is better than nothing
        return [part for text in reply.texts if (part := partial(text, paths))]

    def _scores(self, document: Document) -> Scores | SpanScores | None:
        """The tagger's scores; it is asked for one document at a time."""
        if self.tagger is None or not len(document):
            return None
        with _SCORING:
            return self.tagger(document)

    def _chosen(
        self,
        document: Document,
        answers: Sequence[Sequence[str | None]],
        scores: Scores | SpanScores | None,
    ) -> Chosen:
        """What rules choose among the answers about the parts of a document.

        A tagger's scores and the answers are two sources; of a document in parts, the scores are a
        part of their own, whose values are other candidates.
        """
        rules, page = self.call.rules, document if len(document) else None
        of: dict[str, Any] = {"id": document.id, "line": document.line}
        tagged = {} if scores is None else {"tagger": scores}
        if tagged and len(answers) == 1:
            said = {"language model": list(answers[0]), **tagged}
            parts = [Candidates.from_sources(said, document=page, rules=rules, **of)]
        else:
            parts = [Candidates.from_samples(texts, **of) for texts in answers]
            if tagged:
                parts.append(Candidates.from_sources(tagged, document=page, rules=rules, **of))
        whole = Candidates.of_parts(parts)
        found = ready(whole, rules, page)
        scored = Scored(found.document, found.scores)
        decoding = replace(self.call, rules=found.rules).decode(scored)
        return Chosen(found, decoding, whole.failed)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What rules chose: candidates as they are laid out, and the decoding."""

    found: LaidOut
    decoding: Decoding
    unread: tuple[str, ...] = ()

    def doubts(self, call: Call, samples: int, known: Container[str]) -> list[Doubt]:
        """The fields to ask for again, other than those that are known."""
        call = replace(call, rules=self.found.rules)
        return doubts_of(self.found, self.decoding, call, samples, known)

    def settled(self) -> Settled:
        """The result, with the values that stand nowhere on the page, if there is one."""
        found, nowhere = self.found, []
        for name, values in self.decoding.fields.items():
            for value in values:
                if found.spots and not found.spots[value.words[0]].words:
                    nowhere.append((name, value.text))
        scored = Scored(found.document, found.scores)
        return Settled((scored, found.on_page(self.decoding)), tuple(nowhere), self.unread)


def settle_each(
    found: Iterable[Document | Labelled | FailedDocument | Idle], asking: Asking
) -> Generator[Settled, None, None]:
    """One result per document, in order, with several of them being asked about at a time.

    A document that has no result is a ``FailedDocument``. An ``EndpointError`` ends the run if the
    next document would have no answer either.
    """
    waiting: deque[Future[Settled]] = deque()
    most = AHEAD * asking.client.concurrency
    try:
        for each in found:
            if isinstance(each, FailedDocument):
                known: Future[Settled] = Future()
                known.set_result(Settled(each))
                waiting.append(known)
            elif not isinstance(each, Idle):
                document = each.document if isinstance(each, Labelled) else each
                waiting.append(asking.client.start(asking.settle(document)))
            while waiting and (waiting[0].done() or len(waiting) >= most):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def extract_values(
    documents: Iterable[Document],
    model: Any,
    client: Client,
    *,
    rules: Rules | Iterable[Rule | str] = (),
    samples: int = 5,
    questions: int = 0,
    show: Show = "text",
    tagger: Scorer | None = None,
) -> Iterator[Decoding | FailedDocument]:
    """The values of documents, in order: a ``FailedDocument`` for one that has no answer.

    ``model`` is a Pydantic model or a JSON Schema, which is asked for ``samples`` times; ``rules``
    choose among the answers, on the page. ``questions`` more are asked at most, for values that are
    in doubt. ``show`` is what the model is shown: ``text``, ``images`` of the pages, or ``both``.
    ``tagger`` scores the words of a document, by the labels of the rules: its scores and the
    answers are settled together.
    """
    schema = schema_of(model)
    found = rules if isinstance(rules, Rules) else Rules.from_json_schema(schema, rules)
    asking = Asking(client, schema, Call(found), samples, questions, show, tagger=tagger)
    for settled in settle_each(documents, asking):
        result = settled.result
        yield result if isinstance(result, FailedDocument) else result[1]
