"""A log folded, line by line, into what a picture shows of each group: states, generations,
deadlines, lanes, owners.

Names, ownership and causes are those of `coordinator.history.timeline`, so that the picture and
`coordinator explain` tell the same. Rules: a process that writes stream `member` is taken at its
word; of others, stops are inferred from requests. A frozen or stalled process owns what it had.
Depends on the log alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ..event_log.reader import Line
from ..explain.reassignments import Reassignments
from ..explain.telling import told_timeline
from ..explain.words import printable
from ..history.blobs import Partitions
from ..history.consumer_groups import ConsumerGroup, by_topic
from ..history.owners import Believed
from ..history.phase_deadlines import PhaseDeadlines
from ..history.shares.groups import ShareGroup
from ..history.views import GroupView, MemberView
from .copying import Copier
from .lanes import Key, Lane, Raster
from .long_logs import FileSteps, KeptSteps, Steps
from .shares.queues import Queues
from .tracks import Track

_RECORDS: Final = frozenset(
    {
        "RecordsPolled",
        "RecordsProcessed",
        "RecordsSent",
        "RecordsDelivered",
        "CommitEnded",
        "SharedRecordsPolled",
        "AcknowledgementsEnded",
        "RequestRepeated",
    }
)
"""Events of applications with records: too many to step through."""
_UUID_LETTERS: Final = 22
_FIRST_LETTERS: Final = 4
"""The length of a uuid in base 64, as members of the consumer protocol make them."""
_OBSERVED: Final = frozenset({"RequestFaultBegan", "RequestFaultEnded"})
_ENDS: Final = frozenset({"MemberCrashed", "MemberClosed"})
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
    {"OffsetsCommitted", "OffsetsPending", "PendingOffsetsEnded", "OffsetsRemoved", "MemberPending"}
)
"""Events of a group that change no owner, which saves a look at every member."""
_OF_ONE: Final = frozenset({"MemberRejoined", "MemberSynced"})
"""Events of a group that change their own member alone."""


class Replicas(NamedTuple):
    """A partition's replicas, as broker ids, and their leader. `original`: where it was before it
    moves. Empty `isr`: not known."""

    original: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int

    def plain(self) -> dict[str, Any]:
        """In the controller's words: AR, OAR, RAR."""
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
        """True if it is being reassigned."""
        return bool(self.adding or self.removing)


class GroupPicture:
    """One group: its band, its lanes, its raster."""

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
        """The lane of a process that tells what it does."""
        lane = self._by_client.get(client)
        if lane is None:
            lane = self._by_client[client] = self._new(client, at_ms)
        return lane

    def lane_done_to(self, line: Line) -> Lane | None:
        """The lane of whoever something was done to: of a process that tells what it does, else of
        the only member of the line's group that has this client id."""
        client = line.get("client", "")
        if client in self._by_client:
            return self._by_client[client]
        if line.get("group", self.name) != self.name:
            return None
        there = [lane for lane in self._of_client.get(client, ()) if lane.in_group]
        return there[0] if len(there) == 1 else None

    def lane_of_member(self, member_id: str, name: str, client: str, at_ms: int) -> Lane:
        """The lane of a member id: its process's, if that is known by its client id, else its
        own."""
        lane = self._by_member.get(member_id)
        if lane is None:
            lane = self._by_client.get(client) or self._new(name, at_ms, client)
            self._by_member[member_id] = lane
        return lane

    def labels(self) -> list[str]:
        """The name of each lane: its client id if no other has it, else its name; where that is
        an id that a client made up itself (KIP-848), the client id and the id's first letters."""
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
        """A sentence with `labels` where it has ids that clients made up themselves (KIP-848), which
        tell nobody anything."""
        for member_id, lane in self._by_member.items():
            if len(member_id) == _UUID_LETTERS and member_id in text:
                text = text.replace(member_id, labels[lane.index])
        return text

    def lane_of_id(self, member_id: str) -> Lane | None:
        """The lane of a member id, if it has one."""
        return self._by_member.get(member_id)

    def known(self, line: Line) -> Lane | None:
        """The lane a line belongs to, if there is one yet."""
        return self._by_member.get(line.get("member", "")) or self._by_client.get(
            line.get("client", "")
        )

    def bind(self, member_id: str, lane: Lane) -> None:
        """A process acts under this member id."""
        self._by_member[member_id] = lane
        lane.member_id = member_id

    def _new(self, name: str, at_ms: int, client: str = "") -> Lane:
        lane = Lane(len(self.lanes), name, at_ms, client)
        self.lanes.append(lane)
        self._of_client.setdefault(lane.client, []).append(lane)
        return lane

    def hold(self, lane: Lane, held: frozenset[Key], at_ms: int) -> None:
        """A lane owns exactly these from now on."""
        if held != lane.held:
            gone, come = lane.held - held, held - lane.held
            lane.held = held
            self.raster.remove(lane, gone, at_ms)
            self.raster.add(lane, come, at_ms)
        lane.refresh(at_ms)


class Fold:
    """All groups of a log. `feed` it line by line; `steps` keeps what a reader may step through."""

    def __init__(self, steps: Steps | None = None) -> None:
        self.timeline = told_timeline(
            from_text=True, file=steps if isinstance(steps, FileSteps) else None
        )
        self.groups: dict[str, GroupPicture] = {}
        self.steps: Steps = KeptSteps() if steps is None else steps
        self.copier = Copier()
        self.reassignments = Reassignments()
        self._believed = Believed(lambda *_: None)
        self.queues = Queues()
        """The work of share groups on records."""
        self.replicas: dict[Key, Track[Replicas]] = {}
        """Of partitions that were reassigned, from then on."""
        self._placed: dict[str, list[list[int]]] = {}
        """Where the partitions of each topic were put."""
        self._asked: dict[str, Line] = {}
        """The last request that was seen of each group: who asked for what follows from it."""

    def feed_all(self, lines: Iterable[Line]) -> Fold:
        """Fold many lines; returns itself."""
        for line in lines:
            self.feed(line)
        return self

    def feed(self, line: Line) -> None:
        """Fold one line."""
        self.timeline.feed(line)
        self.copier.feed(line)
        if _is_step(line):
            self.steps.add(line)
        stream, name = line["stream"], line.get("group")
        if stream == "fault":
            self._fault(line)
        elif stream == "cluster":
            self._replicas(line)
        elif stream == "share":
            self._queued(line)
        if name is None or stream not in ("group", "wire", "member"):
            return
        picture = self.groups.get(name)
        if picture is None:
            picture = self.groups[name] = GroupPicture(name)
        {"group": self._group, "wire": self._wire, "member": self._told}[stream](picture, line)

    # -- streams

    def _group(self, picture: GroupPicture, line: Line) -> None:
        at_ms, kind = line["at_ms"], line["type"]
        group = self.timeline.groups.get(picture.name)
        if group is None:
            return
        self._band(picture, group, line)
        if "member" in line and kind in (
            "MemberPending",
            "MemberJoined",
            "MemberRejoined",
            "MemberReplaced",
            "ConsumerMemberSubscribed",
            "ShareMemberSubscribed",
        ):
            asked = self._asked.get(picture.name, {})
            client = str(
                line.get("client_id")
                or (asked.get("client", "") if asked.get("seq") == line["cause"] else "")
            )
            lane = picture.lane_of_member(
                line["member"], group.name(line["member"]) or "", client, at_ms
            )
            picture.bind(line["member"], lane)
            lane.session_timeout_ms = line.get("session_timeout_ms", lane.session_timeout_ms)
        own = picture.known(line) if "member" in line else None
        if own is not None:
            own.marks.add(at_ms, _MARKS.get(kind, "event"))
        if kind in _OF_ONE and group.consumer is None:
            self._member(picture, group, group.members[line["member"]], at_ms)
        elif kind not in _QUIET:
            self._members(picture, group, at_ms)
        if kind == "GenerationStarted":
            for member in group.members.values():
                for topic in member.subscription.topics if member.subscription else ():
                    picture.raster.want(topic, at_ms)
        tell = _EPOCHS.get(kind)
        if tell is not None:
            tell(picture, line)

    def _band(self, picture: GroupPicture, group: GroupView, line: Line) -> None:
        at_ms, kind = line["at_ms"], line["type"]
        epochs = group.consumer or group.share
        if epochs is not None:
            picture.state.set(epochs.state(), at_ms)
            picture.number.set(epochs.epoch, at_ms)
        else:
            picture.state.set("Dead" if group.given_up_as else group.state, at_ms)
            picture.number.set(group.generation, at_ms)
        if group.assignor is not None and kind == "GenerationStarted":
            picture.assignor.set(printable(group.assignor), at_ms)
        if "broker" in line:
            picture.broker.set(line["broker"], at_ms)
        picture.deadlines.see(line)

    def _members(self, picture: GroupPicture, group: GroupView, at_ms: int) -> None:
        """Who is a member now, who leads, and what those have that do not tell it themselves."""
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
                    lane.running = False
                lane.refresh(at_ms)

    def _member(
        self, picture: GroupPicture, group: GroupView, member: MemberView, at_ms: int
    ) -> Lane:
        """The lane of a member, drawn as the member is now."""
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
        """Records of a share group: who holds some works."""
        changed = self.queues.see(line)
        picture = self.groups.get(line["group"])
        for member_id, holds in changed.items():
            lane = picture.lane_of_id(member_id) if picture is not None else None
            if lane is not None:
                lane.in_hand = holds
                lane.refresh(line["at_ms"])

    def _inferred(self, picture: GroupPicture, lane: Lane, member: MemberView, at_ms: int) -> None:
        if not lane.tells:
            lane.running = True
            lane.stopped = member.pause is not None
            picture.hold(lane, _keys(member.held), at_ms)
        lane.refresh(at_ms)

    def _wire(self, picture: GroupPicture, line: Line) -> None:
        if line["type"] == "RequestSeen":
            self._asked[picture.name] = line
        lane = picture.known(line)
        if lane is None:
            return
        at_ms, kind = line["at_ms"], line["type"]
        mark = _MARKED.get(line.get("api", ""))
        if mark is not None:
            suffix = {"RequestAnswered": "-answered", "RequestRefused": "-refused"}.get(kind, "")
            lane.marks.add(at_ms, mark + suffix)
        errors = line.get("errors", ())
        if kind in ("RequestSeen", "RequestAnswered") or (
            kind == "RequestRefused" and set(errors) <= {"REBALANCE_IN_PROGRESS"}
        ):
            if (
                mark in ("join", "sync", "heartbeat", "commit")
                and "member" in line
                and lane.in_group
            ):
                lane.signs.append(at_ms)
        if kind == "RequestAnswered" and not lane.tells:
            group = self.timeline.groups.get(picture.name)
            member = group.members.get(line.get("member", "")) if group is not None else None
            if member is not None:
                self._inferred(picture, lane, member, at_ms)

    def _told(self, picture: GroupPicture, line: Line) -> None:
        """A process's own word."""
        at_ms, kind = line["at_ms"], line["type"]
        if kind in _RECORDS:
            return
        known = picture.known(line)
        lane = known if known is not None else picture.lane_of_client(line["client"], at_ms)
        if "member" in line and lane.member_id != line["member"]:
            picture.bind(line["member"], lane)
        lane.tells = True
        lane.marks.add(at_ms, _TOLD.get(kind, "told"))
        self._believed.see(line)
        held = self._believed.held_by(picture.name, line["client"])
        match kind:
            case "PartitionsAssigned":
                lane.stopped = False
            case "PartitionsRevoked" | "PartitionsLost":
                lane.stopped = not held and bool(lane.held)
            case "MemberStarted":
                lane.running, lane.frozen, lane.stalled, lane.stopped = True, False, False, False
            case "ApplicationStalled" | "ApplicationResumed":
                lane.stalled = kind == "ApplicationStalled"
            case _ if kind in _ENDS:
                lane.running = False
        picture.hold(lane, held, at_ms)
        picture.raster.refresh(lane, at_ms)

    def _fault(self, line: Line) -> None:
        """The fault of a member's process or of one of its requests."""
        at_ms, kind = line["at_ms"], line["type"]
        for picture in self.groups.values():
            lane = picture.lane_done_to(line)
            if lane is None:
                continue
            if kind in ("PauseMember", "MemberResumed"):
                lane.frozen = kind == "PauseMember"
                lane.refresh(at_ms)
                picture.raster.refresh(lane, at_ms)
            if kind == "FaultInjected" and line.get("action") == "observe":
                if line.get("api") in _HEARTBEATS:
                    lane.marks.add(at_ms, "heartbeat")
                    if lane.in_group:
                        lane.signs.append(at_ms)
            else:
                lane.marks.add(at_ms, "fault")

    def _replicas(self, line: Line) -> None:
        """Where a partition is and goes."""
        for seen in self.reassignments.follow([line]):
            if seen["type"] in ("TopicCreated", "PartitionsAdded"):
                placed = (
                    [] if seen["type"] == "TopicCreated" else self._placed.get(seen["topic"], [])
                )
                self._placed[seen["topic"]] = [*placed, *seen.get("replicas", ())]
                for picture in self.groups.values():
                    picture.raster.grow(seen["topic"], seen.get("added", ()), seen["at_ms"])
            elif "partition_epoch" in seen and "replicas" in seen:
                self._moved(seen)

    def _moved(self, line: Line) -> None:
        key = topic, number = line["topic"], line["partition"]
        track = self.replicas.get(key)
        if track is None:
            if line["type"] != "ReassignmentStarted":
                return
            placed = self._placed.get(topic, [])
            there = (
                placed[number]
                if number < len(placed)
                else [each for each in line["replicas"] if each not in line["adding"]]
            )
            track = self.replicas[key] = Track()
            track.set(Replicas(tuple(there), tuple(there), (), (), (), line["leader_id"]), 0)
        replicas, adding, removing, isr = (
            tuple(line[name]) for name in ("replicas", "adding", "removing", "isr")
        )
        original = (
            track.value.original if track.value is not None and (adding or removing) else replicas
        )
        track.set(
            Replicas(original, replicas, adding, removing, isr, line["leader_id"]), line["at_ms"]
        )


def _is_step(line: Line) -> bool:
    """True if a reader steps through it: not what a run always begins with."""
    if line["type"] in _RECORDS or (
        line["type"] in _OBSERVED and str(line.get("fault", "")).endswith(": observe")
    ):
        return False
    if line["stream"] in ("run", "coordinator"):
        return line["type"] != "RunStarted" and int(line["at_ms"]) > 0
    return line["stream"] != "data" and not (
        line["stream"] == "cluster" and line.get("topic", "").startswith("__")
    )


def _keys(partitions: Partitions) -> frozenset[Key]:
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)


def _consumer_epoch(picture: GroupPicture, line: Line) -> None:
    lane = picture.known(line)
    if lane is not None:
        lane.epoch.set(line["member_epoch"], line["at_ms"])


def _targets(picture: GroupPicture, line: Line) -> None:
    if line.get("assignor"):
        picture.assignor.set(printable(line["assignor"]), line["at_ms"])
    for row in line["targets"]:
        for topic in by_topic(row["topics"]):
            picture.raster.want(topic, line["at_ms"])


_EPOCHS: Final[dict[str, Callable[[GroupPicture, Line], None]]] = {
    "ConsumerMemberReconciled": _consumer_epoch,
    "TargetAssigned": _targets,
}
_MARKS: Final = {
    "MemberRemoved": "removed",
    "ConsumerMemberRemoved": "removed",
    "ShareMemberRemoved": "removed",
    "MemberPending": "pending",
    "LeaderElected": "elected",
}
_TOLD: Final = {
    "PartitionsAssigned": "assigned",
    "PartitionsRevoked": "revoked",
    "PartitionsLost": "lost",
    "MemberStarted": "started",
    "MemberClosing": "closing",
    "MemberClosed": "closed",
    "MemberCrashed": "crashed",
    "ApplicationStalled": "stalled",
    "ApplicationResumed": "resumed",
    "MemberFailed": "failed",
}
