"""The clean-up of logs by brokers: when they look (RET-5), by whose clock, and what is written down;
followers, restarts, jumps of the clock and changed configurations."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.kit.cluster import (
    CleanLogs,
    JumpClock,
    MoveLeader,
    SlowFollower,
    StartBroker,
    StopBroker,
)
from coordinator.server.cluster_runtime import ClusterError
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_deleted_records import delete

FIRST_MS, EVERY_MS = 30_000, 300_000
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS


def desk(brokers: int = 3, **config: str) -> Cluster:
    """A cluster in which nobody's commits expire and no broker looks at anything else by itself."""
    return Cluster(
        brokers=brokers,
        config={
            "default.replication.factor": str(brokers),
            "offsets.topic.replication.factor": "1",
            "auto.leader.rebalance.enable": "false",
            **{name.replace("_", "."): value for name, value in config.items()},
        },
    )


def configure(cluster: Cluster, **configs: str) -> None:
    """Replace the configuration of orders."""
    named = {name.replace("_", "."): value for name, value in configs.items()}
    cluster.runtime.controller.configure_topic("orders", named, cluster.now)
    cluster.settle()


def write(cluster: Cluster, count: int = 1) -> None:
    """Records in partition 0; all have the time of the desk's zero."""
    client = cluster.client(cluster.partition().leader)
    for _ in range(count):
        client.send(produce(), 9)
    assert len(client.answers()) == count


def starts(cluster: Cluster) -> list[int]:
    """Where partition 0 starts at each broker."""
    return [cluster.partition(at=node).log.log_start_offset for node in cluster.runtime.brokers]


def fetch(cluster: Cluster, client: Any, offset: int) -> tuple[int, int]:
    """Error and log start of a fetch that does not wait."""
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1_000,
        topics=[FetchTopic(topic="orders", partitions=[asked])],
    )  # fmt: skip
    (partition,) = client.ask(request, 12).responses[0].partitions
    return partition.error_code, partition.log_start_offset


class TestChecks:
    """RET-5: the grid of checks, and that none takes place at which nothing can go."""

    def test_nothing_is_awaited_until_something_can_go(self) -> None:
        cluster = desk(1)
        write(cluster)
        at = cluster.runtime.brokers[1].services.cleaning.next_deadline()
        assert at is not None
        assert at == FIRST_MS + -(-(WEEK_MS + 1 - FIRST_MS) // EVERY_MS) * EVERY_MS
        cluster.pass_time(at - 1)
        assert (starts(cluster), cluster.logged("SegmentsDeleted")) == ([0], [])
        cluster.pass_time(1)
        assert starts(cluster) == [1]
        assert cluster.runtime.brokers[1].services.cleaning.next_deadline() is None

    def test_the_first_check_and_the_following_ones(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        write(cluster)
        cluster.pass_time(FIRST_MS - 1)
        assert starts(cluster) == [0]
        cluster.pass_time(1)
        assert starts(cluster) == [1]
        write(cluster)  # its time is long ago
        cluster.pass_time(EVERY_MS - 1)
        assert starts(cluster) == [1]
        cluster.pass_time(1)
        assert starts(cluster) == [2]

    def test_logs_that_are_compacted_too_are_looked_at_by_the_cleaner(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        configure(cluster, cleanup_policy="compact,delete")
        client = cluster.client(1)
        client.send(produce(key=b"k"), 9)
        cluster.pass_time(14_999)
        assert starts(cluster) == [0]
        cluster.pass_time(1)
        assert starts(cluster) == [1]

    def test_what_keeps_all_waits_for_nothing(self) -> None:
        for configs in ({"retention_ms": "-1"}, {"cleanup_policy": ""}):
            cluster = desk(1)
            configure(cluster, **configs)
            write(cluster, 3)
            assert cluster.runtime.brokers[1].services.cleaning.next_deadline() is None

    def test_by_size_it_is_an_append_that_is_waited_for(self) -> None:
        cluster = desk(1)
        size = 69
        configure(cluster, internal_segment_bytes=str(2 * size), retention_bytes=str(3 * size))
        write(cluster, 4)
        soon = cluster.runtime.brokers[1].services.cleaning.next_deadline()
        assert soon is not None and soon > WEEK_MS
        write(cluster)
        assert cluster.runtime.brokers[1].services.cleaning.next_deadline() == FIRST_MS
        cluster.pass_time(FIRST_MS)
        assert starts(cluster) == [2]

    def test_settings_that_change_count_from_the_next_check_on(self) -> None:
        cluster = desk(1)
        write(cluster)
        cluster.pass_time(DAY_MS)
        configure(cluster, retention_ms="1000")
        at = cluster.runtime.brokers[1].services.cleaning.next_deadline()
        assert at is not None and DAY_MS < at <= DAY_MS + EVERY_MS
        configure(cluster, retention_ms="-1")
        assert cluster.runtime.brokers[1].services.cleaning.next_deadline() is None
        cluster.pass_time(DAY_MS)
        assert starts(cluster) == [0]

    def test_of_a_brokers_settings_too(self) -> None:
        cluster = desk(1)
        write(cluster)
        cluster.runtime.configs[1].replace_dynamic(
            {"log.retention.ms": "10"}, for_all_brokers=False
        )
        cluster.pass_time(FIRST_MS)
        assert starts(cluster) == [1]


class TestReplicas:
    """Each broker cleans what it holds; followers follow their leader's log start as well."""

    def test_all_replicas_start_later(self) -> None:
        cluster = desk(log_retention_ms="1000")
        write(cluster, 2)
        cluster.pass_time(FIRST_MS)
        assert starts(cluster) == [2, 2, 2]
        leader = cluster.partition().leader
        (line,) = cluster.logged("SegmentsDeleted")
        assert (line["broker"], line["reason"], line["first_offset"], line["end_offset"]) == (
            leader, "retention.ms", 0, 2
        )  # fmt: skip

    def test_nothing_goes_that_a_replica_in_sync_lacks(self) -> None:
        cluster = desk(log_retention_ms="1000", replica_lag_time_max_ms="10000000")
        leader = cluster.partition().leader
        (one, other) = (node for node in (1, 2, 3) if node != leader)
        cluster.do(SlowFollower(one, delay_ms=400_000))
        cluster.client(leader).send(produce(acks=1), 9)
        cluster.pass_time(FIRST_MS)
        assert cluster.partition(at=leader).log.log_start_offset == 0
        cluster.pass_time(EVERY_MS * 3)
        assert starts(cluster) == [1, 1, 1]
        assert other != one

    def test_a_follower_that_was_away_begins_where_its_leader_starts(self) -> None:
        cluster = desk(log_retention_ms="1000")
        leader = cluster.partition().leader
        away = next(node for node in (1, 2, 3) if node != leader)
        write(cluster)
        cluster.do(StopBroker(away))
        cluster.pass_time(FIRST_MS)
        write(cluster)
        cluster.pass_time(EVERY_MS)
        cluster.do(StartBroker(away))
        cluster.pass_time(5_000)
        assert starts(cluster) == [2, 2, 2]

    def test_a_new_leader_goes_on_with_it(self) -> None:
        cluster = desk(log_retention_ms="1000")
        cluster.pass_time(FIRST_MS)
        write(cluster)
        leader = cluster.partition().leader
        to = next(node for node in (1, 2, 3) if node != leader)
        cluster.do(MoveLeader("orders", 0, to))
        cluster.pass_time(EVERY_MS)
        assert starts(cluster) == [1, 1, 1]
        assert [line["broker"] for line in cluster.logged("SegmentsDeleted")] == [to]

    def test_segments_below_a_start_that_a_client_moved(self) -> None:
        cluster = desk()
        configure(cluster, internal_segment_bytes="69")
        write(cluster, 3)
        cluster.client(cluster.partition().leader).send(delete(2), 2)
        assert {cluster.partition(at=node).log.size for node in (1, 2, 3)} == {3 * 69}
        cluster.pass_time(FIRST_MS)
        assert {cluster.partition(at=node).log.size for node in (1, 2, 3)} == {69}
        (line,) = cluster.logged("SegmentsDeleted")
        assert (line["reason"], line["segments"], line["first_offset"], line["end_offset"]) == (
            "log start", 2, 2, 2
        )  # fmt: skip


class TestClocks:
    """Age counts by the wall clock of the broker's host, checks by a clock that never jumps."""

    def test_a_jump_of_a_week(self) -> None:
        cluster = desk(1)
        write(cluster)
        cluster.do(JumpClock(1, WEEK_MS + 1_000))
        assert starts(cluster) == [0]
        cluster.pass_time(FIRST_MS)
        assert starts(cluster) == [1]

    def test_a_jump_back_keeps_it_longer(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        write(cluster)
        cluster.do(JumpClock(1, -500_000))
        cluster.pass_time(FIRST_MS + EVERY_MS)
        assert starts(cluster) == [0]
        cluster.pass_time(EVERY_MS)
        assert starts(cluster) == [1]

    def test_a_broker_that_starts_again_looks_by_a_grid_of_its_own(self) -> None:
        cluster = desk(1, log_retention_ms="100000")
        write(cluster)
        cluster.pass_time(10_000)
        cluster.do(StopBroker(1, how="crash"))
        cluster.pass_time(10_000)
        cluster.do(StartBroker(1))
        cluster.pass_time(FIRST_MS + EVERY_MS - 1)
        assert starts(cluster) == [0]
        cluster.pass_time(1)
        assert starts(cluster) == [1]

    def test_a_paused_broker_looks_when_it_goes_on(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        write(cluster)
        cluster.do(StopBroker(1, how="pause"))
        cluster.pass_time(EVERY_MS)
        assert starts(cluster) == [0]
        cluster.do(StartBroker(1))
        assert starts(cluster) == [1]


class TestOnRequest:
    """CleanLogs: now, or at the next check; what cannot be cleaned is refused."""

    def test_now(self) -> None:
        cluster = desk(log_retention_ms="1000")
        write(cluster)
        cluster.pass_time(2_000)
        assert cluster.do(CleanLogs("orders", 1)) is None
        assert starts(cluster) == [0, 0, 0]
        cluster.do(CleanLogs("orders", 0))
        assert starts(cluster) == [1, 1, 1]

    def test_at_the_next_check(self) -> None:
        cluster = desk(1)
        cluster.do(CleanLogs(now=False))
        assert cluster.runtime.brokers[1].services.cleaning.next_deadline() == FIRST_MS
        cluster.pass_time(FIRST_MS)
        assert cluster.runtime.brokers[1].services.cleaning.next_deadline() is None

    @pytest.mark.parametrize(
        ("verb", "why"),
        [
            (CleanLogs("nope"), "there is no topic 'nope'; there are: orders"),
            (CleanLogs("orders", 2), "there is no partition 2 of orders: it has 2"),
            (CleanLogs(None, 1), "partition=1: of which topic"),
            (CleanLogs("__consumer_offsets"), "__consumer_offsets is not cleaned"),
        ],
    )
    def test_what_is_not_there(self, verb: CleanLogs, why: str) -> None:
        cluster = desk()
        with pytest.raises(ClusterError, match=why):
            cluster.do(verb)
        assert cluster.logged("CleanLogs") == []

    def test_nobody_runs(self) -> None:
        cluster = desk(1)
        cluster.do(StopBroker(1))
        with pytest.raises(ClusterError, match="no broker runs"):
            cluster.do(CleanLogs())


class TestReaders:
    """Who asked for what is gone, and where it went on; each once."""

    def test_they_are_written_down(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        write(cluster, 3)
        client = cluster.client(1)
        assert fetch(cluster, client, 1) == (0, 0)
        cluster.pass_time(FIRST_MS)
        assert [fetch(cluster, client, offset) for offset in (1, 1, 3, 3)] == [
            (1, -1), (1, -1), (0, 3), (0, 3)
        ]  # fmt: skip
        (out,) = cluster.logged("FetchOutOfRange")
        (on,) = cluster.logged("FetchWentOn")
        assert (out["offset"], out["log_start_offset"], out["reason"], out["client"]) == (
            1, 3, "retention.ms", "test"
        )  # fmt: skip
        assert (on["offset"], on["asked_before"], on["log_end_offset"]) == (3, 1, 3)

    def test_an_offset_that_never_was_is_not_blamed_on_retention(self) -> None:
        cluster = desk(1, log_retention_ms="1000")
        write(cluster, 3)
        cluster.pass_time(FIRST_MS)
        client = cluster.client(1)
        assert [fetch(cluster, client, offset)[0] for offset in (7, -1)] == [1, 1]
        assert cluster.logged("FetchOutOfRange") == []

    def test_a_fetch_in_an_older_segment_does_not_wait(self) -> None:
        """SEG-3, also once a segment begins while it waits. Deletion answers nobody (RET-6)."""
        cluster = desk(1)
        configure(cluster, internal_segment_bytes=str(2 * 69), retention_ms="-1")
        write(cluster, 3)
        asked = [
            FetchPartition(partition=0, fetch_offset=at, partition_max_bytes=1_000) for at in (1, 2)
        ]
        clients = [cluster.client(1) for _ in asked]
        for client, one in zip(clients, asked, strict=True):
            topics = [FetchTopic(topic="orders", partitions=[one])]
            client.send(
                FetchRequest(max_wait_ms=60_000, min_bytes=900, max_bytes=1_000, topics=topics), 12
            )
        assert [len(client.answers()) for client in clients] == [1, 0]
        write(cluster)
        assert clients[1].answers() == []
        write(cluster)
        (answer,) = clients[1].answers()
        assert len(answer.responses[0].partitions[0].records) == 2 * 69

    def test_a_fetch_that_waits_on_deleted_ground(self) -> None:
        """RET-6: it is told so when its time is over."""
        cluster = desk(1, log_retention_ms="1000")
        write(cluster, 3)
        client = cluster.client(1)
        one = FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1_000)
        topics = [FetchTopic(topic="orders", partitions=[one])]
        client.send(
            FetchRequest(max_wait_ms=40_000, min_bytes=900, max_bytes=1_000, topics=topics), 12
        )
        cluster.pass_time(39_999)
        assert (starts(cluster), client.answers()) == ([3], [])
        cluster.pass_time(1)
        (answer,) = client.answers()
        assert answer.responses[0].partitions[0].error_code == 1
