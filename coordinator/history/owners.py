"""Who had which partition from when to when: as the coordinator gave it, and as the members' own
listeners were told.

A stored generation (or a reconciled member of a consumer group) gives partitions; a removal, the
next generation or the end of the group takes them. By its own word a member has a partition from
its listener's `PartitionsAssigned` to its `PartitionsRevoked`, `PartitionsLost`, or the end of its
process. Blobs that are no consumer's assignment give nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..event_log.reader import Line
from .blobs import assignment

_EMPTIES = frozenset(
    {
        "GroupEmptied",
        "GroupDeleted",
        "ConsumerGroupUpgraded",
        "ConsumerGroupDowngraded",
        "MembershipReset",
    }
)
PROCESS_ENDED = frozenset({"MemberCrashed", "MemberClosed", "MemberFailed"})
"""After these lines of stream `member` an application has nothing any more."""
Place = tuple[str, int]


class Held(NamedTuple):
    """Since when a member has a partition."""

    member: str
    generation: int | None
    seq: int
    at_ms: int


Ended = Callable[[str, Place, Held, Line | None], None]
"""Group, partition, and what was known of its owner; the line that ended it, or None for what is
held at the end."""


class _Owned:
    """The partitions of a group in one view, also by owner; those of an owner in the order in which
    it was given them."""

    def __init__(self) -> None:
        self.held: dict[Place, Held] = {}
        self._of: dict[str, dict[Place, None]] = {}

    def give(self, place: Place, one: Held) -> None:
        """A partition that nobody has."""
        self.held[place] = one
        self._of.setdefault(one.member, {})[place] = None

    def take(self, place: Place) -> Held:
        """A partition that somebody has, and what was known of that."""
        one = self.held.pop(place)
        del self._of[one.member][place]
        return one

    def of(self, member: str) -> list[Place]:
        """A member's partitions."""
        return list(self._of.get(member, ()))


class Told:
    """Who has which partition by the members' own word: `ended` is told of each time that is over,
    and at the end of the others."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._groups: dict[str, _Owned] = {}
        self._ids: dict[tuple[str, str], set[str]] = {}
        """Member ids under which a client of a group was told of partitions."""

    def see(self, line: Line) -> None:
        """A line of stream `member`."""
        kind, group = line["type"], line.get("group", "")
        owned = self._groups.get(group)
        if owned is None:
            owned = self._groups[group] = _Owned()
        held = owned.held
        client = (group, line.get("client", ""))
        if kind == "PartitionsAssigned":
            member = line.get("member", "")
            self._ids.setdefault(client, set()).add(member)
            for row in line["partitions"]:
                place = (row["topic"], row["partition"])
                if (
                    place in held and held[place].member != member
                ):  # its former owner has not said yet that it lost it
                    self._take(line, owned, [place])
                if place not in held:
                    owned.give(
                        place, Held(member, line.get("generation"), line["seq"], line["at_ms"])
                    )
        elif kind in ("PartitionsRevoked", "PartitionsLost"):
            gone = [(row["topic"], row["partition"]) for row in line["partitions"]]
            ids = self._ids.get(client, set())
            self._take(
                line,
                owned,
                [place for place in gone if place in held and held[place].member in ids],
            )
        elif kind in PROCESS_ENDED:
            ids = self._ids.pop(client, set())
            self._take(line, owned, [place for member in sorted(ids) for place in owned.of(member)])

    def finish(self) -> None:
        """Partitions held at the end."""
        _all_held(self._groups, self._ended)

    def _take(self, line: Line, owned: _Owned, places: Iterable[Place]) -> None:
        for place in places:
            self._ended(line["group"], place, owned.take(place), line)


class Believed:
    """Who takes which partition for its own, by the word of its own listener: several at once, while
    one has not heard yet that it is another's by now. `ended` is told of each time that is over,
    and at the end of the others."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._held: dict[tuple[str, str], dict[Place, Held]] = {}
        """By group and client."""

    def see(self, line: Line) -> None:
        """A line of stream `member`."""
        kind, who = line["type"], (line.get("group", ""), line.get("client", ""))
        if kind == "PartitionsAssigned":
            held = self._held.setdefault(who, {})
            for row in line["partitions"]:
                place = row["topic"], row["partition"]
                self._end(held, place, line)
                held[place] = Held(
                    line.get("member", ""), line.get("generation"), line["seq"], line["at_ms"]
                )
        elif kind in ("PartitionsRevoked", "PartitionsLost"):
            for row in line["partitions"]:
                self._end(self._held.get(who, {}), (row["topic"], row["partition"]), line)
        elif kind in PROCESS_ENDED:
            held = self._held.pop(who, {})
            for place in list(held):
                self._end(held, place, line)

    def held_by(self, group: str, client: str) -> frozenset[Place]:
        """The partitions that this client of the group takes for its own now."""
        return frozenset(self._held.get((group, client), ()))

    def finish(self) -> None:
        """Partitions held at the end."""
        for (group, _), held in self._held.items():
            for place, one in held.items():
                self._ended(group, place, one, None)

    def _end(self, held: dict[Place, Held], place: Place, line: Line) -> None:
        one = held.pop(place, None)
        if one is not None:
            self._ended(line["group"], place, one, line)


class Given:
    """Who has which partition as the coordinator gave it: `ended` is told of each time that is
    over, and at the end of the others."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._groups: dict[str, _Owned] = {}

    def see(self, line: Line) -> None:
        """A line of stream `group`."""
        kind, group = line["type"], line.get("group", "")
        owned = self._groups.get(group)
        if owned is None:
            owned = self._groups[group] = _Owned()
        if kind == "GenerationStored":
            self._stored(line, owned)
        elif kind in ("MemberRemoved", "ConsumerMemberRemoved"):
            self._take(line, owned, owned.of(line["member"]))
        elif kind in ("MemberReplaced", "ConsumerMemberReplaced"):
            for place in owned.of(line["replaced"]):
                self._give(line, owned, place, line["member"], owned.held[place].generation)
        elif kind == "ConsumerMemberReconciled":
            self._reconciled(line, owned)
        elif kind in _EMPTIES:
            self._take(line, owned, list(owned.held))

    def finish(self) -> None:
        """Partitions held at the end."""
        _all_held(self._groups, self._ended)

    def _stored(self, line: Line, owned: _Owned) -> None:
        held = owned.held
        given: dict[Place, str] = {}
        if line["protocol_type"] == "consumer":
            for row in line["members"]:
                given.update(
                    dict.fromkeys(
                        _places((assignment(row["assignment"]) or {}).items()), row["member_id"]
                    )
                )
        self._take(line, owned, [place for place in held if place not in given])
        for place, member in given.items():
            if place not in held or held[place].member != member:
                self._give(line, owned, place, member, line["generation"])

    def _reconciled(self, line: Line, owned: _Owned) -> None:
        held, member = owned.held, line["member"]
        has = {
            (row["topic"], number)
            for rows in (line["held"], line["revoking"])
            for row in rows
            for number in row["partitions"]
        }
        self._take(line, owned, [place for place in owned.of(member) if place not in has])
        for place in sorted(has):
            if place not in held or held[place].member != member:
                self._give(line, owned, place, member, line["member_epoch"])

    def _give(
        self, line: Line, owned: _Owned, place: Place, member: str, generation: int | None
    ) -> None:
        self._take(line, owned, [place] if place in owned.held else [])
        owned.give(place, Held(member, generation, line["seq"], line["at_ms"]))

    def _take(self, line: Line, owned: _Owned, places: Iterable[Place]) -> None:
        for place in places:
            self._ended(line["group"], place, owned.take(place), line)


def _all_held(groups: Mapping[str, _Owned], ended: Ended) -> None:
    for group, owned in groups.items():
        for place, one in owned.held.items():
            ended(group, place, one, None)


def _places(by_topic: Iterable[tuple[str, Iterable[int]]]) -> Iterable[Place]:
    return ((topic, number) for topic, numbers in by_topic for number in numbers)
