"""Authorization of APIs about records and transactions: Produce, Fetch, InitProducerId and
AddPartitionsToTxn (REF-1 to REF-3).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, done, only
from coordinator.events.acls import Operation
from coordinator.wire.messages.fetch import FetchRequest, FetchResponse
from coordinator.wire.messages.produce import ProduceRequest
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    InitProducerIdRequest,
)
from coordinator.wire.schema import ZERO_UUID

from ..fetched import fetched
from ..fetching.errors import refuse_fetch_in_slices
from ..requests.refusals import refuse_in_slices, refused_whole, refused_whole_in_slices
from .table import CLUSTER, TOPIC, TXN
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..requests.refusals import Place
    from .asking import Asker

_O = Operation
_BETWEEN_BROKERS = 4
_FOLLOWERS_HAVE_A_STATE = 15
_ATTRIBUTES, _TRANSACTIONAL = 22, 1 << 4  # of a batch: the second byte of its attributes


def _topic_is_refused(asker: Asker, operation: Operation) -> Callable[[Place], bool]:
    def chosen(place: Place) -> bool:
        name = asker.topic_of(place)
        return name is not None and asker.is_refused(operation, TOPIC, name)

    return chosen


def produce(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a Produce: refused topics get an error, the other records are appended.
    With acks=0 a refusal closes the connection (REF-2).
    """
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, ProduceRequest)
    if (yield from _is_transactional(message)) and (
        message.transactional_id is None
        or asker.is_refused(_O.WRITE, TXN, message.transactional_id)
    ):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        refusal = yield from refuse_in_slices(message, version, error, lambda _: True)
    else:
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        chosen = _topic_is_refused(asker, _O.WRITE)
        refusal = yield from refuse_in_slices(message, version, error, chosen)
    if refusal is None:
        return None
    if not message.acks:
        why = f"Produce v{version}: {error.name}, and its client waits for no answer (acks=0)"
        return Verdict(refusal.rest, close=why)

    def complete(answer: Any) -> Slices[Any]:
        answer = yield from refusal.completing(answer)
        rows = [row for topic in answer.responses for row in topic.partition_responses]
        for row in (yield from only(rows, lambda row: row.error_code == error)):
            row.error_message = None
        return answer

    if refusal.rest is None:
        return refused((yield from complete(None)))
    return Verdict(refusal.rest, complete=complete)


def _is_transactional(message: ProduceRequest) -> Slices[bool]:
    """Return whether any batch of the request is transactional."""
    for seen, topic in enumerate(message.topic_data, 1):
        if not seen % ITEMS_A_STEP:
            yield
        for row in topic.partition_data:
            records = row.records
            if records and len(records) > _ATTRIBUTES and records[_ATTRIBUTES] & _TRANSACTIONAL:
                return True
    return False


def fetch(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a Fetch: refused topics have their error, in a fetch session too. A
    follower's fetch needs a right on the cluster.
    """
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, FetchRequest)
    follower = (
        message.replica_id
        if version < _FOLLOWERS_HAVE_A_STATE
        else message.replica_state.replica_id
    )
    reads = yield from fetched(asker.broker, message)
    if follower >= 0:
        all_refused = asker.is_refused(_O.CLUSTER_ACTION, CLUSTER)
        chosen: Callable[[Place], bool] = lambda _: all_refused  # noqa: E731
    else:
        chosen = _topic_is_refused(asker, _O.READ)
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refusal = yield from refuse_fetch_in_slices(message, version, error, chosen, reads)
    if refusal is None:
        return None

    behind_zeros = islice(dropwhile(lambda place: place.topic_id != ZERO_UUID, reads), 1, None)
    fails = bool((yield from only(list(behind_zeros), chosen)))

    def complete(answer: Any) -> Slices[Any]:
        if fails:  # Kafka fails on what is refused behind a topic that has neither name nor id
            code = ErrorCode.UNKNOWN_SERVER_ERROR
            return FetchResponse(error_code=code, session_id=message.session_id)
        answer = yield from refusal.completing(answer)
        rows = [row for topic in answer.responses for row in topic.partitions]
        for row in (yield from only(rows, lambda row: row.error_code == error)):
            row.aborted_transactions = []
        return answer

    hidden = {place.topic for place in (yield from only(reads, chosen))}
    return Verdict(refusal.rest, complete=complete, sees=lambda topic: topic not in hidden)


def init_producer_id(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on an InitProducerId (REF-3)."""
    message = asker.call.message
    assert isinstance(message, InitProducerIdRequest)
    if message.transactional_id is not None:
        if asker.is_refused(_O.WRITE, TXN, message.transactional_id):
            error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            return done(refused(refused_whole(message, asker.call.version, error, None)))
        return done(None)
    if asker.may(_O.IDEMPOTENT_WRITE, CLUSTER) or asker.authorizer.allows_any(
        asker.principal, asker.host, _O.WRITE, TOPIC
    ):
        return done(None)
    asker.is_refused(_O.IDEMPOTENT_WRITE, CLUSTER)
    error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return done(refused(refused_whole(message, asker.call.version, error, None)))


def add_partitions_to_txn(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on an AddPartitionsToTxn: if any topic is refused, no partition is added
    (REF-1).
    """
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, AddPartitionsToTxnRequest)
    if version >= _BETWEEN_BROKERS:
        if asker.is_refused(_O.CLUSTER_ACTION, CLUSTER):
            error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            return refused(refused_whole(message, version, error, None))
        return None
    if asker.is_refused(_O.WRITE, TXN, message.v3_and_below_transactional_id):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return refused((yield from refused_whole_in_slices(message, version, error, None)))
    asked = message.v3_and_below_topics
    lost = yield from only(asked, lambda topic: asker.is_refused(_O.WRITE, TOPIC, topic.name))
    hidden = {topic.name for topic in lost}
    if not hidden:
        return None
    others = yield from refuse_in_slices(
        message,
        version,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        lambda place: place.topic not in hidden,
    )
    rest = message if others is None else others.rest
    assert rest is not None
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refusal = yield from refuse_in_slices(rest, version, error, lambda _: True)
    assert refusal is not None
    answer = yield from refusal.completing(None)
    return refused(answer if others is None else (yield from others.completing(answer)))
