"""Conversion of a topic's configuration into the values that partition logs, retention and
compaction use. Each is kept until the configuration changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .settings.topic_configs import INTERNAL_SEGMENT_BYTES
from .storage.append_checks import LogConfig
from .storage.compaction import Compaction
from .storage.records import GZIP, LZ4, SNAPPY, ZSTD
from .storage.retention import Retention

if TYPE_CHECKING:
    from .cluster import Topic


_CODECS = {"uncompressed": 0, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
_LEVELS = {
    GZIP: "compression.gzip.level",
    LZ4: "compression.lz4.level",
    ZSTD: "compression.zstd.level",
}


def log_config(topic: Topic) -> LogConfig:
    """Return the topic's `LogConfig` in force."""
    known: LogConfig | None = topic.derived.get(LogConfig)
    if known is not None:
        return known
    configs = topic.broker_configs
    compacted = "compact" in str(topic.effective("cleanup.policy"))
    segment_ms = topic.effective_int("segment.ms")
    codec = _CODECS.get(str(topic.effective("compression.type")))
    internal = topic.configs.get(INTERNAL_SEGMENT_BYTES)
    config = topic.derived[LogConfig] = LogConfig(
        max_message_bytes=topic.effective_int("max.message.bytes"),
        append_time=topic.effective("message.timestamp.type") == "LogAppendTime",
        timestamp_before_max_ms=topic.effective_int("message.timestamp.before.max.ms"),
        timestamp_after_max_ms=topic.effective_int("message.timestamp.after.max.ms"),
        compacted=compacted,
        codec=codec,
        compression_level=None if codec not in _LEVELS else topic.effective_int(_LEVELS[codec]),
        segment_ms=min(segment_ms, topic.effective_int("max.compaction.lag.ms"))
        if compacted
        else segment_ms,
        segment_bytes=topic.effective_int("segment.bytes") if internal is None else int(internal),
        segment_jitter_ms=topic.effective_int("segment.jitter.ms"),
        index_interval_bytes=topic.effective_int("index.interval.bytes"),
        index_max_bytes=topic.effective_int("segment.index.bytes"),
        producer_id_expiration_ms=configs.get_int("producer.id.expiration.ms"),
        largest_record=topic.effective_int("max.decompressed.message.bytes")
        if configs.release.has("REC-44-1")
        else None,
    )
    return config


def retention(topic: Topic) -> Retention:
    """Return the topic's retention rules in force."""
    known: Retention | None = topic.derived.get(Retention)
    if known is None:
        policy = topic.effective("cleanup.policy")
        assert isinstance(policy, list)
        known = topic.derived[Retention] = Retention(
            deletes="delete" in policy,
            compacts="compact" in policy,
            retention_ms=topic.effective_int("retention.ms"),
            retention_bytes=topic.effective_int("retention.bytes"),
        )
    return known


def compaction(topic: Topic) -> Compaction:
    """Return the topic's compaction rules in force."""
    known: Compaction | None = topic.derived.get(Compaction)
    if known is None:
        ratio = topic.effective("min.cleanable.dirty.ratio")
        assert isinstance(ratio, float)
        known = topic.derived[Compaction] = Compaction(
            delete_retention_ms=topic.effective_int("delete.retention.ms"),
            min_lag_ms=topic.effective_int("min.compaction.lag.ms"),
            max_lag_ms=topic.effective_int("max.compaction.lag.ms"),
            min_dirty_ratio=ratio,
            segment_bytes=log_config(topic).segment_bytes,
        )
    return known
