"""Tables about requests with their responses, and committed offsets."""

from __future__ import annotations

from coordinator.events.groups import OffsetsCommitted, OffsetsPending
from coordinator.events.handlers import on
from coordinator.events.line import Line
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen

from ..schemas import Row
from .observer import Emit, Subject


class Requests(Subject):
    """Table `requests`: each request with its answer. Requests that are answered at once take no
    memory beyond that."""

    tables = ("requests",)

    def __init__(self, emit: Emit) -> None:
        super().__init__(emit)
        self._open: dict[int, Row] = {}
        """The first columns of requests without an answer."""

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        self._open[line.seq] = _asked(line, event.api, event.version, event.client, event.peer)

    @on(RequestAnswered)
    def _answered(self, line: Line, event: RequestAnswered) -> None:
        asked = self._request(line) or _asked(line, event.api)
        self.emit("requests", (*asked, "answered", line.seq, line.at_ms, event.waited_ms, []))

    @on(RequestRefused)
    def _refused(self, line: Line, event: RequestRefused) -> None:
        asked = self._request(line) or _asked(
            line, event.api, event.version, event.client, event.peer
        )
        answer = (line.seq, line.at_ms, event.waited_ms, list(event.errors))
        self.emit("requests", (*asked, "refused", *answer))

    def finish(self) -> None:
        """Emit the requests that were not answered."""
        for asked in self._open.values():
            self.emit("requests", (*asked, "open", None, None, None, []))

    def _request(self, answer: Line) -> Row | None:
        return None if answer.cause is None else self._open.pop(answer.cause, None)


def _asked(
    line: Line,
    api: str,
    version: int | None = None,
    client: str | None = None,
    peer: str | None = None,
) -> Row:
    places = (line.group, line.member, line.generation)
    return (line.seq, line.at_ms, api, version, client, peer, *places)


class Commits(Subject):
    """Table `commits`."""

    tables = ("commits",)

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        self._emit(line, event, None)

    @on(OffsetsPending)
    def _pending(self, line: Line, event: OffsetsPending) -> None:
        self._emit(line, event, event.producer_id)

    def _emit(
        self, line: Line, event: OffsetsCommitted | OffsetsPending, producer_id: int | None
    ) -> None:
        for row in event.offsets:
            self.emit(
                "commits",
                (
                    line.seq,
                    line.at_ms,
                    line.group,
                    line.member,
                    line.generation,
                    row.topic,
                    row.partition,
                    row.offset,
                    producer_id,
                ),
            )
