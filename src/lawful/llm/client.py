"""A client of OpenAI-compatible servers: n answers to a question, however much the server offers.

What a server refuses (a schema for the answer, several answers to a call, log-probabilities) is
left out from then on, and made up for by asking more often. All work is done in one event loop per
thread that asks; ``ask`` is ``ask_async`` in a loop of its own.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from lawful.base.errors import InputError, shown
from lawful.base.extras import needed
from lawful.llm.asking import Ask, EndpointError, Reply, Usage, answers_of, is_too_long, refused
from lawful.llm.endpoint import KEY_VARIABLE, Endpoint
from lawful.llm.traffic import Cache, Record, Replay, Traffic

T = TypeVar("T")

MAX_BYTES = 2**25
"""Bytes of a response."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first and before any later retry, unless the server says how long."""

MAX_WAIT = 120.0
"""Seconds that a server may ask to wait; after more, the question has failed."""

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
LASTING = frozenset({401, 402, 403, 404, 405, 407})


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    text: str
    after: float | None  # seconds after which the server wants to be asked again

    @property
    def said(self) -> str:
        """The server's message, for errors."""
        text = " ".join(self.text.split())
        try:
            found = msgspec.json.decode(self.text)
        except msgspec.DecodeError:
            if text.lstrip().startswith("<"):
                return f"a page of HTML, {shown(text[:120])}: is this the address of an API?"
            return shown(text[:400]) if text else "nothing"
        error = found.get("error") if isinstance(found, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        return shown(str(message or text)[:400])


class _Failure(Exception):  # noqa: N818 - never leaves this module
    """A call that may succeed if it is made again."""

    def __init__(self, why: str, after: float | None = None, *, lasting: bool = False) -> None:
        super().__init__(why)
        self.after = after
        self.lasting = lasting


class Client:
    """A language model behind an OpenAI-compatible API, asked with retries, cache and record.

    ``url`` is such as ``http://localhost:8000/v1``; without ``model``, the server's only one is
    asked. The key is that of the environment: ``LAWFUL_LLM_KEY``, or the service's own variable.
    ``timeout`` bounds each call in seconds, ``retries`` follow a failure that may pass, and at most
    ``concurrency`` calls run at a time. ``cache`` is a folder in which equal questions find their
    answers; ``record`` a file that all of them are written to, and with ``replay`` such a file
    answers instead of the server. ``transport`` is one of httpx.
    """

    def __init__(
        self,
        url: str = "http://localhost:8000/v1",
        *,
        model: str | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 8,
        cache: str | Path | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        transport: Any = None,
    ) -> None:
        if not 0 < timeout <= 1e6 or not 0 <= retries <= 100 or not 1 <= concurrency <= 1000:
            raise InputError(
                f"timeout is {shown(timeout)}, retries {shown(retries)} and concurrency "
                f"{shown(concurrency)}, expected seconds above 0, 0 to 100 and 1 to 1,000"
            )
        self.endpoint = Endpoint.of(url)
        self._replay = None if replay is None else Replay(replay)
        self._traffic: list[Traffic] = [] if self._replay is None else [self._replay]
        self._traffic += [] if cache is None else [Cache(cache)]
        self._traffic += [] if record is None else [Record(record)]
        self._httpx = None if self._replay else needed("httpx", "asking a language model")
        self._model = model or (self._replay.model if self._replay else None)
        self._timeout, self._retries, self.concurrency = timeout, retries, concurrency
        self.usage = Usage()  # of all replies so far
        self._transport = transport
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lane] = WeakKeyDictionary()
        self._lacks: frozenset[str] = frozenset()
        self._pause = 0.0  # no call before this moment
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def ask(self, ask: Ask) -> Reply:
        """The reply to a question; raises an ``EndpointError`` if there is none."""
        future = self.start(self.ask_async(ask))
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts work that asks in the event loop of ``ask``, which is in a thread of its own."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def ask_async(self, ask: Ask) -> Reply:
        """The same, within an event loop."""
        model = await self.model()
        key = ask.key(model)
        known = next((found for t in self._traffic if (found := t.find(key))), None)
        retries = 0
        if known is None:
            if self._replay is not None:
                raise EndpointError(
                    f"{self._replay.path} has no answer to this question: it was recorded with "
                    "another document, schema, model or number of samples"
                )
            responses, retries = await self._answered(ask, model)
        else:
            responses = list(known)
        reply = Reply.of(responses, ask.samples, kept=known is not None, retries=retries)
        for traffic in self._traffic:
            traffic.keep(key, model, ask, responses)
        self.usage += reply.usage
        return reply

    async def model(self) -> str:
        """The name of the model; without one given, that of the only one that the server has."""
        if self._model is None:
            found, _ = await self._called("GET", "models")
            listed = found.get("data") if isinstance(found, Mapping) else None
            models = [e.get("id") for e in listed or () if isinstance(e, Mapping)]
            names = [name for name in models if isinstance(name, str)]
            if len(names) != 1:
                some = f"{len(names)} models: {', '.join(names[:10])}" if names else "no models"
                raise EndpointError(f"{self._name} has {some}; say which one", lasting=True)
            self._model = names[0]
        return self._model

    @property
    def _name(self) -> str:
        return f"the language model at {self.endpoint.host}"

    async def _answered(self, ask: Ask, model: str) -> tuple[list[Mapping[str, Any]], int]:
        """Responses that together have the answers asked for, and how many retries they took."""
        responses: list[Mapping[str, Any]] = []
        missing, retries = ask.samples, 0
        while missing > 0:
            calls = missing if "n" in self._lacks else 1
            body = ask.body(model, 1 if calls > 1 else missing, self._lacks)
            found = await asyncio.gather(*(self._completed(ask, body) for _ in range(calls)))
            responses += [response for response, _ in found]
            retries += sum(count for _, count in found)
            got = sum(len(answers_of(response)) for response, _ in found)
            if calls == 1 and got < missing:
                self._lacks |= {"n"}
            missing -= got
        return responses, retries

    async def _completed(self, ask: Ask, body: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
        """The response to a request; what the server refuses is left out of it."""
        retries, lacks = 0, self._lacks
        while True:
            found, more = await self._called("POST", "chat/completions", body)
            retries += more
            if not isinstance(found, _Response):
                answers_of(found)
                _forget_others(found)
                self._lacks |= lacks
                return found, retries
            if is_too_long(found.text):
                raise EndpointError(f"{self._name}: {found.said}", too_long=True)
            lacking = refused(found.text, body)
            if lacking is None:
                raise EndpointError(f"{self._name} refused the request: {found.said}")
            lacks |= {lacking}
            body = ask.body(str(body["model"]), body.get("n", 1), lacks)

    async def _called(self, method: str, name: str, body: Any = None) -> tuple[Any, int]:
        """The JSON of a response, or the response itself if it is a refusal; and the retries."""
        for attempt in range(self._retries + 1):
            try:
                response = await self._sent(method, name, body)
                return self._read(response), attempt
            except _Failure as failure:
                wait = failure.after
                if wait is None:
                    longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
                    wait = longest * random.uniform(0.5, 1)  # noqa: S311 - no secret
                if attempt == self._retries or wait > MAX_WAIT:
                    asked = f"; it asks to wait {wait:.0f} s" if wait > MAX_WAIT else ""
                    tries = f" in {attempt + 1} attempts" if attempt else ""
                    why = f"{self._name} {failure}{tries}{asked}"
                    raise EndpointError(why, lasting=failure.lasting) from None
                await asyncio.sleep(wait)
        raise AssertionError  # the loop returns or raises

    def _read(self, response: _Response) -> Any:
        status = response.status
        if status in RETRIED:
            if status == 429 and response.after:
                self._pause = max(self._pause, time.monotonic() + response.after)
            raise _Failure(f"answered with status {status}: {response.said}", response.after)
        if status in LASTING:
            key = f"; its key is that of {KEY_VARIABLE}" if status in (401, 403) else ""
            said = f"{self._name} answered with status {status}: {response.said}{key}"
            raise EndpointError(said, lasting=True)
        if status >= 400:
            return response
        try:
            return msgspec.json.decode(response.text)
        except msgspec.DecodeError:
            raise _Failure(f"answered {response.said}, expected JSON") from None

    async def _sent(self, method: str, name: str, body: Any) -> _Response:
        """The response to one call, complete and in time."""
        httpx = self._httpx
        assert httpx is not None  # noqa: S101 - only a replay has none
        lane = self._lane()
        async with lane.gate:
            await asyncio.sleep(self._pause - time.monotonic())
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._received(lane.http, method, name, body)
            except TimeoutError:
                raise _Failure(f"did not answer within {self._timeout:g} s") from None
            except httpx.ConnectError as error:
                raise _Failure(f"cannot be reached ({error})", lasting=True) from None
            except (httpx.HTTPError, httpx.StreamError) as error:
                why = str(error) or type(error).__name__
                raise _Failure(f"broke off ({self.endpoint.without_key(why)})") from None

    async def _received(self, http: Any, method: str, name: str, body: Any) -> _Response:
        content = None if body is None else msgspec.json.encode(body)
        url = self.endpoint.address(name)
        headers = {"Content-Type": "application/json", **self.endpoint.headers}
        async with http.stream(method, url, content=content, headers=headers) as response:
            parts, size = [], 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > MAX_BYTES:
                    raise EndpointError(f"{self._name} answered with over {MAX_BYTES:,} bytes")
                parts.append(part)
            text = b"".join(parts).decode("utf-8", "replace")
            after = _seconds_after(response.headers.get("Retry-After"))
            return _Response(response.status_code, self.endpoint.without_key(text), after)

    def _lane(self) -> _Lane:
        loop = asyncio.get_running_loop()
        if loop not in self._lanes:
            assert self._httpx is not None  # noqa: S101 - only a replay has none
            http = self._httpx.AsyncClient(transport=self._transport, timeout=None)
            self._lanes[loop] = _Lane(http, asyncio.Semaphore(self.concurrency))
        return self._lanes[loop]

    async def close_async(self) -> None:
        """Closes the connections of this event loop."""
        lane = self._lanes.pop(asyncio.get_running_loop(), None)
        if lane is not None:
            await lane.http.aclose()

    def close(self) -> None:
        """Closes the connections of ``ask``."""
        loop, thread, self._loop = self._loop, self._thread, None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self.close_async(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close_async()


@dataclass(frozen=True, slots=True)
class _Lane:
    """The connections of one event loop, and the gate that bounds its calls."""

    http: Any
    gate: asyncio.Semaphore


def _forget_others(response: Mapping[str, Any]) -> None:
    """Leaves out the tokens that the model did not choose, which some servers return unasked."""
    for choice in response["choices"]:
        given = choice.get("logprobs")
        for token in (given.get("content") or ()) if isinstance(given, Mapping) else ():
            if isinstance(token, dict):
                token.pop("top_logprobs", None)


def _seconds_after(given: str | None) -> float | None:
    """The seconds of a ``Retry-After`` header, which may be a date."""
    if given is None:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
