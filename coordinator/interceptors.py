"""Public: verdicts that an interceptor of requests gives.

The code stands in `coordinator.server.interceptors`; nothing in the project imports this module.
"""

from __future__ import annotations

from coordinator.server.interceptors import Answer

__all__ = ["Answer"]
