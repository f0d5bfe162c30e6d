"""The control port as an ASGI application: routes from the table of operations, checks before them,
problem documents after them.

A body is bounded, and read whole before the operation begins. An operation that waits is
cancelled when its client hangs up; one that acts is not interrupted. Uses Starlette for routing,
requests and responses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..emulator.options import EmulatorError
from .guard import Guard
from .metrics import Metrics
from .openapi import document
from .operation import Operation
from .operations.event_log import Lines
from .operations.security import ca
from .port import Port
from .problems import Problem, problem_of
from .shapes import ShapeError, read
from .streams import EventStream
from .table import all_operations, perform

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MOST_DIGITS = 19  # of a number of 63 bits


class Application:
    """The ASGI callable. `end` is called before the server ends."""

    def __init__(self, port: Port, guard: Guard, most_body_bytes: int) -> None:
        self._port = port
        self._guard = guard
        self._most_body_bytes = most_body_bytes
        self.streams: set[EventStream] = set()
        self._metrics = Metrics(port.kafka)
        routes = [
            Route("/openapi.json", self._openapi),
            Route("/metrics", self._exposition),
            Route("/ca.pem", self._authority),
            Route("/events/stream", self._stream),
        ]
        entries = sorted(all_operations().values(), key=lambda entry: entry.path.count("{"))
        routes += [
            Route(entry.path, self._endpoint(entry), methods=[entry.method]) for entry in entries
        ]
        self._app: ASGIApp = Starlette(
            routes=routes,
            exception_handlers={HTTPException: self._http_error, Exception: self._error},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        objection = self._guard.objection(scope["method"], headers, scope["path"])
        if objection is not None:
            await _answer(objection)(scope, receive, send)
            return
        origin = headers.get("origin")
        if origin is not None:
            send = _allowing(send, origin)
            if scope["method"] == "OPTIONS":
                await Response(status_code=204)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def end(self) -> None:
        """End the streams of the event log, because the server is about to end."""
        self._metrics.close()
        for stream in list(self.streams):
            stream.end()

    def _endpoint(self, entry: Operation) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                body = await self._body(entry, request)
                work = perform(entry, self._port, body, dict(request.path_params))
                answer = await (_unless_gone(request, work) if entry.waits else work)
                return JSONResponse(answer, 409 if entry.judges and not answer["holds"] else 200)
            except HTTPException:
                raise
            except Exception as error:
                return _answer(problem_of(error))

        return endpoint

    async def _body(self, entry: Operation, request: Request) -> Any:
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > self._most_body_bytes:
                raise HTTPException(413, f"the body has more than {self._most_body_bytes} bytes")
        query = request.query_params.multi_items()
        if entry.method == "POST":
            if query:
                raise ShapeError(
                    f"the query: {query[0][0]!r}; POST {request.url.path} takes its arguments in the body, as JSON"
                )
            return entry.read_body(_json(data))
        if data and _json(data) != {}:
            raise ShapeError(
                f"the body: {entry.method} {request.url.path} takes none; {entry.words_of_the_query}"
            )
        return entry.read_query(_once(query, "the query"))

    async def _openapi(self, request: Request) -> Response:
        version = request.query_params.get("version", "3.1")
        if version not in ("3.0", "3.1"):
            raise ShapeError(f"version={version!r}: the document exists as 3.1 and as 3.0")
        if version == "3.1":
            return JSONResponse(document())
        from .openapi_3_0 import as_3_0  # for generators alone

        return JSONResponse(as_3_0(document()))

    async def _exposition(self, request: Request) -> Response:
        return PlainTextResponse(self._metrics.exposition(), media_type=METRICS_TYPE)

    async def _authority(self, request: Request) -> Response:
        try:
            pem = ca(self._port, None)["pem"]
        except EmulatorError as error:
            return _answer(problem_of(error))
        return PlainTextResponse(pem, media_type="application/x-pem-file")

    async def _stream(self, request: Request) -> Response:
        try:
            query = _once(request.query_params.multi_items(), "the query")
            again = request.headers.get("last-event-id", "")
            resumed = again.isdecimal() and len(again) <= _MOST_DIGITS
            since = query.get("since") or (str(int(again) + 1) if resumed else "0")
            if not since.isdecimal() or len(since) > _MOST_DIGITS:
                raise ShapeError(f"since: {since!r}; a whole number is meant")
            stream = EventStream(
                self._port, read(Lines, {**query, "since": int(since)}, "the query")
            )
        except Exception as error:
            return _answer(problem_of(error))
        self.streams.add(stream)

        async def chunks() -> Any:
            try:
                async for piece in stream.chunks():
                    yield piece
            finally:
                stream.end()
                self.streams.discard(stream)

        return StreamingResponse(
            chunks(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def _http_error(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path = request.url.path
        if error.status_code == 404:
            paths = sorted({entry.path for entry in all_operations().values()})
            return _answer(
                Problem(
                    404,
                    f"there is no {path}: /openapi.json lists the paths: {', '.join(paths)}",
                    "NoSuchPath",
                )
            )
        if error.status_code == 405:
            allowed = _methods_of(path) or (error.headers or {}).get("Allow", "")
            below = sorted(
                f"{entry.method} {entry.path}"
                for entry in all_operations().values()
                if entry.path.startswith(f"{path.rstrip('/')}/") and path != "/"
            )
            told = f"{path} has no {request.method}: it has {allowed}"
            told += f"; below it there are {', '.join(below)}" if below else ""
            answer = _answer(Problem(405, told, "NoSuchMethod"))
            answer.headers["Allow"] = allowed
            return answer
        return _answer(Problem(error.status_code, error.detail, "RequestRefused"))

    async def _error(self, request: Request, error: Exception) -> Response:
        return _answer(problem_of(error))


def _json(data: bytes | bytearray) -> Any:
    """Return the value of a JSON body; an empty body is an empty object. Raises ShapeError."""
    try:
        return json.loads(data or b"{}", object_pairs_hook=lambda pairs: _once(pairs, "the body"))
    except ShapeError:
        raise
    except RecursionError:
        raise ShapeError("the body is nested more deeply than any operation allows") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ShapeError(f"the body is no JSON: {error}") from None
    except ValueError:  # Python bounds how long an integer may be
        raise ShapeError(
            "the body has a number of thousands of digits: give a smaller one"
        ) from None


def _once(pairs: Iterable[tuple[str, Any]], where: str) -> dict[str, Any]:
    """Return a JSON object's names and values. Raises ShapeError for a name that occurs twice."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ShapeError(f"{where}: {name!r} occurs twice; give it once")
        found[name] = value
    return found


def _methods_of(path: str) -> str:
    """Return the methods of all operations at a path, or "" if there is none."""
    parts = path.split("/")
    found = [
        entry.method
        for entry in all_operations().values()
        if len(entry.path.split("/")) == len(parts)
        and all(
            each == own or each.startswith("{")
            for each, own in zip(entry.path.split("/"), parts, strict=True)
        )
    ]
    return ", ".join(dict.fromkeys(sorted(found)))


def _answer(problem: Problem) -> Response:
    headers = {"www-authenticate": "Bearer"} if problem.status == 401 else None
    return JSONResponse(
        problem.plain(), problem.status, headers, media_type="application/problem+json"
    )


def _allowing(send: Send, origin: str) -> Send:
    """Return a `send` that adds the headers with which a browser lets a page of an allowed
    origin read the response."""
    allowed = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"vary", b"origin"),
        (b"access-control-allow-headers", b"authorization, content-type, last-event-id"),
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
    ]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *allowed]
        await send(message)

    return sending


async def _unless_gone(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of the work; cancel the work if the client hangs up first."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
            raise HTTPException(409, "the client hung up")
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
