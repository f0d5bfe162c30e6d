"""Brokers under virtual time are stopped and started again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coordinator.kit.emulator.options import EmulatorError
from coordinator.testing.virtual import virtual_kafka


class TestVirtualTime:
    async def test_records_stay_through_a_controlled_shutdown(self) -> None:
        async with virtual_kafka({"orders": 1}) as kafka:
            kafka.produce("orders", ["before"])
            kafka.group("app").commit({("orders", 0): 1})
            with kafka.stop_broker(1):
                await asyncio.sleep(3)
            await kafka.produce_when_ready("orders", ["after"])
            assert [row.value for row in kafka.records("orders")] == [b"before", b"after"]
            assert kafka.group("app").committed["orders", 0].offset == 1

    @pytest.mark.parametrize("how", ["controlled", "crash", "pause"])
    async def test_an_application_comes_back(self, how: Any) -> None:
        aiokafka = pytest.importorskip("aiokafka")
        async with virtual_kafka({"orders": 1}) as kafka:
            consumer = aiokafka.AIOKafkaConsumer(
                "orders",
                bootstrap_servers=kafka.bootstrap,
                group_id="app",
                auto_offset_reset="earliest",
            )
            await consumer.start()
            kafka.produce("orders", ["before"])
            assert (await consumer.getone()).value == b"before"
            with kafka.stop_broker(1, how=how):
                await asyncio.sleep(3)
            await kafka.produce_when_ready("orders", ["after"])
            assert (await asyncio.wait_for(consumer.getone(), 120)).value == b"after"
            # aiokafka 0.14 looks for no coordinator once it is stopped, and commits for ever
            await asyncio.sleep(10)
            assert kafka.group("app").state == "Stable"
            await consumer.stop()

    async def test_settings(self) -> None:
        async with virtual_kafka({"orders": 1}) as kafka:
            kafka.restart(config={"group.max.size": 9})
            assert kafka.brokers.configs[1].get_int("group.max.size") == 9
            with pytest.raises(EmulatorError, match="there is no broker 4"):
                kafka.restart(4)
