"""One agent a Python client library: see `integration_tests.clients.agent_protocol`."""

from __future__ import annotations
