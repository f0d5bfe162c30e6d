"""ACLs as Kafka has them: their parts, their form as a sentence, and the filters that find them.

An ACL allows or denies a principal an operation on a resource, from a host. Owns the names and
numbers of KIP-11 and KIP-290, the sentence for each ACL, and the matching of filters (ACL-8).
Whether a set of ACLs allows a request is decided by `authorizer`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

WILDCARD: Final = "*"
CLUSTER_NAME: Final = "kafka-cluster"


class ResourceType(IntEnum):
    """The type of a protected resource."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """The meaning of a resource's name in an ACL: an exact name or a prefix. ANY and MATCH stand in
    filters only.
    """

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """The operation that an ACL allows or denies; ANY stands in filters only."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """The permission type of an ACL: ALLOW or DENY. ANY stands in filters only."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class AclError(ValueError):
    """An ACL that cannot be read; the text says what is wrong and what would be right."""


class Acl(NamedTuple):
    """One ACL: a principal may, or may not, do an operation on a resource from a host."""

    resource_type: int
    pattern_type: int
    name: str
    principal: str
    host: str
    operation: int
    permission: int

    def __str__(self) -> str:
        """Return the ACL as the sentence that `read_acl` reads."""
        may = "may" if self.permission == Permission.ALLOW else "may not"
        kind = ResourceType(self.resource_type)
        name = "" if kind is ResourceType.CLUSTER else f" {_quoted(self.name)}"
        prefixed = " prefixed" if self.pattern_type == PatternType.PREFIXED else ""
        host = "" if self.host == WILDCARD else f" from {_quoted(self.host)}"
        operation = word(Operation(self.operation))
        return (
            f"{_quoted(self.principal)} {may} {operation} {kind.name.lower()}{name}{prefixed}{host}"
        )


class AclFilter(NamedTuple):
    """A filter of DescribeAcls or DeleteAcls. ANY and None match every value of their field."""

    resource_type: int = ResourceType.ANY
    pattern_type: int = PatternType.ANY
    name: str | None = None
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    def finds(self, acl: Acl) -> bool:
        """Return whether the filter matches this ACL (ACL-8)."""
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._finds_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _finds_name(self, acl: Acl) -> bool:
        matches = self.pattern_type == PatternType.MATCH
        if not matches and self.pattern_type not in (PatternType.ANY, acl.pattern_type):
            return False
        if self.name is None:
            return True
        if not matches:
            return self.name == acl.name
        if acl.pattern_type == PatternType.PREFIXED:
            return self.name.startswith(acl.name)
        return acl.name in (self.name, WILDCARD)


def word(operation: Operation) -> str:
    """Return an operation's name as Kafka's documentation writes it, such as DescribeConfigs."""
    return "".join(part.capitalize() for part in operation.name.split("_"))


# -- as people write them

_RIGHT: Final = "write PRINCIPAL may|may not OPERATION TYPE NAME [prefixed] [from HOST], such as 'User:billing may Read topic orders'"
_OPERATIONS: Final = {
    word(each).lower(): each for each in Operation if each not in (Operation.UNKNOWN, Operation.ANY)
}
_TYPES: Final = {
    each.name.lower(): each
    for each in ResourceType
    if each not in (ResourceType.UNKNOWN, ResourceType.ANY)
} | {
    "transactionalid": ResourceType.TRANSACTIONAL_ID,
    "delegationtoken": ResourceType.DELEGATION_TOKEN,
}
_WORD: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_PLAIN_WORD: Final = re.compile(r'[^\s"\\]+')


def _quoted(text: str) -> str:
    if _PLAIN_WORD.fullmatch(text) and text not in ("prefixed", "from"):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_acl(given: str | Mapping[str, Any]) -> Acl:
    """Read an ACL from a sentence, or from a mapping with Kafka's field names. Raises AclError."""
    if isinstance(given, str):
        return _of_sentence(given)
    if isinstance(given, Mapping):
        return _of_fields(given)
    raise AclError(f"{given!r} is no ACL: {_RIGHT}")


def _of_sentence(text: str) -> Acl:
    words = [
        (re.sub(r"\\(.)", r"\1", quoted) if plain == "" else plain, plain == "")
        for quoted, plain in _WORD.findall(text)
    ]

    def take(*wanted: str) -> str:
        if not words or (wanted and (words[0][1] or words[0][0].lower() not in wanted)):
            raise AclError(f"{text!r} is no ACL: {_RIGHT}")
        return words.pop(0)[0]

    def is_next(wanted: str) -> bool:
        return bool(words) and not words[0][1] and words[0][0].lower() == wanted

    principal = take()
    if ":" not in principal:
        raise AclError(f"{text!r}: {principal!r} is no principal; write User:{principal}")
    take("may")
    permission = Permission.ALLOW
    if is_next("not"):
        take()
        permission = Permission.DENY
    operation = _known(text, take(), _OPERATIONS, "operation")
    kind = _known(text, take(), _TYPES, "type of a resource")
    if kind is ResourceType.CLUSTER and (not words or is_next("from")):
        name = CLUSTER_NAME
    else:
        name = take()
    pattern = PatternType.LITERAL
    if is_next("prefixed"):
        take()
        pattern = PatternType.PREFIXED
    host = WILDCARD
    if is_next("from"):
        take()
        host = take()
    if words:
        raise AclError(f"{text!r}: {words[0][0]!r} is one word too many: {_RIGHT}")
    return Acl(kind, pattern, name, principal, host, operation, permission)


def _known(text: str, given: str, known: Mapping[str, Any], what: str) -> Any:
    found = known.get(given.lower())
    if found is None:
        raise AclError(f"{text!r}: {given!r} is no {what}; there are {', '.join(known)}")
    return found


_FIELDS: Final = {
    "resource_type": ResourceType,
    "pattern_type": PatternType,
    "operation": Operation,
    "permission_type": Permission,
}


_ALL_FIELDS: Final = (
    "resource_type, resource_name, pattern_type, principal, host, operation, permission_type"
)


def _of_fields(given: Mapping[str, Any]) -> Acl:
    fields: dict[str, Any] = {
        "pattern_type": "LITERAL",
        "host": WILDCARD,
        "permission_type": "ALLOW",
    }
    for name, value in given.items():
        own = re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), str(name))
        own = {"name": "resource_name", "resource_pattern_type": "pattern_type"}.get(own, own)
        if own not in _FIELDS and own not in ("resource_name", "principal", "host"):
            raise AclError(f"{name!r} is no field of an ACL; there are {_ALL_FIELDS}")
        fields[own] = value
    for name in ("resource_type", "resource_name", "principal", "operation"):
        if name not in fields:
            raise AclError(f"{dict(given)!r}: an ACL has a {name}")
    numbers = {}
    for name, kind in _FIELDS.items():
        text = str(fields[name]).upper()
        if text not in kind.__members__ or text in ("UNKNOWN", "ANY", "MATCH"):
            right = [each for each in kind.__members__ if each not in ("UNKNOWN", "ANY", "MATCH")]
            raise AclError(f"{name}={fields[name]!r}: it is one of {', '.join(right)}")
        numbers[name] = kind[text]
    principal = str(fields["principal"])
    if ":" not in principal:
        raise AclError(f"principal={principal!r}: write User:{principal}")
    return Acl(
        numbers["resource_type"],
        numbers["pattern_type"],
        str(fields["resource_name"]),
        principal,
        str(fields["host"]),
        numbers["operation"],
        numbers["permission_type"],
    )
