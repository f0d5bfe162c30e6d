"""The example applications, as tests start them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

LIBRARIES = {
    "kafka-python": "KafkaPythonApplication",
    "aiokafka": "AiokafkaApplication",
    "confluent-kafka": "ConfluentApplication",
}
MODULES = {
    "kafka-python": ("kafka", "kafka_python"),
    "aiokafka": ("aiokafka", "aiokafka"),
    "confluent-kafka": ("confluent_kafka", "confluent"),
}

INSTANCE_ID = {
    "kafka-python": "group_instance_id",
    "aiokafka": "group_instance_id",
    "confluent-kafka": "group.instance.id",
}
"""The setting that makes a static member."""


def application_class(library: str) -> Any:
    """The example application that uses a library; skips where the library is not installed."""
    needed, part = MODULES[library]
    pytest.importorskip(needed)
    return getattr(import_module(f"examples.consumers.{part}_application"), LIBRARIES[library])


def starter(library: str) -> Iterator[Callable[..., Any]]:
    """Starts applications; those that still run when the test ends are stopped."""
    started: list[Any] = []

    def start(bootstrap_servers: str, **options: Any) -> Any:
        application = application_class(library)(**options)
        application.start(bootstrap_servers)
        started.append(application)
        return application

    yield start
    for application in started:
        application.stop()
        if application.error is not None:
            raise application.error
