"""The time that members needed to rejoin: from the response that told them of a rebalance to their
JoinGroup, beside their rebalance timeout. Members that were removed because they did not rejoin or
revoke in time are listed, too, and so are members that left: a library whose application does not
poll, or unsubscribes, keeps its connection; a consumer that is closed closes it.

A member is told by a refused heartbeat, after which a client joins at its next poll. A JoinGroup
belongs to a member by its member id or, without one, by the connection on which the member was
told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from coordinator.events.groups import (
    GroupLoaded,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    Removal,
)
from coordinator.events.line import Line
from coordinator.events.wire import RequestRefused, RequestSeen

_TOLD = "REBALANCE_IN_PROGRESS"
_TOO_LATE = (Removal.DID_NOT_REJOIN, Removal.DID_NOT_REVOKE)
_ASKS = ("leave_group", "join_group", "consumer_group_heartbeat")


class Return(NamedTuple):
    """A member that was told of a rebalance, and its JoinGroup. `allowed_ms`: its rebalance
    timeout, which clients set to max.poll.interval.ms."""

    member: str
    told: Line
    join: Line
    allowed_ms: int

    @property
    def took_ms(self) -> int:
        """Time in ms from the refused heartbeat to the JoinGroup."""
        return self.join.at_ms - self.told.at_ms


class TimedOut(NamedTuple):
    """A member that was removed because it had not rejoined or revoked in time."""

    member: str
    removal: Line


def returns(lines: Iterable[Line], group: str) -> Iterator[Return | TimedOut]:
    """Yield each return of a group's members, and each removal of one that did not return, in
    order."""
    allowed: dict[str, int] = {}
    told: dict[str, Line] = {}
    for line in lines:
        if line.group != group:
            continue
        event, member = line.event, line.member or ""
        if isinstance(event, MemberJoined | MemberRejoined | MemberReplaced):
            allowed[member] = event.rebalance_timeout_ms
        elif isinstance(event, RequestRefused):
            if event.api == "heartbeat" and _TOLD in event.errors and member in allowed:
                told.setdefault(member, line)
        elif isinstance(event, RequestSeen):
            if event.api == "join_group":
                for name in [
                    name
                    for name, news in told.items()
                    if name == member or news.event.peer == event.peer
                ]:
                    yield Return(name, told.pop(name), line, allowed[name])
        elif isinstance(event, MemberRemoved | ConsumerMemberRemoved):
            if event.reason in _TOO_LATE:
                yield TimedOut(member, line)
        elif isinstance(event, GroupLoaded):  # its coordinator was away
            told.clear()


@dataclass(slots=True)
class Departure:
    """A member that left by its own request, through the address `peer`. `back`: that address
    asked to join later. `began_ms`: instant of the group's first line since its start.
    `session_ms`: its session timeout."""

    member: str
    at: Line
    peer: str
    allowed_ms: int | None
    began_ms: int
    session_ms: int | None = None
    back: bool = False


def departures(
    lines: Iterable[Line], group: str, running: Iterable[tuple[int, int]]
) -> list[Departure]:
    """Return the members of a group that left, in order, while its application ran. `running`:
    first and last line of each start."""
    began: dict[tuple[int, int], int] = {}
    spans = list(running)
    allowed: dict[str, tuple[int | None, int | None]] = {}
    asked: dict[int, str] = {}
    found: list[Departure] = []
    for line in lines:
        if line.group != group:
            continue
        event, seq, member = line.event, line.seq, line.member or ""
        now = next((span for span in spans if span[0] <= seq < span[1]), None)
        if now is not None:
            began.setdefault(now, line.at_ms)
        if isinstance(event, RequestSeen):
            if event.api in _ASKS:
                asked[seq] = event.peer
                for each in found:
                    each.back |= each.peer == event.peer and event.api != "leave_group"
        elif isinstance(event, MemberRemoved | ConsumerMemberRemoved):
            peer = None if line.cause is None else asked.get(line.cause)
            if event.reason == Removal.LEFT and now is not None and peer is not None:
                most, session = allowed.get(member, (None, None))
                found.append(Departure(member, line, peer, most, began[now], session))
        elif (timeouts := _timeouts(event)) is not None:
            allowed[member] = timeouts
    return found


def _timeouts(event: object) -> tuple[int, int | None] | None:
    """Return the rebalance timeout and the session timeout in an event; None if it has neither.
    Members of the consumer protocol have no session timeout of their own."""
    match event:
        case MemberJoined() | MemberRejoined() | MemberReplaced():
            return event.rebalance_timeout_ms, event.session_timeout_ms
        case ConsumerMemberSubscribed():
            return event.rebalance_timeout_ms, None
        case ConsumerMemberReplaced():
            return event.subscription.rebalance_timeout_ms, None
        case _:
            return None
