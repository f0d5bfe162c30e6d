"""Topics and records in Python: methods of the kit that create and delete topics, and write, read
and truncate records.

They behave like clients: if a partition has no leader, or too few replicas in sync, they wait
for that, up to `timeout` seconds. On the emulator's own loop they never wait. The requests are
in `topics.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from coordinator.base.keyword_errors import nearest_keywords

from .thread_calls import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from coordinator.server.broker import Broker

    from .client_requests import Steps
    from .session import KitSession
    from .topic_handle import TopicHandle
    from .topics import ReadRecord, Value, Written

T = TypeVar("T")
_WHEN_READY = (
    "On the emulator's own loop this call cannot wait: use await akafka.produce_when_ready(...)"
)


@nearest_keywords
class TopicKit:
    """Methods of a running emulator for its topics."""

    if TYPE_CHECKING:  # the emulator's own

        def run(self, function: Callable[[], T]) -> T: ...
        @property
        def _session(self) -> KitSession: ...

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        *,
        replication: int = -1,
        config: Mapping[str, object] | None = None,
    ) -> None:
        """Create a topic. Without `partitions` the setting num.partitions decides. Raises
        ControlError, in Kafka's words."""
        from . import topics

        return self._controlled(
            lambda broker, now: topics.create(
                broker, now, name, partitions, replication, config or {}
            )
        )

    def topic(self, name: str) -> TopicHandle:
        """Return a topic, which need not exist yet: `kafka.topic("orders").log(0)` shows the
        segments of a partition's log."""
        from . import topic_handle

        def log_of(name: str, index: int) -> topic_handle.LogView:
            return self.run(lambda: topic_handle.view(self._session, name, index))

        return topic_handle.TopicHandle(name, log_of)

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of each topic, without Kafka's internal topics."""
        session = self._session
        return self.run(
            lambda: {
                name: len(topic.partitions)
                for name, topic in session.any_broker().cluster.topics.items()
                if not topic.internal
            }
        )

    def configure_topic(
        self, name: str, config: Mapping[str, object | None]
    ) -> dict[str, str | None]:
        """Set configurations of a topic by Kafka's names (None: back to the default). Return the
        former values, in the form that this method takes. Raises ControlError, in Kafka's words;
        then nothing has changed."""
        from . import topics

        return self._done(topics.configured(self._session, name, config), DEFAULT_TIMEOUT_S)

    def grow_topic(self, name: str, partitions: int) -> None:
        """Add partitions to a topic; `partitions` is the new total."""
        from . import topics

        return self._controlled(lambda broker, now: topics.grow(broker, now, name, partitions))

    def delete_topic(self, name: str) -> None:
        """Delete a topic, its records, and the offsets that groups committed in it."""
        from . import topics

        return self._controlled(lambda broker, now: topics.delete(broker, now, name))

    def truncate(
        self,
        name: str,
        partition: int,
        before: int = -1,
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> int:
        """Delete the records of a partition below an offset, by default all. Return the new log
        start offset."""
        from . import topics

        return self._done(topics.truncated(self._session, name, partition, before), timeout)

    def end_offsets(
        self, name: str, *, committed: bool = False, timeout: float = DEFAULT_TIMEOUT_S
    ) -> dict[int, int]:
        """Return the offset behind the last record of each partition that consumers can read;
        with `committed` read_committed consumers."""
        from . import topics

        return self._done(topics.ends(self._session, name, committed=committed), timeout)

    def produce(
        self,
        name: str,
        values: Iterable[Value],
        *,
        partition: int | None = None,
        keys: Sequence[Value] | None = None,
        headers: Mapping[str, Value] | None = None,
        timestamp_ms: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
        user: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> list[Written]:
        """Write records; return the place of each, in the order of `values`. Text is written as
        UTF-8.

        Without `partition` a record goes where Java's producer puts its key; records without a key
        are distributed in turn. `transactional_id`: write in one transaction, which is committed
        or, with `abort`, aborted. `user`: write with the rights of this user; a missing right
        raises ControlError. The records are acknowledged by all replicas in sync (acks=all).

        Without a leader, or with fewer replicas in sync than min.insync.replicas, it waits as a
        client does; after `timeout` seconds ControlError says what is missing. On the emulator's
        own loop it never waits; use `await produce_when_ready(...)` there.
        """
        from . import topics

        steps = topics.produced(
            self._session,
            name,
            values,
            partition=partition,
            keys=keys,
            headers=headers,
            timestamp_ms=timestamp_ms,
            transactional_id=transactional_id,
            abort=abort,
            user=user,
            at_once=not self._waits(),
        )
        return self._done(steps, timeout, _WHEN_READY)

    def records(
        self,
        name: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        committed: bool = False,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> list[ReadRecord]:
        """Return the records of a partition, or of all partitions one after the other, from an
        offset on. `committed`: as a read_committed consumer reads."""
        from . import topics

        steps = topics.records(self._session, name, partition, start=start, committed=committed)
        return self._done(steps, timeout)

    # -- how they are done

    def _controlled(
        self, change: Callable[[Broker, int], None], timeout: float = DEFAULT_TIMEOUT_S
    ) -> None:
        """Change topics at a broker that reaches the controller; wait until there is one."""
        from .topics import controlled

        return self._done(controlled(self._session, change), timeout)

    def _waits(self) -> bool:
        """Return True if the caller may wait: it is not on the brokers' own thread."""
        return not self._session.on_loop()

    def _done(self, steps: Steps[T], timeout: float, instead: str = "") -> T:
        """Run work in steps and return its result, waiting up to `timeout` seconds. On the
        emulator's own loop nothing can be waited for; the error then names the call to use there
        (`instead`)."""
        from . import arguments
        from .client_requests import Errand, without_waiting

        arguments.seconds("timeout", timeout)
        if not self._waits():
            return self.run(partial(without_waiting, steps, instead))
        session = self._session
        errand, ends = Errand(session, steps), monotonic() + timeout
        while (waited := self.run(errand.go_on)) is not None:
            try:
                waited.result(max(ends - monotonic(), 0))
            except FutureTimeoutError:
                raise self.run(partial(errand.ended, waited, timeout)) from None
        return errand.result
