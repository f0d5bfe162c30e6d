"""The event of stream `run`: the header, the first line of each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class RunStarted(NamedTuple):
    """A run begins. All other lines of the run follow this one, which has `seq` 0."""

    format: int
    """Version of the format: raised only if the meaning of a field that exists changes."""
    product: str = ""
    """Name and version of the program that wrote the log."""
    kafka_version: str = ""
    """Release that the brokers behave as; empty in logs that do not say (they are of 4.3)."""
    seed: int | None = None
    """Seed of every id that is drawn; None if there was none."""
    epoch_ms: int = 0
    """Wall clock of the driver's zero, in Unix milliseconds."""
    config: Mapping[str, Any] = {}
    """Settings in force, by Kafka's names."""


Event = RunStarted
