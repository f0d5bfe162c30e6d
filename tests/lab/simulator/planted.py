"""Bugs that are planted, and how a swarm finds them: each is a patch of brokers or of clients.

python -m tests.lab.simulator.planted [SEEDS [BUG ...]]   # every bug, or those named, up to so many seeds each (default 500)

All cores work; bugs are told as they are found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import pytest

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.core.groups import decide
from coordinator.core.groups.classic import settle
from coordinator.core.groups.classic.decide import heartbeat, join
from coordinator.core.groups.classic.model import ClassicGroup
from coordinator.core.groups.consumer import reconcile
from coordinator.core.groups.offsets import views
from coordinator.core.shards import load
from coordinator.core.shards.timers import TimerKind, Timers
from coordinator.events.groups import OffsetsCommitted
from coordinator.lab.simulator.clients.member import SimulatedMember
from coordinator.lab.simulator.swarm.one_seed import SeedResult, run_seed, run_text
from coordinator.members import offsets
from coordinator.members.applications.consuming import Application
from coordinator.members.classic import joining, member
from coordinator.members.consuming.fetching import Fetcher
from coordinator.members.effects import Position
from coordinator.server.connections import wire_log
from coordinator.server.storage.partition_log import PartitionLog
from coordinator.server.storage.producers import Producers
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest
from coordinator.wire.messages.sync_group import SyncGroupRequestAssignment
from coordinator.wire.messages.transactions import TxnOffsetCommitRequest
from tests.lab.simulator import (
    planted_in_groups_and_logs,
    planted_in_reasons,
    planted_in_sharing,
    planted_in_time_and_quality,
)

Patch = pytest.MonkeyPatch
MINUTES = 1
_SESSIONS = (TimerKind.SESSION, TimerKind.CONSUMER_SESSION)


# -- in clients


def records_are_skipped(patch: Patch) -> None:
    poll = Fetcher.poll
    patch.setattr(
        Fetcher,
        "poll",
        lambda self: [
            each._replace(records=each.records[1:]) for each in poll(self) if len(each.records) > 1
        ],
    )


def committed_offsets_are_not_seen(patch: Patch) -> None:
    def forgets(membership: Any, sent: Any, response: Any, now: int) -> None:
        for row in (
            row
            for topic in getattr(response, "groups", [])[:1]
            for topic in topic.topics
            for row in topic.partitions
        ):
            row.committed_offset = -1
        offsets.on_offsets(membership, sent, response, now)

    patch.setitem(member.Member.ANSWERS, OffsetFetchRequest, forgets)


def aborted_records_are_shown(patch: Patch) -> None:
    take = Fetcher._take

    def takes_all(self: Fetcher, partition: Any, reading: Any, row: Any) -> None:
        row.aborted_transactions = []
        take(self, partition, reading, row)

    patch.setattr(Fetcher, "_take", takes_all)


def a_pipeline_writes_the_last_record_only(patch: Patch) -> None:
    write = Application._write

    def careless(self: Application, now: int) -> None:
        batch, self._batch = (
            self._batch,
            [each._replace(records=each.records[-1:]) for each in self._batch],
        )
        write(self, now)
        self._batch = batch

    patch.setattr(Application, "_write", careless)


def a_pipeline_writes_every_record_twice(patch: Patch) -> None:
    write = Application._write

    def twice(self: Application, now: int) -> None:
        batch, self._batch = (
            self._batch,
            [
                each._replace(records=[one for one in each.records for _ in (0, 1)])
                for each in self._batch
            ],
        )
        write(self, now)
        self._batch = batch

    patch.setattr(Application, "_write", twice)


def nothing_is_given_up(patch: Patch) -> None:
    patch.setattr(SimulatedMember, "on_partitions_revoked", lambda self, partitions: None)


def every_third_commit_goes_back(patch: Patch) -> None:
    commit, count = offsets.commit, [0]

    def older(m: Any, positions: Any, *rest: Any, **options: Any) -> Any:
        count[0] += 1
        if count[0] % 3 == 0:
            positions = {key: Position(max(at.offset - 3, 0)) for key, at in positions.items()}
        return commit(m, positions, *rest, **options)

    patch.setattr(offsets, "commit", older)


def two_members_are_given_the_same(patch: Patch) -> None:
    last = [b""]

    def same(**fields: Any) -> SyncGroupRequestAssignment:
        if len(fields["assignment"]) > 20 and not last[0]:
            last[0] = fields["assignment"]
        elif last[0]:
            fields["assignment"], last[0] = last[0], b""
        return SyncGroupRequestAssignment(**fields)

    patch.setattr(joining, "SyncGroupRequestAssignment", same)


def commits_are_one_too_far(patch: Patch) -> None:
    commit = offsets.commit

    def further(m: Any, positions: Any, *rest: Any, **options: Any) -> Any:
        return commit(
            m, {key: Position(at.offset + 1) for key, at in positions.items()}, *rest, **options
        )

    patch.setattr(offsets, "commit", further)


def everybody_commits_the_first_partition(patch: Patch) -> None:
    commit = offsets.commit

    def more(m: Any, positions: Any, *rest: Any, **options: Any) -> Any:
        first = {TopicPartition(topic, 0): Position(10**6) for topic, _ in list(positions)[:1]}
        return commit(m, {**first, **positions}, *rest, **options)

    patch.setattr(offsets, "commit", more)


# -- in brokers


def generations_stay(patch: Patch) -> None:
    following = settle.next_generation

    def same(group: Any, now: int) -> Any:
        event = following(group, now)
        return event._replace(generation=max(group.generation, 1))

    patch.setattr(settle, "next_generation", same)


def nobody_leads(patch: Patch) -> None:
    following = settle.next_generation

    def headless(group: Any, now: int) -> Any:
        event = following(group, now)
        return event._replace(leader="nobody") if hasattr(event, "leader") else event

    patch.setattr(settle, "next_generation", headless)


def stale_commits_are_taken(patch: Patch) -> None:
    patch.setattr(
        ClassicGroup, "refuse_commit", lambda self, member_id, instance, generation: ErrorCode.NONE
    )


def fetched_offsets_are_old(patch: Patch) -> None:
    shown = views._shown

    def older(*arguments: Any) -> Any:
        row = shown(*arguments)
        row.committed_offset = max(row.committed_offset - 2, min(row.committed_offset, 0))
        return row

    patch.setattr(views, "_shown", older)


def requests_are_answered_twice(patch: Patch) -> None:
    answered = wire_log.answered

    def twice(*arguments: Any) -> None:
        answered(*arguments)
        answered(*arguments)

    patch.setattr(wire_log, "answered", twice)


def static_members_join_beside_themselves(patch: Patch) -> None:
    patch.setattr(
        join,
        "_replacement",
        lambda group, new_id, instance, request, protocols, context, now, config: join._added(
            group, new_id, request, protocols, context
        ),
    )


def partitions_are_given_before_they_are_free(patch: Patch) -> None:
    patch.setattr(reconcile, "_is_free", lambda member, step, topic_id, partition: True)


def open_transactions_are_served(patch: Patch) -> None:
    patch.setattr(PartitionLog, "last_stable_offset", property(lambda self: self.high_watermark))


def heartbeats_do_not_tell_of_rebalances(patch: Patch) -> None:
    patch.setattr(heartbeat, "_REBALANCING", heartbeat._ACCEPTED)


def offsets_of_transactions_are_forgotten(patch: Patch) -> None:
    commits = decide._OF_OFFSETS[TxnOffsetCommitRequest]

    def forgets(*arguments: Any) -> Any:
        return commits(*arguments)._replace(events=())

    patch.setitem(decide._OF_OFFSETS, TxnOffsetCommitRequest, forgets)


def repeated_batches_are_appended(patch: Patch) -> None:
    known, check = Producers.duplicate, Producers.check
    patch.setattr(Producers, "duplicate", lambda self, header: None)
    patch.setattr(
        Producers,
        "check",
        lambda self, header: None if known(self, header) is not None else check(self, header),
    )


def sessions_never_end(patch: Patch) -> None:
    arm = Timers.arm
    patch.setattr(
        Timers, "arm", lambda self, key, at: None if key[0] in _SESSIONS else arm(self, key, at)
    )


def offsets_are_lost_with_their_coordinator(patch: Patch) -> None:
    fold = load.evolve
    patch.setattr(
        load,
        "evolve",
        lambda group, event, at: (
            None if isinstance(event, OffsetsCommitted) else fold(group, event, at)
        ),
    )


def static_members_are_forgotten_by_loads(patch: Patch) -> None:
    fold = load.evolve

    def forgets(group: Any, event: Any, at: Any) -> None:
        fold(group, event, at)
        if isinstance(group.membership, ClassicGroup):
            group.membership.static_members.clear()

    patch.setattr(load, "evolve", forgets)


def _every_bug() -> dict[str, Callable[[Patch], None]]:
    return {
        name: bug
        for module in (
            sys.modules[__name__],
            planted_in_groups_and_logs,
            planted_in_time_and_quality,
            planted_in_sharing,
            planted_in_reasons,
        )
        for name, bug in vars(module).items()
        if callable(bug)
        and getattr(bug, "__module__", "") == module.__name__
        and not name.startswith("_")
        and name not in ("find", "main")
    }


def find(name: str, seeds: Sequence[int], judge: str = "") -> SeedResult | None:
    """Return the first run in which a bug is found, by one judge if it is named, or None. A bug that
    has a scenario of its own is looked for there, with the first seed."""
    text = SCENARIOS.get(name)
    with pytest.MonkeyPatch.context() as patch:
        BUGS[name](patch)
        for seed in seeds if text is None else seeds[:1]:
            result = run_seed(seed, MINUTES) if text is None else run_text(text, seed)
            if judge in result.broken if judge else result.broken or result.failure:
                return result
    return None


BUGS = _every_bug()
SCENARIOS = {
    **planted_in_groups_and_logs.SCENARIOS,
    **planted_in_time_and_quality.SCENARIOS,
    **planted_in_sharing.SCENARIOS,
    **planted_in_reasons.SCENARIOS,
}


def _told(name: str, most: int) -> tuple[bool, str]:
    """Whether a bug is found, and a line that says by what."""
    found = find(name, range(1, most + 1))
    if found is None:
        return False, f"{name}: not found"
    return True, f"{name}: seed {found.seed}: {', '.join(found.broken) or found.failure}"


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    missed, names = [], sys.argv[2:] or list(BUGS)
    with ProcessPoolExecutor() as pool:
        looked_for = {pool.submit(_told, name, most): name for name in names}
        for each in as_completed(looked_for):
            found, told = each.result()
            if not found:
                missed.append(looked_for[each])
            print(told, flush=True)
    print(f"not found within {most} seeds: {', '.join(missed)}" if missed else "all were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
