"""Consumption in one group: which member consumes which partitions, which members stand still and
for how long, and for how long a partition has no owner.

If a member logs its callbacks (stream `member`), these decide. For other members the instants are
inferred from requests and responses:

* An eager member stops consuming before it sends JoinGroup (onPartitionsRevoked), and goes on when
its SyncGroup is answered, even with the same partitions.
* A cooperative member goes on with the partitions that it keeps. When its SyncGroup is answered, it
gives up those that it lost and begins with those that it gained.
* A removed member counts as owner until its removal, or until its connection closed if it sent
nothing after that. If it was silent before, it may have stopped at any instant since its last sign
of life; that time is counted apart (`Unowned.at_most_ms`).

Each partition is touched once for each assignment, JoinGroup or removal that names it, so the
work is linear in the log. This module reads views alone; it must not know lines.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from .blobs import Partitions, both, by_topic, joined, minus
from .views import MemberView, Pause, Unowned


class Since(NamedTuple):
    """The instant since which a partition certainly has no owner, and the earliest instant since
    which it may have had none."""

    surely_ms: int
    perhaps_ms: int


def gone_since(at_ms: int, silent_ms: int | None, closed_ms: int | None) -> Since:
    """Return since when a member that was removed at `at_ms` did nothing. `silent_ms`: its last
    sign of life, if it expired. `closed_ms`: when its connection closed, if it sent nothing
    after that."""
    if closed_ms is not None:
        return Since(closed_ms, closed_ms)
    return Since(at_ms, at_ms if silent_ms is None else silent_ms)


class Ownership:
    """The partitions of one group: their owners, and since when partitions without an owner have
    had none."""

    __slots__ = ("_owners", "_unowned_since")

    def __init__(self) -> None:
        self._owners: dict[str, dict[int, str]] = {}
        self._unowned_since: dict[str, dict[int, Since]] = {}

    # -- inferred from requests

    def joins(self, member: MemberView, at_ms: int) -> None:
        """Note a member's JoinGroup."""
        if member.tells:
            return
        if not member.cooperative:
            self._stop(member, member.held, at_ms, known=False)
        elif member.subscription is not None:
            owned = by_topic(member.subscription.owned_partitions)
            self._give_up(member, minus(member.held, owned), Since(at_ms, at_ms))

    def goes_on(self, member: MemberView, generation: int, at_ms: int, unowned: Unowned) -> None:
        """Note that a member's SyncGroup was answered with its assignment."""
        given = member.assignment or {}
        if member.tells or (member.held is given and member.pause is None):
            return
        self._give_up(member, minus(member.held, given), Since(at_ms, at_ms))
        self._take(member, given, at_ms, unowned)
        member.held, member.held_generation = given, generation
        self._end_pause(member, at_ms)

    def removed(self, member: MemberView, at_ms: int, since: Since) -> None:
        """Note that a member was removed or replaced. `since`: since when it did nothing."""
        self._give_up(member, member.held, since)
        if member.pause is not None:
            member.pause.removed = True
            self._end_pause(member, at_ms)

    # -- told by the member itself

    def told_given_up(self, member: MemberView, partitions: Partitions, at_ms: int) -> None:
        """Note a member's own line that these partitions were revoked or lost."""
        member.tells = True
        if not minus(member.held, partitions) and not member.cooperative:
            self._stop(member, member.held, at_ms, known=True)
        else:
            self._give_up(member, both(member.held, partitions), Since(at_ms, at_ms))

    def told_assigned(
        self,
        member: MemberView,
        partitions: Partitions,
        generation: int,
        at_ms: int,
        unowned: Unowned,
    ) -> None:
        """Note a member's own line that these partitions were assigned in addition."""
        member.tells = True
        self._take(member, partitions, at_ms, unowned)
        member.held, member.held_generation = joined(member.held, partitions), generation
        self._end_pause(member, at_ms)

    def told_ended(self, member: MemberView, at_ms: int) -> None:
        """Note that a member's process ended, even if the coordinator does not know it."""
        if member.tells:
            self._free(member, member.held, Since(at_ms, at_ms))

    # -- the group as a whole

    def keep_topics(self, topics: Collection[str]) -> None:
        """Forget partitions of topics that no member subscribes to."""
        for topic in [topic for topic in self._unowned_since if topic not in topics]:
            del self._unowned_since[topic]

    def clear(self) -> None:
        """Note that the group has no members."""
        self._owners.clear()
        self._unowned_since.clear()

    # -- parts

    def _stop(self, member: MemberView, partitions: Partitions, at_ms: int, *, known: bool) -> None:
        if member.pause is None and partitions:
            member.pause = Pause(
                member.name, partitions, at_ms, known=known, learned_ms=member.learned_ms
            )
        self._give_up(member, partitions, Since(at_ms, at_ms))

    @staticmethod
    def _end_pause(member: MemberView, at_ms: int) -> None:
        if member.pause is not None:
            member.pause.to_ms, member.pause = at_ms, None

    def _give_up(self, member: MemberView, partitions: Partitions, since: Since) -> None:
        self._free(member, partitions, since)
        if partitions:
            member.held = {} if partitions is member.held else minus(member.held, partitions)

    def _free(self, member: MemberView, partitions: Partitions, since: Since) -> None:
        for topic, numbers in partitions.items():
            owners, unowned = (
                self._owners.setdefault(topic, {}),
                self._unowned_since.setdefault(topic, {}),
            )
            for number in numbers:
                if owners.get(number) == member.member_id:
                    del owners[number]
                    unowned[number] = since

    def _take(
        self, member: MemberView, partitions: Partitions, at_ms: int, unowned: Unowned
    ) -> None:
        for topic, numbers in partitions.items():
            owners, since = self._owners.setdefault(topic, {}), self._unowned_since.get(topic, {})
            for number in numbers:
                owners[number] = member.member_id
                if number in since:
                    _count(unowned, topic, number, since.pop(number), at_ms)


def _count(unowned: Unowned, topic: str, number: int, since: Since, at_ms: int) -> None:
    length_ms = at_ms - since.surely_ms
    unowned.at_most_ms += max(0, at_ms - since.perhaps_ms)
    if length_ms > 0:
        unowned.partition_ms += length_ms
        unowned.longest_ms = max(unowned.longest_ms, length_ms)
        unowned.partitions.setdefault(topic, set()).add(number)
