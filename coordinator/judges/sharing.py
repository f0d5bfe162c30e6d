"""Share groups: what a record was given to whom for, and that what is done with stays so.

Owns what the lines of stream `share` say of each record, told from them alone: who holds it, how
often it was delivered, whether it is done with, and where the share partition starts. What is in
flight is lost with a leader; then it counts what the next one opened with.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from .base import NEVER, Judge, Line
from .dead_letters import DeadLettersComplete
from .intervals import Offsets

_Key = tuple[str, str, int]
V = TypeVar("V")
_BROKERS: Final = "group.share.delivery.count.limit"
_GROUPS: Final = "share.delivery.count.limit"
_LIMIT: Final = 5
_OPEN_OR_NOT: Final = frozenset({"SharePartitionOpened", "SharePartitionClosed"})
_DELIVERS: Final = "RecordsAcquired"
_ENDS: Final = frozenset({"RecordsAcknowledged", "RecordsReleased", "RecordsArchived"})
_KEPT: Final = frozenset({"ShareStateSnapshotted", "ShareStateDeleted"})


class Spans(Generic[V]):
    """What is known of ranges of offsets; ranges do not overlap."""

    __slots__ = ("_found", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._found: list[tuple[int, V]] = []  # last offset, value

    def within(self, first: int, last: int) -> Iterator[tuple[int, int, V]]:
        """The ranges that reach into this one, cut to it, in order."""
        at = max(bisect_right(self._starts, first) - 1, 0)
        while at < len(self._starts) and self._starts[at] <= last:
            end, value = self._found[at]
            if end >= first:
                yield max(first, self._starts[at]), min(last, end), value
            at += 1

    def put(self, first: int, last: int, value: V | None) -> None:
        """This is known of a range from now on; None: nothing is."""
        low = bisect_right(self._starts, first) - 1
        if low < 0 or self._found[low][0] < first:
            low += 1
        high = bisect_right(self._starts, last)
        starts: list[int] = []
        found: list[tuple[int, V]] = []
        if low < high and self._starts[low] < first:
            starts.append(self._starts[low])
            found.append((first - 1, self._found[low][1]))
        if value is not None:
            starts.append(first)
            found.append((last, value))
        if low < high and self._found[high - 1][0] > last:
            starts.append(last + 1)
            found.append(self._found[high - 1])
        self._starts[low:high], self._found[low:high] = starts, found


def _key(line: Line) -> _Key:
    return line["group"], line["topic"], line["partition"]


def _told(line: Line) -> str:
    return f"{line['topic']}-{line['partition']} of share group {line['group']}"


class _JudgeOfShares(Judge):
    needs = frozenset({"share"})
    of_streams = frozenset({"share"})
    unasked = True
    _SEES: frozenset[str]

    def __init_subclass__(cls) -> None:
        cls.looks_at = cls._SEES

    def see(self, line: Line) -> None:
        if line["type"] in self._SEES:
            self.look(line)

    def look(self, line: Line) -> None:
        """Look at a line of a type that it looks at."""
        raise NotImplementedError


class DoneStaysDone(_JudgeOfShares):
    """What is accepted, or given up, is delivered to nobody any more."""

    name = "done_stays_done"
    promise = (
        "a record that a member of a share group accepted or rejected, or that was given up, is delivered to nobody any more, unless "
        "the group's offsets are altered or deleted"
    )
    _SEES = _KEPT | _ENDS | {_DELIVERS, "SharePartitionOpened"}

    def __init__(self) -> None:
        super().__init__()
        self._done: dict[_Key, Offsets] = {}
        self._topics: dict[_Key, str] = {}

    def look(self, line: Line) -> None:
        key, kind = _key(line), line["type"]
        if kind in _KEPT or kind == "SharePartitionOpened":
            if self._topics.setdefault(key, line["topic_id"]) != line["topic_id"]:
                self._done.pop(key, None)  # another topic of this name
                self._topics[key] = line["topic_id"]
        if kind == "ShareStateDeleted":
            self._done.pop(key, None)
        elif kind == "ShareStateSnapshotted":
            done = self._done.get(key)
            if done is not None and not line["batches"] and line["complete_count"] <= 0:
                done.cut(max(line["start_offset"], 0))  # as the state stands when it begins anew
        elif kind == _DELIVERS:
            done = self._done.setdefault(key, Offsets())
            for of in line["records"]:
                again = done.overlaps(of["first_offset"], of["last_offset"])
                if again is not None:
                    self.blame(
                        line,
                        f"offset {again} of {_told(line)} was done with, and is delivered again, to {line['member']}",
                    )
        else:
            for of in line["records"]:
                if of["state"] in ("Acknowledged", "Archiving", "Archived"):
                    self._done.setdefault(key, Offsets()).add(of["first_offset"], of["last_offset"])


class OneHolder(_JudgeOfShares):
    """No record is in two members' hands, and nobody speaks for another."""

    name = "one_holder"
    promise = (
        "a record is given to one member of a share group at a time: to nobody until its holder has acknowledged it, its lock has ended or "
        "the session of its holder has; and only its holder acknowledges it"
    )
    _SEES = _OPEN_OR_NOT | _ENDS | {_DELIVERS}

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[_Key, Spans[str]] = {}

    def look(self, line: Line) -> None:
        key, kind = _key(line), line["type"]
        if kind in _OPEN_OR_NOT:
            self._held.pop(key, None)
            return
        held = self._held.setdefault(key, Spans())
        member = line.get("member", "")
        for of in line["records"]:
            first, last = of["first_offset"], of["last_offset"]
            if kind == _DELIVERS:
                for at, _, holder in held.within(first, last):
                    self.blame(
                        line,
                        f"offset {at} of {_told(line)} is given to {member}, while {holder} holds it",
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
                text = f"{line['member']} acknowledges offset {at} of {_told(line)}, which {holder} holds"
                self.blame(line, text)
                return
            expected = end + 1
        if expected <= last:
            self.blame(
                line,
                f"{line['member']} acknowledges offset {expected} of {_told(line)}, which nobody holds",
            )


class DeliveriesAreCounted(_JudgeOfShares):
    """Each delivery counts one more, up to the limit."""

    name = "deliveries_are_counted"
    promise = (
        "each delivery of a record to a share group counts one more than the one before, those of a leader that is gone aside, and none is "
        "above the largest limit that the group has had"
    )
    of_streams = frozenset({"share", "cluster", "run"})
    _SEES = _OPEN_OR_NOT | _KEPT | _ENDS | {_DELIVERS, "ConfigChanged", "RunStarted"}

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[_Key, Spans[int]] = {}
        self._stored: dict[_Key, Spans[int]] = {}
        """What outlives a leader: how often what was given back had been delivered."""
        self._of_brokers = _LIMIT
        self._of_groups: dict[str, int] = {}

    def look(self, line: Line) -> None:
        kind = line["type"]
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
        told = str(value)
        if not told.isdecimal():
            return
        if group is None:
            self._of_brokers = max(self._of_brokers, int(told))
        else:
            self._of_groups[group] = max(self._of_groups.get(group, self._of_brokers), int(told))

    def _of_records(self, line: Line, kind: str) -> None:
        key = _key(line)
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
        elif kind == _DELIVERS:
            self._delivered(line, counts)
        elif kind in _ENDS:
            for of in line["records"]:
                if of["state"] != "Acquired":
                    stored.put(of["first_offset"], of["last_offset"], of["delivery_count"])

    def _delivered(self, line: Line, counts: Spans[int]) -> None:
        limit = max(self._of_groups.get(line["group"], 0), self._of_brokers)
        for of in line["records"]:
            first, last, count = of["first_offset"], of["last_offset"], of["delivery_count"]
            if count > limit:
                self.blame(
                    line,
                    f"offset {first} of {_told(line)} is delivered {count} times, the limit is {limit}",
                )
            self._one_more(line, counts, first, last, count)
            counts.put(first, last, count)

    def _one_more(self, line: Line, counts: Spans[int], first: int, last: int, count: int) -> None:
        for at, before in _before(counts, first, last):
            if count != before + 1:
                text = f"offset {at} of {_told(line)} was delivered {before} times, and then is at {count}"
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


class NothingBeforeStart(_JudgeOfShares):
    """The start of a share partition only moves on, and nothing before it is delivered."""

    name = "nothing_before_start"
    promise = (
        "no record before the start offset of a share partition is delivered, and the start offset does not go back, unless the group's "
        "offsets are altered or deleted"
    )
    _SEES = _OPEN_OR_NOT | _ENDS | {_DELIVERS}

    def __init__(self) -> None:
        super().__init__()
        self._starts: dict[_Key, int] = {}

    def look(self, line: Line) -> None:
        key, kind = _key(line), line["type"]
        if kind == "SharePartitionClosed":
            self._starts.pop(key, None)
            return
        start = line["start_offset"]
        before = self._starts.get(key, start)
        if kind != "SharePartitionOpened":
            if start < before:
                self.blame(line, f"{_told(line)} started at {before}, and goes back to {start}")
            for of in line["records"] if kind == _DELIVERS else ():
                if of["first_offset"] < before:
                    self.blame(
                        line,
                        f"offset {of['first_offset']} of {_told(line)}, which starts at {before}, is delivered to {line['member']}",
                    )
        self._starts[key] = start


class LocksLast(_JudgeOfShares):
    """A lock ends when its time is over: not before, and not much later."""

    name = "locks_last"
    promise = (
        "who is given records by a share group holds them until the instant that it was told, and not longer than that by more than a "
        "second, unless it acknowledges them, its session ends, or a test ends the lock"
    )
    _SEES = _OPEN_OR_NOT | _ENDS | {_DELIVERS}

    def __init__(self) -> None:
        super().__init__()
        self._until: dict[_Key, Spans[int]] = {}

    def look(self, line: Line) -> None:
        key, kind = _key(line), line["type"]
        if kind in _OPEN_OR_NOT:
            self._until.pop(key, None)
            return
        until = self._until.setdefault(key, Spans())
        now, deadline_ms = line["at_ms"], line.get("deadline_ms")
        for of in line["records"]:
            first, last = of["first_offset"], of["last_offset"]
            for at, _, end in until.within(first, last):
                if kind == "RecordsReleased" and line["reason"] == _LOCK_ENDED and now < end:
                    self.blame(
                        line,
                        f"the lock of {line['member']} on offset {at} of {_told(line)} ended {end - now} ms early",
                    )
                elif kind != "RecordsArchived" and now > end + _LATE_MS:
                    text = f"the lock on offset {at} of {_told(line)} was to end {now - end} ms ago"
                    self.blame(line, text)
                else:
                    continue
                break
            keeps = kind == _DELIVERS or of["state"] == "Acquired"
            until.put(first, last, deadline_ms if keeps else None)


_LOCK_ENDED: Final = "the lock ended"
_LATE_MS: Final = 1_000
"""So late may a driver be that has much to do."""

OF_SHARE_GROUPS: tuple[type[Judge], ...] = (
    DoneStaysDone,
    OneHolder,
    DeliveriesAreCounted,
    NothingBeforeStart,
    LocksLast,
    DeadLettersComplete,
)
"""Every judge of share groups. Of logs without them they say nothing."""
