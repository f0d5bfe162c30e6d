"""Decoding and encoding of messages, next to kafka-python's codec in the same run; and what the
first use costs.

Bodies without headers. A server decodes requests and encodes responses, so those are measured.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from timeit import Timer
from typing import Any

from benchmarks.process import Row
from coordinator.wire.compiler import compile_decoder, compile_encoder
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from coordinator.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.schema import Message, Request

_SECONDS = 0.2
_REPEATS = 3
_MEMBER = "consumer-1-8d1b0e37-21f9-4e0b-b6c5-8ea2a1e8f7aa"
_TARGETS = {"Heartbeat request": "<= 1.6", "Heartbeat response": "<= 0.85"}


def samples() -> Iterator[tuple[str, int, Message]]:
    """What is measured: a name, the version, the message."""
    yield (
        "Heartbeat request",
        4,
        HeartbeatRequest(group_id="orders-group", generation_id=3, member_id=_MEMBER),
    )
    yield "Heartbeat response", 4, HeartbeatResponse()
    protocols = [
        JoinGroupRequestProtocol(name=name, metadata=bytes(80))
        for name in ("range", "cooperative-sticky")
    ]
    yield (
        "JoinGroup request",
        9,
        JoinGroupRequest(
            group_id="orders-group",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            member_id=_MEMBER,
            protocol_type="consumer",
            protocols=protocols,
        ),
    )
    members = [
        JoinGroupResponseMember(member_id=f"{_MEMBER}-{i}", metadata=bytes(80)) for i in range(100)
    ]
    yield (
        "JoinGroup response, 100 members",
        9,
        JoinGroupResponse(generation_id=1, protocol_name="range", leader=_MEMBER, members=members),
    )
    topic_id = b"orders" + bytes(10)
    asked = [
        FetchPartition(partition=i, fetch_offset=1000, partition_max_bytes=1 << 20)
        for i in range(12)
    ]
    yield (
        "Fetch request, 12 partitions",
        17,
        FetchRequest(topics=[FetchTopic(topic_id=topic_id, partitions=asked)]),
    )
    given = [
        PartitionData(partition_index=i, high_watermark=1000, records=bytes(1000))
        for i in range(12)
    ]
    yield (
        "Fetch response, 12 partitions",
        17,
        FetchResponse(responses=[FetchableTopicResponse(topic_id=topic_id, partitions=given)]),
    )
    data = [PartitionProduceData(index=3, records=bytes(16_000))]
    yield (
        "Produce request, 16 kB",
        13,
        ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(topic_id=topic_id, partition_data=data)]
        ),
    )
    topics = [
        MetadataResponseTopic(
            name=f"topic-{i}",
            topic_id=topic_id,
            partitions=[
                MetadataResponsePartition(
                    partition_index=j, leader_id=1, replica_nodes=[1], isr_nodes=[1]
                )
                for j in range(10)
            ],
        )
        for i in range(100)
    ]
    brokers = [MetadataResponseBroker(node_id=1, host="127.0.0.1", port=9092)]
    yield (
        "Metadata response, 100 topics of 10 partitions",
        12,
        MetadataResponse(brokers=brokers, topics=topics),
    )


def run() -> list[Row]:
    """Microseconds for one message, ours and kafka-python's."""
    rows = []
    for name, version, message in samples():
        body = message.encode(version)
        theirs = _kafka_python(message, version, body)
        verb = "decode" if isinstance(message, Request) else "encode"
        if verb == "decode":
            ours_us = _us(
                lambda message=message, version=version, body=body: type(message).decode(
                    version, body
                )
            )
            theirs_us = _us(
                lambda theirs=theirs, version=version, body=body: type(theirs).decode(
                    body, version=version
                )
            )
        else:
            ours_us = _us(lambda message=message, version=version: message.encode(version))
            theirs_us = _us(lambda theirs=theirs, version=version: theirs.encode(version=version))
        rows.append(Row(f"{verb} {name}", ours_us, "us", _TARGETS.get(name, "")))
        rows.append(
            Row(
                f"{verb} {name}: kafka-python", theirs_us, "us", f"{theirs_us / ours_us:.1f} x ours"
            )
        )
    rows.append(
        Row(
            "compile the decoder of a Heartbeat request, once",
            _once_ms(lambda: compile_decoder(HeartbeatRequest, 4)),
            "ms",
        )
    )
    rows.append(
        Row(
            "compile the encoder of a Fetch response, once",
            _once_ms(lambda: compile_encoder(FetchResponse, 17)),
            "ms",
        )
    )
    return rows


def _kafka_python(message: Message, version: int, body: bytes) -> Any:
    """The same message as kafka-python's class has it; its codec warmed up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        modules = [
            importlib.import_module(f"kafka.protocol.{name}")
            for name in ("consumer", "metadata", "producer")
        ]
    cls: Any = next(
        getattr(module, type(message).__name__)
        for module in modules
        if hasattr(module, type(message).__name__)
    )
    decoded = cls.decode(body, version=version)
    decoded._header = decoded._min_version = decoded._max_version = None
    assert decoded.encode(version=version) == body
    return decoded


def _us(call: Callable[[], object]) -> float:
    timer = Timer(call)
    count = max(int(_SECONDS / max(timer.timeit(20) / 20, 1e-8)), 1)
    return min(timer.repeat(_REPEATS, count)) / count * 1e6


def _once_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        began = perf_counter()
        call()
        times.append(perf_counter() - began)
    return min(times) * 1e3


if __name__ == "__main__":
    print(*run(), sep="\n")
