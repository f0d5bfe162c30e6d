"""Judges what members of share groups get: acknowledgements that were answered are stored, and
released records come again.

Compares members' own lines with those of the partitions' leaders. It must not depend on which
member holds a record.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from coordinator.events.cluster import TopicDeleted
from coordinator.events.faults import FaultInjected, RequestFaultBegan, RequestFaultEnded
from coordinator.events.handlers import on
from coordinator.events.members import (
    AcknowledgementsEnded,
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    RequestRepeated,
    SharedRecordsPolled,
)
from coordinator.events.share_partitions import (
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionOpened,
)
from coordinator.events.share_states import ShareStateUpdated
from coordinator.verbs.row import Hurts

from .base import NEVER, Judge, Line
from .disturbances import client_of, ends_of
from .intervals import Offsets
from .of_shares import JudgeOfShares, Key, Moving, Spans, key_of, put_highest, told
from .quiet import DONE_TO_MEMBERS, FAULTS

_STORED_AS: Final = {
    "gap": frozenset({4}),
    "accept": frozenset({2}),
    "release": frozenset({0, 3, 4}),
    "reject": frozenset({3, 4}),
}
"""The stored states that follow from acknowledgements, by number."""


class AcknowledgementsAreStored(JudgeOfShares):
    """Judges that an acknowledgement which a member was told is done is stored at the leader or,
    if another broker became leader meanwhile, at the share coordinator, from which the new
    leader reads it."""

    name = "acknowledgements_are_stored"
    promise = (
        "an acknowledgement that was answered without an error is in the log of the partition's leader, exactly as sent, or in "
        "that of the share coordinator, or its record had been acknowledged or archived before"
    )
    needs = frozenset({"share", "member"})

    def __init__(self) -> None:
        super().__init__()
        self._stored: dict[Key, Spans[tuple[int, int]]] = {}
        """Stored states of records: delivery count and state."""
        self._said: dict[tuple[Key, str], Spans[str]] = {}
        """Each member's acknowledgements that the leader has accepted and not answered yet."""
        self._starts: dict[Key, int] = {}

    @on(AcknowledgementsEnded)
    def _told(self, line: Line, event: AcknowledgementsEnded) -> None:
        key = key_of(line)
        said = self._said.setdefault((key, line.member or ""), Spans())
        if event.failed is None:
            self._answered(line, event, said, self._starts.get(key, 0))
        for of in event.records:
            said.put(of.first_offset, of.last_offset, None)

    @on(ShareStateUpdated)
    def _updated(self, line: Line, event: ShareStateUpdated) -> None:
        stored = self._stored.setdefault(key_of(line), Spans())
        for of in event.batches:
            value = of.delivery_count, of.delivery_state
            put_highest(stored, of.first_offset, of.last_offset, value)

    @on(RecordsAcquired, RecordsReleased, RecordsArchived, SharePartitionOpened)
    def _moved_on(
        self,
        line: Line,
        event: RecordsAcquired | RecordsReleased | RecordsArchived | SharePartitionOpened,
    ) -> None:
        self._starts_at(key_of(line), event.start_offset)

    def _starts_at(self, key: Key, offset: int) -> None:
        self._starts[key] = max(self._starts.get(key, 0), offset)

    @on(RecordsAcknowledged)
    def _acknowledged(self, line: Line, event: RecordsAcknowledged) -> None:
        self._starts_at(key_of(line), event.start_offset)
        said = self._said.setdefault((key_of(line), event.member_id), Spans())
        for of in event.records:
            said.put(of.first_offset, of.last_offset, of.acknowledgement)

    def _answered(
        self, line: Line, event: AcknowledgementsEnded, said: Spans[str], start: int
    ) -> None:
        for of in event.records:
            word = of.acknowledgement
            expected, taken = max(of.first_offset, start), word
            for first, last, taken in said.within(expected, of.last_offset):
                if first > expected or taken != word:
                    break
                expected = last + 1
            stored = self._stored.get(key_of(line), Spans[tuple[int, int]]())
            for first, last, (_, state) in stored.within(expected, of.last_offset):
                if first > expected or state not in _STORED_AS.get(word, ()):
                    break
                expected = last + 1
            if expected <= of.last_offset:
                took = "did not store it" if taken == word else f"stored {taken}"
                text = f"{event.client} was answered that its {word} of offset {expected} of {told(line)} is accepted"
                self.blame(line, f"{text}, but the leader {took}")
                return


class SessionEpochsCount(JudgeOfShares):
    """Judges that a request that arrives twice is refused the second time."""

    name = "session_epochs_count"
    promise = (
        "a request of a share session that arrives a second time is refused, because its session epoch is over, unless the first "
        "copy did not reach the broker or its handler"
    )
    needs = frozenset({"share", "member"})

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[str, int] = {}
        """For each client, the instant at which a request of it last met a fault."""

    @on(FaultInjected)
    def _met_a_fault(self, line: Line, event: FaultInjected) -> None:
        self._faults[event.client] = line.at_ms

    @on(RequestRepeated)
    def _repeated(self, line: Line, event: RequestRepeated) -> None:
        if event.failed is None and self._faults.get(event.client, -1) < event.sent_ms:
            self.blame(
                line,
                f"the {event.api} of {event.client}, sent at {event.sent_ms} ms, was accepted a second time",
            )


_UNDOES: Final = {end: begins for begins, end in ends_of(Hurts.CLIENT).items()}
_HOLDS_UP: Final = frozenset(_UNDOES.values())
_RENEW: Final = "renew"


class ReleasedComeAgain(Judge):
    """Judges that, once disturbances are over, a released record is delivered to a member within
    the bound."""

    name = "released_come_again"
    promise = (
        "once churn and faults have ended, each record that was released to a share group and may be delivered again is delivered "
        "within the bound, as long as the group has a healthy member that is not busy the whole time with records that it has"
    )
    needs = frozenset({"share", "member"})
    unasked = True
    timed = True

    def __init__(self, bound_ms: int) -> None:
        super().__init__()
        self._bound_ms = bound_ms
        self._waiting: dict[Key, Spans[Line]] = {}
        self._starts: dict[Key, int] = {}
        self._well: dict[str, set[str]] = {}
        """The clients of each group whose processes run."""
        self._held_up: Counter[str] = Counter()
        self._stalled: set[str] = set()
        self._hands: dict[str, dict[Key, Offsets]] = {}
        """The records that each client's application holds and has not acknowledged."""
        self._free_since: dict[str, int] = {}
        """For each client, the instant at which its application last had no records."""
        self._polls: dict[str, deque[int]] = {}
        """For each client, the last two instants at which its application got records."""
        self._lasting = 0
        self._quiet_since = 0
        self._now = 0

    @on(TopicDeleted)
    def _topic_deleted(self, _: Line, event: TopicDeleted) -> None:
        for key in [key for key in self._waiting if key[1] == event.topic]:
            del self._waiting[key]

    @on(*FAULTS)
    def _of_fault(self, line: Line, event: object) -> None:
        self._quiet_since = line.at_ms
        if line.kind in _HOLDS_UP:
            self._held_up[client_of(event)] += 1
        elif line.kind in _UNDOES:
            self._held_up[client_of(event)] -= 1
        elif isinstance(event, RequestFaultBegan):
            self._lasting += 1
        elif isinstance(event, RequestFaultEnded):
            self._lasting -= 1

    @on(*DONE_TO_MEMBERS)
    def _of_member(
        self,
        line: Line,
        event: MemberStarted
        | MemberClosing
        | MemberClosed
        | MemberCrashed
        | MemberFailed
        | ApplicationStalled
        | ApplicationResumed,
    ) -> None:
        if line.group is None:
            return
        self._quiet_since = line.at_ms
        well = self._well.setdefault(line.group, set())
        match event:
            case MemberStarted():
                well.add(event.client)
                self._stalled.discard(event.client)
                self._hands.pop(event.client, None)
                self._free_since[event.client] = line.at_ms
            case ApplicationStalled():
                self._stalled.add(event.client)
            case ApplicationResumed():
                self._stalled.discard(event.client)
            case _:
                well.discard(event.client)

    @on(SharedRecordsPolled)
    def _polled(self, line: Line, event: SharedRecordsPolled) -> None:
        hands = self._hands.setdefault(event.client, {}).setdefault(key_of(line), Offsets())
        for of in event.records:
            hands.add(of.first_offset, of.last_offset)
        polls = self._polls.setdefault(event.client, deque(maxlen=2))
        if not polls or polls[-1] != line.at_ms:
            polls.append(line.at_ms)

    @on(AcknowledgementsEnded)
    def _done(self, line: Line, event: AcknowledgementsEnded) -> None:
        hands = self._hands.get(event.client, {}).get(key_of(line))
        if hands is None:
            return
        for of in event.records:
            if of.acknowledgement != _RENEW:
                hands.remove(of.first_offset, of.last_offset)
        self._free_since[event.client] = line.at_ms

    @on(SharePartitionOpened)
    def _opened(self, line: Line, event: SharePartitionOpened) -> None:
        self._waiting.setdefault(key_of(line), Spans()).put(0, NEVER, None)
        self._follow(line, event)

    @on(RecordsAcquired, RecordsAcknowledged, RecordsReleased, RecordsArchived)
    def _of_records(self, line: Line, event: Moving) -> None:
        self._follow(line, event)

    def _follow(self, line: Line, event: Moving | SharePartitionOpened) -> None:
        key = key_of(line)
        waiting = self._waiting.setdefault(key, Spans())
        self._starts[key] = event.start_offset
        for of in event.records:
            back = of.state == "Available" and not isinstance(event, RecordsAcquired)
            waiting.put(of.first_offset, of.last_offset, line if back else None)

    def passed(self, now_ms: int) -> None:
        self._now = now_ms

    def finish(self) -> None:
        if self._lasting > 0:
            return
        for key, waiting in self._waiting.items():
            well = [client for client in self._well.get(key[0], ()) if self._is_well(client)]
            for at, _, line in waiting.within(self._starts[key], NEVER):
                since = max(self._quiet_since, line.at_ms)
                due_ms = since + self._bound_ms
                if due_ms < self._now and any(self._had_time(client, due_ms) for client in well):
                    text = f"offset {at} of {told(line)} was released, but has not been delivered since"
                    self.blame(line, text)
                    break

    def _is_well(self, client: str) -> bool:
        return self._held_up[client] <= 0 and client not in self._stalled

    def _had_time(self, client: str, due_ms: int) -> bool:
        """Return True if the application had no records for the whole bound, or got records
        twice after an instant. An application that is busy with a batch fetches nothing."""
        if all(hands.empty for hands in self._hands.get(client, {}).values()):
            return self._free_since.get(client, 0) + self._bound_ms < self._now
        polls = self._polls.get(client)
        return polls is not None and len(polls) > 1 and polls[0] > due_ms
