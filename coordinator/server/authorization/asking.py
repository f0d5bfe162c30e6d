"""Authorization questions of one request, and the events of its refusals.

Owns the event `AuthorizationRefused`: one for each operation on a resource that a request is
refused, up to a bound. Things merely left out of a list are not logged. Does not know which
rights an API needs; see `table`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from coordinator.events.acls import CLUSTER_NAME, Operation, ResourceType, word
from coordinator.events.wire import AuthorizationRefused
from coordinator.wire.schema import Field, Struct

from ..apis import SERVED

if TYPE_CHECKING:
    from coordinator.events import EventLog

    from ..broker import Broker
    from ..requests.call import Call
    from ..requests.refusals import Place
    from ..security.authorizer import Authorizer

_MOST_NOTED: Final = 20
"""Of one request; others are refused without an event."""

_BITS: Final = {
    ResourceType.TOPIC: (3, 4, 5, 6, 7, 8, 10, 11),
    ResourceType.GROUP: (3, 6, 8, 10, 11),
    ResourceType.CLUSTER: (5, 7, 8, 9, 10, 11, 12),
}
"""The operations that there are on a kind of resource (REF-15)."""


@cache
def _names_topics_by_id(message: type[Struct], version: int) -> bool:
    """Return True if any list of this request version contains topic ids and no topic names."""
    for field in message.fields:
        elem = field.elem.elem if isinstance(field.elem, Field) else field.elem
        if elem is None or isinstance(elem, Field) or not field.carried(version):
            continue
        own = {each.name for each in elem.fields if each.carried(version)}
        if "topic_id" in own and not own & {"name", "topic"}:
            return True
        if _names_topics_by_id(elem, version):
            return True
    return False


class Asker:
    """Authorization questions for one request of one user."""

    def __init__(
        self, authorizer: Authorizer, principal: str, host: str, broker: Broker, call: Call
    ) -> None:
        self.authorizer = authorizer
        self.principal = principal
        self.host = host
        self.broker = broker
        self.call = call
        self._noted: dict[tuple[Operation, ResourceType, str], bool] = {}  # and is it in the log?
        self._decided = False
        self._names_by_id = _names_topics_by_id(type(call.message), call.version)

    def may(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Return whether the operation is allowed, without logging a refusal: for lists that leave
        things out.
        """
        return self.authorizer.allows(self.principal, self.host, operation, resource, name)

    def sees(self, topic: str) -> bool:
        """Return whether the user may describe a topic."""
        return self.may(Operation.DESCRIBE, ResourceType.TOPIC, topic)

    def is_refused(
        self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME
    ) -> bool:
        """Return whether the operation is refused; if so, remember the refusal for `note`."""
        if self.may(operation, resource, name):
            return False
        key = (operation, resource, name)
        if key not in self._noted and len(self._noted) < _MOST_NOTED:
            self._noted[key] = False
            if self._decided:
                self.note(self.call.now)
        return True

    def topic_of(self, place: Place) -> str | None:
        """Return the topic name that an entry means, or None for an unknown topic id: the handler
        refuses that.
        """
        if place.topic is not None or place.topic_id is None:
            return None if place.topic is None and self._names_by_id else place.topic or ""
        topic = self.broker.cluster.topics_by_id.get(place.topic_id)
        return None if topic is None else topic.name

    def operations(self, resource: ResourceType, name: str = CLUSTER_NAME) -> int:
        """Return the operations allowed on a resource, as the bit field of KIP-430."""
        return sum(
            1 << code for code in _BITS[resource] if self.may(Operation(code), resource, name)
        )

    def note(self, now: int) -> None:
        """Log the refusals so far; later refusals of this request, such as a handler's, are logged
        at once.
        """
        self._decided = True
        log = self.broker.log
        if log is None or not log.writable:
            return
        for key in [key for key, written in self._noted.items() if not written]:
            self._noted[key] = True
            self._write(log, now, *key)

    def _write(
        self, log: EventLog, now: int, operation: Operation, resource: ResourceType, name: str
    ) -> None:
        why = self.authorizer.why_refused(self.principal, self.host, operation, resource, name)
        call = self.call
        group = name if resource is ResourceType.GROUP else getattr(call.message, "group_id", None)
        log.append(
            AuthorizationRefused(
                principal=self.principal,
                operation=word(operation),
                resource=resource.name.lower(),
                name=name,
                api=SERVED[type(call.message).api_key].name,
                host=self.host,
                client=call.client_id,
                peer=call.peer,
                acl=None if why.acl is None else str(why.acl),
                acl_deleted_ms=why.deleted_ms,
            ),
            at_ms=now,
            cause=call.cause,
            group=group or None,
        )
