"""Sentences about another cluster's groups, from its own logs (stream `seen`). A fact that no
line has is said to be unknown."""

from __future__ import annotations

from coordinator.events.line import Line
from coordinator.events.seen import (
    FindingSeen,
    NotKnown,
    OccurrenceSeen,
    RebalanceSeen,
    SourceLine,
    StateSeen,
    cause,
)

from ..world.views import NOT_KNOWN, GroupView
from .formatting import duration, printable


def sentence(line: Line) -> str:
    """Return an event of stream `seen` as a sentence; "" if it needs none."""
    match line.event:
        case RebalanceSeen():
            return _rebalance(line.event)
        case OccurrenceSeen() as event:
            return f"{printable(event.sentence)}.{_source(event.evidence)}"
        case StateSeen() as event:
            return _state(event)
        case FindingSeen() as event:
            return f"{printable(event.finding)} ({printable(event.certainty)}): {printable(event.sentence)}.{_source(event.evidence)}"
        case NotKnown(_, said):
            return f"Not known: {printable(said)}"
    return ""


def why(event: RebalanceSeen) -> str:
    """Return why a rebalance began, and how sure that is."""
    said = cause(event.reason, printable(event.member) if event.member else None)
    sure = "" if event.certainty in (None, "shown") else f" ({printable(event.certainty)})"
    return f"{said}{sure}"


def summary(group: GroupView) -> str:
    """Return the line with which a group begins."""
    protocol = f" ({printable(group.seen_protocol)})" if group.seen_protocol else ""
    count = len(group.seen)
    seen = f"{count} rebalance{'' if count == 1 else 's'} seen"
    last = f" in generation {group.generation}" if group.seen else ""
    return (
        f"group {printable(group.group)}{protocol}: state {NOT_KNOWN}{last}, {seen}"
        if group.state == NOT_KNOWN
        else f"group {printable(group.group)}{protocol}: {printable(group.state)}{last}, {seen}"
    )


def _rebalance(event: RebalanceSeen) -> str:
    phase = NOT_KNOWN if event.join_phase_ms is None else duration(event.join_phase_ms)
    parts = [f"join phase {phase}"]
    if event.held_up_by is not None:
        parts.append(f"held up by {printable(event.held_up_by)}")
    if event.removed:
        parts.append(f"removed {', '.join(map(printable, event.removed))}")
    if event.empty:
        parts.append("the group is empty from then on")
    else:
        count = NOT_KNOWN if event.members is None else str(event.members)
        parts.append(f"members {count}, leader, assignor and assignment {NOT_KNOWN}")
    back = "; it was in the group before" if event.returns else ""
    when = "" if event.stamped else f"; instant {NOT_KNOWN}"
    return (
        f"generation {event.generation}: {why(event)}{back}{when}; {', '.join(parts)}."
        f"{_source(event.evidence)}"
    )


def _state(event: StateSeen) -> str:
    owners = ", ".join(map(printable, event.owners)) if event.owners else NOT_KNOWN
    parts = [
        f"described as {printable(event.state)}"
        if event.state
        else f"described, state {NOT_KNOWN}",
        f"members {NOT_KNOWN if event.members is None else event.members}",
        f"owners {owners}",
        f"lag {NOT_KNOWN if event.lag is None else event.lag}",
    ]
    return f"{', '.join(parts)}.{_source(event.evidence)}"


def _source(evidence: tuple[SourceLine, ...]) -> str:
    if not evidence:
        return ""
    shown = ", ".join(f"{printable(one.file)}:{one.line}" for one in evidence[:3])
    more = f" and {len(evidence) - 3} more" if len(evidence) > 3 else ""
    return f" [{shown}{more}]"
