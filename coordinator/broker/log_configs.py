"""A topic's configuration as the logs of its partitions need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..storage.append_checks import LogConfig

if TYPE_CHECKING:
    from ..cluster import Topic


def log_config(topic: Topic) -> LogConfig:
    """The configuration in force; kept until it changes."""
    known: LogConfig | None = topic.derived.get(LogConfig)
    if known is not None:
        return known
    configs = topic.broker_configs
    config = topic.derived[LogConfig] = LogConfig(
        max_message_bytes=topic.effective_int("max.message.bytes"),
        append_time=topic.effective("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=topic.effective_int("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=topic.effective_int("message.timestamp.after.max.ms"),
        compacted="compact" in str(topic.effective("cleanup.policy")),
        segment_ms=topic.effective_int("segment.ms"),
        segment_bytes=topic.effective_int("segment.bytes"),
        producer_id_expiration_ms=configs.get_int("producer.id.expiration.ms"),
        largest_record=topic.effective_int("max.decompressed.message.bytes")
        if configs.release.has("REC-44-1")
        else None,
    )
    return config
