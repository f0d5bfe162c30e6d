"""Topics, groups and client metrics: a configuration and its sentence on each line."""

from __future__ import annotations

TOPIC = """
cleanup.policy: What happens to old segments: delete removes them by age or size, compact keeps each key's last record.
compression.gzip.level: The level at which the broker compresses with gzip, where compression.type asks it to.
compression.lz4.level: The level at which the broker compresses with lz4, where compression.type asks it to.
compression.type: The codec in which records are kept; producer keeps what each producer sent.
compression.zstd.level: The level at which the broker compresses with zstd, where compression.type asks it to.
delete.retention.ms: How long the tombstone of a deleted key stays in a compacted topic.
file.delete.delay.ms: How long the file of a removed segment stays on disk.
flush.messages: After how many records the log is written through to the disk.
flush.ms: After what time the log is written through to the disk.
follower.replication.throttled.replicas: The replicas, as partition:broker or *, whose following is slowed down to the broker's rate.
index.interval.bytes: How many bytes of records lie between two entries of the offset index.
leader.replication.throttled.replicas: The replicas, as partition:broker or *, that lead and send to followers at the broker's rate only.
local.retention.bytes: How much of a tiered partition stays on the broker; -2 means retention.bytes.
local.retention.ms: How long a segment of a tiered partition stays on the broker; -2 means retention.ms.
max.compaction.lag.ms: The longest that a record may stay uncompacted.
max.message.bytes: The largest batch of records that is accepted, compressed if it is sent compressed.
message.timestamp.after.max.ms: How far a record's timestamp may be ahead of the broker's clock.
message.timestamp.before.max.ms: How far a record's timestamp may be behind the broker's clock.
message.timestamp.type: Whose clock stamps the records: CreateTime is the producer's, LogAppendTime the broker's.
min.cleanable.dirty.ratio: Which share of a log must be uncompacted before it is compacted again.
min.compaction.lag.ms: The shortest time that a record stays uncompacted.
min.insync.replicas: How many replicas must be in sync for a write with acks=all; with fewer it is refused.
preallocate: Whether the file of a new segment is given its full size at once.
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

GROUP = """
consumer.assignment.interval.ms: The shortest time between two assignments of a consumer group.
consumer.heartbeat.interval.ms: How often the members of a consumer group send a heartbeat.
consumer.session.timeout.ms: After what silence a member of a consumer group is fenced.
share.assignment.interval.ms: The shortest time between two assignments of a share group.
share.auto.offset.reset: Where a share group starts on a partition without a start offset: latest, earliest, or by_duration and a duration.
share.delivery.count.limit: How often a record is delivered to a share group before it is given up.
share.heartbeat.interval.ms: How often the members of a share group send a heartbeat.
share.isolation.level: Whether a share group reads records of open and aborted transactions.
share.partition.max.record.locks: How many records of a partition a share group may hold at a time.
share.record.lock.duration.ms: How long a member of a share group may hold a record.
share.renew.acknowledge.enable: Whether members of a share group may prolong the time for which they hold a record.
share.session.timeout.ms: After what silence a member of a share group is fenced.
streams.assignment.interval.ms: The shortest time between two assignments of a streams group.
streams.heartbeat.interval.ms: How often the members of a streams group send a heartbeat.
streams.initial.rebalance.delay.ms: How long the first assignment of a streams group waits for more members.
streams.num.standby.replicas: How many standby copies each stateful task of a streams group has.
streams.session.timeout.ms: After what silence a member of a streams group is fenced.
"""

CLIENT_METRICS = """
interval.ms: How often matching clients push their metrics.
match: Which clients are meant: names of their properties, each with a regular expression.
metrics: The prefixes of the metrics that are wanted; * means all, nothing means none.
"""
