"""Interceptors' effect on transaction markers on their way to a partition's leader.

A marker is one WriteTxnMarkers request with one partition, sent by the transaction coordinator's
broker. Without interceptors at the leader markers are written at once. A marker that is refused
or whose connection is closed is sent again after `RETRY_MS`, one that is lost, or whose answer
is, after request.timeout.ms, as in Kafka's coordinators. Owns the markers that wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from coordinator.wire.messages.transactions import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from ..interceptors import Answer, Close, Drop, Handle, Hold, InterceptorError, changed, consult
from ..requests.call import Call

if TYPE_CHECKING:
    from ..interceptors import Interceptors, Verdict
    from ..parked_requests import ParkedRequests
    from ..settings.broker_configs import BrokerConfigs
    from ..storage.partition_log import Marker

RETRY_MS: Final = 100
_TOKENS: Final = 1 << 40
"""Tokens of markers are below 0, as no client's request has them; each coordinator has its own."""
_VERSION: Final = 2
_OVERDUE: Final = 0
_API: Final = WriteTxnMarkersRequest.api_key
Key: TypeAlias = "tuple[int, int, tuple[str, int]]"
"""Producer id, producer epoch and partition of a marker."""


class Leader(Protocol):
    """The part of a partition's leader that markers use."""

    interceptors: Interceptors

    @property
    def parked(self) -> ParkedRequests:
        """The requests that wait for an answer."""

    @property
    def configs(self) -> BrokerConfigs:
        """The broker's configuration."""

    @property
    def node_id(self) -> int:
        """The broker's id."""

    def note_interceptor_error(self, error: InterceptorError) -> None:
        """Keep an interceptor's error to be raised later."""


@dataclass(slots=True)
class _Sent:
    """A marker in progress. `until_ms` None: held until released; 0: due as soon as its leader can
    be reached.
    """

    call: Call
    until_ms: int | None
    then: Verdict = None
    written: bool = False  # and its answer is under way
    again: bool = False  # it is sent anew when the time is over


class _Held:
    """Entry for a held marker among the leader's held requests."""

    def __init__(self, sent: _Sent) -> None:
        self._sent = sent

    def deliver(self, response: object, now: int) -> None:
        """Do nothing: no other part of the broker answers a marker."""

    def resume(self, now: int) -> None:
        """Do nothing: no request waits behind a marker."""

    def release(self, now: int) -> None:
        """Continue the marker."""
        self._sent.until_ms = now


class MarkerDoor:
    """Markers of one transaction coordinator that wait at leaders' interceptors."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._tokens = count(-(node_id + 1) * _TOKENS, -1)
        self._sent: dict[Key, _Sent] = {}

    def concerns(self, leader: Leader) -> bool:
        """Return True if interceptors of the leader see markers, or any marker waits."""
        return bool(self._sent) or bool(leader.interceptors and leader.interceptors.asked[_API])

    @property
    def is_empty(self) -> bool:
        """True if no marker waits."""
        return not self._sent

    def next_deadline(self) -> int | None:
        """Return the instant at which a marker continues by itself, or None."""
        return min((sent.until_ms for sent in self._sent.values() if sent.until_ms), default=None)

    def keep(self, wanted: Collection[Key], now: int) -> None:
        """Drop the markers that are no longer wanted, because another broker coordinates their
        transactions. Those that are due wait until their leader can be reached.
        """
        for key in [key for key in self._sent if key not in wanted]:
            del self._sent[key]
        for sent in self._sent.values():
            if sent.until_ms is not None and sent.until_ms <= now:
                sent.until_ms = _OVERDUE

    def pass_through(
        self,
        leader: Leader,
        partition: tuple[str, int],
        marker: Marker,
        now: int,
        cause: int | None,
        write: Callable[[], None],
    ) -> bool:
        """Send or continue a marker; `write` appends it to the leader's log. Return whether the
        coordinator has its answer now.
        """
        key = (marker.producer_id, marker.producer_epoch, partition)
        sent = self._sent.get(key)
        if sent is None or sent.again:
            if sent is not None and now < (sent.until_ms or 0):
                return False
            self._sent.pop(key, None)
            call = self._call(leader, partition, marker, now, cause)
            return self._follow(key, leader, call, self._ask(leader, call), now, write)
        if sent.until_ms is None or now < sent.until_ms:
            return False
        del self._sent[key]
        return sent.written or self._follow(key, leader, sent.call, sent.then, now, write)

    def _follow(
        self,
        key: Key,
        leader: Leader,
        call: Call,
        verdict: Verdict,
        now: int,
        write: Callable[[], None],
    ) -> bool:
        timeout_ms = leader.configs.get_int("request.timeout.ms")
        match verdict:
            case Hold(duration_ms, then):
                until_ms = None if duration_ms is None else now + duration_ms
                sent = self._sent[key] = _Sent(call, until_ms, then)
                if until_ms is None:
                    leader.parked.park(call.token, _Held(sent))
                return False
            case Drop():
                self._again(key, call, now + timeout_ms)
                return False
            case Close() | Answer() | Handle(None):
                self._again(key, call, now + RETRY_MS)
                return False
            case Handle(_, after):
                write()
                return self._answered(key, leader, call, after, now, timeout_ms)
            case _:
                write()
                return True

    def _answered(
        self, key: Key, leader: Leader, call: Call, after: object, now: int, timeout_ms: int
    ) -> bool:
        """Apply the interceptor to the answer of a written marker."""
        try:
            outgoing = changed(after, _success(call), call)  # type: ignore[arg-type]
        except InterceptorError as error:
            leader.note_interceptor_error(error)
            return True
        match outgoing:
            case Hold(duration_ms, _):
                self._sent[key] = _Sent(call, now + (duration_ms or 0), written=True)
                return False
            case Drop():
                self._again(key, call, now + timeout_ms)
                return False
            case Close():
                self._again(key, call, now + RETRY_MS)
                return False
            case _:
                return True

    def _again(self, key: Key, call: Call, at_ms: int) -> None:
        self._sent[key] = _Sent(call, at_ms, again=True)

    def _ask(self, leader: Leader, call: Call) -> Verdict:
        try:
            return consult(leader.interceptors.asked[_API], call)
        except InterceptorError as error:
            leader.note_interceptor_error(error)
            return None

    def _call(
        self,
        leader: Leader,
        partition: tuple[str, int],
        marker: Marker,
        now: int,
        cause: int | None,
    ) -> Call:
        topic, index = partition
        request = WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=marker.producer_id,
                    producer_epoch=marker.producer_epoch,
                    transaction_result=marker.committed,
                    topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[index])],
                    coordinator_epoch=marker.coordinator_epoch,
                    transaction_version=marker.transaction_version,
                )
            ]
        )
        return Call(
            message=request,
            version=_VERSION,
            client_id=f"broker-{self._node_id}-txn-marker-sender",
            client_host="/127.0.0.1",
            token=next(self._tokens),
            now=now,
            listener="",
            cause=cause,
            broker=leader.node_id,
        )


def _success(call: Call) -> WriteTxnMarkersResponse:
    assert isinstance(call.message, WriteTxnMarkersRequest)
    (marker,) = call.message.markers
    (topic,) = marker.topics
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=index)
                            for index in topic.partition_indexes
                        ],
                    )
                ],
            )
        ]
    )
