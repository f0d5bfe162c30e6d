"""Share groups: what a record was given to whom for, and that what is done with stays so.

Owns what the lines of stream `share` say of each record, told from them alone: who holds it, how
often it was delivered, whether it is done with, and where the share partition starts. What is in
flight is lost with a leader; then it counts what the next one opened with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .base import NEVER, Judge, Line
from .dead_letters import DeadLettersComplete
from .intervals import Offsets
from .of_shares import (
    DELIVERS,
    ENDS,
    KEPT,
    OPEN_OR_NOT,
    STORES,
    JudgeOfShares,
    Key,
    LostStates,
    Spans,
    key_of,
    put_highest,
    told,
)
from .share_locks import LocksLast
from .share_members import AcknowledgementsAreStored, SessionEpochsCount

_BROKERS: Final = "group.share.delivery.count.limit"
_GROUPS: Final = "share.delivery.count.limit"
_LIMIT: Final = 5


class DoneStaysDone(JudgeOfShares):
    """Records accepted, or given up, are delivered to nobody any more."""

    name = "done_stays_done"
    promise = (
        "a record that a member of a share group accepted or rejected, or that was given up, is delivered to nobody any more, unless "
        "the group's offsets are altered or deleted, or the only broker that had the state was not the one that was elected"
    )
    of_streams = frozenset({"share", "coordinator"})
    SEES = STORES | ENDS | {DELIVERS, "SharePartitionOpened"}

    def __init__(self) -> None:
        super().__init__()
        self._done: dict[Key, Offsets] = {}
        self._topics: dict[Key, str] = {}
        self._lost = LostStates()

    def look(self, line: Line) -> None:
        kind = line["type"]
        if kind in STORES:
            for lost in self._lost.see(line):
                self._done.pop(lost, None)
        if kind in ("LogTruncated", "ShareStateUpdated"):
            return
        key = key_of(line)
        if kind in KEPT or kind == "SharePartitionOpened":
            if self._topics.setdefault(key, line["topic_id"]) != line["topic_id"]:
                self._done.pop(key, None)  # another topic of this name
                self._topics[key] = line["topic_id"]
        if kind == "ShareStateDeleted":
            self._done.pop(key, None)
        elif kind == "ShareStateSnapshotted":
            done = self._done.get(key)
            if done is not None and not line["batches"] and line["complete_count"] <= 0:
                done.cut(max(line["start_offset"], 0))  # as the state stands when it begins anew
        elif kind == DELIVERS:
            done = self._done.setdefault(key, Offsets())
            for of in line["records"]:
                again = done.overlaps(of["first_offset"], of["last_offset"])
                if again is not None:
                    self.blame(
                        line,
                        f"offset {again} of {told(line)} was done with, and is delivered again, to {line['member']}",
                    )
        else:
            for of in line["records"]:
                if of["state"] in ("Acknowledged", "Archiving", "Archived"):
                    self._done.setdefault(key, Offsets()).add(of["first_offset"], of["last_offset"])


class OneHolder(JudgeOfShares):
    """No record is in two members' hands, and nobody speaks for another."""

    name = "one_holder"
    promise = (
        "a record is given to one member of a share group at a time: to nobody until its holder has acknowledged it, its lock has ended or "
        "the session of its holder has; and only its holder acknowledges it"
    )
    SEES = OPEN_OR_NOT | ENDS | {DELIVERS}

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[Key, Spans[str]] = {}

    def look(self, line: Line) -> None:
        key, kind = key_of(line), line["type"]
        if kind in OPEN_OR_NOT:
            self._held.pop(key, None)
            return
        held = self._held.setdefault(key, Spans())
        member = line.get("member", "")
        for of in line["records"]:
            first, last = of["first_offset"], of["last_offset"]
            if kind == DELIVERS:
                for at, _, holder in held.within(first, last):
                    self.blame(
                        line,
                        f"offset {at} of {told(line)} is given to {member}, while {holder} holds it",
                    )
                    break
                held.put(first, last, member)
                continue
            if kind == "RecordsAcknowledged":
                self._is_its_own(line, held, first, last)
            if of["state"] != "Acquired":
                held.put(first, last, None)

    def _is_its_own(self, line: Line, held: Spans[str], first: int, last: int) -> None:
        expected = first
        for at, end, holder in held.within(first, last):
            if at > expected:
                break
            if holder != line["member"]:
                text = f"{line['member']} acknowledges offset {at} of {told(line)}, which {holder} holds"
                self.blame(line, text)
                return
            expected = end + 1
        if expected <= last:
            self.blame(
                line,
                f"{line['member']} acknowledges offset {expected} of {told(line)}, which nobody holds",
            )


class DeliveriesAreCounted(JudgeOfShares):
    """Each delivery counts one more, up to the limit. `limit`: what brokers are set to, if the log's
    first line does not say it."""

    name = "deliveries_are_counted"
    promise = (
        "each delivery of a record to a share group counts one more than the one before, those of a leader that is gone aside, and none is "
        "above the largest limit that the group has had"
    )
    of_streams = frozenset({"share", "cluster", "run", "coordinator"})
    SEES = OPEN_OR_NOT | STORES | {DELIVERS, "ConfigChanged", "RunStarted"}

    def __init__(self, limit: int = _LIMIT) -> None:
        super().__init__()
        self._counts: dict[Key, Spans[int]] = {}
        self._stored: dict[Key, Spans[int]] = {}
        """What outlives a leader: how often records had been delivered, as share coordinators have
        stored it. What a leader could not have stored is forgotten with it."""
        self._lost = LostStates()
        self._of_brokers = limit
        self._of_groups: dict[str, int] = {}

    def look(self, line: Line) -> None:
        kind = line["type"]
        if kind in STORES:
            for lost in self._lost.see(line):
                self._stored.pop(lost, None)
        if kind == "LogTruncated":
            return
        if line["stream"] == "share":
            self._of_records(line, kind)
        elif kind == "RunStarted":
            self._limit((line.get("config") or {}).get(_BROKERS), None)
        elif kind == "ConfigChanged":
            changes = {name: value for name, _, value in line["changes"]}
            if line["resource"] == "group":
                self._limit(changes.get(_GROUPS), line["name"])
            else:
                self._limit(changes.get(_BROKERS), None)

    def _limit(self, value: object, group: str | None) -> None:
        limit = str(value)
        if not limit.isdecimal():
            return
        if group is None:
            self._of_brokers = max(self._of_brokers, int(limit))
        else:
            self._of_groups[group] = max(self._of_groups.get(group, self._of_brokers), int(limit))

    def _of_records(self, line: Line, kind: str) -> None:
        key = key_of(line)
        counts = self._counts.setdefault(key, Spans())
        stored = self._stored.setdefault(key, Spans())
        if kind == "ShareStateDeleted":
            self._counts.pop(key)
            self._stored.pop(key)
        elif kind == "ShareStateSnapshotted":
            if not line["batches"] and line["complete_count"] <= 0:  # it may begin anew
                stored.put(max(line["start_offset"], 0), NEVER, None)
        elif kind == "SharePartitionOpened":
            counts = self._counts[key] = Spans()
            for of in line["records"]:
                counts.put(of["first_offset"], of["last_offset"], of["delivery_count"])
            for first, last, count in stored.within(0, NEVER):
                counts.put(first, last, count)
        elif kind == DELIVERS:
            self._delivered(line, counts)
        elif kind == "ShareStateUpdated":
            for of in line["batches"]:
                put_highest(stored, of["first_offset"], of["last_offset"], of["delivery_count"])

    def _delivered(self, line: Line, counts: Spans[int]) -> None:
        limit = max(self._of_groups.get(line["group"], 0), self._of_brokers)
        for of in line["records"]:
            first, last, count = of["first_offset"], of["last_offset"], of["delivery_count"]
            if count > limit:
                self.blame(
                    line,
                    f"offset {first} of {told(line)} is delivered {count} times, the limit is {limit}",
                )
            self._one_more(line, counts, first, last, count)
            counts.put(first, last, count)

    def _one_more(self, line: Line, counts: Spans[int], first: int, last: int, count: int) -> None:
        for at, before in _before(counts, first, last):
            if count != before + 1:
                text = f"offset {at} of {told(line)} was delivered {before} times, and then is at {count}"
                self.blame(line, text)
                return


def _before(counts: Spans[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Ranges' first offsets, and how often each was delivered; those of which nothing is known
    never were."""
    unknown = first
    for at, end, count in counts.within(first, last):
        if at > unknown:
            yield unknown, 0
        yield at, count
        unknown = end + 1
    if unknown <= last:
        yield unknown, 0


class NothingBeforeStart(JudgeOfShares):
    """The start of a share partition only moves on, and nothing before it is delivered."""

    name = "nothing_before_start"
    promise = (
        "no record before the start offset of a share partition is delivered, and the start offset does not go back, unless the group's "
        "offsets are altered or deleted"
    )
    SEES = OPEN_OR_NOT | ENDS | {DELIVERS}

    def __init__(self) -> None:
        super().__init__()
        self._starts: dict[Key, int] = {}

    def look(self, line: Line) -> None:
        key, kind = key_of(line), line["type"]
        if kind == "SharePartitionClosed":
            self._starts.pop(key, None)
            return
        start = line["start_offset"]
        before = self._starts.get(key, start)
        if kind != "SharePartitionOpened":
            if start < before:
                self.blame(line, f"{told(line)} started at {before}, and goes back to {start}")
            for of in line["records"] if kind == DELIVERS else ():
                if of["first_offset"] < before:
                    self.blame(
                        line,
                        f"offset {of['first_offset']} of {told(line)}, which starts at {before}, is delivered to {line['member']}",
                    )
        self._starts[key] = start


OF_SHARE_GROUPS: tuple[type[Judge], ...] = (
    DoneStaysDone,
    OneHolder,
    DeliveriesAreCounted,
    NothingBeforeStart,
    LocksLast,
    DeadLettersComplete,
    AcknowledgementsAreStored,
    SessionEpochsCount,
)
"""Every judge of share groups. Of logs without them they say nothing."""
