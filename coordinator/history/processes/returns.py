"""How late members came back to a rebalance: from the answer that told them of it to their JoinGroup,
beside the rebalance timeout that they had asked for, and those that were removed because they had
not come, or had not revoked, in time.

And members that left: a library whose application does not poll, or unsubscribes, keeps its
connection; who closes a consumer closes it.

A member is told by a refused heartbeat, after which a client joins at its next poll. A JoinGroup is
a member's by its member id, or by the connection on which it was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...event_log.reader import Line

_TOLD = "REBALANCE_IN_PROGRESS"
_TOO_LATE = ("did not rejoin in time", "did not revoke in time")
_REMOVED = ("MemberRemoved", "ConsumerMemberRemoved")
_ASKS = ("leave_group", "join_group", "consumer_group_heartbeat")


class Return(NamedTuple):
    """A member that was told of a rebalance, and its JoinGroup. `allowed_ms`: its rebalance
    timeout, which clients set to their max.poll.interval.ms."""

    member: str
    told: Line
    join: Line
    allowed_ms: int

    @property
    def took_ms(self) -> int:
        """From the refused heartbeat to the JoinGroup."""
        return int(self.join["at_ms"] - self.told["at_ms"])


class TimedOut(NamedTuple):
    """A member that was removed since it had not come back, or not revoked, in time."""

    member: str
    removal: Line


def returns(lines: Iterable[Line], group: str) -> Iterator[Return | TimedOut]:
    """Each return of a group's members, and each removal for one that did not come, in order."""
    allowed: dict[str, int] = {}
    told: dict[str, Line] = {}
    for line in lines:
        if line.get("group") != group:
            continue
        kind, member = line["type"], line.get("member") or ""
        if kind in ("MemberJoined", "MemberRejoined", "MemberReplaced"):
            allowed[member] = line["rebalance_timeout_ms"]
        elif (
            kind == "RequestRefused"
            and line.get("api") == "heartbeat"
            and _TOLD in line["errors"]
            and member in allowed
        ):
            told.setdefault(member, line)
        elif kind == "RequestSeen" and line["api"] == "join_group":
            for name in [
                name
                for name, news in told.items()
                if name == member or news["peer"] == line["peer"]
            ]:
                yield Return(name, told.pop(name), line, allowed[name])
        elif kind in _REMOVED and line["reason"] in _TOO_LATE:
            yield TimedOut(member, line)
        elif kind == "GroupLoaded":  # its coordinator was away
            told.clear()


@dataclass(slots=True)
class Departure:
    """A member that left by a request of its own, through the address `peer`. `back`: that address
    asked to join later; `began_ms`: the time of the group's first line since its start;
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
    """Those of a group, in order, while its application ran: from which line to which, of each
    start."""
    began: dict[tuple[int, int], int] = {}
    spans = list(running)
    allowed: dict[str, tuple[int | None, int | None]] = {}
    asked: dict[int, str] = {}
    found: list[Departure] = []
    for line in lines:
        if line.get("group") != group:
            continue
        kind, seq, member = line["type"], line["seq"], line.get("member") or ""
        now = next((span for span in spans if span[0] <= seq < span[1]), None)
        if now is not None:
            began.setdefault(now, line["at_ms"])
        if kind == "RequestSeen" and line["api"] in _ASKS and line.get("peer") is not None:
            asked[seq] = line["peer"]
            for each in found:
                each.back |= each.peer == line["peer"] and line["api"] != "leave_group"
        elif "rebalance_timeout_ms" in (about := line.get("subscription") or line):
            allowed[member] = about["rebalance_timeout_ms"], about.get("session_timeout_ms")
        elif kind in _REMOVED and line["reason"] == "left" and now is not None:
            if (peer := asked.get(line["cause"])) is not None:
                most, session = allowed.get(member, (None, None))
                found.append(Departure(member, line, peer, most, began[now], session))
    return found
