"""Addresses of several brokers: each has its own port, which stays its own while it is stopped."""

from __future__ import annotations

import socket

import pytest

from coordinator import Emulator
from coordinator.kit.cluster import StartBroker, StopBroker
from coordinator.kit.emulator.options import EmulatorError
from coordinator.server.net.cluster_server import shifted
from coordinator.server.net.endpoints import Endpoint


def test_each_listens_one_port_further_on() -> None:
    given = Endpoint("PLAINTEXT", "127.0.0.1", 9092)
    assert [shifted(given, node - 1).port for node in (1, 2, 3)] == [9092, 9093, 9094]
    assert shifted(given._replace(port=0), 2).port == 0, "a free one for each"


def test_all_addresses_are_told() -> None:
    with Emulator({"orders": 1}, brokers=3) as kafka:
        addresses = kafka.bootstrap_servers.split(",")
        assert len(set(addresses)) == 3
        for node, address in enumerate(addresses, 1):
            host, port = address.rsplit(":", 1)
            assert (kafka.brokers[node].cluster.brokers[node].endpoints["PLAINTEXT"]) == (
                host,
                int(port),
            )


@pytest.mark.parametrize("how", ["controlled", "crash"])
def test_a_stopped_brokers_port_stays_its_own(how: str) -> None:
    with Emulator({"orders": 1}, brokers=3) as kafka:
        host, port = kafka.bootstrap_servers.split(",")[1].rsplit(":", 1)
        address = (host, int(port))
        kafka.control(StopBroker(2, how))  # type: ignore[arg-type]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=60)
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(address)
        kafka.control(StartBroker(2))
        with socket.create_connection(address, timeout=60):
            assert kafka.bootstrap_servers.split(",")[1] == f"{host}:{port}"


def test_a_port_that_is_taken_opens_none_of_them() -> None:
    with Emulator({"orders": 1}, brokers=3) as kafka:
        taken = int(kafka.bootstrap_servers.split(",")[0].rsplit(":", 1)[1])
        with (
            pytest.raises(
                EmulatorError,
                match=f"cannot listen on .*{taken}.*port 0 takes a free one for each broker",
            ),
            Emulator(listen=f"127.0.0.1:{taken}", brokers=3),
        ):
            pass
