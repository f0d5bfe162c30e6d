"""Which lines count, and when: lines of former coordinators and of former share leaders, commits
that are held back, gaps, groups."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events.line import Line
from coordinator.history.world.accepted_lines import AcceptedLines, accepted
from tests.lines import line_from


class Log:
    """Lines with numbers of their own."""

    def __init__(self, **options: Any) -> None:
        self._stage = AcceptedLines(**options)
        self.seq = 0
        self.stage = self._stage

    def see(self, kind: str, broker: int | None = None, **fields: Any) -> list[int]:
        """The numbers of the lines that are to be folded after one more."""
        self.seq += 1
        plain = {"seq": self.seq, "at_ms": self.seq, "type": kind, "group": "g", **fields}
        if broker is not None:
            plain["broker"] = broker
        return [line.seq for line in self._stage.see(line_from(plain))]

    def counts(self, kind: str, broker: int | None = None, **fields: Any) -> bool:
        """Whether a line counts at once."""
        return self.see(kind, broker, **fields) == [self.seq]


def taken_over(**options: Any) -> Log:
    """Broker 1 coordinated the group, and broker 2 has loaded it."""
    log = Log(**options)
    assert log.counts("GroupCreated", 1, by="join")
    assert log.counts("MemberJoined", 1, member="m")
    assert log.counts("GroupLoaded", 2, state="Stable")
    return log


def test_a_former_coordinators_lines_do_not_count() -> None:
    log = taken_over()
    assert not log.counts("MemberRemoved", 1, member="m", reason="session expired")
    assert not log.counts("RebalanceStarted", 1)
    assert log.counts("MemberRemoved", 2, member="m", reason="session expired")
    assert not log.counts("GroupUnloaded", 1)
    assert log.counts("RebalanceStarted", 2)


def test_another_group_is_not_taken_over() -> None:
    log = taken_over()
    assert log.counts("MemberJoined", 1, member="m", group="other")
    assert not log.counts("MemberJoined", 1, member="m")
    assert log.counts("MemberJoined", 1, member="n", group="other")


def test_a_former_coordinator_stays_one_until_it_loads_the_group_itself() -> None:
    log = taken_over()
    assert log.counts("GroupUnloaded", 2)
    assert not log.counts("RebalanceStarted", 1), "also after its successor is gone"
    assert log.counts("GroupLoaded", 1, state="Stable")
    assert log.counts("RebalanceStarted", 1)
    assert not log.counts("RebalanceStarted", 2)


def test_a_broker_that_unloaded_the_group_is_no_former_coordinator() -> None:
    log = Log()
    assert log.counts("GroupCreated", 1, by="join")
    assert log.counts("GroupUnloaded", 1)
    assert log.counts("GroupLoaded", 2, state="Empty")
    assert log.counts("GroupDeleted", 2, reason="by hand")
    assert log.counts("GroupCreated", 1, by="join")


@pytest.mark.parametrize("kind", ["OffsetsCommitted", "OffsetsPending"])
def test_a_commit_that_is_acknowledged_counts_before_its_answer(kind: str) -> None:
    log = taken_over()
    asked = log.see("RequestSeen", stream="wire", api="offset_commit")[0]
    assert log.see(kind, 1, cause=asked) == []
    commit = log.seq
    assert log.counts("MemberSynced", 2, member="m")
    assert log.counts("RequestAnswered", stream="wire", api="heartbeat", cause=1), "another request"
    answered = log.see("RequestAnswered", stream="wire", api="offset_commit", cause=asked)
    assert answered == [commit, log.seq]
    assert log.counts("RequestAnswered", stream="wire", api="offset_commit", cause=asked)


def test_a_commit_that_is_refused_never_counts() -> None:
    log = taken_over()
    asked = log.see("RequestSeen", stream="wire", api="offset_commit")[0]
    assert log.see("OffsetsCommitted", 1, cause=asked) == []
    refused = {"stream": "wire", "api": "offset_commit", "cause": asked}
    assert log.counts("RequestRefused", errors=["NOT_COORDINATOR"], **refused)
    assert log.counts("RequestAnswered", **refused)


def test_lines_without_brokers_count() -> None:
    log = taken_over()
    assert log.counts("MemberSynced", member="m")
    assert log.counts("GroupLoaded", state="Stable")


def with_partitions() -> Log:
    """Broker 1 leads the only partition of __consumer_offsets."""
    log = Log()
    topic = {"topic": "__consumer_offsets", "replicas": [[1, 2]]}
    assert log.counts("TopicCreated", stream="cluster", group=None, **topic)
    assert log.counts("TopicCreated", stream="cluster", group=None, topic="t", replicas=[[1]] * 9)
    loads(log, 1)
    return log


def loads(log: Log, broker: int) -> None:
    """A broker begins to load the partition."""
    loading = {"stream": "coordinator", "group": None, "partitions": [0]}
    assert log.counts("PartitionsLoading", broker, **loading)


def test_a_former_coordinator_of_a_group_that_its_successor_has_not_loaded() -> None:
    """Both may create the same group: who leads its partition does so with effect."""
    log = with_partitions()
    assert log.counts("GroupCreated", 1, by="join", group="first")
    loads(log, 2)
    assert not log.counts("MemberJoined", 1, member="m", group="first")
    assert not log.counts("GroupCreated", 1, by="join")
    assert log.counts("GroupCreated", 2, by="join")
    assert not log.counts("GroupUnloaded", 1)
    assert log.counts("MemberJoined", 2, member="m")
    loads(log, 1)
    assert log.counts("GroupLoaded", 1, state="Stable")
    assert not log.counts("MemberJoined", 2, member="m")


def test_who_loads_too_late_does_not_coordinate() -> None:
    log = with_partitions()
    loads(log, 2)
    loads(log, 3)
    assert log.counts("GroupLoaded", 3, state="Stable")
    assert not log.counts("GroupLoaded", 2, state="Stable")
    assert log.counts("MemberJoined", 3, member="m")


SHARED = {"stream": "share", "topic": "t", "partition": 0}


def test_a_former_share_leaders_lines_do_not_count() -> None:
    log = Log()
    assert log.counts("SharePartitionOpened", 3, **SHARED)
    assert log.counts("RecordsAcquired", 3, member="a", **SHARED)
    assert log.counts("SharePartitionOpened", 1, **SHARED)
    assert not log.counts("RecordsAcquired", 3, member="a", **SHARED)
    assert not log.counts("RecordsReleased", 3, member="a", reason="the lock ended", **SHARED)
    assert not log.counts("SharePartitionClosed", 3, **SHARED)
    assert log.counts("RecordsAcquired", 1, member="b", **SHARED)
    assert log.counts("RecordsAcquired", 3, member="a", **SHARED | {"partition": 1})
    assert log.counts("SharePartitionClosed", 1, **SHARED)
    assert not log.counts("RecordsAcquired", 3, member="a", **SHARED), "also after its successor"
    assert log.counts("SharePartitionOpened", 3, **SHARED)
    assert log.counts("RecordsAcquired", 3, member="a", **SHARED)


def test_a_share_coordinator_need_not_be_the_share_leader() -> None:
    log = Log()
    assert log.counts("SharePartitionOpened", 1, **SHARED)
    assert log.counts("ShareStateUpdated", 2, **SHARED)


def test_a_snapshot_that_is_restored_has_share_leaders_of_its_own() -> None:
    log = Log()
    assert log.counts("SharePartitionOpened", 1, **SHARED)
    assert log.counts("SnapshotRestored", stream="fault", group=None)
    assert log.counts("SharePartitionClosed", 3, **SHARED)


def test_lines_of_other_groups_are_left_out() -> None:
    log = Log(group="g")
    assert log.counts("GroupCreated", 1, by="join")
    assert not log.counts("GroupCreated", 1, by="join", group="other")
    assert log.counts("StopBroker", stream="fault", group=None, broker=1)


def test_gaps_are_counted_if_lines_are_numbered() -> None:
    log = taken_over(numbered=True)
    assert (log.stage.gaps, log.stage.missing) == (1, 1), "line 0 is missing"
    log.seq += 3
    assert log.counts("RebalanceStarted", 2)
    assert (log.stage.gaps, log.stage.missing) == (2, 4)
    log.seq += 1
    assert not log.counts("RebalanceStarted", 1)
    assert (log.stage.gaps, log.stage.missing) == (3, 5)
    assert taken_over().stage.gaps == 0


def test_the_lines_of_a_log_at_once() -> None:
    plain = [
        {"type": "GroupCreated", "broker": 1, "by": "join"},
        {"type": "GroupLoaded", "broker": 2, "state": "Stable"},
        {"type": "RebalanceStarted", "broker": 1},
        {"type": "RebalanceStarted", "broker": 2},
    ]
    lines: list[Line] = [
        line_from({"seq": seq, "at_ms": seq, "group": "g", **fields})
        for seq, fields in enumerate(plain)
    ]
    assert [line.seq for line in accepted(lines)] == [0, 1, 3]
    assert [line.seq for line in accepted(lines, group="other")] == []
