"""Things that happen when something is seen in the log: the nth commit of a member, the join phase
of a group.

Owns the words for what can be waited for. What is triggered happens after the line that triggers
it, never within. Does not depend on what is done then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from json import loads
from typing import Any, Final, NamedTuple

from ..event_log import EventLog
from .links import Agenda

Line = dict[str, Any]

WHEN: Final[dict[str, tuple[str, ...]]] = {
    "join phase": ("RebalanceStarted",),
    "sync phase": ("GenerationStarted",),
    "stable": ("GenerationStored",),
    "join": ("MemberJoined", "ConsumerMemberSubscribed", "ShareMemberSubscribed"),
    "commit": ("OffsetsCommitted", "OffsetsPending"),
    "poll": ("RecordsPolled", "SharedRecordsPolled"),
    "acknowledged": ("AcknowledgementsEnded",),
    "assigned": ("PartitionsAssigned",),
    "revoked": ("PartitionsRevoked",),
    "delivery": ("RecordsDelivered",),
}
"""What can be waited for, and the lines that tell of it."""
WHEN_OF_PRODUCERS: Final = ("delivery",)


class Trigger(NamedTuple):
    """Wait for the `nth` time of something, then `after_ms` longer. `of`: a group, or a member by
    its client id; "": anybody."""

    when: str
    of: str
    nth: int
    after_ms: int


class Triggers:
    """The triggers of one world."""

    def __init__(self, agenda: Agenda, log: EventLog) -> None:
        self._agenda = agenda
        self._log = log
        self._waiting: dict[str, list[tuple[Trigger, list[int], Callable[[], None]]]] = {}
        self._asked: list[tuple[str, Trigger, list[int]]] = []

    def wait(self, trigger: Trigger, action: Callable[[], None], what: str = "") -> None:
        """Call `action` once, when it is time. `what`: which piece of the scenario it is, for
        `unseen`."""
        self._log.heard = self._hear
        seen = [0]
        self._asked.append((what, trigger, seen))
        entry = (trigger, seen, action)
        for kind in WHEN[trigger.when]:
            self._waiting.setdefault(kind, []).append(entry)

    def unseen(self) -> Iterator[str]:
        """One sentence for each of those that have waited in vain so far."""
        for what, trigger, (seen,) in self._asked:
            if seen < trigger.nth:
                of = f" of {trigger.of}" if trigger.of else ""
                yield f"{what} did not happen: it waits for {trigger.when!r}{of} number {trigger.nth}, and {seen} were seen"

    def _hear(self, kind: str, text: str) -> None:
        waiting = self._waiting.get(kind)
        if waiting is None:
            return
        line = loads(text)
        for trigger, seen, action in waiting:
            if not _is_of(line, trigger.of):
                continue
            seen[0] += 1
            if seen[0] == trigger.nth:
                self._agenda.at(self._agenda.now + trigger.after_ms, action)


def _is_of(line: Line, whom: str) -> bool:
    """Does a line tell of this group or member? Brokers know members by ids, which begin with their
    client ids."""
    if (
        not whom
        or line.get("group") == whom
        or line.get("client") == whom
        or line.get("client_id") == whom
    ):
        return True
    member = line.get("member") or ""
    return (
        member.startswith(f"{whom}-")
        and not member.removeprefix(f"{whom}-").partition("-")[0].isdecimal()
    )
