"""Number of partitions that change owners in the groups of a log.

Owns the last owner of each partition, as the coordinator gave it: by each GenerationStored of a
classic group and by each TargetAssigned of a consumer group (KIP-848). A partition has *moved* if
it is given to another member id than the last one that had it; a static member that came back under
a new id is the same owner. It has *moved between processes* if it is given to another client id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from coordinator.events.groups import GenerationStored, MemberReplaced
from coordinator.events.groups.consumer import (
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    TargetAssigned,
    TopicPartitions,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

from ..blobs import assignment

Place = tuple[str, int]
Given = tuple[str, str | None, Iterable[Place]]
"""A member id, its client id, and its partitions."""


class Moved(NamedTuple):
    """Numbers of moved partitions, by member id and by client id."""

    by_member: int = 0
    between_processes: int = 0

    def plus(self, other: Moved) -> Moved:
        """Return the sum of both."""
        return Moved(
            self.by_member + other.by_member, self.between_processes + other.between_processes
        )


NOTHING: Final = Moved()


class Moves(Reader):
    """All groups of a log: call `see` for lines of stream `group`. `last`: the moves of the
    latest line."""

    def __init__(self) -> None:
        self.last = NOTHING
        self._groups: dict[str, GroupMoves] = {}

    def see(self, line: Line) -> Moved:
        """Handle a line; return its moves."""
        self.last = NOTHING
        super().see(line)
        return self.last

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self.last = self._group(line).stored(event)

    @on(TargetAssigned)
    def _assigned(self, line: Line, event: TargetAssigned) -> None:
        self.last = self._group(line).assigned(event)

    @on(MemberReplaced, ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        self._group(line).replaced(event)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        self._group(line).subscribed(event)

    def _group(self, line: Line) -> GroupMoves:
        name = line.group or ""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = GroupMoves()
        return group


class GroupMoves:
    """Owners in one group.

    A stored generation has all members, and most of them own what they owned before; only the
    others are looked at. That is right as long as no partition is given to two members at once.
    If one is, the last of them in the record owns it, and all members are looked at in order.
    """

    def __init__(self) -> None:
        self._owner: dict[Place, str] = {}
        self._of: dict[str, dict[Place, None]] = {}
        """Partitions by owner."""
        self._process: dict[Place, str | None] = {}
        """The client id of the last owner."""
        self._clients: dict[str, str] = {}
        """Client ids of members of a consumer group."""
        self._rows: dict[str, tuple[bytes, str | None]] = {}
        """Each member's part of the last generation, as in the log, and its client id."""
        self._apart = True
        """The last generation gave no partition to two members."""

    def stored(self, event: GenerationStored) -> Moved:
        """Handle a stored generation; return its moves."""
        if event.protocol_type != "consumer":
            return NOTHING
        rows, before = event.members, self._rows
        now: dict[str, tuple[bytes, str | None]] = {
            row.member_id: (row.assignment, row.client_id) for row in rows
        }
        changed = (
            [member for member, row in now.items() if before.get(member) != row]
            if self._apart
            else list(now)
        )
        if len(changed) < len(rows) and self._met(changed, now):
            changed = list(now)
        self._rows = now
        return self._give((member, now[member][1], _places(now[member][0])) for member in changed)

    def assigned(self, event: TargetAssigned) -> Moved:
        """Handle the targets that changed; return their moves."""
        self._rows, apart = {}, self._apart
        moved = self._give(
            (each.member_id, self._clients.get(each.member_id), _of_topics(each.topics))
            for each in event.targets
        )
        self._apart = apart
        return moved

    def subscribed(self, event: ConsumerMemberSubscribed) -> None:
        """Note a member's client id."""
        self._clients[event.member_id] = event.client_id

    def replaced(self, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        """Note the new id of the same static member."""
        old, new = event.replaced, event.member_id
        for place in self._of.pop(old, ()):
            self._owner[place] = new
            self._of.setdefault(new, {})[place] = None
        if old in self._rows:
            self._rows[new] = self._rows.pop(old)
        if isinstance(event, ConsumerMemberReplaced):
            self._clients.pop(old, None)
            self._clients[new] = event.subscription.client_id

    def _met(self, changed: Iterable[str], now: Mapping[str, tuple[bytes, str | None]]) -> bool:
        """Return True if one of these members has a partition that another member still has by
        its own row."""
        for member in changed:
            for topic, number in _places(now[member][0]):
                owner = self._owner.get((topic, number), member)
                if owner != member and owner in now:
                    if number in (assignment(now[owner][0]) or {}).get(topic, ()):
                        return True
        return False

    def _give(self, given: Iterable[Given]) -> Moved:
        moved, between, owners, of, process = 0, 0, self._owner, self._of, self._process
        seen: set[Place] = set()
        count = 0
        for member, client, places in given:
            for place in places:
                count += 1
                seen.add(place)
                owner = owners.get(place)
                if owner != member:
                    if owner is not None:
                        moved += 1
                        self._take(owner, place)
                    owners[place] = member
                    of.setdefault(member, {})[place] = None
                if process.setdefault(place, client) != client:
                    between += 1
                    process[place] = client
        self._apart = len(seen) == count
        return Moved(moved, between)

    def _take(self, owner: str, place: Place) -> None:
        places = self._of[owner]
        del places[place]
        if not places:
            del self._of[owner]


def _places(data: bytes) -> list[Place]:
    return [
        (topic, number) for topic, numbers in (assignment(data) or {}).items() for number in numbers
    ]


def _of_topics(rows: Iterable[TopicPartitions]) -> Iterator[Place]:
    return ((row.topic, number) for row in rows for number in row.partitions)
