"""Requests of a client to the leaders of partitions: the known leaders, the requests in flight, and
their timeouts.

Owns the metadata of leaders (requested when something is unknown or outdated, after a backoff),
and the numbers of requests, which are negative so that they never collide with those of a
`Member`. Does not know what is fetched or produced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from assignors import TopicPartition
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.schema import Request, Response

from .backoff import Backoff
from .effects import AskBroker, DropBroker, Effect, Node, Send

OnAnswer = Callable[["Response | None", int], None]
"""Given the answer, or None if there will be none, and the instant."""


class Leader(NamedTuple):
    """Leader of a partition."""

    node: Node
    epoch: int


class _Asked(NamedTuple):
    deadline: int
    node: Node | None
    answered: OnAnswer


class Leaders:
    """Requests of one client to brokers. `chance` draws from 0 to 1; durations are milliseconds."""

    __slots__ = (
        "_asked",
        "_backoff",
        "_known",
        "_metadata_again_at",
        "_metadata_in_flight",
        "_number",
        "_timeout_ms",
        "effects",
        "nodes",
        "topic_ids",
        "wanted",
    )

    def __init__(self, timeout_ms: int, backoff: Backoff) -> None:
        self.effects: list[Effect] = []
        self.wanted: set[str] = set()
        """Topics whose leaders are to be asked for."""
        self.topic_ids: dict[bytes, str] = {}
        """Names of topics by the ids that metadata gave."""
        self.nodes: dict[int, Node] = {}
        """The brokers that run, by the metadata that came last."""
        self._timeout_ms = timeout_ms
        self._backoff = backoff
        self._known: dict[TopicPartition, Leader] = {}
        self._asked: dict[int, _Asked] = {}
        self._number = 0
        self._metadata_in_flight = False
        self._metadata_again_at = 0

    # -- who leads

    def of(self, partition: TopicPartition) -> Leader | None:
        """Return the known leader of a partition; if there is none, return None and let metadata be
        requested.
        """
        found = self._known.get(partition)
        if found is None:
            self.wanted.add(partition.topic)
        return found

    def forget(self, partitions: Iterable[TopicPartition]) -> None:
        """Forget the leaders of these partitions, because they are outdated."""
        for partition in partitions:
            self._known.pop(partition, None)
            self.wanted.add(partition.topic)

    def partitions(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of a topic that have a known leader."""
        return tuple(sorted(partition for name, partition in self._known if name == topic))

    def look_up(self, now: int) -> None:
        """Request metadata if it is wanted and the backoff allows."""
        if self.wanted and not self._metadata_in_flight and now >= self._metadata_again_at:
            self._metadata_in_flight = True
            topics = [MetadataRequestTopic(name=name) for name in sorted(self.wanted)]
            self.ask(
                None,
                MetadataRequest(topics=topics, allow_auto_topic_creation=False),
                now,
                self._on_metadata,
            )

    def _on_metadata(self, response: Response | None, now: int) -> None:
        self._metadata_in_flight = False
        if isinstance(response, MetadataResponse):
            nodes = self.nodes = {
                row.node_id: Node(row.node_id, row.host, row.port) for row in response.brokers
            }
            for topic in response.topics:
                rows = [
                    row for row in topic.partitions if not row.error_code and row.leader_id in nodes
                ]
                if topic.name is not None and not topic.error_code:
                    self.topic_ids[topic.topic_id] = topic.name
                if topic.name is not None and rows and len(rows) == len(topic.partitions):
                    self.wanted.discard(topic.name)
                for row in rows:
                    found = Leader(nodes[row.leader_id], row.leader_epoch)
                    self._known[TopicPartition(topic.name or "", row.partition_index)] = found
        if self.wanted:
            self._metadata_again_at = now + self._backoff.next()
        else:
            self._backoff.reset()
            self._metadata_again_at = now + 100

    # -- requests

    def ask(
        self,
        node: Node | None,
        message: Request,
        now: int,
        answered: OnAnswer,
        timeout_ms: int | None = None,
    ) -> int:
        """Add a request to the effects. `node` None: any broker. Return the request's number."""
        self._number -= 1
        self._asked[self._number] = _Asked(now + (timeout_ms or self._timeout_ms), node, answered)
        self.effects.append(
            Send(self._number, None, message)
            if node is None
            else AskBroker(self._number, node, message)
        )
        return self._number

    def tell(self, node: Node, message: Request) -> None:
        """Add a request without an answer to the effects."""
        self._number -= 1
        self.effects.append(AskBroker(self._number, node, message))

    def receive(self, number: int, response: Response | None, now: int) -> bool:
        """Take the answer to a request, or None if there will be none; return False if it is no
        longer awaited.
        """
        asked = self._asked.pop(number, None)
        if asked is not None:
            asked.answered(response, now)
        return asked is not None

    def tick(self, now: int) -> None:
        """Time out overdue requests, and drop their connections."""
        for number in [number for number, asked in self._asked.items() if now >= asked.deadline]:
            asked = self._asked.get(number)
            if asked is None:
                continue
            if asked.node is not None:
                self.effects.append(DropBroker(asked.node, "a request was not answered in time"))
                for other in [
                    other for other, each in self._asked.items() if each.node == asked.node
                ]:
                    self.receive(other, None, now)
            else:
                self.receive(number, None, now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` or `look_up` is due, or None."""
        due = None
        for asked in self._asked.values():
            if due is None or asked.deadline < due:
                due = asked.deadline
        if self.wanted and not self._metadata_in_flight:
            again_at = self._metadata_again_at
            if due is None or again_at < due:
                due = again_at
        return due

    def take(self) -> list[Effect]:
        """Return the effects to carry out now."""
        effects, self.effects = self.effects, []
        return effects
