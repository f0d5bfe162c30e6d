"""Users and their rights in the simulated world: Kafka's authorizer at the brokers' side of each
connection, without any login. The scenario says which user a client is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coordinator.server import acl_changes
from coordinator.server.connections.secured import SecuredConnection
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.security.listeners import ListenerSecurity
from coordinator.server.security.security import Security

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.connections.connection import Connection

    from .files.security_keys import AclChange, Rights
    from .world import World

_LISTENER = ListenerSecurity("PLAINTEXT")


class SimulatedRights:
    """Users and their rights in a world."""

    def __init__(self, world: World, rights: Rights) -> None:
        self._world = world
        self._rights = rights
        self.authorizer = Authorizer((), ())
        self._security = Security({"PLAINTEXT": _LISTENER}, {}, _draws_nothing, self.authorizer)
        acl_changes.create(self._broker, self.authorizer, rights.acls, world.now)

    def connection(self, broker: Broker, client: str, **options: Any) -> Connection:
        """Return the broker's side of a client's connection."""
        made = SecuredConnection(broker, self._security, _LISTENER, **options)
        made.is_known_as(self._rights.principal(client), self._world.now)
        return made

    def change(self, change: AclChange) -> Callable[[], None]:
        """Create or delete ACLs; return a function that undoes that."""
        known = set(self.authorizer.acls)
        if change.grants:
            new = [acl for acl in change.acls if acl not in known]
            acl_changes.create(self._broker, self.authorizer, new, self._world.now)
            return lambda: self._delete(new)
        gone = acl_changes.delete(self._broker, self.authorizer, change.acls, self._world.now)
        return lambda: self._create(gone)

    def _create(self, acls: list[Any]) -> None:
        acl_changes.create(self._broker, self.authorizer, acls, self._world.now)

    def _delete(self, acls: list[Any]) -> None:
        acl_changes.delete(self._broker, self.authorizer, acls, self._world.now)

    @property
    def _broker(self) -> Broker:
        """Return any broker; all share the cluster's metadata log."""
        return next(iter(self._world.brokers.brokers.values()))


def _draws_nothing(size: int) -> bytes:
    raise AssertionError("nobody logs in in a simulated world")
