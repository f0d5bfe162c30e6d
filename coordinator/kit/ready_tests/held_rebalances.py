"""Measures how long an application's members keep a rebalance waiting, in their listener or away
from their poll.

A member must give partitions back before other members get them. The time is measured

- for a classic member from the refused heartbeat that announces the rebalance to its JoinGroup;
- for a cooperative member also from the SyncGroup response that takes partitions away to the
JoinGroup that gives them back;
- for a member of a consumer group (KIP-848) from the response that takes partitions away to the
heartbeat that no longer names them. A client may wait for its next heartbeat, so one heartbeat
interval is not counted.

A time below the member's rebalance timeout is no mistake; `late_joins` has the finding for
longer ones. Reads plain lines of the event log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from coordinator.events.groups import GenerationStored, GroupLoaded, MemberRemoved
from coordinator.events.groups.consumer import ConsumerMemberReconciled, ConsumerMemberRemoved
from coordinator.events.wire import RequestAnswered, RequestSeen
from coordinator.history.world.blobs import assignment
from coordinator.history.world.processes.returns import Return, returns

from .findings import Line, TopicPartition, when

COOPERATIVE = "cooperative-sticky"


class Hold(NamedTuple):
    """A member's hold of a rebalance, from one line of the log to another."""

    member: str
    since: Line
    until: Line
    took_ms: int

    @property
    def text(self) -> str:
        """A sentence about the hold."""
        first, last = (when(line.seq, line.at_ms) for line in (self.since, self.until))
        return (
            f"{self.member} delayed a rebalance by {self.took_ms / 1000:.1f} s: it was informed{first}, "
            f"and revoked its partitions{last}; its listener, or its work between two polls, takes that long"
        )


def longest_hold(
    lines: Sequence[Line],
    group: str,
    others: Collection[str],
    excused: Iterable[tuple[int, int]] = (),
    *,
    heartbeat_ms: int,
) -> Hold | None:
    """Return the longest hold of a group's members, or None if there was none.

    `others`: members that are not judged: peers, and members that the test removed or let die.
    `excused`: ranges of lines in which the application was made to fail. `heartbeat_ms`:
    heartbeat interval of consumer groups.
    """
    spans = list(excused)
    mine = [line for line in lines if line.group == group]
    holds = [
        Hold(each.member, each.told, each.join, each.took_ms)
        for each in returns(mine, group)
        if isinstance(each, Return)
    ]
    holds += _cooperative(mine)
    holds += _reconciling(mine, heartbeat_ms)
    judged = [
        each
        for each in holds
        if each.member not in others
        and not any(first <= each.since.seq < end for first, end in spans)
    ]
    return max(judged, key=lambda each: each.took_ms, default=None)


def _cooperative(lines: Iterable[Line]) -> list[Hold]:
    found: list[Hold] = []
    has: dict[str, set[TopicPartition]] = {}
    loses: set[str] = set()
    told: dict[str, Line] = {}
    for line in lines:
        event, member = line.event, line.member or ""
        if isinstance(event, GenerationStored):
            given = {each.member_id: _places(each.assignment) for each in event.members}
            cooperative = event.protocol_name == COOPERATIVE
            loses = {name for name in given if cooperative and has.get(name, set()) - given[name]}
            has = given
            told.clear()
        elif isinstance(event, RequestAnswered):
            if event.api == "sync_group" and member in loses:
                told.setdefault(member, line)
        elif isinstance(event, RequestSeen):
            if event.api == "join_group" and member in told:
                since = told.pop(member)
                found.append(Hold(member, since, line, line.at_ms - since.at_ms))
        elif isinstance(event, MemberRemoved):
            told.pop(event.member_id, None)
        elif isinstance(event, GroupLoaded):  # its coordinator was away
            told.clear()
    return found


def _places(blob: bytes) -> set[TopicPartition]:
    given = assignment(blob) or {}
    return {(topic, index) for topic, indexes in given.items() for index in indexes}


def _reconciling(lines: Iterable[Line], heartbeat_ms: int) -> list[Hold]:
    found: list[Hold] = []
    told: dict[str, Line] = {}
    for line in lines:
        event = line.event
        if isinstance(event, ConsumerMemberReconciled):
            if event.revoking:
                told.setdefault(event.member_id, line)
            elif (since := told.pop(event.member_id, None)) is not None:
                took = max(line.at_ms - since.at_ms - heartbeat_ms, 0)
                found.append(Hold(event.member_id, since, line, took))
        elif isinstance(event, ConsumerMemberRemoved):
            told.pop(event.member_id, None)
        elif isinstance(event, GroupLoaded):
            told.clear()
    return found
