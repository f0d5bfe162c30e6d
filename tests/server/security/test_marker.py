"""The pytest marker takes the options of security."""

from __future__ import annotations

import pytest

from coordinator import Emulator

pytest.importorskip("kafka")
from kafka import KafkaConsumer


@pytest.mark.kafka(security="SASL_SSL", users={"billing": "secret"}, topics={"orders": 1})
def test_the_marker(kafka_emulator: Emulator) -> None:
    config = kafka_emulator.client_config("kafka-python", user="billing")
    consumer = KafkaConsumer(**config)
    try:
        assert "orders" in consumer.topics()
    finally:
        consumer.close()
