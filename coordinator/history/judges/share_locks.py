"""Judges locks of share groups: each ends at its time, or earlier for a reason that the log
confirms.

Follows until when each record is held, at the leader that delivered it. A leader that takes
records back gives a reason; the judge checks it against members' processes, the group and
connections. While brokers are disturbed no lock is too late, but one that ends too early has no
excuse. A lock lasts while an acknowledgement of its record waits to be stored, so it is not late
while a follower is slow, a coordinator loads slowly, or a failed write is tried again.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, NamedTuple

from coordinator.events.cluster import ConfigChanged, PartitionChanged, TopicCreated, TopicDeleted
from coordinator.events.data import ConnectionClosed, ConnectionOpened
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.handlers import kinds_of, on
from coordinator.events.members import (
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberFailed,
    MemberStarted,
)
from coordinator.events.share_partitions import (
    UNLOADED,
    AcknowledgementWaited,
    RecordsAcknowledged,
    RecordsAcquired,
    RecordsArchived,
    RecordsReleased,
    SharePartitionClosed,
    SharePartitionOpened,
)
from coordinator.events.share_states import (
    ShareStateDeleted,
    ShareStateSnapshotted,
    ShareStateUpdated,
)
from coordinator.verbs.brokers import SlowFollower, SlowLoad

from .base import NEVER, Line
from .disturbances import DONE_TO_BROKERS, DoneToBrokers, Kind
from .grace import REAL_TIME
from .of_shares import JudgeOfShares, Key, Moving, SettingOfGroups, Spans, key_of, told

_LOCK_ENDED: Final = "the lock ended"
_CONNECTION_LOST: Final = "the connection was lost"
_BY_A_TEST: Final = "a test "
"""Beginning of the reasons of a test that ends locks or sessions by hand."""
_GROUPS: Final = "share.record.lock.duration.ms"
_TRIED_AGAIN_MS: Final = 8_000
"""Time in ms within which a failed write is tried again (SH-LD-4)."""


class _Lock(NamedTuple):
    ends_ms: int
    given_ms: int
    member: str


class _Ground:
    """Facts that justify a leader in closing a share partition, from other brokers' lines: the
    partition's leader epoch, and the stored state epoch."""

    def __init__(self) -> None:
        self._leaders: dict[tuple[str, int], int] = {}
        """The leader epoch of each partition."""
        self._states: dict[Key, tuple[int, int]] = {}
        """The stored state epoch and leader epoch of each share partition."""
        self._opened: dict[Key, SharePartitionOpened] = {}
        self._ended: set[Key] = set()
        """Open share partitions whose topic or state was deleted."""

    def changed(self, event: TopicCreated | TopicDeleted | PartitionChanged) -> None:
        """Note a change of leader, or of topics."""
        if isinstance(event, PartitionChanged):
            self._leaders[event.topic, event.partition] = event.leader_epoch
            return
        for number in range(len(event.replicas) if isinstance(event, TopicCreated) else 0):
            self._leaders[event.topic, number] = 0
        self._ended.update(key for key in self._opened if key[1] == event.topic)

    def stored(
        self, key: Key, event: ShareStateSnapshotted | ShareStateUpdated | ShareStateDeleted
    ) -> None:
        """Note that a share coordinator wrote a state."""
        match event:
            case ShareStateSnapshotted():
                self._states[key] = event.state_epoch, event.leader_epoch
            case ShareStateUpdated():
                self._states[key] = self._states.get(key, (-1, -1))[0], event.leader_epoch
            case _:
                self._ended.add(key)

    def opened(self, key: Key, event: SharePartitionOpened) -> None:
        """Note that a leader opened a share partition."""
        self._opened[key] = event
        self._ended.discard(key)

    def may_close(self, key: Key) -> bool:
        """Return False if the leader still leads, and the state is the one with which it opened
        the share partition."""
        opened = self._opened.pop(key, None)
        leader_epoch = self._leaders.get(key[1:])
        if opened is None or leader_epoch is None or key in self._ended:
            return True
        state_epoch, stored_by = self._states.get(key, (opened.state_epoch, -1))
        return (
            leader_epoch > opened.leader_epoch
            or state_epoch > opened.state_epoch
            or stored_by > opened.leader_epoch
        )


class _Sessions:
    """Share sessions that may be over, by evidence other than the judged broker's own reasons."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], str] = {}
        """The client ids of members of share groups."""
        self._processes: set[tuple[str, str]] = set()
        """Groups and clients whose processes log their beginning and end."""
        self._over: set[tuple[str, str]] = set()
        """Groups and member ids of processes that have ended, or were removed from the group."""
        self._closed: dict[str, int] = {}
        """For each client, the instant at which a connection of it was last closed."""
        self._are_told = False
        """The log has lines about connections."""

    def told(self, group: str, member: str | None, event: MemberEvent) -> None:
        """Handle a member's own line."""
        if member:
            self._clients[group, member] = event.client
        match event:
            case MemberStarted():
                self._processes.add((group, event.client))
            case MemberClosing() | MemberClosed() | MemberCrashed() | MemberFailed():
                whose = group, event.client
                self._over.update(
                    key for key, client in self._clients.items() if (key[0], client) == whose
                )

    def subscribed(self, group: str, event: ShareMemberSubscribed) -> None:
        """Note that a member joined or changed its subscription."""
        self._clients[group, event.member_id] = event.client_id

    def removed(self, group: str, member: str) -> None:
        """Note that a member was removed from its group."""
        self._over.add((group, member))

    def opened(self) -> None:
        """Note that a connection was opened."""
        self._are_told = True

    def closed(self, client: str, at_ms: int) -> None:
        """Note that a connection of a client was closed."""
        self._closed[client] = at_ms

    def may_be_over(self, group: str, member: str, reason: str, since_ms: int) -> bool:
        """Return False if nothing has ended the member's session since an instant."""
        client = self._clients.get((group, member))
        if client is None or (group, member) in self._over:
            return True
        if self._closed.get(client, -1) >= since_ms:
            return True
        if reason == _CONNECTION_LOST:
            return not self._are_told
        return (group, client) not in self._processes


class LocksLast(JudgeOfShares):
    """Judges that a lock ends when its time is over. A renewed lock lasts as long again from
    then on (SH-ACK-2). `late_ms`: see Grace. `duration_ms`: the brokers' setting; None: unknown.
    `by_hand`: a test may have ended locks or sessions."""

    name = "locks_last"
    promise = (
        "a member of a share group holds acquired records for the group's lock duration, neither longer nor shorter, unless it "
        "acknowledges them, its session ends (according to the member, its group or its connection, not to the broker alone), or "
        "a test ends the lock. Locks that last too long are judged only while brokers are undisturbed"
    )
    timed = True

    def __init__(
        self,
        duration_ms: int | None = None,
        late_ms: int = REAL_TIME.late_ms,
        *,
        by_hand: bool = True,
    ) -> None:
        super().__init__()
        self._by_hand = by_hand
        self._late_ms = late_ms
        self._durations = SettingOfGroups(_GROUPS, duration_ms)
        self._until: dict[Key, Spans[_Lock]] = {}
        self._held: dict[Key, Line] = {}
        """For each share partition, the last line that delivered records."""
        self._waited: dict[Key, int] = {}
        """For each share partition, the instant at which an acknowledgement was last tried
        again."""
        self._ends: list[tuple[int, Key]] = []
        self._brokers = DoneToBrokers()
        self._sessions = _Sessions()
        self._ground = _Ground()
        self._slow: set[tuple[Kind, int]] = set()
        """Verbs that slow brokers, with the brokers."""

    @on(*DONE_TO_BROKERS)
    def _done_to_brokers(self, line: Line, event: object) -> None:
        self._brokers.see(line)
        if isinstance(event, SlowFollower | SlowLoad):
            slow = (
                event.load_ms > 0
                if isinstance(event, SlowLoad)
                else event.delay_ms > 0 or event.bytes_per_second is not None
            )
            put = self._slow.add if slow else self._slow.discard
            put((type(event), event.broker))

    @on(ConfigChanged)
    def _configured(self, line: Line, event: ConfigChanged) -> None:
        self._durations.changed(line, event)

    @on(*kinds_of("member"))
    def _told(self, line: Line, event: MemberEvent) -> None:
        if line.group is not None:
            self._sessions.told(line.group, line.member, event)

    @on(ShareMemberSubscribed)
    def _subscribed(self, line: Line, event: ShareMemberSubscribed) -> None:
        self._sessions.subscribed(line.group or "", event)

    @on(ShareMemberRemoved)
    def _removed(self, line: Line, event: ShareMemberRemoved) -> None:
        self._sessions.removed(line.group or "", event.member_id)

    @on(ConnectionOpened)
    def _opened(self, _: Line, __: ConnectionOpened) -> None:
        self._sessions.opened()

    @on(ConnectionClosed)
    def _closed(self, line: Line, event: ConnectionClosed) -> None:
        self._sessions.closed(event.client, line.at_ms)

    @on(TopicCreated, TopicDeleted, PartitionChanged)
    def _leader_changed(
        self, _: Line, event: TopicCreated | TopicDeleted | PartitionChanged
    ) -> None:
        self._ground.changed(event)

    @on(ShareStateSnapshotted, ShareStateUpdated, ShareStateDeleted)
    def _stored(
        self, line: Line, event: ShareStateSnapshotted | ShareStateUpdated | ShareStateDeleted
    ) -> None:
        self._ground.stored(key_of(line), event)

    @on(SharePartitionOpened)
    def _opened_anew(self, line: Line, event: SharePartitionOpened) -> None:
        self._until.pop(key_of(line), None)
        self._ground.opened(key_of(line), event)

    @on(SharePartitionClosed)
    def _closed_by_leader(self, line: Line, event: SharePartitionClosed) -> None:
        """Records that were held when a leader closes the share partition may be delivered to
        another member."""
        key = key_of(line)
        until = self._until.pop(key, None)
        may_close = self._ground.may_close(key)
        held = () if until is None else until.within(0, NEVER)
        for at, _, lock in held:
            if lock.ends_ms <= line.at_ms or self._brokers.lasts:
                continue
            if self._brokers.last_ms >= lock.given_ms:
                continue
            if event.reason == UNLOADED:
                group = line.group or ""
                if self._sessions.may_be_over(group, lock.member, UNLOADED, lock.given_ms):
                    continue
            elif may_close:
                continue
            text = f"the lock of {lock.member} on offset {at} of {told(line)} ended"
            early_ms = lock.ends_ms - line.at_ms
            self.blame(
                line,
                f'{text} {early_ms} ms early, with the reason "{event.reason}", which nothing else in the log confirms',
            )
            break

    @on(AcknowledgementWaited)
    def _has_waited(self, line: Line, _: AcknowledgementWaited) -> None:
        self._waited[key_of(line)] = line.at_ms

    @on(RecordsAcquired, RecordsAcknowledged, RecordsReleased, RecordsArchived)
    def _of_records(self, line: Line, event: Moving) -> None:
        key = key_of(line)
        until = self._until.setdefault(key, Spans())
        deadline_ms = (
            event.deadline_ms if isinstance(event, RecordsAcquired | RecordsAcknowledged) else None
        )
        if deadline_ms is not None:
            self._lasts(line, deadline_ms - line.at_ms)
        for of in event.records:
            first, last = of.first_offset, of.last_offset
            self._ended(line, event, until, first, last)
            keeps = isinstance(event, RecordsAcquired) or (
                isinstance(event, RecordsAcknowledged) and of.state == "Acquired"
            )
            lock = (
                None if deadline_ms is None else _Lock(deadline_ms, line.at_ms, line.member or "")
            )
            until.put(first, last, lock if keeps else None)
            if keeps and deadline_ms is None:
                text = (
                    f"{line.member} holds offset {first} of {told(line)}, but its lock has no end"
                )
                self.blame(line, text)
        if deadline_ms is not None:
            self._held[key] = line
            heappush(self._ends, (deadline_ms, key))
            self._look_later()

    def _lasts(self, line: Line, duration_ms: int) -> None:
        right = self._durations.now(line.group or "")
        if right is not None and duration_ms != right:
            self.blame(
                line,
                f"the lock of {line.member} on {told(line)} is to last {duration_ms} ms, although {right} ms are set",
            )

    def _ended(self, line: Line, event: Moving, until: Spans[_Lock], first: int, last: int) -> None:
        now = line.at_ms
        for at, _, (end, given_ms, _) in until.within(first, last):
            if isinstance(event, RecordsReleased) and now < end:
                why = self._too_early(line, event, given_ms)
                if why is None:
                    continue
                text = f"the lock of {line.member} on offset {at} of {told(line)} ended {end - now} ms early{why}"
            elif (
                not isinstance(event, RecordsArchived)
                and now > self._excused(end) + self._late_ms
                and self._waited.get(key_of(line)) != now
            ):
                text = (
                    f"the lock on offset {at} of {told(line)} should have ended {now - end} ms ago"
                )
            else:
                continue
            self.blame(line, text)
            return

    def _too_early(self, line: Line, event: RecordsReleased, given_ms: int) -> str | None:
        """Return what is wrong with the reason of a lock that ends early: "" if the reason is
        just that the lock ended, None if the reason is good."""
        group, member, reason = line.group or "", event.member_id, event.reason
        if reason == _LOCK_ENDED:
            return ""
        if (
            (self._by_hand and reason.startswith(_BY_A_TEST))
            or self._brokers.lasts
            or (self._brokers.last_ms >= given_ms)
        ):
            return None
        by_hand = reason.startswith(_BY_A_TEST)
        if not by_hand and self._sessions.may_be_over(group, member, reason, given_ms):
            return None
        return f', with the reason "{reason}", which nothing else in the log confirms'

    def _excused(self, end: int, tried_again_ms: int = 0) -> int:
        """Return the instant until which a lock may last that was to end at `end`."""
        lasts = self._brokers.lasts or bool(self._slow)
        return NEVER if lasts else max(end, self._brokers.last_ms + tried_again_ms)

    def passed(self, now_ms: int) -> None:
        while self._ends and self._ends[0][0] + self._late_ms < now_ms:
            end, key = self._ends[0]
            still = self._until.get(key)
            held = [
                at
                for at, _, lock in (still.within(0, NEVER) if still is not None else ())
                if lock.ends_ms <= end
            ]
            if held and self._excused(end, _TRIED_AGAIN_MS) + self._late_ms >= now_ms:
                self.due_ms = now_ms + 1
                return
            heappop(self._ends)
            if held and still is not None:
                line = self._held[key]
                text = f"the lock on offset {held[0]} of {told(line)} should have ended at {end} ms, but continues at {now_ms} ms"
                self.blame(line, text)
                for at, last, lock in list(still.within(0, NEVER)):
                    if lock.ends_ms <= end:
                        still.put(at, last, None)
        self._look_later()

    def _look_later(self) -> None:
        self.due_ms = self._ends[0][0] + self._late_ms + 1 if self._ends else NEVER
