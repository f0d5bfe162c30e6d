"""Client quotas (KIP-546) set for users, client ids and IP addresses, and the choice of the one
that applies to a client.

Rules and texts are those of Kafka's ClientQuotaControlManager and ClientQuotasImage. An entity
is a mapping from type to name, None for the type's default; its types stand in the order of
Java's HashMap. Does not know requests, nor how usage is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import java_hash, spread
from coordinator.base.releases import NEWEST, Release

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, SPECIFIED = range(3)

Entity = tuple[tuple[str, "str | None"], ...]

PRODUCE, CONSUME = "producer_byte_rate", "consumer_byte_rate"
REQUEST_TIME, MUTATIONS = "request_percentage", "controller_mutation_rate"

_LONG, _INT = 2**63 - 1, 2**31 - 1
_CLIENT_KEYS = {
    PRODUCE: _LONG,
    CONSUME: _LONG,
    REQUEST_TIME: None,
    MUTATIONS: None,
}
_KEYS: dict[str, Mapping[str, int | None]] = {
    USER: _CLIENT_KEYS,
    CLIENT_ID: _CLIENT_KEYS,
    IP: {"connection_creation_rate": _INT},
}
"""By type of entity: what can be limited, and the greatest whole number allowed (None: any number).
"""
_FRACTION = 1e-6  # a remainder up to this is none
_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-zA-Z0-9]([\w-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([\w-]{0,61}[a-zA-Z0-9])?)*\.?\Z"
)
_NUMBERS = re.compile(r"[0-9.]+\Z")
_ADDRESS = re.compile(r"(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}\Z")
_ADDRESS_6 = re.compile(r"(?=.*:.*:)[0-9a-fA-F:.]{2,45}(%\w+)?\Z")


class QuotaRefused(Exception):
    """Error code with which an alteration or a query is refused; `str()` is Kafka's message."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> None:
        super().__init__(message)
        self.code = code


class Change(NamedTuple):
    """One quota key of an entity: its new value, or None to remove it."""

    key: str
    value: float | None


class Limit(NamedTuple):
    """Quota of a client, per second, and the user and client id of all clients that share it; "" if
    the quota covers all of them.
    """

    rate: float
    user: str
    client_id: str


class Component(NamedTuple):
    """One component of a query: EXACT `name` (not None), the DEFAULT of the type, or any entity
    that has the type (SPECIFIED).
    """

    type: str
    match: int
    name: str | None


def entity(parts: Iterable[tuple[str, str | None]]) -> Entity:
    """Return the entity with these parts; if a type is named twice, the last name wins."""
    given = list(parts)
    names = dict(given)
    return tuple((kind, names[kind]) for kind in _in_map(names, len(given)))


def _in_map(names: Iterable[str], size: int) -> list[str]:
    """Return the distinct names in the order of a Java HashMap created for `size` entries."""
    unique = list(names)
    capacity = 1 << max(size - 1, 0).bit_length()
    while len(unique) * 4 > capacity * 3:
        capacity *= 2
    return sorted(unique, key=lambda name: spread(java_hash(name)) & (capacity - 1))


class ClientQuotas:
    """The quotas of all entities."""

    def __init__(self) -> None:
        self._set: dict[Entity, dict[str, float]] = {}

    def alter(
        self,
        whose: Entity,
        changes: Sequence[Change],
        *,
        validate_only: bool,
        release: Release = NEWEST,
    ) -> None:
        """Change one entity's quotas, all or none, by the rules of the controller's release.
        Removing a missing key is no error. Raises QuotaRefused.
        """
        keys, only_finite = _keys(whose), release.has("QUO-44-1")
        values = dict(changes)
        for key in _in_map(values, len(values)):  # which decides which fault is told
            if (value := values[key]) is not None:
                _check(keys, key, value, only_finite=only_finite)
        if validate_only:
            return
        quotas = self._set.setdefault(whose, {})
        for change in changes:
            if change.value is None:
                quotas.pop(change.key, None)
            else:
                quotas[change.key] = change.value
        if not quotas:
            del self._set[whose]

    def of(self, whose: Entity) -> dict[str, float]:
        """Return an entity's quotas by key."""
        return dict(self._set.get(whose, {}))

    def limit(self, key: str, user: str, client_id: str) -> Limit | None:
        """Return the most specific quota for a client, from user and client id down to the default
        client id (QUO-3), or None. A client without a client id can only have a quota of its
        user.
        """
        for its_user in (user, None):
            if client_id:
                for its_client in (client_id, None):
                    whose = entity(((USER, its_user), (CLIENT_ID, its_client)))
                    if (rate := self._rate(key, whose)) is not None:
                        return Limit(rate, user, client_id)
            if (rate := self._rate(key, ((USER, its_user),))) is not None:
                return Limit(rate, user, "")
        if client_id:
            for its_client in (client_id, None):
                if (rate := self._rate(key, ((CLIENT_ID, its_client),))) is not None:
                    return Limit(rate, "", client_id)
        return None

    def _rate(self, key: str, whose: Entity) -> float | None:
        return self._set.get(whose, {}).get(key)

    def find(
        self, components: Sequence[Component], *, strict: bool
    ) -> Iterator[tuple[Entity, dict[str, float]]]:
        """Yield the entities that match all components (`strict`: and have no other type), with
        their quotas. Raises QuotaRefused.
        """
        _check_question(components)
        for whose, quotas in self._set.items():
            names = dict(whose)
            if (not strict or len(names) == len(components)) and all(
                _matches(names, component) for component in components
            ):
                yield whose, quotas


def duplicate(whose: Entity) -> QuotaRefused:
    """Return the refusal of an entity or key that one request names twice."""
    return QuotaRefused(
        f"Ignoring duplicate entity ClientQuotaEntity(entries={{{', '.join(f'{k}={_java(n)}' for k, n in whose)}}})"
    )


def _java(name: str | None) -> str:
    return "null" if name is None else name


def _keys(whose: Entity) -> Mapping[str, int | None]:
    """Return the quota keys that an entity may have. Raises QuotaRefused for an invalid entity."""
    if not whose:
        raise QuotaRefused("Invalid empty client quota entity")
    for kind, name in whose:
        if kind not in _KEYS:
            raise QuotaRefused(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise QuotaRefused(f"Empty {kind} not supported")
    names = dict(whose)
    if IP not in names:
        return _CLIENT_KEYS
    if len(names) > 1:
        raise QuotaRefused(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
        )
    if names[IP] is not None and not _may_be_host(names[IP] or ""):
        raise QuotaRefused(f"{names[IP]} is not a valid IP or resolvable host.")
    return _KEYS[IP]


def _may_be_host(name: str) -> bool:
    """Return whether the name is an IP address or could be a host name. Kafka resolves it; here no
    name is resolved.
    """
    if _NUMBERS.match(name):
        return bool(_ADDRESS.match(name))
    return bool(_ADDRESS_6.match(name) or _HOST.match(name)) and not name.endswith(
        ".invalid"
    )  # RFC 6761: never resolves


def _check(keys: Mapping[str, int | None], key: str, value: float, *, only_finite: bool) -> None:
    if key not in keys:
        raise QuotaRefused(f"Invalid configuration key {key}")
    if only_finite and not isfinite(value):
        raise QuotaRefused(f"Quota {key} must be a finite number")
    if value <= 0:
        raise QuotaRefused(f"Quota {key} must be greater than 0")
    most = keys[key]
    if most is None:
        return
    if value > float(most):
        raise QuotaRefused(
            f"Proposed value for {key} is too large for {'an INT' if most == _INT else 'a LONG'}."
        )
    if value % 1.0 > _FRACTION:
        raise QuotaRefused(f"{key} cannot be a fractional value.")


def _check_question(components: Sequence[Component]) -> None:
    seen: set[str] = set()
    for kind, match, name in components:
        if not kind:
            raise QuotaRefused("Invalid empty entity type.")
        if kind in seen:
            raise QuotaRefused(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in _KEYS:
            raise QuotaRefused(f"Unsupported entity type {kind}", ErrorCode.UNSUPPORTED_VERSION)
        if match == EXACT and name is None:
            raise QuotaRefused("Request specified MATCH_TYPE_EXACT, but set match string to null.")
        if match == DEFAULT and name is not None:
            raise QuotaRefused(
                "Request specified MATCH_TYPE_DEFAULT, but also specified a match string."
            )
        if match == SPECIFIED and name is not None:
            raise QuotaRefused(
                "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string."
            )
        if not EXACT <= match <= SPECIFIED:
            raise QuotaRefused(f"Unknown match type {match}")
        seen.add(kind)
    if IP in seen and len(seen) > 1:
        raise QuotaRefused(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component."
        )


def _matches(names: Mapping[str, str | None], component: Component) -> bool:
    return component.type in names and (
        component.match == SPECIFIED or names[component.type] == component.name
    )
