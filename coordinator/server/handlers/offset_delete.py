"""OffsetDelete (key 47): committed offsets, forgotten (KIP-496).

Topics and partitions the cluster does not have get 3. The coordinator is asked in any case, also
when nothing is left to delete, and an error of its stands alone at the top (OD-3 as Kafka 4.4.0 was
seen to do).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

from ..requests.call import Sliced
from ..requests.missing_partitions import MissingPartitions

if TYPE_CHECKING:
    from coordinator.base.slices import Slices

    from ..broker import Broker
    from ..requests.call import Call, Result


def handle(broker: Broker, call: Call) -> Sliced:
    """Answered at once. Where any partition is refused a topic stands once in the answer: its
    refused partitions, then the coordinator's (OD-3)."""
    return Sliced(_delete(broker, call))


def _delete(broker: Broker, call: Call) -> Slices[Result]:
    """A generator: what is missing is sorted out in slices, and the group decides about the rest at
    once."""
    request = call.message
    assert isinstance(request, OffsetDeleteRequest)
    missing: MissingPartitions[OffsetDeleteRequestTopic, OffsetDeleteResponseTopic] = (
        MissingPartitions(
            broker.cluster,
            OffsetDeleteResponseTopic,
            OffsetDeleteResponsePartition,
            sees=call.sees,
        )
    )
    request.topics = yield from missing.refuse_in_slices(request.topics)
    now = yield
    answer = broker.coordinate(call._replace(now=now), request)
    assert isinstance(answer, OffsetDeleteResponse)
    if answer.error_code != ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=answer.error_code)
    answer.topics = missing.before(answer.topics)
    return answer
