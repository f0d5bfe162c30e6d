"""The report of a failed test: the state of each group, its last rebalances, the last request
and answer of each member, and the faults in force. The sentences are those of
`coordinator/history/explain/`."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from typing import TYPE_CHECKING

from coordinator.events.line import Line
from coordinator.events.wire import RequestAnswered, RequestRefused, RequestSeen
from coordinator.history.explain.obstacles import sentence
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.history.world.obstacles import obstacles
from coordinator.history.world.views import Entry, GroupView, Rebalance

if TYPE_CHECKING:
    from .session import KitSession

_LAST_REBALANCES = 3
_LAST_NOTES = 40
"""Number of notes to show of a group without classic rebalances."""


def story(session: KitSession, lines: list[Line]) -> str:
    """Return the report; "" if there is neither a group nor a fault."""
    parts = []
    timeline = timeline_of(iter(lines), "this run", details=False)
    for name, view in timeline.groups.items():
        view.entries = _last_entries(view)
        parts += [
            f"Now: {session.group(name)}.",
            *as_text(timeline, [view], None),
            *_last_words(name, lines),
            "",
        ]
    if in_the_way := [sentence(each) for each in obstacles(timeline)]:
        parts += ["Obstacles:", *(f"  {each}" for each in in_the_way), ""]
    if session.faults.all:
        parts += ["Faults:", *(f"  {active}" for active in session.faults.all)]
    return "\n".join(parts)


def _last_entries(view: GroupView) -> MutableSequence[Entry]:
    """Return the entries of a group from its last `_LAST_REBALANCES` rebalances on; without a
    rebalance the last `_LAST_NOTES`."""
    begun = [at for at, entry in enumerate(view.entries) if isinstance(entry, Rebalance)]
    if not begun:
        return view.entries[-_LAST_NOTES:]
    return view.entries[begun[-_LAST_REBALANCES:][0] :]


def _last_words(group: str, lines: Iterable[Line]) -> list[str]:
    """Return a line for each client of a group: its last request in the log, and the answer."""
    last: dict[str, list[Line]] = {}
    asked: dict[int, str] = {}
    for line in lines:
        event, member = line.event, line.member if line.group == group else None
        if line.group not in (None, group):
            continue
        if isinstance(event, RequestSeen) and line.group == group:
            who = member or event.client
            asked[line.seq] = who
            last[who] = [line]
        elif isinstance(event, RequestAnswered | RequestRefused):
            answered = asked.get(-1 if line.cause is None else line.cause) or member
            if answered in last and last[answered][0].seq == line.cause:
                last[answered].append(line)
            elif answered and line.cause is None:
                last[answered] = [line]
    return (
        [
            "Last request of each member:",
            *(f"  {who}: {'; '.join(map(_told, found))}" for who, found in last.items()),
        ]
        if last
        else []
    )


def _told(line: Line) -> str:
    at = f"at {line.at_ms} ms"
    match line.event:
        case RequestSeen(api):
            return f"sent {api} {at}"
        case RequestRefused(api):
            return f"{api} was answered {', '.join(line.event.errors)} {at}"
        case _:
            return f"was answered {at}"
