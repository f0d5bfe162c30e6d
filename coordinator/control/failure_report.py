"""The report of a failed test: each group as it stands, how it came there, what its members last
sent and heard, and the faults."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from typing import TYPE_CHECKING, Any

from ..explain.output import as_text, timeline_of
from ..history.views import Entry, GroupView, Rebalance

if TYPE_CHECKING:
    from .session import KitSession

Line = dict[str, Any]
_LAST_REBALANCES = 3
_LAST_NOTES = 40
"""Of a group whose story has no rebalances of the classic protocol."""


def story(session: KitSession, lines: list[Line]) -> str:
    """The report, in lines; "" if there is neither a group nor a fault."""
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
    if session.faults.all:
        parts += ["Faults:", *(f"  {active}" for active in session.faults.all)]
    return "\n".join(parts)


def _last_entries(view: GroupView) -> MutableSequence[Entry]:
    """The end of a group's story: its last rebalances, and what was told from then on."""
    begun = [at for at, entry in enumerate(view.entries) if isinstance(entry, Rebalance)]
    if not begun:
        return view.entries[-_LAST_NOTES:]
    return view.entries[begun[-_LAST_REBALANCES:][0] :]


def _last_words(group: str, lines: Iterable[Line]) -> list[str]:
    """For each client of a group, the last request of its that was logged, and its answer."""
    last: dict[str, list[Line]] = {}
    asked: dict[int, str] = {}
    for line in lines:
        if line["stream"] != "wire" or line.get("group", group) != group:
            continue
        if line["type"] == "RequestSeen" and line.get("group") == group:
            who = line.get("member") or line["client"]
            asked[line["seq"]] = who
            last[who] = [line]
        elif line["type"] in ("RequestAnswered", "RequestRefused"):
            who = asked.get(line["cause"] or -1) or (
                line.get("member") if line.get("group") == group else None
            )
            if who in last and last[who][0]["seq"] == line["cause"]:
                last[who].append(line)
            elif who and line["cause"] is None:
                last[who] = [line]
    return (
        [
            "Last of each member:",
            *(f"  {who}: {'; '.join(map(_told, found))}" for who, found in last.items()),
        ]
        if last
        else []
    )


def _told(line: Line) -> str:
    at = f"at {line['at_ms']} ms"
    if line["type"] == "RequestSeen":
        return f"sent {line['api']} {at}"
    if line["type"] == "RequestRefused":
        return f"{line['api']} was answered {', '.join(line['errors'])} {at}"
    return f"was answered {at}"
