"""Evaluates ACLs as Kafka's StandardAuthorizer does: given a principal, host, operation and
resource, decides whether the request is allowed.

Super users are allowed everything. Deny wins over allow; without a matching ACL a request is
refused, unless no ACL concerns the resource at all and `allow_everyone` is set. Decisions are
cached until the ACLs change. Rules: ACL-3 to ACL-6, REF-3.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

from coordinator.events.acls import WILDCARD, Acl, AclFilter, Operation, PatternType, Permission

_MOST_REMEMBERED: Final = 20_000
_MOST_DELETED: Final = 1_000
_IMPLY_DESCRIBE: Final = frozenset(
    {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
)
_IMPLY_DESCRIBE_CONFIGS: Final = frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS})
_ANYBODY: Final = "User:*"
_SOME_NAME: Final = "hardcode"


class Refused(NamedTuple):
    """Reason for a refusal. `acl`: the ACL that denies, or one that allowed it before its deletion
    at `deleted_ms` (None: the ACL exists and denies).
    """

    acl: Acl | None = None
    deleted_ms: int | None = None


class Authorizer:
    """The ACLs in force, and decisions by them."""

    def __init__(
        self,
        acls: Iterable[Acl] = (),
        super_users: Iterable[str] = (),
        *,
        allow_everyone: bool = False,
        host_blocks: bool = True,
    ) -> None:
        """`host_blocks`: a host with a slash is a block of addresses; in releases before ACL-5 it
        matches nothing.
        """
        self._acls: dict[Acl, None] = {}
        self.super_users = frozenset(super_users)
        self._allow_everyone = allow_everyone
        self._host_blocks = host_blocks
        self._literal: dict[tuple[int, str], list[Acl]] = {}
        self._prefixed: dict[tuple[int, str], list[Acl]] = {}
        self._lengths: dict[int, list[int]] = {}
        self._decided: dict[tuple[str, str, int, int, str], bool] = {}
        self._deleted: list[tuple[Acl, int]] = []
        self.version = 0
        """Grows with each change."""
        self.add(acls)
        self._first = dict(self._acls)

    @property
    def acls(self) -> list[Acl]:
        """All ACLs in order of creation."""
        return list(self._acls)

    # -- the ACLs

    def add(self, acls: Iterable[Acl]) -> list[Acl]:
        """Put ACLs in force; return those that are new."""
        new = [acl for acl in dict.fromkeys(acls) if acl not in self._acls]
        self._acls.update(dict.fromkeys(new))
        self._changed()
        return new

    def find(self, wanted: AclFilter) -> list[Acl]:
        """Return the ACLs that match a filter."""
        return [acl for acl in self._acls if wanted.finds(acl)]

    def remove(self, acls: Iterable[Acl], now: int) -> list[Acl]:
        """Remove ACLs; return those that were in force."""
        gone = [acl for acl in dict.fromkeys(acls) if acl in self._acls]
        for acl in gone:
            del self._acls[acl]
        self._deleted = [*self._deleted, *((acl, now) for acl in gone)][-_MOST_DELETED:]
        self._changed()
        return gone

    def reset(self) -> None:
        """Restore the ACLs of the start."""
        self._acls = dict(self._first)
        self._deleted.clear()
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._decided.clear()
        self._literal.clear()
        self._prefixed.clear()
        lengths: dict[int, set[int]] = {}
        for acl in self._acls:
            key = (acl.resource_type, acl.name)
            if acl.pattern_type == PatternType.LITERAL:
                self._literal.setdefault(key, []).append(acl)
            else:
                self._prefixed.setdefault(key, []).append(acl)
                lengths.setdefault(acl.resource_type, set()).add(len(acl.name))
        self._lengths = {kind: sorted(found) for kind, found in lengths.items()}

    # -- what they mean

    def allows(
        self, principal: str, host: str, operation: int, resource_type: int, name: str
    ) -> bool:
        """Return whether an operation on a resource is allowed. `host` is an IP address."""
        if principal in self.super_users:
            return True
        key = (principal, host, operation, resource_type, name)
        decided = self._decided.get(key)
        if decided is None:
            if len(self._decided) >= _MOST_REMEMBERED:
                self._decided.clear()
            decided = self._decided[key] = self._decide(*key)
        return decided

    def _about(self, resource_type: int, name: str) -> Iterable[Acl]:
        """Yield the ACLs that concern a resource."""
        yield from self._literal.get((resource_type, name), ())
        if name != WILDCARD:
            yield from self._literal.get((resource_type, WILDCARD), ())
        for length in self._lengths.get(resource_type, ()):
            if length > len(name):
                return
            yield from self._prefixed.get((resource_type, name[:length]), ())

    def _decide(
        self, principal: str, host: str, operation: int, resource_type: int, name: str
    ) -> bool:
        allowed = found = False
        for acl in self._about(resource_type, name):
            found = True
            if not self._is_meant(acl, principal, host, operation):
                continue
            if acl.permission == Permission.DENY:
                return False
            allowed = True
        return allowed if found else self._allow_everyone

    def why_refused(
        self, principal: str, host: str, operation: int, resource_type: int, name: str
    ) -> Refused:
        """Return the ACL that denies an operation, or that allowed it until its deletion."""
        for acl in self._about(resource_type, name):
            if acl.permission == Permission.DENY and self._is_meant(
                acl, principal, host, operation
            ):
                return Refused(acl)
        for acl, deleted_ms in reversed(self._deleted):
            if acl.permission == Permission.ALLOW and self._is_meant(
                acl, principal, host, operation
            ):
                about = AclFilter(resource_type, PatternType.MATCH, name)
                if about.finds(acl):
                    return Refused(acl, deleted_ms)
        return Refused()

    def allows_any(self, principal: str, host: str, operation: int, resource_type: int) -> bool:
        """Return whether an operation is allowed on any resource of a type (REF-3). Like Kafka, try
        first a name that no resource has.
        """
        if self.allows(principal, host, operation, resource_type, _SOME_NAME):
            return True
        meant = [
            acl
            for acl in self._acls
            if acl.resource_type == resource_type
            and acl.operation in (operation, Operation.ALL)
            and _is_person(acl, principal)
            and self._is_host(acl.host, host)
        ]
        denied = [acl for acl in meant if acl.permission == Permission.DENY]
        literal = {acl.name for acl in denied if acl.pattern_type == PatternType.LITERAL}
        if WILDCARD in literal:
            return False
        prefixes = tuple(acl.name for acl in denied if acl.pattern_type == PatternType.PREFIXED)
        return any(
            (acl.name == WILDCARD and acl.pattern_type == PatternType.LITERAL)
            or (
                not acl.name.startswith(prefixes)
                and (acl.pattern_type == PatternType.PREFIXED or acl.name not in literal)
            )
            for acl in meant
            if acl.permission == Permission.ALLOW
        )

    def _is_meant(self, acl: Acl, principal: str, host: str, operation: int) -> bool:
        """Return whether an ACL matches principal, operation and host."""
        return (
            _is_person(acl, principal)
            and _is_operation(acl, operation)
            and self._is_host(acl.host, host)
        )

    def _is_host(self, wanted: str, host: str) -> bool:
        """Return whether an ACL's host matches: an address or a block of addresses; any other text
        matches nothing (ACL-5).
        """
        if wanted == WILDCARD or wanted == (_java_form(host) if ":" in host else host):
            return True
        block = read_block(wanted) if "/" in wanted and self._host_blocks else None
        if block is None:
            return False
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return address.version == block.version and address in block


def _is_person(acl: Acl, principal: str) -> bool:
    return acl.principal in (principal, _ANYBODY)


def _is_operation(acl: Acl, operation: int) -> bool:
    """Return whether an ACL's operation matches. Some allow others implicitly; denials do not
    (ACL-3).
    """
    if acl.operation in (operation, Operation.ALL):
        return True
    if acl.permission == Permission.DENY:
        return False
    if operation == Operation.DESCRIBE:
        return acl.operation in _IMPLY_DESCRIBE
    return operation == Operation.DESCRIBE_CONFIGS and acl.operation in _IMPLY_DESCRIBE_CONFIGS


def _java_form(host: str) -> str:
    """Return an IPv6 address as Java writes and compares it, without abbreviated zeros."""
    try:
        return ":".join(f"{int(part, 16):x}" for part in ip_address(host).exploded.split(":"))
    except ValueError:
        return host


def read_block(text: str) -> IPv4Network | IPv6Network | None:
    """Parse a block of addresses, ignoring host bits; return None if it is none."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None
