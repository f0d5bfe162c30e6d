"""Refused requests and injected faults as notes of their group: who was refused what, why, how
often, and whether a test had asked for it.

A refusal belongs to the fault that its request met: by the request that caused both, and where
requests are not logged (heartbeats) by client and API.
"""

from __future__ import annotations

from ..event_log.reader import Line
from .views import GroupView, MemberView, Note

_ROUTINE = frozenset({"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"})


class Refusals:
    """Follows the lines of a log that are about refusals and faults."""

    def __init__(self) -> None:
        self._injected: dict[tuple[object, ...], str] = {}

    def met(self, group: GroupView | None, line: Line) -> None:
        """A request met a fault. That it is to be refused is told when it is; all else is told now,
        except that somebody only looked on."""
        if line["action"] == "fail":
            self._injected[_request(line)] = line["fault"]
        elif line["action"] != "observe" and group is not None:
            last = group.entries[-1] if group.entries else None
            if isinstance(last, Note) and all(
                last.line.get(key) == line.get(key) for key in ("type", "client", "fault")
            ):
                last.times, last.last_ms = last.times + 1, line["at_ms"]
            else:
                group.note(line).injected = line["fault"]

    def errors(self, line: Line) -> tuple[set[str], str]:
        """The errors of an answer that are worth telling, and the fault that asked for them, or
        ""."""
        if not line.get("errors"):
            return set(), ""
        errors = set(line["errors"])
        injected = self._injected.pop(_request(line), "") if errors else ""
        return (errors if injected else errors - _ROUTINE), injected

    def refused(
        self, group: GroupView, member: MemberView | None, line: Line, injected: str
    ) -> None:
        """A request was refused."""
        name = group.name(line.get("member"))
        departed = None if member is not None else group.departed.get(line.get("member", ""))
        if departed is not None and line["api"] == "join_group" and departed.told:
            departed = None
        last = group.entries[-1] if group.entries else None
        if isinstance(last, Note) and last.injected == injected and _same(last.line, line):
            last.times, last.last_ms = last.times + 1, line["at_ms"]
            return
        note = group.note(line, [name] if name else [])
        note.departed, note.held, note.injected = (
            departed,
            member.held if member is not None else {},
            injected,
        )
        if departed is not None:
            departed.told = True


def _request(line: Line) -> tuple[object, ...]:
    """What a fault and an answer have in common if they are about the same request."""
    cause = line["cause"]
    return (
        (cause,)
        if cause is not None
        else (line.get("client"), str(line.get("api", "")).replace("_", "").lower())
    )


def _same(some: Line, other: Line) -> bool:
    """Is it the same client, refused the same for the same reason?"""
    return all(
        some.get(key) == other.get(key)
        for key in ("type", "member", "client", "api", "errors", "generation")
    )
