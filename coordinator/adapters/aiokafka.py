"""Public: this project's assignors for aiokafka."""

from __future__ import annotations

from coordinator.members.adapters.aiokafka import assignor_class

__all__ = ["assignor_class"]
