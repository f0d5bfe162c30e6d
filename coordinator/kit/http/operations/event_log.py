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

    type: str | None = told("event type, such as MemberRemoved", None)
    group: str | None = told("group id", None)
    stream: str | None = told("stream: group, cluster, wire, member, fault, ...", None)
    since: int = told("a mark: only lines from there on", 0)
    limit: int = told("at most this number, the latest", 10_000)


@dataclass(frozen=True, slots=True)
class AwaitedLines:
    """Lines that are waited for."""

    type: str | None = told("event type, such as MemberRemoved", None)
    group: str | None = told("group id", None)
    stream: str | None = told("stream", None)
    since: int | None = told("a mark: lines from there on (default: from now on)", None)
    fields: dict[str, Any] = told(
        'values of further fields, such as {"reason": "expired"}', {}, FIELDS
    )
    count: int = told("number of lines to wait for", 1)
    timeout: float | None = told("seconds to wait (30)", None)


@operation(
    "GET",
    "/mark",
    summary="Return a mark: the current end of the event log. `since` this mark means: what happens "
    "from now on.",
    answer=object_of(mark=NUMBER),
)
def mark(port: Port, body: Any) -> Any:
    return {"mark": port.kafka.mark()}


@operation(
    "GET",
    "/events",
    summary="List lines of the event log (docs/event_log.md), oldest first.",
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
    summary="Wait for lines of the event log; the answer is the first of them. Status 409 after the "
    "timeout.",
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

    group: str | None = told("group id (default: all groups)", None)
    generation: int | None = told("only the rebalance that led to this generation", None)


@operation(
    "GET",
    "/explain",
    summary="Explain in sentences why each rebalance happened.",
    body=Which,
    answer=object_of(text=TEXT),
)
def explain(port: Port, body: Which) -> Any:
    return {"text": port.kafka.explain(body.group, body.generation)}


@operation(
    "GET",
    "/timeline",
    summary="Explain the same as JSON: each rebalance with its cause, durations, and the partitions "
    "that members got and lost (docs/event_log.md).",
    body=Which,
    answer={"type": "object"},
    tell=dumps,
)
def timeline(port: Port, body: Which) -> Any:
    return port.kafka.timeline(body.group, body.generation)


def _rows(answer: Any) -> str:
    return "\n".join(answer["obstacles"]) or "nothing blocks the groups"


@dataclass(frozen=True, slots=True)
class Whose:
    """Selects a group."""

    group: str | None = told("group id (default: all groups and clients)", None)


@operation(
    "GET",
    "/obstacles",
    summary=(
        "Explain what currently blocks groups and clients: brokers that are stopped, links that "
        "are cut, members that a rebalance waits for, clients whose requests were refused and "
        "that have not continued since."
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
        "Report what a failed test should show: the state of each group, its timeline, each "
        "member's last request and response, and all faults."
    ),
    answer=object_of(text=TEXT),
)
def story(port: Port, body: Any) -> Any:
    return {"text": port.kafka.story()}
