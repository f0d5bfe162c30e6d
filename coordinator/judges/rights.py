"""Rights: what is refused is what the ACLs do not allow, and nothing else.

Owns its own reading of what ACLs mean, apart from the authorizer's.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..security.acls import Acl, Operation, PatternType, Permission, ResourceType, read_acl, word
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
"""The requests of groups that the log has, whatever they are answered, and what they want of their
group."""
_REFUSED: Final = "GROUP_AUTHORIZATION_FAILED"
_ANYBODY: Final = "User:*"
WAITS_MS: Final = 30_000
"""So long may a request to Fetch or to Produce wait at its broker after it was allowed."""
_BY_WORD: Final = {word(each): each for each in Operation}


def allowed(acls: list[Acl], principal: str, operation: int, resource: int, name: str) -> bool:
    """True if ACLs allow something to somebody from anywhere: no denial is about it, and something
    allows it, or what implies it."""
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
    """A request of a group that is not answered."""

    may: bool
    api: str
    who: str
    wanted: Operation
    group: str

    def is_allowed(self, acls: list[Acl]) -> bool:
        """True if ACLs allow it."""
        return allowed(acls, self.who, self.wanted, ResourceType.GROUP, self.group)

    def __str__(self) -> str:
        return f"{self.api} of {self.who} to group {self.group}"


class AclsDecide(Judge):
    """Who has a right is not refused, and who has none does not do it."""

    name = "acls_decide"
    promise = (
        "what is refused for want of a right is what no ACL allows at that moment, or one denies; a request of a group "
        "without the right to it is refused, and one with it is not; records come from a topic and go to it only by "
        "those who may, or might when their request came"
    )
    needs = frozenset({"wire", "cluster"})
    looks_at = frozenset(
        {
            "AclsCreated",
            "AclsDeleted",
            "Authenticated",
            "AuthorizationRefused",
            "ConnectionClosed",
            "FaultInjected",
            "RequestSeen",
            "RequestAnswered",
            "RequestRefused",
            "RecordsServed",
            "RecordsAppended",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._acls: list[Acl] = []
        self._before: list[tuple[int, list[Acl]]] = []
        """Until when other ACLs were in force, and which, the latest last."""
        self._who: dict[str, str] = {}
        self._asked: dict[int, _Asked] = {}
        """Requests that are not answered. One whose right changes meanwhile, as it waits for a link
        that is cut, may be answered either way."""

    def see(self, line: Line) -> None:
        """Look at the next line."""
        match line["type"]:
            case "AclsCreated":
                self._change(line, [*self._acls, *map(read_acl, line["acls"])])
            case "AclsDeleted":
                gone = set(map(read_acl, line["acls"]))
                self._change(line, [acl for acl in self._acls if acl not in gone])
            case "Authenticated":
                self._who[line["peer"]] = line["principal"]
            case "ConnectionClosed":
                self._who.pop(line["peer"], None)
            case "AuthorizationRefused":
                self._refused(line)
            case "RequestSeen":
                self._seen(line)
            case "FaultInjected" if line["action"] == "fail":
                self._asked.pop(line["cause"] or -1, None)  # nobody looked at rights
            case "RequestAnswered" | "RequestRefused":
                self._answered(line)
            case "RecordsServed":
                self._moved(line, _O.READ, "read from")
            case "RecordsAppended":
                self._moved(line, _O.WRITE, "wrote to")

    def _change(self, line: Line, acls: list[Acl]) -> None:
        self._before.append((line["at_ms"], self._acls))
        self._acls = acls
        self._asked = {
            seq: asked for seq, asked in self._asked.items() if asked.is_allowed(acls) == asked.may
        }

    def _refused(self, line: Line) -> None:
        resource = ResourceType[line["resource"].upper()]
        who, what = line["principal"], line["operation"]
        if allowed(self._acls, who, _BY_WORD[what], resource, line["name"]):
            self.blame(
                line,
                f"{who} is refused {what} on {line['resource']} {line['name']}, which an ACL allows",
            )

    def _seen(self, line: Line) -> None:
        wanted, group = _WANTS.get(line["api"]), line.get("group")
        who = self._who.get(line["peer"])
        if wanted is None or group is None or who is None:
            return
        asked = _Asked(False, line["api"], who, wanted, group)
        self._asked[line["seq"]] = asked._replace(may=asked.is_allowed(self._acls))

    def _answered(self, line: Line) -> None:
        asked = self._asked.pop(line["cause"] or -1, None)
        if asked is None:
            return
        is_refused = _REFUSED in (line.get("errors") or ())
        if asked.may and is_refused:
            self.blame(line, f"{asked} is refused, which an ACL allows")
        elif not asked.may and not is_refused:
            self.blame(line, f"{asked} is not refused, and no ACL allows it")

    def _moved(self, line: Line, operation: Operation, verb: str) -> None:
        topic, who = line["topic"], self._who.get(line.get("peer", ""))
        if who is None:  # a broker does it itself
            return
        since = line["at_ms"] - WAITS_MS
        while self._before and self._before[0][0] < since:
            del self._before[0]
        lately = [self._acls, *(acls for _, acls in self._before)]
        if not any(allowed(acls, who, operation, ResourceType.TOPIC, topic) for acls in lately):
            self.blame(line, f"{who} {verb} topic {topic}, and no ACL allows it")
