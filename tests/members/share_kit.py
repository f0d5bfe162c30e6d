"""`ShareSolo`: a share consumer beside a broker, both in virtual time: the consumer's requests go to the
broker as bytes on connections of their own, and its answers come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.members.effects import AskBroker, Closed, Disconnect, DropBroker, Node, Send
from coordinator.members.requests import OURS, fit, lift
from coordinator.members.share.config import ShareConfig
from coordinator.members.share.consumer import ShareConsumer
from coordinator.members.share.sessions import SharedRecord
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.schema import Request, Response
from tests.server.broker.driver import Client, Driver

CONFIG = {
    "group.share.assignment.interval.ms": "0",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
}


class ShareWorld(Driver):
    """A broker with topic jobs of two partitions, and the group "g", which reads from the start."""

    def __init__(self, **of_group: str) -> None:
        super().__init__(["jobs:2"], CONFIG)
        named = {key.replace("_", "."): value for key, value in of_group.items()}
        self.broker.cluster.group_configs["g"] = {"share.auto.offset.reset": "earliest", **named}
        self.writer = self.client("127.0.0.1:writer")
        self.solos: list[ShareSolo] = []

    def produce(self, *values: bytes, partition: int = 0) -> None:
        """One batch."""
        from coordinator.wire.messages.produce import (
            PartitionProduceData,
            ProduceRequest,
            TopicProduceData,
        )

        records = build_batch(list(values), timestamp=1_000_000)
        data = PartitionProduceData(index=partition, records=records)
        self.writer.ask(
            ProduceRequest(
                acks=-1,
                timeout_ms=1_000,
                topic_data=[TopicProduceData(name="jobs", partition_data=[data])],
            ),
            9,
        )
        self.go_on()

    def solo(self, name: str = "a", **config: Any) -> ShareSolo:
        """A consumer that subscribes to jobs."""
        solo = ShareSolo(self, name, **config)
        self.solos.append(solo)
        solo.consumer.subscribe(["jobs"], self.now)
        return solo

    def go_on(self) -> None:
        """Answers that are there reach their consumers, and what follows from them."""
        while any(solo.exchange() for solo in self.solos):
            self.settle()

    def elapse(self, ms: int, step: int = 50) -> None:
        """Let time pass for broker and consumers; those that poll do so at each step."""
        end = self.now + ms
        while self.now < end:
            self.pass_time(min(step, end - self.now))
            for solo in self.solos:
                solo.due()
            self.go_on()


class ShareSolo:
    """One consumer. `polls`: its application polls whenever it may; `got` is what it was handed."""

    def __init__(self, world: ShareWorld, name: str, **config: Any) -> None:
        self.world, self.name = world, name
        self.consumer = ShareConsumer(
            ShareConfig(group_id="g", client_id=name, **config),
            chance=lambda: 0.5,
            now=world.now,
            member_id=f"member-{name}",
        )
        self.got: list[SharedRecord] = []
        self.sent: list[Request] = []
        self.polls = True
        self.ended = False
        self.refuse: Callable[[Request], int | None] = lambda message: None
        """An error for the answer to a request that is then not sent; None: it is sent."""
        self._links: dict[str, Client] = {}
        self._numbers: dict[str, list[tuple[int, int]]] = {}

    def due(self) -> None:
        """Time has passed."""
        if self.ended:
            return
        self.consumer.tick(self.world.now)
        self._poll()

    def _poll(self) -> None:
        if self.polls and not self.ended and (self.consumer.config.implicit or not self.holds):
            self.got += self.consumer.poll(self.world.now)

    @property
    def holds(self) -> bool:
        """Is something not acknowledged?"""
        return any(map(self.consumer.sessions.holds, self.consumer._handed_out))

    def exchange(self) -> bool:
        """Send what is to be sent, take what has come; False: neither."""
        acted = False
        for effect in self.consumer.take():
            acted = True
            match effect:
                case Send(number, node, message):
                    self._send("any" if node is None else "coordinator", number, message)
                case AskBroker(number, _, message):
                    self._send("data", number, message)
                case Disconnect():
                    self.cut("coordinator", told=False)
                case DropBroker():
                    self.cut("data", told=False)
                case Closed():
                    self.ended = True
        for name, link in list(self._links.items()):
            for answer in link.answers():
                acted = True
                number, version = self._numbers[name].pop(0)
                assert isinstance(answer, Response)
                self.consumer.receive(number, lift(answer, version), self.world.now)
                self._poll()
        return acted

    def cut(self, name: str, *, told: bool = True) -> None:
        """A connection ends."""
        link = self._links.pop(name, None)
        unanswered = self._numbers.pop(name, [])
        if link is not None and link.closed is None:
            link.connection.lost()
            self.world.settle()
        if told and name == "coordinator":
            self.consumer.disconnected(self.world.now)
        elif told:
            for number, _ in unanswered:
                self.consumer.failed(number, self.world.now)

    def messages(self, kind: type[Request]) -> list[Any]:
        """What was sent of a kind."""
        return [message for message in self.sent if isinstance(message, kind)]

    def offsets(self) -> list[tuple[int, int, int]]:
        """Partition, offset and delivery count of what it was handed."""
        return [(of.partition.partition, of.record.offset, of.delivery_count) for of in self.got]

    def _send(self, name: str, number: int, message: Request) -> None:
        self.sent.append(message)
        version = OURS[message.api_key][1]
        error = self.refuse(message)
        if error is not None:
            from coordinator.wire.messages import response_type

            kind = response_type(message.api_key)
            self.consumer.receive(number, kind(error_code=error), self.world.now)  # type: ignore[call-arg, arg-type]
            return
        if name not in self._links:
            self._links[name] = self.world.client(f"127.0.0.1:{self.name}-{name}")
            self._numbers[name] = []
        self._numbers[name].append((number, version))
        self._links[name].send(fit(message, version), version)


NODE = Node(1, "127.0.0.1", 9092)
