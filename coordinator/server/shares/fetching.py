"""One ShareFetch in progress: the records that its member acquires, at once or when there are
enough.

Owns limits and waiting as in Kafka (SH-FT-1, SH-FT-2): bytes are divided evenly among the
partitions with available records, record counts go to partitions in order; a request waits until
such partitions hold `min_bytes`, or its time is over. `ParkedFetches` parks it; new records,
expired locks and acknowledgements wake it. Does not know the rules of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, Slices, whole
from coordinator.core.share_partitions.acquire import Read, Wanted
from coordinator.core.share_partitions.model import SharePartition
from coordinator.wire.messages.share_fetch import (
    AcquiredRecords,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

from .reading import read
from .sessions import FINAL_EPOCH, INITIAL_EPOCH

if TYPE_CHECKING:
    from coordinator.core.share_partitions.acknowledge import Refused

    from ..cluster import Partition
    from ..requests.call import Call
    from .host import ShareHost
    from .service import Shares
    from .sessions import At, ShareSession

E = TypeVar("E")
EXACT = 1
"""share_acquire_mode: no more records than asked for."""


class _Open(NamedTuple):
    """A partition whose share partition is open for the group."""

    at: At
    found: Partition
    partition: SharePartition


class ShareFetchOperation:
    """One ShareFetch. `begin` reads what is available before the request's acknowledgements take
    effect; then `answer_now` answers or says that it has to wait.
    """

    __slots__ = (
        "_answers",
        "_begins",
        "_broker",
        "_call",
        "_leaders",
        "_led",
        "_reads",
        "_request",
        "_session",
        "_settings",
        "_shares",
        "_wanted",
        "deadline_ms",
        "hidden",
        "partitions",
        "said",
        "token",
    )

    def __init__(
        self,
        broker: ShareHost,
        shares: Shares,
        call: Call,
        session: ShareSession,
        wanted: list[At],
    ) -> None:
        """`wanted`: the partitions to read, in order."""
        request = call.message
        assert isinstance(request, ShareFetchRequest)
        self.token = call.token
        self.deadline_ms: int = call.now + request.max_wait_ms
        self._broker = broker
        self._call = call
        self._request = request
        self._begins = request.share_session_epoch == INITIAL_EPOCH
        """It is its session's first, and tells of all that it reads."""
        self._reads = request.max_records != 0 and request.max_bytes != 0
        """Else it asks for nothing, and tells of no partition but those refused."""
        self._session = session
        self.hidden: frozenset[bytes] = frozenset()
        """The ids of topics that its client may not read; known before it begins."""
        self._wanted = wanted
        self.said: dict[At, Refused | None] = {}
        """The outcome of the acknowledgements that came with it, by partition."""
        self._answers: dict[At, PartitionData] | None = None
        self._leaders: set[int] = set()
        self._shares = shares
        self._settings = shares.settings(session.key.group_id)
        self._led: set[At] = set()
        """Partitions that this broker led when it began."""
        self.partitions: list[tuple[str, int]] = []
        """Those that it reads, of which records are waited for; known once it has begun."""

    def begin(self) -> Slices[None]:
        """Read, if there is enough, or no time to wait."""
        now = self._call.now
        for number, at in enumerate(self._wanted, 1):
            found = self._find(at)
            if not isinstance(found, ErrorCode):
                self.partitions.append((found.topic, found.index))
                self._led.add(at)
            if not number % ITEMS_A_STEP:
                now = yield
        waits = self._reads and self._request.max_wait_ms > 0 and bool(self.partitions)
        if not waits or (yield from self._is_ready(now, opens=True)):
            self._answers = yield from self._read_all(now)

    def answer_now(self, now: int) -> Slices[ShareFetchResponse | None]:
        """Return the response, or None if the request has to wait. Its acknowledgements must be
        settled.
        """
        if self._answers is None and not (yield from self._is_ready(now)):
            return None
        return (yield from self._response(now))

    def ready(self, woken: tuple[str, int] | None = None) -> bool:
        """Return True if waiting is over."""
        return whole(self._is_ready(0), 0)

    def complete(self, now: int) -> None:
        """Answer the parked request with what there is."""
        self._broker.parked.answer(self.token, whole(self._response(now), now), now)

    # -- waiting

    def _is_ready(self, now: int, *, opens: bool = False) -> Slices[bool]:
        """Return True if enough can be read. `opens`: open share partitions that are not open."""
        size, some = 0, False
        for number, at in enumerate(self._wanted, 1):
            if not number % ITEMS_A_STEP:
                now = yield
            found = self._find(at)
            if isinstance(found, ErrorCode):
                continue
            group_id = self._session.key.group_id
            if opens:
                partition, _ = self._open(found, now)
            else:
                partition = self._shares.opened(group_id, found)
                if partition is None and self._shares.opener.is_given_up(group_id, found):
                    return True
            if partition is None or not self._may_take(partition):
                continue
            if self._request.max_bytes < 0:
                return True
            some = True
            log = found.log
            end = log.last_stable_offset if self._settings.committed_only else log.high_watermark
            offset = partition.fetch_offset
            if not log.log_start_offset <= offset <= log.log_end_offset:
                return True
            if offset < end:
                size += log.bytes_from(offset, end if end < log.log_end_offset else None)
            if size >= self._request.min_bytes:
                return True
        return some and size >= self._request.min_bytes

    def _may_take(self, partition: SharePartition) -> bool:
        """Return True if records can be acquired: some in flight are available, or there is room
        for more (SH-FT-6).
        """
        return (
            partition.fetch_offset < partition.next_offset
            or partition.in_flight < self._settings.most_in_flight
        )

    # -- reading

    def remembered(self) -> Iterator[tuple[bytes, str | None]]:
        """Yield id and name of the topics of the session's partitions, with the names they had when
        added.
        """
        if self._request.share_session_epoch != FINAL_EPOCH:
            for at in self._session.partitions:
                yield at[0], self._session.names.get(at)

    def _find(self, at: At) -> Partition | ErrorCode:
        if at[0] in self.hidden:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if self._call.fails is not None and at in self._call.fails:
            return ErrorCode(self._call.fails[at])
        found = self._shares.find(at)
        name = self._session.names.get(at)
        if found is not ErrorCode.UNKNOWN_TOPIC_ID or name is None:
            return found
        if self._broker.cluster.partition(name, at[1]) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.UNKNOWN_SERVER_ERROR  # another topic has its name, and no state

    def _open(self, found: Partition, now: int) -> tuple[SharePartition | None, ErrorCode]:
        opening = self._shares.opener.open(self._session.key.group_id, found, now, self._call.cause)
        return opening.partition, opening.error

    def _response(self, now: int) -> Slices[ShareFetchResponse]:
        answers = self._answers
        if answers is None:
            answers = yield from self._read_all(now)
        if (
            self._shares.knows_no_unknown_topics
            and not self._broker.cluster.topics_by_id.keys() >= {at[0] for at in answers}
        ):
            return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
        for at, refused in self.said.items():
            data = answers.setdefault(at, PartitionData(partition_index=at[1], records=b""))
            if refused is not None:
                data.acknowledge_error_code = refused.error
                data.acknowledge_error_message = refused.message or None
        return ShareFetchResponse(
            acquisition_lock_timeout_ms=self._settings.lock_duration_ms,
            responses=by_topic(answers),
            node_endpoints=endpoints(self._broker, self._call, self._leaders, NodeEndpoint),
        )

    def _read_all(self, now: int) -> Slices[dict[At, PartitionData]]:
        """Read all partitions within the limits of bytes and records; return their answers."""
        answers: dict[At, PartitionData] = {}
        ready: list[_Open] = []
        for number, at in enumerate(self._wanted, 1):
            if not number % ITEMS_A_STEP:
                now = yield
            opened = self._opened(at, answers, now)
            if opened is not None:
                ready.append(opened)
        share = max(1, self._request.max_bytes // len(ready)) if ready else 0
        left = self._request.max_records
        whole = True
        for number, one in enumerate(ready, 1):
            if not number % ITEMS_A_STEP:
                now = yield
            if not self._is_there(one):
                continue
            if self._request.max_bytes < 0:
                answers[one.at] = self._refused(one.at, ErrorCode.UNKNOWN_SERVER_ERROR)
                continue
            data = PartitionData(partition_index=one.at[1], records=b"")
            if left > 0:
                taken = self._read(one, data, share, left, now, whole=whole)
                left -= taken
                whole = whole and not taken
            newly = self._session.partitions.get(one.at, False)
            if data.acquired_records or newly or self._begins:
                answers[one.at] = data
                if newly:
                    self._session.partitions[one.at] = False
        return answers

    def _is_there(self, one: _Open) -> bool:
        """Return True if session and share partition have not been replaced since the request
        began: other requests may run between two slices.
        """
        sessions, partitions = self._shares.sessions, self._shares.partitions
        return (
            sessions.get(self._session.key) is self._session
            and partitions.open_ones.get(one.partition.key) is one.partition
        )

    def _opened(self, at: At, answers: dict[At, PartitionData], now: int) -> _Open | None:
        """Return a partition from which records can be acquired, or None; put a refusal into
        `answers`.
        """
        found = self._find(at)
        if isinstance(found, ErrorCode):
            if at not in self._led:  # else it went while the fetch waited (SH-ACK-7)
                answers[at] = self._refused(at, found)
            return None
        if not self._reads:
            return None
        partition, error = self._open(found, now)
        if error and self._request.max_wait_ms <= 0 and self._session.key.group_id:
            return None  # Kafka is still reading the state when it answers, and does not know
        if error:
            answers[at] = self._refused(at, error)
            return None
        may = partition is not None and self._may_take(partition)
        return _Open(at, found, partition) if partition is not None and may else None

    def _read(
        self, one: _Open, data: PartitionData, share: int, left: int, now: int, *, whole: bool
    ) -> int:
        """Fill a partition's answer; return the number of records in it."""
        log, partition, request = one.found.log, one.partition, self._request
        offset = partition.fetch_offset
        if not log.log_start_offset <= offset <= log.log_end_offset:
            self._shares.partitions.log_start_moved(partition, log.log_start_offset, now)
            return 0
        batches = read(
            log,
            offset,
            share,
            until=max(offset, partition.next_offset) + left,  # new records are no more than that
            committed=self._settings.committed_only,
            whole=whole,
        )
        given = self._shares.partitions.acquire(
            partition,
            self._session.key.member_id,
            Read(offset, batches.spans, batches.aborted),
            Wanted(
                left,
                request.batch_size,
                request.share_acquire_mode == EXACT,
                self._settings.most_in_flight,
                self._settings.delivery_limit,
                now + self._settings.lock_duration_ms,
            ),
            now,
            self._call.cause,
        )
        if not given:
            return 0
        data.records = batches.holding(given[0].first_offset, given[-1].last_offset)
        data.acquired_records = [
            AcquiredRecords(
                first_offset=of.first_offset,
                last_offset=of.last_offset,
                delivery_count=of.delivery_count,
            )
            for of in given
        ]
        return sum(of.last_offset - of.first_offset + 1 for of in given)

    def _refused(self, at: At, error: ErrorCode) -> PartitionData:
        if at in self._session.partitions and not self._begins:
            self._session.partitions[at] = True  # it is told of once more when this is over
        data = PartitionData(partition_index=at[1], error_code=error, records=b"")
        self._point_to_leader(at, error, data)
        return data

    def _point_to_leader(self, at: At, error: ErrorCode, data: PartitionData) -> None:
        leader = leader_of(self._broker, at, error)
        if leader is not None:
            data.current_leader = LeaderIdAndEpoch(leader_id=leader[0], leader_epoch=leader[1])
            self._leaders.add(leader[0])


def by_topic(answers: dict[At, PartitionData]) -> list[ShareFetchableTopicResponse]:
    """Group the partitions' answers by topic."""
    topics: dict[bytes, ShareFetchableTopicResponse] = {}
    for (topic_id, _), data in answers.items():
        if topic_id not in topics:
            topics[topic_id] = ShareFetchableTopicResponse(topic_id=topic_id, partitions=[])
        topics[topic_id].partitions.append(data)
    return list(topics.values())


def leader_of(broker: ShareHost, at: At, error: ErrorCode) -> tuple[int, int] | None:
    """Return leader and leader epoch, for a client that asked another broker than the leader; else
    None.
    """
    topic = broker.cluster.topics_by_id.get(at[0])
    if error is not ErrorCode.NOT_LEADER_OR_FOLLOWER or topic is None:
        return None
    found = broker.cluster.partition(topic.name, at[1])
    return None if found is None else (found.leader, found.leader_epoch)


def endpoints(broker: ShareHost, call: Call, leaders: set[int], make: Callable[..., E]) -> list[E]:
    """Return the endpoints of these leaders."""
    found = []
    for node_id in sorted(leaders):
        node = broker.cluster.brokers.get(node_id)
        if node is not None and call.listener in node.endpoints:
            host, port = node.endpoints[call.listener]
            found.append(make(node_id=node_id, host=host, port=port, rack=node.rack))
    return found
