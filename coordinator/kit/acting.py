"""The testing kit's acts as a user: with its rights, and refused for want of them. Does not depend
on connections: nobody logs in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.events.acls import Operation, ResourceType, word
from coordinator.server.authorization.asking import Asker
from coordinator.server.authorization.table import ERRORS
from coordinator.server.requests.call import Call
from coordinator.wire.messages.produce import ProduceRequest

from .in_process_requests import CLIENT_ID, ControlError

if TYPE_CHECKING:
    from coordinator.server.broker import Broker


def check_may_write(
    broker: Broker, now: int, user: str, topic: str, transactional_id: str | None = None
) -> None:
    """Check that a user may produce to a topic. If not, raise ControlError; the log then has
    AuthorizationRefused."""
    if not user:
        raise ControlError(f"user={user!r}: give a user's name")
    if broker.security is None:
        raise ControlError(
            f"user={user!r}: there are no logins here: give security='SASL_SSL' and users={{'billing': 'secret'}}, say"
        )
    authorizer, principal = broker.security.authorizer, f"User:{user}"
    if authorizer is None or principal in authorizer.super_users:
        return
    call = Call(
        ProduceRequest(),
        ProduceRequest.versions[1],
        CLIENT_ID,
        "/127.0.0.1",
        -1,
        now,
        "",
        None,
        broker.node_id,
        principal=principal,
    )
    asker = Asker(authorizer, principal, "127.0.0.1", broker, call)
    wanted = [(ResourceType.TOPIC, topic)]
    if transactional_id is not None:
        wanted.insert(0, (ResourceType.TRANSACTIONAL_ID, transactional_id))
    for resource, name in wanted:
        if asker.is_refused(Operation.WRITE, resource, name):
            asker.note(now)
            what = f"{word(Operation.WRITE)} on {resource.name.lower().replace('_', ' ')} {name}"
            raise ControlError(f"{ERRORS[resource].name}: {principal} has no right to {what}")
