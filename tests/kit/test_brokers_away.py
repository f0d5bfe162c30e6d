"""The kit while brokers are away: what it says is done stays done, as with a client that asks for
all acknowledgements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.cluster_kit import Done
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.http.serving import opened
from coordinator.kit.in_process_requests import ControlError
from coordinator.testing.virtual import virtual_kafka

_SETTINGS = {
    "broker.session.timeout.ms": 300,
    "replica.lag.time.max.ms": 600,
    "default.replication.factor": 3,
    "offsets.topic.num.partitions": 3,
}


@pytest.fixture
def cluster() -> Iterator[Emulator]:
    with Emulator({"orders": 3}, _SETTINGS, brokers=3, remember=100_000, seed=3) as kafka:
        yield kafka


@pytest.fixture(params=["here", "far"])
def kit(request: pytest.FixtureRequest, cluster: Emulator) -> Iterator[Any]:
    """The kit, in this process or over HTTP."""
    if request.param == "here":
        yield cluster
        return
    with opened(cluster) as port:
        yield RemoteKit(port.url)


def leader_of(kafka: Emulator, topic: str, index: int) -> int:
    broker = kafka.brokers[1]
    found = kafka.run(lambda: broker.controller.cluster.partition(topic, index))
    assert found is not None
    return found.leader


def isr_of(kafka: Emulator, topic: str, index: int) -> list[int]:
    broker = kafka.brokers[1]
    found = kafka.run(lambda: broker.controller.cluster.partition(topic, index))
    assert found is not None
    return list(found.isr)


class TestProduce:
    @pytest.mark.parametrize("how", ["crash", "pause", "controlled"])
    def test_what_is_returned_as_written_is_there_in_the_end(self, kit: Any, how: str) -> None:
        written = kit.produce("orders", ["before"] * 3)
        with kit.stop_broker(1, how=how):
            written += kit.produce("orders", ["during"] * 6)
        written += kit.produce("orders", ["after"] * 3)
        assert len(set(written)) == 12
        found = {(row.topic, row.partition, row.offset) for row in kit.records("orders")}
        assert found == set(written)

    def test_a_dead_follower_is_waited_for_until_it_is_out_of_sync(self, cluster: Emulator) -> None:
        leader = leader_of(cluster, "orders", 0)
        follower = next(node for node in (1, 2, 3) if node != leader)

        def crash() -> Done:
            done = cluster.stop_broker(follower, how="crash")
            assert follower in isr_of(cluster, "orders", 0)
            return done

        with cluster.run(crash):  # before its lag counts, however long this thread stands still
            cluster.produce("orders", ["x"], partition=0)
            assert follower not in isr_of(cluster, "orders", 0)

    def test_it_is_asked_again_when_its_leader_dies_before_the_answer_and_counts_once(self) -> None:
        settings = {**_SETTINGS, "replica.lag.time.max.ms": 60_000}
        with Emulator({"orders": 1}, settings, brokers=3, seed=3) as kafka:
            leader = leader_of(kafka, "orders", 0)
            others = [node for node in (1, 2, 3) if node != leader]
            for node in others:
                kafka.slow_follower(node, delay_ms=60_000)

            def unwritten() -> tuple[str, ...]:
                found = kafka.brokers[leader].cluster.partition("orders", 0)
                assert found is not None
                return () if found.log.log_end_offset else ("the record",)

            waits = kafka._session.waits
            appended = kafka.run(lambda: waits.begin(unwritten, lambda: None))
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(kafka.produce, "orders", ["once"], partition=0)
                appended.result(30)
                assert not asked.done()
                kafka.stop_broker(leader, how="crash")
                for node in others:
                    kafka.slow_follower(node, delay_ms=0)
                (place,) = asked.result(30)
            assert leader_of(kafka, "orders", 0) in others
            assert [row.value for row in kafka.records("orders", 0)] == [b"once"]
            assert place.offset == 0

    def test_too_few_replicas_in_sync_are_named_and_nothing_is_written(self, kit: Any) -> None:
        kit.create_topic("safe", 1, config={"min.insync.replicas": 3})
        with kit.stop_broker(2), pytest.raises(ControlError) as refused:
            kit.produce("safe", ["x"], timeout=0.3)
        told = str(refused.value)
        assert "safe-0" in told
        assert "min.insync.replicas is 3" in told
        assert "replicas: " in told
        assert "waited for 0.3 s" in told
        assert kit.records("safe") == []

    def test_no_leader_is_named_with_the_replicas_in_sync(self, kit: Any) -> None:
        kit.create_topic("single", 3, replication=1)
        with kit.stop_broker(2, how="crash"), pytest.raises(ControlError) as refused:
            kit.produce("single", ["x"] * 3, timeout=1)
        assert "has no leader that runs" in str(refused.value)
        assert "replicas: 2)" in str(refused.value)
        assert kit.records("single") == []  # nor was anything written where there was a leader

    def test_a_transaction_waits_as_well(self, kit: Any) -> None:
        with kit.stop_broker(1, how="crash"):
            written = kit.produce("orders", ["x"] * 3, transactional_id="t")
        assert len(kit.records("orders", committed=True)) == len(written) == 3


class TestOnItsOwnLoop:
    def test_produce_never_waits_and_names_what_does(self) -> None:
        async def story() -> None:
            async with Emulator({"orders": 3}, _SETTINGS, brokers=3, seed=3) as kafka:
                kafka.stop_broker(1, how="crash")
                with pytest.raises(ControlError, match=r"await akafka\.produce_when_ready") as told:
                    kafka.produce("orders", ["x"] * 3)
                assert "broker 1" in str(told.value)
                assert kafka.records("orders", leader_among(kafka)) == []
                written = await kafka.produce_when_ready("orders", ["x"] * 3)
                assert len(kafka.records("orders")) == len(written) == 3

        asyncio.run(story())

    def test_its_time_is_over(self) -> None:
        async def story() -> None:
            async with Emulator(config=_SETTINGS, brokers=3, seed=3) as kafka:
                kafka.create_topic("orders", 1, config={"min.insync.replicas": 3})
                kafka.stop_broker(2)
                with pytest.raises(ControlError, match=r"min\.insync\.replicas is 3"):
                    await kafka.produce_when_ready("orders", ["x"], timeout=0.2)

        asyncio.run(story())

    async def test_virtual_time(self) -> None:
        async with virtual_kafka({"orders": 3}, brokers=3, config=_SETTINGS) as kafka:
            began = kafka.now_ms
            written = kafka.produce("orders", ["x"] * 3)
            assert kafka.now_ms == began
            assert len(kafka.records("orders")) == len(written) == 3


def leader_among(kafka: Emulator) -> int:
    """A partition that broker 1 does not lead."""
    return next(index for index in range(3) if leader_of(kafka, "orders", index) != 1)


class TestOthers:
    def test_a_commit_reaches_the_coordinator_that_comes_next(self, kit: Any) -> None:
        kit.group("billing").commit({("orders", 0): 1})
        first = kit.group("billing").coordinator
        with kit.stop_broker(first, how="crash"):
            kit.group("billing").commit({("orders", 0): 2})
            assert kit.group("billing").coordinator not in (first, None)
        assert kit.group("billing").committed["orders", 0].offset == 2

    def test_a_paused_coordinator_takes_no_commit(self, kit: Any) -> None:
        kit.group("billing").commit({("orders", 0): 1})
        first = kit.group("billing").coordinator
        other = next(node for node in (1, 2, 3) if node != first)
        without_a_majority = kit.stop_broker(other, how="pause")  # no coordinator comes next
        with kit.stop_broker(first, how="pause"):
            with pytest.raises(ControlError, match="no coordinator that runs"):
                kit.group("billing").commit({("orders", 0): 2}, timeout=0)
            without_a_majority.undo()
            kit.group("billing").commit({("orders", 0): 3})
        assert kit.group("billing").committed["orders", 0].offset == 3

    def test_records_and_ends_are_those_of_a_leader(self, kit: Any) -> None:
        kit.create_topic("single", 3, replication=1)
        kit.produce("single", ["x"] * 3)
        with kit.stop_broker(2, how="crash"):
            for ask in (kit.records, kit.end_offsets):
                with pytest.raises(ControlError, match="has no leader that runs"):
                    ask("single", timeout=0.2)
            with pytest.raises(ControlError, match="has no leader that runs"):
                for index in range(3):
                    kit.truncate("single", index, timeout=0.2)
        assert set(kit.end_offsets("single")) == {0, 1, 2}

    def test_a_truncation_waits_for_the_next_leader(self, kit: Any, cluster: Emulator) -> None:
        kit.produce("orders", ["x"] * 5, partition=0)
        with kit.stop_broker(leader_of(cluster, "orders", 0), how="crash"):
            assert kit.truncate("orders", 0, 3) == 3
        assert [row.offset for row in kit.records("orders", 0)] == [3, 4]

    def test_topics_change_at_a_broker_that_runs_and_reaches_a_controller(self, kit: Any) -> None:
        with kit.stop_broker(1, how="crash"):
            kit.create_topic("new", 1, replication=2)
            kit.grow_topic("new", 2)
            assert kit.topics()["new"] == 2
        assert kit.topics()["new"] == 2

    def test_nobody_runs(self, kit: Any) -> None:
        for node in (1, 2, 3):
            kit.stop_broker(node, how="pause")
        for ask in (
            lambda: kit.produce("orders", ["x"], timeout=0),
            lambda: kit.records("orders", timeout=0),
            lambda: kit.group("billing").commit({("orders", 0): 1}, timeout=0),
        ):
            with pytest.raises(ControlError, match="no broker runs"):
                ask()
