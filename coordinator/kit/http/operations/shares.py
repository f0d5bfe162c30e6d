"""Operations on share groups (KIP-932): their records, locks and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...views.share_records import STATES, to_plain
from ...waits.share_expectations import ShareExpectation
from ..as_text import columns
from ..json_values import DONE, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port, timeout_of, until
from ..shapes import told

SHARE_GROUP = object_of(
    group_id=TEXT,
    group_state=TEXT,
    members=NUMBER,
    available=NUMBER,
    acquired=NUMBER,
    acknowledged=NUMBER,
    archived=NUMBER,
    most_deliveries=NUMBER,
    lag=NUMBER,
    starts={"type": "object", "additionalProperties": NUMBER},
    text=TEXT,
)
RECORD = object_of(
    topic=TEXT,
    partition=NUMBER,
    offset=NUMBER,
    state={"enum": list(STATES)},
    delivery_count=NUMBER,
    holder={"type": ["string", "null"]},
    time_left_ms={"type": ["integer", "null"]},
    text=TEXT,
)
_GIVEN_BACK = object_of(given_back=NUMBER)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The condition that a wait for a share group ends with. Fields that are left out do not
    matter; all others must hold at the same instant."""

    state: str | None = told("Stable, Empty or Dead", None)
    members: int | None = told("exact number", None)
    available: int | None = told("exact number of records that can be delivered", None)
    acquired: int | None = told("exact number of records that members hold", None)
    acknowledged: int | None = told("exact number of accepted records", None)
    archived: int | None = told(
        "exact number of records that were rejected or delivered too often", None
    )
    delivery_count: int | None = told(
        "some unfinished record was delivered at least this often", None
    )
    lag: int | None = told("lag at most this high", None)
    timeout: float | None = told("seconds to wait (30)", None)


@dataclass(frozen=True, slots=True)
class Most:
    """Number of records to show."""

    most: int | None = told("at most this number, from the first (1000)", None)


@dataclass(frozen=True, slots=True)
class Settings:
    """Configurations of a group."""

    settings: dict[str, str] = told(
        "group configurations by Kafka's names, such as share.auto.offset.reset"
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Selects records."""

    topic: str | None = told("topic (default: all)", None)
    partition: int | None = told("partition (default: all)", None)
    offset: int | None = told("offset of a single record", None)


@dataclass(frozen=True, slots=True)
class Start:
    """A share partition and its new start offset."""

    topic: str
    partition: int = told("its number")
    offset: int = told("new start offset; records in flight are dropped")


@operation(
    "GET",
    "/shares/{group}",
    summary="Count a share group's records by state, and its members.",
    answer=SHARE_GROUP,
)
def share_describe(port: Port, body: Any, group: str) -> Any:
    return to_plain(port.kafka.share_group(group).snapshot())


@operation(
    "POST",
    "/shares/{group}/wait",
    summary="Wait until all given conditions hold at the same instant. Status 409 after the timeout.",
    body=Expectation,
    answer=SHARE_GROUP,
    waits=True,
)
async def share_wait(port: Port, body: Expectation, group: str) -> Any:
    timeout = timeout_of(body.timeout)
    expectation = ShareExpectation(
        state=body.state,
        members=body.members,
        available=body.available,
        acquired=body.acquired,
        acknowledged=body.acknowledged,
        archived=body.archived,
        delivery_count=body.delivery_count,
        lag=body.lag,
    )
    handle = port.kafka.share_group(group)
    future = handle.begin_wait(expectation)
    if not await until(future, timeout):
        raise handle.timed_out(expectation, future, timeout)
    return to_plain(future.result())


@operation(
    "GET",
    "/shares/{group}/records/{topic}/{partition}",
    summary="List a partition's records in a share group: state, delivery count, the member that "
    "holds each and when its lock ends.",
    body=Most,
    answer=object_of(records=list_of(RECORD)),
    tell=columns(
        "records",
        OFFSET="offset",
        STATE="state",
        DELIVERIES="delivery_count",
        HOLDER="holder",
        **{"LEFT (ms)": "time_left_ms"},
    ),
)
def share_records(port: Port, body: Most, group: str, topic: str, partition: str) -> Any:
    most = {} if body.most is None else {"most": body.most}
    found = port.kafka.share_group(group).records(topic, _number(partition), **most)
    return {"records": [to_plain(of) for of in found]}


@operation(
    "GET",
    "/shares/{group}/records/{topic}/{partition}/{offset}",
    summary="Show one record with its state in a share group.",
    answer=RECORD,
)
def share_record(port: Port, body: Any, group: str, topic: str, partition: str, offset: str) -> Any:
    handle = port.kafka.share_group(group)
    return to_plain(handle.record(topic, _number(partition), _number(offset)))


@operation(
    "POST",
    "/shares/{group}/configure",
    summary="Change configurations of a share group, as a tool does.",
    body=Settings,
    answer=DONE,
)
async def share_configure(port: Port, body: Settings, group: str) -> Any:
    await port.kafka.awaited.share_group(group).configure(body.settings)
    return {"done": True}


@operation(
    "POST",
    "/shares/{group}/expire",
    summary="Expire the locks of a record, a partition, a topic or all records now. The answer "
    "contains the number of released records.",
    body=Place,
    answer=_GIVEN_BACK,
)
def share_expire(port: Port, body: Place, group: str) -> Any:
    handle = port.kafka.share_group(group)
    return {"given_back": handle.expire_locks(body.topic, body.partition, body.offset)}


@operation(
    "POST",
    "/shares/{group}/members/{member}/release",
    summary="Release all records that a member holds. The answer contains their number.",
    answer=_GIVEN_BACK,
)
def share_release(port: Port, body: Any, group: str, member: str) -> Any:
    return {"given_back": port.kafka.share_group(group).release(member)}


@operation(
    "POST",
    "/shares/{group}/members/{member}/end-session",
    summary="Close a member's share sessions, as the loss of its connection does.",
    answer=DONE,
)
def share_end_session(port: Port, body: Any, group: str, member: str) -> Any:
    port.kafka.share_group(group).end_session(member)
    return {"done": True}


@operation(
    "POST",
    "/shares/{group}/start",
    summary="Set the start offset of a partition in a share group.",
    body=Start,
    answer=DONE,
)
def share_move_start(port: Port, body: Start, group: str) -> Any:
    port.kafka.share_group(group).move_start(body.topic, body.partition, body.offset)
    return {"done": True}


def _number(text: str) -> int:
    """Return a number in a path. Raises ExpectationError."""
    from ...waits.expectations import ExpectationError

    if not text.isdecimal() or len(text) > 19:
        raise ExpectationError(f"{text!r} in the path: a whole number is meant")
    return int(text)
