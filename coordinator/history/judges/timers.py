"""Timers that a log shows: join and sync phases, member ids that were handed out and not used,
revocations, transactions. For each: when it began, how long it lasts, and which event ends it.

This module has no judge; `timeouts` judges. Sessions are in `sessions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from coordinator.events.groups import GroupCreated, GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.classic import (
    AssignmentRejected,
    DelayExtended,
    GenerationStarted,
    GenerationStored,
    GroupEmptied,
    JoinPhaseExtended,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    PendingMemberRemoved,
    RebalanceStarted,
    Removal,
    StoredMember,
)
from coordinator.events.groups.consumer import (
    ConsumerGroupCreated,
    ConsumerGroupDowngraded,
    ConsumerGroupUpgraded,
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberReplaced,
    ConsumerMemberSubscribed,
    DowngradedMember,
)
from coordinator.events.handlers import Reader, on
from coordinator.events.transactions import (
    PartitionsEnlisted,
    ProducerInitialized,
    TransactionalIdDeleted,
    TransactionalIdExpired,
    TransactionPrepared,
)

from ..world.groups.consumer_groups import LEFT_FOR_NOW
from .base import NEVER, Line

_LEAST_EXTENSION_MS: Final = 100
_REVOKING: Final = "unrevoked partitions"
_EXPIRED: Final = frozenset({Removal.SESSION_EXPIRED, Removal.ENDED_BY_HAND, Removal.NEVER_JOINED})

JOIN: Final = "join phase"
SYNC: Final = "sync phase"
PENDING: Final = "time to join"
REVOCATION: Final = "time to revoke"
TRANSACTION: Final = "transaction"

Pair = tuple[str, str]
"""Group and member id."""
Key = tuple[str, str, str]
"""Identifies a timer: its kind, its group or transactional id, and its member ("" if it has
none)."""


class Due(NamedTuple):
    """A running timer: `line` began it, `timeout_ms` is its length. `exact`: it must fire at
    that instant, neither sooner nor later."""

    at_ms: int
    timeout_ms: int
    line: Line
    exact: bool = False


class Timers(Reader):
    """All timers of a log. `looks_ms`: interval at which coordinators check for transactions
    that are open too long."""

    def __init__(self, looks_ms: int) -> None:
        self.due: dict[Key, Due] = {}
        self.next_ms = NEVER
        """A lower bound of the instants at which a timer fires."""
        self.overdue: set[Key] = set()
        """Timers that should have fired and have not."""
        self.here: dict[str, set[str]] = {}
        """For each group, the members that wait for its next generation."""
        self.synced: dict[str, set[str]] = {}
        """For each group, the members that have synced in its generation. The sync timer goes on
        for the others when the generation is stored (SYNC-6)."""
        self.sync_ends: dict[str, int] = {}
        """For each group, the instant at which its sync timer fires."""
        self.known: set[str] = set()
        """Groups whose every step is in the log: created, loaded or begun again in it."""
        self.classic: dict[Pair, tuple[int, int]] = {}
        """Members of a consumer group that use the classic protocol: rebalance timeout, and last
        sign of life."""
        self._looks_ms = looks_ms
        self._timeouts: dict[str, dict[str, int]] = {}
        """The rebalance timeout of each member of a group."""
        self._rests: dict[str, tuple[int, int]] = {}
        """For each group with an initial delay: its present length, and by how much it may grow."""
        self._to_revoke: dict[str, dict[str, int]] = {}
        """For each consumer group, the members' rebalance timeouts, within which they must
        revoke."""
        self._transaction_ms: dict[str, int] = {}

    def expect(self, key: Key, timeout_ms: int, line: Line, *, exact: bool = False) -> None:
        """Start a timer at this line."""
        at_ms = line.at_ms + timeout_ms
        if key[0] == TRANSACTION:
            at_ms += self._looks_ms
        self.due[key] = Due(at_ms, timeout_ms, line, exact)
        self.overdue.discard(key)
        self.next_ms = min(self.next_ms, at_ms)

    @on(GroupCreated, ConsumerGroupCreated)
    def _created(self, line: Line, _: GroupCreated | ConsumerGroupCreated) -> None:
        self.known.add(line.group or "")

    @on(MemberPending)
    def _is_pending(self, line: Line, event: MemberPending) -> None:
        left_ms = event.deadline_ms - line.at_ms
        self.expect((PENDING, line.group or "", event.member_id), left_ms, line)

    @on(PendingMemberRemoved)
    def _pending_removed(self, line: Line, event: PendingMemberRemoved) -> None:
        self.due.pop((PENDING, line.group or "", event.member_id), None)
        self._cut_short(line.group or "", event.reason)

    @on(MemberJoined, MemberRejoined, MemberReplaced)
    def _joined(self, line: Line, event: MemberJoined | MemberRejoined | MemberReplaced) -> None:
        group, member = line.group or "", event.member_id
        here = self.here.setdefault(group, set())
        timeouts = self._timeouts.setdefault(group, {})
        if isinstance(event, MemberReplaced):
            here.discard(event.replaced)
            timeouts.pop(event.replaced, None)
        self.due.pop((PENDING, group, member), None)
        timeouts[member] = max(event.rebalance_timeout_ms, 0)
        if not isinstance(event, MemberReplaced) or event.parked:
            here.add(member)

    @on(MemberRemoved)
    def _removed(self, line: Line, event: MemberRemoved) -> None:
        group = line.group or ""
        self.here.setdefault(group, set()).discard(event.member_id)
        self._timeouts.get(group, {}).pop(event.member_id, None)
        self._cut_short(group, event.reason)

    def _cut_short(self, group: str, reason: str) -> None:
        """An expiry may end an initial delay (DLY-4)."""
        due = self.due.get((JOIN, group, ""))
        if due is not None and due.exact and reason in _EXPIRED:
            self.due[JOIN, group, ""] = due._replace(exact=False)

    def _longest_ms(self, group: str) -> int:
        return max(self._timeouts.setdefault(group, {}).values(), default=0)

    @on(RebalanceStarted)
    def _rebalances(self, line: Line, event: RebalanceStarted) -> None:
        group, delay_ms = line.group or "", event.delay_ms
        longest_ms = self._longest_ms(group)
        self.known.add(group)
        self.synced.pop(group, None)
        self.due.pop((SYNC, group, ""), None)
        if delay_ms is None:
            self.expect((JOIN, group, ""), longest_ms, line)
        else:
            self._rests[group] = delay_ms, max(longest_ms - delay_ms, 0)
            self.expect((JOIN, group, ""), delay_ms, line, exact=True)

    @on(DelayExtended)
    def _delayed(self, line: Line, event: DelayExtended) -> None:
        """An extended initial delay starts the timer again (DLY-2)."""
        group = line.group or ""
        before_ms, rest_ms = self._rests.get(group, (event.delay_ms, event.delay_ms))
        delay_ms = min(before_ms, rest_ms)
        self._rests[group] = delay_ms, max(rest_ms - before_ms, 0)
        self.expect((JOIN, group, ""), delay_ms, line, exact=True)

    @on(JoinPhaseExtended)
    def _extended(self, line: Line, _: JoinPhaseExtended) -> None:
        group = line.group or ""
        self.expect((JOIN, group, ""), max(self._longest_ms(group), _LEAST_EXTENSION_MS), line)

    @on(GenerationStarted)
    def _generation(self, line: Line, event: GenerationStarted) -> None:
        group = line.group or ""
        self.here[group] = set()
        self.synced[group] = set()
        before = self._timeouts.get(group, {})
        timeouts = {member: before.get(member, 0) for member in event.members}
        self._timeouts[group] = timeouts
        self.due.pop((JOIN, group, ""), None)
        longest_ms = max(timeouts.values(), default=0)
        self.sync_ends[group] = line.at_ms + longest_ms
        self.expect((SYNC, group, ""), longest_ms, line)

    @on(MemberSynced)
    def _synced(self, line: Line, event: MemberSynced) -> None:
        self.synced.setdefault(line.group or "", set()).add(event.member_id)

    @on(GenerationStored)
    def _stored(self, line: Line, event: GenerationStored) -> None:
        self._over(line.group or "")
        self._take_timeouts(line, event.members)

    @on(ConsumerGroupDowngraded)
    def _downgraded(self, line: Line, event: ConsumerGroupDowngraded) -> None:
        self._take_timeouts(line, event.members)

    def _take_timeouts(
        self, line: Line, members: Iterable[StoredMember | DowngradedMember]
    ) -> None:
        self._timeouts[line.group or ""] = {
            row.member_id: max(row.rebalance_timeout_ms, 0) for row in members
        }

    @on(GroupEmptied, ConsumerGroupUpgraded, AssignmentRejected)
    def _phase_ended(
        self, line: Line, _: GroupEmptied | ConsumerGroupUpgraded | AssignmentRejected
    ) -> None:
        self._over(line.group or "")
        self.synced.pop(line.group or "", None)

    def _over(self, group: str) -> None:
        """End the timers of a join or sync phase."""
        self.due.pop((JOIN, group, ""), None)
        self.due.pop((SYNC, group, ""), None)
        self.here.pop(group, None)

    @on(GroupDeleted, GroupUnloaded, GroupLoaded)
    def _reload(self, line: Line, event: GroupDeleted | GroupUnloaded | GroupLoaded) -> None:
        """A coordinator that loads a group starts the timers of revocations again. It knows
        neither a running join phase nor unused member ids."""
        for key in [key for key in self.due if key[1] == line.group and key[0] != TRANSACTION]:
            due = self.due.pop(key)
            if key[0] == REVOCATION and isinstance(event, GroupLoaded):
                self.expect(key, due.timeout_ms, line)
        self.here.pop(line.group or "", None)
        self.synced.pop(line.group or "", None)
        if isinstance(event, GroupLoaded):
            self.known.add(line.group or "")

    @on(ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: ConsumerMemberReconciled) -> None:
        group, member = line.group or "", event.member_id
        key = REVOCATION, group, member
        if (group, member) in self.classic:
            self.classic[group, member] = self.classic[group, member][0], line.at_ms
        if event.state != _REVOKING or event.member_epoch == LEFT_FOR_NOW:
            # a static member that left for a while has no time to revoke (K8-LV-2)
            self.due.pop(key, None)
        elif (to_revoke := self._to_revoke.get(group, {}).get(member)) is not None:
            self.expect(key, to_revoke, line)

    @on(ConsumerMemberRemoved)
    def _consumer_removed(self, line: Line, event: ConsumerMemberRemoved) -> None:
        self._forget(line.group or "", event.member_id)

    def _forget(self, group: str, member: str) -> None:
        self._to_revoke.get(group, {}).pop(member, None)
        self.classic.pop((group, member), None)
        self.due.pop((REVOCATION, group, member), None)

    @on(ConsumerMemberReplaced)
    def _consumer_replaced(self, line: Line, event: ConsumerMemberReplaced) -> None:
        self._forget(line.group or "", event.replaced)
        self._has_to_revoke(line, event.member_id, event.subscription)

    @on(ConsumerMemberSubscribed)
    def _subscribed(self, line: Line, event: ConsumerMemberSubscribed) -> None:
        self._has_to_revoke(line, event.member_id, event)

    def _has_to_revoke(self, line: Line, member: str, said: ConsumerMemberSubscribed) -> None:
        group, timeout_ms = line.group or "", max(said.rebalance_timeout_ms, 0)
        members = self._to_revoke.setdefault(group, {})
        members.pop(member, None)
        self.classic.pop((group, member), None)
        if said.classic is None:
            members[member] = timeout_ms
        else:
            self.classic[group, member] = timeout_ms, line.at_ms

    def revokes_at_its_pace(self, group: str, member: str) -> bool:
        """Return True if a member of a consumer group uses the consumer protocol and has nothing
        to revoke."""
        known = member in self._to_revoke.get(group, {})
        return known and not self.goes_on((REVOCATION, group, member))

    def goes_on(self, key: Key) -> bool:
        """Return True if a timer is running or overdue."""
        return key in self.due or key in self.overdue

    @on(ProducerInitialized)
    def _initialized(self, _: Line, event: ProducerInitialized) -> None:
        self._transaction_ms[event.transactional_id] = event.timeout_ms

    @on(PartitionsEnlisted)
    def _enlisted(self, line: Line, event: PartitionsEnlisted) -> None:
        name = event.transactional_id
        key = TRANSACTION, name, ""
        if key not in self.due and name in self._transaction_ms:
            self.expect(key, self._transaction_ms[name], line)

    @on(TransactionPrepared, TransactionalIdDeleted, TransactionalIdExpired)
    def _ended(
        self, _: Line, event: TransactionPrepared | TransactionalIdDeleted | TransactionalIdExpired
    ) -> None:
        self.due.pop((TRANSACTION, event.transactional_id, ""), None)

    def late(self, now_ms: int) -> list[Key]:
        """Return the timers that should have fired before this instant."""
        return [key for key, due in self.due.items() if due.at_ms < now_ms]

    def look_again(self) -> None:
        """Compute again when the first timer fires."""
        self.next_ms = min((due.at_ms for due in self.due.values()), default=NEVER)
