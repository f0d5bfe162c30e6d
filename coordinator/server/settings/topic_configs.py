"""Topic configurations: the table, validation of a topic's own values as in Kafka's controller, and
the value in force.

A topic's own value precedes the broker's (`SYNONYMS`), and that the default. The table has the
notation of `definitions.read_table` and Kafka's order: the first invalid value in it is the one
reported. Works on names and texts; does not know topics or requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from coordinator.base.releases import NEWEST, Release

from .definitions import (
    ConfigDef,
    ConfigException,
    ConfigSource,
    ConfigValue,
    read_table,
    released,
    show,
)

if TYPE_CHECKING:
    from .broker_configs import BrokerConfigs

TABLE = """
segment.bytes int 1073741824 1048576.. -
segment.ms long 604800000 1.. -
segment.jitter.ms long 0 0.. -
segment.index.bytes int 10485760 4.. -
flush.messages long 9223372036854775807 1.. -
flush.ms long 9223372036854775807 0.. -
retention.bytes long -1 - -
retention.ms long 604800000 -1.. -
max.message.bytes int 1048588 0.. -
max.decompressed.message.bytes int 2147483639 1..2147483639 -
index.interval.bytes int 4096 0.. -
delete.retention.ms long 86400000 0.. -
min.compaction.lag.ms long 0 0.. -
max.compaction.lag.ms long 9223372036854775807 1.. -
file.delete.delay.ms long 60000 0.. -
min.cleanable.dirty.ratio double 0.5 0..1 -
cleanup.policy list delete [compact|delete] -
unclean.leader.election.enable boolean false - -
min.insync.replicas int 1 1.. -
compression.type string producer uncompressed|zstd|lz4|snappy|gzip|producer -
compression.gzip.level int -1 gzip -
compression.lz4.level int 9 1..17 -
compression.zstd.level int 3 -131072..22 -
preallocate boolean false - -
message.timestamp.type string CreateTime CreateTime|LogAppendTime -
message.timestamp.before.max.ms long 9223372036854775807 0.. -
message.timestamp.after.max.ms long 3600000 0.. -
leader.replication.throttled.replicas list '' throttled -
follower.replication.throttled.replicas list '' throttled -
remote.storage.enable boolean false - -
local.retention.ms long -2 -2.. -
local.retention.bytes long -2 -2.. -
remote.log.copy.disable boolean false - -
remote.copy.lag.ms long 0 -1.. -
remote.copy.lag.bytes long -1 -1.. -
remote.log.delete.on.disable boolean false - -
errors.deadletterqueue.group.enable boolean false - -
"""

INTERNAL_SEGMENT_BYTES = "internal.segment.bytes"
INTERNAL_TABLE = f"""
{INTERNAL_SEGMENT_BYTES} int null - -
"""
"""Taken by Kafka for its own tests, and shown where it is given only: `segment.bytes` without the
bound of 1 MiB, before which it comes."""

_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000

# Topic configuration -> the broker's names for its default, the strongest first, each with the
# factor to the topic's unit.
SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.downconversion.enable": (("log.message.downconversion.enable", 1),),
    "message.format.version": (("log.message.format.version", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.difference.max.ms": (("log.message.timestamp.difference.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MINUTE_MS),
        ("log.retention.hours", _HOUR_MS),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR_MS)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", _HOUR_MS)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}


@cache
def topic_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return all topic configurations of a release by name."""
    return released(read_table(TABLE), release.topic_settings) | read_table(
        release.topic_settings.more
    )


@cache
def settable_topic_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return all topic configurations that can be set: `topic_defs`, and those shown only where
    they are given.
    """
    return topic_defs(release) | released(read_table(INTERNAL_TABLE), release.topic_settings)


def validate(values: Mapping[str, str], release: Release = NEWEST) -> None:
    """Validate a topic's own values together. Raises ConfigException with Kafka's message (code
    40).
    """
    defs = settable_topic_defs(release)
    for name in values:
        if name not in defs:
            raise ConfigException(f"Unknown topic config name: {name}")
    typed = {name: of.parse(values[name]) for name, of in defs.items() if name in values}
    low, high = (
        typed.get(name, defs[name].parse(defs[name].default))
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    assert isinstance(low, int) and isinstance(high, int)
    if low > high:
        raise ConfigException(
            f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})"
        )
    if typed.get("remote.storage.enable"):
        raise ConfigException(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
        )


def effective_value(name: str, own: Mapping[str, str], broker: BrokerConfigs) -> ConfigValue:
    """Return the typed value in force for a topic with these own values. Raises KeyError for an
    unknown name.
    """
    of = settable_topic_defs(broker.release)[name]
    if name in own:
        return of.parse(own[name])
    for synonym, factor in SYNONYMS.get(name, ()):
        value = broker.get(synonym)
        if value is not None:
            return value * factor if isinstance(value, int) and factor != 1 else value
    return of.parse(of.default)


def effective_texts(
    own: Mapping[str, str], broker: BrokerConfigs
) -> list[tuple[str, str | None, ConfigSource]]:
    """Return every topic configuration with the text in force and its source, for CreateTopics v5+."""
    return [
        (name, show(effective_value(name, own, broker)), _source(name, own, broker))
        for name in shown(own, broker.release)
    ]


def shown(own: Mapping[str, str], release: Release) -> list[str]:
    """Return the sorted names of the configurations that are shown for a topic with these own
    values.
    """
    return sorted(
        name for name in settable_topic_defs(release) if name in own or name in topic_defs(release)
    )


def _source(name: str, own: Mapping[str, str], broker: BrokerConfigs) -> ConfigSource:
    if name in own:
        return ConfigSource.TOPIC
    for values, source in broker.layers():
        if any(synonym in values for synonym, _ in SYNONYMS.get(name, ())):
            return source
    return ConfigSource.DEFAULT
