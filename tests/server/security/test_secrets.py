"""No output of a run has a secret in it: log, journal, explanations, pages, metrics, settings,
tracebacks, standard error. A run has all there are: passwords, salts, keys, tokens."""

from __future__ import annotations

import json
import logging
import time
import traceback
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("kafka")
pytest.importorskip("trustme")

from kafka import KafkaConsumer
from kafka.errors import KafkaError

from coordinator import Emulator
from coordinator.cli import main
from coordinator.kit.http.client import Client
from coordinator.kit.http.serving import opened
from coordinator.lab.page.engine import picture_of
from coordinator.members.connections.login import Credentials
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.raw import Closed, RawConnection, Silent
from integration_tests.wire.sasl import Scram, salted
from tests.server.security.driver import unsecured_token

PASSWORD, ROTATED, WRONG, SALT = (
    "pa55w0rd-of-billing",
    "r0tated-password",
    "wr0ng-passw0rd",
    b"s4lt-s4lt",
)
KEY = "m4ster-key-of-tokens"
SALTED = salted("sha256", PASSWORD, SALT)
BEARER = unsecured_token({"sub": "somebody", "exp": 1 << 34, "note": "b3arer-t0ken"})
TEXTS = [PASSWORD, ROTATED, WRONG, KEY, BEARER]
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""


def shapes(secret: bytes) -> list[str]:
    """A secret as texts have it."""
    return [secret.hex(), b64encode(secret).decode(), repr(secret)[2:-1]]


def plain(name: str, password: str) -> bytes:
    return f"\0{name}\0{password}".encode()


def log_in(connection: RawConnection, mechanism: str, *messages: bytes) -> Plain:
    connection.send("SaslHandshake", 1, {"mechanism": mechanism})
    connection.receive()
    answer: Plain = {}
    for message in messages:
        connection.send("SaslAuthenticate", 2, {"auth_bytes": message.hex()})
        answer = connection.receive()[1]
    return answer


Plain = dict[str, Any]


@pytest.mark.filterwarnings("ignore")
def test_no_output_has_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    log = tmp_path / "run.jsonl"
    outputs: dict[str, str] = {}
    config = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        "delegation.token.secret.key": KEY,
        "connections.max.reauth.ms": 60_000,
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'x required user_jaas="{PASSWORD}";',
    }
    with Emulator(
        {"orders": 1},
        security="SASL_PLAINTEXT",
        users={"billing": PASSWORD},
        acls=[
            "User:billing may All topic *",
            "User:billing may All cluster",
            "User:billing may All group *",
        ],
        config=config,
        log=log,
    ) as kafka:
        journal = kafka.journal()
        codec, servers = TableCodec(), kafka.bootstrap_servers
        one = RawConnection(servers, codec)
        assert not log_in(one, "PLAIN", plain("billing", PASSWORD))["error_code"]
        credential = {
            "name": "carol",
            "mechanism": 1,
            "iterations": 4096,
            "salt": SALT.hex(),
            "salted_password": SALTED.hex(),
        }
        one.send("AlterUserScramCredentials", 0, {"deletions": [], "upsertions": [credential]})
        one.receive()
        one.send("CreateDelegationToken", 3, {"renewers": [], "max_lifetime_ms": -1})
        token = one.receive()[1]
        assert not token["error_code"]
        one.send("DescribeDelegationToken", 3, {"owners": None})
        one.receive()
        for api, version, fields in (
            ("RenewDelegationToken", 2, {"hmac": token["hmac"], "renew_period_ms": 5000}),
            ("ExpireDelegationToken", 2, {"hmac": token["hmac"], "expiry_time_period_ms": 5000}),
            (
                "IncrementalAlterConfigs",
                1,
                {
                    "resources": [
                        {
                            "resource_type": 4,
                            "resource_name": "1",
                            "configs": [
                                {
                                    "name": "listener.name.x.ssl.key.password",
                                    "config_operation": 0,
                                    "value": PASSWORD,
                                }
                            ],
                        }
                    ],
                    "validate_only": True,
                },
            ),
            (
                "DescribeConfigs",
                4,
                {
                    "resources": [
                        {"resource_type": 4, "resource_name": "1", "configuration_keys": None}
                    ]
                },
            ),
        ):
            one.send(api, version, fields)
            outputs[f"answer of {api}"] = json.dumps(one.receive()[1])
        secret = b64encode(bytes.fromhex(token["hmac"])).decode()
        for name, word in (("billing", PASSWORD), (token["token_id"], secret), ("billing", WRONG)):
            two = RawConnection(servers, codec)
            scram = Scram(name, password=word)
            extension = ",tokenauth=true" if word == secret else ""
            first = log_in(two, "SCRAM-SHA-256", scram.first("n,,", extension))
            last = scram.final(bytes.fromhex(first["auth_bytes"]))
            two.send("SaslAuthenticate", 2, {"auth_bytes": last.hex()})
            assert bool(two.receive()[1]["error_code"]) == (word == WRONG)
            two.close()
        three = RawConnection(servers, codec)
        log_in(three, "OAUTHBEARER", f"n,,\x01auth=Bearer {BEARER}\x01\x01".encode())
        kafka.rotate_password("billing", ROTATED)
        kafka.expire_session("billing")
        with suppress(Closed, Silent):
            log_in(one, "PLAIN", plain("billing", WRONG))
        given = kafka.client_config("kafka-python", user="billing", mechanism="PLAIN")
        consumer = KafkaConsumer("orders", group_id="g", **given)
        joined = kafka.observe("SyncGroup", group="g")
        end = time.monotonic() + PATIENCE_S
        while not joined.hits:
            assert time.monotonic() < end
            consumer.poll(timeout_ms=100)
        consumer.close()
        try:
            wrong = {**given, "sasl_plain_password": WRONG, "bootstrap_timeout_ms": 300}
            KafkaConsumer("orders", group_id="g", **wrong)
        except KafkaError:
            outputs["traceback of a client"] = traceback.format_exc()
        access = kafka._access("billing")
        credentials = Credentials("PLAIN", "billing", PASSWORD)
        outputs["repr of logins"] = f"{access!r} {access} {credentials!r} {credentials}"
        outputs["repr"] = repr(kafka) + repr(kafka.server) + repr(vars(kafka).get("_security"))
        outputs["journal"] = "\n".join(map(str, journal.requests()))
        outputs["journal, answers"] = "\n".join(str(each.answer) for each in journal.requests())
        outputs["events"] = json.dumps(kafka.events())
        outputs["explain"] = str(kafka.explain()) + str(kafka.explain("g"))
        outputs["story"] = str(kafka.story()) + repr(kafka.timeline())
        outputs["quotas and rights"] = str(kafka.quotas()) + str(kafka.acls())
        with opened(kafka, "127.0.0.1:0") as port:
            client = Client(port.url, port.token)
            for path in ("", "events", "journal", "explain", "timeline", "story", "quotas"):
                outputs[f"/{path}"] = json.dumps(client.ask("GET", f"/{path}", {}))
            asked = Request(
                f"{port.url}/metrics", headers={"Authorization": f"Bearer {port.token}"}
            )
            with urlopen(asked) as answer:
                outputs["/metrics"] = answer.read().decode()
        three.close()
        one.close()
    text = log.read_text()
    outputs["log"] = text
    outputs["page"] = str(picture_of(text.splitlines()).plain())
    main(["explain", str(log)])
    told = capsys.readouterr()
    outputs["commands"] = told.out + told.err
    outputs["logging"] = "\n".join(
        record.getMessage() for record in caplog.records if record.name.startswith("coordinator")
    )
    secrets = [
        *TEXTS,
        secret,
        *shapes(SALT),
        *shapes(SALTED),
        *shapes(bytes.fromhex(token["hmac"])),
    ]
    for text in TEXTS:
        secrets += shapes(text.encode())
    found = [(name, each) for name, told in outputs.items() for each in secrets if each in told]
    assert found == []
    assert "Authenticated" in outputs["events"] and "SaslAuthenticate" in outputs["journal"]


def test_the_search_finds_what_it_is_to_find() -> None:
    """A secret in any of its shapes."""
    assert shapes(b"\x01a") == ["0161", "AWE=", "\\x01a"]
