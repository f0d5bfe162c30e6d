"""Settings of a producer: the Java producer's names and defaults, as far as this producer has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..config import MemberConfigError
from ..settings import FLAG, TEXT, WHOLE, setting

_ACKS: Final = {"all": -1, "-1": -1, "0": 0, "1": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig:
    """Settings of one producer. Durations are milliseconds. Raises MemberConfigError for settings
    that cannot be combined.
    """

    client_id: str = setting("client.id", TEXT, "")
    acks: str = setting("acks", TEXT, "all", words=tuple(_ACKS))
    enable_idempotence: bool = setting("enable.idempotence", FLAG, True)
    transactional_id: str | None = setting("transactional.id", TEXT, None)
    transaction_timeout_ms: int = setting("transaction.timeout.ms", WHOLE, 60_000, least=1)
    delivery_timeout_ms: int = setting("delivery.timeout.ms", WHOLE, 120_000, least=1)
    request_timeout_ms: int = setting("request.timeout.ms", WHOLE, 30_000, least=1)
    retries: int = setting("retries", WHOLE, (1 << 31) - 1)
    retry_backoff_ms: int = setting("retry.backoff.ms", WHOLE, 100)
    retry_backoff_max_ms: int = setting("retry.backoff.max.ms", WHOLE, 1_000)
    linger_ms: int = setting("linger.ms", WHOLE, 5)
    batch_size: int = setting("batch.size", WHOLE, 16_384)

    def __post_init__(self) -> None:
        if self.transactional_id is not None and not self.enable_idempotence:
            raise MemberConfigError("transactional.id needs enable.idempotence = true")
        if self.enable_idempotence and self.acks_number != -1:
            raise MemberConfigError(
                f"enable.idempotence = true needs acks = all, not {self.acks}: set one of them"
            )
        if self.delivery_timeout_ms < self.linger_ms + self.request_timeout_ms:
            raise MemberConfigError(
                f"delivery.timeout.ms {self.delivery_timeout_ms}: at least linger.ms + request.timeout.ms, "
                f"{self.linger_ms + self.request_timeout_ms}"
            )

    @property
    def acks_number(self) -> int:
        """The value of acks in the request: -1, 0 or 1."""
        return _ACKS[self.acks]
