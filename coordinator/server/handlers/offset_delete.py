"""OffsetDelete (key 47): deletes committed offsets (KIP-496).

Unknown topics and partitions get 3. The group coordinator is asked in any case, even if nothing
is left to delete, and its error stands alone at the top (OD-3 as seen in Kafka 4.4.0).
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
    """Handle an OffsetDelete. If any partition is refused, each topic occurs once in the response:
    its refused partitions, then the coordinator's (OD-3).
    """
    return Sliced(_delete(broker, call))


def _delete(broker: Broker, call: Call) -> Slices[Result]:
    """Separate unknown partitions in slices; the group coordinator decides about the rest at once."""
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
    answer = broker.groups.coordinate(call._replace(now=now), request)
    assert isinstance(answer, OffsetDeleteResponse)
    if answer.error_code != ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=answer.error_code)
    answer.topics = missing.before(answer.topics)
    return answer
