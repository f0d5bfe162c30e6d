"""Documentation sentences of topic, group and client metrics configurations, which DescribeConfigs
v3+ returns on request (KIP-569). They are this project's, not Kafka's. Broker configurations
have none (docs/divergences.md).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from .definitions import ResourceType

TOPIC: Final = """
cleanup.policy: What happens to old segments: delete removes them by age or size, compact keeps each key's last record.
compression.gzip.level: The level at which the broker compresses with gzip, where compression.type asks it to.
compression.lz4.level: The level at which the broker compresses with lz4, where compression.type asks it to.
compression.type: The codec in which records are kept; producer keeps what each producer sent.
compression.zstd.level: The level at which the broker compresses with zstd, where compression.type asks it to.
delete.retention.ms: How long the tombstone of a deleted key stays in a compacted topic.
errors.deadletterqueue.group.enable: Whether share groups may write their dead letters to the topic.
file.delete.delay.ms: How long the file of a removed segment stays on disk.
flush.messages: After how many records the log is written through to the disk.
flush.ms: After what time the log is written through to the disk.
follower.replication.throttled.replicas: The replicas, as partition:broker or *, whose following is slowed down to the broker's rate.
index.interval.bytes: How many bytes of records lie between two entries of the offset index.
leader.replication.throttled.replicas: The replicas, as partition:broker or *, that lead and send to followers at the broker's rate only.
local.retention.bytes: How much of a tiered partition stays on the broker; -2 means retention.bytes.
local.retention.ms: How long a segment of a tiered partition stays on the broker; -2 means retention.ms.
max.compaction.lag.ms: The longest that a record may stay uncompacted.
max.decompressed.message.bytes: The largest record that may come out of a compressed batch.
max.message.bytes: The largest batch of records that is accepted, compressed if it is sent compressed.
message.timestamp.after.max.ms: How far a record's timestamp may be ahead of the broker's clock.
message.timestamp.before.max.ms: How far a record's timestamp may be behind the broker's clock.
message.timestamp.type: Whose clock stamps the records: CreateTime is the producer's, LogAppendTime the broker's.
min.cleanable.dirty.ratio: Which share of a log must be uncompacted before it is compacted again.
min.compaction.lag.ms: The shortest time that a record stays uncompacted.
min.insync.replicas: How many replicas must be in sync for a write with acks=all; with fewer it is refused.
preallocate: Whether the file of a new segment is given its full size at once.
remote.copy.lag.bytes: How many of a partition's newest bytes are not yet copied to remote storage.
remote.copy.lag.ms: How old a segment is before it is copied to remote storage.
remote.log.copy.disable: Whether a tiered topic stops copying segments to the remote storage.
remote.log.delete.on.disable: Whether the remote segments are removed when tiering is switched off.
remote.storage.enable: Whether the topic's segments are copied to a remote storage.
retention.bytes: How large a partition may grow before its oldest segments are removed; -1 means no bound.
retention.ms: How long records are kept before their segment is removed; -1 means for ever.
segment.bytes: The size of a segment file; retention and cleaning work on whole segments.
segment.index.bytes: The size of an index file, which is shrunk when its segment is closed.
segment.jitter.ms: The most that is taken from segment.ms at random, so that segments are not all closed at once.
segment.ms: After what time a segment is closed though it is not full.
unclean.leader.election.enable: Whether a replica that is not in sync may lead when no other can, at the price of records.
"""

GROUP: Final = """
consumer.assignment.interval.ms: The shortest time between two assignments of a consumer group.
consumer.assignor.offload.enable: Whether the group's assignor runs on a thread of its own.
consumer.heartbeat.interval.ms: How often the members of a consumer group send a heartbeat.
consumer.session.timeout.ms: After what silence a member of a consumer group is fenced.
errors.deadletterqueue.copy.record.enable: Whether a dead letter holds the record, and not only where it is.
errors.deadletterqueue.topic.name: The topic that records go to which the share group could not process.
share.assignment.interval.ms: The shortest time between two assignments of a share group.
share.assignor.offload.enable: Whether the group's assignor runs on a thread of its own.
share.auto.offset.reset: Where a share group starts on a partition without a start offset: latest, earliest, or by_duration and a duration.
share.delivery.count.limit: How often a record is delivered to a share group before it is given up.
share.heartbeat.interval.ms: How often the members of a share group send a heartbeat.
share.isolation.level: Whether a share group reads records of open and aborted transactions.
share.partition.max.record.locks: How many records of a partition a share group may hold at a time.
share.record.lock.duration.ms: How long a member of a share group may hold a record.
share.renew.acknowledge.enable: Whether members of a share group may prolong the time for which they hold a record.
share.session.timeout.ms: After what silence a member of a share group is fenced.
streams.acceptable.recovery.lag: How far behind a warm-up task may be and count as caught up.
streams.assignment.interval.ms: The shortest time between two assignments of a streams group.
streams.assignor.name: The group's task assignor, one of the broker's group.streams.assignors.
streams.assignor.offload.enable: Whether the group's assignor runs on a thread of its own.
streams.heartbeat.interval.ms: How often the members of a streams group send a heartbeat.
streams.initial.rebalance.delay.ms: How long the first assignment of a streams group waits for more members.
streams.num.standby.replicas: How many standby copies each stateful task of a streams group has.
streams.num.warmup.replicas: How many warm-up tasks the group may have at once.
streams.rack.aware.assignment.tags: The client tags by which the group's standby tasks are spread.
streams.session.timeout.ms: After what silence a member of a streams group is fenced.
streams.task.offset.interval.ms: How often the group's members tell the offsets of their tasks.
"""

CLIENT_METRICS: Final = """
interval.ms: How often matching clients push their metrics.
match: Which clients are meant: names of their properties, each with a regular expression.
metrics: The prefixes of the metrics that are wanted; * means all, nothing means none.
"""


@cache
def texts(resource_type: int) -> dict[str, str]:
    """Return the sentences of a resource type by configuration name; empty for other types than
    topics, groups and client metrics.
    """
    table = {
        ResourceType.TOPIC: TOPIC,
        ResourceType.GROUP: GROUP,
        ResourceType.CLIENT_METRICS: CLIENT_METRICS,
    }.get(ResourceType(resource_type), "")
    return dict(line.split(": ", 1) for line in table.strip().splitlines())
