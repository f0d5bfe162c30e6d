"""Public: this project's assignors for kafka-python."""

from __future__ import annotations

from coordinator.members.adapters.kafka_python import assignor_class

__all__ = ["assignor_class"]
