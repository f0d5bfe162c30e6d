"""The client matrix: stories that unmodified client libraries play, on the emulator and on a real
Kafka, callbacks compared."""

from __future__ import annotations
