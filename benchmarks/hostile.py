"""The worst requests of one MiB: how long each holds the loop, and how much it makes the broker
answer.

For every API and every array of its request, tagged fields too, there is a request whose array is
as long as a MiB allows, once with equal and once with different elements, and one whose elements
have names of 32,000 bytes; for every API one with as many unknown tagged fields as a MiB holds, in
its header and behind its body; for those that take a regular expression the worst patterns of 32
KiB; configuration values of 32 KiB, patterns of Java's among them, one of them and as many as a MiB
holds; subscriptions of 120,000 topics, and the conversion of a group whose member names 100,000.

A large request is handled in slices; what counts is the longest time for which one of them holds
the loop: 100 ms and 100 ms more for each MiB of the request and its answer are allowed (`OVER`
marks what takes longer), in CPU time of this process.

    python -m benchmarks.hostile [--brokers N] [--acls] [part of a name ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from time import process_time
from typing import Any, NamedTuple

from coordinator.base.releases import NEWEST
from coordinator.events.acls import read_acl
from coordinator.server import apis
from coordinator.server.broker import Broker
from coordinator.server.build import build_broker, topic_options
from coordinator.server.cluster import CONSUMER_OFFSETS
from coordinator.server.cluster_runtime import Brokers, ClusterOptions
from coordinator.server.connections.connection import Connection
from coordinator.server.connections.secured import SecuredConnection
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.security.listeners import ListenerSecurity
from coordinator.server.security.security import Security
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.consumer_protocol import Subscription
from coordinator.wire.fields import Field, StructType
from coordinator.wire.framing import frame, request_header, request_header_version
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.messages.transaction_views import ListTransactionsRequest
from coordinator.wire.primitives import uvarint
from coordinator.wire.schema import Request

MIB = 1 << 20
TURN_S = 0.02  # as in `coordinator.server.net.server`
FREE_MS, MS_PER_MIB = 100, 100
TOPIC, GROUP, PARTITIONS = "t", "g", 50
LONG_NAME = 32_000
PATTERN_BYTES = 32_700
SUBSCRIBED = 120_000
IN_THE_CLEAR = ListenerSecurity("PLAINTEXT")
RIGHTS = tuple(
    f"User:ANONYMOUS may All {what}" for what in ("cluster", "group *", "transactionalid *")
)
"""With `--acls`: no topic, so that a request is let through, and refused for each topic."""
CONVERTED = 100_000
PATTERNS = (
    "(a+)+b",
    "a",
    "(",
    "[",
    "a|",
    "|",
    "x*",
    ".*",
    ".",
    "(.)",
    "(?:",
    "[a-z]",
    "(a*)*",
    "(.|.)*",
    "(?i)k",
    "(?i)é",
    "[[:alpha:]]",
    r"\pL",
    r"\d\w\s\b",
    r"[^\x00-\x{10FFFF}]",
    r"\x{10FFFF}",
    r"\p{Greek}",
    "a{1000}",
    "x{0,1000}",
    "(x{0,30}){0,30}",
    "(?P<n>a)",
    r"[\pL\pN]",
)
"""Each is repeated as often as a string holds it."""
_OF_JAVA = ("(?<!a|b)", "(?:a?)+", "((a|b)*|c)*", r"\Q", "[a&&", "(?x)#", r"\N{", r"\1", "(?>a*)")
SETTINGS = (
    (16, "m", "match", "client_id=", (*PATTERNS, *_OF_JAVA)),
    (16, "m", "match", "", ("client_id=a,", " ", "=")),
    (16, "m", "interval.ms", "", ("9", "0", "\uff19", " ", "-")),
    (2, TOPIC, "min.cleanable.dirty.ratio", "", ("9", "0", ".", "0x", "1e", " ")),
    (2, TOPIC, "min.cleanable.dirty.ratio", "0x1p", ("9",)),
    (2, TOPIC, "cleanup.policy", "delete", (",delete", ",", " ", " ,")),
    (2, TOPIC, "leader.replication.throttled.replicas", "", ("0:1,", "9", ":", " ,")),
    (32, GROUP, "share.auto.offset.reset", "by_duration:PT", ("9", "1S", " ")),
    (32, GROUP, "consumer.session.timeout.ms", "", ("9", "\u0669", " ")),
)
"""A resource's type and name, a setting, how its value begins, and what it is made of then."""


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


def _one() -> Broker:
    broker = build_broker(
        configs=BrokerConfigs({}),
        random=Random(1),
        epoch_ms=1_700_000_000_000,
        topics=topic_options([f"{TOPIC}:{PARTITIONS}"]),
    )
    broker.cluster.brokers[1].endpoints["PLAINTEXT"] = ("127.0.0.1", 9092)
    return broker


def _several(count: int) -> tuple[Broker, Brokers]:
    """The broker that coordinates all groups, and all brokers."""
    settings = {
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "default.replication.factor": str(count),
    }
    options = ClusterOptions(
        configs=[BrokerConfigs(settings, node_id=node) for node in range(1, count + 1)],
        random=Random(1),
        epoch_ms=1_700_000_000_000,
        topics=topic_options([f"{TOPIC}:{PARTITIONS}"]),
    )
    brokers = Brokers(options)
    for node in range(1, count + 1):
        brokers.set_endpoints(node, {"PLAINTEXT": ("127.0.0.1", 9091 + node)})
    offsets = brokers.controller.cluster.partition(CONSUMER_OFFSETS, 0)
    assert offsets is not None
    return brokers.brokers[offsets.leader], brokers


class Stage:
    """Brokers without sockets, one topic, one group, and a connection for each request."""

    def __init__(self, brokers: int = 1, *, judged: bool = False) -> None:
        self.runtime: Broker | Brokers
        if brokers == 1:
            self.broker = self.runtime = _one()
        else:
            self.broker, self.runtime = _several(brokers)
        self.settle()
        offsets = [
            OffsetCommitRequestPartition(partition_index=i, committed_offset=i)
            for i in range(PARTITIONS)
        ]
        self.ask(
            OffsetCommitRequest(
                group_id=GROUP, topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=offsets)]
            ),
            8,
        )
        protocols = [JoinGroupRequestProtocol(name="range", metadata=bytes(1_000))]
        for _ in range(50):
            self.ask(
                JoinGroupRequest(
                    group_id="members",
                    session_timeout_ms=45_000,
                    rebalance_timeout_ms=300_000,
                    protocol_type="consumer",
                    protocols=protocols,
                ),
                3,
            )
        if judged:
            authorizer = Authorizer(map(read_acl, RIGHTS))
            self.broker.security = Security({}, {}, bytes, authorizer)

    def settle(self) -> list[float]:
        """Let happen what is due, as a driver's timer does; seconds of each piece."""
        holds = []
        while (deadline := self.runtime.next_deadline()) is not None and deadline <= 0:
            began = process_time()
            self.runtime.tick(0)
            self.runtime.run_resumable(0)
            holds.append(process_time() - began)
        return holds

    def do(self, name: str, work: Callable[[], object]) -> Measured:
        """Do something that is not a request, such as stopping a broker."""
        began = process_time()
        work()
        holds = [process_time() - began, *self.settle()]
        return Measured(name, max(holds) * 1000, sum(holds) * 1000, 0, 0, "")

    def ask(self, request: Request, version: int, name: str = "") -> Measured:
        """Put a request into the broker, on a connection of its own."""
        key = type(request).api_key
        return self.feed(
            frame(request_header(key, version, 1, "hostile"), request.encode(version)), name
        )

    def feed(self, data: bytes, name: str) -> Measured:
        """The same for a frame."""
        written: list[bytes] = []
        closed: list[str] = []
        broker = self.broker
        make = (
            Connection
            if broker.security is None
            else partial(SecuredConnection, security=broker.security, settings=IN_THE_CLEAR)
        )
        connection = make(
            broker,
            peer="127.0.0.1:1",
            client_host="/127.0.0.1",
            listener="PLAINTEXT",
            write=written.append,
            close=lambda why, fault: closed.append(f"closed: {why} {fault or ''}"),
        )
        holds: list[float] = []
        began = process_time()
        broker.turns.is_over = lambda: process_time() - began > TURN_S
        connection.receive(data, 0)
        self.runtime.run_resumable(0)
        holds.append(process_time() - began)
        holds += self.settle()
        while broker.turns.wanted:
            began = process_time()
            broker.next_turn(0)
            self.runtime.run_resumable(0)
            holds.append(process_time() - began)
            holds += self.settle()
        connection.lost()
        return Measured(
            name,
            max(holds) * 1000,
            sum(holds) * 1000,
            len(data),
            sum(map(len, written)),
            "".join(closed),
        )


# -- requests with a long array
# ------------------------------------------------------------------------------------------


def paths(
    cls: StructType, version: int, before: tuple[Field, ...] = ()
) -> Iterator[tuple[Field, ...]]:
    """All arrays of a request, each as the fields that lead to it."""
    for field in cls.fields:
        if not field.carried(version):
            continue
        if field.kind == "array":
            yield (*before, field)
        if isinstance(field.elem, StructType):
            yield from paths(field.elem, version, (*before, field))


def filled(
    cls: StructType,
    version: int,
    long: tuple[Field, ...],
    count: int,
    name: Callable[[], str],
    top: Callable[[], Any],
) -> Any:
    """A struct whose array at the end of `long` has `count` elements; other arrays have one."""
    values = {}
    for field in cls.fields:
        if not field.carried(version) or (
            field.tag is not None and not (long and long[0] is field)
        ):
            continue
        inner = long[1:] if long and long[0] is field else ()
        many = count if inner == () and long and long[0] is field else 1
        values[field.name] = value(field, version, inner, count, many, name, top)
    return cls(**values)


def value(
    field: Field,
    version: int,
    inner: tuple[Field, ...],
    count: int,
    many: int,
    name: Callable[[], str],
    top: Callable[[], Any],
) -> Any:
    """A field's value, such that most handlers take it for a topic, group or partition that is
    there."""
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
    api = apis.apis_of(NEWEST)[key]
    assert api is not None
    topic_id = stage.broker.cluster.topics[TOPIC].id
    for version in {api.lowest, api.highest}:
        for long in paths(api.request, version):
            for kind in ("equal", "different"):
                numbers = iter(range(1 << 30))
                if kind == "equal":
                    name, top = (
                        (lambda: GROUP if "group" in api.name else TOPIC),
                        (lambda: topic_id),
                    )
                else:
                    name, top = (
                        (lambda numbers=numbers: f"n.{next(numbers)}"),
                        (lambda numbers=numbers: next(numbers).to_bytes(16, "big")),
                    )
                one, two = (
                    len(filled(api.request, version, long, n, name, top).encode(version))
                    for n in (1, 101)
                )
                count = max(1, MIB * 100 // max(two - one, 1))
                title = f"{apis.title(key)} v{version} {'.'.join(field.name for field in long)} x {count} {kind}"
                yield title, filled(api.request, version, long, count, name, top), version


def long_names(stage: Stage, key: int) -> Iterator[tuple[str, Request, int]]:
    """Requests of one API whose names are as long as names may be, and different."""
    api = apis.apis_of(NEWEST)[key]
    assert api is not None
    topic_id = stage.broker.cluster.topics[TOPIC].id
    count, numbers = MIB // LONG_NAME, iter(range(1 << 30))

    def name() -> str:
        return f"{next(numbers)}".ljust(LONG_NAME, "n")

    for long in paths(api.request, api.highest):
        request = filled(api.request, api.highest, long, count, name, lambda: topic_id)
        yield (
            f"{apis.title(key)} v{api.highest} {'.'.join(field.name for field in long)} x {count} long names",
            request,
            api.highest,
        )


def patterns(key: int) -> Iterator[tuple[str, Request, int]]:
    """Requests with a regular expression that is costly to read, or to match."""
    for pattern in PATTERNS:
        repeated = pattern * (PATTERN_BYTES // len(pattern.encode()))
        if key == ConsumerGroupHeartbeatRequest.api_key:
            yield (
                f"ConsumerGroupHeartbeat v1 {pattern} x {len(repeated) // len(pattern)}",
                ConsumerGroupHeartbeatRequest(
                    group_id="patterns",
                    member_id="m",
                    member_epoch=0,
                    rebalance_timeout_ms=30_000,
                    topic_partitions=[],
                    subscribed_topic_regex=repeated,
                ),
                1,
            )
        elif key == ListTransactionsRequest.api_key:
            request = ListTransactionsRequest(transactional_id_pattern=repeated)
            yield f"ListTransactions v2 {pattern} x {len(repeated) // len(pattern)}", request, 2


def settings(key: int) -> Iterator[tuple[str, Request, int]]:
    """Configuration values of 32 KiB that are read as something: patterns, numbers, lists, times."""
    if key != IncrementalAlterConfigsRequest.api_key:
        return
    for kind, resource, name, begins, pieces in SETTINGS:
        for text in pieces:
            value = begins + text * (PATTERN_BYTES // len(text.encode()))
            for count in (1, MIB // PATTERN_BYTES):
                config = AlterableConfig(name=name, config_operation=0, value=value)
                request = IncrementalAlterConfigsRequest(
                    resources=[
                        AlterConfigsResource(
                            resource_type=kind,
                            resource_name=f"{resource}{number}" if number else resource,
                            configs=[config],
                        )
                        for number in range(count)
                    ],
                    validate_only=True,
                )
                yield (
                    f"IncrementalAlterConfigs v1, {count} times {name}={begins}{text}...",
                    request,
                    1,
                )


def subscriptions(key: int) -> Iterator[tuple[str, Request, int]]:
    """Requests of members that subscribe to very many topics, none of which is there."""
    names = [f"n.{number}" for number in range(SUBSCRIBED)]
    if key == ConsumerGroupHeartbeatRequest.api_key:
        yield (
            f"ConsumerGroupHeartbeat v1 joins with {SUBSCRIBED} names",
            ConsumerGroupHeartbeatRequest(
                group_id="subscribed",
                member_id="m",
                member_epoch=0,
                rebalance_timeout_ms=30_000,
                topic_partitions=[],
                subscribed_topic_names=names,
            ),
            1,
        )
    elif key == JoinGroupRequest.api_key:
        protocols = [
            JoinGroupRequestProtocol(
                name="range", metadata=Subscription(topics=tuple(names)).encode()
            )
        ]
        yield (
            f"JoinGroup v3 with a subscription of {SUBSCRIBED} names",
            JoinGroupRequest(
                group_id="subscribed",
                session_timeout_ms=45_000,
                rebalance_timeout_ms=300_000,
                protocol_type="consumer",
                protocols=protocols,
            ),
            3,
        )


def conversions(stage: Stage) -> Iterator[Measured]:
    """A group whose classic member names very many topics is converted; the member names as many
    others; the group is converted back."""

    def join(names: list[str], member: str = "") -> JoinGroupRequest:
        protocols = [
            JoinGroupRequestProtocol(
                name="range", metadata=Subscription(topics=tuple(names)).encode()
            )
        ]
        return JoinGroupRequest(
            group_id="big",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            protocol_type="consumer",
            protocols=protocols,
            member_id=member,
        )

    coordinator = stage.broker.coordinator
    stage.ask(join([f"n.{number}" for number in range(CONVERTED)]), 3)
    (member,) = coordinator.groups["big"].members
    stage.ask(
        SyncGroupRequest(group_id="big", generation_id=1, member_id=member, assignments=[]), 3
    )
    yield stage.ask(
        ConsumerGroupHeartbeatRequest(
            group_id="big",
            member_id="m",
            member_epoch=0,
            rebalance_timeout_ms=30_000,
            topic_partitions=[],
            subscribed_topic_names=[TOPIC],
        ),
        1,
        f"ConsumerGroupHeartbeat v1 converts a group that names {CONVERTED} topics",
    )
    assert coordinator.groups["big"].consumer is not None
    title = f"JoinGroup v3 to a consumer group, with {CONVERTED} names in place of as many others"
    yield stage.ask(join([f"m.{number}" for number in range(CONVERTED)], member), 3, title)
    leave = ConsumerGroupHeartbeatRequest(group_id="big", member_id="m", member_epoch=-1)
    yield stage.ask(
        leave,
        1,
        f"ConsumerGroupHeartbeat v1 leaves, and converts a group that names {CONVERTED} topics back",
    )
    assert coordinator.groups["big"].consumer is None


def many_tags(key: int) -> Iterator[tuple[str, bytes]]:
    """Frames with as many unknown tagged fields as fit: in the header, behind the body, all
    different, and one that is large."""
    api = apis.apis_of(NEWEST)[key]
    assert api is not None
    version = api.highest
    if request_header_version(key, version) < 2:
        return
    header = request_header(key, version, 1, "hostile")
    body = filled(api.request, version, (), 1, lambda: TOPIC, lambda: bytes(16)).encode(version)
    one = uvarint(1 << 20) + b"\0"
    floods = {
        "equal": uvarint(MIB // len(one)) + one * (MIB // len(one)),
        "different": (count := uvarint(MIB // 4))
        + b"".join(uvarint(100_000 + tag) + b"\0" for tag in range(MIB // 4)),
        "large": uvarint(1) + uvarint(9_999) + uvarint(MIB) + bytes(MIB),
        "missing": count,
    }
    for name, tags in floods.items():
        yield (
            f"{apis.title(key)} v{version} tagged fields in the header, {name}",
            frame(header[:-1] + tags, body),
        )
        yield (
            f"{apis.title(key)} v{version} tagged fields behind the body, {name}",
            frame(header, body[:-1] + tags),
        )


def run_all(wanted: list[str], brokers: int = 1, *, judged: bool = False) -> Iterator[Measured]:
    """Measure what is wanted, each on a stage that the requests before it did not change."""
    for key in sorted(apis.SERVED):
        title = apis.title(key)
        if wanted and not any(part in title for part in wanted):
            continue
        stage = Stage(brokers)
        for requests in (
            long_arrays(stage, key),
            long_names(stage, key),
            patterns(key),
            settings(key),
            subscriptions(key),
        ):
            for name, request, version in requests:
                yield Stage(brokers, judged=judged).ask(request, version, name)
        if key == ConsumerGroupHeartbeatRequest.api_key:
            yield from conversions(Stage(brokers, judged=judged))
        for name, data in many_tags(key):
            yield Stage(brokers, judged=judged).feed(data, name)


def main(arguments: list[str]) -> int:
    """1 if a request is over what is allowed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile",
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
        "--acls",
        action="store_true",
        help="who asks has no right to any topic, and all rights else",
    )
    parser.add_argument(
        "names", nargs="*", help="parts of the names of APIs; all, if there are none"
    )
    options = parser.parse_args(arguments)
    over = count = 0
    for measured in run_all(options.names, options.brokers, judged=options.acls):
        over += measured.held_ms > measured.allowed_ms
        count += 1
        print(measured, flush=True)
    print(f"{over} of {count} are over what is allowed")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
