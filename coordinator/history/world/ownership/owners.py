"""Owners of partitions over time: as the coordinator assigned them, and as the members' own
rebalance listeners were called.

A stored generation (or a reconciled member of a consumer group) gives partitions; a removal, the
next generation or the end of the group takes them. By its own lines a member has a partition
from its listener's `PartitionsAssigned` to its `PartitionsRevoked`, `PartitionsLost`, or the end
of its process. Bytes that are not a consumer's assignment give nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from coordinator.events.groups import (
    GenerationStored,
    GroupCreated,
    GroupDeleted,
    GroupEmptied,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    MembershipReset,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line
from coordinator.events.members import (
    MemberClosed,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)

from ..blobs import assignment

PROCESS_ENDED = (MemberCrashed, MemberClosed, MemberFailed)
"""After these events an application owns nothing."""
Place = tuple[str, int]


class Held(NamedTuple):
    """The beginning of a member's ownership of a partition."""

    member: str
    generation: int | None
    seq: int
    at_ms: int
    epoch: int | None = None
    """Member epoch with which the member's listener was called; None in a classic group, and for
    what the coordinator assigned."""


class Owned(NamedTuple):
    """A time in which a member owned a partition. `view`: who says so: "coordinator" (`Given`),
    "member" (`Told`) or "listener" (`Believed`). `ended`: the line that ended it; None: it lasts at the
    end of the log."""

    view: str
    group: str
    place: Place
    began: Held
    ended: Line | None


Ended = Callable[[Owned], object]
"""Function that is called with each time of ownership."""


class _Partitions:
    """The partitions of a group with their owners, and the partitions of each owner in the order
    in which it got them."""

    def __init__(self) -> None:
        self.held: dict[Place, Held] = {}
        self._of: dict[str, dict[Place, None]] = {}

    def give(self, place: Place, one: Held) -> None:
        """Give a partition that has no owner to a member."""
        self.held[place] = one
        self._of.setdefault(one.member, {})[place] = None

    def take(self, place: Place) -> Held:
        """Take a partition from its owner and return what was known of it."""
        one = self.held.pop(place)
        del self._of[one.member][place]
        return one

    def of(self, member: str) -> list[Place]:
        """Return a member's partitions."""
        return list(self._of.get(member, ()))


class Told(Reader):
    """Owners by the members' own rebalance listeners: call `see` for lines of stream `member`.
    `ended` is called with each time of ownership when it is over and, at the end of the log,
    with the others."""

    view: Final = "member"

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._groups: dict[str, _Partitions] = {}
        self._ids: dict[tuple[str, str], set[str]] = {}
        """Member ids under which a client of a group got partitions."""

    @on(MemberStarted)
    def _started(self, line: Line, _: MemberStarted) -> None:
        self._owned(line)

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        owned, member = self._owned(line), line.member or ""
        held = owned.held
        self._ids.setdefault((line.group or "", event.client), set()).add(member)
        for place in event.partitions:
            # its former owner has not said yet that it lost it
            if place in held and held[place].member != member:
                self._take(line, owned, [place])
            if place not in held:
                owned.give(place, Held(member, line.generation, line.seq, line.at_ms))

    @on(PartitionsRevoked, PartitionsLost)
    def _given_up(self, line: Line, event: PartitionsRevoked | PartitionsLost) -> None:
        owned = self._owned(line)
        held, ids = owned.held, self._ids.get((line.group or "", event.client), set())
        gone = [each for each in event.partitions if each in held and held[each].member in ids]
        self._take(line, owned, gone)

    @on(*PROCESS_ENDED)
    def _process_ended(
        self, line: Line, event: MemberCrashed | MemberClosed | MemberFailed
    ) -> None:
        owned, ids = self._owned(line), self._ids.pop((line.group or "", event.client), set())
        self._take(line, owned, [place for member in sorted(ids) for place in owned.of(member)])

    def finish(self) -> None:
        """Report the partitions that have an owner at the end."""
        _all_held(self.view, self._groups, self._ended)

    def _owned(self, line: Line) -> _Partitions:
        return _of_group(self._groups, line)

    def _take(self, line: Line, owned: _Partitions, places: Iterable[Place]) -> None:
        for place in places:
            began = owned.take(place)
            self._ended(Owned(self.view, line.group or "", place, began, line))


class Believed(Reader):
    """Owners as each member believes, by its own rebalance listener: a partition may have
    several while one of them does not know yet that another one owns it. Call `see` for lines of
    stream `member`. `ended` is called with each time of ownership when it is over and, at the
    end of the log, with the others."""

    view: Final = "listener"

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._held: dict[tuple[str, str], dict[Place, Held]] = {}
        """By group and client."""

    @on(PartitionsAssigned)
    def _assigned(self, line: Line, event: PartitionsAssigned) -> None:
        held = self._held.setdefault((line.group or "", event.client), {})
        for place in event.partitions:
            self._end(held, place, line)
            held[place] = Held(
                line.member or "", line.generation, line.seq, line.at_ms, event.member_epoch
            )

    @on(PartitionsRevoked, PartitionsLost)
    def _given_up(self, line: Line, event: PartitionsRevoked | PartitionsLost) -> None:
        held = self._held.get((line.group or "", event.client), {})
        for place in event.partitions:
            self._end(held, place, line)

    @on(*PROCESS_ENDED)
    def _process_ended(
        self, line: Line, event: MemberCrashed | MemberClosed | MemberFailed
    ) -> None:
        self._let_go(line, event.client)

    def held_by(self, group: str, client: str) -> frozenset[Place]:
        """Return the partitions that this client believes to own now."""
        return frozenset(self._held.get((group, client), ()))

    def owners_of(self, group: str, place: Place) -> dict[str, Held]:
        """Return the clients of the group that take a partition for their own now."""
        return {
            client: held[place]
            for (other, client), held in self._held.items()
            if other == group and place in held
        }

    def finish(self) -> None:
        """Report the partitions that have an owner at the end."""
        for (group, _), held in self._held.items():
            for place, one in held.items():
                self._ended(Owned(self.view, group, place, one, None))

    def _let_go(self, line: Line, client: str) -> None:
        held = self._held.pop((line.group or "", client), {})
        for place in list(held):
            self._end(held, place, line)

    def _end(self, held: dict[Place, Held], place: Place, line: Line) -> None:
        one = held.pop(place, None)
        if one is not None:
            self._ended(Owned(self.view, line.group or "", place, one, line))


class Given(Reader):
    """Owners as the coordinator assigned them: call `see` for lines of stream `group`. `ended`
    is called with each time of ownership when it is over and, at the end of the log, with the
    others."""

    view: Final = "coordinator"

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._groups: dict[str, _Partitions] = {}

    @on(GroupCreated)
    def _created(self, line: Line, _: GroupCreated) -> None:
        self._owned(line)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        owned = self._owned(line)
        held = owned.held
        given: dict[Place, str] = {}
        if event.protocol_type == "consumer":
            for row in event.members:
                topics = (assignment(row.assignment) or {}).items()
                given.update(dict.fromkeys(_places(topics), row.member_id))
        self._take(line, owned, [place for place in held if place not in given])
        for place, member in given.items():
            if place not in held or held[place].member != member:
                self._give(line, owned, place, member, event.generation)

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: ConsumerMemberReconciled) -> None:
        owned, member = self._owned(line), event.member_id
        held = owned.held
        has = {
            (row.topic, number)
            for row in (*event.held, *event.revoking)
            for number in row.partitions
        }
        self._take(line, owned, [place for place in owned.of(member) if place not in has])
        for place in sorted(has):
            if place not in held or held[place].member != member:
                self._give(line, owned, place, member, event.member_epoch)

    @on(MemberRemoved, ConsumerMemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved | ConsumerMemberRemoved) -> None:
        owned = self._owned(line)
        self._take(line, owned, owned.of(event.member_id))

    @on(MemberReplaced, ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced | ConsumerMemberReplaced) -> None:
        owned = self._owned(line)
        for place in owned.of(event.replaced):
            self._give(line, owned, place, event.member_id, owned.held[place].generation)

    @on(
        GroupEmptied,
        GroupDeleted,
        ConsumerGroupUpgraded,
        ConsumerGroupDowngraded,
        MembershipReset,
    )
    def _emptied(self, line: Line, _: object) -> None:
        owned = self._owned(line)
        self._take(line, owned, list(owned.held))

    def finish(self) -> None:
        """Report the partitions that have an owner at the end."""
        _all_held(self.view, self._groups, self._ended)

    def _owned(self, line: Line) -> _Partitions:
        return _of_group(self._groups, line)

    def _give(
        self, line: Line, owned: _Partitions, place: Place, member: str, generation: int | None
    ) -> None:
        self._take(line, owned, [place] if place in owned.held else [])
        owned.give(place, Held(member, generation, line.seq, line.at_ms))

    def _take(self, line: Line, owned: _Partitions, places: Iterable[Place]) -> None:
        for place in places:
            began = owned.take(place)
            self._ended(Owned(self.view, line.group or "", place, began, line))


def _of_group(groups: dict[str, _Partitions], line: Line) -> _Partitions:
    name = line.group or ""
    owned = groups.get(name)
    if owned is None:
        owned = groups[name] = _Partitions()
    return owned


def _all_held(view: str, groups: Mapping[str, _Partitions], ended: Ended) -> None:
    for group, owned in groups.items():
        for place, one in owned.held.items():
            ended(Owned(view, group, place, one, None))


def _places(by_topic: Iterable[tuple[str, Iterable[int]]]) -> Iterable[Place]:
    return ((topic, number) for topic, numbers in by_topic for number in numbers)
