"""Several brokers: their start and stop, and the load of a large coordinator.
`benchmarks.recovery`: clients when a coordinator crashes."""

from __future__ import annotations

import gc
import time
from random import Random
from statistics import median

from benchmarks.process import Row
from coordinator import Emulator
from coordinator.events import groups as ev
from coordinator.events.groups.offsets import CommittedOffset
from coordinator.kit.cluster import MoveLeader, perform
from coordinator.server.cluster_runtime import Brokers, ClusterOptions, Hosts
from coordinator.server.settings.broker_configs import BrokerConfigs

GROUPS, OFFSETS_A_GROUP = 10_000, 10


def _start_and_stop() -> tuple[float, float]:
    emulator = Emulator({"orders": 6}, brokers=3)
    began = time.perf_counter()
    with emulator:
        started = time.perf_counter()
    return (started - began) * 1000, (time.perf_counter() - started) * 1000


def _load() -> tuple[float, float]:
    """Processor time: seconds until a coordinator has loaded many groups, and the longest hold in
    milliseconds."""
    configs = [
        BrokerConfigs({"offsets.topic.num.partitions": "1"}, node_id=node) for node in (1, 2, 3)
    ]
    brokers = Brokers(ClusterOptions(configs=configs, random=Random(1), epoch_ms=0))
    hosts = Hosts(brokers)
    partition = brokers.controller.cluster.partition("__consumer_offsets", 0)
    assert partition is not None
    leader, log = (
        partition.leader,
        brokers.images[partition.leader].topics["__consumer_offsets"].partitions[0].log,
    )
    for number in range(GROUPS):
        offsets = tuple(
            CommittedOffset("orders", index, number, -1, "", None)
            for index in range(OFFSETS_A_GROUP)
        )
        log.append_event(0, f"group-{number}", ev.GroupCreated("commit"))  # type: ignore[attr-defined]
        log.append_event(0, f"group-{number}", ev.OffsetsCommitted("", offsets))  # type: ignore[attr-defined]
    brokers.replication.run(0)
    other = next(node for node in (1, 2, 3) if node != leader)
    began = last = time.process_time()
    perform(hosts, MoveLeader("__consumer_offsets", 0, other), 0)
    coordinator, longest = brokers.brokers[other].coordinator, 0.0
    while True:
        now = time.process_time()
        longest, last = max(longest, now - last), now
        if coordinator.next_deadline() != 0:
            break
        brokers.tick(0)
    assert len(coordinator.groups) == GROUPS
    return last - began, longest * 1000


def run(rounds: int = 9) -> list[Row]:
    """Measure each."""
    _start_and_stop()
    starts, stops = zip(*(_start_and_stop() for _ in range(rounds)), strict=True)
    load_s, collected_ms = min(_load() for _ in range(3))
    gc.disable()
    try:
        _, longest_ms = _load()
    finally:
        gc.enable()
    return [
        Row("Emulator(brokers=3): start, warm interpreter, median", median(starts), "ms", "<= 15"),
        Row("Emulator(brokers=3): stop, median", median(stops), "ms", "<= 15"),
        Row(
            "processor time of the load of a coordinator with 10,000 groups and 100,000 offsets",
            load_s,
            "s",
            "<= 1",
        ),
        Row("the longest slice of that", longest_ms, "ms", "<= 20"),
        Row("the same with a full run of Python's garbage collector in it", collected_ms, "ms"),
    ]


if __name__ == "__main__":
    print(*run(), sep="\n")
