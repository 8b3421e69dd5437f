"""What a language model is asked, and what it answers: the JSON of chat completions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

import msgspec

from lawful.base.errors import LawfulError, shown

MAX_TEXT = 1_000_000
"""Characters of an answer; a longer one counts as none, as a model that repeats itself gives it."""

OPTIONAL = ("json_schema", "json_object", "logprobs", "n")
"""What is left out of a request, in this order, that a server refuses without a known reason."""


class EndpointError(LawfulError):
    """A language model that could not be asked, or whose answer is none.

    ``lasting``: the next document would fail in the same way. ``too_long``: the document does not
    fit into the model.
    """

    def __init__(self, message: str, *, lasting: bool = False, too_long: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting
        self.too_long = too_long


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: messages as in chat completions, and the schema of the answer, if it is JSON."""

    messages: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any] | None = None
    samples: int = 1
    temperature: float = 0.8
    max_tokens: int = 4096

    def body(self, model: str, count: int, lacks: frozenset[str]) -> dict[str, Any]:
        """The request for so many answers, without what the server lacks."""
        found: dict[str, Any] = {"model": model, "messages": list(self.messages)}
        limit = "max_completion_tokens" if "max_tokens" in lacks else "max_tokens"
        found[limit] = self.max_tokens
        if "temperature" not in lacks:
            found["temperature"] = self.temperature if self.samples > 1 else 0.0
        if "n" not in lacks and count > 1:
            found["n"] = count
        if "logprobs" not in lacks:
            found["logprobs"] = True
        if self.schema is not None and "json_schema" not in lacks:
            schema = {"name": "document", "strict": True, "schema": self.schema}
            found["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.schema is not None and "json_object" not in lacks:
            found["response_format"] = {"type": "json_object"}
        return found

    def as_record(self, model: str) -> dict[str, Any]:
        """The question as plain data, with a digest in place of each image."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {"model": model, **_without_images(found)}

    def key(self, model: str) -> str:
        """Equal for equal questions to the same model."""
        data = msgspec.json.encode(self.as_record(model), order="deterministic")
        return hashlib.sha256(data).hexdigest()


def _without_images(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_images(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_images(inner) for inner in value]
    if isinstance(value, str) and value.startswith("data:image/"):
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
    return value


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its text, or ``None`` and why there is none; and what it cost.

    ``log_prob`` is the sum over its tokens, and ``tokens`` has each with its log-probability, if
    the server returns them. ``ended`` is false if a limit of tokens came first.
    """

    text: str | None
    why: str = ""
    ended: bool = True
    tokens: tuple[tuple[str, float], ...] = field(default=(), repr=False)

    @property
    def log_prob(self) -> float | None:
        """The log-probability of the answer; ``None`` if the server does not say."""
        return fsum(p for _, p in self.tokens) if self.tokens else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens; ``kept`` questions were answered by a cache or a record, without a call.

    ``uncounted`` are answers of servers that do not say how many tokens they had.
    """

    calls: int = 0
    kept: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, n) + getattr(other, n) for n in self.__slots__))

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """The answers to a question, and what they cost."""

    answers: tuple[Answer, ...]
    usage: Usage = field(default_factory=Usage)

    @property
    def texts(self) -> list[str | None]:
        """The texts of the answers, as ``Candidates.from_samples`` takes them."""
        return [answer.text for answer in self.answers]

    @classmethod
    def of(
        cls, responses: Sequence[Mapping[str, Any]], most: int, *, kept: bool, retries: int = 0
    ) -> Reply:
        """The reply that responses to one question are; ``kept``: no server was asked."""
        answers = tuple(answer for each in responses for answer in answers_of(each))[:most]
        usage = Usage()
        for response in responses:
            usage += _usage(response)
        counted = replace(usage, calls=0, kept=1) if kept else replace(usage, retries=retries)
        return cls(answers, counted)


def answers_of(response: Any) -> list[Answer]:
    """The answers of a response; raises an ``EndpointError`` if it is no chat completion."""
    choices = response.get("choices") if isinstance(response, Mapping) else None
    if not isinstance(choices, list) or not choices:
        raise EndpointError(
            f"the server answered {shown(response)}, expected an object with choices"
        )
    return [_answer(choice) for choice in choices]


def _answer(choice: Any) -> Answer:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise EndpointError(f"a choice is {shown(choice)}, expected one with a message")
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers return them
        content = "".join(str(p.get("text", "")) for p in content if isinstance(p, Mapping))
    ended = choice.get("finish_reason") != "length"
    if not isinstance(content, str) or not content.strip():
        refusal = message.get("refusal")
        return Answer(None, f"the model refused: {refusal}" if refusal else "no text", ended)
    if len(content) > MAX_TEXT:
        why = f"an answer of {len(content):,} characters, over {MAX_TEXT:,}"
        return Answer(None, why, ended)
    return Answer(content, "", ended, _tokens(choice))


def _tokens(choice: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    given = choice.get("logprobs")
    listed = given.get("content") if isinstance(given, Mapping) else None
    found = []
    for each in listed if isinstance(listed, list) else ():
        token, p = (each.get("token"), each.get("logprob")) if isinstance(each, Mapping) else (0, 0)
        if not isinstance(token, str) or not isinstance(p, int | float) or not -1e9 < p <= 1e-3:
            return ()
        found.append((token, min(0.0, float(p))))
    return tuple(found)


def _usage(response: Mapping[str, Any]) -> Usage:
    given = response.get("usage")
    counts = given if isinstance(given, Mapping) else {}
    found = [counts.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(n, int) and n >= 0 for n in found):
        return Usage(calls=1, uncounted=1)
    return Usage(1, 0, 0, *found)  # type: ignore[arg-type]  # they are counts


def refused(text: str, body: Mapping[str, Any]) -> str | None:
    """What the server lacks, if it refused a request for that; the first thing it may be."""
    lowered = text.lower()
    form = body.get("response_format", {}).get("type")
    told = {
        "json_schema": ("response_format", "json_schema", "schema", "structured", "grammar"),
        "json_object": ("response_format", "json_object", "json mode"),
        "max_tokens": ("max_completion_tokens",),
        "logprobs": ("logprobs", "log_probs", "logits"),
        "temperature": ("temperature",),
        "n": ("'n'", '"n"', "`n`", " n ", "n >", "multiple choices", "candidatecount"),
    }
    there = {name for name in told if name in body}
    there |= {form} if form else set()
    named = [name for name in told if name in there and any(w in lowered for w in told[name])]
    if named:
        return named[0]
    return next((name for name in OPTIONAL if name in there), None)


def is_too_long(text: str) -> bool:
    """Whether an error says that the request does not fit into the model."""
    lowered = text.lower()
    said = ("context length", "context window", "context size", "too long", "too many tokens")
    return any(words in lowered for words in (*said, "context_length", "exceed_context"))
