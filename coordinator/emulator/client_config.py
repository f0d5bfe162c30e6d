"""Public: TLS settings of a listener as an `ssl.SSLContext`, for clients that take one."""

from __future__ import annotations

from coordinator.kit.emulator.client_config import with_ssl_context

__all__ = ["with_ssl_context"]
