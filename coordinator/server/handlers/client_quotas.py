"""Handlers of DescribeClientQuotas and AlterClientQuotas. The rules are in `cluster.client_quotas`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.wire.messages.client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

from ..cluster.client_quotas import Change, Component, Entity, QuotaRefused, duplicate, entity
from ..quota_changes import alter
from ..requests.call import by_element

if TYPE_CHECKING:
    from ..broker import Broker
    from ..requests.call import Call, Sliced


def describe_client_quotas(broker: Broker, call: Call) -> DescribeClientQuotasResponse:
    """Handle DescribeClientQuotas (key 48), v0-1 (KIP-546). Entries stand in the order in which
    they were first set.
    """
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


def alter_client_quotas(broker: Broker, call: Call) -> Sliced:
    """Handle AlterClientQuotas (key 49), v0-1 (KIP-546), each entity independently. New quotas hold
    from the next answer on, at all brokers.

    An entity named twice is altered by its first entry, and nevertheless refused; an entity
    whose entry names a key twice is not altered.
    """
    request = call.message
    assert isinstance(request, AlterClientQuotasRequest)
    results: dict[Entity, AlterClientQuotasResponseEntryData] = {}

    def one(entry: AlterClientQuotasRequestEntryData, _: Call) -> None:
        whose = entity((part.entity_type, part.entity_name) for part in entry.entity)
        keys = [op.key for op in entry.ops]
        if whose in results or len(set(keys)) < len(keys):
            results[whose] = _entry(whose, duplicate(whose))
        else:
            refused = _altered(broker, whose, entry, request.validate_only)
            results[whose] = _entry(whose, refused)

    return by_element(
        call,
        request.entries,
        one,
        lambda _: AlterClientQuotasResponse(entries=list(results.values())),
    )


def _altered(
    broker: Broker, whose: Entity, entry: AlterClientQuotasRequestEntryData, validate_only: bool
) -> QuotaRefused | None:
    changes = [Change(op.key, None if op.remove else op.value) for op in entry.ops]
    try:
        alter(broker, whose, changes, validate_only=validate_only)
    except QuotaRefused as refused:
        return refused
    return None


def _entry(whose: Entity, refused: QuotaRefused | None) -> AlterClientQuotasResponseEntryData:
    return AlterClientQuotasResponseEntryData(
        error_code=0 if refused is None else refused.code,
        error_message=None if refused is None else str(refused),
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in whose],
    )
