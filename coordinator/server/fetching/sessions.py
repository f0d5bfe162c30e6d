"""Fetch sessions (KIP-227): a consumer names its partitions once, later requests only the changes.

Owns session ids and epochs, the partitions of each session with their last answer, and eviction
from the full cache. Kafka's rules: a session lives at one broker, a full request replaces it, an
incremental request must carry the next epoch, and its answer contains only changed partitions.
The caller draws the ids. Does not know logs, topics, sockets or wall clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

    from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, PartitionData

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0
EVICTION_MS = 120_000
"""A session unused for longer gives way to any new one; one older than that to any larger one."""
TOPIC_IDS_SINCE = 13
MOST_PARTITIONS = 200_000
"""Of all sessions together, some 100 MB. Kafka bounds the number of sessions only; here a session
that finds no room is not kept."""

Key = tuple["str | bytes", int]
"""A partition as the request names it: topic name, or topic id from v13 on; and index."""


class SessionPartition:
    """A partition of a fetch session: the request's values for it, and its last answer."""

    __slots__ = ("high_watermark", "log_start_offset", "topic", "wanted")

    def __init__(self, wanted: FetchPartition, topic: str | None) -> None:
        self.wanted = wanted
        self.topic = topic  # the name an id had when it was first known
        self.high_watermark = -1
        self.log_start_offset = -1

    def must_tell(self, answer: PartitionData) -> bool:
        """Return True if an incremental response must contain `answer`."""
        return bool(
            answer.records
            or answer.error_code
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.diverging_epoch.end_offset >= 0
            or answer.preferred_read_replica >= 0
        )

    def changed(self, answer: PartitionData) -> bool:
        """Like `must_tell`, and remember `answer` as sent."""
        must = self.must_tell(answer)
        # After an error the partition is answered again once the error is gone.
        self.high_watermark = -1 if answer.error_code else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return must


class FetchSession:
    """One fetch session. `epoch`: the epoch that its next request must carry."""

    __slots__ = (
        "cached_size",
        "created_ms",
        "epoch",
        "evictable",
        "partitions",
        "session_id",
        "topic_ids",
        "used_ms",
    )

    def __init__(self, session_id: int, *, topic_ids: bool, now: int) -> None:
        self.session_id = session_id
        self.epoch = 1
        self.partitions: dict[Key, SessionPartition] = {}
        self.topic_ids = topic_ids
        self.created_ms = self.used_ms = now
        self.cached_size = 0
        self.evictable = False

    def __str__(self) -> str:
        return f"fetch session {self.session_id}, epoch {self.epoch}, {len(self.partitions)} partitions"


class Fetch(NamedTuple):
    """The partitions of a fetch request. `full`: answering it may create a session. `session`: the
    existing session of an incremental request.
    """

    wanted: dict[Key, SessionPartition]
    session: FetchSession | None = None
    full: bool = False
    epoch: int = 0  # the session's epoch after this request


class FetchSessions:
    """The fetch sessions of one broker, at most `slots`
    (max.incremental.fetch.session.cache.slots).
    """

    def __init__(self, slots: int = 1000) -> None:
        self.slots = slots
        self._sessions: dict[int, FetchSession] = {}  # least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        """Return the session with this id, if any, without marking it as used."""
        return self._sessions.get(session_id)

    def open(self, request: FetchRequest, version: int, now: int) -> Fetch | ErrorCode:
        """Apply a request to its session, if it has one; return the partitions to fetch, or the
        error 70, 71 or 106.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            return _once(request, version)._replace(full=request.session_epoch == INITIAL_EPOCH)
        session = self._sessions.get(request.session_id)
        if session is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != request.session_epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH
        if session.topic_ids != (version >= TOPIC_IDS_SINCE):
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
        for key, partition in _asked(request, version):
            partition.unknown_tags = None
            known = session.partitions.get(key)
            if known is None:
                session.partitions[key] = SessionPartition(partition, None)
            else:
                known.wanted = partition
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                session.partitions.pop(
                    (topic.topic_id if session.topic_ids else topic.topic, index), None
                )
        if (
            len(session.partitions) > session.cached_size
            and self._partitions(session) > MOST_PARTITIONS
        ):
            del self._sessions[session.session_id]
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        if not session.partitions:
            del self._sessions[session.session_id]
            return _once(request, version)
        session.epoch = _next_epoch(session.epoch)
        self._touch(session, now)
        return Fetch(session.partitions, session, epoch=session.epoch)

    def found(self, fetch: Fetch, version: int, now: int, random: Random) -> FetchSession | None:
        """Create a session for a full fetch that is being answered; None if the cache is full of
        sessions that Kafka would not evict.
        """
        if len(self._sessions) >= self.slots and not self._evict(len(fetch.wanted), now):
            return None
        if self._partitions() + len(fetch.wanted) > MOST_PARTITIONS:
            return None
        for partition in fetch.wanted.values():
            partition.wanted.unknown_tags = None  # of any size, and of no meaning
        session_id = random.randrange(1, 1 << 31)
        while session_id in self._sessions:
            session_id = random.randrange(1, 1 << 31)
        session = FetchSession(session_id, topic_ids=version >= TOPIC_IDS_SINCE, now=now)
        session.partitions = fetch.wanted
        self._sessions[session_id] = session
        self._touch(session, now)
        return session

    def _partitions(self, counted_anew: FetchSession | None = None) -> int:
        """Return the number of partitions of all sessions; `counted_anew` is the session whose
        cached count is outdated.
        """
        return sum(
            len(one.partitions) if one is counted_anew else one.cached_size
            for one in self._sessions.values()
        )

    def _touch(self, session: FetchSession, now: int) -> None:
        self._sessions[session.session_id] = self._sessions.pop(session.session_id)
        session.used_ms = now
        session.cached_size = len(session.partitions)
        session.evictable = now - session.created_ms > EVICTION_MS

    def _evict(self, size: int, now: int) -> bool:
        """Evict the least recently used session if stale, else the smallest old one with fewer than
        `size` partitions. Return False if none can go.
        """
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now - oldest.used_ms <= EVICTION_MS:
            old = [session for session in self._sessions.values() if session.evictable]
            oldest = min(
                old, key=lambda session: (session.cached_size, session.session_id), default=None
            )
            if oldest is None or size <= oldest.cached_size:
                return False
        del self._sessions[oldest.session_id]
        return True


def _asked(request: FetchRequest, version: int) -> Iterator[tuple[Key, FetchPartition]]:
    for topic in request.topics:
        name: str | bytes = topic.topic_id if version >= TOPIC_IDS_SINCE else topic.topic
        for partition in topic.partitions:
            yield (name, partition.partition), partition


def _once(request: FetchRequest, version: int) -> Fetch:
    return Fetch(
        {key: SessionPartition(partition, None) for key, partition in _asked(request, version)}
    )


def _next_epoch(epoch: int) -> int:
    return 1 if epoch == 0x7FFFFFFF else epoch + 1


def move_to_end(session: FetchSession, keys: Iterable[Key]) -> None:
    """Move partitions that returned records behind the others, so that none is starved (KIP-227)."""
    for key in keys:
        if key in session.partitions:
            session.partitions[key] = session.partitions.pop(key)
