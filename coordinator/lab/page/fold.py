"""Folds a log, line by line, into what a picture shows of each group: states, generations,
deadlines, lanes, owners.

Names, ownership and causes come from `coordinator.history.world.timeline`, so that the picture
and `coordinator explain` agree. The lines of a process that writes the stream `member` decide;
for other processes stops are inferred from requests. A paused or stalled process owns what it
had. Reads the log alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator.events.cluster import (
    PartitionChange,
    PartitionChanged,
    PartitionsAdded,
    TopicCreated,
)
from coordinator.events.faults import (
    FaultInjected,
    RequestFaultBegan,
    RequestFaultEnded,
)
from coordinator.events.groups import (
    GenerationStarted,
    LeaderElected,
    MemberJoined,
    MemberPending,
    MemberRejoined,
    MemberRemoved,
    MemberReplaced,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    TargetAssigned,
)
from coordinator.events.groups.share import ShareMemberRemoved
from coordinator.events.line import Line
from coordinator.events.members import (
    ApplicationResumed,
    ApplicationStalled,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from coordinator.events.run import RunStarted
from coordinator.events.wire import (
    MemberDisconnected,
    MemberReconnected,
    RequestAnswered,
    RequestRefused,
    RequestSeen,
)
from coordinator.history.explain.described_timeline import told_timeline
from coordinator.history.explain.formatting import printable
from coordinator.history.explain.reassignments import Reassignments
from coordinator.history.world.groups.phase_deadlines import PhaseDeadlines
from coordinator.history.world.lost_time.fold import OF_ONE, QUIET, RECORDS
from coordinator.history.world.lost_time.groups import GroupActivity
from coordinator.history.world.lost_time.processes import Key, Process
from coordinator.history.world.lost_time.tracks import Track
from coordinator.history.world.views import GroupView
from coordinator.history.world.world import World

from ..named import api_of, client_of
from . import seen_lanes
from .exports.copying import Copier
from .lanes import Lane
from .long_logs import FileSteps, KeptSteps, Steps
from .shares.queues import Queues

UNAVAILABLE: Final = "coordinator unavailable"
"""The state that is drawn while no broker serves the group."""
_UUID_LETTERS: Final = 22
_FIRST_LETTERS: Final = 4
"""Number of letters to show of a uuid in base 64, as members of the consumer protocol use."""
_HEARTBEATS: Final = frozenset({"Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat"})
_MARKED: Final = {
    "join_group": "join",
    "sync_group": "sync",
    "leave_group": "leave",
    "heartbeat": "heartbeat",
    "offset_commit": "commit",
    "txn_offset_commit": "commit",
    "consumer_group_heartbeat": "heartbeat",
    "share_group_heartbeat": "heartbeat",
}


class Replicas(NamedTuple):
    """A partition's replicas, as broker ids, and their leader. `original`: the replicas before a
    reassignment. Empty `isr`: unknown."""

    original: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int

    def plain(self) -> dict[str, Any]:
        """Return JSON values in the controller's words: AR, OAR, RAR."""
        return {
            "all": self.replicas,
            "original": self.original,
            "target": [each for each in self.replicas if each not in self.removing],
            "in_sync": self.isr,
            "leader": self.leader,
            "moving": self.moving,
        }

    @property
    def moving(self) -> bool:
        """Return True if the partition is being reassigned."""
        return bool(self.adding or self.removing)


class GroupPicture:
    """The picture of one group: its band of states, and the lanes of its processes. `activity`:
    what the timeline knows of these and of the partitions."""

    def __init__(self, name: str, activity: GroupActivity) -> None:
        self.name = name
        self.activity = activity
        self.state: Track[str] = Track()
        self.number: Track[int] = Track()
        """The generation, or the group epoch of a consumer group."""
        self.broker: Track[int] = Track()
        self.assignor: Track[str] = Track()
        self.deadlines = PhaseDeadlines()
        self._lanes: list[Lane] = []

    @property
    def lanes(self) -> list[Lane]:
        """The lanes, one for each process, in their order."""
        new = self.activity.processes[len(self._lanes) :]
        self._lanes += [Lane(process) for process in new]
        return self._lanes

    def labels(self) -> list[str]:
        """Return the name of each lane: its client id if that is unique, else its name; if that
        is an id that a client made up itself (KIP-848), the client id and the id's first
        letters."""
        processes = self.activity.processes
        count = Counter(each.client for each in processes)
        return [
            each.client
            if count[each.client] == 1
            else f"{each.client}-{each.name[:_FIRST_LETTERS]}"
            if len(each.name) == _UUID_LETTERS
            else each.name
            for each in processes
        ]

    def with_names(self, text: str, labels: Sequence[str]) -> str:
        """Return a sentence with member ids that clients made up themselves (KIP-848) replaced
        by names from `labels`."""
        for member_id, process in self.activity.of_ids():
            if len(member_id) == _UUID_LETTERS and member_id in text:
                text = text.replace(member_id, labels[process.index])
        return text

    def lane_of_id(self, member_id: str) -> Lane | None:
        """Return the lane of a member id, or None."""
        return self._of(self.activity.of_id(member_id))

    def lane_of_name(self, name: str, at_ms: int) -> Lane:
        """Return the lane of a member that another cluster's logs know by its name."""
        process = self.activity.of_member(name, name, "", at_ms)
        return self.lanes[process.index]

    def lane_done_to(self, line: Line) -> Lane | None:
        """Return the lane that a fault concerns, or None."""
        return self._of(self.activity.done_to(client_of(line) or "", line.group))

    def known(self, line: Line) -> Lane | None:
        """Return the lane of a line, or None if there is none yet."""
        return self._of(self.activity.known(line, client_of(line)))

    def _of(self, process: Process | None) -> Lane | None:
        return None if process is None else self.lanes[process.index]


class Fold:
    """All groups of a log: call `feed` with each line; `steps` keeps what a reader can step
    through."""

    def __init__(self, steps: Steps | None = None) -> None:
        self.timeline = told_timeline(
            from_text=True, file=steps if isinstance(steps, FileSteps) else None
        )
        self.groups: dict[str, GroupPicture] = {}
        self.steps: Steps = KeptSteps() if steps is None else steps
        self.copier = Copier()
        self.reassignments = Reassignments()
        self._world = World(timeline=self.timeline)
        self.queues = Queues()
        """Share groups' records."""
        self.replicas: dict[Key, Track[Replicas]] = {}
        """Replicas of reassigned partitions, from the reassignment on."""
        self._placed: dict[str, list[list[int]]] = {}
        """Replicas of each topic's partitions."""

    def feed_all(self, lines: Iterable[Line]) -> Fold:
        """Read many lines; return itself."""
        for line in lines:
            self.feed(line)
        return self

    def feed(self, line: Line) -> None:
        """Fold the next line of the log, if it counts. Each is a step, and may be copied."""
        self.copier.feed(line)
        for each in self._world.see(line):
            self._draw(each)
        if _is_step(line):
            self.steps.add(line)

    def _draw(self, line: Line) -> None:
        stream, name = line.stream, line.group
        if stream == "fault":
            self._fault(line)
        elif stream == "cluster":
            self._replicas(line)
        elif stream == "share":
            self._queued(line)
        if name is None or stream not in ("group", "wire", "member", "seen"):
            return
        picture = self.groups.get(name)
        if picture is None:
            lost_time = self.timeline.lost_time
            activity = lost_time.groups.get(name) or GroupActivity(name)
            picture = self.groups[name] = GroupPicture(name, activity)
        {"group": self._group, "wire": self._wire, "member": self._told, "seen": self._seen}[
            stream
        ](picture, line)

    # -- streams

    def _seen(self, picture: GroupPicture, line: Line) -> None:
        """Draw what the logs of another cluster tell of a group."""
        group = self.timeline.groups.get(picture.name)
        if group is not None:
            seen_lanes.draw(picture, group, line)

    def _group(self, picture: GroupPicture, line: Line) -> None:
        at_ms, kind = line.at_ms, line.kind
        group = self.timeline.groups.get(picture.name)
        if group is None:
            return
        self._band(picture, group, line)
        own = picture.known(line) if line.member is not None else None
        if own is not None:
            if kind in _WITH_SESSION:
                own.session_timeout_ms = line.event.session_timeout_ms
            by_itself = kind in _REMOVED and line.event.reason == "left"
            own.marks.add(at_ms, "left" if by_itself else _MARKS.get(kind, "event"))
        if kind in OF_ONE and group.consumer is None:
            _follow(picture, group, [line.member or ""], at_ms)
        elif kind not in QUIET:
            for lane in picture.lanes:
                if not lane.process.in_group:
                    lane.leads.set(None, at_ms)
                    lane.epoch.set(None, at_ms)
            _follow(picture, group, group.members, at_ms)
            epochs = group.consumer or group.share
            for member_id, member in epochs.members.items() if epochs is not None else ():
                sharing = picture.lane_of_id(member_id)
                if sharing is not None:
                    sharing.epoch.set(member.epoch, at_ms)
        if kind is ConsumerMemberReconciled:
            reconciled: ConsumerMemberReconciled = line.event
            lane_of = picture.known(line)
            if lane_of is not None:
                lane_of.epoch.set(reconciled.member_epoch, at_ms)
        elif kind is TargetAssigned and line.event.assignor:
            picture.assignor.set(printable(line.event.assignor), at_ms)

    def _band(self, picture: GroupPicture, group: GroupView, line: Line) -> None:
        at_ms = line.at_ms
        epochs = group.consumer or group.share
        if epochs is not None:
            picture.state.set(UNAVAILABLE if group.given_up_as else epochs.state(), at_ms)
            picture.number.set(epochs.epoch, at_ms)
        else:
            picture.state.set(UNAVAILABLE if group.given_up_as else group.state, at_ms)
            picture.number.set(group.generation, at_ms)
        if group.assignor is not None and line.kind is GenerationStarted:
            picture.assignor.set(printable(group.assignor), at_ms)
        if line.broker is not None:
            picture.broker.set(line.broker, at_ms)
        picture.deadlines.see(line)

    def _queued(self, line: Line) -> None:
        """Draw members of a share group that begin or cease to hold records."""
        changed = self.queues.see(line)
        picture = self.groups.get(line.group or "")
        for member_id, holds in changed.items():
            lane = picture.lane_of_id(member_id) if picture is not None else None
            if lane is not None:
                lane.process.in_hand = holds
                lane.process.refresh(line.at_ms)

    def _wire(self, picture: GroupPicture, line: Line) -> None:
        lane = picture.known(line)
        kind = line.kind
        if lane is None or kind is MemberDisconnected or kind is MemberReconnected:
            return
        at_ms = line.at_ms
        mark = _MARKED.get(api_of(line) or "")
        if mark is not None:
            lane.marks.add(at_ms, mark + _SUFFIX.get(kind, ""))
        if mark in _SIGNS and line.member is not None and lane.process.in_group and _is_sign(line):
            lane.signs.append(at_ms)

    def _told(self, picture: GroupPicture, line: Line) -> None:
        """Draw a line that a process wrote itself."""
        lane = None if line.kind in RECORDS else picture.known(line)
        if lane is not None and client_of(line) is not None:
            lane.marks.add(line.at_ms, _TOLD.get(line.kind, "told"))

    def _fault(self, line: Line) -> None:
        """Draw a fault of a member's process or of one of its requests."""
        at_ms, kind = line.at_ms, line.kind
        for picture in self.groups.values():
            lane = picture.lane_done_to(line)
            if lane is None:
                continue
            event = line.event if kind is FaultInjected else None
            if isinstance(event, FaultInjected) and event.action == "observe":
                if event.api in _HEARTBEATS:
                    lane.marks.add(at_ms, "heartbeat")
                    if lane.process.in_group:
                        lane.signs.append(at_ms)
            else:
                lane.marks.add(at_ms, "fault")

    def _replicas(self, line: Line) -> None:
        """Note where the replicas of a partition are."""
        self.reassignments.see(line)
        if line.kind not in _PLACING:
            return
        event: TopicCreated | PartitionsAdded | PartitionChanged = line.event
        if isinstance(event, PartitionChanged):
            self._moved(line.at_ms, event)
            return
        there = self._placed.get(event.topic, []) if isinstance(event, PartitionsAdded) else []
        self._placed[event.topic] = [*there, *event.replicas]

    def _moved(self, at_ms: int, event: PartitionChanged) -> None:
        key = topic, number = event.topic, event.partition
        track = self.replicas.get(key)
        if track is None:
            if event.what is not PartitionChange.REASSIGNMENT_STARTED:
                return
            placed = self._placed.get(topic, [])
            there = tuple(
                placed[number]
                if number < len(placed)
                else [each for each in event.replicas if each not in event.adding]
            )
            track = self.replicas[key] = Track()
            track.set(Replicas(there, there, (), (), (), event.leader), 0)
        replicas, adding, removing = map(tuple, (event.replicas, event.adding, event.removing))
        original = (
            track.value.original if track.value is not None and (adding or removing) else replicas
        )
        now = Replicas(original, replicas, adding, removing, tuple(event.isr), event.leader)
        track.set(now, at_ms)


_WITH_SESSION: Final = frozenset({MemberJoined, MemberRejoined, MemberReplaced})
"""Events that have a member's session timeout."""
_PLACING: Final = frozenset({TopicCreated, PartitionsAdded, PartitionChanged})


def _is_step(line: Line) -> bool:
    """Return True if a reader steps through the line; False for lines with which every run
    begins."""
    kind, stream = line.kind, line.stream
    if kind in RECORDS or (kind in _FAULTS and line.event.fault.endswith(": observe")):
        return False
    if stream in ("run", "coordinator"):
        return kind is not RunStarted and line.at_ms > 0
    return stream != "data" and not (stream == "cluster" and (line.topic or "").startswith("__"))


def _is_sign(line: Line) -> bool:
    """Return True if a request or its response renews the member's session."""
    if line.kind is not RequestRefused:
        return line.kind is RequestSeen or line.kind is RequestAnswered
    refused: RequestRefused = line.event
    return {*refused.errors} <= {"REBALANCE_IN_PROGRESS"}


def _follow(picture: GroupPicture, group: GroupView, member_ids: Iterable[str], at_ms: int) -> None:
    """Draw the crown in the lane of the leader, if it is one of these members of a classic
    group."""
    for member_id in member_ids:
        lane, member = picture.lane_of_id(member_id), group.members[member_id]
        if lane is not None:
            leads = member.name == group.leader and group.state != "Empty"
            lane.leads.set(True if leads else None, at_ms)


_FAULTS: Final = frozenset({RequestFaultBegan, RequestFaultEnded})
_SIGNS: Final = frozenset({"join", "sync", "heartbeat", "commit"})
_SUFFIX: Final[Mapping[type, str]] = {RequestAnswered: "-answered", RequestRefused: "-refused"}
_MARKS: Final[Mapping[type, str]] = {
    MemberRemoved: "removed",
    ConsumerMemberRemoved: "removed",
    ShareMemberRemoved: "removed",
    MemberPending: "pending",
    LeaderElected: "elected",
}
_REMOVED: Final = frozenset({MemberRemoved, ConsumerMemberRemoved, ShareMemberRemoved})
_TOLD: Final[Mapping[type, str]] = {
    PartitionsAssigned: "assigned",
    PartitionsRevoked: "revoked",
    PartitionsLost: "lost",
    MemberStarted: "started",
    MemberClosing: "closing",
    MemberClosed: "closed",
    MemberCrashed: "crashed",
    ApplicationStalled: "stalled",
    ApplicationResumed: "resumed",
    MemberFailed: "failed",
}
