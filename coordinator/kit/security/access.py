"""Carries out the methods of `security/kit.py` at the brokers, between two requests.

The testing kit itself is never refused. If the emulator has no users, no authorizer or no
certificates, the error names the option that adds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from coordinator.events.acls import AclError, read_acl
from coordinator.server.acl_changes import create, delete
from coordinator.server.cluster.client_quotas import (
    CLIENT_ID,
    CONSUME,
    IP,
    MUTATIONS,
    PRODUCE,
    REQUEST_TIME,
    USER,
    Change,
    QuotaRefused,
    entity,
)
from coordinator.server.quota_changes import alter
from coordinator.server.security.handshakes import Disturbance, Handshake

from ..in_process_requests import ControlError

if TYPE_CHECKING:
    from coordinator.events.acls import Acl
    from coordinator.server.broker import Broker
    from coordinator.server.cluster.client_quotas import Entity
    from coordinator.server.security.authorizer import Authorizer
    from coordinator.server.security.security import Security

_MOST_DISTURBED: Final = 1_000_000
DEFAULT_NAME: Final = "<default>"
"""Kafka's name for all that have no quota of their own."""


def carry_out(broker: Broker, now: int, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out a method and return its answer. Raises ControlError."""
    return VERBS[verb](broker, now, **words)


def _security(broker: Broker) -> Security:
    if broker.security is None:
        raise ControlError(
            "there are no logins here: give security='SASL_SSL' and users={'billing': 'secret'}, say"
        )
    return broker.security


def _authorizer(broker: Broker) -> Authorizer:
    authorizer = None if broker.security is None else broker.security.authorizer
    if authorizer is None:
        raise ControlError("there is no authorizer: give acls=[...] or super_users=[...]")
    return authorizer


def _read(acls: Sequence[Any]) -> list[Acl]:
    try:
        return [read_acl(each) for each in acls]
    except AclError as error:
        raise ControlError(str(error)) from None


def _acls(broker: Broker, now: int) -> dict[str, Any]:
    return {"acls": [str(acl) for acl in _authorizer(broker).acls]}


def _grant(broker: Broker, now: int, acls: Sequence[Any]) -> dict[str, Any]:
    new = create(broker, _authorizer(broker), _read(acls), now)
    return {"acls": [str(acl) for acl in new]}


def _revoke(broker: Broker, now: int, acls: Sequence[Any]) -> dict[str, Any]:
    authorizer, wanted = _authorizer(broker), _read(acls)
    there = authorizer.acls
    for acl in wanted:
        if acl not in there:
            told = "; ".join(map(str, there)) or "none at all"
            raise ControlError(f"no such ACL is in force: {acl}; there are: {told}")
    return {"acls": [str(acl) for acl in delete(broker, authorizer, wanted, now)]}


def _rotate_password(broker: Broker, now: int, user: str, password: Any) -> dict[str, Any]:
    security = _security(broker)
    if not isinstance(password, str) or not password:
        raise ControlError("a password is a text that is not empty")
    if user not in security.passwords:
        raise ControlError(
            f"there is no user {user!r}; there are {', '.join(security.passwords) or 'none'}"
        )
    security.set_password(user, password)
    return {}


def _restore_password(broker: Broker, now: int, user: str) -> dict[str, Any]:
    _security(broker).restore_password(user)
    return {}


def _expire_session(broker: Broker, now: int, user: str) -> dict[str, Any]:
    return {"sessions": _security(broker).expire(f"User:{user}", now)}


def _deny_authentication(broker: Broker, now: int, user: str | None, times: int) -> dict[str, Any]:
    if type(times) is not int or times < 0:
        raise ControlError(f"times={times!r}: give a whole number from 0 on")
    _security(broker).deny(user, times)
    return {}


def _expire_certificate(broker: Broker, now: int) -> dict[str, Any]:
    _certificates(broker).expire()
    return {}


def _rotate_certificate(broker: Broker, now: int) -> dict[str, Any]:
    _certificates(broker).rotate()
    return {}


def _disturb_handshakes(
    broker: Broker, now: int, how: str, times: int, delay_ms: int
) -> dict[str, Any]:
    _certificates(broker)
    if how not in (known := [each.name.lower() for each in Disturbance]):
        raise ControlError(f"how={how!r}: one of {', '.join(known)}")
    if type(times) is not int or not 0 <= times <= _MOST_DISTURBED:
        raise ControlError(f"times={times!r}: give a whole number from 0 to {_MOST_DISTURBED}")
    _security(broker).disturb_handshakes(Handshake(Disturbance[how.upper()], delay_ms), times)
    return {}


def _quotas(broker: Broker, now: int) -> dict[str, Any]:
    return {"quotas": [_told(*one) for one in broker.cluster.client_quotas.find([], strict=False)]}


def _told(whose: Entity, quotas: Mapping[str, float]) -> dict[str, Any]:
    names = {kind: DEFAULT_NAME if name is None else name for kind, name in whose}
    told = {"user": names.get(USER), "client_id": names.get(CLIENT_ID), "quotas": dict(quotas)}
    return told | ({IP: names[IP]} if IP in names else {})


def _set_quota(
    broker: Broker, now: int, user: str | None, client_id: str | None, quotas: Any
) -> dict[str, Any]:
    if not isinstance(quotas, Mapping) or not quotas:
        raise ControlError("no quota is given; give producer_byte_rate=1000, say")
    for key, value in quotas.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ControlError(f"{key}={value!r}: give a number, or None to take it away")
    parts = [
        (kind, None if name == DEFAULT_NAME else name)
        for kind, name in ((USER, user), (CLIENT_ID, client_id))
        if name is not None
    ]
    if not parts:
        raise ControlError("whose quota? Give user=, client_id=, or both")
    whose = entity(parts)
    before = broker.cluster.client_quotas.of(whose)
    changes = [
        Change(key, None if value is None else float(value)) for key, value in quotas.items()
    ]
    try:
        alter(broker, whose, changes)
    except QuotaRefused as refused:
        known = f"{PRODUCE}, {CONSUME}, {REQUEST_TIME}, {MUTATIONS}"
        raise ControlError(f"{refused}; there are {known}") from None
    return {"before": {key: before.get(key) for key in quotas}}


def _certificates(broker: Broker) -> Any:
    certificates = None if broker.security is None else broker.security.certificates
    if certificates is None:
        raise ControlError("no listener speaks TLS: give security='SSL' or security='SASL_SSL'")
    if not hasattr(certificates, "rotate"):
        raise ControlError(
            "the certificate is from your own files: replace them, and start anew; those of the throw-away "
            "authority can be changed here"
        )
    return certificates


VERBS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "acls": _acls,
    "deny_authentication": _deny_authentication,
    "disturb_handshakes": _disturb_handshakes,
    "expire_certificate": _expire_certificate,
    "expire_session": _expire_session,
    "grant": _grant,
    "restore_password": _restore_password,
    "quotas": _quotas,
    "revoke": _revoke,
    "rotate_certificate": _rotate_certificate,
    "rotate_password": _rotate_password,
    "set_quota": _set_quota,
}
