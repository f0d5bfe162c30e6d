"""A timeline as text for people and as plain values for programs (docs/event_log.md, "coordinator explain")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from .reader import Line, LogError
from .sentences import because, told, why
from .timeline import Timeline
from .views import Change, GroupView, MemberView, Note, Rebalance, Share
from .words import counted, duration, instant, partitions, printable

JSON_VERSION: Final = 1


def timeline_of(lines: Iterable[Line], name: str = "log") -> Timeline:
    """The timeline of a whole log. Raises LogError for a line that lacks what its type has, and what reading raises."""
    timeline = Timeline()
    for number, line in enumerate(lines, 1):
        try:
            timeline.feed(line)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            what = f"seq {line['seq']}: no {line['type']} as docs/event_log.md has it ({type(error).__name__}: {error})"
            raise LogError(name, number, what) from error
    return timeline


def selected(group: GroupView, generation: int | None) -> list[Rebalance | Note]:
    """A group's entries, all or those of one generation."""
    return [entry for entry in group.entries if generation is None or entry.generation == generation]


# -- text --------------------------------------------------------------------------------------------------------------


def as_text(timeline: Timeline, groups: Iterable[GroupView], generation: int | None = None) -> Iterator[str]:
    """Lines for a terminal."""
    header = timeline.header
    yield f"run {printable(header.get('run', '?'))} of {printable(header.get('product', '?'))}, {duration(timeline.end_ms)} long"
    for group in groups:
        yield ""
        yield _summary(group)
        for entry in selected(group, generation):
            yield ""
            yield from _block(entry) if isinstance(entry, Rebalance) else [f"  {instant(entry.at_ms):>10}  {told(entry)}"]


def _summary(group: GroupView) -> str:
    state = group.given_up_as or group.state
    parts = [f"group {printable(group.group)}: {state} in generation {group.generation}"]
    if group.given_up_as:
        parts[0] += " when the coordinator gave it up"
    if state not in ("Empty", "Dead") and group.members:
        parts.append(f"{len(group.members)} member{'s' if len(group.members) > 1 else ''}, leader {group.leader}")
        if group.assignor is not None:
            parts.append(f"assignor {printable(group.assignor)}")
    if group.commits:
        parts.append(f"{group.commits} commits")
    return ", ".join(parts)


def _block(rebalance: Rebalance) -> Iterator[str]:
    title = "rebalance" if rebalance.generation is None else f"generation {rebalance.generation}"
    yield f"  {instant(rebalance.started_ms):>10}  {title}: {outcome(rebalance)}"
    pad = " " * 14
    yield f"{pad}{why(rebalance)}"
    if rebalance.members:
        phases = [f"join phase {duration((rebalance.generation_ms or 0) - rebalance.started_ms)}"]
        if rebalance.stored_ms is not None:
            phases.append(f"sync phase {duration(rebalance.stored_ms - (rebalance.generation_ms or 0))}")
        yield f"{pad}{', '.join(phases)}; leader {rebalance.leader}, assignor {printable(rebalance.assignor or '?')}"
    yield from (pad + "  " + row for row in share_rows(rebalance.shares))


def outcome(rebalance: Rebalance) -> str:
    """Where a rebalance led, in a few words."""
    match rebalance.outcome:
        case "stable":
            if rebalance.ended_ms is None:
                return f"Stable with {counted('member', rebalance.members)}"
            return f"Stable with {counted('member', rebalance.members)} for {duration(rebalance.ended_ms - (rebalance.stored_ms or 0))}"
        case "empty":
            return "Empty"
        case "interrupted":
            return f"interrupted after {duration((rebalance.ended_ms or 0) - rebalance.started_ms)}"
        case "lost":
            return "lost with its coordinator"
        case state:
            return f"{state} ..."


def share_rows(shares: list[Share]) -> Iterator[str]:
    """One line a member: what it has, and what came and went."""
    width = max((len(share.name) for share in shares), default=0)
    for share in shares:
        if share.partitions is None:
            yield f"{share.name:{width}}  {share.bytes} bytes that are no consumer's assignment"
            continue
        moves = [f"+ {partitions(share.added)}"] if share.added and share.added != share.partitions else []
        moves += [f"- {partitions(share.revoked)}"] if share.revoked else []
        yield f"{share.name:{width}}  {partitions(share.partitions)}" + (f"   ({', '.join(moves)})" if moves else "")


# -- plain values ------------------------------------------------------------------------------------------------------


def as_plain(timeline: Timeline, groups: Iterable[GroupView], generation: int | None = None) -> dict[str, Any]:
    """The timeline as plain values for JSON; instants and durations in milliseconds."""
    header = timeline.header
    return {
        "version": JSON_VERSION,
        "run": header.get("run"),
        "epoch_ms": header.get("epoch_ms"),
        "end_ms": timeline.end_ms,
        "groups": [
            {
                "group": group.group,
                "state": group.state,
                "generation": group.generation,
                "leader": group.leader,
                "assignor": group.assignor,
                "members": [_member(member) for member in group.members.values()],
                "rebalances": [_rebalance(entry) for entry in selected(group, generation) if isinstance(entry, Rebalance)],
                "notes": [_note(entry) for entry in selected(group, generation) if isinstance(entry, Note)],
            }
            for group in groups
        ],
    }


def _member(member: MemberView) -> dict[str, Any]:
    return {
        "name": member.name,
        "member_id": member.member_id,
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "topics": list(member.subscription.topics) if member.subscription is not None else None,
        "partitions": member.assignment,
    }


def _rebalance(rebalance: Rebalance) -> dict[str, Any]:
    joined_ms, stored_ms = rebalance.generation_ms, rebalance.stored_ms
    return {
        "seq": rebalance.seq,
        "generation": rebalance.generation,
        "outcome": rebalance.outcome,
        "why": why(rebalance),
        "because": because(rebalance),
        "started_ms": rebalance.started_ms,
        "join_phase_ms": None if joined_ms is None else joined_ms - rebalance.started_ms,
        "sync_phase_ms": None if stored_ms is None or joined_ms is None else stored_ms - joined_ms,
        "ended_ms": rebalance.ended_ms,
        "initial_delay_ms": rebalance.delay_ms,
        "leader": rebalance.leader,
        "assignor": rebalance.assignor,
        "members": rebalance.members,
        "trigger": _change(rebalance.trigger),
        "changes": [_change(change) for change in rebalance.changes],
        "causes": [_cause(line) for line in rebalance.causes],
        "assignments": [_share(share) for share in rebalance.shares],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "seq": change.seq, "at_ms": change.at_ms, "type": change.kind, "members": change.members, "reason": change.line.get("reason"),
    }  # fmt: skip


def _cause(line: Line) -> dict[str, Any]:
    kept = ("seq", "at_ms", "stream", "type", "member", "api", "client", "topic")
    return {key: line[key] for key in kept if key in line}


def _share(share: Share) -> dict[str, Any]:
    return {
        "name": share.name, "member_id": share.member_id, "partitions": share.partitions, "added": share.added, "revoked": share.revoked,
    }  # fmt: skip


def _note(note: Note) -> dict[str, Any]:
    return {"seq": note.seq, "at_ms": note.at_ms, "type": note.kind, "members": note.members, "text": told(note)}
