"""A coordinator that loads many groups: how long that takes in all, and how long one slice of it
holds the loop."""

from __future__ import annotations

from random import Random
from time import process_time

from benchmarks.process import Row
from coordinator.cli.serving.serve import collect_rarely
from coordinator.core.groups.requests import Request, RequestContext
from coordinator.server.build import build_broker, topic_options
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

GROUPS, PARTITIONS = 10_000, 10


def run(rounds: int = 5) -> list[Row]:
    """Measure, with the garbage collector as `coordinator serve` sets it."""
    collect_rarely()
    broker = build_broker(
        configs=BrokerConfigs({}),
        random=Random(1),
        epoch_ms=0,
        topics=topic_options({"orders": PARTITIONS}),
    )
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=index)
        for index in range(PARTITIONS)
    ]
    topics = [OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    for group in range(GROUPS):
        broker.coordinator.handle(
            Request(
                RequestContext(8), OffsetCommitRequest(group_id=f"group-{group}", topics=topics)
            ),
            0,
        )
    took, longest, unloads, longest_unload = [], [], [], []
    for _ in range(rounds):
        holds = []
        began = process_time()
        broker.groups.unload(None, 0)
        holds.append(process_time() - began)
        while broker.coordinator.is_unloading:
            began = process_time()
            broker.tick(0)
            holds.append(process_time() - began)
        unloads.append(sum(holds))
        longest_unload.append(max(holds))
        holds = []
        began = process_time()
        broker.groups.begin_load(None, 0, 0)
        holds.append(process_time() - began)
        while broker.coordinator.is_loading:
            began = process_time()
            broker.tick(0)
            holds.append(process_time() - began)
        took.append(sum(holds))
        longest.append(max(holds))
        assert len(broker.coordinator.groups) == GROUPS
    what = f"{GROUPS:,} groups, {GROUPS * PARTITIONS:,} offsets"
    return [
        Row(f"load of {what}, CPU, best of {rounds}", min(took) * 1000, "ms", "<= 1,000"),
        Row("the longest slice of it, CPU, best of these", min(longest) * 1000, "ms", "<= 20"),
        Row("unload of the same, CPU, best of these", min(unloads) * 1000, "ms"),
        Row(
            "the longest slice of it, CPU, best of these", min(longest_unload) * 1000, "ms", "<= 20"
        ),
    ]
