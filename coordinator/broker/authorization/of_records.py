"""Records and transactions: Produce, Fetch, InitProducerId, AddPartitionsToTxn (REF-1 to REF-3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import ErrorCode
from ...security.acls import Operation
from ...wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from ...wire.messages.fetch import FetchRequest
from ...wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ...wire.messages.produce import ProduceRequest
from ..error_responses import refuse, refused_whole
from ..fetched import fetched
from ..fetching.errors import refuse_fetch
from .table import CLUSTER, TOPIC, TXN
from .verdicts import Verdict, refused

if TYPE_CHECKING:
    from ..error_responses import Place
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


def produce(asker: Asker) -> Verdict | None:
    """Refused records of a producer that waits for no answer close its connection; the others are
    kept (REF-2)."""
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, ProduceRequest)
    if _is_transactional(message) and (
        message.transactional_id is None
        or asker.is_refused(_O.WRITE, TXN, message.transactional_id)
    ):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        refusal = refuse("Produce", message, version, error, lambda _: True)
    else:
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        chosen = _topic_is_refused(asker, _O.WRITE)
        refusal = refuse("Produce", message, version, error, chosen)
    if refusal is None:
        return None
    if not message.acks:
        why = f"Produce v{version}: {error.name}, and its client waits for no answer (acks=0)"
        return Verdict(refusal.rest, close=why)

    def complete(answer: Any) -> Any:
        answer = refusal.complete(answer)
        for topic in answer.responses:
            for row in topic.partition_responses:
                if row.error_code == error:
                    row.error_message = None
        return answer

    if refusal.rest is None:
        return refused(complete(None))
    return Verdict(refusal.rest, complete=complete)


def _is_transactional(message: ProduceRequest) -> bool:
    """Does a batch say that it belongs to a transaction?"""
    return any(
        len(records) > _ATTRIBUTES and records[_ATTRIBUTES] & _TRANSACTIONAL
        for topic in message.topic_data
        for row in topic.partition_data
        if (records := row.records)
    )


def fetch(asker: Asker) -> Verdict | None:
    """The error beside its partition, within a fetch session too; followers of other brokers want a
    right of the cluster."""
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, FetchRequest)
    follower = (
        message.replica_id
        if version < _FOLLOWERS_HAVE_A_STATE
        else message.replica_state.replica_id
    )
    reads = fetched(asker.broker, message)
    if follower >= 0:
        all_refused = asker.is_refused(_O.CLUSTER_ACTION, CLUSTER)
        chosen: Callable[[Place], bool] = lambda _: all_refused  # noqa: E731
    else:
        chosen = _topic_is_refused(asker, _O.READ)
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refusal = refuse_fetch(message, version, error, chosen, reads)
    if refusal is None:
        return None

    def complete(answer: Any) -> Any:
        answer = refusal.complete(answer)
        for topic in answer.responses:
            for row in topic.partitions:
                if row.error_code == error:
                    row.aborted_transactions = []
        return answer

    hidden = {place.topic for place in reads if chosen(place)}
    return Verdict(refusal.rest, complete=complete, sees=lambda topic: topic not in hidden)


def init_producer_id(asker: Asker) -> Verdict | None:
    """REF-3."""
    message = asker.call.message
    assert isinstance(message, InitProducerIdRequest)
    if message.transactional_id is not None:
        if asker.is_refused(_O.WRITE, TXN, message.transactional_id):
            return refused(_no_producer(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        return None
    if asker.may(_O.IDEMPOTENT_WRITE, CLUSTER) or asker.authorizer.allows_any(
        asker.principal, asker.host, _O.WRITE, TOPIC
    ):
        return None
    asker.is_refused(_O.IDEMPOTENT_WRITE, CLUSTER)
    return refused(_no_producer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))


def _no_producer(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_id=-1, producer_epoch=-1)


def add_partitions_to_txn(asker: Asker) -> Verdict | None:
    """What is allowed is not done either, if anything is refused (REF-1)."""
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, AddPartitionsToTxnRequest)
    if version >= _BETWEEN_BROKERS:
        if asker.is_refused(_O.CLUSTER_ACTION, CLUSTER):
            return refused(
                AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
            )
        return None
    api = "AddPartitionsToTxn"
    if asker.is_refused(_O.WRITE, TXN, message.v3_and_below_transactional_id):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return refused(refused_whole(api, message, version, error))
    hidden = {
        topic.name
        for topic in message.v3_and_below_topics
        if asker.is_refused(_O.WRITE, TOPIC, topic.name)
    }
    if not hidden:
        return None
    others = refuse(
        api,
        message,
        version,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        lambda place: place.topic not in hidden,
    )
    rest = message if others is None else others.rest
    assert rest is not None
    refusal = refuse(api, rest, version, ErrorCode.TOPIC_AUTHORIZATION_FAILED, lambda _: True)
    assert refusal is not None
    answer = refusal.complete(None)
    return refused(answer if others is None else others.complete(answer))
