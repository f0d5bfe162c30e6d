"""Bugs with a good excuse that are planted: a coordinator does what it must not, and names a reason
for which it would be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coordinator.core.groups.classic import settle
from coordinator.core.groups.consumer import leave as consumer_leave
from coordinator.core.groups.share import heartbeat as share_heartbeat
from coordinator.core.shards.shard import Shard
from coordinator.core.shards.timers import TimerKind, Timers
from coordinator.core.share_partitions import acquire, release
from coordinator.core.share_partitions.model import SharePartition
from coordinator.core.share_partitions.states import Deliveries
from coordinator.core.share_states import decide as states
from coordinator.core.transactions import decide
from coordinator.core.transactions.coordinator import TransactionCoordinator
from coordinator.events import share_partitions as ev
from coordinator.events.groups import (
    GroupDeleted,
    GroupEmptied,
    OffsetsCommitted,
    OffsetsRemoved,
    Removal,
)
from coordinator.events.groups.consumer import Removal as ConsumerRemoval
from coordinator.server.shares import dead_letters
from coordinator.server.shares.dead_letters import DeadLetters
from coordinator.server.shares.partitions import SharePartitions

Patch = pytest.MonkeyPatch

_WELL = """
duration = "120s"
[topics]
orders = 4
[[members]]
name = "app"
count = 3
topics = "orders"
"""
_WELL_CONSUMERS = _WELL + 'protocol = "consumer"\n'
_WELL_WORKERS = _WELL + 'protocol = "share"\n'
_LEAVES = """
duration = "100s"
[topics]
orders = 4
[[producers]]
name = "shop"
topics = "orders"
rate = 8
[[members]]
name = "app"
topics = "orders"
consumes = true
[[churn]]
kind = "restart"
members = "app"
at = "50s"
down = "20s"
"""
_JOINS = """
duration = "150s"
[topics]
orders = 4
[[members]]
name = "app"
count = 3
topics = "orders"
[[members]]
name = "late"
group = "app"
topics = "orders"
start = "60s"
"""
_PIPES = """
duration = "100s"
[topics]
orders = 2
invoices = 2
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
"""
_LATE_END = (
    _PIPES
    + """
[[faults]]
action = "delay"
api = "EndTxn"
client_id = "pipe-1"
duration_ms = 9000
times = 1
at = "20s"
[[churn]]
kind = "restart"
members = "pipe-1"
how = "crash"
at = "22s"
down = "1s"
"""
)
_WORKERS = """
duration = "70s"
[topics]
jobs = 1
[brokers]
count = 2
config = { "default.replication.factor" = 2, "share.coordinator.snapshot.update.records.per.snapshot" = 0 }
[[groups]]
name = "workers"
config = { "share.auto.offset.reset" = "earliest", "share.record.lock.duration.ms" = 15000 }
[[producers]]
name = "source"
topics = "jobs"
rate = 1
stop = "40s"
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
count = 2
processing = "4s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 2
at = "30s"
"""
_SLOW_WORKERS = _WORKERS.replace('"4s"', '"25s"')
_DEAD = """
duration = "60s"
[topics]
jobs = 1
lost = 1
[[groups]]
name = "workers"
[groups.config]
"share.auto.offset.reset" = "earliest"
"share.delivery.count.limit" = 2
"errors.deadletterqueue.topic.name" = "lost"
[[producers]]
name = "source"
topics = "jobs"
rate = 1
stop = "40s"
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
reject = 0.3
"""
SCENARIOS = {
    "records_are_archived_as_if_they_were_aborted": _WORKERS,
    "records_are_archived_as_if_they_had_left_the_log": _WORKERS,
    "dead_letters_are_lost_as_if_there_were_no_topic": _DEAD,
    "locks_end_early_as_if_by_hand": _SLOW_WORKERS,
    "share_partitions_are_closed_as_if_they_had_moved": _WORKERS,
    "share_partitions_are_closed_as_if_nobody_read": _WORKERS,
    "states_are_lost_by_snapshots": _WORKERS,
    "sessions_of_the_well_end": _WELL,
    "consumer_sessions_of_the_well_end": _WELL_CONSUMERS,
    "share_sessions_of_the_well_end": _WELL_WORKERS,
    "sessions_end_early_as_if_members_left": _WELL,
    "sessions_end_early_as_if_by_hand": _WELL,
    "consumer_sessions_end_early_as_if_members_left": _WELL_CONSUMERS,
    "consumer_sessions_end_early_as_if_nothing_was_revoked": _WELL_CONSUMERS,
    "share_sessions_end_early_as_if_members_left": _WELL_WORKERS,
    "sessions_end_early_as_if_nobody_had_synced": _WELL,
    "sessions_end_early_as_if_the_group_were_full": _WELL,
    "consumer_sessions_end_early_as_if_nobody_had_joined": _WELL_CONSUMERS,
    "groups_go_as_if_somebody_had_deleted_them": _LEAVES,
    "groups_go_as_if_they_had_no_offsets": _LEAVES,
    "who_has_rejoined_is_removed_as_if_not": _JOINS,
    "commits_are_decided_as_abortions": _PIPES,
    "transactions_are_aborted_as_if_a_producer_began": _PIPES,
    "offsets_of_aborted_transactions_count": _LATE_END,
    "offsets_go_as_if_somebody_had_deleted_them": _LEAVES,
}
"""As in `planted_in_groups_and_logs`: members that are well, one that joins late, pipelines."""
_TOO_EARLY_MS = 60_000


# -- members


def _one_session_ends(patch: Patch, kind: TimerKind) -> None:
    """Let the session of the first member end at an instant, whatever it sends."""
    arm, due, first, ended = Timers.arm, Timers.due, list[str](), list[str]()

    def early(self: Timers, key: Any, at: int) -> None:
        if key[0] == kind:
            first[:] = first or [key[2]]
            at = min(at, _TOO_EARLY_MS) if [key[2]] == first and not ended else at
        arm(self, key, at)

    def once(self: Timers, now: int) -> Iterator[Any]:
        for key in due(self, now):
            ended.extend([key[2]] if [key[2]] == first and key[0] == kind else [])
            yield key

    patch.setattr(Timers, "arm", early)
    patch.setattr(Timers, "due", once)


def sessions_of_the_well_end(patch: Patch) -> None:
    _one_session_ends(patch, TimerKind.SESSION)


def consumer_sessions_of_the_well_end(patch: Patch) -> None:
    _one_session_ends(patch, TimerKind.CONSUMER_SESSION)


def share_sessions_of_the_well_end(patch: Patch) -> None:
    _one_session_ends(patch, TimerKind.SHARE_SESSION)


def _removed_as_if(patch: Patch, reason: str, detail: str | None = None) -> None:
    _one_session_ends(patch, TimerKind.SESSION)
    removal = settle.removal

    def excused(group: Any, member: Any, given: str, *of: Any) -> Any:
        if given == Removal.SESSION_EXPIRED:
            return removal(group, member, reason, detail)
        return removal(group, member, given, *of)

    patch.setattr(settle, "removal", excused)


def sessions_end_early_as_if_members_left(patch: Patch) -> None:
    _removed_as_if(patch, Removal.LEFT)


def sessions_end_early_as_if_by_hand(patch: Patch) -> None:
    _removed_as_if(patch, Removal.SESSION_EXPIRED, Removal.ENDED_BY_HAND)


def sessions_end_early_as_if_nobody_had_synced(patch: Patch) -> None:
    _removed_as_if(patch, Removal.DID_NOT_SYNC)


def sessions_end_early_as_if_the_group_were_full(patch: Patch) -> None:
    _removed_as_if(patch, Removal.GROUP_FULL)


def _consumer_removed_as_if(patch: Patch, reason: str) -> None:
    _one_session_ends(patch, TimerKind.CONSUMER_SESSION)
    reasons = {**consumer_leave._REASONS, consumer_leave.TimerKind.SESSION: reason}
    patch.setattr(consumer_leave, "_REASONS", reasons)


def consumer_sessions_end_early_as_if_members_left(patch: Patch) -> None:
    _consumer_removed_as_if(patch, ConsumerRemoval.LEFT)


def consumer_sessions_end_early_as_if_nothing_was_revoked(patch: Patch) -> None:
    _consumer_removed_as_if(patch, ConsumerRemoval.DID_NOT_REVOKE)


def consumer_sessions_end_early_as_if_nobody_had_joined(patch: Patch) -> None:
    _consumer_removed_as_if(patch, ConsumerRemoval.DID_NOT_REJOIN)


def share_sessions_end_early_as_if_members_left(patch: Patch) -> None:
    _one_session_ends(patch, TimerKind.SHARE_SESSION)
    remove = share_heartbeat.remove
    patch.setattr(
        share_heartbeat, "remove", lambda group, member, _, of: remove(group, member, "left", of)
    )


def who_has_rejoined_is_removed_as_if_not(patch: Patch) -> None:
    """The last of a join phase that its deadline ends, or that all have joined."""
    complete = settle.complete_join_phase

    def one_less(group: Any, now: int) -> Any:
        if group.generation and len(group.members) > 1:
            last = list(group)[-1]
            yield settle.removal(group, last, Removal.DID_NOT_REJOIN)
        yield from complete(group, now)

    patch.setattr(settle, "complete_join_phase", one_less)


# -- transactions and offsets


def commits_are_decided_as_abortions(patch: Patch) -> None:
    ended, count = decide._ended, [0]

    def other(transaction: Any, commit: bool, *rest: Any) -> Any:
        count[0] += 1
        return ended(transaction, commit and bool(count[0] % 5), *rest)

    patch.setattr(decide, "_ended", other)


def transactions_are_aborted_as_if_a_producer_began(patch: Patch) -> None:
    """As soon as they are begun."""
    fence = decide.fence
    patch.setattr(
        decide, "fence", lambda transaction, _: fence(transaction, "a producer was initialized")
    )
    arm = TransactionCoordinator._arm

    def early(self: TransactionCoordinator, transaction: Any) -> None:
        arm(self, transaction)
        key = 0, transaction.transactional_id
        if self._deadlines.get(key) is not None:
            self._deadlines.arm(key, transaction.started_ms + 10)

    patch.setattr(TransactionCoordinator, "_arm", early)


def offsets_of_aborted_transactions_count(patch: Patch) -> None:
    end = Shard.end_transaction
    patch.setattr(
        Shard,
        "end_transaction",
        lambda self, producer_id, committed, effects: end(self, producer_id, True, effects),
    )


def _offsets_go(patch: Patch, reason: str) -> None:
    write, count = Shard._fold, [0]

    def takes(self: Shard, group: Any, event: Any, effects: Any, before: Any = None) -> Any:
        seq = write(self, group, event, effects, before)
        if isinstance(event, OffsetsCommitted):
            count[0] += 1
            if count[0] % 5 == 0:
                write(self, group, OffsetsRemoved(reason, tuple(group.offsets)), effects)
        return seq

    patch.setattr(Shard, "_fold", takes)


def offsets_go_as_if_somebody_had_deleted_them(patch: Patch) -> None:
    _offsets_go(patch, "deleted by request")


def groups_go_as_if_somebody_had_deleted_them(patch: Patch) -> None:
    _groups_go(patch, "deleted by request")


def groups_go_as_if_they_had_no_offsets(patch: Patch) -> None:
    _groups_go(patch, "empty, without offsets")


def _groups_go(patch: Patch, reason: str) -> None:
    write = Shard._fold

    def takes(self: Shard, group: Any, event: Any, effects: Any, before: Any = None) -> Any:
        seq = write(self, group, event, effects, before)
        if isinstance(event, GroupEmptied):
            write(self, group, GroupDeleted(reason), effects)
        return seq

    patch.setattr(Shard, "_fold", takes)


# -- share groups


def locks_end_early_as_if_by_hand(patch: Patch) -> None:
    expire = release.expire

    def early(of: SharePartition, now: int, limit: Deliveries) -> tuple[ev.RecordsReleased, ...]:
        events = expire(of, now + 2_000, limit)
        return tuple(event._replace(reason=release.TEST_ENDED) for event in events)

    patch.setattr(release, "expire", early)


def share_partitions_are_closed_as_if_they_had_moved(patch: Patch) -> None:
    _closed_again_and_again(patch, "its partition changed")


def share_partitions_are_closed_as_if_nobody_read(patch: Patch) -> None:
    _closed_again_and_again(patch, ev.UNLOADED)


def _closed_again_and_again(patch: Patch, reason: str) -> None:
    acquire, count = SharePartitions.acquire, [0]

    def closes(self: SharePartitions, partition: Any, member: str, *rest: Any) -> Any:
        given = acquire(self, partition, member, *rest)
        count[0] += bool(given)
        if given and count[0] % 4 == 0:
            self.close(partition.key, reason, rest[-2], None)
        return given

    patch.setattr(SharePartitions, "acquire", closes)


def states_are_lost_by_snapshots(patch: Patch) -> None:
    snapshot = states._snapshot

    def empty(*arguments: Any) -> Any:
        return snapshot(*arguments)._replace(start_offset=0, complete_count=0, batches=())

    patch.setattr(states, "_snapshot", empty)


def records_are_archived_as_if_they_were_aborted(patch: Patch) -> None:
    """The last of what is given to a member."""

    def one(records: list[ev.RecordRange], _: Any) -> Any:
        *kept, last = records
        archived = last._replace(state="Archived", first_offset=last.last_offset)
        return [*kept, last], [archived]

    patch.setattr(acquire, "_without", one)


def records_are_archived_as_if_they_had_left_the_log(patch: Patch) -> None:
    told = acquire._told

    def gone(
        partition: Any, member: str, read: Any, wanted: Any, _: Any, taken: Any
    ) -> Iterator[Any]:
        last = [of._replace(state="Archived") for of in taken.records[-1:]]
        yield from told(partition, member, read, wanted, last, taken)

    patch.setattr(acquire, "_told", gone)


def dead_letters_are_lost_as_if_there_were_no_topic(patch: Patch) -> None:
    def fails(self: DeadLetters, letters: Any, now: int) -> str:
        raise dead_letters._NeverError(f"there is no topic {self._name(letters)}")

    patch.setattr(DeadLetters, "_write", fails)
