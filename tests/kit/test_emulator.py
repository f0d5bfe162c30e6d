"""The embeddable emulator: on the caller's loop, on its own thread, and what it says when it cannot
start."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.core.group_coordinator import SLICE, Outcome
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.events.files import runs
from coordinator.kit.emulator.embedded import ConfigError, EmulatorError
from coordinator.members.live import PeerError
from coordinator.server.build import TopicError
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

API_VERSIONS_V0 = bytes.fromhex("0000000a 0012 0000 00000001 ffff")


def answers(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as asker:
        asker.sendall(API_VERSIONS_V0)
        return len(asker.recv(4)) == 4


class TestOnItsOwnThread:
    def test_serves_blocking_callers_and_leaves_nothing(self) -> None:
        threads = threading.active_count()
        with Emulator({"orders": 12}) as kafka:
            assert answers(kafka.bootstrap_servers)
            assert kafka.run(lambda: len(kafka.broker.cluster.topics["orders"].partitions)) == 12
            assert kafka.run(lambda: threading.current_thread().name) == "coordinator-emulator"
            address = kafka.bootstrap_servers
        assert threading.active_count() == threads
        with pytest.raises(OSError):
            answers(address)
        with pytest.raises(EmulatorError, match="not running"):
            _ = kafka.broker

    def test_run_hands_on_what_was_raised(self) -> None:
        def fail() -> None:
            raise KeyError("planted")

        with Emulator() as kafka, pytest.raises(KeyError, match="planted"):
            kafka.run(fail)

    def test_a_failed_start_is_told_to_the_caller(self) -> None:
        threads = threading.active_count()
        with (
            socket.create_server(("127.0.0.1", 0)) as taken,
            pytest.raises(EmulatorError, match="the address is in use"),
        ):
            with Emulator(listen=f"127.0.0.1:{taken.getsockname()[1]}"):
                pass
        assert threading.active_count() == threads

    def test_is_entered_once(self) -> None:
        with Emulator() as kafka:
            pass
        with pytest.raises(EmulatorError, match="make another one"), kafka:
            pass

    def test_two_side_by_side(self) -> None:
        with Emulator({"a": 1}) as one, Emulator({"b": 1}) as other:
            assert one.bootstrap_servers != other.bootstrap_servers
            assert "b" not in one.run(lambda: set(one.broker.cluster.topics))
            assert answers(other.bootstrap_servers)

    def test_an_error_in_the_block_ends_it_all_the_same(self) -> None:
        with pytest.raises(ZeroDivisionError), Emulator():
            raise ZeroDivisionError
        assert "coordinator-emulator" not in [thread.name for thread in threading.enumerate()]


class TestOnTheCallersLoop:
    async def test_serves_and_leaves_no_task(self) -> None:
        before = asyncio.all_tasks()
        async with Emulator(["orders:3", "payments"]) as kafka:
            assert await asyncio.to_thread(answers, kafka.bootstrap_servers)
            assert set(kafka.run(lambda: kafka.broker.cluster.topics)) == {
                "__consumer_offsets",
                "orders",
                "payments",
            }
            assert (
                await asyncio.to_thread(kafka.run, threading.current_thread)
                is threading.current_thread()
            )
        assert asyncio.all_tasks() == before

    async def test_a_failed_start(self) -> None:
        with (
            socket.create_server(("127.0.0.1", 0)) as taken,
            pytest.raises(EmulatorError, match="in use"),
        ):
            async with Emulator(listen=f"127.0.0.1:{taken.getsockname()[1]}"):
                pass


class TestOptions:
    def test_defaults_are_kafkas_but_for_the_initial_delay(self) -> None:
        name = "group.initial.rebalance.delay.ms"
        assert Emulator().configs.get_int(name) == 0
        assert Emulator(kafka_defaults=True).configs.get_int(name) == 3000
        assert Emulator(config={name: 7}, kafka_defaults=True).configs.get_int(name) == 7

    def test_short_sessions_are_refused_unless_the_configuration_lowers_the_bound(self) -> None:
        """As docs/testing.md says, which the fixtures do by themselves."""
        short = {"session.timeout.ms": 2000, "heartbeat.interval.ms": 500}
        with Emulator(["orders"]) as kafka:
            peer = kafka.peer("g", ["orders"], config=short)
            with pytest.raises(PeerError, match=r"INVALID_SESSION_TIMEOUT \(26\)"):
                peer.wait_stable()
        with Emulator(["orders"], {"group.min.session.timeout.ms": 100}) as kafka:
            kafka.peer("g", ["orders"], config=short).wait_stable()

    def test_values_as_python_has_them(self) -> None:
        configs = Emulator(config={"auto.create.topics.enable": False, "num.partitions": 5}).configs
        assert configs.get_bool("auto.create.topics.enable") is False
        assert configs.get_int("num.partitions") == 5

    def test_a_topic_without_a_number_has_num_partitions(self) -> None:
        with Emulator("orders", {"num.partitions": 5}) as kafka:
            assert len(kafka.broker.cluster.topics["orders"].partitions) == 5

    def test_one_seed_one_set_of_ids(self) -> None:
        def ids(seed: int) -> tuple[str, bytes]:
            with Emulator({"orders": 1}, seed=seed) as kafka:
                cluster = kafka.broker.cluster
                return cluster.cluster_id, cluster.topics["orders"].id

        assert ids(3) == ids(3) != ids(4)

    @pytest.mark.parametrize(
        "topic",
        ["a b", "", ".", "..", "x:0", "x:-1", "x:many", "é", "x" * 250, "__consumer_offsets"],
    )
    def test_topics_that_cannot_be(self, topic: str) -> None:
        with pytest.raises(TopicError):
            Emulator([topic])

    @pytest.mark.parametrize(
        "topics",
        [
            {"orders": "x"},
            {"orders": "12"},
            {"orders": 2.0},
            {"orders": True},
            {1: 2},
            [1],
            [b"orders"],
            b"orders",
            5,
            None,
        ],
    )
    def test_topics_of_the_wrong_kind(self, topics: Any) -> None:
        with pytest.raises(TopicError, match=r"give|is a text"):
            Emulator(topics)

    def test_a_topic_twice(self) -> None:
        with pytest.raises(TopicError, match="orders is given twice"):
            Emulator(["orders:1", "orders:2"])

    def test_configurations_that_cannot_be(self) -> None:
        with pytest.raises(
            ConfigError, match=r"did you mean .*group\.initial\.rebalance\.delay\.ms"
        ):
            Emulator(config={"group.initial.rebalance.delay": 0})
        with pytest.raises(ConfigError, match=r"num\.partitions=x"):
            Emulator(config={"num.partitions": "x"})

    def test_configurations_of_others(self) -> None:
        with pytest.raises(
            ConfigError,
            match=r"session\.timeout\.ms .* a client's, .*group\.min\.session\.timeout\.ms",
        ):
            Emulator(config={"session.timeout.ms": 6000})
        with pytest.raises(ConfigError, match=r"heartbeat\.interval\.ms .* a client's"):
            Emulator(config={"heartbeat.interval.ms": 6000})

    def test_configurations_of_the_wrong_kind(self) -> None:
        wrong: Any
        for wrong in ("num.partitions=3", ["num.partitions=3"], {"num.partitions": None}, 5):
            with pytest.raises(ConfigError, match=r"give Kafka's names|leave the name out"):
                Emulator(config=wrong)
        assert Emulator(config={"group.consumer.assignors": ["range", "uniform"]}).configs.get_list(
            "group.consumer.assignors"
        ) == ["range", "uniform"]

    @pytest.mark.parametrize("listen", ["nowhere", "0.0.0.0:0", ["127.0.0.1:0", "127.0.0.1:0"]])
    def test_listeners_that_cannot_be(self, listen: str | list[str]) -> None:
        with pytest.raises(EmulatorError):
            Emulator(listen=listen)

    def test_options_of_the_wrong_kind(self) -> None:
        options: dict[str, Any]
        for options in (
            {"listen": 9092},
            {"listen": ["127.0.0.1:0", 9092]},
            {"advertise": 9092},
            {"log": 5},
            {"seed": "x"},
            {"node_id": "1"},
        ):
            with pytest.raises(EmulatorError, match=f"{next(iter(options))}=.*give"):
                Emulator(**options)

    def test_a_log_that_cannot_be_written(self, tmp_path: Path) -> None:
        with (
            pytest.raises(EmulatorError, match="cannot write the log"),
            Emulator(log=tmp_path / "no" / "such" / "place.jsonl"),
        ):
            pass

    def test_a_log_that_is_there_already(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        with Emulator(log=path, seed=1):
            pass
        with (
            pytest.raises(EmulatorError, match=r'exists already.*"new".*"append".*"replace"'),
            Emulator(log=path),
        ):
            pass
        with Emulator(log=path, log_mode="append", seed=2):
            pass
        assert [run.name for run in runs(path)] == ["1", "2"]
        with Emulator(log=path, log_mode="replace", seed=3):
            pass
        assert [run.name for run in runs(path)] == ["3"]
        path.write_text("something else\n")
        with (
            pytest.raises(EmulatorError, match="no event log, so nothing is appended"),
            Emulator(log=path, log_mode="append"),
        ):
            pass
        with pytest.raises(
            EmulatorError, match="log_mode='force': it is one of new, append, replace"
        ):
            Emulator(log=path, log_mode="force")  # type: ignore[arg-type]

    def test_the_log_is_complete_after_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        with Emulator({"orders": 2}, log=path):
            pass
        assert '"orders"' in path.read_text()
        assert path.read_text().endswith("\n")


def test_a_coordinator_loads_many_groups_in_slices_and_is_done_when_the_call_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ERR-4, ERR-7: no slice does more than its share, and nobody waits for the whole."""
    commit = OffsetCommitRequest(
        topics=[
            OffsetCommitRequestTopic(
                name="orders",
                partitions=[
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=7)
                    for index in range(2)
                ],
            )
        ]
    )
    with Emulator({"orders": 2}) as kafka:
        coordinator = kafka.coordinator

        def fill() -> None:
            for group in range(2_000):
                commit.group_id = f"group-{group}"
                coordinator.handle(Request(RequestContext(8), commit), kafka.server.now())

        kafka.run(fill)
        loaded: list[int] = []
        tick = coordinator.tick

        def counted(now: int) -> Outcome:
            outcome = tick(now)
            loaded.append(sum(type(event).__name__ == "GroupLoaded" for _, event in outcome.events))
            return outcome

        monkeypatch.setattr(coordinator, "tick", counted)
        kafka.unload_coordinator()
        assert kafka.run(lambda: coordinator.groups) == {}
        asked: list[object] = []
        run = kafka.run
        with monkeypatch.context() as patch:
            patch.setattr(kafka, "run", lambda function: asked.append(function) or run(function))
            kafka.load_coordinator()
        assert len(asked) <= 2, "the end of the load is waited for, not asked for"
        assert kafka.run(lambda: len(coordinator.groups)) == 2_000
        assert sum(loaded) == 2_000
        assert max(loaded) <= SLICE // 2, (
            "a group costs at least two: itself and what it has committed"
        )


def test_the_import_is_lazy() -> None:
    import subprocess
    import sys

    code = "import coordinator, sys; assert 'asyncio' not in sys.modules; coordinator.Emulator; assert 'asyncio' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
