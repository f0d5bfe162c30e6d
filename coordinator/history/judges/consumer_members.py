"""Judges members of consumer groups (KIP-848): each change of a subscription makes a new group
epoch, and a static member that leaves temporarily stays a member.

`generations` judges that epochs only grow.
"""

from __future__ import annotations

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    GroupEpochBumped,
    MembershipReset,
    Removal,
    TargetAssigned,
)
from coordinator.events.handlers import on
from coordinator.events.members import MemberClosing
from coordinator.events.wire import RequestSeen

from .base import Judge, Line

_Topics = frozenset[str] | None
"""A member's subscribed topics, or None if it subscribes by pattern or its topics are unknown."""


class _Group:
    """Known facts of a consumer group."""

    __slots__ = ("due", "topics", "upgraded", "whole")

    def __init__(self, *, whole: bool) -> None:
        self.topics: dict[str, _Topics] = {}
        self.whole = whole
        """All members are known, so any other member is new."""
        self.upgraded: set[str] = set()
        """Members that were taken over from a classic group and have not subscribed yet."""
        self.due: tuple[Line, str] | None = None
        """A change for which no group epoch has come yet."""


class ChangesBumpEpochs(Judge):
    """Judges that each change of members and their subscriptions makes a new group epoch."""

    name = "changes_bump_epochs"
    promise = (
        "the group epoch of a consumer group rises in the same instant in which a member with a subscription joins, a member "
        "changes its topics, or a member is removed (K8-HB-1, K8-LV-1), so that a new target assignment is due. Members of a "
        "classic group that is upgraded do not raise it: the generation becomes the group epoch (K8-MIG-1)"
    )
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._groups: dict[str, _Group] = {}

    def _of(self, line: Line) -> _Group:
        name = line.group or ""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = _Group(whole=False)
        if group.due is not None and line.at_ms > group.due[0].at_ms:
            changed, what = group.due
            group.due = None
            self.blame(changed, f"{what} group {name}, but its group epoch did not rise")
        return group

    @on(ConsumerGroupCreated)
    def _created(self, line: Line, _: ConsumerGroupCreated) -> None:
        self._of(line)
        self._groups[line.group or ""] = _Group(whole=True)

    @on(ConsumerGroupUpgraded)
    def _upgraded(self, line: Line, event: ConsumerGroupUpgraded) -> None:
        self._of(line)
        group = self._groups[line.group or ""] = _Group(whole=True)
        group.upgraded = set(event.members)

    @on(GroupLoaded, GroupUnloaded, GroupDeleted, MembershipReset)
    def _begins_anew(
        self, line: Line, _: GroupLoaded | GroupUnloaded | GroupDeleted | MembershipReset
    ) -> None:
        self._groups.pop(line.group or "", None)

    @on(ConsumerGroupDowngraded)
    def _downgraded(self, line: Line, _: ConsumerGroupDowngraded) -> None:
        self._groups.pop(line.group or "", None)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        group, member = self._of(line), event.member_id
        is_known = member in group.topics or group.whole
        before = group.topics.get(member, frozenset())
        now = group.topics[member] = _topics(event)
        if member in group.upgraded:
            group.upgraded.discard(member)
        elif is_known and before is not None and now is not None and now != before:
            group.due = line, f"{member} changed its topics in"

    @on(ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        group = self._of(line)
        group.topics.pop(event.replaced, None)
        group.topics[event.member_id] = _topics(event.subscription)

    @on(ConsumerMemberRemoved)
    def _removed(self, line: Line, event: ConsumerMemberRemoved) -> None:
        group = self._of(line)
        group.topics.pop(event.member_id, None)
        group.due = line, f"{event.member_id} was removed from"

    @on(GroupEpochBumped)
    def _bumped(self, line: Line, _: GroupEpochBumped) -> None:
        self._of(line).due = None

    @on(ConsumerMemberReconciled, TargetAssigned)
    def _goes_on(self, line: Line, _: ConsumerMemberReconciled | TargetAssigned) -> None:
        self._of(line)


def _topics(said: ConsumerMemberSubscribed) -> _Topics:
    return None if said.topic_regex or said.classic is not None else frozenset(said.topics)


class StaticMembersMayReturn(Judge):
    """Judges that a static member which closes stays a member until its session is over."""

    name = "static_members_may_return"
    promise = (
        "a static member of a consumer group that closes sends epoch -2 and remains a member until its session ends or its "
        "successor replaces it (K8-LV-2), unless an administrator removes it"
    )
    needs = frozenset({"group", "member", "wire"})
    unasked = True

    def __init__(self) -> None:
        super().__init__()
        self._static: set[tuple[str, str]] = set()
        self._closing: set[tuple[str, str]] = set()
        self._asked: set[int] = set()
        """Lines of LeaveGroup requests, which only administrators send here, and of their
        consequences."""

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        whose = line.group or "", event.member_id
        if event.group_instance_id is not None and event.classic is None:
            self._static.add(whose)
        else:
            self._static.discard(whose)

    @on(ConsumerMemberReplaced)
    def _replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        self._subscribed(line, event.subscription._replace(member_id=event.member_id))

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        if event.api == "leave_group":
            self._asked.add(line.seq)

    @on(MemberClosing)
    def _closes(self, line: Line, _: MemberClosing) -> None:
        if line.member:
            self._closing.add((line.group or "", line.member))

    @on(ConsumerMemberRemoved)
    def _removed(self, line: Line, event: ConsumerMemberRemoved) -> None:
        whose = line.group or "", event.member_id
        if line.cause in self._asked:
            self._asked.add(line.seq)
        elif event.reason == Removal.LEFT and whose in self._static & self._closing:
            self.blame(
                line,
                f"{event.member_id} of group {line.group}, a static member whose process closes, is removed immediately",
            )
