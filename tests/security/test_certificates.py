"""Who a client is by its certificate (TLS-1, TLS-2)."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.emulator.client_config import with_ssl_context
from coordinator.emulator.embedded import EmulatorError
from coordinator.security.principals import (
    MappingError,
    distinguished_name,
    principal_of,
    read_rules,
)

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
pytest.importorskip("confluent_kafka")
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer
from kafka import KafkaConsumer

PATIENCE_S = 120
SUBJECT = (
    (("countryName", "DE"),),
    (("organizationName", "A, B"),),
    (("organizationalUnitName", "tests"),),
    (("commonName", "Billing"),),
)
NAME = r"CN=Billing,OU=tests,O=A\, B,C=DE"


class TestNames:
    """TLS-2."""

    def test_the_most_specific_part_comes_first_and_commas_are_escaped(self) -> None:
        assert distinguished_name(SUBJECT) == NAME

    @pytest.mark.parametrize(
        ("rules", "principal"),
        [
            ("DEFAULT", f"User:{NAME}"),
            ("", f"User:{NAME}"),
            (r"RULE:^CN=([A-Za-z]+),OU=tests.*$/$1/L,DEFAULT", "User:billing"),
            (r"RULE:^CN=([A-Za-z]+),OU=tests.*$/$1/U", "User:BILLING"),
            (r"RULE:^CN=([A-Za-z]+),OU=(\w+).*$/$2-$1/,DEFAULT", "User:tests-Billing"),
            (r"RULE:^CN=other.*$/x/, RULE:^CN=.*$/any/", "User:any"),
            (r"RULE:^CN=other.*$/x/,DEFAULT", f"User:{NAME}"),
            (r"RULE:^CN=other.*$/x/", None),
            (r"RULE:CN=Billing/x/", None),
        ],
    )
    def test_rules_are_tried_in_order(self, rules: str, principal: str | None) -> None:
        assert principal_of(SUBJECT, read_rules(rules)) == principal

    @pytest.mark.parametrize("rules", ["RULE:x", "default", "RULE:(/x/", "DEFAULT;DEFAULT"])
    def test_that_cannot_be_read(self, rules: str) -> None:
        with pytest.raises(MappingError, match=r"is no rule|is no regular expression"):
            read_rules(rules)


MAPPING = r"RULE:^CN=([A-Za-z]+),OU=tests.*$/$1/L,DEFAULT"


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    with Emulator(
        {"orders": 1},
        security="SSL",
        config={"ssl.client.auth": "required", "ssl.principal.mapping.rules": MAPPING},
        acls=["User:billing may Read topic orders", "User:billing may Read group g prefixed"],
        remember=10_000,
    ) as running:
        running.produce("orders", [b"x"])
        yield running


class TestLibraries:
    """The certificate's name, as rules map it, has the rights."""

    def test_kafka_python(self, kafka: Emulator) -> None:
        mark = kafka.mark()
        consumer = KafkaConsumer(
            "orders",
            group_id="g-kp",
            auto_offset_reset="earliest",
            consumer_timeout_ms=PATIENCE_S * 1000,
            **kafka.client_config("kafka-python", user="Billing"),
        )
        try:
            assert next(consumer).value == b"x"
        finally:
            consumer.close()
        kafka.wait_for("Authenticated", principal="User:billing", mechanism="TLS", since=mark)

    def test_confluent_kafka(self, kafka: Emulator) -> None:
        config = kafka.client_config("confluent-kafka", user="Billing")
        consumer = Consumer(config | {"group.id": "g-ck", "auto.offset.reset": "earliest"})
        try:
            consumer.subscribe(["orders"])
            record = consumer.poll(PATIENCE_S)
            assert record is not None and record.value() == b"x"
        finally:
            consumer.close()

    def test_aiokafka(self, kafka: Emulator) -> None:
        config = with_ssl_context(kafka.client_config("aiokafka", user="Billing"))

        async def consume() -> None:
            consumer = AIOKafkaConsumer(
                "orders", group_id="g-ak", auto_offset_reset="earliest", **config
            )
            await consumer.start()
            try:
                assert (await consumer.getone()).value == b"x"
            finally:
                await consumer.stop()

        asyncio.run(asyncio.wait_for(consume(), PATIENCE_S))

    def test_java_reads_the_key(self, kafka: Emulator) -> None:
        config = kafka.client_config("java", user="Billing")
        text = Path(config["ssl.keystore.location"]).read_text()
        assert text.startswith("-----BEGIN PRIVATE KEY-----")
        assert "BEGIN CERTIFICATE" in text


def refused(kafka: Emulator, context: ssl.SSLContext) -> bool:
    """Is a connection closed before it serves anything?"""
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as raw:
        try:
            with context.wrap_socket(raw, server_hostname="localhost") as tls:
                tls.sendall(b"\0\0\0\x0b\0\x12\0\0\0\0\0\x01\xff\xff\0")
                return not tls.recv(4)
        except (ssl.SSLError, ConnectionError):
            return True


class TestHandshakes:
    """TLS-1."""

    def test_without_a_certificate(self, kafka: Emulator) -> None:
        assert refused(kafka, ssl.create_default_context(cafile=kafka.ca_file))

    @pytest.mark.parametrize("auth", ["required", "requested"])
    def test_one_of_another_authority(self, auth: str, tmp_path: Path) -> None:
        import trustme

        path = str(tmp_path / "other.pem")
        trustme.CA().issue_cert("x@y").private_key_and_cert_chain_pem.write_to_path(path)
        with Emulator(security="SSL", config={"ssl.client.auth": auth}) as kafka:
            context = ssl.create_default_context(cafile=kafka.ca_file)
            if auth == "requested":
                assert not refused(kafka, context)
            context.load_cert_chain(path)
            assert refused(kafka, context)

    def test_whom_no_rule_knows(self) -> None:
        config = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=a.*$/a/"}
        with Emulator(security="SSL", config=config, remember=100) as kafka:
            mark = kafka.mark()
            context = ssl.create_default_context(cafile=kafka.ca_file)
            context.load_cert_chain(kafka.client_config("kafka-python", user="b")["ssl_certfile"])
            assert refused(kafka, context)
            kafka.wait_for("AuthenticationFailed", mechanism="TLS", since=mark)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"ssl.principal.mapping.rules": "RULE:x"}, "is no rule; write DEFAULT"),
        ({"listener.name.ssl.ssl.client.auth": "perhaps"}, "write none, requested or required"),
    ],
)
def test_what_cannot_be(config: dict[str, str], told: str) -> None:
    with pytest.raises(EmulatorError, match=told):
        Emulator(security="SSL", config=config)
