"""Changes of client quotas, for requests and for the testing kit alike; and the quota of topic
changes (controller mutations) as handlers use it. Does not know what is measured; see
`throttling`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cluster.client_quotas import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .broker import Broker
    from .cluster.client_quotas import Entity
    from .requests.call import Call
    from .throttling import Mutations


def alter(
    broker: Broker, whose: Entity, changes: Sequence[Change], *, validate_only: bool = False
) -> None:
    """Change one entity's quotas at all brokers. Raises QuotaRefused."""
    broker.cluster.client_quotas.alter(
        whose, changes, validate_only=validate_only, release=broker.controller_release
    )
    if not validate_only:
        broker.controller.quotas_set = True
        for tell in broker.controller.enforcers.values():
            tell()


def forget(broker: Broker) -> None:
    """Remove all client quotas."""
    for whose, quotas in list(broker.cluster.client_quotas.find([], strict=False)):
        alter(broker, whose, [Change(key, None) for key in quotas])


def quota_of_changes(broker: Broker, call: Call, *, strict_since: int) -> Mutations | None:
    """Return the client's quota of topic changes for this request, or None if it has no limit.
    Requests of version `strict_since` and later are refused when the quota is exceeded.
    """
    return (
        None
        if broker.services.throttling is None
        else broker.services.throttling.mutations(call, strict_since)
    )


def throttle_of_changes(mutations: Mutations | None) -> int:
    """Return the throttle time in ms for the client that requested the changes; 0 without a quota."""
    return 0 if mutations is None else mutations.throttle_ms
