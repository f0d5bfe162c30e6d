"""Log lines of Kafka's group coordinator about classic groups, from an event log: in the words of
the Scala coordinator before Kafka 4, in those of the Java coordinator from 4.0 on.

Tests compare wording and order with recorded logs of real brokers (tests/clusters/stories). It
reads events only; it must know neither the coordinator that wrote them nor the readers in this
room. A value that no event has, such as a client's reason for rejoining, is written as brokers
write it for clients that give none: "not provided". Groups with epochs are in `kafka_lines`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from coordinator.base.java_hash import coordinator_partition
from coordinator.events import groups as ev
from coordinator.events.handlers import Reader, on
from coordinator.events.line import Line

_SCALA = "kafka.coordinator.group.GroupCoordinator"
_JAVA = "org.apache.kafka.coordinator.group.GroupMetadataManager"
_NO_REASON = "not provided"
EXPIRED = (ev.Removal.SESSION_EXPIRED, ev.Removal.ENDED_BY_HAND, ev.Removal.NEVER_JOINED)


class MemberLines(NamedTuple):
    instance: str | None
    client: str
    host: str
    session_ms: int
    rebalance_ms: int
    protocols: tuple[str, ...]


@dataclass
class GroupLines:
    """State of a group that its lines depend on."""

    name: str
    state: str = "Empty"
    generation: int = 0
    members: dict[str, MemberLines] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    leader: str | None = None
    trigger: str = ""
    after_trigger: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)
    unjoined: list[str] = field(default_factory=list)
    topics: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    instances: dict[str, str | None] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    timeouts: dict[str, int] = field(default_factory=dict)
    metadata_hash: int | None = None
    silent_epoch: bool = False


class ClassicLines(Reader):
    """Folds lines of an event log into a broker's lines, group by group.

    `release`: the number of the Kafka release whose words are wanted, such as "4.3.1". `epoch_ms`: the wall
    clock of the event log's zero. `partitions`: of __consumer_offsets. `broker`: the id of the broker where
    the event log names none.
    """

    def __init__(
        self, release: str, *, epoch_ms: int = 0, partitions: int = 50, broker: int = 1
    ) -> None:
        numbers = release.split(".")
        self.release = (int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0)
        self.java = self.release >= (4, 0)
        self.epoch_ms = epoch_ms
        self.partitions = partitions
        self.broker = broker
        self.groups: dict[tuple[str, int | None], GroupLines] = {}
        self._newest: dict[str, GroupLines] = {}
        self._texts: list[str] = []

    def lines(self, line: Line) -> list[str]:
        """Return a broker's lines for one line of an event log; for most lines none."""
        self._texts = []
        self.see(line)
        return [self._line(line, text) for text in self._texts]

    def _of(self, line: Line) -> GroupLines:
        """Return the group as the line's broker knows it; a broker that is cut off keeps its own
        state."""
        key = line.group or "", line.broker
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = GroupLines(key[0])
        self._newest[key[0]] = group
        return group

    def _say(self, *texts: str) -> None:
        self._texts.extend(texts)

    def _line(self, line: Line, text: str) -> str:
        moment = datetime.fromtimestamp((self.epoch_ms + line.at_ms) // 1000, UTC)
        stamp = f"{moment:%Y-%m-%d %H:%M:%S},{(self.epoch_ms + line.at_ms) % 1000:03d}"
        broker = line.broker if line.broker is not None else self.broker
        group = line.group or ""
        # Before Kafka 4 only the Java coordinator had groups with epochs.
        if self.java or text.startswith("[Group"):
            number = coordinator_partition(group, self.partitions)
            context = f"[GroupCoordinator id={broker} topic=__consumer_offsets partition={number}]"
            return f"[{stamp}] INFO {context} {text} ({_JAVA})"
        return f"[{stamp}] INFO [GroupCoordinator {broker}]: {text} ({_SCALA})"

    # -- the classic protocol

    @on(ev.GroupDeleted)
    def _deleted(self, line: Line, event: ev.GroupDeleted) -> None:
        self.groups.pop((line.group or "", line.broker), None)
        self._newest.pop(line.group or "", None)

    @on(ev.MemberPending)
    def _pending(self, line: Line, event: ev.MemberPending) -> None:
        group = self._of(line)
        group.pending.add(event.member_id)
        tail = "requesting the member to rejoin" if self.java else "request the member to rejoin"
        self._say(
            f"Dynamic member with unknown member id joins group {group.name} in {group.state} state. Created a new member id "
            f"{event.member_id} and {tail} with this id."
        )

    @on(ev.PendingMemberRemoved)
    def _pending_removed(self, line: Line, event: ev.PendingMemberRemoved) -> None:
        group = self._of(line)
        group.pending.discard(event.member_id)
        self._say(*self._pending_gone(group, event.member_id, event.reason))

    @on(ev.MemberJoined)
    def _member_joined(self, line: Line, event: ev.MemberJoined) -> None:
        self._say(*self._joined(self._of(line), event))

    @on(ev.MemberRejoined)
    def _rejoined(self, line: Line, event: ev.MemberRejoined) -> None:
        group, member = self._of(line), event.member_id
        known = group.members.get(member)
        if known is not None:
            group.members[member] = known._replace(
                session_ms=event.session_timeout_ms,
                rebalance_ms=event.rebalance_timeout_ms,
                protocols=tuple(one[0] for one in event.protocols),
            )
        if member == group.leader and group.state == "Stable":
            group.trigger = (
                f"Leader {member} re-joining group during Stable; client reason: {_NO_REASON}"
            )
        elif event.changed:
            group.trigger = f"Updating metadata for member {member} during {group.state}; client reason: {_NO_REASON}"

    @on(ev.MemberReplaced)
    def _member_replaced(self, line: Line, event: ev.MemberReplaced) -> None:
        self._say(*self._replaced(self._of(line), event))

    @on(ev.MemberRemoved)
    def _member_removed(self, line: Line, event: ev.MemberRemoved) -> None:
        group = self._of(line)
        group.leader = event.leader
        self._say(*self._removed(group, event.member_id, event.reason, event.detail))

    @on(ev.LeaderElected)
    def _leader_elected(self, line: Line, event: ev.LeaderElected) -> None:
        group = self._of(line)
        former, group.leader = group.leader, event.member_id
        self._say(self._elected(group, former, event.member_id))

    @on(ev.RebalanceStarted)
    def _rebalance_started(self, line: Line, event: ev.RebalanceStarted) -> None:
        self._say(*self._begun(self._of(line)))

    @on(ev.GenerationStarted)
    def _generation_started(self, line: Line, event: ev.GenerationStarted) -> None:
        group = self._of(line)
        self._say(
            *self._departures(group),
            *self._unjoined(group),
            f"Stabilized group {group.name} generation {event.generation}{self._place(group)} with {len(event.members)} members{self._dot}",
        )
        group.state, group.generation, group.leader = (
            "CompletingRebalance",
            event.generation,
            event.leader,
        )

    @on(ev.GroupEmptied)
    def _group_emptied(self, line: Line, event: ev.GroupEmptied) -> None:
        group = self._of(line)
        group.state, group.generation = "Empty", event.generation
        self._say(
            *self._departures(group),
            *self._unjoined(group),
            f"Group {group.name} with generation {event.generation} is now empty{self._place(group)}{self._dot}",
        )

    @on(ev.GenerationStored)
    def _generation_stored(self, line: Line, event: ev.GenerationStored) -> None:
        self._say(*self._stored(self._of(line), event.generation, event.leader, event.members))

    @on(ev.GroupLoaded)
    def _group_loaded(self, line: Line, event: ev.GroupLoaded) -> None:
        former = self._newest.get(line.group or "")
        group = self._of(line)
        if former is not None and former is not group:
            group.members, group.leader = dict(former.members), former.leader
            group.topics, group.instances = dict(former.topics), dict(former.instances)
            group.metadata_hash = former.metadata_hash
        self._say(*self._loaded(group, event.state, event.generation))

    @on(ev.GroupUnloaded)
    def _group_unloaded(self, line: Line, event: ev.GroupUnloaded) -> None:
        self._say(*self._unloaded(self._of(line)))

    @property
    def _dot(self) -> str:
        return "." if self.java else ""

    def _place(self, group: GroupLines) -> str:
        if self.java:
            return ""
        return f" (__consumer_offsets-{coordinator_partition(group.name, self.partitions)})"

    def _instance(self, instance: str | None) -> str:
        if self.java:
            return instance or "null"
        return f"Some({instance})" if instance else "None"

    def _pending_gone(self, group: GroupLines, member: str, reason: str) -> list[str]:
        if reason == ev.Removal.LEFT:
            if self.java:
                return [
                    (
                        f"[Group {group.name}] Pending member {member} has left group through explicit `LeaveGroup` request; client "
                        f"reason: {_NO_REASON}"
                    )
                ]
            return [
                f"Pending member with memberId={member} has left group {group.name} through explicit `LeaveGroup` request"
            ]
        if reason == ev.Removal.GROUP_FULL:
            return []
        return [
            f"Pending member {member} in group {group.name} has been removed after session timeout expiration."
        ]

    def _joined(self, group: GroupLines, event: ev.MemberJoined) -> list[str]:
        name, member, instance = group.name, event.member_id, event.group_instance_id
        group.members[member] = MemberLines(
            instance,
            event.client_id,
            event.client_host,
            event.session_timeout_ms,
            event.rebalance_timeout_ms,
            tuple(one[0] for one in event.protocols),
        )
        group.leader = event.leader
        texts: list[str] = []
        added = "added to the group" if self.java else "add to the group"
        if member in group.pending:
            group.pending.discard(member)
            if self.java:
                texts.append(
                    f"Pending dynamic member with id {member} joins group {name} in {group.state} state. Adding to the group now."
                )
        elif instance is not None:
            texts.append(
                f"Static member with groupInstanceId={instance} and unknown member id joins group {name} in {group.state} state. "
                f"Created a new member id {member} for this member and {added}."
            )
        elif self.java:
            texts.append(
                f"Dynamic member with unknown member id joins group {name} in state {group.state}. Created a new member id {member} "
                "and added the member to the group."
            )
        else:
            texts.append(
                f"Dynamic Member with unknown member id joins group {name} in {group.state} state. Created a new member id {member} "
                "for this member and add to the group."
            )
        group.trigger = f"Adding new member {member} with group instance id {self._instance(instance)}; client reason: {_NO_REASON}"
        return texts

    def _replaced(self, group: GroupLines, event: ev.MemberReplaced) -> list[str]:
        known = group.members.pop(event.replaced, None)
        group.members[event.member_id] = MemberLines(
            event.group_instance_id,
            known.client if known else "",
            known.host if known else "",
            event.session_timeout_ms,
            event.rebalance_timeout_ms,
            tuple(one[0] for one in event.protocols),
        )
        group.leader = event.leader
        texts = [
            (
                f"Static member with groupInstanceId={event.group_instance_id} and unknown member id joins group {group.name} in "
                f"{group.state} state. Replacing previously mapped member {event.replaced} with this groupInstanceId."
            )
        ]
        if not event.parked:
            texts.append(
                "Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance."
                if self.java
                else "Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance."
            )
        elif group.state == "Stable":
            group.trigger = (
                f"Updating metadata for static member {event.member_id} with instance id {event.group_instance_id}; "
                f"client reason: {_NO_REASON}"
            )
        return texts

    def _removed(
        self, group: GroupLines, member: str, reason: str, detail: str | None
    ) -> list[str]:
        known = group.members.pop(member, None)
        if reason == ev.Removal.LEFT:
            return self._left(group, member, known, detail or _NO_REASON)
        if reason in EXPIRED:
            group.trigger = f"removing member {member} on heartbeat expiration{self._dot}"
            return [
                f"Member {member} in group {group.name} has failed, removing it from the group{self._dot}"
            ]
        if reason == ev.Removal.DID_NOT_REJOIN:
            group.unjoined.append(member)
        elif reason == ev.Removal.DID_NOT_SYNC:
            gone = f"[{member}]" if self.java else f"HashSet({member})"
            group.trigger = f"Removing {gone} on pending sync request expiration"
        return []

    def _left(
        self, group: GroupLines, member: str, known: MemberLines | None, why: str
    ) -> list[str]:
        if self.java:
            group.leaving.append(member)
            group.trigger = (
                f"explicit `LeaveGroup` request for ({', '.join(group.leaving)}) members."
            )
            return [
                f"[Group {group.name}] Member {member} has left group through explicit `LeaveGroup` request; client reason: {why}"
            ]
        group.trigger = f"Removing member {member} on LeaveGroup; client reason: {why}"
        told = known or MemberLines(None, "", "", 0, 0, ())
        text = (
            f"Member MemberMetadata(memberId={member}, groupInstanceId={self._instance(told.instance)}, clientId={told.client}, "
            f"clientHost={told.host}, sessionTimeoutMs={told.session_ms}, rebalanceTimeoutMs={told.rebalance_ms}, "
            f"supportedProtocols=List({', '.join(told.protocols)})) has left group {group.name} through explicit `LeaveGroup`; "
            f"client reason: {why}"
        )
        if group.state not in ("Stable", "CompletingRebalance"):
            return [text]
        group.after_trigger.append(text)  # the Scala coordinator tells of the rebalance first
        return []

    def _departures(self, group: GroupLines) -> list[str]:
        texts, group.after_trigger = group.after_trigger, []
        group.leaving = []
        return texts

    def _unjoined(self, group: GroupLines) -> list[str]:
        gone, group.unjoined = group.unjoined, []
        if not gone:
            return []
        shown = f"[{', '.join(gone)}]" if self.java else f"Set({', '.join(gone)})"
        return [f"Group {group.name} removed dynamic members who haven't joined: {shown}"]

    def _elected(self, group: GroupLines, former: str | None, member: str) -> str:
        known = group.members.get(former or "")
        instance = self._instance(known.instance if known else None)
        if self.java:
            return (
                f"Group leader [memberId: {former}, groupInstanceId: {instance}] failed to join before the rebalance timeout. "
                f"Member {member} was elected as the new leader."
            )
        return (
            f"Group leader [member.id: {former}, group.instance.id: {instance}] failed to join before rebalance timeout, "
            f"while new leader {member} was elected."
        )

    def _begun(self, group: GroupLines) -> list[str]:
        trigger, group.trigger = group.trigger, ""
        text = (
            f"Preparing to rebalance group {group.name} in state PreparingRebalance with old generation {group.generation}"
            f"{self._place(group)} (reason: {trigger}){self._dot}"
        )
        group.state = "PreparingRebalance"
        return [text, *self._departures(group)]

    def _stored(
        self,
        group: GroupLines,
        generation: int,
        leader: str | None,
        members: Sequence[ev.StoredMember],
    ) -> list[str]:
        synced = group.state == "CompletingRebalance"
        group.state = "Stable"
        if not synced:
            return []
        static = sum(member.group_instance_id is not None for member in members)
        return [
            (
                f"Assignment received from leader {leader} for group {group.name} for generation {generation}. The group has "
                f"{len(members)} members, {static} of which are static."
            )
        ]

    def _loaded(self, group: GroupLines, state: str, generation: int) -> list[str]:
        group.state, group.generation = state, generation
        if self.java:
            return [f"Loaded classic group {group.name} with {len(group.members)} members."]
        return [f"Loading group metadata for {group.name} with generation {generation}"]

    def _unloaded(self, group: GroupLines) -> list[str]:
        if self.java:
            return [
                f"[GroupId={group.name}] Unloading group metadata for generation {group.generation}."
            ]
        return [f"Unloading group metadata for {group.name} with generation {group.generation}"]
