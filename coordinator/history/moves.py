"""How many partitions change hands in the groups of a log.

Owns the last owner of each partition, as the coordinator gave it: by each GenerationStored of a
classic group and by each TargetAssigned of a consumer group (KIP-848). A partition has *moved* if
it is given to another member id than the last one that had it; a static member that came back under
a new id is the same owner. It has *moved between processes* if it is given to another client id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .blobs import assignment

Line = dict[str, Any]
Place = tuple[str, int]
Given = tuple[str, str | None, Iterable[Place]]
"""A member id, its client id, and what it is given."""


class Moved(NamedTuple):
    """So many partitions, by member id and by client id."""

    by_member: int = 0
    between_processes: int = 0

    def plus(self, other: Moved) -> Moved:
        """Both together."""
        return Moved(
            self.by_member + other.by_member, self.between_processes + other.between_processes
        )


NOTHING: Final = Moved()


class Moves:
    """All groups of a log. `last`: what moved with the line that was seen last."""

    def __init__(self) -> None:
        self.last = NOTHING
        self._groups: dict[str, GroupMoves] = {}

    def see(self, line: Line) -> Moved:
        """A line of stream `group`; what moved with it."""
        follow = _FOLLOWS.get(line["type"])
        if follow is None:
            self.last = NOTHING
            return NOTHING
        group = self._groups.get(line["group"])
        if group is None:
            group = self._groups[line["group"]] = GroupMoves()
        self.last = follow(group, line) or NOTHING
        return self.last


class GroupMoves:
    """One group.

    A stored generation has all members, and most of them as the one before had them: only the
    others are looked at. That is right as long as no partition is given to two members at once;
    where one is, the last of them in the record has it, and all are looked at in their order.
    """

    def __init__(self) -> None:
        self._owner: dict[Place, str] = {}
        self._of: dict[str, dict[Place, None]] = {}
        """The same by owner."""
        self._process: dict[Place, str | None] = {}
        """The client id of the last owner."""
        self._clients: dict[str, str] = {}
        """Client ids of members of a consumer group."""
        self._rows: dict[str, tuple[str, str | None]] = {}
        """Each member's part of the last generation, as the log has it, and its client id."""
        self._apart = True
        """True if it gave no partition to two of them."""

    def stored(self, line: Line) -> Moved:
        """A GenerationStored."""
        if line["protocol_type"] != "consumer":
            return NOTHING
        rows, before = line["members"], self._rows
        now = {row["member_id"]: (row["assignment"], row.get("client_id")) for row in rows}
        changed = (
            [member for member, row in now.items() if before.get(member) != row]
            if self._apart
            else list(now)
        )
        if len(changed) < len(rows) and self._met(changed, now):
            changed = list(now)
        self._rows = now
        return self._give((member, now[member][1], _places(now[member][0])) for member in changed)

    def assigned(self, line: Line) -> Moved:
        """A TargetAssigned: it has those members whose target changes."""
        self._rows, apart = {}, self._apart
        moved = self._give(
            (row["member_id"], self._clients.get(row["member_id"]), _of_topics(row["topics"]))
            for row in line["targets"]
        )
        self._apart = apart
        return moved

    def subscribed(self, line: Line) -> None:
        """A ConsumerMemberSubscribed."""
        self._clients[line["member"]] = line["client_id"]

    def replaced(self, line: Line) -> None:
        """The same static member under a new id."""
        old: str = line["replaced"]
        new: str = line["member"]
        for place in self._of.pop(old, ()):
            self._owner[place] = new
            self._of.setdefault(new, {})[place] = None
        if old in self._rows:
            self._rows[new] = self._rows.pop(old)
        if "subscription" in line:
            self._clients.pop(old, None)
            self._clients[new] = line["subscription"]["client_id"]

    def _met(self, changed: Iterable[str], now: Mapping[str, tuple[str, str | None]]) -> bool:
        """True if one of these has a partition that another member still has by its own row."""
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


def _places(text: str) -> list[Place]:
    return [
        (topic, number) for topic, numbers in (assignment(text) or {}).items() for number in numbers
    ]


def _of_topics(rows: Iterable[Mapping[str, Any]]) -> Iterator[Place]:
    return ((row["topic"], number) for row in rows for number in row["partitions"])


_FOLLOWS: Final = {
    "GenerationStored": GroupMoves.stored,
    "TargetAssigned": GroupMoves.assigned,
    "MemberReplaced": GroupMoves.replaced,
    "ConsumerMemberReplaced": GroupMoves.replaced,
    "ConsumerMemberSubscribed": GroupMoves.subscribed,
}
