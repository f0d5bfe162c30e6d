"""Logins and rights under virtual time: unmodified aiokafka, peers, and what cannot be."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import GroupAuthorizationFailedError, KafkaConnectionError

from coordinator.kit.emulator.options import EmulatorError
from coordinator.testing.virtual import VirtualKafka, virtual_kafka

RIGHTS = ["User:billing may Read topic orders", "User:billing may Read group app"]
SECURED: dict[str, Any] = {
    "security": "SASL_PLAINTEXT",
    "users": {"billing": "s3cret-of-billing"},
    "acls": RIGHTS,
}


async def rights_that_go(kafka: VirtualKafka) -> None:
    """A consumer whose right is taken away, and given back."""
    config = kafka.client_config("aiokafka", user="billing")
    consumer = AIOKafkaConsumer("orders", group_id="app", client_id="c", **config)
    await consumer.start()
    await kafka.group("app").wait(state="Stable", members=1)
    mark = kafka.mark()
    with kafka.revoke(RIGHTS[1]):
        await kafka.wait_for("AuthorizationRefused", group="app", since=mark)
        with pytest.raises(GroupAuthorizationFailedError):
            await consumer.getmany(timeout_ms=60_000)
    await consumer.stop()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_gets_in_by_every_mechanism(mechanism: str) -> None:
    async def main() -> None:
        async with virtual_kafka({"orders": 2}, brokers=2, **SECURED) as kafka:
            config = kafka.client_config("aiokafka", user="billing", mechanism=mechanism)
            consumer = AIOKafkaConsumer(
                "orders", group_id="app", auto_offset_reset="earliest", **config
            )
            await consumer.start()
            await kafka.group("app").wait(state="Stable", members=1)
            kafka.produce("orders", ["coffee"])
            [records] = (await consumer.getmany(timeout_ms=60_000)).values()
            assert [record.value for record in records] == [b"coffee"]
            await consumer.stop()

    asyncio.run(main())


def test_rights_are_taken_away_and_every_run_is_the_same() -> None:
    runs: list[list[dict[str, Any]]] = []

    async def main() -> None:
        async with virtual_kafka({"orders": 2}, **SECURED) as kafka:
            await rights_that_go(kafka)
            runs.append(kafka.events())

    for _ in range(2):
        asyncio.run(main())
    assert runs[0] == runs[1]
    assert "AclsDeleted" in {line["type"] for line in runs[0]}
    assert "s3cret-of-billing" not in str(runs)


def test_a_wrong_password_is_refused() -> None:
    async def main() -> None:
        async with virtual_kafka({"orders": 1}, **SECURED) as kafka:
            config = kafka.client_config("aiokafka", user="billing")
            consumer = AIOKafkaConsumer("orders", **{**config, "sasl_plain_password": "wrong"})
            with pytest.raises(KafkaConnectionError):
                await consumer.start()
            await consumer.stop()
            assert kafka.events("AuthenticationFailed")[0]["principal"] == "User:billing"

    asyncio.run(main())


def test_peers_have_their_users_rights_or_all() -> None:
    async def main() -> None:
        async with virtual_kafka({"orders": 1}, **SECURED) as kafka:
            async with kafka.peer("anything", topics=["orders"]) as own:
                await own.stable()
            async with kafka.peer("app", topics=["orders"], user="billing") as allowed:
                await allowed.stable()
            mark = kafka.mark()
            refused = kafka.peer("other", topics=["orders"], user="billing")
            async with refused:
                [event] = await kafka.wait_for("AuthorizationRefused", group="other", since=mark)
            assert event["principal"] == "User:billing"

    asyncio.run(main())


def test_a_broker_that_was_started_again_asks_again() -> None:
    async def main() -> None:
        async with virtual_kafka({"orders": 1}, **SECURED) as kafka:
            kafka.restart(1)
            async with kafka.peer("app", topics=["orders"], user="billing") as peer:
                await peer.stable()
            assert kafka.acls() == RIGHTS

    asyncio.run(main())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"security": "SASL_SSL"}, "there is no TLS under virtual time"),
        ({"security": "SASL_PLAINTEXT"}, "there are no users"),
        ({"users": {"a": "b"}}, "there is no login at"),
        ({"acls": ["nonsense"]}, "acls: 'nonsense'"),
    ],
)
def test_what_cannot_be(options: dict[str, Any], told: str) -> None:
    async def main() -> None:
        async with virtual_kafka(**options):
            pass

    with pytest.raises(EmulatorError, match=told):
        asyncio.run(main())
