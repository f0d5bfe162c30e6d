"""Refused requests and injected faults as notes of their group: who was refused what, why, how
often, and whether a test had asked for it.

A refusal belongs to the fault that its request met: by the request that caused both, and where
requests are not logged (heartbeats) by client and API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..event_log.reader import Line
from .views import GroupView, MemberView, Note, Trouble

_MOST_TURNS = 8
"""Refusals of one client that take turns are looked for among so many notes."""
_MOST_AT_ONCE = 64
"""Notes of so many clients that are refused over and over at one time; a timeline in a file keeps
as many (`filed`)."""
STALE: Final = frozenset(
    {
        "ILLEGAL_GENERATION",
        "UNKNOWN_MEMBER_ID",
        "FENCED_INSTANCE_ID",
        "STALE_MEMBER_EPOCH",
        "FENCED_MEMBER_EPOCH",
    }
)
"""Why a commit is refused whose sender has lost its generation."""
_ROUTINE = frozenset({"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"})


class Refusals:
    """Follows the lines of a log that are about refusals and faults. `trouble`: what a client had
    gone through at an instant."""

    def __init__(self, trouble: Callable[[str, int], Trouble | None]) -> None:
        self._trouble = trouble
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
        self,
        group: GroupView,
        member: MemberView | None,
        line: Line,
        injected: str,
        client: str,
    ) -> None:
        """A request of a client (its id) was refused."""
        name = group.name(line.get("member"))
        departed = None if member is not None else group.departed.get(line.get("member", ""))
        if departed is not None and line["api"] == "join_group" and departed.told:
            departed = None
        entries = group.entries
        for back in range(1, min(_MOST_AT_ONCE, len(entries)) + 1):
            last = entries[-back]
            if not isinstance(last, Note) or last.kind != line["type"]:
                break
            if last.injected == injected and not last.tally and _same(last.line, line):
                last.times, last.last_ms = last.times + 1, line["at_ms"]
                return
            if last.client == client:
                break
        if not injected and _takes_turns(group, line, client, name):
            return
        note = group.note(line, [name] if name else [])
        note.departed, note.held, note.injected = (
            departed,
            member.held if member is not None else {},
            injected,
        )
        note.client = client
        if departed is not None:
            note.trouble = self._trouble(client or departed.client_id, departed.at_ms)
        if "INCONSISTENT_GROUP_PROTOCOL" in line["errors"] and "offered" in line:
            note.protocol_type = group.protocol_type
            for view in group.members.values():
                note.offers.setdefault(view.offers, []).append(view.name)
        if departed is not None:
            departed.told = True


def _takes_turns(group: GroupView, line: Line, client: str, name: str | None) -> bool:
    """Count a refusal with the notes just before, if its client was refused the same among them:
    they become one note."""
    run: list[Note] = []
    for entry in reversed(group.entries[-_MOST_TURNS:]):
        if (
            not isinstance(entry, Note)
            or (entry.kind, entry.client, entry.injected) != (line["type"], client, "")
            or entry.generation != group.generation
            or not _one_member(entry.line, line)
        ):
            break
        run.append(entry)
    key = _what(line)
    known = [at for at, note in enumerate(run) if note.tally or _what(note.line) == key]
    if not known:
        return False
    together = run[: known[0] + 1]
    first = together[-1]
    if not first.tally:
        first.tally = {_what(note.line): note.times for note in reversed(together)}
        first.members = list(
            dict.fromkeys(who for note in reversed(together) for who in note.members)
        )
        del group.entries[len(group.entries) - known[0] :]
    first.tally[key] = first.tally.get(key, 0) + 1
    first.times, first.last_ms = sum(first.tally.values()), line["at_ms"]
    if name is not None and name not in first.members:
        first.members.append(name)
    return True


def _one_member(some: Line, other: Line) -> bool:
    """Can two requests of a client be one member's? A JoinGroup may name none."""
    return "member" not in some or "member" not in other or some["member"] == other["member"]


def _what(line: Line) -> tuple[str, tuple[str, ...]]:
    """A refused request's API, and the errors that it was refused with."""
    return line.get("api", ""), tuple(line["errors"])


def _request(line: Line) -> tuple[object, ...]:
    """The common part of a fault and an answer if they are about the same request."""
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
