"""Obstacles at the end of a log: what stands in the way of groups and clients, as values.

A wait that ended in vain, a failure report, `coordinator explain` and the control port ask for the
same obstacles, and `history/explain/obstacles.py` puts them into sentences. Verbs that nothing has
undone come from `deeds.standing`, refusals from notes of the timeline, clients that reached no group
from `outside_groups`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coordinator.events.groups import MemberJoined, MemberRejoined, MemberReplaced

from .outside_groups import Tried
from .views import GroupView, Note

if TYPE_CHECKING:
    from coordinator.events.line import Line

    from .timeline import Timeline

_JOINS = (MemberJoined, MemberRejoined, MemberReplaced)
_MOST = 8
"""Number of obstacles of one kind that are named, the latest."""


class Undone(NamedTuple):
    """A verb in force: a stopped broker, a cut link. `line`: the verb's."""

    line: Line


class NoCoordinator(NamedTuple):
    """A group that a broker unloaded and that no broker has loaded since."""

    group: str
    since_ms: int
    broker: int | None


class JoinsAwaited(NamedTuple):
    """An unfinished join phase: the members that have joined, and those that have not, by short
    name, each with the instant of its last request in ms."""

    group: str
    since_ms: int
    joined: int
    missing: dict[str, int]


class SyncAwaited(NamedTuple):
    """A generation for which the leader has sent no SyncGroup."""

    group: str
    since_ms: int
    generation: int
    leader: str


class TargetAwaited(NamedTuple):
    """A consumer group (KIP-848) without a target assignment for its epoch."""

    group: str
    epoch: int


class EpochAwaited(NamedTuple):
    """A consumer group (KIP-848) that waits for members to reach its epoch: by short name each
    member's epoch, and the partitions that it has yet to revoke."""

    group: str
    epoch: int
    late: dict[str, tuple[int, dict[str, tuple[int, ...]]]]


Awaited = JoinsAwaited | SyncAwaited | TargetAwaited | EpochAwaited
Obstacle = Undone | NoCoordinator | Awaited | Note | Tried


def obstacles(timeline: Timeline, group: str | None = None) -> list[Obstacle]:
    """Return the obstacles of a group, or of all groups and clients, at the end of the log:
    first brokers and links, then what the group waits for, then clients that were refused and
    have not gone on since."""
    found: list[Obstacle] = [Undone(line) for line in timeline.standing_deeds()]
    views = [view for name, view in timeline.groups.items() if group in (None, name)]
    for view in views:
        found += of_group(view, timeline.end_ms)
        found += list(view.refused.values())[-_MOST:]
    tried = [each for each in timeline.outside_groups.standing() if _concerns(each, views, group)]
    return [*found, *tried[-_MOST:]]


def of_group(view: GroupView, end_ms: int) -> list[NoCoordinator | Awaited]:
    """Return what a group itself waits for, its coordinator or members, at the end of the log."""
    if view.given_up_as:  # at the very end of a log: the emulator stopped
        lost = view.given_up_ms < end_ms
        return [NoCoordinator(view.group, view.given_up_ms, view.coordinator)] if lost else []
    if view.consumer is not None:
        return _consumer_group(view)
    current = view.current
    if current is None or view.share is not None:
        return []
    if view.state == "PreparingRebalance":
        changes = [current.trigger, *current.changes]
        here = {name for each in changes if each.kind in _JOINS for name in each.members}
        missing = {
            member.name: member.seen_ms
            for member in view.members.values()
            if member.name not in here
        }
        joined = len(view.members) - len(missing)
        return [JoinsAwaited(view.group, current.started_ms, joined, missing)]
    if view.state == "CompletingRebalance" and current.generation_ms is not None:
        leader = view.leader or ""
        return [SyncAwaited(view.group, current.generation_ms, view.generation, leader)]
    return []


def _consumer_group(view: GroupView) -> list[NoCoordinator | Awaited]:
    group = view.consumer
    if group is None or not group.members:
        return []
    if group.epoch > group.assignment_epoch:
        return [TargetAwaited(view.group, group.epoch)]
    late = {
        view.name(member_id) or "": (member.epoch, _by_topic(member.revoking))
        for member_id, member in group.members.items()
        if member.epoch != group.epoch or member.state != "stable"
    }
    return [EpochAwaited(view.group, group.epoch, late)] if late else []


def _by_topic(partitions: dict[tuple[str, int], int]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for topic, number in sorted(partitions):
        found[topic] = (*found.get(topic, ()), number)
    return found


def _concerns(tried: Tried, views: list[GroupView], group: str | None) -> bool:
    """Return True if a client that reached no group may belong to this one: it named no other
    group, and is not known to be another client than the group's members."""
    if group is not None and tried.line.group not in (None, group):
        return False
    members = {client for view in views for client in view.clients}
    return group is None or not members or not tried.clients or bool(members & tried.clients.keys())
