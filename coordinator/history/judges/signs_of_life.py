"""Last certain sign of life of each member, by the events of its group. Successful heartbeats are
not logged, so a member may have been alive later.

Owns no promise.
"""

from __future__ import annotations

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    GenerationStarted,
    GroupEmptied,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    MembershipReset,
)
from coordinator.events.groups.offsets import OffsetsCommitted
from coordinator.events.groups.share import (
    ShareMemberReconciled,
    ShareMemberRemoved,
    ShareMemberSubscribed,
)
from coordinator.events.handlers import Reader, on

from ..world.groups.consumer_groups import LEFT_FOR_NOW
from .base import Line


class SignsOfLife(Reader):
    """Signs of life of the members of all groups."""

    def __init__(self) -> None:
        self._all: dict[str, int] = {}
        self._one: dict[str, dict[str, int]] = {}
        self._consumers: set[str] = set()

    @on(
        MemberRejoined,
        ConsumerMemberSubscribed,
        ConsumerMemberReplaced,
        ShareMemberSubscribed,
        ShareMemberReconciled,
    )
    def _heard_of(self, line: Line, _: object) -> None:
        if line.member:
            self._one.setdefault(line.group or "", {})[line.member] = line.at_ms

    @on(MemberSynced, MemberReplaced)
    def _waits(self, line: Line, event: MemberSynced | MemberReplaced) -> None:
        if event.parked:  # a SyncGroup that is answered at once leaves the session alone (SYNC-2)
            self._heard_of(line, event)

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: ConsumerMemberReconciled) -> None:
        if event.member_epoch != LEFT_FOR_NOW:
            self._heard_of(line, event)

    @on(OffsetsCommitted)
    def _committed(self, line: Line, event: OffsetsCommitted) -> None:
        if line.group not in self._consumers:
            self._heard_of(line, event)

    @on(GenerationStarted, GroupLoaded)
    def _of_all(self, line: Line, _: GenerationStarted | GroupLoaded) -> None:
        """Begin the sessions of all members again (SES-2, ERR-7)."""
        group = line.group or ""
        self._all[group] = line.at_ms
        self._one.pop(group, None)

    @on(MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved)
    def _gone(
        self, line: Line, event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved
    ) -> None:
        self._one.get(line.group or "", {}).pop(event.member_id, None)

    @on(GroupDeleted, GroupUnloaded, GroupEmptied, MembershipReset)
    def _ended(
        self, line: Line, event: GroupDeleted | GroupUnloaded | GroupEmptied | MembershipReset
    ) -> None:
        group = line.group or ""
        self._all.pop(group, None)
        self._one.pop(group, None)
        if isinstance(event, GroupDeleted | MembershipReset):
            self._consumers.discard(group)

    @on(ConsumerGroupCreated, ConsumerGroupUpgraded)
    def _of_consumers(self, line: Line, _: ConsumerGroupCreated | ConsumerGroupUpgraded) -> None:
        self._consumers.add(line.group or "")

    @on(ConsumerGroupDowngraded)
    def _classic_again(self, line: Line, _: ConsumerGroupDowngraded) -> None:
        self._consumers.discard(line.group or "")

    def of(self, group: str, member: str) -> int | None:
        """Return the instant of a member's last certain sign of life; None if the log has none."""
        found = self._one.get(group, {}).get(member)
        of_all = self._all.get(group)
        return found if of_all is None or (found is not None and found > of_all) else of_all
