"""Settings of the transaction coordinator, in Kafka's units. Plain values; the server fills them
from the broker's configuration.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TransactionConfig:
    """Settings of the transaction coordinator, with Kafka 4.4.0's defaults. They may change at run
    time.
    """

    max_timeout_ms: int = 900_000  # transaction.max.timeout.ms
    id_expiration_ms: int = 604_800_000  # transactional.id.expiration.ms
    abort_interval_ms: int = 10_000  # transaction.abort.timed.out.transaction.cleanup.interval.ms
    expiration_interval_ms: int = (
        3_600_000  # transaction.remove.expired.transaction.cleanup.interval.ms
    )
