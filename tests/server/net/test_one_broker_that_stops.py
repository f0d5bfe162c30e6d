"""An emulator of one broker is stopped and started again: what it keeps, what it loses, and what
real clients see of it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.releases import NEWEST
from coordinator.kit.emulator.options import EmulatorError
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.http.serving import opened
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.settings.broker_configs import ConfigError
from tests.testing.applications import LIBRARIES, application_class

HOWS = ("controlled", "crash", "pause")
_FAST = {"heartbeat.interval.ms": 50}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator({"orders": 3}, remember=100_000, seed=5) as running:
        yield running


@pytest.fixture(params=["here", "far"])
def kit(request: pytest.FixtureRequest, kafka: Emulator) -> Iterator[Any]:
    if request.param == "here":
        yield kafka
        return
    with opened(kafka) as port:
        yield RemoteKit(port.url)


@pytest.mark.parametrize("how", HOWS)
class TestWhatStays:
    def test_records_offsets_and_transactions(self, kit: Any, how: str) -> None:
        kit.produce("orders", ["x"] * 3, partition=0)
        kit.produce("orders", ["never"], partition=1, transactional_id="t", abort=True)
        kit.produce("orders", ["counts"], partition=2, transactional_id="t")
        kit.group("billing").commit({("orders", 0): 2})
        address = kit.bootstrap_servers
        with kit.stop_broker(1, how=how):
            assert not kit.is_running(1)
        assert kit.is_running(1)
        assert kit.bootstrap_servers == address
        assert [row.value for row in kit.records("orders", 0)] == [b"x"] * 3
        assert kit.records("orders", 1, committed=True) == []
        assert [row.value for row in kit.records("orders", 2, committed=True)] == [b"counts"]
        assert kit.group("billing").committed["orders", 0].offset == 2
        kit.produce("orders", ["y"], partition=0, transactional_id="t")
        assert kit.end_offsets("orders")[0] == 5  # with the marker

    @pytest.mark.parametrize("library", LIBRARIES)
    def test_clients_come_back_by_themselves(
        self, kafka: Emulator, library: str, how: str, request: pytest.FixtureRequest
    ) -> None:
        application = application_class(library)()
        request.addfinalizer(application.stop)
        kafka.produce("orders", ["before"] * 6)
        application.start(kafka.bootstrap_servers)
        group = kafka.group("billing")
        group.wait(state="Stable", members=1, assigned="all", lag=0, timeout=60)
        with kafka.stop_broker(1, how=how):
            pass
        kafka.produce("orders", ["after"] * 6)
        group.wait(state="Stable", assigned="all", lag=0, timeout=60)
        assert application.error is None
        assert len(set(application.processed())) == 12


class TestThePort:
    def test_who_comes_meanwhile_is_refused(self, kafka: Emulator) -> None:
        host, port = kafka.bootstrap_servers.split(":")
        for how in ("controlled", "crash"):
            with kafka.stop_broker(1, how=how):  # type: ignore[arg-type]
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection((host, int(port)), timeout=10)
                with (
                    socket.socket() as other,
                    pytest.raises(OSError, match="in use"),
                ):
                    other.bind((host, int(port)))
            socket.create_connection((host, int(port)), timeout=10).close()

    def test_who_comes_to_a_paused_one_waits_in_silence(self, kafka: Emulator) -> None:
        host, port = kafka.bootstrap_servers.split(":")
        asked = bytes.fromhex("0000000f 0012 0000 00000007 0005 6170702d31")
        with kafka.stop_broker(1, how="pause") as paused:
            with socket.create_connection((host, int(port)), timeout=0.2) as client:
                client.sendall(asked)
                with pytest.raises(TimeoutError):
                    client.recv(1)
                paused.undo()
                client.settimeout(30)
                assert client.recv(4)

    def test_on_the_emulators_own_loop(self) -> None:
        async def story() -> None:
            async with Emulator({"orders": 1}) as kafka:
                host, port = kafka.bootstrap_servers.split(":")
                kafka.stop_broker(1)
                await asyncio.sleep(0)
                kafka.start_broker(1)
                await kafka.awaited_restart(config={"group.max.size": 7})
                _, writer = await asyncio.open_connection(host, int(port))
                writer.close()
                await writer.wait_closed()
                assert kafka.configs.get_int("group.max.size") == 7

        asyncio.run(story())

    def test_it_comes_back_as_another_release(self) -> None:
        """UPG-1, UPG-4: it advertises what the new one has; groups and features stay."""
        newer = {"group.consumer.assignor.offload.enable": "false"}
        with Emulator({"orders": 1}, kafka_version="4.2", remember=10_000) as kafka:
            with pytest.raises(ConfigError, match="no broker configuration of Kafka 4"):
                kafka.restart(kafka_version="4.3", config=newer)
            with kafka.peer("g", ["orders"], config={"group.protocol": "consumer"}) as peer:
                peer.wait_stable()
                kafka.stop_broker(1)
                kafka.start_broker(1, kafka_version="4.3")
                assert kafka.configs.release.name == "4.3"
                kafka.restart(kafka_version="4.4", config=newer)
                kafka.group("g").wait(state="Stable", members=1, assigned="all")
                environment = kafka.broker.coordinator.config.consumer
                assert environment is not None
                assert environment.release is kafka.configs.release is NEWEST
                assert kafka.broker.services.shares.grown_from_zero
            started = kafka.events("StartBroker")
            assert [line["kafka_version"] for line in started] == ["4.3.1", "4.4.0"]
            with kafka.update_feature("share.version", 2):
                with pytest.raises(ClusterError, match="does not start as Kafka 4"):
                    kafka.restart(kafka_version="4.3")
                assert kafka.is_running(1)
            with pytest.raises(ClusterError, match="Local controller 1 does not support"):
                kafka.update_feature("nonsense", 1)
            kafka.stop_broker(1)
            with pytest.raises(ClusterError, match="the only broker does not run"):
                kafka.update_feature("group.version", 0)

    def test_an_emulator_whose_broker_is_stopped_ends(self) -> None:
        for how in HOWS:
            with Emulator({"orders": 1}) as kafka:
                kafka.stop_broker(1, how=how)  # type: ignore[arg-type]


class TestGroups:
    @pytest.mark.parametrize("how", ["controlled", "crash"])
    def test_sessions_begin_anew_and_members_keep_their_place(
        self, kafka: Emulator, how: Any
    ) -> None:
        with kafka.peer("billing", ["orders"], config=_FAST) as peer:
            peer.wait_stable()
            group, mark = kafka.group("billing"), kafka.mark()
            before = group.generation
            kafka.restart(how=how)
            group.wait(state="Stable", members=1, assigned="all", heard=True)
            assert group.generation == before
            types = [line["type"] for line in kafka.events(since=mark, stream="fault")]
            assert types == ["StopBroker", "StartBroker"]
            assert kafka.events("GroupLoaded", since=mark)
        assert "Broker 1 stops" in kafka.explain("billing")

    def test_a_paused_broker_expires_nobody_before_it_goes_on(self, kafka: Emulator) -> None:
        config = {"session.timeout.ms": 6000, **_FAST}
        with kafka.peer("billing", ["orders"], config=config) as peer:
            peer.wait_stable()
            peer.pause()
            mark = kafka.mark()
            with kafka.stop_broker(1, how="pause"):
                kafka.advance(seconds=60, silent=["consumer-billing-1"], grace=0)
                assert kafka.events("MemberRemoved", since=mark) == []
            assert kafka.wait_for("MemberRemoved", since=mark, group="billing")

    def test_a_group_larger_than_the_new_limit_puts_its_last_out(self, kafka: Emulator) -> None:
        group = kafka.group("billing")
        peers = [kafka.peer("billing", ["orders"], config=_FAST) for _ in range(3)]
        group.wait(state="Stable", members=3, assigned="all")
        mark = kafka.mark()
        kafka.restart(config={"group.max.size": 2})
        # who is refused is no member, and nobody looks whether all others are there: Kafka waits
        kafka.wait_for("RequestRefused", since=mark, errors=["GROUP_MAX_SIZE_REACHED"])
        kafka.advance(seconds=301, grace=0.1)
        group.wait(state="Stable", members=2, assigned="all")
        assert "the group is larger than group.max.size" in [
            line["reason"] for line in kafka.events("RebalanceStarted", group="billing")
        ]
        assert [peer for peer in peers if "GROUP_MAX_SIZE_REACHED" in str(peer.fault)]

    def test_waits_and_peers_say_that_no_broker_runs(self, kit: Any) -> None:
        kit.stop_broker(1)
        for ask in (
            lambda: kit.produce("orders", ["x"], timeout=0),
            lambda: kit.group("billing").wait(state="Stable", timeout=0.05),
        ):
            with pytest.raises((ControlError, WaitTimeoutError), match="no broker runs"):
                ask()


class TestSettings:
    @pytest.mark.parametrize(
        ("config", "why"),
        [
            ({"node.id": 2}, "node.id is not read when a broker starts again"),
            ({"offsets.topic.num.partitions": 3}, "it counts when __consumer_offsets is made"),
            ({"min.insync.replicas": 2}, "is in force as a dynamic configuration"),
            ({"group.max.sise": 2}, "group.max.sise is no broker configuration"),
            ({"group.max.size": 0}, "group.max.size=0"),
            ({"group.min.session.timeout.ms": 10**9}, "group.min.session.timeout.ms"),
        ],
    )
    def test_what_kafka_does_not_read_or_take_is_refused_and_nothing_stops(
        self, kit: Any, config: dict[str, Any], why: str
    ) -> None:
        mark = kit.mark()
        with pytest.raises((ConfigError, ControlError), match=why):
            kit.restart(config={"group.max.session.timeout.ms": 5000} | config)
        assert kit.is_running(1)
        assert kit.events(since=mark, stream="fault") == []

    def test_settings_are_a_mapping(self, kafka: Emulator) -> None:
        with pytest.raises(ControlError, match="a mapping is meant, such as"):
            kafka.restart(config="group.max.size=2")  # type: ignore[arg-type]
        assert kafka.is_running(1)

    def test_how(self, kafka: Emulator) -> None:
        with pytest.raises(EmulatorError, match="controlled or crash"):
            kafka.restart(how="pause")
        with pytest.raises(EmulatorError, match="say which one is meant: 1"):
            kafka.restart(7)
        with kafka.stop_broker(1), pytest.raises(ClusterError, match="is stopped, not running"):
            kafka.restart()

    def test_one_of_several(self) -> None:
        with Emulator(brokers=3, remember=1000) as kafka:
            with pytest.raises(EmulatorError, match="say which one is meant: 1, 2, 3"):
                kafka.restart()
            kafka.restart(2, config={"group.max.size": 5})
            read = {
                node: broker.configs.get_int("group.max.size")
                for node, broker in kafka.brokers.items()
            }
            assert read[2] == 5
            assert read[1] != 5
