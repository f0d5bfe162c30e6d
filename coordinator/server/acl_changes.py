"""Creation and deletion of ACLs in a running broker, with the events that record them. Used alike
by the handlers of requests and by the testing kit. Does not check whether the caller has the
right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.events.cluster import AclsCreated, AclsDeleted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coordinator.events.acls import Acl

    from .broker import Broker
    from .security.authorizer import Authorizer


def create(
    broker: Broker, authorizer: Authorizer, acls: Iterable[Acl], now: int, cause: int | None = None
) -> list[Acl]:
    """Put ACLs in force and log them; return those that were not in force before."""
    new = authorizer.add(acls)
    _note(broker, AclsCreated, new, now, cause)
    return new


def delete(
    broker: Broker, authorizer: Authorizer, acls: Iterable[Acl], now: int, cause: int | None = None
) -> list[Acl]:
    """Remove ACLs and log that; return those that were in force."""
    gone = authorizer.remove(acls, now)
    _note(broker, AclsDeleted, gone, now, cause)
    return gone


def _note(
    broker: Broker,
    kind: type[AclsCreated | AclsDeleted],
    acls: list[Acl],
    now: int,
    cause: int | None,
) -> None:
    log = broker.log
    if acls and log is not None and log.writable:
        log.append(kind(tuple([str(acl) for acl in acls])), at_ms=now, cause=cause)
