"""Input and output of decisions: requests, decisions, and the work that remains after one.

Values only. Every `decide` function has the signature (group or membership, request, context,
now, config) -> Decision.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import Enum
from typing import NamedTuple

from coordinator.events.groups import Event
from coordinator.wire.schema import Request as RequestMessage
from coordinator.wire.schema import Response as ResponseMessage


class RequestContext(NamedTuple):
    """Sender of a request, and what the driver adds to the request."""

    api_version: int
    client_id: str = ""
    client_host: str = "/127.0.0.1"  # in Java's form (DSC-3)
    fresh_id: str = ""  # a random uuid's text, needed by a JoinGroup without member id (MID-1)
    token: Hashable = None  # whom to answer; opaque here
    cause: int | None = None  # the log's number of the request


class Request(NamedTuple):
    """One request to the coordinator."""

    context: RequestContext
    message: RequestMessage


class Parked(Enum):
    """Kind of a member's parked request."""

    JOIN = "JoinGroup"
    SYNC = "SyncGroup"

    __hash__ = object.__hash__


class Then(Enum):
    """Work that remains after a decision's events were folded."""

    NOTHING = "nothing"
    REBALANCE = "start a rebalance, or see whether the join phase is complete"
    COMPLETE = "end the join phase if all have joined, but never cut an initial delay short"
    COMPLETE_EVEN_INITIAL = "end the join phase if all have joined, even in an initial delay"

    __hash__ = object.__hash__


class Decision(NamedTuple):
    """Decision on one request.

    `events` are folded first, then `then` is settled, then the reply is sent; `answer` builds a
    reply that shows the group after that. `parks`: the request waits for an event, on behalf of
    that member. `alive`: the session of the request's member is renewed, even if the request is
    refused.
    """

    events: tuple[Event, ...] = ()
    reply: ResponseMessage | None = None
    answer: Callable[[], ResponseMessage] | None = None
    parks: tuple[str, Parked] | None = None
    alive: bool = False
    then: Then = Then.NOTHING
    reason: str = ""  # of the rebalance, if one starts


class Reply(NamedTuple):
    """Response for the client with this token."""

    token: Hashable
    message: ResponseMessage
