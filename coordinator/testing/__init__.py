"""Test support for an application's own test suite. Nothing is imported eagerly: each part asks for
its extra when it is used.

`plugin.py` has the pytest fixtures, `cases.py` ready tests, `virtual/` virtual time, and
`containers/` real Kafka brokers and this emulator in Docker containers (extra `testcontainers`).
"""

from __future__ import annotations
