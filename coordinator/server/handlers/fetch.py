"""Fetch (key 1), v4-18: records from logs, at once or when there are enough; topics by name, from
v13 on by id.

Owns limits and waiting as in Kafka (KIP-74): partitions are read in the order of the request or
session, the first batch is returned whole even if it is too large, and a request waits unless it
has min_bytes, an error, a diverging epoch, or nothing to read. With read_committed the log ends
at the last stable offset, and the answer contains the aborted transactions (KIP-98). Consumers
may fetch from followers (v11, KIP-392) up to the follower's high watermark; the leader names a
replica in their rack if replica.selector.class says so. Requests of replicas are refused:
brokers of a cluster do not replicate by this API. Sessions are in `broker.services.fetch_sessions`,
waiting requests in `broker.parked_fetches`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from coordinator.wire.schema import ZERO_UUID

from .. import data_log
from ..cluster.model import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..fetching.repeated import MOST_KEPT, Repeated
from ..fetching.sessions import (
    FINAL_EPOCH,
    NO_SESSION,
    TOPIC_IDS_SINCE,
    Fetch,
    Key,
    SessionPartition,
    move_to_end,
)
from ..requests.call import Encoded, Unread

if TYPE_CHECKING:
    from coordinator.wire.messages.fetch import FetchPartition

    from ..broker import Broker
    from ..cluster import Partition
    from ..requests.call import Call
    from ..storage.partition_log import PartitionLog
    from ..throttling import Throttling

READ_COMMITTED = 1
WITHOUT_RECORDS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE})
LEADER_TAGS_SINCE = 16
SESSIONS_SINCE = 7
FOLLOWERS_SERVE_SINCE = 11
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
_SHARD = 0x7FFF_FFFF // 8
_SESSION_IDS = range(1 - _SHARD, 8 * _SHARD)
"""Kafka keeps sessions in eight shards by their ids, and fails on ids that belong into none."""
_LENGTH = 4
"""A response's length counts as a part of it."""
_NO_REPLICA = 0  # ids below are consumers: -1, and -2 for debugging ones


def handle(broker: Broker, call: Call) -> FetchResponse | None:
    """Answer a fetch, or park it."""
    request = call.message
    assert isinstance(request, FetchRequest)
    repeated = broker.repeated_fetches
    if repeated:
        known = repeated.get(id(request))
        if known is not None and known.takes_again(call):
            broker.parked_fetches.park(known)
            return None
    if request.session_id not in _SESSION_IDS and call.version >= SESSIONS_SINCE:
        return _failed(request, request.session_id, call.version)
    fetch = broker.services.fetch_sessions.open(request, call.version, call.now)
    if isinstance(fetch, ErrorCode):
        return FetchResponse(error_code=fetch)
    operation = Operation(broker, call, request, fetch)
    if operation.partitions and request.isolation_level not in (0, READ_COMMITTED):
        return _failed(
            request, request.session_id, call.version
        )  # if there is any partition to read
    response = operation.answer_now()
    if response is None:
        broker.parked_fetches.park(operation)
        if repeated is not None and operation.may_be_repeated():
            if len(repeated) >= MOST_KEPT:
                repeated.clear()
            repeated[id(request)] = operation  # which holds the request
    return response


def _failed(request: FetchRequest, session_id: int = 0, version: int = 0) -> FetchResponse:
    """Return the response with -1 everywhere, Kafka's answer if it fails on a request."""
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    return FetchResponse(
        error_code=code,
        session_id=session_id,
        responses=[]
        if version >= TOPIC_IDS_SINCE
        else [
            FetchableTopicResponse(
                topic_id=topic.topic_id,
                topic=topic.topic,
                partitions=[_refused(partition.partition, code) for partition in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _refused(index: int, code: int, aborted: list[AbortedTransaction] | None = ()) -> PartitionData:  # type: ignore[assignment]
    """Return a partition's error. `aborted`: null as in Kafka if the log was read, else an empty
    list.
    """
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        records=b"",
        aborted_transactions=None if aborted is None else [],
    )


class Operation:
    """One fetch in progress; `ParkedFetches` keeps it while it waits."""

    __slots__ = (
        "_asked",
        "_broker",
        "_call",
        "_committed",
        "_fetch",
        "_idle",
        "_max_bytes",
        "_min_bytes",
        "_repeated",
        "_replica_id",
        "_request",
        "_unknown",
        "deadline_ms",
        "partitions",
        "token",
    )

    def __init__(self, broker: Broker, call: Call, request: FetchRequest, fetch: Fetch) -> None:
        self.token = call.token
        self.deadline_ms: int = call.now + request.max_wait_ms
        self._broker = broker
        self._call = call
        self._request = request
        self._fetch = fetch
        self._committed = request.isolation_level == READ_COMMITTED
        self._replica_id = (
            request.replica_id if call.version < 15 else request.replica_state.replica_id
        )
        self._max_bytes = min(request.max_bytes, broker.configs.get_int("fetch.max.bytes"))
        if broker.services.throttling is not None and self._replica_id < _NO_REPLICA:
            most = broker.services.throttling.most_fetched(call)
            if most is not None:  # more would be throttled whenever it is asked for
                self._max_bytes = min(self._max_bytes, most)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._asked: list[tuple[Key, str, SessionPartition]] = []
        self._unknown: list[tuple[Key, SessionPartition, PartitionData]] = []
        self._idle = True  # all that is asked for is at its end: nothing is made for it before its time is over
        self._repeated: Repeated | None = None  # what is kept for the same request again
        self._name_topics()
        self.partitions = tuple(dict.fromkeys((topic, key[1]) for key, topic, _ in self._asked))
        if broker.services.cleans_logs and broker.services.cleaning.lost:
            for key, topic, partition in self._asked:
                offset = partition.wanted.fetch_offset
                broker.services.cleaning.fetched(call, (topic, key[1]), offset)

    def may_be_repeated(self) -> bool:
        """If the fetch waits without a session at the end of all its partitions, prepare to repeat
        it (`fetching.repeated`) and return True.
        """
        cluster, request = self._broker.cluster, self._request
        if (
            not self._idle
            or self._unknown
            or request.session_epoch != FINAL_EPOCH
            or request.session_id != NO_SESSION
        ):
            return False
        stands: list[tuple[Partition, int]] = []
        for key, topic, partition in self._asked:
            found = cluster.partition(topic, key[1])
            if found is None:
                return False
            stands.append((found, partition.wanted.fetch_offset))
        self._repeated = Repeated(cluster, stands)
        return True

    def takes_again(self, call: Call) -> bool:
        """See `Again.takes_again`."""
        repeated = self._repeated
        if (
            repeated is None
            or call.message is not self._request
            or self._broker.services.throttling is not None
            or not repeated.stands(self._broker.cluster)
            or not repeated.at_end()
        ):
            return False
        self._call, self.token = call, call.token
        self.deadline_ms = call.now + self._request.max_wait_ms
        return True

    def _name_topics(self) -> None:
        """Separate readable partitions from unknown ones: error 100 for an unknown topic id, 3 for
        an unknown name or for a name whose id is gone.
        """
        cluster = self._broker.cluster
        unknown_names: list[tuple[Key, SessionPartition, PartitionData]] = []
        for key, partition in self._fetch.wanted.items():
            name = key[0]
            if isinstance(name, bytes):
                if partition.topic is None:
                    topic = cluster.topics_by_id.get(name)
                    partition.topic = topic.name if topic is not None else None
                if partition.topic is None:
                    self._unknown.append(
                        (key, partition, _refused(key[1], ErrorCode.UNKNOWN_TOPIC_ID))
                    )
                    continue
                name = partition.topic
            found = cluster.partition(name, key[1])
            if found is None:
                unknown_names.append(
                    (key, partition, _refused(key[1], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
                )
            else:
                self._asked.append((key, name, partition))
                self._idle = self._idle and self._at_end(key, found, partition.wanted)
        self._unknown += unknown_names

    # -- waiting

    def answer_now(self) -> FetchResponse | None:
        """Return the response, or None if the fetch has to wait."""
        if self._request.max_wait_ms > 0 and self._min_bytes > 0 and self._idle and self._asked:
            return None
        answers, size, urgent = self._read_all()
        if (
            self._request.max_wait_ms > 0
            and self._asked
            and size < self._min_bytes
            and not urgent
            and not self._is_behind()
        ):
            return None
        return self._response(answers, self._call.now)

    def _at_end(self, key: Key, found: Partition, wanted: FetchPartition) -> bool:
        """Return True if the consumer is at the end of a log that this broker leads, so that it
        gets no records, no error and no preferred replica.
        """
        return (
            wanted.fetch_offset == found.log.log_end_offset
            and found.leader == self._broker.node_id
            and wanted.last_fetched_epoch < 0
            and wanted.current_leader_epoch in (-1, found.leader_epoch)
            and self._replica_id < _NO_REPLICA
            and not self._request.rack_id
            and found.topic not in WITHOUT_RECORDS
            and (key[0].__class__ is str or self._broker.cluster.topics[found.topic].id == key[0])
        )

    def ready(self, woken: tuple[str, int] | None = None) -> bool:
        """Return True if waiting is over: enough bytes, or a partition that can no longer be read
        as requested.
        """
        size = 0
        for _, topic, partition in self._asked:
            wanted = partition.wanted
            found = self._broker.cluster.partition(topic, wanted.partition)
            if found is None or (found.leader != self._broker.node_id and not self._follows(found)):
                return True
            log = found.log
            if log.high_watermark <= wanted.fetch_offset <= log.log_end_offset:
                continue
            if not log.log_start_offset <= wanted.fetch_offset < log.high_watermark:
                return True
            if self._in_older_segment(log, wanted.fetch_offset):
                return True
            size += min(
                log.bytes_from(wanted.fetch_offset, self._end(log)), wanted.partition_max_bytes
            )
            if size >= self._min_bytes:
                return True
        return False

    def _is_behind(self) -> bool:
        """Return True if a partition is read from an older segment than its active one: such a
        fetch never waits (SEG-3).
        """
        cluster = self._broker.cluster
        for key, topic, partition in self._asked:
            found = cluster.partition(topic, key[1])
            if found is not None and self._in_older_segment(
                found.log, partition.wanted.fetch_offset
            ):
                return True
        return False

    def _in_older_segment(self, log: PartitionLog, offset: int) -> bool:
        if log.has_one_segment:
            return False
        end = self._end(log)
        return not log.in_same_segment(offset, log.log_end_offset if end is None else end)

    def _end(self, log: PartitionLog) -> int | None:
        """Return the log end for this reader, or None if it is the log end offset."""
        if self._committed and log.transactions:
            return log.last_stable_offset
        high_watermark = log.high_watermark
        return None if high_watermark == log.log_end_offset else high_watermark

    def _follows(self, found: Partition) -> bool:
        """Return True if this broker may serve a consumer from a replica it does not lead
        (KIP-392).
        """
        return (
            self._call.version >= FOLLOWERS_SERVE_SINCE and self._broker.node_id in found.replicas
        )

    def complete(self, now: int) -> None:
        """Answer the parked request with what there is."""
        self._broker.parked.answer(self.token, Unread(lambda: self._answer(now)), now)

    def _answer(self, now: int) -> FetchResponse | Encoded:
        broker, repeated = self._broker, self._repeated
        if (
            repeated is None
            or broker.interceptors  # which may change answers, as quotas do
            or broker.services.throttling is not None
            or not repeated.stands(broker.cluster)
            or not repeated.at_end()
        ):
            return self._response(self._read_all()[0], now)
        return repeated.answer() or repeated.keep(
            Encoded(self._response(self._read_all()[0], now).encode(self._call.version))
        )

    # -- reading

    def _read_all(self) -> tuple[list[tuple[Key, SessionPartition, PartitionData]], int, bool]:
        """Read the partitions. Return their answers, the bytes of records, and whether one must be
        sent without waiting. Partitions that an incremental answer would leave out are left out
        already.
        """
        answers: list[tuple[Key, SessionPartition, PartitionData]] = []
        total, urgent = 0, False
        left = self._max_bytes
        cluster, node_id = self._broker.cluster, self._broker.node_id
        incremental = self._fetch.session is not None and self._replica_id < _NO_REPLICA
        for key, topic, partition in self._asked:
            found = cluster.partition(topic, key[1])
            if found is None:
                data = _refused(key[1], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
            elif (
                incremental
                and found.leader == node_id
                and _unchanged(found, partition)
                and (key[0].__class__ is str or cluster.topics[topic].id == key[0])
            ):
                continue
            elif self._at_end(key, found, partition.wanted):
                aborted: list[AbortedTransaction] | None = [] if self._committed else None
                answers.append((key, partition, _position_of(found, aborted)))
                continue
            else:
                data = self._read(key, found, partition.wanted, left, whole=not total)
            size = len(data.records or b"")
            total += size
            left = max(0, left - size)
            urgent = (
                urgent
                or bool(data.error_code)
                or data.diverging_epoch.end_offset >= 0
                or data.preferred_read_replica >= 0
            )
            answers.append((key, partition, data))
        return answers, total, urgent

    def _read(
        self, key: Key, found: Partition, wanted: FetchPartition, max_bytes: int, *, whole: bool
    ) -> PartitionData:
        error = self._fault(key, found, wanted)
        limit = min(wanted.partition_max_bytes, max_bytes)
        log = found.log
        diverging = None
        if not error and wanted.last_fetched_epoch >= 0:
            end = log.epoch_end(wanted.last_fetched_epoch)
            if end.end_offset < 0 or wanted.fetch_offset < log.log_start_offset:
                error = ErrorCode.OFFSET_OUT_OF_RANGE
            elif end.epoch < wanted.last_fetched_epoch or end.end_offset < wanted.fetch_offset:
                diverging = EpochEndOffset(epoch=end.epoch, end_offset=end.end_offset)
        if (
            not error
            and diverging is None
            and not log.log_start_offset <= wanted.fetch_offset <= log.log_end_offset
        ):
            error = ErrorCode.OFFSET_OUT_OF_RANGE
        if (
            not error
            and diverging is None
            and limit < 0
            and wanted.fetch_offset < log.log_end_offset
        ):
            error = (
                ErrorCode.UNKNOWN_SERVER_ERROR
            )  # Kafka fails on it, where there is something to read
        if error:
            if error is ErrorCode.OFFSET_OUT_OF_RANGE and self._broker.services.cleans_logs:
                self._broker.services.cleaning.out_of_range(self._call, found, wanted.fetch_offset)
            data = _refused(wanted.partition, error, None)
            if self._call.version >= LEADER_TAGS_SINCE and error in (
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                ErrorCode.FENCED_LEADER_EPOCH,
            ):
                data.current_leader = LeaderIdAndEpoch(
                    leader_id=found.leader, leader_epoch=found.leader_epoch
                )
            return data
        data = _position_of(found, None)
        if diverging is not None:
            data.diverging_epoch = diverging
            return data
        preferred = self._preferred_replica(found, wanted.fetch_offset)
        if preferred is not None:
            data.preferred_read_replica = preferred
            return data
        if not log.log_end_offset and found.topic in WITHOUT_RECORDS:
            self._broker.unserved.reads_internal_topic(self._broker.log, self._call, found.topic)
        data.records = log.read(wanted.fetch_offset, limit, at_least_one=whole, end=self._end(log))
        if self._committed and (
            data.records or not limit or wanted.fetch_offset >= log.last_stable_offset
        ):
            # Stays null where the first batch was found too large, as Kafka's does.
            data.aborted_transactions = (
                _aborted(log, wanted.fetch_offset, len(data.records))
                if log.aborted and data.records
                else []
            )
        return data

    def _fault(self, key: Key, found: Partition, wanted: FetchPartition) -> int:
        """Return the error of a partition that may not be read, or 0: topic recreated (103), no
        replica here (6), leader epoch (74, 75), not the leader (6), request of a replica (75 if
        it has an epoch, else 6).
        """
        if isinstance(key[0], bytes) and self._broker.cluster.topics[found.topic].id != key[0]:
            return ErrorCode.INCONSISTENT_TOPIC_ID
        if self._broker.node_id not in found.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if 0 <= wanted.current_leader_epoch < found.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if wanted.current_leader_epoch > found.leader_epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if found.leader != self._broker.node_id and not self._follows(found):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if self._replica_id >= _NO_REPLICA:  # one that the leader does not know
            has_epoch = wanted.current_leader_epoch >= 0
            return ErrorCode.UNKNOWN_LEADER_EPOCH if has_epoch else ErrorCode.NOT_LEADER_OR_FOLLOWER
        return 0

    def _preferred_replica(self, found: Partition, offset: int) -> int | None:
        """Return the replica from which the consumer should read instead, as Kafka's
        RackAwareReplicaSelector does (KIP-392), or None.

        Among the in-sync replicas in the consumer's rack that have the offset: the leader, else
        the one with the longest log. A follower outside the ISR may lag for ever, and is never
        chosen (KAFKA-14372).
        """
        broker, rack = self._broker, self._request.rack_id
        if (
            not rack
            or broker.replication is None
            or found.leader != broker.node_id
            or self._call.version < FOLLOWERS_SERVE_SINCE
        ):
            return None
        if broker.configs.get("replica.selector.class") != RACK_AWARE_SELECTOR:
            return None
        nodes = broker.cluster.brokers
        near = [
            node
            for node in found.isr
            if node in nodes and nodes[node].rack == rack and node not in found.offline
        ]
        if found.leader in near:
            return None
        ends: dict[int, int] = {}
        for node in near:
            follower = broker.replication.follower(found.leader, found.topic, found.index, node)
            start = broker.replication.log_start(node, found.topic, found.index)
            if follower is not None and start is not None and start <= offset <= follower.log_end:
                ends[node] = follower.log_end
        return max(ends, key=lambda node: (ends[node], node), default=None)

    # -- answering

    def _response(
        self, answers: list[tuple[Key, SessionPartition, PartitionData]], now: int
    ) -> FetchResponse:
        fetch = self._fetch
        if any(key[0] == ZERO_UUID for key, *_ in self._unknown[:-1]):
            # Kafka fails on what comes behind a topic that has neither name nor id.
            return _failed(self._request, self._request.session_id, self._call.version)
        if self._broker.services.throttling is not None and self._replica_id < _NO_REPLICA:
            throttled = self._throttled(self._broker.services.throttling, answers, now)
            if throttled is not None:
                return throttled
        if data_log.on(self._broker.log) is not None:
            for key, partition, data in answers:
                if data.records:
                    topic = key[0] if isinstance(key[0], str) else partition.topic or ""
                    data_log.served(
                        self._broker.log,
                        self._broker.node_id,
                        self._call,
                        topic,
                        data.partition_index,
                        partition.wanted.fetch_offset,
                        data.records,
                        committed=self._committed,
                    )
        answers = answers + self._unknown
        session = fetch.session
        if session is not None:
            if session.epoch != fetch.epoch:  # the session went on while this request waited
                return FetchResponse(
                    error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=session.session_id
                )
            answers = [answer for answer in answers if answer[1].changed(answer[2])]
            move_to_end(session, [key for key, _, data in answers if data.records])
        elif fetch.full:  # its session keeps the answer's order: unknown ones come last
            fetch = fetch._replace(wanted={key: partition for key, partition, _ in answers})
            session = self._broker.services.fetch_sessions.found(
                fetch, self._call.version, self._call.now, self._broker.random
            )
            for _, partition, data in answers:
                partition.changed(data)
        response = FetchResponse(session_id=session.session_id if session is not None else 0)
        response.responses = _by_topic(answers)
        if self._replica_id >= _NO_REPLICA:  # only consumers are told where leaders are
            return response
        if self._call.version >= LEADER_TAGS_SINCE:
            leaders = {
                data.current_leader.leader_id
                for _, _, data in answers
                if data.current_leader.leader_id >= 0
            }
            response.node_endpoints = [
                node for leader in sorted(leaders) for node in self._endpoint(leader)
            ]
        return response

    def _throttled(
        self,
        throttling: Throttling,
        answers: list[tuple[Key, SessionPartition, PartitionData]],
        now: int,
    ) -> FetchResponse | None:
        """Return the empty response of a client over its quota (QUO-1), or None if it is not over.
        It neither creates a session nor marks partitions as sent.
        """
        session = self._fetch.session
        told = [
            each
            for each in (*answers, *self._unknown)
            if session is None or each[1].must_tell(each[2])
        ]
        version = self._call.version
        size = _LENGTH + len(FetchResponse(responses=_by_topic(told)).encode(version))
        throttle_ms = throttling.fetched(self._call._replace(now=now), size)
        if not throttle_ms:
            return None
        if session is None:
            return FetchResponse(throttle_time_ms=throttle_ms)
        goes_on = session.epoch != self._fetch.epoch
        return FetchResponse(
            throttle_time_ms=throttle_ms,
            session_id=session.session_id,
            error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH if goes_on else 0,
        )

    def _endpoint(self, leader: int) -> list[NodeEndpoint]:
        node = self._broker.cluster.brokers.get(leader)
        if node is None or self._call.listener not in node.endpoints:
            return []
        host, port = node.endpoints[self._call.listener]
        return [NodeEndpoint(node_id=leader, host=host, port=port, rack=node.rack)]


def _position_of(found: Partition, aborted: list[AbortedTransaction] | None) -> PartitionData:
    """Return a partition's answer with its log's offsets and no records."""
    log = found.log
    return PartitionData(
        partition_index=found.index,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=aborted,
        records=b"",
    )


def _aborted(log: PartitionLog, offset: int, size: int) -> list[AbortedTransaction]:
    """Return the aborted transactions in `size` bytes from an offset on, for a read_committed
    consumer.
    """
    return [
        AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
        for one in log.aborted_in(offset, size)
    ]


def _unchanged(found: Partition, partition: SessionPartition) -> bool:
    """Return True if an incremental answer need not contain the partition: it is at the end, as
    sent before, and there is no epoch to check.
    """
    wanted, log = partition.wanted, found.log
    return (
        wanted.fetch_offset == log.log_end_offset == partition.high_watermark
        and log.log_start_offset == partition.log_start_offset
        and wanted.last_fetched_epoch < 0
        and wanted.current_leader_epoch in (-1, found.leader_epoch)
        and wanted.partition_max_bytes >= 0
    )


def _by_topic(
    answers: list[tuple[Key, SessionPartition, PartitionData]],
) -> list[FetchableTopicResponse]:
    """Group neighbouring partitions of the same topic."""
    topics: list[FetchableTopicResponse] = []
    last: str | bytes | None = None
    for (name, _), _, data in answers:
        if name != last:
            last = name
            topics.append(
                FetchableTopicResponse(topic_id=name)
                if isinstance(name, bytes)
                else FetchableTopicResponse(topic=name)
            )
        topics[-1].partitions.append(data)
    return topics


__all__ = ["TOPIC_IDS_SINCE", "Operation", "handle"]
