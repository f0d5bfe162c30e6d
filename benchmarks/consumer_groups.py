"""Consumer groups (KIP-848) of bare members, on the emulator and, if Docker serves, on a real
broker in the same run.

Each member has its own connection and speaks raw frames. The next one joins when the join before it
is answered; every member sends its next heartbeat as soon as the last is answered, and acknowledges
at once; `uniform` divides 1,000 partitions. Measured is the time until everybody is reconciled at
the last epoch, and then, with one of them gone, until the others are; and how many heartbeats that
took. A second row has the assignment interval at Kafka's default of a second. The client, one
process, is part of the time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from select import EPOLLIN, epoll
from struct import Struct
from typing import Any, NamedTuple

from benchmarks.process import Client, Row, encoded, server
from coordinator.testing.containers import RealKafka
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from integration_tests.targets import real_broker_image, why_no_docker
from integration_tests.wire.codec import TableCodec
from integration_tests.wire.recorder import await_coordinator

PARTITIONS = 1_000
TOPIC = "shared"
_SIZE = Struct(">i")
_BODY = 9
"""Where an answer's body begins: after size, correlation id and tagged fields."""
_SETTLE_S = 300.0

Address = tuple[str, int]
Start = Callable[[dict[str, str]], AbstractContextManager[Address]]


class Took(NamedTuple):
    """Seconds, and heartbeats answered meanwhile."""

    seconds: float
    heartbeats: int


class _Member:
    """One member's connection, and what it was told last."""

    def __init__(self, address: Address, group: str, number: int) -> None:
        self.client = Client(address)
        self.socket = self.client.socket
        self.name = f"{group}-{number:06d}".ljust(22, "x")
        self.group = group
        self.epoch = 0
        self.held: dict[bytes, list[int]] = {}
        self.acknowledged = False
        self.acknowledges = False
        self.answer = bytearray()
        self._plain = b""

    def join(self) -> None:
        """The first heartbeat."""
        self._send(rebalance_timeout_ms=60_000, subscribed_topic_names=[TOPIC], topic_partitions=[])

    def leave(self) -> None:
        """The last one."""
        self.epoch = -1
        self._send()

    def beat(self) -> None:
        """The next one: an acknowledgement if there is anything to acknowledge."""
        if self.acknowledges:
            self._send(
                topic_partitions=[
                    TopicPartitions(topic_id=topic, partitions=held)
                    for topic, held in self.held.items()
                ]
            )
            return
        if not self._plain:
            self._plain = self._frame()
        self.socket.sendall(self._plain)

    def _frame(self, **fields: Any) -> bytes:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=self.name, member_epoch=self.epoch, **fields
        )
        return encoded(request, 1)

    def _send(self, **fields: Any) -> None:
        self.socket.sendall(self._frame(**fields))

    def receive(self) -> bool:
        """Take what came; True when it is a whole answer."""
        self.answer += self.socket.recv(1 << 20)
        if len(self.answer) < 4 or len(self.answer) < 4 + _SIZE.unpack_from(self.answer)[0]:
            return False
        told = ConsumerGroupHeartbeatResponse.decode(1, bytes(self.answer), _BODY)
        self.answer.clear()
        assert not told.error_code, told
        if told.member_epoch != self.epoch:
            self.epoch, self._plain = told.member_epoch, b""
        new = (
            None
            if told.assignment is None
            else {row.topic_id: list(row.partitions) for row in told.assignment.topic_partitions}
        )
        self.acknowledges = new is not None and new != self.held
        self.acknowledged = not self.acknowledges
        if new is not None:
            self.held = new
        return True


def _created(address: Address) -> None:
    """Make the topic, and wait until the broker shows it."""
    client = Client(address)
    made = client.ask(
        CreateTopicsRequest(
            topics=[CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)],
            timeout_ms=30_000,
        ),
        7,
    )
    assert isinstance(made, CreateTopicsResponse)
    assert made.topics[0].error_code in (0, 36), made
    while True:
        seen = client.ask(
            MetadataRequest(
                topics=[MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False
            ),
            12,
        )
        assert isinstance(seen, MetadataResponse)
        if len(seen.topics[0].partitions) == PARTITIONS and all(
            row.leader_id >= 0 for row in seen.topics[0].partitions
        ):
            client.close()
            return
        time.sleep(0.05)


class Crowd:
    """Members of one group that beat without a pause."""

    def __init__(self, address: Address, group: str, size: int) -> None:
        self.members = {
            member.socket.fileno(): member
            for member in (_Member(address, group, number) for number in range(size))
        }
        self._poll = epoll()
        for descriptor in self.members:
            self._poll.register(descriptor, EPOLLIN)

    def come(self) -> Took:
        """One joins after the other; until all are reconciled."""
        waiting = list(self.members.values())[::-1]
        began, joining = time.perf_counter(), waiting.pop()
        joining.join()
        beats = 0
        while waiting or joining.epoch == 0 or not self._reconciled():
            for member in self._answered():
                beats += 1
                if member is joining and waiting:
                    joining = waiting.pop()
                    joining.join()
                member.beat()
        return Took(time.perf_counter() - began, beats)

    def one_leaves(self) -> Took:
        """One says goodbye; until the others have its share."""
        self._quiet()
        descriptor, gone = next(iter(self.members.items()))
        epoch = gone.epoch
        began, beats = time.perf_counter(), 0
        gone.leave()
        while not gone.receive():
            pass
        self._poll.unregister(descriptor)
        del self.members[descriptor]
        gone.client.close()
        for member in self.members.values():
            member.beat()
        while not self._reconciled(epoch + 1):
            for member in self._answered():
                beats += 1
                member.beat()
        return Took(time.perf_counter() - began, beats)

    def _answered(self) -> list[_Member]:
        return [
            member
            for descriptor, _ in self._poll.poll(_SETTLE_S)
            if (member := self.members[descriptor]).receive()
        ]

    def _quiet(self) -> None:
        """Take the answers that are still to come."""
        owing = set(self.members.values())
        while owing:
            owing -= set(self._answered())

    def _reconciled(self, least: int = 0) -> bool:
        epochs = {member.epoch for member in self.members.values()}
        if (
            len(epochs) > 1
            or epochs.pop() < least
            or not all(member.acknowledged for member in self.members.values())
        ):
            return False
        return (
            sum(len(held) for member in self.members.values() for held in member.held.values())
            == PARTITIONS
        )

    def close(self) -> None:
        """Hang up."""
        self._poll.close()
        for member in self.members.values():
            member.client.close()


def measure(address: Address, size: int, rounds: int) -> tuple[Took, Took]:
    """The best of some rounds, each with a group of its own: everybody comes; one leaves."""
    came, left = [], []
    for number in range(rounds):
        crowd = Crowd(address, f"g{size}-{number}", size)
        came.append(crowd.come())
        left.append(crowd.one_leaves())
        crowd.close()
    return min(came), min(left)


_AT_ONCE = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.assignment.interval.ms": "0",
}
_ENOUGH = {"offsets.topic.num.partitions": "4", "group.initial.rebalance.delay.ms": "0"}


@contextmanager
def _emulator(config: dict[str, str]) -> Iterator[Address]:
    options = [
        option for name, value in config.items() for option in ("--config", f"{name}={value}")
    ]
    with server(*options) as serving:
        yield serving.address


@contextmanager
def _real(config: dict[str, str]) -> Iterator[Address]:
    with RealKafka(config=config, image=real_broker_image()) as broker:
        host, _, port = broker.bootstrap_servers.rpartition(":")
        yield host, int(port)


def _rows(
    label: str, start: Start, config: dict[str, str], sizes: tuple[int, ...], rounds: int
) -> Iterator[Row]:
    with start({**_ENOUGH, **config}) as address:
        await_coordinator(
            ":".join(map(str, address)), TableCodec()
        )  # a fresh Kafka makes its internal topics when first asked
        _created(address)
        for size in sizes:
            came, left = measure(address, size, rounds)
            for work, took in (
                (f"{size} consumers join one by one", came),
                (f"one of {size} consumers leaves", left),
            ):
                yield Row(
                    f"{work}, {label}, best of {rounds}",
                    took.seconds * 1000,
                    "ms",
                    f"{took.heartbeats} heartbeats",
                )


def run(rounds: int = 5, sizes: tuple[int, ...] = (3, 100, 1000)) -> Iterator[Row]:
    """Measure each size; rows as they come; the real broker's are left out, with a line that says
    why, without Docker."""
    yield from _rows("emulator", _emulator, _AT_ONCE, sizes, rounds)
    yield from _rows("emulator, default interval", _emulator, {}, sizes[:2], 1)
    if reason := why_no_docker():
        print(f"consumer groups beside a real broker: left out, {reason}", file=sys.stderr)
        return
    yield from _rows("real broker", _real, _AT_ONCE, sizes, rounds)
    yield from _rows("real broker, default interval", _real, {}, sizes[:2], 1)


if __name__ == "__main__":
    for row in run():
        print(row, flush=True)
