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
from typing import Any, Final, NamedTuple, get_args

from coordinator.events.cluster import (
    PartitionChange,
    PartitionChanged,
    PartitionsAdded,
    TopicCreated,
)
from coordinator.events.faults import (
    FaultInjected,
    MemberResumed,
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
    MemberSynced,
    OffsetsCommitted,
    OffsetsPending,
    OffsetsRemoved,
    PendingOffsetsEnded,
)
from coordinator.events.groups.consumer import (
    ConsumerMemberReconciled,
    ConsumerMemberRemoved,
    ConsumerMemberSubscribed,
    TargetAssigned,
)
from coordinator.events.groups.share import ShareMemberRemoved, ShareMemberSubscribed
from coordinator.events.line import Line
from coordinator.events.members import (
    AcknowledgementsEnded,
    ApplicationResumed,
    ApplicationStalled,
    CommitEnded,
    MemberClosed,
    MemberClosing,
    MemberCrashed,
    MemberFailed,
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
from coordinator.history.world.blobs import Partitions
from coordinator.history.world.groups.consumer_groups import ConsumerGroup, by_topic
from coordinator.history.world.groups.phase_deadlines import PhaseDeadlines
from coordinator.history.world.shares.groups import ShareGroup
from coordinator.history.world.views import GroupView, MemberView
from coordinator.history.world.waits import silence_ms
from coordinator.history.world.world import World
from coordinator.verbs.members import PauseMember

from ..named import api_of, client_of
from . import seen_lanes
from .exports.copying import Copier
from .lanes import Key, Lane, Raster
from .long_logs import FileSteps, KeptSteps, Steps
from .shares.queues import Queues
from .tracks import Track

_RECORDS: Final = frozenset(
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
"""Events of applications about records: too many to step through."""
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
_QUIET: Final = frozenset(
    {OffsetsCommitted, OffsetsPending, PendingOffsetsEnded, OffsetsRemoved, MemberPending}
)
"""Events of a group that change no owner, so that members need not be checked."""
_OF_ONE: Final = frozenset({MemberRejoined, MemberSynced})
"""Events of a group that change their own member alone."""


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
    """The picture of one group: its band of states, its lanes, its raster of partitions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: Track[str] = Track()
        self.number: Track[int] = Track()
        """The generation, or the group epoch of a consumer group."""
        self.broker: Track[int] = Track()
        self.assignor: Track[str] = Track()
        self.deadlines = PhaseDeadlines()
        self.lanes: list[Lane] = []
        self.raster = Raster()
        self._by_client: dict[str, Lane] = {}
        self._of_client: dict[str, list[Lane]] = {}
        self._by_member: dict[str, Lane] = {}

    def lane_of_client(self, client: str, at_ms: int) -> Lane:
        """Return the lane of a process that logs its own lines."""
        lane = self._by_client.get(client)
        if lane is None:
            lane = self._by_client[client] = self._new(client, at_ms)
        return lane

    def lane_done_to(self, line: Line) -> Lane | None:
        """Return the lane that a fault concerns: of a process that logs its own lines, else of
        the only member of the line's group with this client id."""
        client = client_of(line) or ""
        if client in self._by_client:
            return self._by_client[client]
        if line.group not in (None, self.name):
            return None
        there = [lane for lane in self._of_client.get(client, ()) if lane.in_group]
        return there[0] if len(there) == 1 else None

    def lane_of_member(self, member_id: str, name: str, client: str, at_ms: int) -> Lane:
        """Return the lane of a member id: its process's, if that is known by its client id, else
        its own."""
        lane = self._by_member.get(member_id)
        if lane is None:
            lane = self._by_client.get(client) or self._new(name, at_ms, client)
            self._by_member[member_id] = lane
        return lane

    def labels(self) -> list[str]:
        """Return the name of each lane: its client id if that is unique, else its name; if that
        is an id that a client made up itself (KIP-848), the client id and the id's first
        letters."""
        count = Counter(lane.client for lane in self.lanes)
        return [
            lane.client
            if count[lane.client] == 1
            else f"{lane.client}-{lane.name[:_FIRST_LETTERS]}"
            if len(lane.name) == _UUID_LETTERS
            else lane.name
            for lane in self.lanes
        ]

    def with_names(self, text: str, labels: Sequence[str]) -> str:
        """Return a sentence with member ids that clients made up themselves (KIP-848) replaced
        by names from `labels`."""
        for member_id, lane in self._by_member.items():
            if len(member_id) == _UUID_LETTERS and member_id in text:
                text = text.replace(member_id, labels[lane.index])
        return text

    def by_name(self, view: GroupView) -> dict[str, Lane]:
        """Return the lanes by their members' short names."""
        return {
            name: self._by_member[member_id]
            for member_id, name in view.names.items()
            if member_id in self._by_member
        }

    def lane_of_id(self, member_id: str) -> Lane | None:
        """Return the lane of a member id, or None."""
        return self._by_member.get(member_id)

    def known(self, line: Line) -> Lane | None:
        """Return the lane of a line, or None if there is none yet."""
        lane = self._by_member.get(line.member or "")
        return self._by_client.get(client_of(line) or "") if lane is None else lane

    def bind(self, member_id: str, lane: Lane) -> None:
        """Bind a member id to a process's lane."""
        self._by_member[member_id] = lane
        lane.member_id = member_id

    def _new(self, name: str, at_ms: int, client: str = "") -> Lane:
        lane = Lane(len(self.lanes), name, at_ms, client)
        self.lanes.append(lane)
        self._of_client.setdefault(lane.client, []).append(lane)
        return lane

    def hold(self, lane: Lane, held: frozenset[Key], at_ms: int) -> None:
        """Let a lane own exactly these partitions from now on."""
        if held != lane.held:
            gone, come = lane.held - held, held - lane.held
            lane.held = held
            self.raster.remove(lane, gone, at_ms)
            self.raster.add(lane, come, at_ms)
        lane.refresh(at_ms)


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
        self._leaderless = self._world.leaderless
        self._believed = self._world.believed
        self.queues = Queues()
        """Share groups' records."""
        self.replicas: dict[Key, Track[Replicas]] = {}
        """Replicas of reassigned partitions, from the reassignment on."""
        self._placed: dict[str, list[list[int]]] = {}
        """Replicas of each topic's partitions."""
        self._asked: dict[str, tuple[int, str]] = {}
        """Line number and client id of the latest request for each group: its consequences
        belong to this client."""

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
        for key in self._leaderless.changed if stream in ("cluster", "fault") else ():
            for each in self.groups.values():
                each.raster.without_leader(key, key in self._leaderless.now, line.at_ms)
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
            picture = self.groups[name] = GroupPicture(name)
            for key in self._leaderless.now:
                picture.raster.without_leader(key, True, line.at_ms)
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
        if kind in _INTRODUCED:
            self._introduced(picture, group, line)
        own = picture.known(line) if line.member is not None else None
        if own is not None and kind in _EXPIRING:
            _expired(picture, own, line)
        if own is not None:
            by_itself = kind in _REMOVED and line.event.reason == "left"
            own.marks.add(at_ms, "left" if by_itself else _MARKS.get(kind, "event"))
        if kind in _OF_ONE and group.consumer is None:
            self._member(picture, group, group.members[line.member or ""], at_ms)
        elif kind not in _QUIET:
            self._members(picture, group, at_ms)
        if kind is GenerationStarted:
            for member in group.members.values():
                for topic in member.subscription.topics if member.subscription else ():
                    picture.raster.want(topic, at_ms)
        elif kind is ConsumerMemberReconciled:
            reconciled: ConsumerMemberReconciled = line.event
            lane = picture.known(line)
            if lane is not None:
                lane.epoch.set(reconciled.member_epoch, at_ms)
        elif kind is TargetAssigned:
            _targets(picture, line, line.event)

    def _introduced(self, picture: GroupPicture, group: GroupView, line: Line) -> None:
        """Bind a member id to its lane."""
        event: Introduction = line.event
        member_id = event.member_id
        client = "" if isinstance(event, MemberRejoined | MemberReplaced) else event.client_id
        if not client:
            seq, asked = self._asked.get(picture.name, (-1, ""))
            client = asked if seq == line.cause else ""
        name = group.name(member_id) or ""
        lane = picture.lane_of_member(member_id, name, client, line.at_ms)
        picture.bind(member_id, lane)
        if isinstance(event, MemberJoined | MemberRejoined | MemberReplaced):
            lane.session_timeout_ms = event.session_timeout_ms

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

    def _members(self, picture: GroupPicture, group: GroupView, at_ms: int) -> None:
        """Draw the members, the leader, and the partitions of members that do not log their own."""
        there = {
            self._member(picture, group, member, at_ms).index for member in group.members.values()
        }
        if group.consumer is not None:
            there |= self._consumer_members(picture, group, group.consumer, at_ms)
        if group.share is not None:
            there |= self._share_members(picture, group.share, at_ms)
        for lane in picture.lanes:
            if lane.index not in there and lane.in_group:
                lane.in_group = False
                lane.leads.set(None, at_ms)
                lane.epoch.set(None, at_ms)
                if not lane.tells:
                    lane.stopped = False
                    picture.hold(lane, frozenset(), at_ms)
                    lane.running, lane.closed_ms = False, None
                lane.refresh(at_ms)

    def _member(
        self, picture: GroupPicture, group: GroupView, member: MemberView, at_ms: int
    ) -> Lane:
        """Draw a member in its lane and return the lane."""
        lane = picture.lane_of_member(member.member_id, member.name, member.client_id, at_ms)
        if lane.member_id is None:
            lane.member_id = member.member_id
        before = lane.in_group
        lane.in_group = (
            lane.member_id in group.members
        )  # a process that came back may have an old id among the members
        lane.leads.set(
            True if member.name == group.leader and group.state != "Empty" else None, at_ms
        )
        if not lane.tells or lane.in_group != before:
            self._inferred(picture, lane, member, at_ms)
        return lane

    def _consumer_members(
        self, picture: GroupPicture, group: GroupView, consumers: ConsumerGroup, at_ms: int
    ) -> set[int]:
        there = set()
        for member_id, member in consumers.members.items():
            name, client = group.name(member_id) or "", consumers.client_id(member_id)
            lane = picture.lane_of_member(member_id, name, client, at_ms)
            there.add(lane.index)
            lane.in_group = True
            lane.epoch.set(member.epoch, at_ms)
            if not lane.tells:
                lane.running = True
                picture.hold(lane, frozenset((*member.held, *member.revoking)), at_ms)
            lane.refresh(at_ms)
        return there

    def _share_members(self, picture: GroupPicture, sharers: ShareGroup, at_ms: int) -> set[int]:
        there = set()
        for member_id, member in sharers.members.items():
            lane = picture.lane_of_member(
                member_id, sharers.name(member_id), member.client_id, at_ms
            )
            if lane.member_id is None:
                lane.member_id = member_id
            there.add(lane.index)
            lane.in_group = True
            lane.running = lane.running or not lane.tells
            lane.epoch.set(member.epoch, at_ms)
            lane.refresh(at_ms)
        return there

    def _queued(self, line: Line) -> None:
        """Draw members of a share group that begin or cease to hold records."""
        changed = self.queues.see(line)
        picture = self.groups.get(line.group or "")
        for member_id, holds in changed.items():
            lane = picture.lane_of_id(member_id) if picture is not None else None
            if lane is not None:
                lane.in_hand = holds
                lane.refresh(line.at_ms)

    def _inferred(self, picture: GroupPicture, lane: Lane, member: MemberView, at_ms: int) -> None:
        if not lane.tells:
            lane.running = True
            lane.stopped = member.pause is not None
            picture.hold(lane, _keys(member.held), at_ms)
        lane.refresh(at_ms)

    def _wire(self, picture: GroupPicture, line: Line) -> None:
        kind = line.kind
        if kind is RequestSeen:
            seen: RequestSeen = line.event
            self._asked[picture.name] = line.seq, seen.client
        lane = picture.known(line)
        if lane is None:
            return
        at_ms = line.at_ms
        if kind is MemberDisconnected or kind is MemberReconnected:
            _connected(picture, lane, kind is MemberReconnected, at_ms)
            return
        mark = _MARKED.get(api_of(line) or "")
        if mark is not None:
            lane.marks.add(at_ms, mark + _SUFFIX.get(kind, ""))
        if mark in _SIGNS and line.member is not None and lane.in_group and _is_sign(line):
            lane.signs.append(at_ms)
        if kind is RequestAnswered and not lane.tells:
            group = self.timeline.groups.get(picture.name)
            member = group.members.get(line.member or "") if group is not None else None
            if member is not None:
                self._inferred(picture, lane, member, at_ms)

    def _told(self, picture: GroupPicture, line: Line) -> None:
        """Draw a line that a process wrote itself."""
        at_ms, kind = line.at_ms, line.kind
        client = None if kind in _RECORDS else client_of(line)
        if client is None:
            return
        known = picture.known(line)
        lane = known if known is not None else picture.lane_of_client(client, at_ms)
        if line.member is not None and lane.member_id != line.member:
            picture.bind(line.member, lane)
        lane.tells = True
        lane.marks.add(at_ms, _TOLD.get(kind, "told"))
        held = self._believed.held_by(picture.name, client)
        match line.event:
            case PartitionsAssigned():
                lane.stopped = False
            case PartitionsRevoked() | PartitionsLost():
                lane.stopped = not held and bool(lane.held)
            case MemberStarted():
                lane.running, lane.frozen, lane.stalled, lane.stopped = True, False, False, False
            case ApplicationStalled():
                lane.stalled = True
            case ApplicationResumed():
                lane.stalled = False
            case MemberCrashed() | MemberClosed():
                lane.running = False
        picture.hold(lane, held, at_ms)
        picture.raster.refresh(lane, at_ms)

    def _fault(self, line: Line) -> None:
        """Draw a fault of a member's process or of one of its requests."""
        at_ms, kind = line.at_ms, line.kind
        for picture in self.groups.values():
            lane = picture.lane_done_to(line)
            if lane is None:
                continue
            if kind is PauseMember or kind is MemberResumed:
                lane.frozen = kind is PauseMember
                lane.refresh(at_ms)
                picture.raster.refresh(lane, at_ms)
            event = line.event if kind is FaultInjected else None
            if isinstance(event, FaultInjected) and event.action == "observe":
                if event.api in _HEARTBEATS:
                    lane.marks.add(at_ms, "heartbeat")
                    if lane.in_group:
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
        if isinstance(event, PartitionsAdded):
            added = range(event.first, event.first + len(event.replicas))
            for picture in self.groups.values():
                picture.raster.grow(event.topic, added, line.at_ms)

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


Introduction = (
    MemberPending
    | MemberJoined
    | MemberRejoined
    | MemberReplaced
    | ConsumerMemberSubscribed
    | ShareMemberSubscribed
)
"""Events that bind a member id to a client."""
_INTRODUCED: Final[frozenset[type]] = frozenset(get_args(Introduction))
_PLACING: Final = frozenset({TopicCreated, PartitionsAdded, PartitionChanged})


def _is_step(line: Line) -> bool:
    """Return True if a reader steps through the line; False for lines with which every run
    begins."""
    kind, stream = line.kind, line.stream
    if kind in _RECORDS or (kind in _FAULTS and line.event.fault.endswith(": observe")):
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


def _connected(picture: GroupPicture, lane: Lane, again: bool, at_ms: int) -> None:
    """Draw that a member's connection has closed, or that it sends again. A process that logs
    its own lines is drawn by these alone."""
    if lane.tells or not lane.in_group or again == (lane.closed_ms is None):
        return
    if again:
        since_ms = lane.closed_ms
        lane.speaks_again()
        picture.raster.refresh(lane, at_ms)
        picture.raster.revise(lane, since_ms or at_ms, silent=False)
    else:
        lane.closed_ms = at_ms
        picture.raster.refresh(lane, at_ms)
    lane.refresh(at_ms)


def _expired(picture: GroupPicture, lane: Lane, line: Line) -> None:
    """Draw a member that is about to be removed. Its activity since its last sign of life is
    unknown, unless its connection had closed."""
    event: MemberRemoved | ConsumerMemberRemoved = line.event
    silence = silence_ms(event)
    if silence is not None and lane.closed_ms is None and not lane.tells:
        lane.was_silent(line.at_ms - silence)
        picture.raster.revise(lane, line.at_ms - silence, silent=True)


def _keys(partitions: Partitions) -> frozenset[Key]:
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)


def _targets(picture: GroupPicture, line: Line, event: TargetAssigned) -> None:
    if event.assignor:
        picture.assignor.set(printable(event.assignor), line.at_ms)
    for row in event.targets:
        for topic in by_topic(row.topics):
            picture.raster.want(topic, line.at_ms)


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
_EXPIRING: Final = frozenset({MemberRemoved, ConsumerMemberRemoved})
"""Removals that may follow a silence."""
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
