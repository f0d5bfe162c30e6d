"""What the three applications have in common: which records wait, which are processed, which
offsets may be committed.

An application takes records from its client library, processes a few in order, commits the offsets
of what it has processed, and asks for more. Partitions that it loses leave nothing behind. A record
whose processing fails is asked for again: everything taken of its partition is dropped, and the
consumer seeks back to it. An error that no retry can mend ends the application, visibly: `error`
has it.

The four methods `start`, `stop`, `kill` and `processed` are all that `coordinator.testing`'s
scenarios need of an application.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from threading import Event, RLock, Thread
from typing import Any

TopicPartition = tuple[str, int]
TURN = 2
"""So many records of each partition are processed before the client library gets a turn."""


class ConsumerApplication(ABC):
    """Reads a topic as a member of a group. `work` is what it does with each record's (topic,
    partition, offset, value).

    Records with the value `flaky` fail the first time; those with `poison` always, and are passed
    by. `settings`: of the client library, over those that the application gives it.
    """

    flaky = b"fails the first time"
    poison = b"fails every time"
    keeps_key_order = True

    def __init__(
        self,
        topic: str = "orders",
        group: str = "billing",
        *,
        client_id: str = "billing",
        work: Callable[..., object] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.topic = topic
        self.group = group
        self.client_id = client_id
        self.work = work
        self.settings = settings or {}
        self.error: BaseException | None = None
        self.ending = Event()
        self._going_on = Event()
        self._going_on.set()
        self.postponed = False
        self._listener_fails = False
        self._failed_once: set[tuple[TopicPartition, int]] = set()
        self.killed = False
        self.waiting: dict[TopicPartition, list[tuple[int, bytes | None]]] = {}
        self.done: dict[TopicPartition, int] = {}
        self._processed: list[tuple[str, int, int]] = []
        self._thread: Thread | None = None
        self._lock = RLock()  # rebalances may be told on another thread

    # -- what a test needs
    # -----------------------------------------------------------------------------------------------

    def start(self, bootstrap_servers: str) -> None:
        """Begin to consume, on a thread of its own."""
        self.ending.clear()
        self.killed, self.error = False, None
        self.waiting.clear()
        self.done.clear()
        self._thread = Thread(
            target=self._live, args=(bootstrap_servers,), name=self.client_id, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Finish the record in hand, commit, leave the group."""
        self.ending.set()
        if self._thread is not None:
            self._thread.join()

    def kill(self) -> None:
        """End as a process that is killed does: nothing more is processed or committed."""
        self.killed = True
        self.resume_work()
        self.stop()

    def ended(self, timeout_s: float) -> bool:
        """Whether it ends within so many seconds without being told to; `error` says why."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is not None and not self._thread.is_alive()

    def processed(self) -> list[tuple[str, int, int]]:
        """(topic, partition, offset) of each record that was processed, in order, since the
        application was made."""
        return list(self._processed)

    # -- what some tests can use
    # -----------------------------------------------------------------------------------------

    def hold_work(self) -> None:
        """Stand still at the next record."""
        self._going_on.clear()

    def postpone_work(self) -> None:
        """Process nothing for now, but go on asking for records and keep them."""
        self.postponed = True

    def taken(self) -> int:
        """How many records wait to be processed."""
        with self._lock:
            return sum(map(len, self.waiting.values()))

    def resume_work(self) -> None:
        """Go on."""
        self.postponed = False
        self._going_on.set()

    def fail_listener(self) -> None:
        """Let the next call of the rebalance listener raise."""
        self._listener_fails = True

    # -- what a client library's part gives
    # ------------------------------------------------------------------------------

    @abstractmethod
    def consume(self, bootstrap_servers: str) -> None:
        """Consume until `ending` is set. Raises what no retry can mend."""

    # -- what it is given
    # ------------------------------------------------------------------------------------------------

    def take(self, partition: TopicPartition, records: Iterable[tuple[int, bytes | None]]) -> None:
        """Records (offset, value) of a partition have come."""
        with self._lock:
            self.waiting.setdefault(partition, []).extend(records)

    def process(self) -> list[tuple[TopicPartition, int]]:
        """Process a few of those that wait. Returns where a consumer has to seek to: records that
        failed."""
        failed: list[tuple[TopicPartition, int]] = []
        for partition in list(self.waiting):
            for _ in range(TURN):
                if self.postponed or self.ending.is_set():
                    return failed
                with self._lock:
                    if partition not in self.waiting:
                        break
                    try:
                        self.process_one(partition, *self.waiting[partition][0])
                    except Exception:
                        failed += self.failed(partition, self.waiting[partition][0][0])
                        break
        return failed

    def process_one(self, partition: TopicPartition, offset: int, value: bytes | None) -> None:
        """Process a record; when that is done it need not be read again."""
        if value == self.flaky and (partition, offset) not in self._failed_once:
            self._failed_once.add((partition, offset))
            raise ValueError(f"{value!r}, as it says")
        self._going_on.wait()
        if self.work is not None and value != self.poison:
            self.work(*partition, offset, value)
        if not self.killed:
            del self.waiting[partition][0]
            if not self.waiting[partition]:
                del self.waiting[partition]
            self._processed.append((*partition, offset))
            self.done[partition] = offset + 1

    def failed(self, partition: TopicPartition, offset: int) -> list[tuple[TopicPartition, int]]:
        """A record failed: drop what was taken of its partition, and read on from it."""
        del self.waiting[partition]
        return [(partition, offset)]

    def to_commit(self) -> dict[TopicPartition, int]:
        """The offsets that are to be committed now, and are no longer due then."""
        with self._lock:
            offsets, self.done = self.done, {}
        return {} if self.killed else offsets

    def revoked(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Partitions are about to go to others: what must be committed before. `lost` follows."""
        if self._listener_fails:
            self._listener_fails = False
            raise RuntimeError("the listener fails, as it was told to")
        with self._lock:
            return (
                {}
                if self.killed
                else {
                    partition: self.done[partition]
                    for partition in partitions
                    if partition in self.done
                }
            )

    def first_waiting(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the records begin that wait, by partition."""
        with self._lock:
            return {
                partition: self.waiting[partition][0][0]
                for partition in partitions
                if partition in self.waiting
            }

    def refused_before(self, offsets: dict[TopicPartition, int]) -> None:
        """Offsets that could not be committed before a rebalance, of partitions that were kept, are
        due again."""
        with self._lock:
            self.done = {**offsets, **self.done}

    def lost(self, partitions: Iterable[TopicPartition]) -> None:
        """Partitions are others' already: nothing of them may be processed or committed any
        more."""
        with self._lock:
            for partition in partitions:
                self.waiting.pop(partition, None)
                self.done.pop(partition, None)

    def refused(
        self, error: Exception, offsets: dict[TopicPartition, int] | None = None, *, passing: bool
    ) -> None:
        """The client library raised an error; `passing`: of a kind that goes by itself, such as a
        commit that a rebalance overtook.

        `offsets`: of a commit that may succeed the next time; they are due again, unless a
        rebalance takes their partitions away.
        """
        if not passing:
            raise error
        self.done = {**(offsets or {}), **self.done}

    def _live(self, bootstrap_servers: str) -> None:
        try:
            self.consume(bootstrap_servers)
        except Exception as error:
            self.error = error
