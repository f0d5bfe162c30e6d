"""Test support that an application's own test suite imports. Nothing is imported eagerly: each part
asks for its extra when it is used.

`coordinator.testing.containers`: real Kafka brokers and this emulator in Docker containers; extra
`testcontainers`.
"""

from __future__ import annotations
