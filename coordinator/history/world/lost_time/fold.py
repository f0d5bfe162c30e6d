"""Folds lines into what the processes of each group did, and for how long nobody worked on its
partitions.

Names and inferred owners come from `..timeline`, which calls this fold with each line after it
has read the line itself. The lines of a process that writes the stream `member` decide; for
other processes stops are inferred from requests. A paused or stalled process owns what it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from coordinator.events.cluster import PartitionsAdded
from coordinator.events.faults import MemberResumed
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    GroupDeleted,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberRemoved,
    ConsumerMemberSubscribed,
    TargetAssigned,
)
from coordinator.events.groups.share import (
    ShareMemberRemoved,
    ShareMemberSubscribed,
    ShareTargetAssigned,
)
from coordinator.events.line import Line
from coordinator.events.members import (
    AcknowledgementsEnded,
    ApplicationResumed,
    ApplicationStalled,
    CommitEnded,
    MemberClosed,
    MemberCrashed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RecordsDelivered,
    RecordsPolled,
    RecordsProcessed,
    RecordsSent,
    RequestRepeated,
    SharedRecordsPolled,
)
from coordinator.events.wire import (
    MemberDisconnected,
    MemberReconnected,
    RequestAnswered,
    RequestSeen,
)
from coordinator.verbs.members import PauseMember

from ..blobs import Partitions as ByTopic
from ..groups.consumer_groups import LEFT_FOR_NOW, ConsumerGroup, by_topic
from ..leaderless import Leaderless
from ..ownership.owners import Believed
from ..shares.groups import ShareGroup
from ..views import GroupView, MemberView
from ..waits import silence_ms
from .groups import GroupActivity
from .partitions import Lost
from .processes import Key, Process
from .rebalances import Cost, costs

Introduction = (
    MemberPending
    | MemberJoined
    | MemberRejoined
    | MemberReplaced
    | ConsumerMemberSubscribed
    | ShareMemberSubscribed
)
"""Events that bind a member id to a client."""
INTRODUCED: Final[frozenset[type]] = frozenset(get_args(Introduction))
QUIET: Final = frozenset(
    {OffsetsCommitted, OffsetsPending, PendingOffsetsEnded, OffsetsRemoved, MemberPending}
)
"""Events of a group that change no owner, so that members need not be checked."""
OF_ONE: Final = frozenset({MemberRejoined, MemberSynced})
"""Events of a classic group that change their own member alone."""
_EXPIRING: Final = frozenset({MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved})
"""Removals that may follow a silence."""
RECORDS: Final = frozenset(
    {
        RecordsPolled,
        RecordsProcessed,
        RecordsSent,
        RecordsDelivered,
        CommitEnded,
        SharedRecordsPolled,
        AcknowledgementsEnded,
        RequestRepeated,
    }
)
"""Events of processes about records: they tell nothing new about the process."""


class LostTime:
    """What became of all groups of a log. `views`: the timeline's groups, up to date with each
    line."""

    def __init__(self, views: Mapping[str, GroupView]) -> None:
        self.groups: dict[str, GroupActivity] = {}
        self._views = views
        self._leaderless = Leaderless()
        self._believed = Believed(lambda *_: None)
        self._asked: dict[str, tuple[int, str]] = {}
        """Line number and client id of the latest request for each group: its consequences
        belong to this client."""

    def of(self, group: str, end_ms: int) -> Lost:
        """Return the time that a group lost up to an instant."""
        there = self.groups.get(group)
        return Lost() if there is None else there.partitions.sums(end_ms)

    def total(self, end_ms: int) -> Lost:
        """Return the time that all groups lost up to an instant."""
        sums = [each.partitions.sums(end_ms) for each in self.groups.values()]
        return Lost(sum(each.least_ms for each in sums), sum(each.most_ms for each in sums))

    def costs(self, view: GroupView, end_ms: int, since_ms: int = -1) -> dict[int, Cost]:
        """Return what the rebalances of a group cost: see `rebalances.costs`."""
        return costs(view, self.groups.get(view.group), end_ms, since_ms)

    def see(self, line: Line) -> None:
        """Read a line, after the timeline has read it."""
        stream, name = line.stream, line.group
        if stream in ("cluster", "fault"):
            for key in self._leaderless.see(line):
                for each in self.groups.values():
                    lost = key in self._leaderless.now
                    each.partitions.without_leader(key, lost, line.at_ms)
            if line.kind is PartitionsAdded:
                self._grown(line, line.event)
            elif line.kind is PauseMember or line.kind is MemberResumed:
                self._paused(line, line.event)
            return
        if name is None or stream not in ("group", "wire", "member"):
            return
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = GroupActivity(name)
            for key in self._leaderless.now:
                group.partitions.without_leader(key, True, line.at_ms)
        if stream == "group":
            self._changed(group, line)
        elif stream == "wire":
            self._wire(group, line)
        elif line.kind not in RECORDS:
            self._told(group, line, line.event)

    # -- streams

    def _changed(self, group: GroupActivity, line: Line) -> None:
        at_ms, kind = line.at_ms, line.kind
        view = self._views.get(group.name)
        if view is None:
            return
        if kind in INTRODUCED:
            self._introduced(group, view, line)
        own = group.known(line, None) if line.member is not None else None
        if own is not None and kind in _EXPIRING:
            _expired(group, own, line)
        if kind in OF_ONE and view.consumer is None:
            self._member(group, view, view.members[line.member or ""], at_ms)
        elif kind not in QUIET:
            self._members(group, view, at_ms)
        if kind is GroupDeleted:
            group.partitions.keep_topics((), at_ms)
        elif kind is GenerationStarted:
            for member in view.members.values():
                for topic in member.subscription.topics if member.subscription else ():
                    group.partitions.want(topic, at_ms)
        elif kind is GenerationStored:
            wanted = {
                topic
                for member in view.members.values()
                if member.subscription is not None
                for topic in member.subscription.topics
            }
            group.partitions.keep_topics(wanted, at_ms)
        elif kind is TargetAssigned or kind is ShareTargetAssigned:
            assigned: TargetAssigned | ShareTargetAssigned = line.event
            for row in assigned.targets:
                for topic in by_topic(row.topics):
                    group.partitions.want(topic, at_ms)

    def _introduced(self, group: GroupActivity, view: GroupView, line: Line) -> None:
        """Bind a member id to its process."""
        event: Introduction = line.event
        member_id = event.member_id
        client = "" if isinstance(event, MemberRejoined | MemberReplaced) else event.client_id
        if not client:
            seq, asked = self._asked.get(group.name, (-1, ""))
            client = asked if seq == line.cause else ""
        name = view.name(member_id) or ""
        group.bind(member_id, group.of_member(member_id, name, client, line.at_ms))

    def _members(self, group: GroupActivity, view: GroupView, at_ms: int) -> None:
        """Follow who is a member, and the partitions of members that do not log their own."""
        there = {self._member(group, view, member, at_ms).index for member in view.members.values()}
        if view.consumer is not None:
            there |= self._consumer_members(group, view, view.consumer, at_ms)
        if view.share is not None:
            there |= self._share_members(group, view.share, at_ms)
        for process in group.processes:
            if process.index not in there and process.in_group:
                process.in_group = False
                group.share(process, frozenset(), at_ms)
                if not process.tells:
                    process.stopped = False
                    group.hold(process, frozenset(), at_ms)
                    process.running, process.closed_ms = False, None
                    process.left_for_now = False
                process.refresh(at_ms)
                group.partitions.refresh(process, at_ms)

    def _member(
        self, group: GroupActivity, view: GroupView, member: MemberView, at_ms: int
    ) -> Process:
        """Follow a member of a classic group; return its process."""
        process = group.of_member(member.member_id, member.name, member.client_id, at_ms)
        if process.member_id is None:
            process.member_id = member.member_id
        before = process.in_group
        # a process that came back may have an old id among the members
        process.in_group = process.member_id in view.members
        if not process.tells or process.in_group != before:
            _infer(group, process, member, at_ms)
        return process

    def _consumer_members(
        self, group: GroupActivity, view: GroupView, consumers: ConsumerGroup, at_ms: int
    ) -> set[int]:
        there = set()
        for member_id, member in consumers.members.items():
            name, client = view.name(member_id) or "", consumers.client_id(member_id)
            process = group.of_member(member_id, name, client, at_ms)
            there.add(process.index)
            process.in_group = True
            if not process.tells:
                process.running = True
                group.hold(process, frozenset((*member.held, *member.revoking)), at_ms)
                if process.left_for_now != (member.epoch == LEFT_FOR_NOW):
                    process.left_for_now = not process.left_for_now
                    group.partitions.refresh(process, at_ms)
            process.refresh(at_ms)
        return there

    def _share_members(self, group: GroupActivity, sharers: ShareGroup, at_ms: int) -> set[int]:
        there = set()
        for member_id, member in sharers.members.items():
            process = group.of_member(member_id, sharers.name(member_id), member.client_id, at_ms)
            if process.member_id is None:
                process.member_id = member_id
            there.add(process.index)
            process.in_group = True
            process.running = process.running or not process.tells
            if process.member_id == member_id:  # not the old id of a process that came back
                ended = process.tells and not process.running
                shared = frozenset() if ended else _keys(member.partitions)
                group.share(process, shared, at_ms)
            else:
                process.refresh(at_ms)
        return there

    def _wire(self, group: GroupActivity, line: Line) -> None:
        kind = line.kind
        if kind is RequestSeen:
            seen: RequestSeen = line.event
            self._asked[group.name] = line.seq, seen.client
            return
        if kind is not RequestAnswered and kind not in _CONNECTIONS:
            return
        process = group.known(line, None)
        if process is None:
            return
        if kind in _CONNECTIONS:
            _connected(group, process, kind is MemberReconnected, line.at_ms)
        elif not process.tells:
            view = self._views.get(group.name)
            member = view.members.get(line.member or "") if view is not None else None
            if member is not None:
                _infer(group, process, member, line.at_ms)

    def _told(self, group: GroupActivity, line: Line, event: Any) -> None:
        """Follow a line that a process wrote itself."""
        at_ms, client = line.at_ms, event.client
        known = group.known(line, client)
        process = known if known is not None else group.of_client(client, at_ms)
        if line.member is not None and process.member_id != line.member:
            group.bind(line.member, process)
        process.tells = True
        self._believed.see(line)
        held = self._believed.held_by(group.name, client)
        match event:
            case PartitionsAssigned():
                process.stopped = False
            case PartitionsRevoked() | PartitionsLost():
                process.stopped = not held and bool(process.held)
            case MemberStarted():
                process.running, process.frozen = True, False
                process.stalled = process.stopped = False
            case ApplicationStalled():
                process.stalled = True
            case ApplicationResumed():
                process.stalled = False
            case MemberCrashed() | MemberClosed():
                process.running = False
                group.share(process, frozenset(), at_ms)
        group.hold(process, held, at_ms)
        group.partitions.refresh(process, at_ms)

    def _paused(self, line: Line, event: PauseMember | MemberResumed) -> None:
        for group in self.groups.values():
            client = event.member if isinstance(event, PauseMember) else event.client
            process = group.done_to(client, line.group)
            if process is not None:
                process.frozen = line.kind is PauseMember
                process.refresh(line.at_ms)
                group.partitions.refresh(process, line.at_ms)

    def _grown(self, line: Line, event: PartitionsAdded) -> None:
        added = range(event.first, event.first + len(event.replicas))
        for group in self.groups.values():
            group.partitions.grow(event.topic, added, line.at_ms)


_CONNECTIONS: Final = frozenset({MemberDisconnected, MemberReconnected})


def _infer(group: GroupActivity, process: Process, member: MemberView, at_ms: int) -> None:
    if not process.tells:
        process.running = True
        process.stopped = member.pause is not None
        group.hold(process, _keys(member.held), at_ms)
    process.refresh(at_ms)


def _connected(group: GroupActivity, process: Process, again: bool, at_ms: int) -> None:
    """Note that a member's connection has closed, or that it sends again. A process that logs
    its own lines is judged by these alone."""
    if process.tells or not process.in_group or again == (process.closed_ms is None):
        return
    if again:
        since_ms = process.closed_ms
        process.speaks_again()
        group.partitions.refresh(process, at_ms)
        group.partitions.was_alive(process, since_ms or at_ms)
    else:
        process.closed_ms = at_ms
        group.partitions.refresh(process, at_ms)
    process.refresh(at_ms)


def _expired(group: GroupActivity, process: Process, line: Line) -> None:
    """Note a member that is about to be removed. Its activity since its last sign of life is
    unknown, unless its connection had closed."""
    event: MemberRemoved | ConsumerMemberRemoved | ShareMemberRemoved = line.event
    silence = silence_ms(event)
    if silence is not None and process.closed_ms is None and not process.tells:
        process.was_silent(line.at_ms - silence)
        group.partitions.was_silent(process, line.at_ms - silence)


def _keys(partitions: ByTopic) -> frozenset[Key]:
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)
