"""A timeline as text for people and as plain values for programs (docs/event_log.md,
"coordinator explain"). Sentences come from the other modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from coordinator.base.contradictions import UNFIT, what_failed
from coordinator.base.counting import how_many
from coordinator.events.line import Line, LogError
from coordinator.events.reader import LineNumbers, Lines, numbered
from coordinator.events.seen import RebalanceSeen

from ..world.groups.epochs import EpochView
from ..world.lost_time.rebalances import NO_COST, Cost
from ..world.timeline import Timeline
from ..world.views import NOT_KNOWN, Change, GroupView, MemberView, Note, Pause, Rebalance, Share
from ..world.world import World
from . import deleted_records, obstacles, outside, seen_story
from .cause_sentences import (
    INFERRED,
    because,
    claims_told,
    lost_in_all,
    not_consumed,
    rebalance_protocol,
    standing_still,
    why,
)
from .connect import connect_plain, connect_work
from .consumer_story import with_names
from .described_timeline import told_timeline
from .detail import sentence
from .formatting import counted, duration, instant, partitions, printable
from .notes import told
from .together import together

JSON_VERSION: Final = 1
_PAD: Final = " " * 14
Costs = Mapping[int, Cost]
"""The cost of each rebalance, by the number of the line with which it began."""
Entry = TypeVar("Entry", bound=Rebalance | Note)
T = TypeVar("T")


def timeline_of(lines: Iterable[Line], name: str = "log", *, details: bool = False) -> Timeline:
    """Return the timeline of a whole log; `details` for `as_text` with details. Raises LogError
    for a line that lacks a field of its type, and the errors of reading."""
    timeline = told_timeline(details=details, from_text=isinstance(lines, Lines))
    world = World(timeline=timeline)
    timeline.numbers = LineNumbers(name)
    for number, line in numbered(lines):
        timeline.numbers.add(line.seq, number)
        try:
            world.see(line)
        except LogError as error:  # an event that cannot be read: the line's own log is not known
            raise timeline.numbers.error(line.seq, error.what) from error
        except UNFIT as error:
            raise _no_log(timeline, line.seq, line.name, error) from error
    return timeline


def _no_log(timeline: Timeline, seq: int, what: str, error: Exception) -> LogError:
    return timeline.numbers.error(
        seq, f"no {what} as docs/event_log.md has it ({what_failed(error)})"
    )


def _told(timeline: Timeline, entry: Entry, tell: Callable[[Entry], T]) -> T:
    """Return `tell(entry)`. Raises LogError if the entry's lines do not fit each other."""
    try:
        return tell(entry)
    except UNFIT as error:
        kind = (
            "RebalanceStarted, or what belongs to it,"
            if isinstance(entry, Rebalance)
            else entry.line.name
        )
        raise _no_log(timeline, entry.seq, kind, error) from error


def selected(group: GroupView, generation: int | None) -> list[Rebalance | Note]:
    """Return a group's entries, all or those of one generation."""
    return [
        entry for entry in group.entries if generation is None or entry.generation == generation
    ]


# -- text


def as_text(
    timeline: Timeline, groups: Iterable[GroupView], generation: int | None = None
) -> Iterator[str]:
    """Yield lines for a terminal. If the timeline has details, they include how members learned
    of each rebalance, step by step."""
    groups = list(groups)
    header = timeline.header
    run, product = ("?", "?") if header is None else (header.run, header.event.product)
    yield f"run {printable(run)} of {printable(product)}, {duration(timeline.end_ms)} long"
    if any(
        share.pause is not None
        for group in groups
        for rebalance in group.rebalances
        for share in rebalance.shares
    ):
        yield (
            "The times at which members stood still are inferred from requests, "
            f"unless a line says that the member logged them: {INFERRED}."
        )
    yield from map(outside.told, timeline.outside_groups.found.values())
    yield from map(deleted_records.told, timeline.deleted_records.found)
    yield from map(deleted_records.told_compaction, timeline.deleted_records.compacted)
    for group in groups:
        yield ""
        yield _summary(group)
        lost = lost_in_all(timeline.lost_time.of(group.group, timeline.end_ms))
        yield from [f"  {lost}"] if lost else []
        costs = timeline.lost_time.costs(group, timeline.end_ms)
        for entry in together(selected(group, generation)):
            yield ""
            yield from _told(timeline, entry, partial(_rows, group, costs))
    if generation is None:
        yield from obstacles.as_text(timeline, groups)


def _rows(group: GroupView, costs: Costs, entry: Rebalance | Note) -> list[str]:
    if isinstance(entry, Rebalance):
        return list(_block(entry, costs.get(entry.seq, NO_COST)))
    rows = [f"  {instant(entry.at_ms):>10}  {told(entry)}"]
    cost = not_consumed(costs.get(entry.seq, NO_COST))  # it begins a group epoch
    return [*rows, f"{_PAD}{cost}"] if cost else rows


def _summary(group: GroupView) -> str:
    if group.seen or group.seen_protocol or group.state == NOT_KNOWN:
        return seen_story.summary(group)
    state = group.given_up_as or group.state
    parts = [f"group {printable(group.group)}: {state} in generation {group.generation}"]
    if (known := group.consumer) is not None:
        members = f"{len(known.members)} member{'' if len(known.members) == 1 else 's'}"
        return f"group {printable(group.group)}: {state} in group epoch {known.epoch}, target of epoch {known.assignment_epoch}, {members}"
    if group.share is not None:
        members = f"{len(group.share.members)} member{'' if len(group.share.members) == 1 else 's'}"
        return (
            f"group {printable(group.group)}: {state} in group epoch {group.share.epoch}, {members}"
        )
    if group.given_up_as:
        parts[0] += " when the coordinator unloaded it"
    if state not in ("Empty", "Dead") and group.members:
        parts.append(
            f"{len(group.members)} member{'s' if len(group.members) > 1 else ''}, leader {group.leader}"
        )
        if group.assignor is not None:
            parts.append(f"assignor {printable(group.assignor)}")
    if group.commits:
        parts.append(how_many(group.commits, "commit"))
    return ", ".join(parts)


def _block(rebalance: Rebalance, cost: Cost) -> Iterator[str]:
    title = "rebalance" if rebalance.generation is None else f"generation {rebalance.generation}"
    yield f"  {instant(rebalance.started_ms):>10}  {title}: {outcome(rebalance)}"
    pad = _PAD
    yield f"{pad}{why(rebalance)}"
    yield from (f"{pad}  {instant(step.at_ms):>10}  {sentence(step)}" for step in rebalance.steps)
    if rebalance.members:
        phases = [f"join phase {duration((rebalance.generation_ms or 0) - rebalance.started_ms)}"]
        if rebalance.stored_ms is not None:
            phases.append(
                f"sync phase {duration(rebalance.stored_ms - (rebalance.generation_ms or 0))}"
            )
        kind = rebalance_protocol(rebalance)
        assignor = f"assignor {printable(rebalance.assignor or '?')}{f' ({kind})' if kind else ''}"
        yield f"{pad}{', '.join(phases)}; leader {rebalance.leader}, {assignor}"
    yield from (f"{pad}  {row}" for row in [*share_rows(rebalance.shares), *gone_rows(rebalance)])
    yield from (f"{pad}{line}" for line in (not_consumed(cost), claims_told(rebalance)) if line)


def outcome(rebalance: Rebalance) -> str:
    """Return the outcome of a rebalance in a few words."""
    match rebalance.outcome:
        case "stable":
            stored_ms = rebalance.stored_ms or 0
            length = (
                ""
                if rebalance.ended_ms is None
                else f" for {duration(rebalance.ended_ms - stored_ms)}"
            )
            return f"Stable from {instant(stored_ms)} on{length}, with {counted('member', rebalance.members)}"
        case "empty":
            return "Empty"
        case "interrupted":
            return f"interrupted after {duration((rebalance.ended_ms or 0) - rebalance.started_ms)}"
        case "lost":
            return "lost with its coordinator"
        case state:
            return f"{state} ..."


def share_rows(shares: list[Share], *, moves_only: bool = False) -> Iterator[str]:
    """Yield one line for each member: its partitions, the changes, and how long it stood still."""
    width = max((len(share.name) for share in shares), default=0)
    for share in shares:
        if share.work is not None:
            yield f"{share.name:{width}}  {connect_work(share.work)}"
            continue
        if share.partitions is None:
            yield f"{share.name:{width}}  {share.bytes} bytes that are no consumer's assignment"
            continue
        moves = (
            [f"+ {partitions(share.added)}"]
            if share.added and share.added != share.partitions
            else []
        )
        moves += [f"- {partitions(share.revoked)}"] if share.revoked else []
        moves += [] if moves_only else standing_still(share)
        yield f"{share.name:{width}}  {partitions(share.partitions)}" + (
            f"   ({', '.join(moves)})" if moves else ""
        )


def gone_rows(rebalance: Rebalance) -> Iterator[str]:
    """Yield one line for each member that was removed during the rebalance and owned partitions."""
    for gone in rebalance.gone:
        silence = (
            f"; its connection closed at {instant(gone.closed_ms)}"
            if gone.closed_ms is not None
            else ""
            if gone.silent_since_ms is None
            else f"; last sign of life at {instant(gone.silent_since_ms)}"
        )
        yield f"{gone.name} was removed; it owned {partitions(gone.had)}{silence}"


# -- plain values


def as_plain(
    timeline: Timeline, groups: Iterable[GroupView], generation: int | None = None
) -> dict[str, Any]:
    """Return the timeline as plain values for JSON; instants and durations in milliseconds."""
    header = timeline.header
    return {
        "version": JSON_VERSION,
        "run": None if header is None else header.run,
        "epoch_ms": None if header is None else header.plain.get("epoch_ms"),
        "end_ms": timeline.end_ms,
        "outside_groups": [
            {
                "seq": tried.line.seq,
                "at_ms": tried.line.at_ms,
                "last_ms": tried.last_ms,
                "times": tried.times,
                "hosts": list(tried.hosts),
                "text": outside.told(tried),
            }
            for tried in timeline.outside_groups.found.values()
        ],
        **_deleted_records(timeline),
        "obstacles": obstacles.as_plain(timeline),
        "groups": [_group(timeline, group, generation) for group in groups],
    }


def _group(timeline: Timeline, group: GroupView, generation: int | None) -> dict[str, Any]:
    lost = timeline.lost_time.of(group.group, timeline.end_ms)
    costs = timeline.lost_time.costs(group, timeline.end_ms)
    return {
        "group": group.group,
        "state": group.state,
        "generation": group.generation,
        "leader": group.leader,
        "assignor": group.assignor,
        "lost_at_least_ms": lost.least_ms,
        "lost_at_most_ms": lost.most_ms,
        "members": [_member(member) for member in group.members.values()],
        "rebalances": [
            *[
                _told(timeline, entry, partial(_rebalance, costs))
                for entry in selected(group, generation)
                if isinstance(entry, Rebalance)
            ],
            *[_epoch(group, costs, epoch) for epoch in _epochs(group, generation)],
            *[_seen(line) for line in group.seen if generation in (None, line.generation)],
        ],
        "notes": [
            _told(timeline, entry, _note)
            for entry in selected(group, generation)
            if isinstance(entry, Note)
        ],
    }


def rebalances_of(told: Mapping[str, Any], group_id: str) -> list[dict[str, Any]]:
    """Return the rebalances of one group from the result of `as_plain`; empty for an unknown
    group."""
    found = [group["rebalances"] for group in told["groups"] if group["group"] == group_id]
    return list(found[0]) if found else []


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


def _rebalance(costs: Costs, rebalance: Rebalance) -> dict[str, Any]:
    joined_ms, stored_ms = rebalance.generation_ms, rebalance.stored_ms
    return {
        "seq": rebalance.seq,
        "generation": rebalance.generation,
        "outcome": rebalance.outcome,
        "why": why(rebalance),
        "because": because(rebalance),
        "started_ms": rebalance.started_ms,
        "join_phase_ms": None if joined_ms is None else joined_ms - rebalance.started_ms,
        "stable_ms": stored_ms,
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
        "gone": [
            {
                "name": gone.name,
                "partitions": gone.had,
                "silent_since_ms": gone.silent_since_ms,
                "closed_ms": gone.closed_ms,
            }
            for gone in rebalance.gone
        ],
        **_cost(costs, rebalance.seq),
        "steps": [
            {
                "seq": step.line.seq,
                "at_ms": step.at_ms,
                "times": step.times,
                "text": sentence(step),
            }
            for step in rebalance.steps
        ],
    }


def _epochs(group: GroupView, generation: int | None) -> list[EpochView]:
    every = [] if group.epochs is None else group.epochs.views
    return [epoch for epoch in every if generation in (None, epoch.epoch)]


def _epoch(group: GroupView, costs: Costs, view: EpochView) -> dict[str, Any]:
    """Return an epoch with the fields of a classic rebalance; fields that it does not have are
    null or empty."""
    reason = with_names(group, view.reason)
    return {
        "seq": view.seq,
        "generation": view.epoch,
        "outcome": view.outcome,
        "why": f"The group went to epoch {view.epoch} because {reason}.",
        "because": reason,
        "started_ms": view.started_ms,
        "join_phase_ms": None,
        "stable_ms": view.stable_ms,
        "sync_phase_ms": None,
        "ended_ms": view.ended_ms,
        "initial_delay_ms": 0,
        "leader": None,
        "assignor": view.assignor,
        "members": [group.name(target.member) for target in view.targets],
        "trigger": None,
        "changes": [],
        "causes": [_cause(line) for line in view.causes],
        "assigned_ms": view.assigned_ms,
        "assignments": [
            {
                "name": group.name(target.member),
                "member_id": target.member,
                "partitions": target.partitions,
                "added": target.added,
                "revoked": target.revoked,
            }
            for target in view.targets
        ],
        "gone": [],
        **_cost(costs, view.seq),
        "steps": [],
    }


def _cost(costs: Costs, seq: int) -> dict[str, Any]:
    cost = costs.get(seq, NO_COST)
    return {
        "unowned_partition_ms": cost.lost.least_ms,
        "unowned_at_most_ms": cost.lost.most_ms,
        "unowned_longest_ms": cost.longest_ms,
    }


def _seen(line: Line) -> dict[str, Any]:
    """Return a rebalance from another cluster's logs with the fields of a classic one; null
    where these logs do not tell."""
    event: RebalanceSeen = line.event
    said = seen_story.why(event)
    return {
        "seq": line.seq,
        "generation": event.generation,
        "outcome": "empty" if event.empty else None,
        "why": f"Generation {event.generation} began: {said}.",
        "because": None if event.reason == "unknown" else said,
        "started_ms": None
        if event.join_phase_ms is None
        else max(line.at_ms - event.join_phase_ms, 0),
        "join_phase_ms": event.join_phase_ms,
        "stable_ms": None,
        "sync_phase_ms": None,
        "ended_ms": None,
        "initial_delay_ms": None,
        "leader": None,
        "assignor": None,
        "members": None,
        "member_count": event.members,
        "trigger": None,
        "changes": None,
        "causes": None,
        "assignments": None,
        "gone": None,
        "unowned_partition_ms": None,
        "unowned_longest_ms": None,
        "steps": [],
        "certainty": event.certainty,
        "evidence": [{"file": one.file, "line": one.line} for one in event.evidence],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "seq": change.seq,
        "at_ms": change.at_ms,
        "type": change.line.name,
        "members": change.members,
        "reason": change.line.plain.get("reason"),
    }


def _cause(line: Line) -> dict[str, Any]:
    kept = ("seq", "at_ms", "stream", "type", "member", "api", "client", "topic")
    plain = line.plain
    return {key: plain[key] for key in kept if key in plain}


def _share(share: Share) -> dict[str, Any]:
    return {
        "name": share.name,
        "member_id": share.member_id,
        "partitions": share.partitions,
        "added": share.added,
        "revoked": share.revoked,
        "rebalance_protocol": "cooperative" if share.cooperative else "eager",
        "kept": share.kept,
        "resumed_ms": share.resumed_ms,
        "claimed": share.claimed,
        "claimed_generation": share.claimed_generation if share.claimed else None,
        "stopped": None if share.pause is None else _pause(share.pause),
        "connect": None if share.work is None else connect_plain(share.work),
    }


def _pause(pause: Pause) -> dict[str, Any]:
    return {
        "partitions": pause.partitions,
        "from_ms": pause.from_ms,
        "to_ms": pause.to_ms,
        "known": pause.known,
        "learned_ms": pause.learned_ms,
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "seq": note.seq,
        "at_ms": note.at_ms,
        "type": note.line.name,
        "members": note.members,
        "text": told(note),
    }


def _deleted_records(timeline: Timeline) -> dict[str, Any]:
    found = [
        {
            "seq": deletion.seq,
            "at_ms": deletion.began_ms,
            "last_ms": deletion.ended_ms,
            "topic": deletion.place[0],
            "partition": deletion.place[1],
            "first_offset": deletion.first_offset,
            "last_offset": deletion.end_offset - 1,
            "reason": deletion.event.reason,
            "clients": list(dict.fromkeys(asked.event.client for asked in deletion.asked)),
            "text": deleted_records.told(deletion),
        }
        for deletion in timeline.deleted_records.found
    ]
    compacted = [
        {
            "seq": compaction.seq,
            "at_ms": compaction.at_ms,
            "topic": compaction.place[0],
            "partition": compaction.place[1],
            "end_offset": compaction.event.end_offset,
            "removed": compaction.event.removed,
            "reason": compaction.event.reason,
            "clients": list(compaction.asked),
            "text": deleted_records.told_compaction(compaction),
        }
        for compaction in timeline.deleted_records.compacted
    ]
    return {
        **({"deleted_records": found} if found else {}),
        **({"compacted_records": compacted} if compacted else {}),
    }
