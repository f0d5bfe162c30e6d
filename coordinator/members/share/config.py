"""Configuration of a share consumer: Java's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

from ..config import MemberConfigError, read_settings, setting

IMPLICIT: Final = "implicit"
EXPLICIT: Final = "explicit"
_ACQUIRE_MODES: Final = {"batch_optimized": 0, "record_limit": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareConfig:
    """Settings of one share consumer. Durations are milliseconds. Raises MemberConfigError for
    invalid values.
    """

    group_id: str = setting("group.id", "text", "")
    client_id: str = setting("client.id", "text", "")
    client_rack: str = setting("client.rack", "text", "")
    acknowledgement_mode: str = setting("share.acknowledgement.mode", "text", IMPLICIT)
    """Implicit: what a poll handed out is accepted by the next one. Explicit: each record is
    acknowledged, and a poll before that is refused."""
    acquire_mode: str = setting("share.acquire.mode", "text", "batch_optimized")
    max_poll_records: int = setting("max.poll.records", "count", 500)
    max_poll_interval_ms: int = setting("max.poll.interval.ms", "milliseconds", 300_000)
    fetch_max_wait_ms: int = setting("fetch.max.wait.ms", "milliseconds", 500)
    fetch_min_bytes: int = setting("fetch.min.bytes", "count", 1)
    fetch_max_bytes: int = setting("fetch.max.bytes", "count", 52_428_800)
    request_timeout_ms: int = setting("request.timeout.ms", "milliseconds", 30_000)
    retry_backoff_ms: int = setting("retry.backoff.ms", "milliseconds", 100)
    retry_backoff_max_ms: int = setting("retry.backoff.max.ms", "milliseconds", 1_000)

    @classmethod
    def from_properties(cls, properties: Mapping[str, object]) -> Self:
        """Create a configuration from Kafka's names."""
        return cls(**read_settings(cls, properties, "a share consumer"))

    def __post_init__(self) -> None:
        if not self.group_id:
            raise MemberConfigError("group.id is missing: a member belongs to a group")
        for name, value, allowed in (
            ("share.acknowledgement.mode", self.acknowledgement_mode, (IMPLICIT, EXPLICIT)),
            ("share.acquire.mode", self.acquire_mode, tuple(_ACQUIRE_MODES)),
        ):
            if value not in allowed:
                raise MemberConfigError(f"{name} {value!r} is none of {', '.join(allowed)}")
        for entry in fields(self):
            least = 0 if entry.name in ("retry_backoff_ms", "retry_backoff_max_ms") else 1
            if entry.metadata["kind"] != "text" and getattr(self, entry.name) < least:
                name = entry.metadata["name"]
                raise MemberConfigError(f"{name} {getattr(self, entry.name)}: at least {least}")

    @property
    def implicit(self) -> bool:
        """True if a poll accepts the records of the previous poll."""
        return self.acknowledgement_mode == IMPLICIT

    @property
    def acquire_number(self) -> int:
        """The value of share.acquire.mode in ShareFetch."""
        return _ACQUIRE_MODES[self.acquire_mode]

    def having(self, **values: Any) -> Self:
        """Return a copy with other values, by attribute name."""
        return replace(self, **values)
