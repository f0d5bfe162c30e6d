"""Transactions: readers of committed records see no other, and pipelines write once for each record
that they read."""

from __future__ import annotations

from .base import Line
from .batches import WRITTEN, Batch, Batches, JudgeOfRecords

_Source = tuple[str, str, int, int]
"""Group, topic, partition and offset of a record that a pipeline has read."""


class OnlyCommittedIsRead(JudgeOfRecords):
    """With read_committed nobody sees records of transactions that are open or aborted."""

    name = "read_committed"
    promise = (
        "an application with isolation.level=read_committed is given no record of an aborted transaction, nor of one that is open "
        "(KIP-98); and partitions are marked as it was decided, and not again once the transaction is complete"
    )
    needs = frozenset({"member", "data"})
    looks_at = WRITTEN | {
        "TransactionPrepared",
        "TransactionCompleted",
        "LogTruncated",
        "RecordsPolled",
    }

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._decided: dict[int, bool] = {}
        self._complete: dict[int, Line] = {}
        """The lines that tell which producers have no transaction that is being ended."""

    def look(self, line: Line) -> None:
        if line["type"] == "TransactionPrepared":
            self._decided[line["producer_id"]] = line["committed"]
            self._complete.pop(line["producer_id"], None)
        elif line["type"] == "TransactionCompleted":
            renewed = line.get("previous_producer_id", -1) >= 0 and line["producer_epoch"] == 0
            self._complete[line["previous_producer_id"] if renewed else line["producer_id"]] = line
        elif (
            line["type"] == "LogTruncated"
        ):  # what was complete may not be so for who coordinates it next
            self._complete.clear()
        elif line["stream"] in ("data", "cluster"):
            self._batches.see(line)
            if line["type"] == "MarkerWritten":
                self._marked(line)
        elif line["type"] == "RecordsPolled" and line["isolation"] == "read_committed":
            where = f"{line['topic']}-{line['partition']}"
            for first, last in line["ranges"]:
                for batch in self._batches.of(line["topic"], line["partition"]).between(
                    first, last
                ):
                    if batch.transactional and batch.outcome is not True:
                        state = "aborted" if batch.outcome is False else "still open"
                        self.blame(
                            line,
                            f"{line['client']} was given {where} at {max(first, batch.first)}, whose transaction is {state}",
                        )
                        break

    def _marked(self, line: Line) -> None:
        producer, where = line["producer_id"], f"{line['topic']}-{line['partition']}"
        if line["committed"] != self._decided.get(producer, line["committed"]):
            what = "committed" if line["committed"] else "aborted"
            self.blame(
                line,
                f"{where}: the transaction of producer {producer} is marked {what}, which was not decided",
            )
        complete = self._complete.get(producer)
        if complete is not None and (
            line["cause"] is None or line["cause"] < complete["seq"]
        ):  # by hand it may be marked at any time
            self.blame(
                line,
                f"{where}: producer {producer} is marked again, whose transaction is complete by line {complete['seq']}",
            )


class PipelinesWriteOnce(JudgeOfRecords):
    """Exactly once: what a pipeline has committed to have read, it has written once for readers of
    committed records."""

    name = "exactly_once"
    promise = (
        "for each record below the offset that a pipeline's group has committed in a transaction, one record is written by a committed "
        "transaction, and not two (KIP-447); transactions whose end is decided and not yet written everywhere are left out, and records of "
        "topics that are deleted"
    )
    needs = frozenset({"group", "member", "data", "transaction"})
    looks_at = WRITTEN | {
        "RecordsSent",
        "RecordsPolled",
        "PositionReset",
        "TransactionPrepared",
        "TransactionCompleted",
        "OffsetsPending",
        "PendingOffsetsEnded",
    }

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._sources: dict[tuple[int, int, str, int, int], tuple[_Source, ...]] = {}
        self._written: dict[_Source, int] = {}
        self._begun: dict[tuple[str, str, int], int] = {}
        self._pipelines: set[str] = set()
        self._pending: dict[tuple[str, int], dict[tuple[str, int], int]] = {}
        self._committed: dict[tuple[str, str, int], tuple[int, Line]] = {}
        self._ending: set[int] = set()
        self._gone: set[_Source] = set()
        """What was written for in a topic that was deleted."""

    def look(self, line: Line) -> None:
        kind = line["type"]
        if kind == "RecordsSent" and line["sources"]:
            group = line["group"]
            self._pipelines.add(group)
            key = (
                line["producer_id"],
                line["producer_epoch"],
                line["topic"],
                line["partition"],
                line["sequence"],
            )
            self._sources[key] = tuple(
                (group, topic, partition, offset) for topic, partition, offset in line["sources"]
            )
        elif kind in ("PositionReset", "RecordsPolled"):
            first = line["offset"] if kind == "PositionReset" else line["ranges"][0][0]
            self._begun.setdefault((line["group"], line["topic"], line["partition"]), first)
        elif kind == "TransactionPrepared":
            self._ending.add(line["producer_id"])
        elif kind == "TransactionCompleted":
            self._ending.discard(
                line["previous_producer_id"]
                if line.get("previous_producer_id", -1) >= 0
                else line["producer_id"]
            )
            self._ending.discard(line["producer_id"])
        elif kind == "OffsetsPending":
            self._pending.setdefault((line["group"], line["producer_id"]), {}).update(
                {(row["topic"], row["partition"]): row["offset"] for row in line["offsets"]}
            )
        elif kind == "PendingOffsetsEnded":
            pending = self._pending.pop((line["group"], line["producer_id"]), {})
            for row in line["partitions"]:
                if (row["topic"], row["partition"]) in pending:
                    self._committed[line["group"], row["topic"], row["partition"]] = (
                        pending[row["topic"], row["partition"]],
                        line,
                    )
        elif line["stream"] in ("data", "cluster"):
            ended = self._batches.see(line)
            if kind == "MarkerWritten" and line["committed"]:
                for batch in ended:
                    self._count(line, batch)

    def deleted(self, topic: str) -> None:
        for key, sources in self._sources.items():
            if key[2] == topic:
                self._gone.update(sources)

    def too_late(self, line: Line) -> None:
        if line["type"] == "RecordsSent":  # it goes with what the same transaction writes elsewhere
            self._gone.update(
                (line["group"], topic, partition, offset)
                for topic, partition, offset in line["sources"] or ()
            )

    def _count(self, line: Line, batch: Batch) -> None:
        sent = batch.line
        key = (
            sent["producer_id"],
            sent["producer_epoch"],
            sent["topic"],
            sent["partition"],
            sent["sequence"],
        )
        for source in self._sources.get(key, ()):
            count = self._written[source] = self._written.get(source, 0) + 1
            if count == 2:
                group, topic, partition, offset = source
                self.blame(
                    line,
                    f"group {group} has written twice for {topic}-{partition} at {offset}, in committed transactions",
                )

    def finish(self) -> None:
        for (group, topic, partition), (committed, line) in self._committed.items():
            if group not in self._pipelines or line["producer_id"] in self._ending:
                continue
            begun = self._begun.get((group, topic, partition), committed)
            for batch in self._batches.of(topic, partition).between(begun, committed - 1):
                if batch.transactional and batch.outcome is not True:
                    continue
                offsets = range(max(batch.first, begun), min(batch.last, committed - 1) + 1)
                sources = ((offset, (group, topic, partition, offset)) for offset in offsets)
                missing = next(
                    (
                        offset
                        for offset, source in sources
                        if not self._written.get(source) and source not in self._gone
                    ),
                    None,
                )
                if missing is not None:
                    text = f"group {group} has committed {topic}-{partition} up to {committed}, but written nothing for {missing}"
                    self.blame(line, text)
                    break
