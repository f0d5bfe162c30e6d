"""Who a client is by its certificate (TLS-1, TLS-2)."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import command_config
from coordinator.emulator.client_config import with_ssl_context
from coordinator.emulator.embedded import EmulatorError
from coordinator.reassign.admin import Admin
from coordinator.security.principals import (
    MappingError,
    distinguished_name,
    principal_of,
    read_rules,
)

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
pytest.importorskip("confluent_kafka")
pytest.importorskip("trustme")
import trustme
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


class TestPkcs12:
    """Stores of Java's own kind, so that nobody has to turn them into PEM."""

    @pytest.fixture
    def stores(self, tmp_path: Path) -> dict[str, object]:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import (
            BestAvailableEncryption,
            load_pem_private_key,
            pkcs12,
        )

        authority = trustme.CA()
        made = authority.issue_cert("127.0.0.1", common_name="billing")
        lock = BestAvailableEncryption(b"st0re")
        key = load_pem_private_key(made.private_key_pem.bytes(), None)
        own = x509.load_pem_x509_certificate(made.cert_chain_pems[0].bytes())
        trusted = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
        (tmp_path / "key.p12").write_bytes(
            pkcs12.serialize_key_and_certificates(b"own", key, own, None, lock)  # type: ignore[arg-type]
        )
        (tmp_path / "trust.p12").write_bytes(
            pkcs12.serialize_key_and_certificates(None, None, None, [trusted], lock)
        )
        return {
            f"ssl.{which}.{what}": value
            for which, name in (("keystore", "key"), ("truststore", "trust"))
            for what, value in (
                ("type", "PKCS12"),
                ("location", tmp_path / f"{name}.p12"),
                ("password", "st0re"),
            )
        }

    def test_the_server_and_a_tool_read_them(
        self, stores: dict[str, object], tmp_path: Path
    ) -> None:
        config = {**stores, "ssl.client.auth": "required"}
        properties = tmp_path / "client.properties"
        lines = {"security.protocol": "SSL", **stores}
        properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        with Emulator(config=config, security="SSL", remember=1_000) as kafka:
            entry = command_config.read(str(properties))
            host, _, port = kafka.bootstrap_servers.partition(":")
            with Admin([(host, int(port))], entry=entry) as admin:
                assert admin.moving() == {}
            assert kafka.events("Authenticated")[0]["principal"].startswith("User:CN=billing,")
            assert "PRIVATE KEY" not in Path(kafka.ca_file).read_text()

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"ssl.keystore.password": "wrong"}, "no PKCS#12 file, or another password"),
            ({"ssl.keystore.location": "/no/such.p12"}, "No such file"),
            ({"ssl.keystore.type": "JKS"}, "a store of type JKS cannot be read"),
        ],
    )
    def test_what_cannot_be_read(
        self, stores: dict[str, object], change: dict[str, str], told: str
    ) -> None:
        with pytest.raises(EmulatorError, match=told):
            Emulator(config={**stores, **change}, security="SSL").__enter__()


def test_what_clients_are_to_trust_has_no_key_in_it(tmp_path: Path) -> None:
    """One's own certificate without an authority."""
    made = trustme.CA().issue_cert("127.0.0.1")
    made.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": tmp_path / "server.pem"}
    with Emulator(config=config, security="SSL") as kafka:
        shown = Path(kafka.ca_file).read_text()
        assert shown.count("BEGIN CERTIFICATE") == 1 and "PRIVATE KEY" not in shown
