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
    members: int | None = told("exactly so many", None)
    available: int | None = told("exactly so many records can be delivered again", None)
    acquired: int | None = told("exactly so many are held by members", None)
    acknowledged: int | None = told("exactly so many were accepted", None)
    archived: int | None = told("exactly so many were rejected or given up", None)
    delivery_count: int | None = told(
        "a record that is not done with was delivered at least so often", None
    )
    lag: int | None = told("at most so many records behind", None)
    timeout: float | None = told("how long to wait, in seconds (30)", None)


@dataclass(frozen=True, slots=True)
class Most:
    """Number of records to show."""

    most: int | None = told("the first so many (1000)", None)


@dataclass(frozen=True, slots=True)
class Settings:
    """Configurations of a group."""

    settings: dict[str, str] = told("by Kafka's names, such as share.auto.offset.reset")


@dataclass(frozen=True, slots=True)
class Place:
    """Selects records."""

    topic: str | None = told("of this topic only", None)
    partition: int | None = told("of this partition only", None)
    offset: int | None = told("this record only", None)


@dataclass(frozen=True, slots=True)
class Start:
    """A share partition and its new start offset."""

    topic: str
    partition: int = told("its number")
    offset: int = told("the first that it is given, whatever is in flight")


@operation(
    "GET",
    "/shares/{group}",
    summary="How many records of a share group are in which state, and how many members it has.",
    answer=SHARE_GROUP,
)
def share_describe(port: Port, body: Any, group: str) -> Any:
    return to_plain(port.kafka.share_group(group).snapshot())


@operation(
    "POST",
    "/shares/{group}/wait",
    summary="Wait until everything that is given holds at the same instant. Status 409 when the time is over.",
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
    summary="The records of a partition that a share group has come to: state, deliveries, who holds each and for how long.",
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
    summary="One record as a share group reads it.",
    answer=RECORD,
)
def share_record(port: Port, body: Any, group: str, topic: str, partition: str, offset: str) -> Any:
    handle = port.kafka.share_group(group)
    return to_plain(handle.record(topic, _number(partition), _number(offset)))


@operation(
    "POST",
    "/shares/{group}/configure",
    summary="Set configurations of a share group, as a tool does.",
    body=Settings,
    answer=DONE,
)
async def share_configure(port: Port, body: Settings, group: str) -> Any:
    await port.kafka.awaited.share_group(group).configure(body.settings)
    return {"done": True}


@operation(
    "POST",
    "/shares/{group}/expire",
    summary="End locks now: of a record, of a partition, of a topic, or all; answers how many records were given back.",
    body=Place,
    answer=_GIVEN_BACK,
)
def share_expire(port: Port, body: Place, group: str) -> Any:
    handle = port.kafka.share_group(group)
    return {"given_back": handle.expire_locks(body.topic, body.partition, body.offset)}


@operation(
    "POST",
    "/shares/{group}/members/{member}/release",
    summary="Take back all records that a member holds; answers how many they were.",
    answer=_GIVEN_BACK,
)
def share_release(port: Port, body: Any, group: str, member: str) -> Any:
    return {"given_back": port.kafka.share_group(group).release(member)}


@operation(
    "POST",
    "/shares/{group}/members/{member}/end-session",
    summary="End a member's share sessions, as the loss of its connection does.",
    answer=DONE,
)
def share_end_session(port: Port, body: Any, group: str, member: str) -> Any:
    port.kafka.share_group(group).end_session(member)
    return {"done": True}


@operation(
    "POST",
    "/shares/{group}/start",
    summary="Let a share group begin a partition anew at an offset.",
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
