"""Scenarios of several brokers in which the emulator is known to part from Kafka 4.4.0: by name,
with the reason."""

from __future__ import annotations

from typing import Final

DIVERGENCES: Final[dict[str, str]] = {
    "metadata.a_cluster_that_is_whole": "DescribeQuorum names the brokers' own listeners, not the controllers'",
}
