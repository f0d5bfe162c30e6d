"""Judges authorization: a request is refused if the ACLs do not allow it, and only then.

Reads ACLs with code of its own, so that it shares no mistake with the authorizer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.events.acls import (
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    read_acl,
    word,
)
from coordinator.events.cluster import AclsCreated, AclsDeleted
from coordinator.events.data import ConnectionClosed, RecordsAppended, RecordsServed
from coordinator.events.faults import FaultInjected
from coordinator.events.handlers import on
from coordinator.events.wire import (
    Authenticated,
    AuthorizationRefused,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
)

from .base import Judge, Line

_O = Operation
_IMPLIED_BY: Final = {
    _O.DESCRIBE: frozenset({_O.READ, _O.WRITE, _O.DELETE, _O.ALTER}),
    _O.DESCRIBE_CONFIGS: frozenset({_O.ALTER_CONFIGS}),
}
_WANTS: Final = {
    "join_group": _O.READ,
    "sync_group": _O.READ,
    "leave_group": _O.READ,
    "offset_commit": _O.READ,
    "offset_fetch": _O.DESCRIBE,
}
"""The requests of groups that a log always has, and the right that each needs on its group."""
_REFUSED: Final = "GROUP_AUTHORIZATION_FAILED"
_ANYBODY: Final = "User:*"
WAITS_MS: Final = 30_000
"""Longest time in ms that a Fetch or Produce may wait at its broker after it was allowed."""
_BY_WORD: Final = {word(each): each for each in Operation}


def allowed(acls: list[Acl], principal: str, operation: int, resource: int, name: str) -> bool:
    """Return True if the ACLs allow an operation from any host: no ACL denies it, and one allows
    it or an operation that implies it."""
    about = [
        acl
        for acl in acls
        if acl.resource_type == resource
        and acl.principal in (principal, _ANYBODY)
        and (
            name.startswith(acl.name)
            if acl.pattern_type == PatternType.PREFIXED
            else acl.name in (name, "*")
        )
    ]
    implying = _IMPLIED_BY.get(Operation(operation), frozenset())
    denied = any(
        acl.permission == Permission.DENY and acl.operation in (operation, _O.ALL) for acl in about
    )
    return not denied and any(
        acl.permission == Permission.ALLOW
        and (acl.operation in (operation, _O.ALL) or acl.operation in implying)
        for acl in about
    )


class _Asked(NamedTuple):
    """A request for a group that is not answered yet."""

    may: bool
    api: str
    who: str
    wanted: Operation
    group: str

    def is_allowed(self, acls: list[Acl]) -> bool:
        return allowed(acls, self.who, self.wanted, ResourceType.GROUP, self.group)

    def __str__(self) -> str:
        return f"{self.api} of {self.who} to group {self.group}"


class AclsDecide(Judge):
    """Judges that a client with a right is not refused, and one without it does not succeed."""

    name = "acls_decide"
    promise = (
        "a request is refused for lack of a permission only if no ACL allows it at that moment, or one denies it. A group's "
        "request without the permission for the group is refused, and one with it is not. Records are read from a topic and "
        "written to it only by clients that have the permission, or had it when their request arrived"
    )
    needs = frozenset({"wire", "cluster"})

    def __init__(self) -> None:
        super().__init__()
        self._acls: list[Acl] = []
        self._before: list[tuple[int, list[Acl]]] = []
        """Former ACLs, each with the instant until which they were in force, the latest last."""
        self._who: dict[str, str] = {}
        self._asked: dict[int, _Asked] = {}
        """Unanswered requests. If the right changes before the response, either response is
        allowed."""

    @on(AclsCreated)
    def _created(self, line: Line, event: AclsCreated) -> None:
        self._change(line, [*self._acls, *map(read_acl, event.acls)])

    @on(AclsDeleted)
    def _deleted(self, line: Line, event: AclsDeleted) -> None:
        gone = set(map(read_acl, event.acls))
        self._change(line, [acl for acl in self._acls if acl not in gone])

    @on(Authenticated)
    def _logged_in(self, _: Line, event: Authenticated) -> None:
        self._who[event.peer] = event.principal

    @on(ConnectionClosed)
    def _closed(self, _: Line, event: ConnectionClosed) -> None:
        self._who.pop(event.peer, None)

    @on(FaultInjected)
    def _met_a_fault(self, line: Line, event: FaultInjected) -> None:
        if event.action == "fail":
            self._asked.pop(line.cause or -1, None)  # nobody looked at rights

    @on(RecordsServed)
    def _served(self, line: Line, event: RecordsServed) -> None:
        self._moved(line, event.peer, _O.READ, "read from")

    @on(RecordsAppended)
    def _appended(self, line: Line, event: RecordsAppended) -> None:
        self._moved(line, event.peer, _O.WRITE, "wrote to")

    def _change(self, line: Line, acls: list[Acl]) -> None:
        self._before.append((line.at_ms, self._acls))
        self._acls = acls
        self._asked = {
            seq: asked for seq, asked in self._asked.items() if asked.is_allowed(acls) == asked.may
        }

    @on(AuthorizationRefused)
    def _refused(self, line: Line, event: AuthorizationRefused) -> None:
        resource = ResourceType[event.resource.upper()]
        who, what = event.principal, event.operation
        if allowed(self._acls, who, _BY_WORD[what], resource, event.name):
            self.blame(
                line,
                f"{who} is refused {what} on {event.resource} {event.name}, although an ACL allows it",
            )

    @on(RequestSeen)
    def _seen(self, line: Line, event: RequestSeen) -> None:
        wanted, group = _WANTS.get(event.api), line.group
        who = self._who.get(event.peer)
        if wanted is None or group is None or who is None:
            return
        asked = _Asked(False, event.api, who, wanted, group)
        self._asked[line.seq] = asked._replace(may=asked.is_allowed(self._acls))

    @on(RequestAnswered, RequestRefused)
    def _answered(self, line: Line, event: RequestAnswered | RequestRefused) -> None:
        asked = self._asked.pop(line.cause or -1, None)
        if asked is None:
            return
        is_refused = isinstance(event, RequestRefused) and _REFUSED in event.errors
        if asked.may and is_refused:
            self.blame(line, f"{asked} is refused, although an ACL allows it")
        elif not asked.may and not is_refused:
            self.blame(line, f"{asked} is not refused, although no ACL allows it")

    def _moved(self, line: Line, peer: str, operation: Operation, verb: str) -> None:
        topic, who = line.topic or "", self._who.get(peer)
        if who is None:  # a broker does it itself
            return
        since = line.at_ms - WAITS_MS
        while self._before and self._before[0][0] < since:
            del self._before[0]
        lately = [self._acls, *(acls for _, acls in self._before)]
        if not any(allowed(acls, who, operation, ResourceType.TOPIC, topic) for acls in lately):
            self.blame(line, f"{who} {verb} topic {topic}, although no ACL allows it")
