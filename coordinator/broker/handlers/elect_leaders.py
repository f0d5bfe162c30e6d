"""ElectLeaders (key 43), v0-2 (KIP-460): preferred 0, unclean 1. `cluster.controller.leaders` holds
the refusals: not needed (84), preferred leader not available (80), no eligible leader (83), unknown
partition (3).

No topics, null: all of them are looked at, and of those that need no election only the topic's name
is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.controller.leaders import elect
from ...cluster.controller.partition_change import Election
from ...common.slices import ITEMS_A_STEP
from ...errors import ErrorCode
from ...wire.messages.reassignments import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ..call import Sliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...common.slices import Slices
    from ..call import Call, Result
    from ..core import Broker

_PREFERRED, _UNCLEAN = 0, 1


def handle(broker: Broker, call: Call) -> Result | Sliced:
    """No time (timeout 0 or less), and an unknown kind of election, are refused for the whole
    request."""
    request = call.message
    assert isinstance(request, ElectLeadersRequest)
    asked = request.topic_partitions
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and asked != []:
        return _refused(request, ErrorCode.REQUEST_TIMED_OUT, None)
    if request.election_type not in (_PREFERRED, _UNCLEAN) and asked != []:
        return _refused(
            request, ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
        )
    election = Election.PREFERRED if request.election_type == _PREFERRED else Election.UNCLEAN
    if asked is None:
        topics = broker.controller.cluster.topics.values()
        everything = [(topic.name, range(len(topic.partitions))) for topic in topics]
        return Sliced(_elect_all(broker, call, election, everything, needless=False))
    return Sliced(
        _elect_all(
            broker, call, election, [(each.topic, each.partitions) for each in asked], needless=True
        )
    )


def _elect_all(
    broker: Broker,
    call: Call,
    election: Election,
    asked: Sequence[tuple[str, Sequence[int]]],
    *,
    needless: bool,
) -> Slices[Result]:
    """`needless`: whether partitions that need no election are told of, too."""
    results = []
    count = 0
    for topic, indexes in asked:
        rows: list[PartitionResult] = []
        results.append(ReplicaElectionResult(topic=topic, partition_result=rows))
        for index in indexes:
            count += 1
            if not count % ITEMS_A_STEP:
                call = call._replace(now=(yield))
            result = _elected(broker, call, election, topic, index)
            if needless or result.error_code != ErrorCode.ELECTION_NOT_NEEDED:
                rows.append(result)
    return ElectLeadersResponse(replica_election_results=results)


def _elected(
    broker: Broker, call: Call, election: Election, topic: str, index: int
) -> PartitionResult:
    refusal = elect(broker.controller, topic, index, election, call.now, call.cause)
    return _result(index, refusal.error, refusal.message)


def _refused(
    request: ElectLeadersRequest, code: ErrorCode, message: str | None
) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=each.topic,
                partition_result=[_result(index, code, message) for index in each.partitions],
            )
            for each in request.topic_partitions or ()
        ],
    )


def _result(index: int, code: ErrorCode, message: str | None) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=code, error_message=message)
