"""Records: none lost to the group, none read twice but what was not committed, and none lost that
was acknowledged."""

from __future__ import annotations

from .base import Judge, Line
from .batches import WRITTEN, Batches, JudgeOfRecords
from .intervals import Offsets

_Key = tuple[str, str, int]
_EXPIRATION_MS = 86_400_000  # producer.id.expiration.ms, unless set
_LOOKS_EVERY_MS = 600_000  # producer.id.expiration.check.interval.ms


def _keys(line: Line, rows: str) -> list[tuple[_Key, Line]]:
    return [((line["group"], row["topic"], row["partition"]), row) for row in line[rows]]


class NoRecordLostToTheGroup(JudgeOfRecords):
    """Records a group commits, its applications were given."""

    name = "no_record_lost"
    promise = (
        "a group's committed offset passes only records that one of its applications was given, aborted ones aside for readers of "
        "committed records, and those that auto.offset.reset passes; commits from outside the group, and of members that fetch nothing, "
        "may pass what they like"
    )
    needs = frozenset({"group", "member", "data"})
    looks_at = WRITTEN | {
        "RecordsServed",
        "MemberStarted",
        "RecordsPolled",
        "PositionReset",
        "OffsetsCommitted",
        "OffsetsPending",
        "PendingOffsetsEnded",
        "PartitionsAssigned",
    }

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._given: dict[_Key, Offsets] = {}
        self._checked: dict[_Key, int] = {}
        self._pending: dict[tuple[str, int], dict[tuple[str, int], int]] = {}
        self._committed_only: dict[str, bool] = {}
        self._groups: dict[str, str] = {}
        """By the client ids of their members."""
        self._clients: dict[tuple[str, str], str] = {}
        """By group and member id."""
        self._fetch: set[str] = set()
        """The clients that were served records."""

    def look(self, line: Line) -> None:
        kind = line["type"]
        if line["stream"] in ("data", "cluster"):
            self._batches.see(line)
            if kind == "RecordsServed":
                self._served(line, line["client"])
        elif kind == "MemberStarted":
            self._groups[line["client"]] = line["group"]
        elif kind == "PartitionsAssigned":
            self._clients[line["group"], line.get("member", "")] = line["client"]
        elif kind == "RecordsPolled":
            self._fetch.add(line["client"])
            key = (line["group"], line["topic"], line["partition"])
            self._committed_only[line["group"]] = line["isolation"] == "read_committed"
            given = self._given.setdefault(key, Offsets())
            self._checked.setdefault(key, line["ranges"][0][0])
            for first, last in line["ranges"]:
                given.add(first, last)
        elif kind == "PositionReset":
            key = (line["group"], line["topic"], line["partition"])
            since = self._checked.setdefault(key, line["offset"])
            if line["offset"] > since:
                self._given.setdefault(key, Offsets()).add(since, line["offset"] - 1)
        elif kind == "OffsetsCommitted":
            by_member = self._is_of_who_fetches(line["group"], line.get("member", ""))
            for key, row in _keys(line, "offsets"):
                self._commit(line, key, row["offset"], by_member=by_member)
        elif kind == "OffsetsPending":
            self._pending.setdefault((line["group"], line["producer_id"]), {}).update(
                {(row["topic"], row["partition"]): row["offset"] for row in line["offsets"]}
            )
        elif kind == "PendingOffsetsEnded":
            pending = self._pending.pop((line["group"], line["producer_id"]), {})
            for key, _ in _keys(line, "partitions"):
                if key[1:] in pending:
                    self._commit(line, key, pending[key[1:]], by_member=True)

    def _served(self, line: Line, client: str) -> None:
        self._fetch.add(client)
        if client in self._groups:  # all of it may be aborted: then nobody is given any
            self._committed_only.setdefault(
                self._groups[client], line["isolation"] == "read_committed"
            )

    def _is_of_who_fetches(self, group: str, member: str) -> bool:
        """Is this a member, and none that is known to have been given nothing from any
        partition?"""
        client = self._clients.get((group, member))
        return bool(member) and (client is None or client in self._fetch)

    def _commit(self, line: Line, key: _Key, offset: int, *, by_member: bool) -> None:
        since, given = self._checked.get(key), self._given.get(key)
        if by_member and since is not None:
            for batch in self._batches.of(key[1], key[2]).between(since, offset - 1):
                if (
                    self._committed_only.get(key[0])
                    and batch.transactional
                    and batch.outcome is not True
                ):
                    continue
                first, last = max(batch.first, since), min(batch.last, offset - 1)
                missing = first if given is None else given.missing(first, last)
                if missing is not None:
                    self.blame(
                        line,
                        f"group {key[0]} has committed {key[1]}-{key[2]} up to {offset}, but nobody in it was given {missing}",
                    )
                    break
        if since is not None:
            self._checked[key] = offset


class DuplicatesAreUncommitted(Judge):
    """A record is given twice only where it was not committed before."""

    name = "duplicates_are_uncommitted"
    promise = (
        "an application that is assigned a partition begins at the committed offset, as it was acknowledged when the partition was "
        "assigned, or later, and is given each record once, unless it goes back itself; auto.offset.reset acts only without a commit, "
        "when the partition was assigned, or where the offset is out of range"
    )
    needs = frozenset({"group", "member", "wire"})
    looks_at = frozenset(
        {
            "OffsetsCommitted",
            "RequestAnswered",
            "RequestRefused",
            "OffsetsPending",
            "PendingOffsetsEnded",
            "OffsetsRemoved",
            "GroupDeleted",
            "PartitionsAssigned",
            "PositionReset",
            "Rewound",
            "RecordsPolled",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._committed: dict[_Key, int] = {}
        self._unanswered: dict[int, dict[_Key, int]] = {}
        self._pending: dict[tuple[str, int], dict[tuple[str, int], int]] = {}
        self._next: dict[tuple[str, _Key], int] = {}
        self._to_be_found: set[tuple[str, _Key]] = set()
        """The offset committed when a client was assigned the partition: it is to be told, or
        something later."""

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind == "OffsetsCommitted":
            offsets = {key: row["offset"] for key, row in _keys(line, "offsets")}
            if line["cause"] is not None:
                self._unanswered[line["cause"]] = offsets
        elif kind in ("RequestAnswered", "RequestRefused"):
            written = self._unanswered.pop(line["cause"] or -1, {})
            if (
                kind == "RequestAnswered"
            ):  # refused: it was not replicated in time, and may count later
                self._committed.update(written)
        elif kind == "OffsetsPending":
            self._pending.setdefault((line["group"], line["producer_id"]), {}).update(
                {(row["topic"], row["partition"]): row["offset"] for row in line["offsets"]}
            )
        elif kind == "PendingOffsetsEnded":
            pending = self._pending.pop((line["group"], line["producer_id"]), {})
            self._committed.update(
                {
                    key: pending[key[1:]]
                    for key, _ in _keys(line, "partitions")
                    if key[1:] in pending
                }
            )
        elif kind == "OffsetsRemoved":
            for key, _ in _keys(line, "partitions"):
                self._committed.pop(key, None)
        elif kind == "GroupDeleted":
            self._committed = {
                key: offset for key, offset in self._committed.items() if key[0] != line["group"]
            }
        elif line["stream"] == "member" and "group" in line:
            self._member(line, kind)

    def _member(self, line: Line, kind: str) -> None:
        client = line["client"]
        if kind == "PartitionsAssigned":
            for key, _ in _keys(line, "partitions"):
                self._next[client, key] = self._committed.get(key, 0)
                self._to_be_found.discard((client, key))
                if key in self._committed:
                    self._to_be_found.add((client, key))
        elif kind in ("PositionReset", "Rewound"):
            key = (line["group"], line["topic"], line["partition"])
            told_none = kind == "PositionReset" and line["why"] == "no offset is committed"
            if told_none and key in self._committed and (client, key) in self._to_be_found:
                self.blame(
                    line,
                    f"{client} found no committed offset of {key[1]}-{key[2]}, which is {self._committed[key]}",
                )
            self._next[client, key] = line["offset"]
        elif kind == "RecordsPolled":
            key = (line["group"], line["topic"], line["partition"])
            for first, last in line["ranges"]:
                least = self._next.get((client, key), 0)
                if first < least:
                    self.blame(
                        line,
                        f"{client} was given {key[1]}-{key[2]} from {first} on, although it should be at {least} or later",
                    )
                self._next[client, key] = last + 1


class AcknowledgedRecordsStay(JudgeOfRecords):
    """Records a producer was told are written, or a consumer was given, stay written."""

    name = "acknowledged_records_stay"
    promise = (
        "a batch that was acknowledged with acks=all, or given to a consumer, keeps its offsets; an unclean leader may begin once behind "
        "what was acknowledged, and what it has of that stays; or min.insync.replicas let the last replica alone and that one was lost"
    )
    needs = frozenset({"member", "data"})
    looks_at = WRITTEN | {"RecordsDelivered", "RecordsPolled"}

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._acknowledged: dict[tuple[str, int], Offsets] = {}
        self._unclean: set[tuple[str, int]] = set()
        """Partitions whose leader was elected uncleanly and has not appended since: its first batch
        tells what it has lost."""

    def look(self, line: Line) -> None:
        kind = line["type"]
        if (
            kind == "RecordsDelivered"
            and line["failed"] is None
            and line["acks"] in ("all", "-1")
            and line["offset"] >= 0
        ):
            offsets = self._acknowledged.setdefault((line["topic"], line["partition"]), Offsets())
            offsets.add(line["offset"], line["offset"] + line["count"] - 1)
        elif kind == "RecordsPolled":
            offsets = self._acknowledged.setdefault((line["topic"], line["partition"]), Offsets())
            for first, last in line["ranges"]:
                offsets.add(first, last)
        elif line["stream"] in ("data", "cluster"):
            if (
                kind == "LeaderElected"
                and "partition" in line
                and "nclean" in str(line.get("reason", ""))
            ):
                self._unclean.add((line["topic"], line["partition"]))
            written = kind in ("RecordsAppended", "MarkerWritten") and not self._batches.in_vain(
                line
            )
            self._batches.see(line)
            if written:
                self._written(line)

    def _written(self, line: Line) -> None:
        key = line["topic"], line["partition"]
        acknowledged = self._acknowledged.get(key)
        if acknowledged is None:
            return
        if key in self._unclean:
            self._unclean.discard(key)
            acknowledged.cut(line["offset"])
            return
        lost = acknowledged.overlaps(line["offset"], 1 << 62)
        if lost is not None:
            self.blame(
                line,
                f"{line['topic']}-{line['partition']}: offset {lost} was acknowledged or given away, and is written anew",
            )
            acknowledged.cut(line["offset"])


class IdempotentWritesOnce(JudgeOfRecords):
    """A batch of an idempotent producer is in a partition's log once."""

    name = "idempotent_writes_once"
    promise = (
        "a producer's batch, known by producer id, epoch and sequence number, is appended to a partition once, however often it is sent; "
        "again only after a truncation took it away (KIP-98), or after its broker, whose wall clock is ahead of the producer's by "
        "producer.id.expiration.ms (a day), has looked for producers that expired, which it does every ten minutes"
    )
    needs = frozenset({"data"})
    looks_at = WRITTEN | {"JumpClock", "JumpMemberClock"}

    def __init__(self) -> None:
        super().__init__()
        self._batches = Batches()
        self._ends: dict[tuple[str, int], dict[tuple[int, int, int], int]] = {}
        self._began_at: dict[tuple[str, int], int] = {}
        self._clocks: dict[int | str, int] = {}
        """How far the wall clocks of brokers and clients have jumped ahead."""

    def _may_be_forgotten(self, line: Line) -> bool:
        ahead = self._clocks.get(line.get("broker", 1), 0) - self._clocks.get(line["client"], 0)
        return (
            ahead >= _EXPIRATION_MS
            and line["at_ms"] >= self._began_at[line["topic"], line["partition"]] + _LOOKS_EVERY_MS
        )

    def look(self, line: Line) -> None:
        if line["type"] in ("JumpClock", "JumpMemberClock"):
            host = line["broker"] if line["type"] == "JumpClock" else line["client"]
            self._clocks[host] = self._clocks.get(host, 0) + line["by_ms"]
        if line["stream"] not in ("data", "cluster"):
            return
        appended = line["type"] == "RecordsAppended" and not self._batches.in_vain(line)
        self._batches.see(line)
        for lost in self._batches.replaced:
            self._ends.get((line["topic"], line["partition"]), {}).pop(
                _of_producer(lost.line), None
            )
        if not appended or line["producer_id"] < 0:
            return
        key = _of_producer(line)
        known = self._ends.setdefault((line["topic"], line["partition"]), {})
        before = known.get(key)
        self._began_at.setdefault((line["topic"], line["partition"]), line["at_ms"])
        if before is not None and before < line["offset"] and not self._may_be_forgotten(line):
            where = f"{line['topic']}-{line['partition']}"
            self.blame(
                line,
                f"{where}: the batch of producer {key[0]} with sequence {key[2]} is at {before} and at {line['offset']}",
            )
        known[key] = line["last_offset"]


def _of_producer(line: Line) -> tuple[int, int, int]:
    return line["producer_id"], line["producer_epoch"], line["sequence"]
