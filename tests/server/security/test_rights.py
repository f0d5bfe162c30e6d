"""Rights while clients run: the verbs, the events, the sentence that explains a refusal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from coordinator import Emulator
from coordinator.events.acls import word
from coordinator.kit.emulator.embedded import EmulatorError
from coordinator.kit.in_process_requests import ControlError
from coordinator.server.apis import SERVED, title
from coordinator.server.authorization.table import CHECKS, LISTED, SHOWN

pytest.importorskip("confluent_kafka")
pytest.importorskip("kafka")
from confluent_kafka import Consumer, KafkaError
from kafka import KafkaConsumer

PATIENCE_S = 120
ACLS = ["User:billing may Read topic orders", "User:billing may Read group billing"]


class Application:
    """Consumes until it may no more."""

    def __init__(self, **config: object) -> None:
        self.why: KafkaError | None = None
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                **config,
                "group.id": "billing",
                "session.timeout.ms": 1500,
                "heartbeat.interval.ms": 100,
            }
        )
        self._consumer.subscribe(["orders"])
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set() and self.why is None:
            record = self._consumer.poll(0.1)
            if record is not None and record.error() is not None:
                self.why = record.error()
        self._consumer.close()

    def stopped_because_of(self, code: int) -> bool:
        self._thread.join(PATIENCE_S)
        return self.why is not None and self.why.code() == code

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)


@pytest.mark.kafka(
    topics={"orders": 6}, security="SASL_SSL", users={"billing": "secret"}, acls=ACLS
)
def test_a_right_is_taken_away(kafka_emulator: Emulator) -> None:
    kafka = kafka_emulator
    app = Application(**kafka.client_config("confluent-kafka", user="billing"))
    try:
        group = kafka.group("billing")
        group.wait(state="Stable", members=1)
        mark = kafka.mark()
        kafka.revoke("User:billing may Read group billing")
        [line, *_] = kafka.wait_for("AuthorizationRefused", group="billing", since=mark)
        assert line["principal"] == "User:billing" and line["resource"] == "group"
        assert app.stopped_because_of(KafkaError.GROUP_AUTHORIZATION_FAILED)
        told = kafka.explain("billing")
        deleted = f"{line['acl_deleted_ms'] / 1000:.3f}".rstrip("0")
        assert f"no ACL allows User:billing {line['operation']} on group billing" in told
        assert "the one that did was deleted at" in told
        assert deleted.partition(".")[0] in told
        assert "secret" not in told
    finally:
        app.stop()


@pytest.fixture
def guarded() -> Iterator[Emulator]:
    with Emulator(
        {"orders": 1, "other": 1},
        security="SASL_PLAINTEXT",
        users={"billing": "secret", "root": "secret"},
        acls=ACLS,
        super_users=["User:root"],
        remember=10_000,
    ) as kafka:
        yield kafka


class TestVerbs:
    def test_a_grant_is_undone_at_the_end_of_the_block(self, guarded: Emulator) -> None:
        new = "User:billing may Write topic orders"
        with guarded.grant(new, ACLS[0]):
            assert guarded.acls() == [*ACLS, new]
        assert guarded.acls() == ACLS

    def test_a_revocation_is_undone_at_the_end_of_the_block(self, guarded: Emulator) -> None:
        with guarded.revoke(ACLS[0]) as change:
            assert guarded.acls() == ACLS[1:]
            assert ACLS[0] in repr(change)
        assert sorted(guarded.acls()) == sorted(ACLS)
        kinds = [each["type"] for each in guarded.events(stream="cluster")]
        assert [each for each in kinds if each.startswith("Acls")] == ["AclsDeleted", "AclsCreated"]

    def test_what_cannot_be(self, guarded: Emulator) -> None:
        with pytest.raises(ControlError, match=r"no such ACL is in force.*there are: User:billing"):
            guarded.revoke("User:billing may Write topic orders")
        with pytest.raises(ControlError, match="is no operation"):
            guarded.grant("User:billing may Eat topic orders")
        with Emulator() as kafka:
            with pytest.raises(ControlError, match=r"give acls=\[...\]"):
                kafka.grant("User:billing may Read topic orders")
            with pytest.raises(ControlError, match="there are no logins here"):
                kafka.rotate_password("a", "b")

    def test_the_kit_is_never_refused(self, guarded: Emulator) -> None:
        guarded.create_topic("new", partitions=1)
        guarded.produce("orders", [b"x"])
        with guarded.peer("any", topics=["orders"]) as peer:
            peer.wait_stable()
        assert not guarded.events("AuthorizationRefused")


class TestTable:
    def test_every_api_that_is_served_is_in_it_or_asks_for_nothing(self) -> None:
        unserved = {title(key) for key in SERVED if title(key).startswith("StreamsGroup")}
        free = unserved | {
            "ApiVersions",
            "ExpireDelegationToken",
            "RenewDelegationToken",
            "SaslAuthenticate",
            "SaslHandshake",
        }
        assert {title(key) for key in SERVED} - free == set(CHECKS)

    def test_the_docs_have_it(self, project_root: object) -> None:
        from pathlib import Path

        page = Path(str(project_root), "docs", "security_apis.md").read_text()
        assert as_markdown() in page


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"acls": ["nonsense"]}, "acls: 'nonsense'"),
        ({"acls": 5}, "give a list"),
        ({"super_users": ["root"]}, "write User:root"),
        ({"config": {"authorizer.class.name": "mine"}}, "there is org.apache.kafka"),
        (
            {"acls": ACLS, "config": {"allow.everyone.if.no.acl.found": "perhaps"}},
            "write true or false",
        ),
        (
            {"config": {"listener.name.other.sasl.enabled.mechanisms": "PLAIN"}},
            "listeners are called",
        ),
    ],
)
def test_options_that_cannot_be(options: dict[str, object], told: str) -> None:
    with pytest.raises(EmulatorError, match=told):
        Emulator(**options)  # type: ignore[arg-type]


def test_an_authorizer_without_logins_knows_anonymous() -> None:
    with Emulator({"orders": 1}, acls=["User:ANONYMOUS may Describe topic orders"]) as kafka:
        consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
        with contextlib.closing(consumer):
            assert consumer.topics() == {"orders"}


class TestPeers:
    """Members of ours that log in."""

    @pytest.mark.parametrize("security", ["SASL_PLAINTEXT", "SASL_SSL"])
    @pytest.mark.parametrize("protocol", ["classic", "consumer"])
    def test_one_acts_as_its_user(self, security: str, protocol: str) -> None:
        with Emulator(
            {"orders": 2}, security=security, users={"billing": "secret"}, acls=ACLS, remember=1_000
        ) as kafka:
            with kafka.peer(
                "billing", topics=["orders"], user="billing", protocol=protocol
            ) as peer:
                peer.wait_stable()
                assert kafka.group("billing").wait(members=1, assigned="all")
            principals = {line["principal"] for line in kafka.events("Authenticated")}
            assert principals == {"User:billing"}

    def test_one_is_refused(self, guarded: Emulator) -> None:
        with guarded.peer("other", topics=["orders"], user="billing", keep_going=True):
            [line, *_] = guarded.wait_for("AuthorizationRefused", group="other", since=0)
        assert line["principal"] == "User:billing"

    def test_a_password_that_changed(self, guarded: Emulator) -> None:
        with guarded.deny_authentication(times=1):
            with guarded.peer(
                "billing", topics=["orders"], user="billing", keep_going=True
            ) as peer:
                guarded.wait_for("AuthenticationFailed", principal="User:billing", since=0)
                peer.wait_stable()

    def test_by_its_certificate(self) -> None:
        config = {"ssl.client.auth": "required"}
        name = "User:CN=billing,OU=tests,O=coordinator"
        acls = [f'"{name}" may Read topic orders', f'"{name}" may Read group billing']
        with Emulator({"orders": 2}, security="SSL", config=config, acls=acls) as kafka:
            with kafka.peer("billing", topics=["orders"], user="billing") as peer:
                peer.wait_stable()

    def test_who_is_nobody(self, guarded: Emulator) -> None:
        with pytest.raises(EmulatorError, match="wants one of billing, root"):
            guarded.peer("g", topics=["orders"], user="nobody")


class TestActingAsAUser:
    """`produce(user=)`: the kit's records with somebody's rights."""

    def test_is_refused_for_want_of_a_right_and_only_then(self) -> None:
        with Emulator(
            ["orders", "bills"],
            security="SASL_PLAINTEXT",
            users={"billing": "secret", "root": "secret"},
            acls=["User:billing may Write topic orders"],
            super_users=["User:root"],
            remember=1_000,
        ) as kafka:
            mark = kafka.mark()
            assert kafka.produce("orders", ["a"], user="billing")[0].offset == 0
            with pytest.raises(
                ControlError, match="User:billing has no right to Write on topic bills"
            ):
                kafka.produce("bills", ["a"], user="billing")
            with pytest.raises(ControlError, match="TRANSACTIONAL_ID_AUTHORIZATION_FAILED"):
                kafka.produce("orders", ["a"], user="billing", transactional_id="t")
            kafka.produce("bills", ["a"], user="root")
            kafka.produce("bills", ["a"])
            assert kafka.end_offsets("orders") == {0: 1} and kafka.end_offsets("bills") == {0: 2}
            refused = kafka.events("AuthorizationRefused", since=mark)
            assert [(line["principal"], line["name"]) for line in refused] == [
                ("User:billing", "bills"),
                ("User:billing", "t"),
            ]

    def test_where_nobody_logs_in_there_is_no_user(self) -> None:
        with Emulator(["orders"]) as kafka:
            with pytest.raises(ControlError, match="there are no logins here"):
                kafka.produce("orders", ["a"], user="billing")
            with pytest.raises(ControlError, match="give a user's name"):
                kafka.produce("orders", ["a"], user="")


def as_markdown() -> str:
    """The table, as docs/security_apis.md has it."""
    lines = ["| API | operation | on | refused | how |", "|---|---|---|---|---|"]
    for api, checks in CHECKS.items():
        for check in checks:
            error = "" if check.how in (LISTED, SHOWN) else str(int(check.error))
            how = {LISTED: "left out", SHOWN: "shown"}.get(check.how, check.how)
            note = f"{how}; {check.note}" if check.note else how
            resource = check.resource.name.lower().replace("_", " ")
            lines.append(f"| {api} | {word(check.operation)} | {resource} | {error} | {note} |")
            api = ""
    return "\n".join(lines)
