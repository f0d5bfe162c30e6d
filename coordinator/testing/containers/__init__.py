"""Brokers in Docker containers, for tests: `RealKafka`, real Apache Kafka, and `EmulatorContainer`,
this emulator's image.

    with RealKafka(brokers=3) as kafka:
        consumer = KafkaConsumer("orders", bootstrap_servers=kafka.bootstrap_servers)

A test sees addresses, logs, Kafka's tools, and can kill or stop a broker. Nothing is left
behind; `ContainerError` says what to do if a broker cannot be started. Built on Testcontainers,
extra `testcontainers`: docs/testcontainers.md.
"""

from __future__ import annotations

try:
    from .emulator import EmulatorContainer
    from .errors import ContainerError, DockerUnavailableError, ImageUnavailableError
    from .kafka import IMAGE_JVM, QUICK_JVM, RealKafka
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] not in ("docker", "testcontainers"):
        raise
    from coordinator.base.installing import lacks

    raise ImportError(
        lacks("coordinator.testing.containers needs Testcontainers", "testcontainers"),
        name=missing.name,
    ) from missing

__all__ = [
    "IMAGE_JVM",
    "QUICK_JVM",
    "ContainerError",
    "DockerUnavailableError",
    "EmulatorContainer",
    "ImageUnavailableError",
    "RealKafka",
]
