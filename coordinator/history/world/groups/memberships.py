"""Memberships: for each member id when it joined a group, when and why it left, and which member
replaced it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from coordinator.events.groups import (
    GenerationStored,
    GroupCreated,
    GroupDeleted,
    GroupLoaded,
    MemberJoined,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    OffsetsCommitted,
    OffsetsPending,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupDowngraded,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

REPLACED: Final = "replaced"
"""The reason of a membership that ended because another member replaced it."""


class Membership(NamedTuple):
    """One member id of a group from joining to leaving; the fields about leaving are None if it has
    not left.

    `protocol`: classic, consumer or share. `reason`: the reason of its removal, or `REPLACED`, by
    `successor`.
    """

    group: str
    member: str
    protocol: str
    client_id: str | None
    client_host: str | None
    group_instance_id: str | None
    joined_seq: int
    joined_ms: int
    left_seq: int | None
    left_ms: int | None
    reason: str | None
    successor: str | None
    rejoins: int
    commits: int


def memberships(lines: Iterable[Line], group: str) -> list[Membership]:
    """Return all memberships of a group, in the order of their beginning, including those that
    last."""
    found: list[Membership] = []
    fold = Memberships(found.append)
    for line in lines:
        if line.group == group:
            fold.see(line)
    fold.finish()
    return sorted(found, key=lambda each: each.joined_seq)


class _About(NamedTuple):
    """Facts that a member states about itself; None where the log does not have them."""

    client_id: str | None
    client_host: str | None
    instance: str | None


class _Member:
    __slots__ = ("about", "commits", "joined", "protocol", "rejoins")

    def __init__(self, protocol: str, joined: Line, about: _About) -> None:
        self.protocol = protocol
        self.joined = (joined.seq, joined.at_ms)
        self.about = about
        self.rejoins = 0
        self.commits = 0


class Memberships(Reader):
    """The members of all groups: call `see` for lines of the stream `group`. `ended` is called
    with each membership when it ends and, at the end of the log, with the others. When a
    coordinator loads a group, memberships that it did not store end."""

    def __init__(self, ended: Callable[[Membership], object]) -> None:
        self._ended = ended
        self._groups: dict[str, dict[str, _Member]] = {}
        self._stored: dict[str, set[str]] = {}

    def _there(self, line: Line) -> dict[str, _Member]:
        return self._groups.setdefault(line.group or "", {})

    @on(GroupCreated)
    def _created(self, line: Line, _: GroupCreated) -> None:
        self._there(line)

    @on(MemberJoined)
    def _joined(self, line: Line, event: MemberJoined) -> None:
        about = _About(event.client_id, event.client_host, event.group_instance_id)
        self._there(line)[event.member_id] = _Member("classic", line, about)

    @on(ConsumerMemberSubscribed, ShareMemberSubscribed)
    def _subscribed(
        self, line: Line, event: ConsumerMemberSubscribed | ShareMemberSubscribed
    ) -> None:
        there = self._there(line)
        if event.member_id not in there:
            there[event.member_id] = _Member(_protocol(event), line, _said(event))

    @on(MemberRejoined)
    def _rejoined(self, line: Line, event: MemberRejoined) -> None:
        member = self._there(line).get(event.member_id)
        if member is not None:
            member.rejoins += 1

    @on(MemberReplaced)
    def _replaced(self, line: Line, event: MemberReplaced) -> None:
        there = self._there(line)
        old = there.get(event.replaced)
        self._end(line, event.replaced, REPLACED, event.member_id)
        client = (None, None) if old is None else old.about[:2]
        about = _About(*client, event.group_instance_id)
        there[event.member_id] = _Member("classic", line, about)

    @on(ConsumerMemberReplaced)
    def _consumer_replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        self._end(line, event.replaced, REPLACED, event.member_id)
        about = _said(event.subscription)
        self._there(line)[event.member_id] = _Member("consumer", line, about)

    @on(MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved)
    def _removed(
        self, line: Line, event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved
    ) -> None:
        self._end(line, event.member_id, event.reason)

    @on(OffsetsCommitted, OffsetsPending)
    def _committed(self, line: Line, event: OffsetsCommitted | OffsetsPending) -> None:
        member = self._there(line).get(event.member_id)
        if member is not None:
            member.commits += 1

    @on(GenerationStored)
    def _generation(self, line: Line, event: GenerationStored) -> None:
        self._stored[line.group or ""] = {row.member_id for row in event.members}

    @on(GroupLoaded)
    def _loaded(self, line: Line, _: GroupLoaded) -> None:
        kept = self._stored.get(line.group or "", set())
        for member, one in list(self._there(line).items()):
            if kept and one.protocol == "classic" and member not in kept:
                self._end(line, member, "not in the stored group")

    @on(ConsumerGroupDowngraded)
    def _downgraded(self, line: Line, event: ConsumerGroupDowngraded) -> None:
        for member in event.left:
            self._end(line, member, event.reason)

    @on(GroupDeleted, MembershipReset)
    def _gone(self, line: Line, _: GroupDeleted | MembershipReset) -> None:
        for member in list(self._there(line)):
            self._end(line, member, line.name)

    def finish(self) -> None:
        """Report the memberships that last at the end of the log."""
        for group, there in self._groups.items():
            for member, one in there.items():
                self._tell(group, member, one, None, None, None)
        self._groups.clear()

    def _end(self, line: Line, member: str, reason: str, by: str | None = None) -> None:
        one = self._there(line).pop(member, None)
        if one is not None:
            self._tell(line.group or "", member, one, line, reason, by)

    def _tell(
        self,
        group: str,
        member: str,
        one: _Member,
        line: Line | None,
        reason: str | None,
        by: str | None,
    ) -> None:
        self._ended(
            Membership(
                group=group,
                member=member,
                protocol=one.protocol,
                client_id=one.about.client_id,
                client_host=one.about.client_host,
                group_instance_id=one.about.instance,
                joined_seq=one.joined[0],
                joined_ms=one.joined[1],
                left_seq=None if line is None else line.seq,
                left_ms=None if line is None else line.at_ms,
                reason=reason,
                successor=by,
                rejoins=one.rejoins,
                commits=one.commits,
            )
        )


def _protocol(event: ConsumerMemberSubscribed | ShareMemberSubscribed) -> str:
    if isinstance(event, ShareMemberSubscribed):
        return "share"
    return "consumer" if event.classic is None else "classic"


def _said(event: ConsumerMemberSubscribed | ShareMemberSubscribed) -> _About:
    if isinstance(event, ShareMemberSubscribed):  # a member of a share group is never static
        return _About(event.client_id, event.client_host, None)
    return _About(event.client_id, event.client_host, event.group_instance_id)
