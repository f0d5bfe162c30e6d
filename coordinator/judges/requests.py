"""Requests: each is answered at most once, and none is forgotten while its member lives; a refusal
has changed nothing."""

from __future__ import annotations

from typing import Final

from .base import NEVER, Judge, Line

_OF_GROUPS: Final = frozenset(
    {"join_group", "sync_group", "leave_group", "offset_commit", "offset_fetch"}
)
_FENCED: Final = frozenset(
    {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH"}
)
"""Who is told one of these has changed no offsets."""
_PARKED: Final = ("join_group", "sync_group")
_JOINS: Final = frozenset({"MemberJoined", "MemberRejoined", "MemberReplaced"})
_ANSWERING: Final = {
    "GenerationStarted": ("join_group",),
    "GenerationStored": ("sync_group",),
    "RebalanceStarted": ("sync_group",),
    "AssignmentRejected": ("sync_group",),
    "GroupUnloaded": _PARKED,
}
"""The events of a group that end the waiting of all its members' requests of these kinds."""
_GONE: Final = frozenset({"GroupDeleted", "GroupLoaded", "ConsumerGroupUpgraded"})
_TAKES_OUT: Final = frozenset(
    {"MemberRemoved", "PendingMemberRemoved", "ConsumerMemberRemoved", "ConsumerGroupDowngraded"}
)
WITHIN_MS: Final = 60_000
"""So long may an answer take: it waits until what its request wrote is replicated,
offsets.commit.timeout.ms (5 s) at most."""


class AnsweredOnce(Judge):
    """No request is answered twice, none that its client still waits for is forgotten. `within_ms`:
    how long an answer may take."""

    name = "answered_once"
    promise = (
        "a request is answered at most once, and only after it came; one of a group's member is answered in time, a JoinGroup that waits "
        "for the others when the generation begins, a SyncGroup when the assignment is stored, while its connection is open and its broker "
        "goes on (known where connections are logged); a LeaveGroup that is answered without an error takes its member out (of a group "
        "that was loaded a former coordinator may say so in vain); and whose commit is refused because it is no member, or one of another "
        "generation, has changed no offset, and a commit of a member that tells of itself is stored if it is acknowledged"
    )
    needs = frozenset({"wire"})
    looks_at = (
        _JOINS
        | _GONE
        | _TAKES_OUT
        | _ANSWERING.keys()
        | {
            "RequestSeen",
            "RequestAnswered",
            "RequestRefused",
            "MemberSynced",
            "ConnectionOpened",
            "ConnectionClosed",
            "FaultInjected",
            "StopBroker",
            "StartBroker",
            "OffsetsCommitted",
            "OffsetsPending",
            "SnapshotRestored",
            "RunEnded",
            "MemberStarted",
        }
    )
    timed = True
    goes_on = True

    def __init__(self, within_ms: int = WITHIN_MS) -> None:
        super().__init__()
        self._within_ms = within_ms
        self._open: set[int] = set()
        self._answered: set[int] = set()
        self._changed: set[int] = set()
        """The requests that are not answered yet and have changed offsets, or taken a member out.
        """
        self._leaves: dict[int, Line] = {}
        self._commits: dict[int, Line] = {}
        self._loaded: set[str] = set()
        self._members: set[str] = set()
        """The clients that tell of themselves: they commit nothing but offsets."""
        self._connected: set[str] = set()
        self._waits: dict[int, Line] = {}
        """The requests of groups that came over a connection which is open, and have no answer."""
        self._due: dict[int, int] = {}
        """When each of them that waits for nobody else has to be answered."""
        self._parked: dict[str, dict[tuple[str, str], int]] = {}
        """Of each group, the requests that wait for others, by member and kind."""

    def see(self, line: Line) -> None:
        kind, cause = line["type"], line.get("cause")
        if kind == "RequestSeen":
            self._seen(line)
        elif kind in ("RequestAnswered", "RequestRefused"):
            if cause is not None:
                self._answer(line, cause)
        elif kind in ("OffsetsCommitted", "OffsetsPending"):
            if cause in self._open:
                self._changed.add(cause)
        elif line["stream"] == "group":
            self._of_group(line, kind, line["group"], cause)
        elif kind == "MemberStarted":
            self._members.add(line["client"])
        elif kind == "ConnectionOpened":
            self._connected.add(line["peer"])
        elif kind == "ConnectionClosed":
            self._connected.discard(line["peer"])
            self._forget(
                [seq for seq, request in self._waits.items() if request["peer"] == line["peer"]]
            )
        elif kind == "FaultInjected":
            self._forget([cause] if cause in self._waits else [])
        elif kind != "RunEnded":  # a broker that stands still or is gone answers nobody
            self._forget(list(self._waits))
            self._parked.clear()

    def _seen(self, line: Line) -> None:
        self._open.add(line["seq"])
        if line["api"] == "leave_group" and line.get("member"):
            self._leaves[line["seq"]] = line
        elif line["api"] == "offset_commit" and line.get("client") in self._members:
            self._commits[line["seq"]] = line
        if line["api"] in _OF_GROUPS and line.get("peer") in self._connected:
            self._waits[line["seq"]] = line
            self._expect(line["seq"], line["at_ms"])

    def _answer(self, line: Line, cause: int) -> None:
        if cause in self._answered:
            self.blame(line, f"the {line['api']} of line {cause} was answered before")
        elif cause not in self._open:
            self.blame(line, f"line {cause} is no request that could be answered")
        self._open.discard(cause)
        self._answered.add(cause)
        self._forget([cause] if cause in self._waits else [])
        changed, leaves, commit = (
            cause in self._changed,
            self._leaves.pop(cause, None),
            self._commits.pop(cause, None),
        )
        self._changed.discard(cause)
        errors = line.get("errors", ())
        if changed and leaves is None and len(errors) == 1 and errors[0] in _FENCED:
            self.blame(
                line,
                f"the {line['api']} of line {cause} was refused with {errors[0]}, and has changed offsets all the same",
            )
        if leaves is not None and not (changed or errors or leaves["group"] in self._loaded):
            self.blame(
                line,
                f"{leaves['member']} has left group {leaves['group']}, and nobody was taken out",
            )
        if commit is not None and not (changed or errors):
            self.blame(
                line,
                f"the commit of {commit['client']}, line {cause}, was acknowledged, and is not stored",
            )

    def _of_group(self, line: Line, kind: str, group: str, cause: int | None) -> None:
        if kind in _TAKES_OUT and cause in self._open:
            self._changed.add(cause)
        if kind in _JOINS or kind == "MemberSynced":
            if kind == "MemberReplaced":
                self._let_go(group, line["at_ms"], _PARKED, {line["replaced"]})
            if cause in self._waits and line.get("parked", True):
                parked = self._parked.setdefault(group, {})
                key = line["member"], self._waits[cause]["api"]
                self._forget([parked[key]] if key in parked else [])  # its client has asked again
                parked[key] = cause
                self._due.pop(cause, None)
        elif kind in _ANSWERING:
            of_some = kind in ("GenerationStarted", "GenerationStored")
            told = (
                {
                    member if isinstance(member, str) else member["member_id"]
                    for member in line["members"]
                }
                if of_some
                else None
            )
            self._let_go(group, line["at_ms"], _ANSWERING[kind], told)
        elif kind == "MemberRemoved":
            parked = self._parked.get(group, {})
            self._forget([parked.pop(key) for key in list(parked) if key[0] == line["member"]])
        elif kind in _GONE:
            self._loaded.add(group)
            self._forget(list(self._parked.pop(group, {}).values()))

    def _let_go(
        self, group: str, at_ms: int, kinds: tuple[str, ...], members: set[str] | None
    ) -> None:
        """The wait of these members, all by default, is over."""
        parked = self._parked.get(group, {})
        for key in [
            key for key in parked if key[1] in kinds and (members is None or key[0] in members)
        ]:
            self._expect(parked.pop(key), at_ms)

    def _expect(self, seq: int, at_ms: int) -> None:
        if seq in self._waits:
            self._due[seq] = at_ms + self._within_ms
            self.due_ms = min(self.due_ms, self._due[seq] + 1)

    def _forget(self, requests: list[int]) -> None:
        for seq in requests:
            self._waits.pop(seq, None)
            self._due.pop(seq, None)

    def passed(self, now_ms: int) -> None:
        for seq in [seq for seq, due in self._due.items() if due < now_ms]:
            request = self._waits[seq]
            self.blame(
                request,
                f"the {request['api']} of {request['client']} has no answer at {now_ms} ms, and waits for nobody",
            )
            self._forget([seq])
        self.due_ms = min(self._due.values(), default=NEVER - 1) + 1
