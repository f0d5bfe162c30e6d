"""Listeners, users and rights of `serve` and of the image's environment."""

from __future__ import annotations

import argparse
import gc
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator import Emulator
from coordinator.cli import CommandParser, UsageError, command_config, main
from coordinator.cli.serving import environment, health, serve


def made(*words: str) -> Emulator:
    parser = CommandParser()
    serve.add_parser(parser.add_subparsers(dest="command"))
    args = parser.parse_args(["serve", *words])
    serve._take_log_options(args)
    return serve._emulator(args)


class TestServe:
    def test_users_and_rights(self, tmp_path: Path) -> None:
        (tmp_path / "users").write_text("# people\n\nmy:pass:word\n")
        emulator = made(
            *("--listen", "SASL_PLAINTEXT://127.0.0.1:0", "--user", "billing:secret"),
            *("--users-file", str(tmp_path / "users")),
            *("--acl", "User:billing may Read topic orders", "--super-user", "User:my"),
        )
        with emulator as kafka:
            assert kafka.acls() == ["User:billing may Read topic orders"]
            assert (
                kafka.client_config("kafka-python", user="my")["sasl_plain_password"] == "pass:word"
            )
            told = "\n".join(serve.describe(kafka))
            assert "SASL_PLAINTEXT://127.0.0.1:" in told
            assert "secret" not in told and "pass:word" not in told

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--user", "billing"), "--user: write NAME:PASSWORD"),
            (("--users-file", "/none/such"), "--users-file /none/such"),
            (("--user", "a:b"), "there is no login at"),
            (("--listen", "SASL_SSL://127.0.0.1:0"), "--user billing:secret"),
            (("--acl", "nonsense"), "acls: 'nonsense'"),
            (("--listen", "SSL://0.0.0.0:9093", "--advertise", "SSL://h:1"), "--allow-remote"),
        ],
    )
    def test_what_cannot_be(self, words: tuple[str, ...], told: str) -> None:
        with pytest.raises(UsageError, match=told):
            made(*words)

    def test_beyond_loopback_with_logins_alone(self) -> None:
        made(
            *("--listen", "SASL_SSL://0.0.0.0:9093", "--advertise", "SASL_SSL://localhost:9093"),
            *("--user", "billing:secret"),
        )


ENVIRONMENT = {
    "KAFKA_LISTENERS": "CLIENTS://127.0.0.1:0,INSIDE://127.0.0.1:0,CONTROLLER://:9093",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CLIENTS:SASL_PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_SASL_ENABLED_MECHANISMS": "PLAIN,SCRAM-SHA-512",
    "KAFKA_LISTENER_NAME_CLIENTS_PLAIN_SASL_JAAS_CONFIG": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="x" password="y" '
        'user_billing="sec\\"ret" user_root="r";'
    ),
    "KAFKA_LISTENER_NAME_CLIENTS_SCRAM___SHA___512_SASL_JAAS_CONFIG": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    "KAFKA_LISTENER_NAME_CLIENTS_PLAIN_CONNECTIONS_MAX_REAUTH_MS": "5000",
    "KAFKA_AUTHORIZER_CLASS_NAME": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "KAFKA_SUPER_USERS": "User:root;User:ANONYMOUS",
    "KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND": "false",
}


def test_the_environment_of_the_image() -> None:
    settings = environment.read(ENVIRONMENT)
    assert settings.warnings == []
    emulator = Emulator(config=settings.configs, listen=settings.listen)
    with emulator as kafka:
        assert list(kafka.endpoints) == ["CLIENTS", "INSIDE"]
        config = kafka.client_config("java", user="billing")
        assert config["security.protocol"] == "SASL_PLAINTEXT"
        assert config["bootstrap.servers"] == kafka.bootstrap_servers
        assert config["sasl.mechanism"] == "SCRAM-SHA-512"
        assert 'password="sec\\"ret"' in config["sasl.jaas.config"]
        inside = kafka.client_config("java", listener="INSIDE")
        assert list(inside) == ["bootstrap.servers"]
        assert inside["bootstrap.servers"] != kafka.bootstrap_servers
        assert kafka.acls() == []
        assert "sec\\" not in "\n".join(serve.describe(kafka))


class TestHealth:
    @pytest.fixture
    def args(self) -> argparse.Namespace:
        return argparse.Namespace(address=None, from_environment=True, timeout=60.0)

    @pytest.fixture
    def over_tls(self) -> Iterator[tuple[str, int]]:
        with Emulator(security="SSL") as kafka:
            host, _, port = kafka.bootstrap_servers.rpartition(":")
            yield host, int(port)

    def test_a_listener_with_tls(
        self,
        args: argparse.Namespace,
        over_tls: tuple[str, int],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        host, port = over_tls
        monkeypatch.setenv("KAFKA_LISTENERS", f"SSL://{host}:{port}")
        assert health.run(args) == 0
        assert "healthy" in capsys.readouterr().out
        monkeypatch.setenv("KAFKA_LISTENERS", f"PLAINTEXT://{host}:{port}")
        assert health.run(args) == 1

    def test_one_that_asks_for_a_login(
        self, args: argparse.Namespace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Emulator(security="SASL_PLAINTEXT", users={"a": "b"}, remember=100) as kafka:
            monkeypatch.setenv("KAFKA_LISTENERS", f"SASL_PLAINTEXT://{kafka.bootstrap_servers}")
            assert health.run(args) == 0
            assert not kafka.events("AuthenticationFailed")

    def test_a_port_in_the_clear_asked_over_tls(self) -> None:
        with Emulator() as kafka:
            host, _, port = kafka.bootstrap_servers.rpartition(":")
            with pytest.raises(health.NotHealthy):
                health.ask(host, int(port), 60, tls=True)
        assert ssl.OPENSSL_VERSION


def test_answers_name_the_listener_that_was_asked() -> None:
    from integration_tests.wire.codec import TableCodec
    from integration_tests.wire.raw import RawConnection

    listeners = ["PLAINTEXT://127.0.0.1:0", "SASL_PLAINTEXT://127.0.0.1:0"]
    with Emulator(listen=listeners, users={"a": "b"}) as kafka:
        for name, (host, port) in kafka.endpoints.items():
            connection = RawConnection(f"{host}:{port}", TableCodec())
            if name == "SASL_PLAINTEXT":
                connection.send("SaslHandshake", 1, {"mechanism": "PLAIN"})
                connection.receive()
                connection.send("SaslAuthenticate", 2, {"auth_bytes": b"\0a\0b".hex()})
                connection.receive()
            connection.send("Metadata", 9, {"topics": []})
            assert [each["port"] for each in connection.receive()[1]["brokers"]] == [port]
            connection.send("FindCoordinator", 4, {"coordinator_keys": ["g"], "key_type": 0})
            assert connection.receive()[1]["coordinators"][0]["port"] == port
            connection.send("DescribeCluster", 1, {"endpoint_type": 1})
            assert [each["port"] for each in connection.receive()[1]["brokers"]] == [port]
            connection.close()


class TestCommandConfig:
    """`coordinator peers --command-config`, with what Kafka's own tools would be given."""

    @pytest.mark.parametrize(
        ("security", "mechanism"),
        [("SASL_SSL", "PLAIN"), ("SASL_SSL", "SCRAM-SHA-512"), ("SASL_PLAINTEXT", "SCRAM-SHA-256")],
    )
    def test_a_member_gets_in(
        self,
        security: str,
        mechanism: str,
        tmp_path: Path,
    ) -> None:
        with Emulator({"orders": 2}, security=security, users={"a": 'odd "word'}) as kafka:
            config = kafka.client_config("java", user="a", mechanism=mechanism)
            path = tmp_path / "client.properties"
            path.write_text("# Kafka's own\n" + "".join(f"{k}={v}\n" for k, v in config.items()))
            peers = subprocess.Popen(
                [
                    *(sys.executable, "-m", "coordinator", "peers"),
                    *("--bootstrap", kafka.bootstrap_servers, "--group", "g"),
                    *("--topics", "orders", "--command-config", str(path)),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                kafka.group("g").wait(state="Stable", members=1, timeout=120)
            finally:
                peers.terminate()
                told, _ = peers.communicate(timeout=120)
            assert peers.returncode == 0 and "odd" not in told

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("security.protocol=TLS", "it is one of PLAINTEXT, SSL"),
            ("security.protocol=SASL_SSL", "sasl.mechanism=GSSAPI: there are PLAIN"),
            ("nonsense", "line 1: write NAME=VALUE"),
            (
                "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN",
                "sasl.jaas.config names no username",
            ),
            (
                "security.protocol=SSL\nssl.truststore.location=/x.jks",
                "give ssl.truststore.type=PEM",
            ),
            (
                "security.protocol=SSL\nssl.truststore.location=/no.pem\nssl.truststore.type=PEM",
                "a certificate cannot be read",
            ),
        ],
    )
    def test_what_cannot_be(self, text: str, told: str, tmp_path: Path) -> None:
        path = tmp_path / "client.properties"
        path.write_text(text)
        with pytest.raises(UsageError, match=told):
            command_config.read(str(path))
        with pytest.raises(UsageError, match="--command-config /no/such"):
            command_config.read("/no/such")


class TestToolsThatGetIn:
    """Everything else that connects to a Kafka takes `--command-config`, too."""

    @pytest.fixture
    def kafka(self) -> Iterator[Emulator]:
        with Emulator(
            {"orders": 2, "log": 1},
            brokers=2,
            security="SASL_SSL",
            users={"a": "secret"},
            remember=10_000,
        ) as running:
            yield running

    @pytest.fixture
    def properties(self, kafka: Emulator, tmp_path: Path) -> Path:
        path = tmp_path / "client.properties"
        config = kafka.client_config("java", user="a")
        path.write_text("".join(f"{name}={value}\n" for name, value in config.items()))
        return path

    def test_reassign(
        self, kafka: Emulator, properties: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ["reassign", "list", "--bootstrap-server", kafka.bootstrap_servers]
        assert main([*words, "--command-config", str(properties)]) == 0
        text = properties.read_text()
        for mended, why in (
            (text.replace("secret", "wrong"), "the login was refused: Authentication failed"),
            (text.replace("SASL_SSL", "SSL"), "it closed the connection"),
        ):
            assert mended != text
            properties.write_text(mended)
            assert main([*words, "--command-config", str(properties)]) == 1
            assert why in capsys.readouterr().err

    def test_a_live_scenario(self, kafka: Emulator, properties: Path, tmp_path: Path) -> None:
        scenario = tmp_path / "small.toml"
        scenario.write_text(
            'name = "small"\nduration = "3s"\n[topics]\nlive = 2\n'
            '[[members]]\nname = "app"\ncount = 2\ntopics = "live"\n'
        )
        log = tmp_path / "run.jsonl"
        words = ["simulate", str(scenario), "--live", "--log", str(log)]
        words += ["--bootstrap", kafka.bootstrap_servers]
        assert main([*words, "--command-config", str(properties)]) == 0
        gc.collect()  # sockets that were left open warn
        assert '"PartitionsAssigned"' in log.read_text() and "secret" not in log.read_text()
        logins = {line["client"] for line in kafka.events("Authenticated")}
        assert "coordinator-simulate" in logins and len(logins) >= 3

    def test_a_log_that_is_published_elsewhere(
        self, kafka: Emulator, properties: Path, tmp_path: Path
    ) -> None:
        other = subprocess.Popen(
            [
                *(sys.executable, "-m", "coordinator", "serve", "--listen", "127.0.0.1:0"),
                *("--log", str(tmp_path / "log.jsonl"), "--log-topic", "log"),
                *("--log-bootstrap", kafka.bootstrap_servers),
                *("--log-command-config", str(properties)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert other.stdout is not None
        try:
            lines = iter(other.stdout.readline, "")
            assert any(line.startswith("ready: ") for line in lines)
        finally:
            other.terminate()
            told, _ = other.communicate(timeout=120)
        assert other.returncode == 0, told
        assert kafka.end_offsets("log")[0] > 0

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("simulate", "slow_records", "--command-config", "f"), "Give --bootstrap, too"),
            (("serve", "--log-command-config", "f"), "Give --log-bootstrap, too"),
            (("tables", "a.jsonl", "--out", "o", "--command-config", "f"), "None of the logs is"),
            (("live", "a.jsonl", "--out", "o", "--command-config", "f"), "None of the logs is"),
        ],
    )
    def test_where_there_is_nothing_to_get_in(
        self, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(words) == 2
        assert told in capsys.readouterr().err
