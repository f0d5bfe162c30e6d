"""Share sessions of a consumer with the leaders of partitions (KIP-932): fetching records, and
acknowledging them.

Owns records that are acquired but not yet returned, records that the application holds, and
acknowledgements in flight. One request for each leader at a time; acknowledgements go with the
next fetch to their leader, or alone; records of a lost session cannot be acknowledged any more
(SH-SES-3). A record whose lock was renewed is returned again, before any new record, as in
Java's consumer; a fetch that renews reads nothing (SH-ACK-2). Does not know membership: the
caller says what is assigned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.share_acknowledge import PartitionData as PartitionAcknowledged
from coordinator.wire.messages.share_acknowledge import (
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from coordinator.wire.messages.share_fetch import (
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)
from coordinator.wire.schema import Response

from ..backoff import Backoff
from ..effects import Effect, Node
from ..faults import MemberFault, Refused, code_of
from ..leaders import Leaders
from ..record_batches import read_batches
from . import requests
from .config import ShareConfig
from .session import FINAL_EPOCH, GAP, RENEW, AckResult, Said, Session, SharedRecord

_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)
_SESSION_IS_GONE: Final = frozenset(
    {ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.INVALID_SHARE_SESSION_EPOCH}
)
_LOST: Final = ErrorCode.INVALID_SHARE_SESSION_EPOCH
"""The error of an acknowledgement whose session is gone, as in Java."""


class ShareSessions:
    """Share sessions of one consumer. Answers go to `receive`."""

    def __init__(self, config: ShareConfig, member_id: str, backoff: Backoff) -> None:
        self.config = config
        self.leaders = Leaders(config.request_timeout_ms, backoff)
        self.results: list[AckResult] = []
        """Results of acknowledgements; the reader clears it."""
        self._member_id = member_id
        self._backoff = backoff
        self._sessions: dict[Node, Session] = {}
        self._buffer: deque[SharedRecord] = deque()
        self._renewed: list[SharedRecord] = []
        """Records whose locks were renewed, to be handed out again."""
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._ids: dict[str, bytes] = {}
        self._fault: MemberFault | None = None
        self._closing = False

    # -- what is assigned

    def assign(self, topics: Iterable[str], assigned: Mapping[bytes, tuple[int, ...]]) -> None:
        """Set the assigned partitions. `topics`: the subscribed names, whose ids metadata gives."""
        names = self.leaders.topic_ids
        if any(topic_id not in names for topic_id in assigned):
            self.leaders.wanted.update(topics)
        self._ids = {names[topic_id]: topic_id for topic_id in assigned if topic_id in names}
        self._assigned = frozenset(
            TopicPartition(names[topic_id], number)
            for topic_id, numbers in assigned.items()
            if topic_id in names
            for number in numbers
        )

    @property
    def assigned(self) -> tuple[TopicPartition, ...]:
        """The assigned partitions, sorted by topic and number."""
        return tuple(sorted(self._assigned))

    # -- what the application does

    def poll(self) -> list[SharedRecord]:
        """Return acquired records, up to max.poll.records; those with renewed locks first. Raises
        MemberFault, once.
        """
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if self.renewing:
            return []
        if self._renewed:
            renewed, self._renewed = self._renewed, []
            return renewed
        count = min(len(self._buffer), self.config.max_poll_records)
        return [self._buffer.popleft() for _ in range(count)]

    def acknowledge(self, partition: TopicPartition, offset: int, kind: int) -> bool:
        """Acknowledge a record with the next request to its leader; return False if its session is
        gone.
        """
        return any(session.say(partition, offset, kind) for session in self._sessions.values())

    @property
    def renewing(self) -> bool:
        """True if a lock renewal is unanswered."""
        return any(session.renewing for session in self._sessions.values())

    def holds(self, of: SharedRecord) -> bool:
        """Return whether a record is neither acknowledged nor lost with its session."""
        return any(
            of.record.offset in session.held.get(of.partition, ())
            for session in self._sessions.values()
        )

    # -- asking

    def ask(self, now: int) -> None:
        """Send what is due: a fetch to each leader of assigned partitions, unless records are still
        to be returned, or a renewal is unanswered.
        """
        by_node: dict[Node, set[TopicPartition]] = {}
        for partition in sorted(self._assigned):
            leader = self.leaders.of(partition)
            if leader is not None:
                by_node.setdefault(leader.node, set()).add(partition)
        for node in by_node:
            self._sessions.setdefault(node, Session(node))
        waits = bool(self._buffer) or self.renewing
        for node, session in self._sessions.items():
            wanted = by_node.get(node, set())
            if session.busy or now < session.again_at:
                continue
            session.again_at = 0
            if session.renews:
                self._fetch(session, wanted, now)
            elif session.said and (waits or not wanted):
                self._acknowledge(session, now)
            elif not waits and (wanted or session.partitions):
                self._fetch(session, wanted, now)
        self.leaders.look_up(now)

    def flush(self, now: int) -> None:
        """Send waiting acknowledgements without a fetch."""
        for session in self._sessions.values():
            if session.said and not session.busy:
                self._acknowledge(session, now)

    def close(self, now: int) -> None:
        """End all sessions; records that are not acknowledged are released (SH-SES-3)."""
        self._closing = True
        for session in self._sessions.values():
            if session.epoch > 0 and not session.busy:
                session.epoch = FINAL_EPOCH
                self._acknowledge(session, now)

    @property
    def closed(self) -> bool:
        """True if every request has been answered."""
        return not any(session.busy for session in self._sessions.values())

    def next_deadline(self) -> int | None:
        """Return the instant at which `ask` or the leaders' `tick` is due, or None."""
        due = self.leaders.next_deadline()
        for session in self._sessions.values():
            if session.again_at and not session.busy and (due is None or session.again_at < due):
                due = session.again_at
        return due

    def _fetch(self, session: Session, wanted: set[TopicPartition], now: int) -> None:
        renews, said = session.renews, session.take_said()
        message = requests.fetch(
            self.config, self._member_id, session, wanted, said, self._id_of, renews=renews
        )
        session.partitions = set(wanted)
        self._send(session, message, said, now)

    def _acknowledge(self, session: Session, now: int) -> None:
        renews, said = session.renews, session.take_said()
        message = requests.acknowledge(
            self.config, self._member_id, session, said, self._id_of, renews=renews
        )
        self._send(session, message, said, now)

    def _id_of(self, partition: TopicPartition) -> bytes:
        known = self._ids.get(partition.topic)
        if known is not None:
            return known
        return next(of for of, name in self.leaders.topic_ids.items() if name == partition.topic)

    def _send(
        self,
        session: Session,
        message: ShareFetchRequest | ShareAcknowledgeRequest,
        said: Said,
        now: int,
    ) -> None:
        session.busy, session.again_at = True, 0
        self.leaders.ask(
            session.node,
            message,
            now,
            lambda response, at: self._answered(session, said, response, at),
        )

    # -- answers

    def _answered(
        self,
        session: Session,
        said: Said,
        response: Response | None,
        now: int,
    ) -> None:
        session.busy = False
        if not isinstance(response, ShareFetchResponse | ShareAcknowledgeResponse):
            self.leaders.forget(session.partitions)
            self._lost(session, said, ErrorCode.NETWORK_EXCEPTION)
            session.again_at = now + self._backoff.next()
            return
        if response.error_code:
            self._refused(session, said, code_of(response.error_code), now)
            return
        if session.epoch >= 0:
            session.epoch += 1
        self._backoff.reset()
        moved: list[TopicPartition] = []
        for topic in response.responses:
            for row in topic.partitions:
                name = self.leaders.topic_ids.get(topic.topic_id, "")
                partition = TopicPartition(name, row.partition_index)
                self._take(session, partition, row, said.pop(partition, {}), moved)
        for partition, offsets in said.items():
            self._end(session, partition, offsets, ErrorCode.NONE)
        if moved:
            self.leaders.forget(moved)  # and the next fetch takes them out of the session
        if self._closing and session.epoch > 0:
            session.epoch = FINAL_EPOCH
            self._acknowledge(session, now)

    def _take(
        self,
        session: Session,
        partition: TopicPartition,
        row: PartitionData | PartitionAcknowledged,
        offsets: dict[int, int],
        moved: list[TopicPartition],
    ) -> None:
        error = code_of(row.error_code)
        if error in _MOVED:
            moved.append(partition)
        if not isinstance(row, PartitionData):
            self._end(session, partition, offsets, error)
            return
        self._end(session, partition, offsets, code_of(row.acknowledge_error_code))
        if not error and row.acquired_records:
            self._acquire(session, partition, row)

    def _acquire(self, session: Session, partition: TopicPartition, row: PartitionData) -> None:
        """Buffer acquired records; acknowledge offsets without a record as gaps."""
        records = {
            record.offset: record
            for batch in read_batches(row.records or b"")
            if not batch.control
            for record in batch.records
        }
        held = session.held.setdefault(partition, {})
        for of in row.acquired_records:
            for offset in range(of.first_offset, of.last_offset + 1):
                record = records.get(offset)
                if record is None:
                    session.said.setdefault(partition, {})[offset] = GAP
                else:
                    held[offset] = SharedRecord(partition, record, of.delivery_count)
                    self._buffer.append(held[offset])

    def _refused(
        self,
        session: Session,
        said: Said,
        error: ErrorCode,
        now: int,
    ) -> None:
        self._lost(session, said, error)
        session.again_at = now + (0 if error in _SESSION_IS_GONE else self._backoff.next())
        if error in (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.INVALID_REQUEST):
            self._fault = Refused("ShareFetch", error, f"group {self.config.group_id}")

    def _lost(self, session: Session, said: Said, error: ErrorCode) -> None:
        """Drop a session, whose records any member may acquire now."""
        for partition, offsets in [*said.items(), *session.said.items()]:
            self._end(session, partition, offsets, error if partition in said else _LOST)
        gone = {(of, offset) for of, held in session.held.items() for offset in held}
        self._buffer = deque(
            of for of in self._buffer if (of.partition, of.record.offset) not in gone
        )
        self._renewed = [of for of in self._renewed if (of.partition, of.record.offset) not in gone]
        session.epoch, session.said, session.held = 0, {}, {}
        session.partitions, session.renews = set(), False

    def _end(
        self,
        session: Session,
        partition: TopicPartition,
        offsets: dict[int, int],
        error: ErrorCode,
    ) -> None:
        """End acknowledgements: a record whose lock was renewed is returned again, one whose lock
        was not is lost.
        """
        if not offsets:
            return
        self.results.append(AckResult(partition, offsets, error))
        renewing = session.renewing.get(partition)
        if renewing is None:
            return
        renewed = [renewing.pop(at) for at, kind in offsets.items() if kind == RENEW]
        if not renewing:
            del session.renewing[partition]
        if not error:
            session.held.setdefault(partition, {}).update({of.record.offset: of for of in renewed})
            self._renewed += renewed

    def receive(self, number: int, response: Response | None, now: int) -> bool:
        """Take the answer to a request, or None if there will be none; return False if it is no
        longer awaited.
        """
        return self.leaders.receive(number, response, now)

    def take(self) -> list[Effect]:
        """Return the effects to carry out now."""
        return self.leaders.take()
