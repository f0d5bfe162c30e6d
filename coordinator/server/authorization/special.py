"""Authorization of the APIs whose refusals are more than an error in the entry's place: parts are
hidden or shown, or the right depends on the kind of resource. `SPECIAL` maps API names to
decisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from coordinator.base.errors import ErrorCode
from coordinator.base.slices import ITEMS_A_STEP, done, each, only
from coordinator.events.acls import Operation
from coordinator.wire.messages.describe_configs import DescribeConfigsRequest
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.topics import DeletableTopicResult, DeleteTopicsResponse
from coordinator.wire.schema import ZERO_UUID

from ..requests.refusals import copied, message_of, refuse_in_slices
from .by_table import by_table
from .hidden_topics import describe_topic_partitions, metadata
from .of_groups import described, heartbeat, list_groups, offset_fetch
from .of_records import add_partitions_to_txn, fetch, init_producer_id, produce
from .of_shares import by_handler, of_topics, offsets_described
from .of_tokens import create_delegation_token, describe_delegation_token
from .table import CHECKS, CLUSTER, GROUP, TOPIC, TXN
from .verdicts import Decide, Verdict, refused

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..requests.refusals import Place
    from .asking import Asker

_O = Operation
_BETWEEN_BROKERS = 4
_DELETES_BY_ID = 6
_FETCHES_GROUPS = 8
_BROKER, _LOGGERS, _GROUP_CONFIGS, _TOPIC_CONFIGS = 4, 8, 32, 2
_ANY_ERROR = ErrorCode.TOPIC_AUTHORIZATION_FAILED  # replaced by that of its resource
_GROUP_KEY, _TXN_KEY = 0, 1


def _find_coordinator(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a FindCoordinator: the right depends on the key type (REF-4)."""
    message, version = asker.call.message, asker.call.version
    assert isinstance(message, FindCoordinatorRequest)
    operation, resource = {
        _GROUP_KEY: (_O.DESCRIBE, GROUP),
        _TXN_KEY: (_O.DESCRIBE, TXN),
    }.get(message.key_type, (_O.CLUSTER_ACTION, CLUSTER))
    check = next(
        each
        for each in CHECKS["FindCoordinator"]
        if (each.operation, each.resource) == (operation, resource)
    )

    def chosen(place: Place) -> bool:
        if resource is CLUSTER:
            return message.key_type == 2 and asker.is_refused(operation, CLUSTER)
        name = place.group if message.key_type == _GROUP_KEY else place.transactional_id
        return asker.is_refused(operation, resource, name or "")

    refusal = yield from refuse_in_slices(message, version, check.error, chosen)
    if refusal is None:
        return None

    def complete(answer: Any) -> Slices[Any]:
        answer = yield from refusal.completing(answer)
        for seen, row in enumerate(answer.coordinators, 1):
            if not seen % ITEMS_A_STEP:
                yield
            if row.error_code == check.error and resource is not CLUSTER:
                row.error_message = ""
        return answer

    if refusal.rest is None:
        return refused((yield from complete(None)))
    return Verdict(refusal.rest, complete=complete)


def _configs(operation: Operation) -> Decide:
    """Return the decision for an API about configurations: the right depends on the resource type
    (REF-12, REF-44-1).
    """

    def decided(asker: Asker) -> Slices[Verdict | None]:
        message = asker.call.message
        api = type(message).__name__.removesuffix("Request")
        entries = "results" if isinstance(message, DescribeConfigsRequest) else "responses"
        resources: list[Any] = message.resources  # type: ignore[attr-defined]

        def error_of(resource: Any) -> ErrorCode | None:
            kind, name = resource.resource_type, resource.resource_name
            where = {_TOPIC_CONFIGS: TOPIC, _GROUP_CONFIGS: GROUP}.get(kind, CLUSTER)
            about = () if where is CLUSTER else (name,)
            if not asker.is_refused(operation, where, *about):
                return None
            return next(check for check in CHECKS[api] if check.resource is where).error

        marks = yield from each(resources, error_of)
        if not any(marks):
            return None
        marked = iter(marks)
        by_the_broker = asker.broker.configs.release.has("REF-44-1")
        untold_kinds: tuple[int, ...] = ()
        if api == "IncrementalAlterConfigs":
            untold_kinds = (_BROKER, _LOGGERS) if by_the_broker else (_LOGGERS,)
        refusal = yield from refuse_in_slices(
            message, asker.call.version, int(_ANY_ERROR), lambda _: next(marked) is not None
        )
        assert refusal is not None

        def complete(answer: Any) -> Slices[Any]:
            answer = yield from refusal.completing(answer)
            rows = zip(getattr(answer, entries), marks, strict=True)
            for seen, (row, mark) in enumerate(rows, 1):
                if not seen % ITEMS_A_STEP:
                    yield
                if mark is not None:
                    untold = row.resource_type in untold_kinds
                    row.error_code = int(mark)
                    row.error_message = None if untold else message_of(mark)
            return answer

        if refusal.rest is None:
            return refused((yield from complete(None)))
        return Verdict(refusal.rest, complete=complete)

    return decided


def _describe_cluster(asker: Asker) -> Slices[Verdict | None]:
    message: Any = asker.call.message
    if not message.include_cluster_authorized_operations:
        return done(None)

    def complete(answer: Any) -> Slices[Any]:
        seen = asker.may(_O.DESCRIBE, CLUSTER)
        bits = asker.operations(CLUSTER) if seen else 0
        return done(copied(answer, cluster_authorized_operations=bits))

    return done(Verdict(message, complete=complete))


def _create_topics(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a CreateTopics: Create on the cluster or on the topic; configurations
    are shown to users that may describe them (REF-11).
    """
    anywhere = asker.may(_O.CREATE, CLUSTER)
    verdict = None
    if not anywhere:
        verdict = yield from by_table(asker, "CreateTopics", CHECKS["CreateTopics"][:1])
    if verdict is not None and verdict.message is None:
        return refused((yield from _told(verdict.answer)))
    inner = None if verdict is None else verdict.complete

    def complete(answer: Any) -> Slices[Any]:
        for seen, row in enumerate(answer.topics, 1):
            if not seen % ITEMS_A_STEP:
                yield
            if row.error_code or asker.may(_O.DESCRIBE_CONFIGS, TOPIC, row.name):
                continue
            row.num_partitions = row.replication_factor = -1
            row.configs = []
            row.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return answer if inner is None else (yield from _told((yield from inner(answer))))

    message = asker.call.message if verdict is None else verdict.message
    return Verdict(message, complete=complete)


def _told(answer: Any) -> Slices[Any]:
    for seen, row in enumerate(answer.topics, 1):
        if not seen % ITEMS_A_STEP:
            yield
        if row.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            row.error_message = "Authorization failed."
    return answer


def _delete_topics(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a DeleteTopics. Delete on the cluster allows all topics. Only users
    that may describe a topic learn that it is missing, or the name behind a topic id (ACL-1).
    """
    message: Any = asker.call.message
    if asker.may(_O.DELETE, CLUSTER):
        return None
    topics, by_id = asker.broker.cluster.topics, asker.broker.cluster.topics_by_id
    by_state = asker.call.version >= _DELETES_BY_ID
    entries = message.topics if by_state else message.topic_names
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    rest, lost = [], []
    for looked_at, entry in enumerate(entries, 1):
        if not looked_at % ITEMS_A_STEP:
            yield
        name = entry.name if by_state else entry
        if name is None:
            known = by_id.get(entry.topic_id)
            hidden = known is not None and asker.is_refused(_O.DELETE, TOPIC, known.name)
            seen = hidden and known is not None and asker.may(_O.DESCRIBE, TOPIC, known.name)
            shown = known.name if seen and known is not None else None
        else:
            shown = name
            hidden = not asker.may(_O.DELETE, TOPIC, name) and (
                name in topics or not asker.may(_O.DESCRIBE, TOPIC, name)
            )
            if hidden:
                asker.is_refused(_O.DELETE, TOPIC, name)
        if hidden:
            topic_id = entry.topic_id if by_state else ZERO_UUID
            text = message_of(error)
            lost.append(
                DeletableTopicResult(
                    name=shown, topic_id=topic_id, error_code=error, error_message=text
                )
            )
        else:
            rest.append(entry)
    if not lost:
        return None

    def complete(answer: Any) -> Slices[Any]:
        return done(copied(answer, responses=[*lost, *answer.responses]))

    if not rest:
        return refused(DeleteTopicsResponse(responses=lost))
    field = "topics" if by_state else "topic_names"
    return Verdict(copied(message, **{field: rest}), complete=complete)


def _list_transactions(asker: Asker) -> Slices[Verdict | None]:
    def complete(answer: Any) -> Slices[Any]:
        seen = yield from only(
            answer.transaction_states,
            lambda each: asker.may(_O.DESCRIBE, TXN, each.transactional_id),
        )
        return copied(answer, transaction_states=seen)

    return done(Verdict(asker.call.message, complete=complete))


def _describe_transactions(asker: Asker) -> Slices[Verdict | None]:
    verdict = yield from by_table(asker, "DescribeTransactions", CHECKS["DescribeTransactions"][:1])
    if verdict is not None and verdict.message is None:
        return verdict
    inner = None if verdict is None else verdict.complete

    def complete(answer: Any) -> Slices[Any]:
        for seen, row in enumerate(answer.transaction_states, 1):
            if not seen % ITEMS_A_STEP:
                yield
            row.topics = yield from only(
                row.topics, lambda each: asker.may(_O.DESCRIBE, TOPIC, each.topic)
            )
        return answer if inner is None else (yield from inner(answer))

    message = asker.call.message if verdict is None else verdict.message
    return Verdict(message, complete=complete)


def _offset_for_leader_epoch(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on an OffsetForLeaderEpoch: ClusterAction, the right of followers, allows
    all topics.
    """
    if asker.may(_O.CLUSTER_ACTION, CLUSTER):
        return done(None)
    return by_table(asker, "OffsetForLeaderEpoch", CHECKS["OffsetForLeaderEpoch"][:1])


def _write_txn_markers(asker: Asker) -> Slices[Verdict | None]:
    """Return the verdict on a WriteTxnMarkers: Alter on the cluster suffices too, for
    `kafka-transactions.sh abort` (KIP-664).
    """
    if asker.may(_O.ALTER, CLUSTER):
        return done(None)
    return by_table(asker, "WriteTxnMarkers", CHECKS["WriteTxnMarkers"][:1])


SPECIAL: Final[dict[str, Decide]] = {
    "AddPartitionsToTxn": add_partitions_to_txn,
    "AlterShareGroupOffsets": of_topics("AlterShareGroupOffsets"),
    "AlterConfigs": _configs(_O.ALTER_CONFIGS),
    "ConsumerGroupDescribe": described("ConsumerGroupDescribe"),
    "ConsumerGroupHeartbeat": heartbeat("ConsumerGroupHeartbeat"),
    "CreateDelegationToken": create_delegation_token,
    "CreateTopics": _create_topics,
    "DeleteShareGroupOffsets": of_topics("DeleteShareGroupOffsets"),
    "DeleteTopics": _delete_topics,
    "DescribeCluster": _describe_cluster,
    "DescribeConfigs": _configs(_O.DESCRIBE_CONFIGS),
    "DescribeDelegationToken": describe_delegation_token,
    "DescribeGroups": described("DescribeGroups"),
    "DescribeShareGroupOffsets": offsets_described,
    "DescribeTopicPartitions": describe_topic_partitions,
    "DescribeTransactions": _describe_transactions,
    "Fetch": fetch,
    "FindCoordinator": _find_coordinator,
    "IncrementalAlterConfigs": _configs(_O.ALTER_CONFIGS),
    "InitProducerId": init_producer_id,
    "ListGroups": list_groups,
    "ListTransactions": _list_transactions,
    "Metadata": metadata,
    "OffsetCommit": by_handler("OffsetCommit"),
    "OffsetDelete": by_handler("OffsetDelete"),
    "OffsetFetch": offset_fetch,
    "OffsetForLeaderEpoch": _offset_for_leader_epoch,
    "Produce": produce,
    "ShareAcknowledge": by_handler("ShareAcknowledge"),
    "ShareFetch": by_handler("ShareFetch"),
    "ShareGroupDescribe": described("ShareGroupDescribe"),
    "ShareGroupHeartbeat": heartbeat("ShareGroupHeartbeat"),
    "TxnOffsetCommit": by_handler("TxnOffsetCommit"),
    "WriteTxnMarkers": _write_txn_markers,
}
