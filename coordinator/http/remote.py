"""Public: the testing kit of an emulator in another process, over its control port."""

from __future__ import annotations

from coordinator.kit.http.remote import RemoteKit

__all__ = ["RemoteKit"]
