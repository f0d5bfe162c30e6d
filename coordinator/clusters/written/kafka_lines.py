"""Log lines of Kafka's group coordinator from an event log: those about KIP-848 and share groups
and, with `kafka_classic_lines`, about all groups."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator.events import groups as ev
from coordinator.events.groups import consumer as k8
from coordinator.events.groups import share as sh
from coordinator.events.handlers import on
from coordinator.events.line import Line

from .kafka_classic_lines import EXPIRED, ClassicLines, GroupLines, MemberLines


class KafkaLines(ClassicLines):
    """Folds lines of an event log into a broker's lines; see `ClassicLines`."""

    @on(k8.ConsumerGroupCreated)
    def _created(self, line: Line, event: k8.ConsumerGroupCreated) -> None:
        if event.replaced_classic:
            self._say(
                f"[GroupId {line.group}] Converted the empty classic group to a consumer group."
            )

    @on(k8.ConsumerGroupUpgraded)
    def _upgraded(self, line: Line, event: k8.ConsumerGroupUpgraded) -> None:
        group = self._of(line)
        group.generation, group.metadata_hash = event.group_epoch, event.metadata_hash
        self._say(f"[GroupId {group.name}] Converted the classic group to a consumer group.")

    @on(k8.MembershipReset)
    def _reset(self, line: Line, event: k8.MembershipReset) -> None:
        self.groups.pop((line.group or "", line.broker), None)
        self._say(f"[GroupId {line.group}] Converted the empty consumer group to a classic group.")

    @on(k8.ConsumerGroupDowngraded)
    def _group_downgraded(self, line: Line, event: k8.ConsumerGroupDowngraded) -> None:
        self._say(*self._downgraded(self._of(line), event))

    @on(k8.ConsumerMemberSubscribed)
    def _member_subscribed(self, line: Line, event: k8.ConsumerMemberSubscribed) -> None:
        self._say(*self._subscribed(self._of(line), event))

    @on(k8.ConsumerMemberReplaced)
    def _consumer_replaced(self, line: Line, event: k8.ConsumerMemberReplaced) -> None:
        group, new = self._of(line), event.subscription
        group.instances[event.member_id] = new.group_instance_id
        group.instances.pop(event.replaced, None)
        group.topics[event.member_id] = group.topics.pop(
            event.replaced, (new.topics, new.topic_regex)
        )
        self._say(
            f"[GroupId {group.name}] Static member with instance id {new.group_instance_id} re-joins the consumer group using the "
            f"{'classic' if new.classic else 'consumer'} protocol. Created a new member {event.member_id} to replace the existing "
            f"member {event.replaced}."
        )

    @on(k8.ConsumerMemberRemoved)
    def _consumer_removed(self, line: Line, event: k8.ConsumerMemberRemoved) -> None:
        self._say(*self._consumer_gone(self._of(line), event.member_id, event.reason))

    @on(k8.ConsumerMemberReconciled)
    def _reconciled(self, line: Line, event: k8.ConsumerMemberReconciled) -> None:
        group, member = self._of(line), event.member_id
        group.epochs[member] = event.member_epoch
        if event.member_epoch == -2 and group.instances.get(member):
            self._say(
                f"[GroupId {group.name}] Static member {member} with instance id {group.instances[member]} temporarily left the "
                "consumer group."
            )

    @on(k8.GroupEpochBumped)
    def _epoch_bumped(self, line: Line, event: k8.GroupEpochBumped) -> None:
        self._say(*self._bumped(self._of(line), event.group_epoch, event.metadata_hash))

    @on(k8.TargetAssigned, sh.ShareTargetAssigned)
    def _target(self, line: Line, event: k8.TargetAssigned | sh.ShareTargetAssigned) -> None:
        self._say(*self._targeted(self._of(line), event.assignment_epoch, event.assignor))

    @on(sh.ShareMemberSubscribed)
    def _share_subscribed(self, line: Line, event: sh.ShareMemberSubscribed) -> None:
        group, member = self._of(line), event.member_id
        told = f"[GroupId {group.name}] Member {member} "
        before = group.topics.get(member)
        group.topics[member] = event.topics, ""
        if before is None:
            self._say(f"{told}joins the share group using the share protocol.")
        elif before[0] != event.topics:
            self._say(f"{told}updated its subscribed topics to: [{', '.join(event.topics)}].")

    @on(sh.ShareMemberRemoved)
    def _share_removed(self, line: Line, event: sh.ShareMemberRemoved) -> None:
        group = self._of(line)
        told = f"[GroupId {group.name}] Member {event.member_id} "
        group.topics.pop(event.member_id, None)
        group.silent_epoch = True  # brokers log no epoch for it
        if event.reason == ev.Removal.LEFT:
            self._say(f"{told}left the share group.")
        else:
            self._say(f"{told}fenced from the group because the member session expired.")

    @on(sh.ShareGroupEpochBumped)
    def _share_bumped(self, line: Line, event: sh.ShareGroupEpochBumped) -> None:
        group = self._of(line)
        silent, group.silent_epoch = group.silent_epoch, False
        if silent:
            group.generation, group.metadata_hash = event.group_epoch, event.metadata_hash
        else:
            self._say(*self._bumped(group, event.group_epoch, event.metadata_hash))

    def _downgraded(self, group: GroupLines, event: k8.ConsumerGroupDowngraded) -> list[str]:
        texts: list[str] = []
        for member in event.left:
            texts += self._consumer_gone(group, member, event.reason)
        group.state, group.generation, group.leader = "Stable", event.generation, event.leader
        group.members = {
            member.member_id: MemberLines(
                member.group_instance_id,
                member.client_id,
                member.client_host,
                member.session_timeout_ms,
                member.rebalance_timeout_ms,
                tuple(one[0] for one in member.protocols),
            )
            for member in event.members
        }
        return [*texts, f"[GroupId {group.name}] Converted the consumer group to a classic group."]

    def _subscribed(self, group: GroupLines, event: k8.ConsumerMemberSubscribed) -> list[str]:
        told, member = f"[GroupId {group.name}] ", event.member_id
        now = (event.topics, event.topic_regex)
        before = group.topics.get(member)
        group.topics[member] = now
        group.instances[member] = event.group_instance_id
        group.timeouts[member] = event.rebalance_timeout_ms
        protocol = "classic" if event.classic else "consumer"
        if before is None:
            if event.group_instance_id:
                return [
                    (
                        f"{told}Static member {member} with instance id {event.group_instance_id} joins the consumer group using the "
                        f"{protocol} protocol."
                    )
                ]
            return [
                f"{told}Member {member} joins the consumer group using the {protocol} protocol."
            ]
        if before[0] != now[0]:
            return [
                f"{told}Member {member} updated its subscribed topics to: [{', '.join(event.topics)}]."
            ]
        if before[1] != now[1]:
            return [f"{told}Member {member} updated its subscribed regex to: {event.topic_regex}."]
        return []

    def _consumer_gone(self, group: GroupLines, member: str, reason: str) -> list[str]:
        told = f"[GroupId {group.name}] "
        instance = group.instances.pop(member, None)
        group.topics.pop(member, None)
        epoch, timeout = group.epochs.pop(member, 0), group.timeouts.pop(member, 0)
        if reason == ev.Removal.LEFT:
            if instance:
                return [
                    f"{told}Static member {member} with instance id {instance} left the consumer group."
                ]
            return [f"{told}Member {member} left the consumer group."]
        if reason in EXPIRED:
            return [
                f"{told}Member {member} fenced from the group because the member session expired."
            ]
        if reason == ev.Removal.DID_NOT_REJOIN:
            return [
                f"{told}Member {member} fenced from the group because it failed to transition from epoch {epoch} within {timeout}ms."
            ]
        return []

    def _bumped(self, group: GroupLines, epoch: int, metadata_hash: int) -> list[str]:
        told = f"[GroupId {group.name}] "
        texts: list[str] = []
        before, group.metadata_hash, group.generation = group.metadata_hash, metadata_hash, epoch
        hashes = self.release >= (4, 1)
        if before is not None and before != metadata_hash:
            texts.append(
                f"{told}Computed new metadata hash: {metadata_hash}."
                if hashes
                else f"{told}Computed new subscription metadata: {{}}."
            )
        tail = f" with metadata hash {metadata_hash}" if hashes else ""
        return [*texts, f"{told}Bumped group epoch to {epoch}{tail}."]

    def _targeted(self, group: GroupLines, epoch: int, assignor: str | None) -> list[str]:
        if assignor is None:
            return []
        tail = "." if self.release >= (4, 1) else ": {}."
        return [
            f"[GroupId {group.name}] Computed a new target assignment for epoch {epoch} with '{assignor}' assignor in 0ms{tail}"
        ]


def kafka_lines(lines: Iterable[Line], release: str, *, epoch_ms: int = 0) -> list[str]:
    """Return a broker's lines for a whole event log."""
    writer = KafkaLines(release, epoch_ms=epoch_ms)
    return [text for line in lines for text in writer.lines(line)]
