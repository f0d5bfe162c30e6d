"""Subscriptions of very many topics: they are read in slices and once, before the group decides in
one piece."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from coordinator.server.connections.connection import Connection
from coordinator.wire import consumer_protocol
from coordinator.wire.consumer_protocol import (
    MANY_TOPICS_BYTES,
    Assignment,
    Subscription,
    read_topics_in_slices,
)
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.server.broker.driver import Client, Driver
from tests.server.broker.test_slices import Turns

NAMES = tuple(f"n.{number}" for number in range(20_000))
OTHERS = tuple(f"m.{number}" for number in range(20_000))
A_STEP = 256
BEAT = HeartbeatRequest(group_id="x", generation_id=1, member_id="m")
CONVERTS = ConsumerGroupHeartbeatRequest(
    group_id="big",
    member_id="new",
    member_epoch=0,
    rebalance_timeout_ms=30_000,
    topic_partitions=[],
    subscribed_topic_names=["t"],
)
LEAVES = ConsumerGroupHeartbeatRequest(group_id="big", member_id="new", member_epoch=-1)


class Reads:
    """Counts the subscriptions of which topics were read, in slices or in one piece."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        reader = consumer_protocol.Reader
        in_slices, in_one_piece = reader.some_strings, reader._ascii_strings

        def some_strings(
            this: consumer_protocol.Reader, found: list[str]
        ) -> Generator[None, None, None]:
            self.count += 1
            return in_slices(this, found)

        def ascii_strings(this: consumer_protocol.Reader, count: int) -> tuple[str, ...] | None:
            found = in_one_piece(this, count)
            self.count += found is not None
            return found

        monkeypatch.setattr(reader, "some_strings", some_strings)
        monkeypatch.setattr(reader, "_ascii_strings", ascii_strings)

    def taken(self) -> int:
        count, self.count = self.count, 0
        return count


def join(topics: tuple[str, ...], member: str = "") -> JoinGroupRequest:
    metadata = Subscription(topics=topics).encode()
    return JoinGroupRequest(
        group_id="big",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        protocol_type="consumer",
        member_id=member,
        protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
    )


def classic_group(driver: Driver, client: Client) -> JoinGroupResponse:
    """A Stable group whose one member subscribes to `NAMES`."""
    joined = client.ask(join(NAMES), 3)
    assert isinstance(joined, JoinGroupResponse)
    plan = SyncGroupRequestAssignment(
        member_id=joined.member_id, assignment=Assignment.of({"t": [0, 1]}).encode()
    )
    client.ask(
        SyncGroupRequest(
            group_id="big",
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            assignments=[plan],
        ),
        3,
    )
    return joined


def test_a_group_is_converted_and_back_and_each_subscription_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """K8-MIG-1, K8-MIG-2: in slices of some hundred names, between which others are answered."""
    driver = Driver(["t:2"])
    client, other = driver.client(), driver.client()
    joined = classic_group(driver, client)
    reads, turns = Reads(monkeypatch), Turns(driver)
    turns.feed(client, client.frame(CONVERTS, 1))
    answered = 0
    while turns.next():
        turns.feed(other, other.frame(BEAT, 4))
        answered += len(other.answers())
    (converted,) = client.answers()
    assert isinstance(converted, ConsumerGroupHeartbeatResponse)
    assert (converted.error_code, converted.member_epoch) == (0, joined.generation_id + 1)
    assert answered > len(NAMES) // A_STEP
    assert reads.taken() == 1
    membership = driver.broker.coordinator.groups["big"].consumer
    assert membership is not None
    assert membership.members[joined.member_id].topics == set(NAMES)

    driver.broker.turns.is_over = lambda: False
    rejoined = client.ask(join(OTHERS, joined.member_id), 3)
    assert isinstance(rejoined, JoinGroupResponse)
    assert rejoined.error_code == 0
    assert reads.taken() == 1
    assert membership.members[joined.member_id].topics == set(OTHERS)
    assert set(membership.subscribers) == {*OTHERS, "t"}

    left = client.ask(LEAVES, 1)
    assert isinstance(left, ConsumerGroupHeartbeatResponse)
    assert left.error_code == 0
    assert driver.broker.coordinator.groups["big"].classic.subscribed_topics == set(OTHERS)
    assert not consumer_protocol._read, "what was read is kept for one request only"


def test_a_request_whose_connection_ends_while_subscriptions_are_read_changes_nothing() -> None:
    driver = Driver(["t:2"])
    client = driver.client()
    classic_group(driver, client)
    turns = Turns(driver)
    turns.feed(client, client.frame(CONVERTS, 1))
    assert turns.next()
    connection = client.connection
    assert isinstance(connection, Connection)
    connection.lost()
    turns.run()
    assert driver.broker.coordinator.groups["big"].consumer is None
    assert not consumer_protocol._read


def test_a_group_that_changes_while_its_subscriptions_are_read_is_converted_as_it_is_then() -> None:
    """The member leaves meanwhile, and the group is converted without members."""
    driver = Driver(["t:2"])
    client, other = driver.client(), driver.client()
    joined = classic_group(driver, client)
    turns = Turns(driver)
    turns.feed(client, client.frame(CONVERTS, 1))
    assert turns.next()
    turns.feed(other, other.frame(LeaveGroupRequest(group_id="big", member_id=joined.member_id), 2))
    assert len(other.answers()) == 1
    turns.run()
    (converted,) = client.answers()
    assert isinstance(converted, ConsumerGroupHeartbeatResponse)
    assert converted.error_code == 0
    membership = driver.broker.coordinator.groups["big"].consumer
    assert membership is not None
    assert (set(membership.members), set(membership.subscribers)) == ({"new"}, {"t"})


def test_a_member_that_names_its_topics_twice_over_or_in_any_order_is_read_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = (*reversed(NAMES), *NAMES[:7], "ä" * 40)
    data = bytearray(b"\0\3" + len(names).to_bytes(4, "big"))
    for name in names:
        raw = name.encode()
        data += len(raw).to_bytes(2, "big") + raw
    data += bytes.fromhex("ffffffff00000000ffffffffffff")
    plain = Subscription.decode(bytes(data))
    assert len(data) > MANY_TOPICS_BYTES
    steps = read_topics_in_slices(bytes(data))
    count = 0
    while True:
        try:
            next(steps)
            count += 1
        except StopIteration as end:
            read = end.value
            break
    assert count >= len(names) // A_STEP
    assert read is not None
    assert read.topics == names
    reads = Reads(monkeypatch)
    assert Subscription.decode(bytes(data)) == plain
    assert reads.taken() == 0
    del read
    assert Subscription.decode(bytes(data)) == plain
    assert reads.taken() == 1


@pytest.mark.parametrize("cut", [1, 3, 4_000, 150_000])
def test_bytes_that_end_too_early_are_refused_as_before(cut: int) -> None:
    """EXP-8: what cannot be read in slices is read, and refused, where it is needed."""
    data = Subscription(topics=NAMES).encode()[:cut]
    with pytest.raises(StopIteration) as end:
        steps = read_topics_in_slices(data)
        while True:
            next(steps)
    assert end.value.value is None
    assert not consumer_protocol._read
