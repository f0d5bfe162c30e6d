"""ElectLeaders (key 43), v0-2 (KIP-460): preferred 0, unclean 1. The refusals are in
`server.cluster.controller.leaders`: not needed (84), preferred leader not available (80), no
eligible leader (83), unknown partition (3).

Null topics mean all; of those that need no election the response then contains only the topic's
name.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.reassignments import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)

from ..cluster.controller.leaders import elect
from ..cluster.controller.partition_change import Election
from ..requests.call import Sliced, by_element
from ..requests.refusals import refused_whole_in_slices

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call

_PREFERRED, _UNCLEAN = 0, 1


def handle(broker: Broker, call: Call) -> Sliced:
    """Handle an ElectLeaders. A timeout of 0 or less, or an unknown kind of election, refuses the
    whole request.
    """
    request = call.message
    assert isinstance(request, ElectLeadersRequest)
    asked = request.topic_partitions
    if (request.timeout_ms <= 0 or not broker.reaches_controller) and asked != []:
        code = ErrorCode.REQUEST_TIMED_OUT
        return Sliced(refused_whole_in_slices(request, call.version, code, None))
    if request.election_type not in (_PREFERRED, _UNCLEAN) and asked != []:
        code, why = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
        return Sliced(refused_whole_in_slices(request, call.version, code, why))
    election = Election.PREFERRED if request.election_type == _PREFERRED else Election.UNCLEAN
    if asked is None:
        topics = broker.controller.cluster.topics.values()
        everything = [
            TopicPartitions(topic=topic.name, partitions=list(range(len(topic.partitions))))
            for topic in topics
        ]
        return _elect_all(broker, call, election, everything, needless=False)
    return _elect_all(broker, call, election, asked, needless=True)


def _elect_all(
    broker: Broker,
    call: Call,
    election: Election,
    asked: list[TopicPartitions],
    *,
    needless: bool,
) -> Sliced:
    """Elect in slices. `needless`: the response contains partitions that need no election too."""

    def after(results: list[PartitionResult]) -> Sliced:
        left = iter(results)

        def told(of: TopicPartitions, _: Call) -> ReplicaElectionResult:
            rows = [
                row
                for row in islice(left, len(of.partitions))
                if needless or row.error_code != ErrorCode.ELECTION_NOT_NEEDED
            ]
            return ReplicaElectionResult(topic=of.topic, partition_result=rows)

        return by_element(
            call, asked, told, lambda topics: ElectLeadersResponse(replica_election_results=topics)
        )

    return by_element(
        call,
        ((of.topic, index) for of in asked for index in of.partitions),
        lambda named, call: _elected(broker, call, election, *named),
        after,
    )


def _elected(
    broker: Broker, call: Call, election: Election, topic: str, index: int
) -> PartitionResult:
    refusal = elect(broker.controller, topic, index, election, call.now, call.cause)
    return PartitionResult(
        partition_id=index, error_code=refusal.error, error_message=refusal.message
    )
