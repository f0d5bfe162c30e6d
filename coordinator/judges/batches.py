"""The content of partitions' logs, by a log's stream `data`: batches of records, and how their
transactions ended.

Owns truncation: what is written below the end of what was there, a batch or a marker, replaces it;
but what a broker writes there after another one was elected is not in the log for long, and
replaces nothing. Judges of records share this reading. They judge no topic of a name whose topic
was deleted: clients go on for a while with what they had of it, and another one may be called so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from .base import Judge, Line

TopicPartition = tuple[str, int]
WRITTEN = frozenset({"LeaderElected", "RecordsAppended", "MarkerWritten", "TopicDeleted"})
"""The types of lines that tell what stands in topics."""


class Batch:
    """One batch. `outcome`: True when its transaction was committed, False when it was aborted,
    None while it is open."""

    __slots__ = ("first", "last", "line", "outcome", "transactional")

    def __init__(self, line: Line) -> None:
        self.first: int = line["offset"]
        self.last: int = line["last_offset"]
        self.transactional: bool = line["transactional"]
        self.outcome: bool | None = None
        self.line = line


class PartitionBatches:
    """The batches of one partition, in the order of their offsets."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._batches: list[Batch] = []
        self._open: dict[int, list[Batch]] = {}
        self._marked_to = 0  # the offset behind the last marker

    def append(self, line: Line) -> list[Batch]:
        """A batch was appended; returns those whose place it took."""
        batch = Batch(line)
        replaced = self.cut(batch.first)
        self._batches.append(batch)
        self._firsts.append(batch.first)
        if batch.transactional:
            self._open.setdefault(line["producer_id"], []).append(batch)
        return replaced

    def cut(self, end: int) -> list[Batch]:
        """Nothing from this offset on is there any more; returns what was."""
        self._marked_to = min(self._marked_to, end)
        if not self._batches or self._batches[-1].last < end:
            return []
        keep = next(
            (at for at in range(len(self._batches), 0, -1) if self._batches[at - 1].last < end), 0
        )
        replaced = self._batches[keep:]
        del self._batches[keep:], self._firsts[keep:]
        for lost in replaced:
            if lost.transactional and lost.outcome is None:
                self._open[lost.line["producer_id"]].remove(lost)
        return replaced

    @property
    def end(self) -> int:
        """The offset behind the last batch or marker."""
        return max(self._batches[-1].last + 1 if self._batches else 0, self._marked_to)

    def mark(self, line: Line) -> list[Batch]:
        """A transaction has ended here; returns its batches."""
        self._marked_to = max(self._marked_to, line["offset"] + 1)
        ended = self._open.pop(line["producer_id"], [])
        for batch in ended:
            batch.outcome = line["committed"]
        return ended

    def between(self, first: int, last: int) -> Iterator[Batch]:
        """The batches with records from `first` to `last`, both included."""
        at = max(bisect_right(self._firsts, first) - 1, 0)
        for batch in self._batches[at : bisect_left(self._firsts, last + 1)]:
            if batch.last >= first:
                yield batch


class Batches:
    """Those of all partitions."""

    def __init__(self) -> None:
        self.replaced: list[Batch] = []
        """The batches whose place the last line took."""
        self._leaders: dict[TopicPartition, int] = {}
        self._partitions: dict[TopicPartition, PartitionBatches] = {}

    def of(self, topic: str, partition: int) -> PartitionBatches:
        """Those of one partition."""
        found = self._partitions.get((topic, partition))
        if found is None:
            found = self._partitions[topic, partition] = PartitionBatches()
        return found

    def in_vain(self, line: Line) -> bool:
        """Was this written by a broker that leads the partition no longer, where its successor has
        written already?"""
        key = line["topic"], line["partition"]
        broker, offset = line.get("broker"), int(line["offset"])
        return self._leaders.get(key, broker) != broker and offset < self.of(*key).end

    def see(self, line: Line) -> list[Batch]:
        """Look at a line: returns the batches whose transaction a MarkerWritten ended."""
        kind, self.replaced = line["type"], []
        if kind == "LeaderElected" and "leader_id" in line:
            self._leaders[line["topic"], line["partition"]] = line["leader_id"]
        elif kind == "RecordsAppended" and not self.in_vain(line):
            self.replaced = self.of(line["topic"], line["partition"]).append(line)
        elif kind == "MarkerWritten":
            partition = self.of(line["topic"], line["partition"])
            self.replaced = [] if self.in_vain(line) else partition.cut(line["offset"])
            return partition.mark(line)
        return []


class JudgeOfRecords(Judge):
    """A judge of what stands in topics, until they are deleted. Subclasses `look` at each line."""

    def __init__(self) -> None:
        super().__init__()
        self._deleted: set[str] = set()

    def see(self, line: Line) -> None:
        if line["type"] == "TopicDeleted":
            self._deleted.add(line["topic"])
            self.deleted(line["topic"])
        elif not self._deleted:
            self.look(line)
        elif line.get("topic") in self._deleted:
            self.too_late(line)
        else:
            self.look(self._of_topics_that_are_there(line))

    def look(self, line: Line) -> None:
        """Look at the next line; its topic is there, or it names none."""
        raise NotImplementedError

    def deleted(self, topic: str) -> None:
        """A topic was deleted."""

    def too_late(self, line: Line) -> None:
        """A line about a topic of a name that was deleted."""

    def _of_topics_that_are_there(self, line: Line) -> Line:
        for rows in ("offsets", "partitions"):
            named = line.get(rows)
            if isinstance(named, list) and any(
                isinstance(row, dict) and row.get("topic") in self._deleted for row in named
            ):
                line = {**line, rows: [row for row in named if row["topic"] not in self._deleted]}
        return line
