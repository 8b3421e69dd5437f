"""A machine learning back end of Label Studio: predictions that obey rules, and follow a person.

For tasks that ``lawful review export --format label-studio`` made. What a person has drawn in a
task is taken for true, and the rest of the document is decoded again with it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from lawful.base.errors import InputError, LawfulError, shown
from lawful.documents.pins import Pin
from lawful.review.annotations import Annotated, place_of, spans_said
from lawful.review.desk import Desk
from lawful.review.tasks import Tasks


class _Params(msgspec.Struct):
    context: dict[str, Any] | None = None


class _Asked(msgspec.Struct):
    tasks: list[dict[str, Any]]
    params: _Params = msgspec.field(default_factory=_Params)


def backend(desk: Desk) -> Starlette:
    """The service for the documents of a desk: ``/predict``, ``/setup``, ``/webhook``, ``/health``.

    A task that cannot be decoded has an ``error`` and no regions; the others have theirs.
    """
    tasks = Tasks(desk)
    version = f"lawful {desk.shared.version}"

    def predicted(task: dict[str, Any], context: dict[str, Any] | None) -> dict[str, Any]:
        data = task.get("data")
        id_ = data.get("id") if isinstance(data, dict) else None
        if not isinstance(id_, str):
            raise InputError(f"the task has the data {shown(data)}, expected an id in it")
        drawn = (context or {}).get("result") or []
        said = Annotated(id_, None, drawn, "Label Studio", None)
        n = place_of(desk, said)
        document = desk.scored(n).document
        spans, texts = spans_said(said, document)
        names = {field.label: field.name for field in reversed(desk.shared.rules.fields)}
        pins = [Pin("is", (s.start, s.end), names[s.type]) for s in spans if s.type in names]
        return tasks.prediction(n, (*document.pins, *texts, *pins))

    async def predict(request: Request) -> JSONResponse:
        asked = msgspec.json.decode(await request.body(), type=_Asked)
        results = []
        for task in asked.tasks:
            try:
                found = await run_in_threadpool(predicted, task, asked.params.context)
                results.append(found)
            except LawfulError as error:
                results.append({"result": [], "score": 0.0, "error": str(error)})
        return JSONResponse({"results": results, "model_version": version})

    async def said(_: Request) -> JSONResponse:
        return JSONResponse({"status": "UP", "model_class": "lawful", "model_version": version})

    def wrong(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"the request is not as expected: {error}"}, 400)

    routes = [
        Route("/predict", predict, methods=["POST"]),
        Route("/setup", said, methods=["POST"]),
        Route("/webhook", said, methods=["POST"]),
        Route("/health", said),
        Route("/", said),
    ]
    return Starlette(routes=routes, exception_handlers={msgspec.MsgspecError: wrong})
