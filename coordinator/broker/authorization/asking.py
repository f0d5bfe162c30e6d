"""Who asks for what, and the note of what is refused.

`Asker` answers for one request whether its user may do something. Owns the event
`AuthorizationRefused`: one for each thing that a request is refused, up to a bound. What is merely
left out of a list is not noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...security.acls import CLUSTER_NAME, Operation, ResourceType, word
from ..apis import SERVED

if TYPE_CHECKING:
    from ...security.authorizer import Authorizer
    from ..call import Call
    from ..core import Broker
    from ..error_responses import Place

_MOST_NOTED: Final = 20
"""Of one request; others are refused without an event."""

_BITS: Final = {
    ResourceType.TOPIC: (3, 4, 5, 6, 7, 8, 10, 11),
    ResourceType.GROUP: (3, 6, 8, 10, 11),
    ResourceType.CLUSTER: (5, 7, 8, 9, 10, 11, 12),
}
"""The operations that there are on a kind of resource (REF-15)."""


class Asker:
    """One request of one user."""

    def __init__(
        self, authorizer: Authorizer, principal: str, host: str, broker: Broker, call: Call
    ) -> None:
        self.authorizer = authorizer
        self.principal = principal
        self.host = host
        self.broker = broker
        self.call = call
        self._noted: set[tuple[int, int, str]] = set()

    def may(self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """May it be done? For what is left out of a list."""
        return self.authorizer.allows(self.principal, self.host, operation, resource, name)

    def sees(self, topic: str) -> bool:
        """May a topic be described?"""
        return self.may(Operation.DESCRIBE, ResourceType.TOPIC, topic)

    def is_refused(
        self, operation: Operation, resource: ResourceType, name: str = CLUSTER_NAME
    ) -> bool:
        """May it not be done? Then it is noted."""
        if self.may(operation, resource, name):
            return False
        self._note(operation, resource, name)
        return True

    def topic_of(self, place: Place) -> str | None:
        """The name of a topic that a request means; None for an id that there is none of: that is
        the handler's to refuse."""
        if place.topic is not None or place.topic_id is None:
            return place.topic or ""
        topic = self.broker.cluster.topics_by_id.get(place.topic_id)
        return None if topic is None else topic.name

    def operations(self, resource: ResourceType, name: str = CLUSTER_NAME) -> int:
        """What may be done to a resource, as the bit field of KIP-430."""
        return sum(
            1 << code for code in _BITS[resource] if self.may(Operation(code), resource, name)
        )

    def _note(self, operation: Operation, resource: ResourceType, name: str) -> None:
        log = self.broker.log
        key = (operation, resource, name)
        if log is None or not log.writable or key in self._noted:
            return
        if len(self._noted) >= _MOST_NOTED:
            return
        self._noted.add(key)
        why = self.authorizer.why_refused(self.principal, self.host, *key)
        call = self.call
        group = name if resource is ResourceType.GROUP else getattr(call.message, "group_id", None)
        log.append(
            "wire",
            "AuthorizationRefused",
            at_ms=call.now,
            cause=call.cause,
            group=group or None,
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
        )
