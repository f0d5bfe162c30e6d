"""Bugs that are planted in groups and logs: promises of members' time, of coordinators that move,
of replicas and of the ends of transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.groups import decide
from coordinator.core.groups.classic import settle
from coordinator.core.groups.classic.decide import join, leave, sync
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.consumer import heartbeat, reconcile
from coordinator.core.groups.consumer import leave as consumer_leave
from coordinator.core.groups.offsets.decide import commit_response
from coordinator.core.groups.requests import Decision
from coordinator.core.shards.load import Load
from coordinator.core.shards.shard import Shard
from coordinator.core.transactions.coordinator import TransactionCoordinator
from coordinator.events.groups import (
    JoinPhaseExtended,
    MemberSynced,
    OffsetsCommitted,
    OffsetsRemoved,
)
from coordinator.events.groups.consumer import ConsumerMemberRemoved, Removal
from coordinator.server.storage.partition_log import PartitionLog
from coordinator.server.storage.replica_log import ReplicaLog
from coordinator.server.transactions.outcomes import Transactions
from coordinator.server.waiting.delayed_produce import DelayedProduce
from coordinator.wire.consumer_protocol import Assignment
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.sync_group import SyncGroupResponse

Patch = pytest.MonkeyPatch

_SLOW_FOLLOWERS = """
duration = "100s"
[topics]
orders = 3
[brokers]
count = 3
config = { "default.replication.factor" = 3, "min.insync.replicas" = 2, "offsets.topic.num.partitions" = 1 }
[[producers]]
name = "shop"
topics = "orders"
rate = 5
stop = "60s"
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
[[faults]]
verb = "SlowFollower"
broker = 2
delay_ms = 9000
at = "10s"
lasts = "60s"
[[faults]]
verb = "SlowFollower"
broker = 3
delay_ms = 9000
at = "10s"
lasts = "60s"
[[faults]]
verb = "StopBroker"
broker = 1
how = "crash"
at = "25s"
lasts = "20s"
"""
_SHORT_PATIENCE = """
duration = "150s"
[topics]
orders = 3
[[members]]
name = "app"
count = 2
topics = "orders"
config = { "max.poll.interval.ms" = 15000 }
[[members]]
name = "late"
group = "app"
topics = "orders"
start = "30s"
config = { "max.poll.interval.ms" = 15000 }
[[faults]]
verb = "PauseMember"
member = "app-2"
at = "29s"
lasts = "80s"
"""
_GROWS = """
duration = "4m"
[topics]
orders = 3
[[members]]
name = "app"
count = 2
topics = "orders"
protocol = "consumer"
[[faults]]
verb = "CreatePartitions"
topic = "orders"
partitions = 7
at = "30s"
[must]
stable_within = "100s"
"""
_COORDINATOR_MOVES = """
duration = "100s"
[topics]
orders = 3
[brokers]
count = 3
config = { "default.replication.factor" = 3, "offsets.topic.num.partitions" = 1 }
[[producers]]
name = "shop"
topics = "orders"
rate = 9
stop = "30s"
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
commit = "batch"
[[faults]]
verb = "MoveCoordinator"
group = "app"
to = 2
at = "40s"
[[churn]]
kind = "restart"
members = "app"
at = "50s"
"""
_ZOMBIES = """
duration = "150s"
[topics]
orders = 2
invoices = 2
[[producers]]
name = "shop"
topics = "orders"
rate = 8
stop = "100s"
[[members]]
name = "pipe"
count = 3
topics = "orders"
commit = "transaction"
output = "invoices"
config = { "session.timeout.ms" = 6000, "heartbeat.interval.ms" = 500, "max.poll.interval.ms" = 20000 }
[[faults]]
verb = "CutMember"
member = "pipe-1"
at = "20s"
lasts = "9s"
repeats = 5
every = "20s"
[[faults]]
verb = "CutMember"
member = "pipe-2"
at = "30s"
lasts = "9s"
repeats = 5
every = "20s"
"""
_RETURNS = """
duration = "150s"
[topics]
orders = 4
[[members]]
name = "app"
count = 3
topics = "orders"
protocol = "consumer"
static = true
[[churn]]
kind = "restart"
members = "app"
how = "HOW"
at = "40s"
down = "DOWN"
"""
_TAKEN_OVER = """
duration = "90s"
[topics]
orders = 2
invoices = 3
[brokers]
count = 3
config = { "default.replication.factor" = 3, "transaction.state.log.num.partitions" = 1, "offsets.topic.num.partitions" = 1 }
[[producers]]
name = "shop"
topics = "orders"
rate = 8
stop = "60s"
[[members]]
name = "pipe"
count = 2
topics = "orders"
commit = "transaction"
output = "invoices"
[[faults]]
action = "delay"
api = "WriteTxnMarkers"
duration_ms = 15000
at = "20s"
lasts = "9s"
[[faults]]
verb = "MoveLeader"
topic = "__transaction_state"
partition = 0
to = 1
at = "22s"
[[faults]]
verb = "MoveLeader"
topic = "__transaction_state"
partition = 0
to = 3
at = "24s"
"""
SCENARIOS = {
    "who_takes_over_loses_a_marker": _TAKEN_OVER,
    "who_takes_over_marks_the_first_partition_only": _TAKEN_OVER,
    "static_members_that_leave_for_a_while_are_removed": _RETURNS.replace("HOW", "close").replace(
        "DOWN", "10s"
    ),
    "members_that_expire_bump_no_epoch": _RETURNS.replace("HOW", "crash").replace("DOWN", "70s"),
    "acknowledgements_do_not_wait_for_replicas": _SLOW_FOLLOWERS,
    "what_is_not_replicated_is_served": _SLOW_FOLLOWERS,
    "join_phases_are_extended_for_ever": _SHORT_PATIENCE,
    "topics_that_grow_are_not_seen": _GROWS,
    "newest_commit_is_lost_with_its_coordinator": _COORDINATOR_MOVES,
    "stale_transactional_commits_are_taken": _ZOMBIES,
}
"""Bugs that the swarm's settings show seldom or never: each breaks a promise in this scenario,
which holds without it."""


# -- members' time


def followers_are_answered_before_their_leader(patch: Patch) -> None:
    completing = sync._while_completing

    def at_once(group: Any, member: Any, request: Any, config: Any) -> Decision:
        if member.member_id == group.leader:
            return completing(group, member, request, config)
        return Decision(
            (MemberSynced(member.member_id, False),),
            SyncGroupResponse(
                protocol_type=group.protocol_type,
                protocol_name=group.protocol_name,
                assignment=member.assignment,
            ),
        )

    patch.setattr(sync, "_while_completing", at_once)


def join_phases_are_extended_for_ever(patch: Patch) -> None:
    complete = settle.complete_join_phase

    def waits(group: Any, now: int) -> Any:
        if group.awaiting_join != len(group.members):
            yield JoinPhaseExtended(now + group.max_rebalance_timeout_ms())
        else:
            yield from complete(group, now)

    patch.setattr(settle, "complete_join_phase", waits)


def who_leaves_stays(patch: Patch) -> None:
    leaves = leave.decide_leave
    patch.setitem(
        decide._OF_MEMBERSHIP,
        LeaveGroupRequest,
        lambda *arguments: Decision(reply=leaves(*arguments).reply),
    )


def static_members_come_back_to_nothing(patch: Patch) -> None:
    record = join.record_if_replaced

    def forgets(group: Any, replaced: Any) -> Any:
        stored = record(group, replaced)
        return stored._replace(
            members=tuple(
                row._replace(assignment=Assignment(()).encode())
                if row.member_id == replaced.member_id
                else row
                for row in stored.members
            )
        )

    patch.setattr(join, "record_if_replaced", forgets)


def static_members_that_leave_for_a_while_are_removed(patch: Patch) -> None:
    patch.setattr(consumer_leave, "LEAVING_FOR_NOW", 1)


def members_that_expire_bump_no_epoch(patch: Patch) -> None:
    remove = consumer_leave.remove

    def forgets(group: Any, members: Any, reason: str, *rest: Any, **named: Any) -> Any:
        decision = remove(group, members, reason, *rest, **named)
        if reason != Removal.SESSION_EXPIRED:
            return decision
        kept = [each for each in decision.events if isinstance(each, ConsumerMemberRemoved)]
        return decision._replace(events=tuple(kept))

    patch.setattr(consumer_leave, "remove", forgets)


# -- offsets


def commits_are_acknowledged_and_forgotten(patch: Patch) -> None:
    commits, count = decide._OF_OFFSETS[OffsetCommitRequest], [0]

    def forgets(*arguments: Any) -> Any:
        decision = commits(*arguments)
        count[0] += 1
        return decision if count[0] % 4 else decision._replace(events=())

    patch.setitem(decide._OF_OFFSETS, OffsetCommitRequest, forgets)


def commits_are_refused_and_take_place(patch: Patch) -> None:
    commits, count = decide._OF_OFFSETS[OffsetCommitRequest], [0]

    def refuses(group: Any, request: Any, *rest: Any) -> Any:
        decision = commits(group, request, *rest)
        count[0] += 1
        if not decision.events or count[0] % 4:
            return decision
        return decision._replace(reply=commit_response(request, ErrorCode.ILLEGAL_GENERATION))

    patch.setitem(decide._OF_OFFSETS, OffsetCommitRequest, refuses)


def newest_commit_is_lost_with_its_coordinator(patch: Patch) -> None:
    begin = Load._begin

    def loses(self: Load, group_id: str) -> None:
        begin(self, group_id)
        rows = list(self._rows)
        last = max(
            (at for at, row in enumerate(rows) if isinstance(row[1], OffsetsCommitted)),
            default=None,
        )
        self._rows = iter([row for at, row in enumerate(rows) if at != last])

    patch.setattr(Load, "_begin", loses)


def commits_take_the_offsets_of_another_group(patch: Patch) -> None:
    write, count = Shard._fold, [0]

    def takes(self: Shard, group: Any, event: Any, effects: Any, before: Any = None) -> Any:
        seq = write(self, group, event, effects, before)
        if isinstance(event, OffsetsCommitted):
            count[0] += 1
            for other in list(self.groups.values()):
                if other is not group and other.offsets and not count[0] % 5:
                    write(self, other, OffsetsRemoved("expired", tuple(other.offsets)), effects)
        return seq

    patch.setattr(Shard, "_fold", takes)


def stale_transactional_commits_are_taken(patch: Patch) -> None:
    patch.setattr(
        ClassicGroup,
        "refuse_transactional_commit",
        lambda self, member_id, instance, generation: ErrorCode.NONE,
    )


# -- consumer groups


def partitions_that_are_still_reported_count_as_revoked(patch: Patch) -> None:
    patch.setattr(reconcile, "_owns_any", lambda owned, revoked: False)


def topics_that_grow_are_not_seen(patch: Patch) -> None:
    patch.setattr(heartbeat, "metadata_hash", lambda subscribers, topics: 1)


# -- replicas


def acknowledgements_do_not_wait_for_replicas(patch: Patch) -> None:
    patch.setattr(DelayedProduce, "_told", lambda self, awaited: True)


def what_is_not_replicated_is_served(patch: Patch) -> None:
    patch.setattr(ReplicaLog, "high_watermark", property(lambda self: self.log_end_offset))


# -- transactions


def markers_are_written_twice(patch: Patch) -> None:
    complete = TransactionCoordinator.complete
    write, held = Transactions.write_marker, list[Any]()

    def twice(self: Transactions, found: Any, marker: Any, now: int, cause: Any) -> None:
        write(self, found, marker, now, cause)
        if found.topic != "__consumer_offsets":
            held.append((self, found, marker))

    def later(self: TransactionCoordinator, ending: Any, now: int) -> None:
        complete(self, ending, now)
        for host, found, marker in held:
            if marker.producer_id == ending.producer_id:
                write(host, found, marker._replace(transaction_version=0), now, None)
        held.clear()

    patch.setattr(Transactions, "write_marker", twice)
    patch.setattr(TransactionCoordinator, "complete", later)


def transactions_have_no_timeout(patch: Patch) -> None:
    patch.setattr(TransactionCoordinator, "tick", lambda self, now: [])
    patch.setattr(TransactionCoordinator, "next_deadline", lambda self: None)


def aborted_transactions_are_not_told(patch: Patch) -> None:
    patch.setattr(PartitionLog, "aborted_in", lambda self, offset, size: [])


def who_takes_over_loses_a_marker(patch: Patch) -> None:
    _taken_over(patch, lambda partitions: partitions[1:])


def who_takes_over_marks_the_first_partition_only(patch: Patch) -> None:
    _taken_over(patch, lambda partitions: partitions[:1])


def _taken_over(patch: Patch, kept: Callable[[list[Any]], list[Any]]) -> None:
    take_over = Transactions.take_over

    def forgets(self: Transactions, endings: Any) -> None:
        take_over(self, [each._replace(partitions=kept(list(each.partitions))) for each in endings])

    patch.setattr(Transactions, "take_over", forgets)


def parked_requests_are_forgotten(patch: Patch) -> None:
    answer, count = Shard._answer, [0]

    def forgets(self: Shard, group: Any, event: Any, effects: Any) -> Any:
        count[0] += 1
        if count[0] % 7 == 0 and self.parked:
            del self.parked[next(iter(self.parked))]
        return answer(self, group, event, effects)

    patch.setattr(Shard, "_answer", forgets)
