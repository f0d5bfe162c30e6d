"""Operations on the event log: marks, lines, waits for lines. The stream of server-sent events
is in `coordinator/kit/http/streams.py`."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import Any

from ...event_waits import EventPattern
from ..as_text import lines
from ..json_values import LINES, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..options import FIELDS
from ..port import Port, timeout_of, until
from ..shapes import ShapeError, told


@dataclass(frozen=True, slots=True)
class Lines:
    """Selects lines of the event log."""

    type: str | None = told("of this type, such as MemberRemoved", None)
    group: str | None = told("of this group", None)
    stream: str | None = told("of this stream: group, cluster, wire, member, fault, ...", None)
    since: int = told("from this mark on", 0)
    limit: int = told("at most so many, the latest", 10_000)


@dataclass(frozen=True, slots=True)
class AwaitedLines:
    """Lines that are waited for."""

    type: str | None = told("of this type, such as MemberRemoved", None)
    group: str | None = told("of this group", None)
    stream: str | None = told("of this stream", None)
    since: int | None = told("from this mark on; without it from now on", None)
    fields: dict[str, Any] = told('what else they have to say: {"reason": "expired"}', {}, FIELDS)
    count: int = told("so many of them", 1)
    timeout: float | None = told("how long to wait, in seconds (30)", None)


@operation(
    "GET",
    "/mark",
    summary="A place in the event log: what happens from now on is `since` this mark.",
    answer=object_of(mark=NUMBER),
)
def mark(port: Port, body: Any) -> Any:
    return {"mark": port.kafka.mark()}


@operation(
    "GET",
    "/events",
    summary="Lines of the event log (docs/event_log.md), oldest first.",
    body=Lines,
    answer=object_of(events=LINES),
    command="events list",
    tell=lines,
)
def event_list(port: Port, body: Lines) -> Any:
    if body.limit < 1:
        raise ShapeError(f"limit: {body.limit}; at least 1")
    return {
        "events": port.kafka.events(
            body.type, group=body.group, stream=body.stream, since=body.since
        )[-body.limit :]
    }


@operation(
    "POST",
    "/events/wait",
    summary="Wait for lines of the event log; answers the first of them. Status 409 when the time is over.",
    body=AwaitedLines,
    answer=object_of(events=LINES),
    waits=True,
    command="events wait",
    tell=lines,
)
async def event_wait(port: Port, body: AwaitedLines) -> Any:
    timeout = timeout_of(body.timeout)
    since = port.kafka.mark() if body.since is None else body.since
    pattern = EventPattern(body.type, body.group, body.stream, since, body.count, body.fields)
    future = port.kafka.begin_wait_for(pattern)
    if not await until(future, timeout):
        raise port.kafka.timed_out(pattern, future, timeout)
    return {"events": future.result()}


@dataclass(frozen=True, slots=True)
class Which:
    """Selects rebalances."""

    group: str | None = told("of this group; without it of all", None)
    generation: int | None = told("only those into this generation", None)


@operation(
    "GET",
    "/explain",
    summary="Why each rebalance happened, in sentences.",
    body=Which,
    answer=object_of(text=TEXT),
)
def explain(port: Port, body: Which) -> Any:
    return {"text": port.kafka.explain(body.group, body.generation)}


@operation(
    "GET",
    "/timeline",
    summary="The same as values: each rebalance, its cause, its durations, who got and lost what (docs/event_log.md).",
    body=Which,
    answer={"type": "object"},
    tell=dumps,
)
def timeline(port: Port, body: Which) -> Any:
    return port.kafka.timeline(body.group, body.generation)


def _rows(answer: Any) -> str:
    return "\n".join(answer["obstacles"]) or "nothing is in the way"


@dataclass(frozen=True, slots=True)
class Whose:
    """Selects a group."""

    group: str | None = told("of this group; without it of all groups and clients", None)


@operation(
    "GET",
    "/obstacles",
    summary=(
        "What stands in the way, in sentences: brokers that were stopped, links that were cut, "
        "members that a rebalance waits for, clients that were refused and have not gone on "
        "since."
    ),
    body=Whose,
    answer=object_of(obstacles=list_of(TEXT)),
    tell=_rows,
)
def obstacles(port: Port, body: Whose) -> Any:
    return {"obstacles": port.kafka.obstacles(body.group)}


@operation(
    "GET",
    "/story",
    summary=(
        "What a failed test should show: each group now, its timeline, what each member last sent "
        "and heard, and all faults."
    ),
    answer=object_of(text=TEXT),
)
def story(port: Port, body: Any) -> Any:
    return {"text": port.kafka.story()}
