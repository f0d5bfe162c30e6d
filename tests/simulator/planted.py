"""Bugs that are planted, and how a swarm finds them: each is a patch of brokers or of clients.

    python -m tests.simulator.planted [SEEDS]        # every bug, up to so many seeds each (default 500)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from coordinator.broker import wire_log
from coordinator.errors import ErrorCode
from coordinator.groups.classic import settle
from coordinator.groups.classic.model import ClassicGroup
from coordinator.groups.offsets import views
from coordinator.members import joining, member, offsets
from coordinator.members.application import Application
from coordinator.members.effects import Position
from coordinator.members.fetching import Fetcher
from coordinator.simulator.member import SimulatedMember
from coordinator.simulator.swarming import SeedResult, run_seed
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest
from coordinator.wire.messages.sync_group import SyncGroupRequestAssignment

Patch = pytest.MonkeyPatch
MINUTES = 1


# -- in clients


def records_are_skipped(patch: Patch) -> None:
    poll = Fetcher.poll
    patch.setattr(Fetcher, "poll", lambda self: [
        each._replace(records=each.records[1:]) for each in poll(self) if len(each.records) > 1])


def committed_offsets_are_not_seen(patch: Patch) -> None:
    def forgets(membership: Any, sent: Any, response: Any, now: int) -> None:
        for row in (row for topic in getattr(response, "groups", [])[:1] for topic in topic.topics for row in topic.partitions):
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
        batch, self._batch = self._batch, [each._replace(records=each.records[-1:]) for each in self._batch]
        write(self, now)
        self._batch = batch

    patch.setattr(Application, "_write", careless)


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
    patch.setattr(ClassicGroup, "refuse_commit", lambda self, member_id, instance, generation: ErrorCode.NONE)


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


def _every_bug() -> dict[str, Callable[[Patch], None]]:
    here = globals()
    return {name: here[name] for name in here if callable(here[name]) and getattr(here[name], "__module__", "") == __name__
            and not name.startswith("_") and name not in ("find", "main")}  # fmt: skip


def find(name: str, seeds: range) -> SeedResult | None:
    """The first seed that finds a bug; None if none does."""
    with pytest.MonkeyPatch.context() as patch:
        BUGS[name](patch)
        for seed in seeds:
            result = run_seed(seed, MINUTES)
            if result.broken or result.failure:
                return result
    return None


BUGS = _every_bug()


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    missed = 0
    for name in BUGS:
        found = find(name, range(1, most + 1))
        missed += found is None
        told = "not found" if found is None else f"seed {found.seed}: {', '.join(found.broken) or found.failure}"
        print(f"{name}: {told}", flush=True)
    print(f"{len(BUGS) - missed} of {len(BUGS)} planted bugs found within {most} seeds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
