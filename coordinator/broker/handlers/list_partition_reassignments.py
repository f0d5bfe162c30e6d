"""ListPartitionReassignments (key 46), v0 (KIP-455): with one broker nothing is ever on its way. (REASN-5)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse

if TYPE_CHECKING:
    from ..core import Broker, Call


def handle(_: Broker, __: Call) -> ListPartitionReassignmentsResponse:
    """Answered at once. What is unknown is left out, as what does not move is."""
    return ListPartitionReassignmentsResponse(error_message=None)
