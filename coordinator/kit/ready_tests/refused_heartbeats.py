"""Findings about members of consumer groups (KIP-848) whose heartbeat was refused with an error
from which their library does not recover.

librdkafka sends no request after that, not even when its consumer is closed; only the closed
connections show that. An application that does not look at the error goes on polling and gets no
more records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from coordinator.events.wire import RequestRefused, RequestSeen

from .findings import SWALLOWED, Finding, Line, when

if TYPE_CHECKING:
    from ..emulator.embedded import Emulator

_PASSING = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "ILLEGAL_GENERATION",
        "MEMBER_ID_REQUIRED",
        "NOT_COORDINATOR",
        "REBALANCE_IN_PROGRESS",
        "STALE_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNSTABLE_OFFSET_COMMIT",
    }
)
"""Errors after which a client sends the request again, or joins again."""
FATAL = frozenset(
    {
        "UNRELEASED_INSTANCE_ID",
        "FENCED_INSTANCE_ID",
        "UNSUPPORTED_ASSIGNOR",
        "STALE_MEMBER_EPOCH",
        "GROUP_MAX_SIZE_REACHED",
        "GROUP_AUTHORIZATION_FAILED",
        "TOPIC_AUTHORIZATION_FAILED",
        "INVALID_GROUP_ID",
        "INVALID_REQUEST",
        "UNSUPPORTED_VERSION",
        "INVALID_REGULAR_EXPRESSION",
        "GROUP_ID_NOT_FOUND",
    }
)
"""Errors that are fatal to a member; after any other it asks again, or joins again."""


class Refused(NamedTuple):
    """A refused request: its line, and the event."""

    line: Line
    event: RequestRefused

    @property
    def told(self) -> str:
        """The error, and its place in the log."""
        return f"{self.event.errors[0]}{when(self.line.seq, self.line.at_ms)}"


def refused_for_good(lines: Iterable[Line], group: str) -> dict[str, Refused]:
    """Return for each member of a consumer group its last heartbeat, if that was refused with such
    an error."""
    found = {}
    for line in lines:
        event = line.event
        if (
            isinstance(event, RequestRefused)
            and line.group == group
            and event.api == "consumer_group_heartbeat"
            and line.member
            and FATAL.intersection(event.errors)
        ):
            found[line.member] = Refused(line, event)
    return found


def sits(
    lines: Iterable[Line], group: str, members: Collection[str], connected: Collection[str]
) -> list[Finding]:
    """Return a finding for each member that sent no request since one was refused with an error
    that no retry mends, and is still connected: its application neither ended nor went on.
    `connected`: addresses of clients."""
    last = _last_refused(lines, group, members)
    gone = could_not_leave(lines, group, members, connected)
    return [
        Finding(
            SWALLOWED,
            f"{refused.event.api} of {member} was refused with {refused.told}; "
            "since then it has sent no request, but it is still in its group: its application neither ends nor continues",
        )
        for member, refused in last.items()
        if member not in gone
    ]


def could_not_leave(
    lines: Iterable[Line], group: str, members: Collection[str], connected: Collection[str]
) -> set[str]:
    """Return members whose consumer was closed when their requests were refused: the last
    request was to leave the group, or its connection is closed. They stay in the group until
    their session ends."""
    return {
        member
        for member, refused in _last_refused(lines, group, members).items()
        if refused.event.api == "leave_group"
        or (refused.event.peer is not None and refused.event.peer not in connected)
    }


def _last_refused(
    lines: Iterable[Line], group: str, members: Collection[str]
) -> dict[str, Refused]:
    last: dict[str, Refused] = {}
    for line in lines:
        member, event = line.member or "", line.event
        if line.group != group or member not in members:
            continue
        if isinstance(event, RequestRefused) and not _PASSING.intersection(event.errors):
            last[member] = Refused(line, event)
        elif isinstance(event, RequestSeen):
            last.pop(member, None)
    return last


def connections(kafka: Emulator) -> set[str]:
    """Return the addresses of all connected clients."""
    return kafka.run(
        lambda: {
            protocol.connection.peer
            for server in kafka.server.group
            for protocol in server.protocols
        }
    )


def goes_on(
    lines: Iterable[Line], group: str, members: Collection[str], connected: Collection[str]
) -> list[Finding]:
    """Return findings about members that were refused for good and whose consumer is still open.
    `connected`: addresses of clients."""
    refused = refused_for_good(lines, group)
    return [
        Finding(
            SWALLOWED,
            f"the heartbeat of {member} was refused with {each.told}, which ends its membership, "
            "but its consumer is still open: the application itself must end; a poll reports this by an error (librdkafka: with the "
            "code _FATAL)",
        )
        for member, each in refused.items()
        if member in members and each.event.peer in connected
    ]
