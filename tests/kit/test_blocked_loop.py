"""A blocking client on the emulator's own loop is found and named. The clients here are functions
that say they are of those libraries."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.kit.emulator import blocked_loop
from coordinator.kit.emulator.blocked_loop import BlockingClientError, blocking_client

_LIMIT_S = 60.0


def of_module(name: str) -> Callable[[Callable[[], Any]], Any]:
    """A function of a module of this name, which calls what it is given."""
    scope: dict[str, Any] = {"__name__": name}
    exec("def call(inner):\n    return inner()\n", scope)
    call: Callable[[Callable[[], Any]], Any] = scope["call"]
    return call


def here() -> FrameType:
    return sys._getframe(1)


def seen() -> tuple[str, str] | None:
    return blocking_client(here())


class TestWho:
    def test_kafka_python_and_its_caller(self) -> None:
        found = of_module("kafka.consumer.group")(seen)
        assert found is not None
        assert found[0] == "kafka-python"
        assert found[1].endswith("in test_kafka_python_and_its_caller")

    def test_confluent_kafka_stands_on_no_stack_but_in_its_callers_hands(self) -> None:
        consumer = type("Consumer", (), {"__module__": "cimpl"})()
        assert seen_with(consumer) == "confluent-kafka"
        assert Application(consumer).seen() == "confluent-kafka"

    def test_none(self) -> None:
        assert blocking_client(None) is None
        assert of_module("kafkaesque.consumer")(seen) is None
        assert of_module("aiokafka.consumer")(seen) is None

    def test_not_while_it_is_debugged(self) -> None:
        assert of_module("kafka.consumer")(lambda: of_module("pdb")(seen)) is None


class Application:
    def __init__(self, consumer: object) -> None:
        self._consumer = consumer

    def seen(self) -> str | None:
        found = blocking_client(here())
        return None if found is None else found[0]


def seen_with(consumer: object) -> str | None:
    found = blocking_client(here())
    return None if found is None else found[0]


def blocks_until_interrupted() -> None:
    until = time.monotonic() + _LIMIT_S
    while time.monotonic() < until:
        time.sleep(0.001)
    raise AssertionError("it was not interrupted")


async def test_a_blocking_client_is_interrupted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked_loop, "_LOOK_S", 0.01)
    with pytest.raises(
        BlockingClientError,
        match=r"kafka-python blocks the loop that the emulator runs on, at .*test_blocked_loop\.py:",
    ):
        async with Emulator():
            of_module("kafka.consumer.group")(blocks_until_interrupted)


async def test_one_that_swallows_the_interruption_is_named_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocked_loop, "_LOOK_S", 0.01)

    def swallow() -> None:
        try:
            blocks_until_interrupted()
        except BlockingClientError:
            raise ConnectionError("no broker") from None

    with pytest.raises(BlockingClientError) as raised:
        async with Emulator():
            of_module("kafka.consumer.group")(swallow)
    assert isinstance(raised.value.__cause__, ConnectionError)


async def test_a_loop_that_turns_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked_loop, "_LOOK_S", 0.001)
    async with Emulator() as kafka:
        for _ in range(20):
            await asyncio.sleep(0.002)
        assert kafka.topics() == {}
