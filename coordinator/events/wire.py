"""Events of stream `wire`: requests that arrived, and how they were answered; logins and refusals.

Heartbeats, fetches and produces that succeed have no line: there are thousands, and they cause
no event. Lines that belong to a group have its id and the member's as places.
"""

from __future__ import annotations

from typing import NamedTuple

from .values import LeftOut


class RequestSeen(NamedTuple):
    """A request arrived that can change something or is sent for a member."""

    api: str
    version: int
    client: str
    """The client id in the request's header."""
    peer: str
    """The client's address."""
    group_instance_id: LeftOut[str] = None
    reason: LeftOut[str] = None
    """The reason in a JoinGroup (KIP-800)."""
    transactional_id: LeftOut[str] = None


class RequestAnswered(NamedTuple):
    """A request was answered without an error. The line's cause is the RequestSeen."""

    api: str
    waited_ms: int
    """More than 0 if the request was parked."""


class RequestRefused(NamedTuple):
    """A request was answered with an error, for all or a part of it.

    The line's cause is the RequestSeen. Requests that are not logged when they arrive, such as
    heartbeats, have none: then `version`, `client` and `peer` are given, and not `waited_ms`.
    """

    api: str
    version: LeftOut[int] = None
    client: LeftOut[str] = None
    peer: LeftOut[str] = None
    waited_ms: LeftOut[int] = None
    errors: tuple[str, ...] = ()
    """Kafka's names of the errors, each once."""
    protocol_type: LeftOut[str] = None
    """Of a JoinGroup refused with INCONSISTENT_GROUP_PROTOCOL: what it offered."""
    offered: LeftOut[tuple[str, ...]] = None
    """Names of the first protocols of such a JoinGroup."""


class ConnectionRefused(NamedTuple):
    """A connection was closed because of the bytes that it carried."""

    peer: str
    why: str


class Authenticated(NamedTuple):
    """A client logged in by SASL, renewed its session, or presented its certificate."""

    principal: str
    """Such as User:billing."""
    mechanism: str
    """The SASL mechanism; TLS for a certificate; NONE in a simulated world, which has no logins."""
    listener: str
    client: str
    peer: str


class AuthenticationFailed(NamedTuple):
    """A login was refused; its connection is closed."""

    principal: str | None
    """The name that the client gave; None if it gave none."""
    mechanism: str | None
    why: str
    listener: str
    client: str
    peer: str


class AuthorizationRefused(NamedTuple):
    """A request was refused for lack of a permission, wholly or in part: an ACL denies it, or none
    allows it. The first 20 refusals of one request are logged.
    """

    principal: str
    operation: str
    resource: str
    """Type of the resource: topic, group, cluster, ..."""
    name: str
    api: str
    host: str
    client: str
    peer: str
    acl: str | None
    """The ACL that denies it, or the last one that allowed it; None: there was none."""
    acl_deleted_ms: int | None
    """The instant at which that ACL was deleted; None: it is in force and denies."""


class ClientThrottled(NamedTuple):
    """A client exceeded its quota. Its response says so, and nothing is read from its connection
    for `throttle_ms`.
    """

    principal: str
    api: str
    throttle_ms: int
    client: str
    peer: str


class TopicAutoCreated(NamedTuple):
    """A topic was created because a client asked about it (auto.create.topics.enable)."""

    client: str


class ApiNotServed(NamedTuple):
    """A client sent a request of an API that is not served, or whose feature is off; logged once
    for each client and API.
    """

    api: str
    key: int
    version: int
    client: str
    peer: str


class InternalTopicRead(NamedTuple):
    """A client fetched from an internal topic, which has no records here; logged once for each
    client and topic."""

    client: str
    peer: str


class FetchOutOfRange(NamedTuple):
    """A client fetched from an offset that retention had deleted; logged once until it fetches from
    another one. The line has broker, topic and partition as places.
    """

    offset: int
    log_start_offset: int
    log_end_offset: int
    reason: str
    """As of SegmentsDeleted."""
    client: str
    peer: str


class FetchWentOn(NamedTuple):
    """A client that had fetched from a deleted offset fetches from another one."""

    offset: int
    asked_before: int
    log_start_offset: int
    log_end_offset: int
    client: str
    peer: str


class MemberDisconnected(NamedTuple):
    """A client closed the connection over which it last sent requests for its member. The member is
    still in the group: its process may have ended, or it connects again.
    """

    client: str
    peer: str


class MemberReconnected(NamedTuple):
    """A member that was disconnected sends requests again, over another connection."""

    client: str
    peer: str


class LogGap(NamedTuple):
    """The file could not be written for a while: lines of this stream are missing."""

    left_out: int
    """The number of missing lines."""
    since_ms: int
    """Instant of the first missing line; the last one's is the line's own."""


Event = (
    RequestSeen
    | RequestAnswered
    | RequestRefused
    | ConnectionRefused
    | Authenticated
    | AuthenticationFailed
    | AuthorizationRefused
    | ClientThrottled
    | TopicAutoCreated
    | ApiNotServed
    | InternalTopicRead
    | FetchOutOfRange
    | FetchWentOn
    | MemberDisconnected
    | MemberReconnected
    | LogGap
)
