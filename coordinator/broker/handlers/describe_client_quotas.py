"""DescribeClientQuotas (key 48), v0-1 (KIP-546). Entries stand in the order in which they were
first set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cluster.client_quotas import Component, QuotaRefused
from ...wire.messages.client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

if TYPE_CHECKING:
    from ..call import Call
    from ..core import Broker


def handle(broker: Broker, call: Call) -> DescribeClientQuotasResponse:
    """Answered at once."""
    request = call.message
    assert isinstance(request, DescribeClientQuotasRequest)
    components = [
        Component(each.entity_type, each.match_type, each.match) for each in request.components
    ]
    try:
        found = list(broker.cluster.client_quotas.find(components, strict=request.strict))
    except QuotaRefused as refused:
        return DescribeClientQuotasResponse(
            error_code=refused.code, error_message=str(refused), entries=None
        )
    return DescribeClientQuotasResponse(
        entries=[
            EntryData(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in whose],
                values=[ValueData(key=key, value=value) for key, value in quotas.items()],
            )
            for whose, quotas in found
        ]
    )
