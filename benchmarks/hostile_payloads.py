"""Hostile requests that need something before them, or bytes that no table makes: what
`benchmarks.hostile` has beside its long arrays.

Records that lie, compressed bombs, message sets of old formats, topics of very many partitions and
what changes all of them, lists of configurations that grow, members with tens of thousands of
protocols and assignments, owners of partitions that are not there, transactions, requests in a row.
The same is allowed as there, and judged in the same way. Garbage is collected as often as in
`coordinator serve`; with `--embedded` as in any Python process, where one collection goes through
all partitions there are.

    python -m benchmarks.hostile_payloads [--brokers N] [--embedded] [part of a name ...]
"""

from __future__ import annotations

import argparse
import gc
import gzip
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.hostile import GROUP, MIB, PARTITIONS, TOPIC, Measured, Stage
from coordinator.cli.serving.serve import collect_rarely
from coordinator.server.cluster_runtime import Brokers, Hosts
from coordinator.server.storage.record_codec import build_batch
from coordinator.server.storage.records import crc32c
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages import consumer_group_heartbeat as heartbeats
from coordinator.wire.messages import describe_configs as descriptions
from coordinator.wire.messages import fetch as fetches
from coordinator.wire.messages import incremental_alter_configs as alterations
from coordinator.wire.messages import join_group as joins
from coordinator.wire.messages import leave_group as leaves
from coordinator.wire.messages import list_offsets as offsets
from coordinator.wire.messages import produce as produces
from coordinator.wire.messages import reassignments, transactions
from coordinator.wire.messages import sync_group as syncs
from coordinator.wire.messages import topics as topic_requests
from coordinator.wire.messages.heartbeat import HeartbeatRequest

TOPICS: Final = {
    TOPIC: "",
    "append": "message.timestamp.type=LogAppendTime",
    "compacted": "cleanup.policy=compact",
    "snappy": "compression.type=snappy",
    "zstd": "compression.type=zstd",
    "lz4": "compression.type=lz4",
    "gzip": "compression.type=gzip",
}
"""What becomes of a batch depends on its topic's configuration."""
THROTTLED: Final = "leader.replication.throttled.replicas"
WIDE: Final = 9_000
_EARLY_MS: Final = 1_700_000_000_000


def varint(value: int) -> bytes:
    """As records have it."""
    rest, out = (value << 1) ^ (value >> 63), bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


def batch(count: int, payload: bytes, codec: int = 0) -> bytes:
    """A batch that says that it has so many records."""
    body = (
        struct.pack(">hiqqqhii", codec, count - 1, _EARLY_MS, _EARLY_MS, -1, -1, -1, count)
        + payload
    )
    return struct.pack(">qiibI", 0, len(body) + 9, -1, 2, crc32c(body)) + body


def rows(count: int, key: bytes | None = b"k") -> bytes:
    """Records without values; `key` None: each has a key of its own."""
    out = bytearray()
    for number in range(count):
        own = b"%d" % number if key is None else key
        row = b"\0" + varint(0) + varint(number) + varint(len(own)) + own + b"\0\0"
        out += varint(len(row)) + row
    return bytes(out)


def make_topic(stage: Stage, name: str, partitions: int, config: str = "") -> Measured:
    """Create a topic."""
    key, _, value = config.partition("=")
    configs = [topic_requests.CreatableTopicConfig(name=key, value=value)] if key else []
    topic = topic_requests.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=-1, configs=configs
    )
    return stage.ask(
        topic_requests.CreateTopicsRequest(topics=[topic]),
        7,
        f"CreateTopics of {partitions} partitions",
    )


def produce(
    stage: Stage, topic: str, records: bytes, name: str, version: int = 12, partitions: int = 1
) -> Measured:
    """Send the same bytes to some partitions of a topic."""
    data = [
        produces.PartitionProduceData(index=index, records=records) for index in range(partitions)
    ]
    request = produces.ProduceRequest(
        acks=-1,
        timeout_ms=1_000,
        topic_data=[produces.TopicProduceData(name=topic, partition_data=data)],
    )
    return stage.ask(request, version, f"Produce v{version} to {topic}: {name}")


def records(stage: Stage) -> Iterator[Measured]:
    """Batches, and what reads them."""
    for topic, config in TOPICS.items():
        if config:
            make_topic(stage, topic, 1, config)
    headers = b"\0\0\0\x01\0" + varint(300_000) + (varint(1) + b"a\x01") * 300_000
    row = varint(len(headers)) + headers
    floods = {
        "256 MiB of zeros in gzip": batch(1, gzip.compress(bytes(256 * MIB)), 1),
        "100,000 records in gzip": batch(100_000, gzip.compress(rows(100_000)), 1),
        "two billion records that are not there": batch(2**31 - 1, gzip.compress(rows(100_000)), 1),
        "120,000 records of one key": batch(120_000, rows(120_000)),
        "60,000 records of different keys": batch(60_000, rows(60_000, None)),
        "one record of 300,000 headers": batch(1, row),
        "the same in gzip": batch(1, gzip.compress(row), 1),
        "zeros": bytes(MIB),
        "an endless varint in snappy": batch(1_000, b"\xff" * MIB, 2),
        "empty blocks of snappy": batch(
            1_000, b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + bytes(MIB), 2
        ),
        "lz4 without an end": batch(1_000, b"\x04\x22\x4d\x18\x60\x70\x73" + b"\xff" * MIB, 3),
        "frames of zstd": batch(1_000, b"\x28\xb5\x2f\xfd" * (MIB // 4), 4),
    }
    for topic in TOPICS:
        for name, data in floods.items():
            yield produce(stage, topic, data, name)
    tiny = build_batch([b"x"])
    yield produce(stage, TOPIC, tiny * (MIB // len(tiny)), "many batches in one partition")
    yield produce(stage, TOPIC, tiny, "one batch to each partition", partitions=PARTITIONS)
    for magic, row in (
        (0, struct.pack(">qiIbbii", 0, 14, 0, 0, 0, -1, -1)),
        (1, struct.pack(">qiIbbqii", 0, 22, 0, 1, 0, 0, -1, -1)),
    ):
        yield produce(
            stage, TOPIC, row * (MIB // len(row)), f"a message set of magic {magic}", version=3
        )
    for topic in TOPICS:
        part = fetches.FetchPartition(partition=0, partition_max_bytes=1 << 28)
        wanted = fetches.FetchTopic(topic=topic, partitions=[part])
        yield stage.ask(
            fetches.FetchRequest(max_bytes=1 << 28, topics=[wanted]), 12, f"Fetch of all of {topic}"
        )
        for instant in (-3, 1, _EARLY_MS):
            asked = offsets.ListOffsetsTopic(
                name=topic,
                partitions=[offsets.ListOffsetsPartition(partition_index=0, timestamp=instant)],
            )
            yield stage.ask(
                offsets.ListOffsetsRequest(replica_id=-1, topics=[asked]),
                7,
                f"ListOffsets of {topic} at {instant}",
            )


def topics(stage: Stage) -> Iterator[Measured]:
    """Topics of very many partitions, and their configurations."""
    yield make_topic(stage, "wide", WIDE)
    yield make_topic(stage, "wider", 100_000)
    replicas = [
        topic_requests.CreatableReplicaAssignment(
            partition_index=0, broker_ids=list(range(200_000))
        )
    ]
    topic = topic_requests.CreatableTopic(
        name="replicas", num_partitions=-1, replication_factor=-1, assignments=replicas
    )
    yield stage.ask(
        topic_requests.CreateTopicsRequest(topics=[topic]),
        7,
        "CreateTopics of one partition on 200,000 brokers",
    )
    parts = [
        fetches.FetchPartition(partition=index, partition_max_bytes=1_000) for index in range(WIDE)
    ]
    for times in (1, 3):
        wanted = fetches.FetchTopic(topic="wide", partitions=parts * times)
        title = f"Fetch session of 9,000 partitions, each {times} times"
        yield stage.ask(fetches.FetchRequest(session_epoch=0, topics=[wanted]), 12, title)
    for number in range(4):
        value = ",".join(f"{index}:1" for index in range(number * 4_000, number * 4_000 + 4_000))
        change = alterations.AlterableConfig(name=THROTTLED, config_operation=2, value=value)
        resource = alterations.AlterConfigsResource(
            resource_type=2, resource_name=TOPIC, configs=[change]
        )
        title = f"IncrementalAlterConfigs appends 4,000 items, {number}"
        yield stage.ask(alterations.IncrementalAlterConfigsRequest(resources=[resource]), 1, title)
    node = str(stage.broker.node_id)
    for kind, number, names in (
        ("groups", 32, [f"g{number}" for number in range(20_000)]),
        ("one topic", 2, [TOPIC] * 600),
        ("one topic", 2, [TOPIC] * 5_000),
        ("one broker, more than may be answered", 4, [node] * 5_000),
    ):
        asked = [
            descriptions.DescribeConfigsResource(
                resource_type=number, resource_name=name, configuration_keys=None
            )
            for name in names
        ]
        request = descriptions.DescribeConfigsRequest(
            resources=asked, include_synonyms=True, include_documentation=True
        )
        yield stage.ask(request, 4, f"DescribeConfigs of {kind}, {len(names)} times")


def partitions(stage: Stage) -> Iterator[Measured]:
    """Thousands of partitions that change at once; with several brokers also because a broker goes
    and comes back."""
    make_topic(stage, "wide", WIDE)
    truth = stage.broker.controller.cluster
    nodes = list(truth.brokers)
    if isinstance(stage.runtime, Brokers):
        hosts = Hosts(stage.runtime)
        away = next(
            node
            for node in nodes
            if node not in (stage.broker.node_id, stage.runtime.controller.leader)
        )
        yield stage.do(
            f"a broker of {WIDE} partitions is shut down", lambda: hosts.shut_down(away, 0)
        )
        yield stage.do(f"a broker of {WIDE} partitions comes back", lambda: hosts.start(away, 0))
    everything = [reassignments.TopicPartitions(topic="wide", partitions=list(range(WIDE)))]
    for name, named in (("none", None), (f"{WIDE} partitions", everything)):
        request = reassignments.ElectLeadersRequest(
            election_type=0, topic_partitions=named, timeout_ms=1_000
        )
        yield stage.ask(request, 2, f"ElectLeaders that names {name}")
        if isinstance(stage.runtime, Brokers):
            yield stage.do(f"a broker of {WIDE} partitions is fenced", lambda: hosts.fence(away, 0))
            yield stage.do(
                f"a broker of {WIDE} partitions is unfenced", lambda: hosts.unfence(away, 0)
            )
    for target in ([], nodes):
        moved = [
            reassignments.ReassignablePartition(
                partition_index=each.index, replicas=target or each.replicas[-1:]
            )
            for each in truth.topics["wide"].partitions
        ]
        moving = reassignments.AlterPartitionReassignmentsRequest(
            timeout_ms=1_000,
            topics=[reassignments.ReassignableTopic(name="wide", partitions=moved)],
        )
        yield stage.ask(
            moving,
            1,
            f"AlterPartitionReassignments of {WIDE} partitions to {len(target or [1])} of {len(nodes)} brokers",
        )
    growing = topic_requests.CreatePartitionsTopic(
        name=TOPIC, count=PARTITIONS + WIDE, assignments=None
    )
    grown = topic_requests.CreatePartitionsRequest(
        topics=[growing], timeout_ms=1_000, validate_only=False
    )
    yield stage.ask(grown, 3, f"CreatePartitions of {WIDE} partitions")
    gone = [
        topic_requests.DeleteTopicState(name=name, topic_id=bytes(16)) for name in ("wide", TOPIC)
    ]
    yield stage.ask(
        topic_requests.DeleteTopicsRequest(topics=gone, timeout_ms=1_000),
        6,
        f"DeleteTopics of {2 * WIDE + PARTITIONS} partitions",
    )


def groups(stage: Stage) -> Iterator[Measured]:
    """Members that say too much."""
    many = [
        joins.JoinGroupRequestProtocol(name=f"p{number}", metadata=b"") for number in range(50_000)
    ]
    for group, protocols in (
        ("many", many),
        ("one", [joins.JoinGroupRequestProtocol(name="p", metadata=b"")] * 130_000),
    ):
        for member in range(3):
            request = joins.JoinGroupRequest(
                group_id=group,
                session_timeout_ms=45_000,
                rebalance_timeout_ms=300_000,
                protocol_type="any",
                protocols=protocols,
            )
            yield stage.ask(
                request, 3, f"JoinGroup with {len(protocols)} protocols ({group}), member {member}"
            )
    single = joins.JoinGroupRequest(
        group_id="s",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        protocol_type="any",
        protocols=many[:1],
    )
    stage.ask(single, 3)
    (member_id,) = stage.broker.coordinator.groups["s"].members
    plan = [
        syncs.SyncGroupRequestAssignment(member_id=f"m{number}", assignment=b"")
        for number in range(100_000)
    ]
    sync = syncs.SyncGroupRequest(
        group_id="s", generation_id=1, member_id=member_id, assignments=plan
    )
    yield stage.ask(sync, 5, "SyncGroup with 100,000 assignments")
    gone = [
        leaves.MemberIdentity(member_id="", group_instance_id=f"i{number}")
        for number in range(100_000)
    ]
    yield stage.ask(
        leaves.LeaveGroupRequest(group_id=GROUP, members=gone), 5, "LeaveGroup of 100,000 instances"
    )
    hello = heartbeats.ConsumerGroupHeartbeatRequest(
        group_id="k",
        member_id="a",
        member_epoch=0,
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )
    stage.ask(hello, 1)
    topic_id = stage.broker.cluster.topics[TOPIC].id
    owned = {
        "one partition 200,000 times": [
            heartbeats.TopicPartitions(topic_id=topic_id, partitions=[0] * 200_000)
        ],
        "200,000 partitions": [
            heartbeats.TopicPartitions(topic_id=topic_id, partitions=list(range(200_000)))
        ],
        "40,000 topics": [
            heartbeats.TopicPartitions(topic_id=number.to_bytes(16, "big"), partitions=[0])
            for number in range(40_000)
        ],
    }
    for name, partitions in owned.items():
        for epoch in (1, 2):
            beat = heartbeats.ConsumerGroupHeartbeatRequest(
                group_id="k", member_id="a", member_epoch=epoch, topic_partitions=partitions
            )
            yield stage.ask(beat, 1, f"ConsumerGroupHeartbeat owns {name} at epoch {epoch}")


def others(stage: Stage) -> Iterator[Measured]:
    """Markers, and small requests in a row."""
    for count, of in ((4_000, list(range(PARTITIONS))), (1, [0] * 250_000)):
        marked = [
            transactions.WritableTxnMarker(
                producer_id=number,
                transaction_result=True,
                topics=[transactions.WritableTxnMarkerTopic(name=TOPIC, partition_indexes=of)],
            )
            for number in range(count)
        ]
        yield stage.ask(
            transactions.WriteTxnMarkersRequest(markers=marked),
            1,
            f"WriteTxnMarkers of {count} producers in {len(of)} partitions",
        )
    body = HeartbeatRequest(group_id="g", member_id="m", generation_id=1).encode(4)
    one = frame(request_header(12, 4, -(2**31), "c"), body)
    yield stage.feed(one * (MIB // len(one)), "Heartbeats in a row, of a negative correlation id")
    yield stage.feed(
        frame(request_header(12, 4, 1, "c" * 32_000), body),
        "Heartbeat of a client id of 32,000 bytes",
    )
    unknown = frame(struct.pack(">hhihb", 18, 99, 1, -1, 0), b"")
    yield stage.feed(unknown * (MIB // len(unknown)), "ApiVersions v99 in a row")


PARTS: Final[tuple[Callable[[Stage], Iterator[Measured]], ...]] = (
    records,
    topics,
    partitions,
    groups,
    others,
)


def main(arguments: list[str]) -> int:
    """1 if a request is over what is allowed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile_payloads",
        description=__doc__.split("\n", 1)[0] if __doc__ else None,
    )
    parser.add_argument(
        "--brokers",
        type=int,
        default=1,
        metavar="N",
        help="so many brokers, one of which gets the requests (default: 1)",
    )
    parser.add_argument(
        "names", nargs="*", help="parts of the names of requests; all, if there are none"
    )
    parser.add_argument(
        "--embedded", action="store_true", help="collect garbage as often as any Python process"
    )
    options = parser.parse_args(arguments)
    if not options.embedded:
        collect_rarely()
    over = count = 0
    for part in PARTS:
        gc.collect()  # what the part before left is not this one's cost
        for measured in part(Stage(options.brokers)):
            if options.names and not any(name in measured.name for name in options.names):
                continue
            over += measured.held_ms > measured.allowed_ms
            count += 1
            print(measured, flush=True)
    print(f"{over} of {count} are over what is allowed")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
