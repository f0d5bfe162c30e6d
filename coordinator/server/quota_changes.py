"""Client quotas that are changed, for requests and for the testing kit alike; and the quota of changes
of topics, as handlers use it. Does not depend on what is measured."""

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
    """Change one entity's quotas, at all brokers at once. Raises QuotaRefused."""
    broker.cluster.client_quotas.alter(
        whose, changes, validate_only=validate_only, release=broker.controller_release
    )
    if not validate_only:
        broker.controller.quotas_set = True
        for tell in broker.controller.enforcers.values():
            tell()


def forget(broker: Broker) -> None:
    """Let nobody be limited any more."""
    for whose, quotas in list(broker.cluster.client_quotas.find([], strict=False)):
        alter(broker, whose, [Change(key, None) for key in quotas])


def quota_of_changes(broker: Broker, call: Call, *, strict_since: int) -> Mutations | None:
    """A client's quota of topic changes in a request, which knows of it since a version;
    None: as much as it likes."""
    return None if broker.throttling is None else broker.throttling.mutations(call, strict_since)


def throttle_of_changes(mutations: Mutations | None) -> int:
    """How long the client is to wait that asked for changes."""
    return 0 if mutations is None else mutations.throttle_ms
