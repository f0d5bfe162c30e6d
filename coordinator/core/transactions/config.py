"""The transaction coordinator's settings, in Kafka's own units. Plain values; who
reads files or flags is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TransactionConfig:
    """Settings with Kafka 4.4.0's defaults. May be changed while transactions are open."""

    max_timeout_ms: int = 900_000  # transaction.max.timeout.ms
    id_expiration_ms: int = 604_800_000  # transactional.id.expiration.ms
    abort_interval_ms: int = 10_000  # transaction.abort.timed.out.transaction.cleanup.interval.ms
    expiration_interval_ms: int = (
        3_600_000  # transaction.remove.expired.transaction.cleanup.interval.ms
    )
