"""Refused requests and injected faults as notes of their group: the client, the error, the cause,
the number of times, and whether a test had injected it.

A refusal belongs to the fault that its request met: by the request that caused both or, where
requests are not logged (heartbeats), by client and API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from coordinator.events.faults import FaultInjected
from coordinator.events.line import Line
from coordinator.events.wire import AuthorizationRefused, RequestRefused

from .views import GroupView, MemberView, Note, Trouble

_MOST_TURNS = 8
"""Number of latest notes among which alternating refusals of one client are looked for."""
_MOST_AT_ONCE = 64
"""Number of clients with repeated refusals at one time that have a note each; a timeline in a
file keeps as many (`packed_stories`)."""
STALE: Final = frozenset(
    {
        "ILLEGAL_GENERATION",
        "UNKNOWN_MEMBER_ID",
        "FENCED_INSTANCE_ID",
        "STALE_MEMBER_EPOCH",
        "FENCED_MEMBER_EPOCH",
    }
)
"""Errors of a commit whose sender has lost its generation."""
_ROUTINE = frozenset({"MEMBER_ID_REQUIRED", "REBALANCE_IN_PROGRESS"})


class Refusal(NamedTuple):
    """A refused request: its API as in stream `wire`, the errors, and the missing right, if
    known."""

    api: str
    errors: tuple[str, ...]
    unauthorised: Line | None = None


class Refusals:
    """Follows lines about refusals and faults. `trouble`: returns what a client had gone through
    at an instant."""

    def __init__(self, trouble: Callable[[str, int], Trouble | None]) -> None:
        self._trouble = trouble
        self._injected: dict[tuple[object, ...], str] = {}

    def met(self, group: GroupView | None, line: Line, event: FaultInjected) -> None:
        """Handle a request that met a fault. If the fault refuses it, the note is made with the
        refusal. Other faults get a note now, except one that only observes."""
        if event.action == "fail":
            self._injected[_request(line, event.client, event.api)] = event.fault
        elif event.action != "observe" and group is not None:
            last = group.entries[-1] if group.entries else None
            before = last.line.event if isinstance(last, Note) else None
            if (
                isinstance(last, Note)
                and isinstance(before, FaultInjected)
                and (before.client, before.fault) == (event.client, event.fault)
            ):
                last.times, last.last_ms = last.times + 1, line.at_ms
            else:
                group.note(line).injected = event.fault

    def errors(self, line: Line) -> tuple[set[str], str]:
        """Return the errors of a response that are worth a note, and the fault that injected
        them, or ""."""
        event = line.event
        if not isinstance(event, RequestRefused) or not event.errors:
            return set(), ""
        errors = set(event.errors)
        injected = self._injected.pop(_request(line, event.client, event.api), "")
        return (errors if injected else errors - _ROUTINE), injected

    def refused(
        self,
        group: GroupView,
        member: MemberView | None,
        line: Line,
        refusal: Refusal,
        injected: str,
        client: str,
    ) -> Note:
        """Note that a request of a client was refused; return the note, which may be an earlier
        one that counts it."""
        name = group.name(line.member)
        departed = None if member is not None else group.departed.get(line.member or "")
        if departed is not None and refusal.api == "join_group" and departed.told:
            departed = None
        entries = group.entries
        for back in range(1, min(_MOST_AT_ONCE, len(entries)) + 1):
            last = entries[-back]
            if not isinstance(last, Note) or last.kind is not line.kind:
                break
            if last.injected == injected and not last.tally and _same(last, line, refusal):
                last.times, last.last_ms = last.times + 1, line.at_ms
                return last
            if last.client == client:
                break
        in_turn = None if injected else _in_turn(group, line, refusal, client, name)
        if in_turn is not None:
            return in_turn
        note = group.note(line, [name] if name else [])
        note.api, note.errors, note.unauthorised = refusal
        note.departed, note.held, note.injected = (
            departed,
            member.held if member is not None else {},
            injected,
        )
        note.client = client
        if departed is not None:
            note.trouble = self._trouble(client or departed.client_id, departed.at_ms)
        event = line.event
        if "INCONSISTENT_GROUP_PROTOCOL" in refusal.errors and (
            isinstance(event, RequestRefused) and event.offered is not None
        ):
            note.protocol_type = group.protocol_type
            for view in group.members.values():
                note.offers.setdefault(view.offers, []).append(view.name)
        if departed is not None:
            departed.told = True
        return note


def _in_turn(
    group: GroupView, line: Line, refusal: Refusal, client: str, name: str | None
) -> Note | None:
    """Count a refusal with the notes just before, if its client was refused the same among them:
    they become one note, which is returned."""
    run: list[Note] = []
    for entry in reversed(group.entries[-_MOST_TURNS:]):
        if (
            not isinstance(entry, Note)
            or (entry.kind, entry.client, entry.injected) != (line.kind, client, "")
            or entry.generation != group.generation
            or not _one_member(entry.line, line)
        ):
            break
        run.append(entry)
    key = (refusal.api, refusal.errors)
    known = [at for at, note in enumerate(run) if note.tally or (note.api, note.errors) == key]
    if not known:
        return None
    together = run[: known[0] + 1]
    first = together[-1]
    if not first.tally:
        first.tally = {(note.api, note.errors): note.times for note in reversed(together)}
        first.members = list(
            dict.fromkeys(who for note in reversed(together) for who in note.members)
        )
        del group.entries[len(group.entries) - known[0] :]
    first.tally[key] = first.tally.get(key, 0) + 1
    first.times, first.last_ms = sum(first.tally.values()), line.at_ms
    if name is not None and name not in first.members:
        first.members.append(name)
    return first


def _one_member(some: Line, other: Line) -> bool:
    """Return True if two requests of a client may come from one member. A JoinGroup may name
    none."""
    return some.member is None or other.member is None or some.member == other.member


def _request(line: Line, client: str | None, api: str) -> tuple[object, ...]:
    """Return a key that a fault and a response share if they concern the same request."""
    if line.cause is not None:
        return (line.cause,)
    return client, api.replace("_", "").lower()


def _same(note: Note, line: Line, refusal: Refusal) -> bool:
    """Return True if the same client was refused for the same reason."""
    before = note.line
    return (before.kind, before.member, before.generation) == (
        line.kind,
        line.member,
        line.generation,
    ) and (_asker(before), note.api, note.errors) == (_asker(line), refusal.api, refusal.errors)


def _asker(line: Line) -> str | None:
    event = line.event
    return event.client if isinstance(event, RequestRefused | AuthorizationRefused) else None
