"""Members of consumer groups (KIP-848) whose heartbeat was refused with an error that their library
does not get over.

librdkafka sends no request after that, no LeaveGroup either when its consumer is closed; that it is
closed is seen by its connections. An application that does not look at the error goes on polling,
and gets nothing any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

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
"""Errors after which a client asks again, or joins again."""
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
"""The errors fatal to a member. After the other errors it asks again, or joins again."""


def refused_for_good(lines: Iterable[Line], group: str) -> dict[str, Line]:
    """For each member of a consumer group the line that tells of its last heartbeat, if that was
    refused with such an error."""
    found = {}
    for line in lines:
        kind = line["type"]
        if (
            kind == "RequestRefused"
            and line.get("group") == group
            and line.get("api") == "consumer_group_heartbeat"
            and line.get("member")
        ):
            if FATAL.intersection(line["errors"]):
                found[line["member"]] = line
    return found


def sits(lines: Iterable[Line], group: str, members: Collection[str]) -> list[Finding]:
    """Members that have asked for nothing since a request of theirs was refused with an error that
    no retry mends: their application neither ended nor went on."""
    last: dict[str, Line] = {}
    for line in lines:
        member = line.get("member") or ""
        if line.get("group") != group or member not in members:
            continue
        if line["type"] == "RequestRefused" and not _PASSING.intersection(line["errors"]):
            last[member] = line
        elif line["type"] == "RequestSeen":
            last.pop(member, None)
    return [
        Finding(
            SWALLOWED,
            f"{line['api']} of {member} was refused with {line['errors'][0]}{when(line['seq'], line['at_ms'])}; "
            "since then it has asked for nothing, and it is in its group still: its application neither ends nor goes on",
        )
        for member, line in last.items()
    ]


def connections(kafka: Emulator) -> set[str]:
    """The addresses of all clients that are connected now."""
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
    """Members that were refused for good, whose consumer is open still. `connected`: addresses of
    clients."""
    refused = refused_for_good(lines, group)
    return [
        Finding(
            SWALLOWED,
            f"the heartbeat of {member} was refused with {line['errors'][0]}{when(line['seq'], line['at_ms'])}, which ends its membership, "
            "and its consumer is open still: to end is the application's own affair, which a poll tells by an error (librdkafka: with the "
            "code _FATAL)",
        )
        for member, line in refused.items()
        if member in members and line["peer"] in connected
    ]
