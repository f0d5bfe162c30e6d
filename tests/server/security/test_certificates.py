"""Who a client is by its certificate (TLS-1, TLS-2)."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import command_config
from coordinator.kit.admin import Admin
from coordinator.kit.emulator.client_config import with_ssl_context
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.server.security.distinguished_names import distinguished_name
from coordinator.server.security.principals import MappingError, principal_of, read_rules

pytest.importorskip("kafka")
pytest.importorskip("aiokafka")
pytest.importorskip("confluent_kafka")
pytest.importorskip("trustme")
import trustme
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Producer
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID
from kafka import KafkaConsumer

PATIENCE_S = 120
CN, C, L, ST, STREET, O, OU = (f"2.5.4.{number}" for number in (3, 6, 7, 8, 9, 10, 11))
UID, DC = "0.9.2342.19200300.100.1.1", "0.9.2342.19200300.100.1.25"
EMAIL = "1.2.840.113549.1.9.1"
NAME = r"CN=Billing,OU=tests,O=A\, B,C=DE"


Part = list[tuple[str, str]]


def _signed(
    *parts: Part, critical: bool = False, authority: trustme.CA | None = None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate whose subject has these attributes (dotted ids) and alternative names, and its
    key; signed by an authority, or by nobody who is known."""
    key = ec.generate_private_key(ec.SECP256R1())
    signer, issuer = key, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer")])
    if authority is not None:
        read = load_pem_private_key(authority.private_key_pem.bytes(), None)
        assert isinstance(read, ec.EllipticCurvePrivateKey)
        signer = read
        issuer = x509.load_pem_x509_certificate(authority.cert_pem.bytes()).subject
    attributes = [
        x509.RelativeDistinguishedName(
            [x509.NameAttribute(x509.ObjectIdentifier(kind), value) for kind, value in part]
        )
        for part in parts
    ]
    begins = datetime.now(UTC) - timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(attributes))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical)
    )
    return builder.sign(signer, hashes.SHA256()), key


def _certificate(*parts: Part, critical: bool = False) -> bytes:
    """DER of one."""
    return _signed(*parts, critical=critical)[0].public_bytes(Encoding.DER)


class TestNames:
    """TLS-2."""

    # what a real Kafka 4.4.0 told as the owner of a delegation token
    @pytest.mark.parametrize(
        ("parts", "name"),
        [
            ([[(C, "DE")], [(O, "A, B")], [(OU, "tests")], [(CN, "Billing")]], NAME),
            ([[(OU, "tests"), (CN, "b"), (UID, "z")], [(O, "x")]], "O=x,CN=b+OU=tests+UID=z"),
            ([[(DC, "com")], [(DC, "example")], [(CN, "t")]], "CN=t,DC=example,DC=com"),
            (
                [[(ST, "BW")], [(L, "S")], [(STREET, "Str 1")], [(CN, "t")]],
                "CN=t,STREET=Str 1,L=S,ST=BW",
            ),
            ([[(CN, 'a+b"c\\d<e>f;g=h#')]], r"CN=a\+b\"c\\d\<e\>f\;g\=h\#"),
            ([[(CN, " lead")]], r"CN=\ lead"),
            ([[(CN, "trail ")]], r"CN=trail\ "),
            ([[(CN, "Müller 漢字  x")]], "CN=Müller 漢字  x"),
            ([[(CN, "t")], [(EMAIL, "a@b.c")]], "1.2.840.113549.1.9.1=#16056140622e63,CN=t"),
            ([[("2.5.4.5", "123")], [(CN, "t")]], "CN=t,2.5.4.5=#1303313233"),
            ([[("2.5.4.12", "Dr")], [(CN, "t")]], "CN=t,2.5.4.12=#0c024472"),
            ([[("1.2.3.4.5", "x")], [(CN, "t")]], "CN=t,1.2.3.4.5=#0c0178"),
            ([[("2.999.1", "x")]], "2.999.1=#0c0178"),
        ],
    )
    def test_is_written_as_java_writes_it(self, parts: list[Part], name: str) -> None:
        assert distinguished_name(_certificate(*parts)) == name

    def test_java_takes_no_name_only_beside_critical_alternatives(self) -> None:
        assert distinguished_name(_certificate(critical=True)) == ""
        assert distinguished_name(_certificate()) is None

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
            (r"RULE:.*/x/", "User:xx"),
            (r"RULE:CN=(\w+?).*/$1-\$1/", "User:B-$1"),
            (r"RULE:^CN=(?<who>[^,]+).*$/${who}/", "User:Billing"),
            (r"RULE:^CN=(.*?),.*$/$1$3/", "User:Billing$3"),
            (r"RULE:^CN=([^,]+)(,OU=x)?.*$/$12-$22-$3-$10/", "User:Billing2-2-$3-Billing0"),
            (r"RULE:^CN=([^,]*?)(?:,.*)?$/ $1 /U", "User: BILLING "),
            (r"RULE:^CN=([A-Z])([a-z]*),.*$/$00-$2\/x/", f"User:{NAME}-illing/x"),
        ],
    )
    def test_rules_are_tried_in_order(self, rules: str, principal: str | None) -> None:
        assert principal_of(NAME, read_rules(rules)) == principal

    @pytest.mark.parametrize("replacement", ["$", "a$b", "${1}", "${nobody}", "$1"])
    def test_a_replacement_that_names_no_group_maps_nobody(self, replacement: str) -> None:
        with pytest.raises(MappingError, match="for a dollar sign"):
            principal_of(NAME, read_rules(f"RULE:^CN=.*$/{replacement}/"))

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


def refused(address: str, context: ssl.SSLContext) -> bool:
    """Is a connection closed before it serves anything?"""
    host, _, port = address.rpartition(":")
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
        assert refused(kafka.bootstrap_servers, ssl.create_default_context(cafile=kafka.ca_file))

    @pytest.mark.parametrize("auth", ["required", "requested"])
    def test_one_of_another_authority(self, auth: str, tmp_path: Path) -> None:
        import trustme

        path = str(tmp_path / "other.pem")
        trustme.CA().issue_cert("x@y").private_key_and_cert_chain_pem.write_to_path(path)
        with Emulator(security="SSL", config={"ssl.client.auth": auth}) as kafka:
            context = ssl.create_default_context(cafile=kafka.ca_file)
            if auth == "requested":
                assert not refused(kafka.bootstrap_servers, context)
            context.load_cert_chain(path)
            assert refused(kafka.bootstrap_servers, context)

    def test_beside_a_login(self) -> None:
        """A listener of SASL_SSL asks for certificates by a setting of its own (KIP-684); the login
        says who a client is."""
        listen = ["ASKS://127.0.0.1:0", "NONE://127.0.0.1:0"]
        config = {
            "listener.security.protocol.map": "ASKS:SASL_SSL,NONE:SASL_SSL",
            "listener.name.asks.ssl.client.auth": "required",
            "ssl.client.auth": "required",
        }
        users = {"billing": "secret"}
        with Emulator(
            {"orders": 1}, listen=listen, config=config, users=users, remember=100
        ) as kafka:
            mark = kafka.mark()
            given = kafka.client_config("confluent-kafka", user="billing", listener="ASKS")
            producer = Producer(given)
            producer.produce("orders", b"x")
            assert producer.flush(PATIENCE_S) == 0
            kafka.wait_for("Authenticated", principal="User:billing", since=mark)
            context = ssl.create_default_context(cafile=kafka.ca_file)
            asks, asks_not = (f"{host}:{port}" for host, port in kafka.endpoints.values())
            assert refused(asks, context)
            assert not refused(asks_not, context)

    @pytest.mark.parametrize("security", ["SSL", "SASL_SSL"])
    def test_one_that_names_nobody(self, security: str, tmp_path: Path) -> None:
        """As Java refuses one (RFC 5280, 4.2.1.6), also where a login says who a client is."""
        config = {f"listener.name.{security.lower()}.ssl.client.auth": "required"}
        authority = trustme.CA()
        for name, parts in (("nobody", ()), ("somebody", ([(CN, "x")],))):
            made, key = _signed(*parts, authority=authority)
            own = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            (tmp_path / name).write_bytes(own + made.public_bytes(Encoding.PEM))
        authority.cert_pem.write_to_path(str(tmp_path / "ca"))
        config |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(tmp_path / "somebody"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(tmp_path / "ca"),
        }
        users = {"billing": "secret"} if security == "SASL_SSL" else None
        with Emulator(security=security, config=config, users=users, remember=100) as kafka:
            for name, expected in (("nobody", True), ("somebody", False)):
                context = ssl.create_default_context(cafile=str(tmp_path / "ca"))
                context.load_cert_chain(str(tmp_path / name))
                assert refused(kafka.bootstrap_servers, context) is expected, name
            [failed] = kafka.events("AuthenticationFailed")
            assert "names nobody" in failed["why"]

    def test_whom_no_rule_knows(self) -> None:
        config = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=a.*$/a/"}
        with Emulator(security="SSL", config=config, remember=100) as kafka:
            mark = kafka.mark()
            context = ssl.create_default_context(cafile=kafka.ca_file)
            context.load_cert_chain(kafka.client_config("kafka-python", user="b")["ssl_certfile"])
            assert refused(kafka.bootstrap_servers, context)
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
