"""Operations on the journal: clients' requests and their responses, shown and counted. Their
names are those of `coordinator.kit.journal`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from coordinator.wire.json_values import to_plain

from ...faults import API_NAMES
from ..as_text import each
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import operation
from ..port import Port
from ..shapes import ShapeError, told

if TYPE_CHECKING:
    from ...journal import Exchange

_OWN = {"limit", "exactly", "at_least", "at_most"}
_MAYBE_TEXT = {"type": ["string", "null"]}
_EXCHANGE = object_of(
    number=NUMBER,
    broker=NUMBER,
    api={"enum": list(API_NAMES)},
    version=NUMBER,
    client_id=TEXT,
    at_ms=NUMBER,
    answered_ms={"type": ["integer", "null"]},
    error=_MAYBE_TEXT,
    request={"type": "object"},
    answer={"type": ["object", "null"]},
    text=TEXT,
)
_REQUESTS = list_of(_EXCHANGE)


@dataclass(frozen=True, slots=True)
class Begin:
    """Size of the journal."""

    most: int | None = told(
        "number of latest requests to keep (10,000); cannot be changed once the journal has begun",
        None,
    )


@dataclass(frozen=True, slots=True)
class Which:
    """Selects requests. Fields that are left out do not matter."""

    api: str | None = told("Kafka's name of the API, such as OffsetCommit", None)
    group: str | None = told(
        "group id; Fetch and Produce count if a member of the group sent them", None
    )
    topic: str | None = told("a topic that the request names", None)
    partition: int | None = told("a partition of the topic that the request names", None)
    member: str | None = told("member id, or its beginning", None)
    client_id: str | None = told("client id", None)
    instance_id: str | None = told("group instance id", None)
    transactional_id: str | None = told("transactional id", None)
    generation: int | None = told("generation or member epoch in the request", None)
    broker: int | None = told("id of the broker that received it", None)


@dataclass(frozen=True, slots=True)
class Looked(Which):
    """Selects requests to show."""

    limit: int = told("at most this number, the latest", 1_000)


@dataclass(frozen=True, slots=True)
class Counted(Which):
    """Selects requests, and the number that is expected: at least one of the three fields."""

    exactly: int | None = told("exact number", None)
    at_least: int | None = told("minimum", None)
    at_most: int | None = told("maximum", None)


@operation(
    "POST",
    "/journal",
    summary="Begin the journal: keep clients' requests and their answers from now on. Without effect "
    "if it has begun already.",
    body=Begin,
    answer=object_of(most=NUMBER, dropped=NUMBER),
)
def journal_begin(port: Port, body: Begin) -> Any:
    journal = port.kafka.journal(body.most)
    return {"most": journal.most, "dropped": journal.dropped}


@operation(
    "GET",
    "/journal",
    summary=(
        "List requests and their answers, oldest first, with Kafka's field names. The first call "
        "begins the journal."
    ),
    body=Looked,
    answer=object_of(requests=_REQUESTS, dropped=NUMBER),
    tell=each("requests", "{text}"),
)
def journal_requests(port: Port, body: Looked) -> Any:
    if body.limit < 1:
        raise ShapeError(f"limit: {body.limit}; at least 1")
    journal = port.kafka.journal()
    api, which = _words(body)
    return {
        "requests": [_shown(each) for each in journal.requests(api, **which)[-body.limit :]],
        "dropped": journal.dropped,
    }


@operation(
    "POST",
    "/journal/verify",
    summary=(
        "Check the number of matching requests in the journal. If it is wrong, `failure` shows "
        "the surrounding requests, or those that nearly match."
    ),
    body=Counted,
    answer=object_of(holds=FLAG, failure=_MAYBE_TEXT, requests=_REQUESTS),
    tell=lambda answer: answer["failure"] or "holds",
)
def journal_verify(port: Port, body: Counted) -> Any:
    api, which = _words(body)
    try:
        found = port.kafka.journal().verify(
            api, exactly=body.exactly, at_least=body.at_least, at_most=body.at_most, **which
        )
    except AssertionError as error:
        return {"holds": False, "failure": str(error), "requests": []}
    return {"holds": True, "failure": None, "requests": [_shown(each) for each in found]}


@operation("DELETE", "/journal", summary="Clear the journal.", answer=DONE)
def journal_clear(port: Port, body: Any) -> Any:
    port.kafka.journal().clear()
    return {"done": True}


def _words(body: Which) -> tuple[str | None, dict[str, Any]]:
    given = {
        entry.name: getattr(body, entry.name) for entry in fields(body) if entry.name not in _OWN
    }
    api = given.pop("api")
    return api, {name: value for name, value in given.items() if value is not None}


def _shown(each: Exchange) -> dict[str, Any]:
    answer = each.answer
    return {
        "number": each.number,
        "broker": each.broker,
        "api": each.api,
        "version": each.version,
        "client_id": each.client_id,
        "at_ms": each.at_ms,
        "answered_ms": each.answered_ms,
        "error": each.error,
        "request": to_plain(each.request, each.version),
        "answer": None if answer is None else to_plain(answer, each.version),
        "text": str(each),
    }
