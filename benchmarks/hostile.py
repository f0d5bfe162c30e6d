"""The worst requests of one MiB: how long each holds the loop, and how much it makes the broker answer.

For every API and every array of its request there is a request whose array is as long as a MiB allows, once with equal and once with
different elements. A large request is handled in slices; what counts is the longest time for which one of them holds the loop: 100 ms and
100 ms more for each MiB of the request and its answer are allowed (`OVER` marks what takes longer), in CPU time of this process.

    python -m benchmarks.hostile [part of a name ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from time import process_time
from typing import Any, NamedTuple

from coordinator.broker import apis
from coordinator.broker.build import build_broker, topic_options
from coordinator.broker.connection import Connection
from coordinator.cluster.configs import BrokerConfigs
from coordinator.wire.fields import Field, StructType
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from coordinator.wire.schema import Request

MIB = 1 << 20
TURN_S = 0.02  # as in `coordinator.server`
FREE_MS, MS_PER_MIB = 100, 100
TOPIC, GROUP, PARTITIONS = "t", "g", 50


class Measured(NamedTuple):
    """One request's cost."""

    name: str
    held_ms: float
    """The longest time for which the loop was held."""
    took_ms: float
    """All in all."""
    asked: int
    answered: int
    closed: str

    @property
    def allowed_ms(self) -> float:
        """What the rule allows."""
        return FREE_MS + MS_PER_MIB * (self.asked + self.answered) / MIB

    def __str__(self) -> str:
        verdict = "OVER" if self.held_ms > self.allowed_ms else "ok"
        sizes = f"{self.asked / MIB:6.2f} MiB in {self.answered / MIB:7.2f} MiB out"
        times = f"{self.held_ms:7.0f} ms of {self.allowed_ms:6.0f}, {self.took_ms:6.0f} in all"
        return f"{verdict:4} {times} {sizes}  {self.name} {self.closed[:60]}"


class Stage:
    """A broker without sockets, one topic, one group, and a connection for each request."""

    def __init__(self) -> None:
        self.broker = build_broker(
            configs=BrokerConfigs({}), random=Random(1), epoch_ms=1_700_000_000_000, topics=topic_options([f"{TOPIC}:{PARTITIONS}"]))
        self.broker.cluster.brokers[1].endpoints["PLAINTEXT"] = ("127.0.0.1", 9092)
        offsets = [OffsetCommitRequestPartition(partition_index=i, committed_offset=i) for i in range(PARTITIONS)]
        self.ask(OffsetCommitRequest(group_id=GROUP, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=offsets)]), 8)
        protocols = [JoinGroupRequestProtocol(name="range", metadata=bytes(1_000))]
        for _ in range(50):
            self.ask(JoinGroupRequest(
                group_id="members", session_timeout_ms=45_000, rebalance_timeout_ms=300_000, protocol_type="consumer", protocols=protocols,
            ), 3)

    def ask(self, request: Request, version: int, name: str = "") -> Measured:
        """Put a request into the broker, on a connection of its own."""
        key = type(request).api_key
        return self.feed(frame(request_header(key, version, 1, "hostile"), request.encode(version)), name)

    def feed(self, data: bytes, name: str) -> Measured:
        """The same for a frame."""
        written: list[bytes] = []
        closed: list[str] = []
        connection = Connection(
            self.broker, peer="127.0.0.1:1", client_host="/127.0.0.1", listener="PLAINTEXT", write=written.append,
            close=lambda why, fault: closed.append(f"closed: {why} {fault or ''}"))
        broker = self.broker
        holds: list[float] = []
        began = process_time()
        broker.turn_is_over = lambda: process_time() - began > TURN_S
        connection.receive(data, 0)
        broker.run_resumable(0)
        holds.append(process_time() - began)
        while broker.wants_turn:
            began = process_time()
            broker.next_turn(0)
            holds.append(process_time() - began)
        connection.lost()
        return Measured(name, max(holds) * 1000, sum(holds) * 1000, len(data), sum(map(len, written)), "".join(closed))


# -- requests with a long array ------------------------------------------------------------------------------------------


def paths(cls: StructType, version: int, before: tuple[Field, ...] = ()) -> Iterator[tuple[Field, ...]]:
    """All arrays of a request, each as the fields that lead to it."""
    for field in cls.fields:
        if not field.carried(version) or field.tag is not None:
            continue
        if field.kind == "array":
            yield (*before, field)
        if isinstance(field.elem, StructType):
            yield from paths(field.elem, version, (*before, field))


def filled(cls: StructType, version: int, long: tuple[Field, ...], count: int, name: Callable[[], str], top: Callable[[], Any]) -> Any:
    """A struct whose array at the end of `long` has `count` elements; other arrays have one."""
    values = {}
    for field in cls.fields:
        if not field.carried(version) or field.tag is not None:
            continue
        inner = long[1:] if long and long[0] is field else ()
        many = count if inner == () and long and long[0] is field else 1
        values[field.name] = value(field, version, inner, count, many, name, top)
    return cls(**values)


def value(
    field: Field, version: int, inner: tuple[Field, ...], count: int, many: int, name: Callable[[], str], top: Callable[[], Any],
) -> Any:
    """A field's value, such that most handlers take it for a topic, group or partition that is there."""
    if field.kind == "array":
        elem = field.elem
        if isinstance(elem, StructType):
            return [filled(elem, version, inner, count, name, top) for _ in range(many)]
        assert elem is not None
        return [value(elem, version, (), count, 1, name, top) for _ in range(many)]
    if field.kind == "struct":
        assert isinstance(field.elem, StructType)
        return filled(field.elem, version, inner, count, name, top)
    if field.kind == "string":
        return name()
    if field.kind == "uuid":
        return top()
    if field.kind == "binary":
        return b""
    if field.kind == "boolean":
        return False
    if field.kind == "float64":
        return 1.0
    return 30_000 if field.name.endswith("_ms") else 1 if field.kind in ("int8", "int16") else 0


def long_arrays(stage: Stage, key: int) -> Iterator[tuple[str, Request, int]]:
    """The requests of one API."""
    api = apis.api(key)
    assert api is not None
    topic_id = stage.broker.cluster.topics[TOPIC].id
    for version in {api.lowest, api.highest}:
        for long in paths(api.request, version):
            for kind in ("equal", "different"):
                numbers = iter(range(1 << 30))
                if kind == "equal":
                    name, top = (lambda: GROUP if "group" in api.name else TOPIC), (lambda: topic_id)
                else:
                    name, top = (lambda numbers=numbers: f"n.{next(numbers)}"), (lambda numbers=numbers: next(numbers).to_bytes(16, "big"))
                one, two = (len(filled(api.request, version, long, n, name, top).encode(version)) for n in (1, 101))
                count = max(1, MIB * 100 // max(two - one, 1))
                title = f"{apis.title(key)} v{version} {'.'.join(field.name for field in long)} x {count} {kind}"
                yield title, filled(api.request, version, long, count, name, top), version


def run_all(wanted: list[str]) -> Iterator[Measured]:
    """Measure what is wanted, each on a stage that the requests before it did not change."""
    for key in sorted(apis.SERVED):
        title = apis.title(key)
        if wanted and not any(part in title for part in wanted):
            continue
        for name, request, version in long_arrays(Stage(), key):
            yield Stage().ask(request, version, name)


def main(wanted: list[str]) -> int:
    """1 if a request is over what is allowed."""
    over = 0
    for measured in run_all(wanted):
        over += measured.held_ms > measured.allowed_ms
        print(measured, flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
