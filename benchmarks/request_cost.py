"""Processor time of the requests that come most, from bytes to bytes, beside that of another
checkout.

`python -m benchmarks.request_cost` prints microseconds for one request of each kind. `python -m
benchmarks.request_cost --against DIR` compares with the checkout in DIR: for each of ten pairs two
fresh processes, one of each checkout, take turns with short pieces of work, and the pair's ratio is
that of their cheapest pieces; printed are the median of the ratios and its 95 % interval (of ten
values, the second lowest and the second highest). `--count` counts the Python instructions of one
request, which other work on the machine cannot change.

One process without sockets: what the kernel and the event loop add is the same for both and would
only hide a difference. A piece of work runs in the checkout that the interpreter imports, so this
file asks only for what both have.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time
from types import FrameType
from typing import Any

from benchmarks.process import Row
from coordinator.server.build import build_broker, topic_options
from coordinator.server.connections.connection import Connection
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

_PIECE_S = 0.06
_HEAD_BYTES = 9  # size, correlation id, no tagged fields
Work = tuple[Callable[[], object], int]
"""What is repeated, and how many requests that is."""


class _Client:
    """A connection without a socket."""

    def __init__(self, broker: Any) -> None:
        self.written: list[bytes] = []
        self.connection = Connection(
            broker,
            peer="127.0.0.1:1",
            client_host="/127.0.0.1",
            listener="PLAINTEXT",
            write=self.written.append,
            close=self._closed,
        )

    @staticmethod
    def _closed(why: str, fault: Exception | None) -> None:
        raise AssertionError(why) from fault

    def answer(self) -> bytes:
        """The body of the only answer."""
        [written] = self.written
        self.written.clear()
        return written[_HEAD_BYTES:]


def _framed(request: Any, version: int) -> bytes:
    return frame(
        request_header(type(request).api_key, version, 1, "bench"), request.encode(version)
    )


def _broker() -> Any:
    configs = BrokerConfigs(
        {"group.initial.rebalance.delay.ms": "0", "group.max.session.timeout.ms": "2000000000"}
    )
    return build_broker(
        configs=configs, random=Random(1), epoch_ms=0, topics=topic_options({"bench": 4})
    )


def _join(group: str, member: str, metadata: bytes) -> bytes:
    return _framed(
        JoinGroupRequest(
            group_id=group,
            session_timeout_ms=1_000_000_000,
            rebalance_timeout_ms=60_000,
            member_id=member,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        ),
        9,
    )


def _sync(group: str, member: str, generation: int, assigned: list[str]) -> bytes:
    return _framed(
        SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=each, assignment=bytes(30))
                for each in assigned
            ],
        ),
        5,
    )


class _Group:
    """A group of members with a connection each, all Stable."""

    def __init__(self, size: int, name: str = "bench") -> None:
        self.broker = _broker()
        self.name = name
        self.clients = [_Client(self.broker) for _ in range(size)]
        self.members = []
        for client in self.clients:
            client.connection.receive(_join(name, "", bytes(20)), 0)
            self.members.append(JoinGroupResponse.decode(9, client.answer()).member_id)
        self.generation = 0
        self.frames: list[tuple[list[bytes], list[bytes]]] = []
        self.now = 0
        self.rebalance()
        self.rebalance()

    def prepare(self) -> tuple[list[bytes], list[bytes]]:
        """The frames of the next rebalance but for the generation, which no frame but SyncGroup
        has."""
        self.generation += 1
        metadata = self.generation.to_bytes(20, "big")
        joins = [_join(self.name, member, metadata) for member in self.members]
        syncs = [
            _sync(
                self.name,
                member,
                self.generation,
                self.members if index == 0 or self.generation == 1 else [],
            )
            for index, member in enumerate(self.members)
        ]
        return joins, syncs

    def play(self, joins: list[bytes], syncs: list[bytes]) -> None:
        """A rebalance: everybody joins, then everybody syncs."""
        self.now += 10
        now, broker = self.now, self.broker
        for client, request in zip(self.clients, joins, strict=True):
            client.connection.receive(request, now)
            broker.run_resumable(now)
        if not self.clients[-1].written:  # the first round waits for its initial delay
            broker.tick(now)
        for client in self.clients:
            client.written.clear()
        for client, request in zip(self.clients, syncs, strict=True):
            client.connection.receive(request, now)
            broker.run_resumable(now)
        for client in self.clients:
            client.answer()

    def rebalance(self) -> None:
        """Prepare and play one."""
        self.play(*self.prepare())


def _repeated(client: _Client, broker: Any, request: bytes) -> Work:
    connection, written, times = client.connection, client.written, 100

    def work() -> None:
        for _ in range(times):
            connection.receive(request, 1)
            broker.run_resumable(1)
        assert len(written) == times
        written.clear()

    return work, times


def _unused_fault(broker: Any, **about: str) -> None:
    from coordinator.kit.faults import Fail, Fault, Selector
    from coordinator.kit.injection.fault_board import (
        FaultBoard,  # here, since an older checkout to compare with may not have it
    )

    FaultBoard(lambda: [broker], 1).add(
        Fault(Selector(**(about or {"api": "OffsetCommit"})), Fail(27))
    )


def _fault_of_another_group(broker: Any) -> None:
    _unused_fault(broker, api="Heartbeat", group="another")


def _journal(broker: Any) -> None:
    from coordinator.kit.journal import Records

    Records(lambda: [broker], 10_000)


def _heartbeat(prepare: Callable[[Any], None] | None = None) -> Work:
    group = _Group(1)
    if prepare is not None:
        prepare(group.broker)
    beat = _framed(
        HeartbeatRequest(
            group_id="bench", generation_id=group.generation, member_id=group.members[0]
        ),
        4,
    )
    return _repeated(group.clients[0], group.broker, beat)


def _commit() -> Work:
    group = _Group(1)
    partition = OffsetCommitRequestPartition(
        partition_index=1, committed_offset=7, committed_metadata=""
    )
    request = OffsetCommitRequest(
        group_id="bench",
        generation_id_or_member_epoch=group.generation,
        member_id=group.members[0],
        topics=[OffsetCommitRequestTopic(name="bench", partitions=[partition])],
    )
    return _repeated(group.clients[0], group.broker, _framed(request, 8))


def _produce_request() -> bytes:
    data = [PartitionProduceData(index=1, records=build_batch([b"x" * 1024]))]
    return _framed(
        ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name="bench", partition_data=data)],
        ),
        9,
    )


def _produce() -> Work:
    broker = _broker()
    return _repeated(_Client(broker), broker, _produce_request())


def _fetch() -> Work:
    broker = _broker()
    client = _Client(broker)
    client.connection.receive(_produce_request(), 1)
    client.written.clear()
    asked = [FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=1 << 20)]
    return _repeated(
        client,
        broker,
        _framed(
            FetchRequest(
                max_wait_ms=0,
                min_bytes=1,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=[FetchTopic(topic="bench", partitions=asked)],
            ),
            12,
        ),
    )


def _consumer_heartbeat() -> Work:
    """One that changes nothing, of a member of the consumer protocol that owns all it is to own."""
    broker = _broker()
    client = _Client(broker)
    said: dict[str, Any] = {"group_id": "consumers", "member_id": "a-member-id-of-22-chars"}
    everything = {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["bench"],
        "topic_partitions": [],
    }
    client.connection.receive(
        _framed(ConsumerGroupHeartbeatRequest(**said, **everything, member_epoch=0), 1), 0
    )
    epoch = ConsumerGroupHeartbeatResponse.decode(1, client.answer()).member_epoch
    return _repeated(
        client, broker, _framed(ConsumerGroupHeartbeatRequest(**said, member_epoch=epoch), 1)
    )


def _share_heartbeat() -> Work:
    """One that changes nothing, of a member of a share group that was given its partitions."""
    broker = _broker()
    broker.cluster.set_feature("share.version", 1)
    client = _Client(broker)
    said: dict[str, Any] = {"group_id": "workers", "member_id": "a-member-id-of-22-chars"}
    epoch = 0
    for now in (0, 1_000):  # it joins; it is given what was initialised by then
        beat = ShareGroupHeartbeatRequest(
            **said, member_epoch=epoch, subscribed_topic_names=None if epoch else ["bench"]
        )
        client.connection.receive(_framed(beat, 1), now)
        broker.run_resumable(now)
        told = ShareGroupHeartbeatResponse.decode(1, client.answer())
        epoch = told.member_epoch
    assert told.assignment is not None and told.assignment.topic_partitions
    return _repeated(
        client, broker, _framed(ShareGroupHeartbeatRequest(**said, member_epoch=epoch), 1)
    )


def _idle_session() -> Work:
    """Fetches of a session whose 333 partitions have nothing new."""
    broker = build_broker(
        configs=BrokerConfigs({}), random=Random(1), epoch_ms=0, topics=topic_options({"idle": 333})
    )
    client, epoch = _Client(broker), 0

    def fetch(session_id: int, topics: list[FetchTopic]) -> FetchResponse:
        nonlocal epoch
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=1 << 20,
            session_id=session_id,
            session_epoch=epoch,
            topics=topics,
        )
        client.connection.receive(_framed(request, 12), 1)
        epoch += 1
        broker.run_resumable(1)
        return FetchResponse.decode(12, client.answer())

    partitions = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20)
        for index in range(333)
    ]
    session = fetch(0, [FetchTopic(topic="idle", partitions=partitions)]).session_id
    assert session and not fetch(session, []).responses
    return lambda: fetch(session, []), 1


class _Rebalances:
    """Rebalances of one group, whose frames are made outside the time that is taken."""

    def __init__(self, size: int) -> None:
        self.group = _Group(size)

    def piece(self) -> float:
        """Seconds for one, of processor time."""
        took, rounds = 0.0, 0
        while took < _PIECE_S / 2:
            prepared = self.group.prepare()
            began = process_time()
            self.group.play(*prepared)
            took += process_time() - began
            rounds += 1
        return took / rounds


class _Requests:
    """The same request again and again."""

    def __init__(self, work: Work) -> None:
        self.work, self.times = work

    def piece(self) -> float:
        """Seconds for one, of processor time."""
        rounds, began = 0, process_time()
        while (took := process_time() - began) < _PIECE_S:
            self.work()
            rounds += self.times
        return took / rounds


_WORKS: dict[str, Callable[[], _Requests | _Rebalances]] = {
    "Heartbeat": lambda: _Requests(_heartbeat()),
    "Heartbeat, a fault about commits": lambda: _Requests(_heartbeat(_unused_fault)),
    "Heartbeat, a fault about those of another group": lambda: _Requests(
        _heartbeat(_fault_of_another_group)
    ),
    "Heartbeat in the kit's journal": lambda: _Requests(_heartbeat(_journal)),
    "OffsetCommit of one partition": lambda: _Requests(_commit()),
    "Produce of one record of 1 KiB": lambda: _Requests(_produce()),
    "Fetch of it": lambda: _Requests(_fetch()),
    "Fetch of 333 idle partitions": lambda: _Requests(_idle_session()),
    "ConsumerGroupHeartbeat": lambda: _Requests(_consumer_heartbeat()),
    "ShareGroupHeartbeat": lambda: _Requests(_share_heartbeat()),
    "rebalance of 3": lambda: _Rebalances(3),
    "rebalance of 100": lambda: _Rebalances(100),
    "rebalance of 1000": lambda: _Rebalances(1000),
}


def _instructions(name: str) -> float:
    """Python instructions of one request, or one rebalance."""
    made = _WORKS[name]()
    made.piece()
    if isinstance(made, _Requests):
        work, times = made.work, made.times
    else:
        prepared, group, times = made.group.prepare(), made.group, 1

        def work() -> object:
            group.play(*prepared)
            return None

    seen = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal seen
        if event == "call":
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        elif event == "opcode":
            seen += 1
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return seen / times


def _serve_pieces(name: str) -> None:
    """Take the time of a piece for each line that comes, until there is none."""
    made = _WORKS[name]()
    made.piece()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(made.piece(), flush=True)


def run() -> list[Row]:
    """Microseconds of each."""
    rows = []
    for name, make in _WORKS.items():
        made = make()
        rows.append(
            Row(f"CPU of {name}, bytes to bytes", min(made.piece() for _ in range(12)) * 1e6, "us")
        )
    return rows


def main(arguments: list[str]) -> int:
    """Measure, count or compare."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.request_cost",
        description=__doc__.split("\n", 1)[0] if __doc__ else None,
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="DIR",
        help="another checkout of the project to compare with",
    )
    parser.add_argument(
        "--pairs", type=int, default=10, help="how many pairs of processes (default: 10)"
    )
    parser.add_argument(
        "--count", action="store_true", help="count Python instructions instead of taking time"
    )
    parser.add_argument("--pieces", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument(
        "names", nargs="*", help=f"with --against and --count: of {', '.join(_WORKS)}"
    )
    options = parser.parse_args(arguments)
    names = [
        name
        for name in _WORKS
        if not options.names or any(name.startswith(asked) for asked in options.names)
    ]
    if options.pieces:
        _serve_pieces(options.pieces)
    elif options.against is not None:
        from benchmarks.checkouts import compare  # here, since an older checkout has it not

        compare(Path(__file__), options.against.resolve(), names, options.pairs)
    elif options.count:
        for name in names:
            print(f"{name:<32} {_instructions(name):>12,.1f} instructions", flush=True)
    else:
        print(*run(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
