"""Brokers in containers that ask who their clients are: what is refused before Docker is asked, what
a broker is told before it starts and after, and when it is ready."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.events.acls import read_acl
from coordinator.testing.containers import ContainerError, EmulatorContainer, RealKafka
from coordinator.testing.containers.secured import read
from coordinator.testing.containers.secured_kafka import SecuredKafka
from coordinator.testing.readiness import free_port, greets
from coordinator.wire.sasl.scram import MECHANISMS

pytest.importorskip("trustme")

ACLS = ["User:billing may Read topic orders", 'User:billing may Read group "my group"']
USERS = {"billing": 'se"cr\\et é'}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"security": "TLS"}, "security='TLS': it is one of PLAINTEXT, SSL"),
        ({"users": USERS}, "users: there is no login at"),
        ({"security": "SASL_SSL"}, "asks who a client is, and there are no users"),
        ({"security": "SASL_SSL", "users": {"my app": "x"}}, "'my app': a name that goes into"),
        ({"security": "SASL_SSL", "users": USERS, "acls": ["billing may Read"]}, "acls: "),
    ],
)
@pytest.mark.parametrize("kind", [EmulatorContainer, RealKafka])
def test_wrong_options_are_refused_before_docker_is_asked(
    kind: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ContainerError, match=re.escape(message)):
        kind(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acls": ACLS}, "acls: a client that nobody asks for its name is User:ANONYMOUS"),
        (
            {"security": "SSL", "acls": ACLS, "config": {"ssl.client.auth": "requested"}},
            "acls: a client that nobody asks",
        ),
        (
            {"security": "SSL", "config": {"ssl.keystore.location": "/x.pem"}},
            "config: ssl.keystore.location is a file of yours",
        ),
        (
            {"config": {"listener.security.protocol.map": "A:SSL"}},
            "listener.security.protocol.map follows from the other arguments",
        ),
    ],
)
def test_what_a_real_broker_cannot_be_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ContainerError, match=re.escape(message)):
        RealKafka(**options)


def _secured(**options: Any) -> SecuredKafka:
    given = {"security": "SASL_SSL", "users": USERS, "acls": (), "super_users": (), "config": {}}
    return SecuredKafka("CLIENTS", read("CLIENTS", **{**given, **options}))


def test_a_real_broker_is_told_users_certificates_and_super_users_in_one_line_each() -> None:
    secured = _secured(acls=ACLS, super_users=["User:root"])
    try:
        told = secured.settings()
        assert told["super.users"] == "User:ANONYMOUS;User:root"
        assert told["sasl.enabled.mechanisms"] == "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
        jaas = told["listener.name.clients.plain.sasl.jaas.config"]
        assert jaas.endswith(r'required user_billing="se\\"cr\\\\et \u00e9";')
        assert not any("\n" in value for value in told.values())
        from cryptography.x509 import load_pem_x509_certificate as certificate

        shown = told["ssl.keystore.certificate.chain"].replace("\\n", "\n").encode()
        authority = certificate(Path(secured.ca_file).read_bytes())
        certificate(shown).verify_directly_issued_by(authority)
        assert "BEGIN PRIVATE KEY" in told["ssl.keystore.key"]  # PKCS#8: all that Java reads
    finally:
        secured.close()


def test_users_and_acls_are_there_when_it_is_ready() -> None:
    """By a listener in the clear, whose clients are a super user, as those of a real broker's own
    listener are."""
    secured = _secured(security="SASL_PLAINTEXT", acls=ACLS)
    with Emulator(
        listen=["BROKER://127.0.0.1:0", "CLIENTS://127.0.0.1:0"],
        config={"listener.security.protocol.map": "BROKER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT"},
        users={},
        super_users=["User:ANONYMOUS"],
    ) as kafka:
        secured.prepare(kafka.endpoints["BROKER"], 60)
        assert kafka.acls() == [str(read_acl(each)) for each in ACLS]
        credentials = kafka.broker.cluster.scram_credentials
        known = [credentials.find("billing", each) for each in MECHANISMS.values()]
        assert None not in known
        secured.prepare(kafka.endpoints["BROKER"], 60)  # of the next broker: all is there
        again = [credentials.find("billing", each) for each in MECHANISMS.values()]
        assert all(one is two for one, two in zip(known, again, strict=True))
        config = secured.client_config("java", kafka.bootstrap_servers, "billing", None)
        assert config["sasl.mechanism"] == "SCRAM-SHA-512"
        with pytest.raises(ContainerError, match="user='bob': the listener CLIENTS wants one of"):
            secured.client_config("java", "", "bob", None)
        with pytest.raises(ContainerError, match="no listener speaks TLS"):
            secured.ca_file  # noqa: B018


def test_a_broker_with_tls_is_ready_when_it_answers_whom_it_trusts() -> None:
    required = {"ssl.client.auth": "required"}
    secured = _secured(security="SSL", users=None, config=required)
    with Emulator(security="SSL", config=required) as kafka:
        ((host, port),) = kafka.endpoints.values()
        trusted = ssl.create_default_context(cafile=kafka.ca_file)
        assert not greets(host, port, trusted)  # without a certificate of its own
        config = kafka.client_config("librdkafka", user="coordinator")
        trusted.load_cert_chain(config["ssl.certificate.location"])
        assert greets(host, port, trusted, limit_s=60.0)
        assert not greets(host, port, None)
        assert not greets(host, port, secured.tls())  # another authority
    secured.close()
    assert not greets("127.0.0.1", free_port(), None)


def test_a_clients_certificate_names_something_as_java_wants_it() -> None:
    """Java takes no certificate whose list of names is empty."""
    from cryptography.x509 import SubjectAlternativeName, load_pem_x509_certificate

    with Emulator(security="SSL", config={"ssl.client.auth": "required"}) as kafka:
        path = Path(kafka.client_config("librdkafka", user="billing")["ssl.certificate.location"])
        shown = load_pem_x509_certificate(
            path.read_bytes().partition(b"-----END PRIVATE KEY-----")[2]
        )
        assert list(shown.extensions.get_extension_for_class(SubjectAlternativeName).value)
