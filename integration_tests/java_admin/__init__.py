"""The Java clients' administrative calls, on any broker: what they say of the emulator must be what
they say of Kafka."""

from __future__ import annotations
