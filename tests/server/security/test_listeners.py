"""Listeners with TLS and SASL on real sockets: three client libraries, hostile bytes, options that
cannot be (TLS-1)."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.emulator.client_config import with_ssl_context
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.server.settings.broker_configs import ConfigError

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
pytest.importorskip("confluent_kafka")
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from tests.lost_joins import join_again_if_lost

USERS = {"billing": "secret-of-billing", 'odd "name\\': 'odd "word\\'}
PATIENCE_S = 120
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.fixture(scope="module", params=["SASL_PLAINTEXT", "SASL_SSL"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    with Emulator({"orders": 1}, security=request.param, users=USERS, remember=10_000) as running:
        yield running


def produced(kafka: Emulator, value: bytes) -> bytes:
    kafka.produce("orders", [value], partition=0)
    return value


@pytest.mark.parametrize("mechanism", MECHANISMS)
class TestLibraries:
    """One's consumer reads what the kit wrote, by each mechanism."""

    def test_kafka_python(self, kafka: Emulator, mechanism: str) -> None:
        value = produced(kafka, f"kafka-python {mechanism}".encode())
        config = kafka.client_config("kafka-python", user="billing", mechanism=mechanism)
        consumer = KafkaConsumer(
            "orders",
            group_id=f"kp-{mechanism}",
            auto_offset_reset="earliest",
            consumer_timeout_ms=PATIENCE_S * 1000,
            **config,
        )
        try:
            assert any(record.value == value for record in consumer)
        finally:
            consumer.close()

    def test_confluent_kafka(self, kafka: Emulator, mechanism: str) -> None:
        value = produced(kafka, f"confluent {mechanism}".encode())
        consumer = Consumer(
            {
                **kafka.client_config("confluent-kafka", user="billing", mechanism=mechanism),
                "group.id": f"ck-{mechanism}",
                "auto.offset.reset": "earliest",
            }
        )
        try:
            consumer.subscribe(["orders"])
            seen: bytes | None = b""
            while seen != value:
                record = consumer.poll(PATIENCE_S)
                assert record is not None and record.error() is None
                seen = record.value()
        finally:
            consumer.close()

    def test_aiokafka(self, kafka: Emulator, mechanism: str) -> None:
        value = produced(kafka, f"aiokafka {mechanism}".encode())
        config = kafka.client_config("aiokafka", user="billing", mechanism=mechanism)

        async def consume() -> None:
            consumer = AIOKafkaConsumer(
                "orders",
                group_id=f"ak-{mechanism}",
                auto_offset_reset="earliest",
                **with_ssl_context(config),
            )
            await consumer.start()
            try:
                while (await consumer.getone()).value != value:
                    pass
            finally:
                await consumer.stop()

        asyncio.run(asyncio.wait_for(consume(), PATIENCE_S))


def test_the_kits_own_members_need_no_password(kafka: Emulator) -> None:
    with kafka.peer("own", topics=["orders"]) as peer:
        peer.wait_stable()
        assert kafka.group("own").wait(state="Stable", members=1)


def test_the_own_listener_is_shown_to_nobody(kafka: Emulator) -> None:
    assert list(kafka.endpoints) == [
        kafka.client_config("java", user="billing")["security.protocol"]
    ]
    admin = KafkaAdminClient(**kafka.client_config("kafka-python", user="billing"))
    try:
        assert [b["port"] for b in admin.describe_cluster()["brokers"]] == [
            int(kafka.bootstrap_servers.rpartition(":")[2])
        ]
    finally:
        admin.close()
    assert "TESTING_KIT" not in str([each.configs.static for each in kafka.brokers.values()])


def test_no_secret_is_in_the_log(kafka: Emulator) -> None:
    wrong = kafka.client_config("confluent-kafka", user="billing") | {"sasl.password": "wr0ng"}
    consumer = Consumer(wrong | {"group.id": "g"})
    consumer.subscribe(["orders"])
    kafka.wait_for("AuthenticationFailed", principal="User:billing")
    consumer.close()
    told = str(kafka.events()) + kafka.explain()
    assert "secret" not in told and "wr0ng" not in told


def read_on(consumer: KafkaConsumer) -> bytes:
    """The next record's value."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        join_again_if_lost(consumer)
        for (record,) in consumer.poll(timeout_ms=500).values():
            value: bytes = record.value
            return value
    raise AssertionError("no record came")


def test_several_brokers() -> None:
    with Emulator({"orders": 3}, security="SASL_SSL", users=USERS, brokers=3) as kafka:
        kafka.produce("orders", [b"x"], partition=2)
        consumer = KafkaConsumer(
            "orders",
            group_id="g",
            auto_offset_reset="earliest",
            **kafka.client_config("kafka-python", user="billing"),
        )
        consumer.partitions_for_topic("orders")  # else it may lose its first join
        try:
            assert read_on(consumer) == b"x"
            kafka.stop_broker(2)
            kafka.start_broker(2)
            kafka.produce("orders", [b"y"], partition=2)
            while (value := read_on(consumer)) != b"y":
                assert value == b"x", "again, if it was not committed when its broker stopped"
        finally:
            consumer.close()
        with kafka.peer("own", topics=["orders"]) as peer:
            peer.wait_stable()


@pytest.fixture(scope="module")
def over_tls() -> Iterator[Emulator]:
    with Emulator(["orders"], security="SSL", remember=1_000) as running:
        yield running


class TestTls:
    def test_a_client_that_trusts_the_authority(self, over_tls: Emulator) -> None:
        config = over_tls.client_config("kafka-python")
        assert config["ssl_cafile"] == over_tls.ca_file
        producer = KafkaProducer(**config)
        try:
            producer.send("orders", b"x").get(PATIENCE_S)
        finally:
            producer.close()

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
    def test_the_certificate_names(self, over_tls: Emulator, host: str) -> None:
        context = ssl.create_default_context(cafile=over_tls.ca_file)
        with _connected(over_tls) as raw, context.wrap_socket(raw, server_hostname=host) as tls:
            assert tls.version() == "TLSv1.3"

    def test_the_names_that_clients_are_told(self) -> None:
        with Emulator(
            security="SSL", advertise="kafka.example:9999", listen="127.0.0.1:0"
        ) as kafka:
            context = ssl.create_default_context(cafile=kafka.ca_file)
            port = next(iter(kafka.servers.values())).endpoints[0].port
            with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as raw:
                with context.wrap_socket(raw, server_hostname="kafka.example") as tls:
                    assert tls.cipher()

    def test_an_authority_that_is_not_trusted(self, over_tls: Emulator) -> None:
        context = ssl.create_default_context()
        with _connected(over_tls) as raw, pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(raw, server_hostname="localhost")

    def test_tls_1_2_is_spoken_and_older_is_not(self, over_tls: Emulator) -> None:
        context = ssl.create_default_context(cafile=over_tls.ca_file)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with (
            _connected(over_tls) as raw,
            context.wrap_socket(raw, server_hostname="localhost") as tls,
        ):
            assert tls.version() == "TLSv1.2"
        with _connected(over_tls) as raw:
            raw.sendall(_hello(b"\x03\x02"))
            assert _all_of(raw)[:1] in (b"\x15", b"")  # an alert

    def test_bytes_in_the_clear_close_it_with_one_line(
        self, over_tls: Emulator, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING), _connected(over_tls) as raw:
            raw.sendall(b"\x00\x00\x00\x0a" + b"\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff")
            assert _all_of(raw) == b""
        assert "this is no TLS hello; the listener SSL speaks TLS only" in caplog.text

    def test_garbage_after_a_good_beginning_closes_it(self, over_tls: Emulator) -> None:
        with _connected(over_tls) as raw:
            raw.sendall(b"\x16\x03\x01" + b"\xff" * 4_000)
            _all_of(raw)

    def test_half_a_handshake_waits_and_others_are_served(self, over_tls: Emulator) -> None:
        held = []
        try:
            for _ in range(200):
                raw = _connected(over_tls)
                raw.sendall(_hello(b"\x03\x03")[:20])
                held.append(raw)
            with over_tls.peer("g", topics=["orders"]) as peer:
                peer.wait_stable()
            context = ssl.create_default_context(cafile=over_tls.ca_file)
            with _connected(over_tls) as other:
                context.wrap_socket(other, server_hostname="localhost").close()
            for raw in held:
                raw.setblocking(False)
                with pytest.raises(BlockingIOError):  # open, and nothing was said
                    raw.recv(1)
        finally:
            for raw in held:
                raw.close()

    def test_tls_to_a_listener_in_the_clear(self, caplog: pytest.LogCaptureFixture) -> None:
        with Emulator(security="SASL_PLAINTEXT", users=USERS) as kafka:
            with caplog.at_level(logging.WARNING), _connected(kafka) as raw:
                raw.sendall(_hello(b"\x03\x03"))
                assert _all_of(raw) == b""
        assert "TLS hello" in caplog.text

    def test_the_files_are_gone_afterwards(self) -> None:
        with Emulator(security="SSL") as kafka:
            path = Path(kafka.ca_file)
            assert path.exists()
        assert not path.exists()
        with pytest.raises(EmulatorError, match="not running"):
            kafka.ca_file  # noqa: B018


def test_ones_own_certificate(tmp_path: Path) -> None:
    import trustme

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
        str(tmp_path / "server.pem")
    )
    config = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": tmp_path / "server.pem",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": tmp_path / "ca.pem",
    }
    with Emulator(config=config, security="SSL") as kafka:
        assert kafka.ca_file == str(tmp_path / "ca.pem")
        context = ssl.create_default_context(cafile=kafka.ca_file)
        with _connected(kafka) as raw:
            context.wrap_socket(raw, server_hostname="127.0.0.1").close()
    assert (tmp_path / "ca.pem").exists()


class TestWhatCannotBe:
    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"security": "sasl"}, "one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
            ({"security": "SASL_SSL"}, r"give users=\{'billing': 'secret'\}"),
            ({"users": {"a": "b"}}, "give security='SASL_PLAINTEXT'"),
            ({"security": "SASL_PLAINTEXT", "users": ["a"]}, "names and passwords"),
            ({"security": "SASL_PLAINTEXT", "users": {"": "b"}}, "is no name of a user"),
            ({"security": "SASL_PLAINTEXT", "users": {"a": ""}}, "is a text that is not empty"),
            (
                {
                    "security": "SASL_PLAINTEXT",
                    "users": {"a": "b"},
                    "config": {"sasl.enabled.mechanisms": "GSSAPI"},
                },
                "no Kerberos here.*PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
            ),
            (
                {
                    "listen": "CLIENTS://127.0.0.1:0",
                    "config": {"listener.security.protocol.map": "CLIENTS:TLS"},
                },
                "is to speak TLS; it is one of",
            ),
            (
                {
                    "listen": "CLIENTS://127.0.0.1:0",
                    "config": {"listener.security.protocol.map": "CLIENTS"},
                },
                "is no pair; write LISTENER:PROTOCOL",
            ),
            (
                {"security": "SSL", "config": {"ssl.keystore.location": "/k.jks"}},
                "a store of type JKS cannot be read; give ssl.keystore.type=PEM",
            ),
        ],
    )
    def test_is_refused_at_once(self, options: dict[str, Any], told: str) -> None:
        with pytest.raises((EmulatorError, ConfigError), match=told):
            Emulator(**options)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": tmp_path / "none.pem"}
        with (
            pytest.raises(EmulatorError, match="No such file"),
            Emulator(config=config, security="SSL"),
        ):
            pass

    def test_a_file_without_a_key(self, tmp_path: Path) -> None:
        (tmp_path / "bad.pem").write_text("nothing")
        config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": tmp_path / "bad.pem"}
        with (
            pytest.raises(EmulatorError, match=r"PEM file with a PKCS#8 key"),
            Emulator(config=config, security="SSL"),
        ):
            pass

    def test_beyond_loopback_without_a_login(self) -> None:
        with pytest.raises(EmulatorError, match="--allow-remote"):
            Emulator(security="SSL", listen="0.0.0.0:0", advertise="localhost:0")

    def test_beyond_loopback_with_a_login(self) -> None:
        Emulator(security="SASL_SSL", users=USERS, listen="0.0.0.0:0", advertise="localhost:0")

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"library": "sarama"}, "settings are known for aiokafka, confluent-kafka, java"),
            ({"user": "nobody"}, "wants one of billing"),
            ({"user": None}, "wants one of billing"),
            ({"mechanism": "GSSAPI"}, "takes PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
            ({"listener": "OTHER"}, "there are SASL_PLAINTEXT"),
        ],
    )
    def test_settings_of_clients(self, given: dict[str, Any], told: str) -> None:
        with Emulator(security="SASL_PLAINTEXT", users={"billing": "x"}) as kafka:
            with pytest.raises(EmulatorError, match=told):
                kafka.client_config(**{"library": "java", "user": "billing"} | given)

    def test_nobody_logs_in_without_sasl(self) -> None:
        with Emulator() as kafka:
            assert kafka.client_config("java") == {"bootstrap.servers": kafka.bootstrap_servers}
            with pytest.raises(EmulatorError, match="there is no login"):
                kafka.client_config("java", user="billing")
            with pytest.raises(EmulatorError, match="no listener speaks TLS"):
                kafka.ca_file  # noqa: B018


def test_settings_of_java() -> None:
    with Emulator(security="SASL_SSL", users=USERS) as kafka:
        config = kafka.client_config("java", user='odd "name\\')
        assert config["sasl.jaas.config"] == (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            r'username="odd \"name\\" password="odd \"word\\";'
        )
        assert config["ssl.truststore.location"] == kafka.ca_file


def test_a_start_without_security_loads_none_of_it() -> None:
    script = """
import sys
from coordinator import Emulator
with Emulator(["t"]) as kafka:
    kafka.bootstrap_servers
ours = "coordinator.server.security"
print(sorted(each for each in sys.modules if each in ("ssl", "trustme", "cryptography", "hmac")
    or each.startswith(ours) and each not in (ours, ours + ".listeners")))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.strip()
    assert "coordinator.server.security" not in loaded and "trustme" not in loaded, loaded


def _connected(kafka: Emulator) -> socket.socket:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), PATIENCE_S)


def _all_of(raw: socket.socket) -> bytes:
    """What comes until the other side closes."""
    data = b""
    try:
        while part := raw.recv(4096):
            data += part
    except ConnectionResetError:
        pass
    return data


def _hello(version: bytes) -> bytes:
    """A TLS hello of a version at most."""
    body = version + bytes(32) + b"\x00" + b"\x00\x02\x00\x2f" + b"\x01\x00"
    handshake = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + len(handshake).to_bytes(2, "big") + handshake
