"""Nine mistakes that consumer applications make, each to be mixed into any of the three:
`buggy(CommitsAhead, KafkaPythonApplication)`.

They are there to be found: `tests/examples` has the kit's ready tests find and name every one of
them.
"""

from __future__ import annotations

from collections.abc import Iterable

from examples.consumers.application import ConsumerApplication, TopicPartition


class CommitsAhead(ConsumerApplication):
    """Commits what it has fetched, as auto-commit by hand: whatever waits to be processed is lost
    when the process ends."""

    def take(self, partition: TopicPartition, records: Iterable[tuple[int, bytes | None]]) -> None:
        listed = list(records)
        super().take(partition, listed)
        self.done[partition] = listed[-1][0] + 1

    def process_one(self, partition: TopicPartition, offset: int, value: bytes | None) -> None:
        fetched = self.done.get(partition, 0)
        super().process_one(partition, offset, value)
        self.done[partition] = max(fetched, self.done.get(partition, 0))


class IgnoresRevocation(ConsumerApplication):
    """Has no rebalance listener to speak of: it goes on with what waits, whoever owns the partition
    now."""

    def revoked(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {}

    def lost(self, partitions: Iterable[TopicPartition]) -> None:
        pass


class CommitsAfterLosing(ConsumerApplication):
    """Forgets the records of partitions that it loses, but not the offsets that it was to commit
    for them."""

    def lost(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self.waiting.pop(partition, None)

    def refused(
        self, error: Exception, offsets: dict[TopicPartition, int] | None = None, *, passing: bool
    ) -> None:
        if not passing:
            raise error
        self.done = {**self.last_tried, **self.done}

    def to_commit(self) -> dict[TopicPartition, int]:
        self.last_tried = super().to_commit()
        return self.last_tried


class DoesNotSeekBack(ConsumerApplication):
    """Drops what it took of a partition when a record fails, and reads on behind it."""

    def failed(self, partition: TopicPartition, offset: int) -> list[tuple[TopicPartition, int]]:
        super().failed(partition, offset)
        return []


class BlocksInListener(ConsumerApplication):
    """Waits in its rebalance listener for work that cannot go on before the listener returns."""

    def revoked(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {} if not list(partitions) else self.wait_for_ever()

    def wait_for_ever(self) -> dict[TopicPartition, int]:
        """Until the application is stopped."""
        self.ending.wait()
        return {}


class SwallowsErrors(ConsumerApplication):
    """Has a general handler around everything, and goes on."""

    def refused(
        self, error: Exception, offsets: dict[TopicPartition, int] | None = None, *, passing: bool
    ) -> None:
        pass


class CommitsTheLastOffset(ConsumerApplication):
    """Commits the offset of the last record that it processed; the one behind it is meant."""

    def to_commit(self) -> dict[TopicPartition, int]:
        return {partition: offset - 1 for partition, offset in super().to_commit().items()}


class StopsWithoutCommitting(ConsumerApplication):
    """Commits whenever it has processed a hundred records more, and not the rest when it is told to
    stop."""

    committed = 0

    def to_commit(self) -> dict[TopicPartition, int]:
        number = len(self.processed())
        if number < self.committed + 100:
            return {}
        self.committed = number
        return super().to_commit()

    def revoked(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {}


class ResumesFromMemory(ConsumerApplication):
    """Goes back to where it was itself when it gets a partition again, whatever others have
    committed meanwhile."""

    def lost(self, partitions: Iterable[TopicPartition]) -> None:
        listed = list(partitions)
        super().lost(listed)
        last = {(topic, index): offset for topic, index, offset in self.processed()}
        self.memory = self.memory | {
            partition: last[partition] + 1 for partition in listed if partition in last
        }

    def process(self) -> list[tuple[TopicPartition, int]]:
        back = [
            (partition, self.memory.pop(partition))
            for partition in list(self.waiting)
            if partition in self.memory
        ]
        for partition, _ in back:
            del self.waiting[partition]
        return back + super().process()

    memory: dict[TopicPartition, int] = {}  # noqa: RUF012 - replaced, not changed, before anything is taken from it


BUGS: tuple[type[ConsumerApplication], ...] = (
    CommitsAhead,
    IgnoresRevocation,
    CommitsAfterLosing,
    DoesNotSeekBack,
    BlocksInListener,
    SwallowsErrors,
    CommitsTheLastOffset,
    StopsWithoutCommitting,
    ResumesFromMemory,
)


def buggy(
    bug: type[ConsumerApplication], application: type[ConsumerApplication]
) -> type[ConsumerApplication]:
    """The application with this mistake."""
    return type(f"{bug.__name__}With{application.__name__}", (bug, application), {})
