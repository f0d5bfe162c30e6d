"""Locks of share groups: each ends at its time, and at no other without a reason.

Owns until when each record is held, at the leader that gave it away. While something is done to
brokers no lock is too late; nothing excuses one that ends too soon. A lock lasts as long as an
acknowledgement of its record waits to be stored, so neither is one too late while a follower is slow
or a coordinator takes long to load, nor until a write that failed has been tried again.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from .base import NEVER, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers
from .grace import REAL_TIME
from .of_shares import (
    DELIVERS,
    ENDS,
    OPEN_OR_NOT,
    JudgeOfShares,
    Key,
    SettingOfGroups,
    Spans,
    key_of,
    told,
)

_LOCK_ENDED: Final = "the lock ended"
_GROUPS: Final = "share.record.lock.duration.ms"
_RENEWED: Final = "RecordsAcknowledged"
_WAITED: Final = "AcknowledgementWaited"
_TRIED_AGAIN_MS: Final = 8_000
"""Within this time a write that has failed is tried again (SH-LD-4)."""
_SLOWS: Final = {"SlowFollower": ("delay_ms", "bytes_per_second"), "SlowLoad": ("load_ms",)}
"""Verbs that let acknowledgements wait, and by which fields; without all of them it is over."""


class LocksLast(JudgeOfShares):
    """A lock ends when its time is over: not before, and not later. One that is renewed lasts for as
    long again, from then on (SH-ACK-2).

    `late_ms`: as of Grace. `duration_ms`: what brokers are set to; None: that is not known.
    """

    name = "locks_last"
    promise = (
        "who is given records by a share group holds them for the group's lock duration, neither longer nor shorter, unless it "
        "acknowledges them, its session ends, or a test ends the lock; not longer while nothing is done to brokers"
    )
    of_streams = frozenset({"share", "cluster", "fault"})
    timed = True
    SEES = OPEN_OR_NOT | ENDS | DONE_TO_BROKERS | {DELIVERS, _WAITED, "ConfigChanged", "RunEnded"}

    def __init__(self, duration_ms: int | None = None, late_ms: int = REAL_TIME.late_ms) -> None:
        super().__init__()
        self._late_ms = late_ms
        self._durations = SettingOfGroups(_GROUPS, duration_ms)
        self._until: dict[Key, Spans[int]] = {}
        self._held: dict[Key, Line] = {}
        """What gave records of each away last."""
        self._waited: dict[Key, int] = {}
        """When an acknowledgement of its records had been tried again last."""
        self._ends: list[tuple[int, Key]] = []
        self._brokers = DoneToBrokers()
        self._slow: set[tuple[str, int]] = set()
        """Verbs and brokers that are slow by them."""

    def look(self, line: Line) -> None:
        kind = line["type"]
        if line["stream"] == "fault":
            self._brokers.see(kind, line["at_ms"])
            if kind in _SLOWS:
                put = self._slow.add if any(map(line.get, _SLOWS[kind])) else self._slow.discard
                put((kind, line["broker"]))
        elif kind == "ConfigChanged":
            self._durations.see(line)
        elif kind in OPEN_OR_NOT:
            self._until.pop(key_of(line), None)
        elif kind == _WAITED:
            self._waited[key_of(line)] = line["at_ms"]
        else:
            self._of_records(line, kind, key_of(line))

    def _of_records(self, line: Line, kind: str, key: Key) -> None:
        until = self._until.setdefault(key, Spans())
        now, deadline_ms = line["at_ms"], line.get("deadline_ms")
        if deadline_ms is not None:
            self._lasts(line, deadline_ms - now)
        for of in line["records"]:
            first, last = of["first_offset"], of["last_offset"]
            self._ended(line, kind, until, first, last)
            keeps = kind == DELIVERS or (kind == _RENEWED and of["state"] == "Acquired")
            until.put(first, last, deadline_ms if keeps else None)
            if keeps and deadline_ms is None:
                text = f"{line['member']} holds offset {first} of {told(line)}, and its lock is to end at no time"
                self.blame(line, text)
        if deadline_ms is not None:
            self._held[key] = line
            heappush(self._ends, (deadline_ms, key))
            self._look_later()

    def _lasts(self, line: Line, duration_ms: int) -> None:
        right = self._durations.now(line["group"])
        if right is not None and duration_ms != right:
            self.blame(
                line,
                f"the lock of {line['member']} on {told(line)} is to last {duration_ms} ms, set are {right} ms",
            )

    def _ended(self, line: Line, kind: str, until: Spans[int], first: int, last: int) -> None:
        now = line["at_ms"]
        for at, _, end in until.within(first, last):
            if kind == "RecordsReleased" and line["reason"] == _LOCK_ENDED and now < end:
                text = f"the lock of {line['member']} on offset {at} of {told(line)} ended {end - now} ms early"
            elif (
                kind != "RecordsArchived"
                and now > self._excused(end) + self._late_ms
                and self._waited.get(key_of(line)) != now
            ):
                text = f"the lock on offset {at} of {told(line)} was to end {now - end} ms ago"
            else:
                continue
            self.blame(line, text)
            return

    def _excused(self, end: int, tried_again_ms: int = 0) -> int:
        """Until when a lock may last that was to end at an instant."""
        lasts = self._brokers.lasts or bool(self._slow)
        return NEVER if lasts else max(end, self._brokers.last_ms + tried_again_ms)

    def passed(self, now_ms: int) -> None:
        while self._ends and self._ends[0][0] + self._late_ms < now_ms:
            end, key = self._ends[0]
            still = self._until.get(key)
            held = [
                at
                for at, _, until in (still.within(0, NEVER) if still is not None else ())
                if until <= end
            ]
            if held and self._excused(end, _TRIED_AGAIN_MS) + self._late_ms >= now_ms:
                self.due_ms = now_ms + 1
                return
            heappop(self._ends)
            if held and still is not None:
                line = self._held[key]
                text = f"the lock on offset {held[0]} of {told(line)} was to end at {end} ms, and goes on at {now_ms} ms"
                self.blame(line, text)
                for at, last, until in list(still.within(0, NEVER)):
                    if until <= end:
                        still.put(at, last, None)
        self._look_later()

    def _look_later(self) -> None:
        self.due_ms = self._ends[0][0] + self._late_ms + 1 if self._ends else NEVER
