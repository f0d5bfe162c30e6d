"""Records how many records the application had processed when each of its commits arrived, and what
its consumers asked about partitions: fetches, first offsets.

A commit is held before the coordinator handles it while a thread asks the application what it
has processed. That needs a thread of its own, because the application may be waiting for the
response to that commit.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from coordinator.server.interceptors import Hold, Verdict, consult
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.list_offsets import ListOffsetsRequest
from coordinator.wire.messages.offset_commit import OffsetCommitRequest
from coordinator.wire.messages.transactions import TxnOffsetCommitRequest

from ..injection.broker_queries import BrokerSurroundings
from .findings import CommitSeen, TopicPartition

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.requests.call import Call

    from ..emulator.embedded import Emulator

_FIRST = -2
"""The timestamp with which ListOffsets asks for a partition's first offset."""
_Held = tuple["Broker", int, CommitSeen]


class CommitWatch:
    """Notes the commits of one group from now on. `count`: returns the number of processed
    records; it may block and call the emulator."""

    def __init__(self, kafka: Emulator, group: str, count: Callable[[], int]) -> None:
        self._kafka = kafka
        self._group = group
        self._count = count
        self._seen: list[CommitSeen] = []
        self._error: Exception | None = None
        self._held: SimpleQueue[_Held | None] = SimpleQueue()
        self._doors: dict[int, tuple[Broker, _Door]] = {}
        self.fetched: dict[TopicPartition, int] = {}
        """For each partition the offset of the latest Fetch from any client; records below it
        have been received."""
        self.asked_first: dict[TopicPartition, int] = {}
        """For each partition, the instant at which a client last asked for its first offset. A
        client does that to go back to the beginning."""
        self.dying: set[str] = set()
        """Client ids of processes that are being killed. Requests that they still send from the
        test's process would not exist after a real death."""
        self._thread = Thread(target=self._look, name="coordinator-commit-watch", daemon=True)
        self._thread.start()
        self.install()

    def install(self) -> None:
        """Watch all running brokers. Call it again after a broker was started again."""

        def put() -> None:
            for node, broker in self._kafka.brokers.items():
                if self._doors.get(node, (None, None))[0] is not broker:
                    door = _Door(
                        broker, self._group, self._held, self.dying, self.fetched, self.asked_first
                    )
                    self._doors[node] = (broker, door)
                    broker.interceptors.insert(0, door)

        self._kafka.run(put)

    def seen(self) -> list[CommitSeen]:
        """Return the commits so far, in order. Raises the error that the application raised when
        it was asked."""
        if self._error is not None:
            raise self._error
        return list(self._seen)

    def close(self) -> None:
        """Stop watching; held commits go on."""

        def take_away() -> None:
            for broker, door in self._doors.values():
                if door in broker.interceptors:
                    broker.interceptors.remove(door)

        self._kafka.run(take_away)
        self._held.put(None)
        self._thread.join()

    def _look(self) -> None:
        while (held := self._held.get()) is not None:
            broker, token, commit = held
            try:
                self._seen.append(commit._replace(done=self._count()))
            except Exception as error:
                self._error = error
            self._kafka.run(lambda: broker.parked.release(token, self._kafka.server.now()))  # noqa: B023 - called before the next one is taken


class _Door:
    api_keys = frozenset(
        {
            OffsetCommitRequest.api_key,
            TxnOffsetCommitRequest.api_key,
            FetchRequest.api_key,
            ListOffsetsRequest.api_key,
        }
    )

    def __init__(
        self,
        broker: Broker,
        group: str,
        held: SimpleQueue[_Held | None],
        dying: set[str],
        fetched: dict[TopicPartition, int],
        asked_first: dict[TopicPartition, int],
    ) -> None:
        self._broker = broker
        self._group = group
        self._held = held
        self._dying = dying
        self._fetched = fetched
        self._asked_first = asked_first
        self._around = BrokerSurroundings(broker)

    def __call__(self, call: Call) -> Verdict:
        message = call.message
        if isinstance(message, FetchRequest):
            for read in message.topics:
                name = read.topic or self._around.topic_name(read.topic_id) or ""
                self._fetched |= {
                    (name, row.partition): row.fetch_offset for row in read.partitions
                }
            return None
        if isinstance(message, ListOffsetsRequest):
            first = [
                (asked.name, row.partition_index)
                for asked in message.topics
                for row in asked.partitions
                if row.timestamp == _FIRST
            ]
            self._asked_first |= dict.fromkeys(first, call.now)
            return None
        if (
            not isinstance(message, OffsetCommitRequest | TxnOffsetCommitRequest)
            or message.group_id != self._group
        ):
            return None
        if call.client_id in self._dying:
            return None
        offsets = {}
        for topic in message.topics:
            name = topic.name or self._around.topic_name(getattr(topic, "topic_id", b"")) or ""
            for row in topic.partitions:
                offsets[name, row.partition_index] = row.committed_offset
        interceptors = self._broker.interceptors
        then = consult(
            interceptors[interceptors.index(self) + 1 :], call
        )  # a request that was held meets no other interceptor
        by_member = bool(message.member_id) or isinstance(
            message, TxnOffsetCommitRequest
        )  # a producer need not name one
        seen = CommitSeen(
            offsets, 0, message.member_id or call.client_id, call.cause, by_member, call.now
        )
        self._held.put((self._broker, call.token, seen))
        return Hold(None, then)
