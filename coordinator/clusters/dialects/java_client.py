"""Lines of Java's consumers, of any layout: `ConsumerCoordinator` and `AbstractCoordinator` of the
classic protocol (also inside Connect and Streams), and KIP-848's `ConsumerMembershipManager`."""

from __future__ import annotations

import re

from ..facts import (
    Assigned,
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientJoining,
    ClientLeaving,
    ClientMember,
    ClientPollExpired,
    ClientRemoved,
    ClientSubscribed,
    CommitRefused,
    CoordinatorLost,
    Fact,
    ProducerFenced,
    ProtocolRefused,
    SessionTimedOut,
)
from ..lines.patterns import none_of

NAME = "java-client"
POLLS_AGAIN = (
    "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms"
)
"""KIP-848's consumer says so when it polls again; when its time was over it has said so in other words."""
_PRODUCER = re.compile(
    r"\[Producer clientId=(?P<client>[^,\]]*)(?:, transactionalId=(?P<id>[^\]]*))?\] "
)
_PRODUCER_FENCED = ("ProducerFencedException", "InvalidProducerEpochException", "PRODUCER_FENCED")
_SUBSCRIBED = re.compile(r"Subscribed to (?:topic\(s\)|pattern): (?P<topics>.{1,4000})")
_WHO = re.compile(
    r"\[(?P<kind>Consumer|Worker|ShareConsumer) (?:instanceId=(?P<instance>[^,\]]+), "
    r")?clientId=(?P<client>[^,\]]*)(?:, groupId=(?P<group>[^\]]*))?\] "
)
_GENERATION = re.compile(
    r"Successfully joined group with generation (?:Generation\{generationId=)?(?P<n>\d{1,10})(?:, memberId='(?P<member>[^']*)')?"
)
_JOINING = re.compile(r"(?:Request joining group due to: |\(Re-\)joining group due to )(?P<why>.*)")
_LEAVING = re.compile(
    r"(?:Member (?P<member>\S+) sending|Sending) LeaveGroup request to coordinator [^)]*\)(?: due to (?P<why>.*))?"
)
_FINISHED = re.compile(
    r"Finished assignment for group at generation (?P<n>\d{1,10}): \{(?P<plan>.*)"
)
_MEMBER_OF_PLAN = re.compile(
    r"(?P<member>[^\s=,{}]{1,400})=Assignment\((?:partitions=\[(?P<partitions>[^\]]*)\])?"
)
_MOVED = re.compile(
    r"Member (?P<member>\S+) with epoch (?P<n>-?\d{1,10}) transitioned from (?P<old>\w+) to (?P<new>\w+)"
)
_INTERVAL = re.compile(r"max\.poll\.interval\.ms\W{1,4}(\d{1,12})")


def read(text: str) -> tuple[bool, list[Fact]]:
    """Return whether a message that begins at an anchor is understood, and its facts."""
    who = _WHO.match(text)
    if who is None:
        return _read_producer(text)
    client, group = who["client"], who["group"] or None
    message = text[who.end() :]
    fact = _fact(client, group, none_of(who["instance"]), message)
    return fact is not None or message.startswith(_PASSED), [fact] if fact is not None else []


def _read_producer(text: str) -> tuple[bool, list[Fact]]:
    who = _PRODUCER.match(text)
    if who is None:
        return False, []
    message = text[who.end() :]
    if who["id"] and any(word in message for word in _PRODUCER_FENCED):
        return True, [ProducerFenced(who["client"], None, who["id"])]
    return message.startswith(("ProducerId set to", "Transiting to", "Invoking InitProducerId")), []


_PASSED = (
    "A group authorization error",
    "Adding newly assigned",
    "An authentication error occurred in the heartbeat thread",
    "Assigned tasks with local epoch",
    "Assigning active tasks",
    "Attempt to send LeaveGroup",
    "Attempt to heartbeat with",
    "Attempt to join group",
    "Auto-commit of offsets",
    "Auto-commit request before reconciling",
    "Broker requested topology description push",
    "JoinGroup failed",
    "Joined group at generation",
    "Rebalance started",
    "Rebalance failed",
    "SyncGroup failed",
    "Unsubscribe",
    "Member ",
    "Attempt to heartbeat failed since group is rebalancing",
    "Close timed out with",
    "Cluster ID",
    "Consumer group ",
    "ConsumerGroupHeartbeatRequest ",
    "Discovered group coordinator",
    "Dynamic member ",
    "Failing all unsent commit requests",
    "Failing OffsetCommit request",
    "Finished assignment for group",
    "Found no committed offset",
    "Generation data was cleared by heartbeat thread",
    "Giving away all assigned partitions as lost",
    "Group coordinator lookup failed",
    "Heartbeat thread failed",
    "Interrupted while waiting for consumer heartbeat thread",
    "Invalid offset",
    "Leaving newly assigned partitions",
    "Lost previously assigned partitions",
    "Membership is in the following",
    "No action taken to join the group",
    "Not authorized to commit",
    "Notifying assignor about the new",
    "Received Streams group configuration",
    "Reconciliation failed",
    "Resetting generation",
    "Resetting offset for partition",
    "Revok",
    "ShareGroupHeartbeatRequest ",
    "StreamsGroupHeartbeatRequest ",
    "Task revocation callback",
    "Unexpected error handling response",
    "Unexpected interrupt received in heartbeat thread",
    "With the COOPERATIVE protocol",
    "need to re-join",
    "still waiting to ensure active group",
    "Setting newly assigned partitions",
    "Setting offset for partition",
    "Subscribed to",
    "Successfully synced group",
    "Unsubscribed all topics",
    "Updating assignment with",
    "Asynchronous auto-commit of offsets",
    "Consumer has been disconnected from the group coordinator",
    "FindCoordinator request",
    "Heartbeat to leave group cannot be sent",
    "Interrupting reconciliation",
    "LeaveGroup request with",
    "Offset commit",
    "OffsetCommit ",
    "OffsetFetch ",
    "Reconciling assignment with local epoch",
    "Requesting disconnect from last known coordinator",
    "Skipped assignment for returning static leader",
    "Synchronous auto-commit of offsets",
    "The following ",
    "The on",
    "The pause flag in partitions",
    "User provided listener",
    "onAllTasksLost callback",
    "onPartitions",
    "onTasksRevoked callback",
)


def _fact(client: str, group: str | None, instance: str | None, text: str) -> Fact | None:
    return _joining(client, group, text) or _trouble(client, group, instance, text)


def _joining(client: str, group: str | None, text: str) -> Fact | None:
    found = _GENERATION.match(text)
    if found:
        return ClientJoined(client, group, found["member"] or None, int(found["n"]))
    found = _JOINING.match(text)
    if found:
        return ClientAsked(client, group, found["why"])
    if text.startswith("(Re-)joining group"):
        return ClientJoining(client, group)
    found = _LEAVING.match(text)
    if found:
        return ClientLeaving(client, group, found["member"], found["why"] or "")
    found = _FINISHED.match(text)
    if found:
        plan = [
            (one["member"], one["partitions"].count(",") + 1 if one["partitions"] else 0)
            for one in _MEMBER_OF_PLAN.finditer(found["plan"])
        ]
        return Assigned(
            client,
            group,
            int(found["n"]),
            tuple(member for member, _ in plan),
            tuple(member for member, count in plan if not count),
            max((count for _, count in plan), default=None),
        )
    found = _SUBSCRIBED.match(text)
    if found:
        return ClientSubscribed(client, group, found["topics"])
    found = _MOVED.match(text)
    epoch = int(found["n"]) if found and int(found["n"]) > 0 else None
    if found and found["new"] in ("PREPARE_LEAVING", "LEAVING"):
        return ClientLeaving(client, group, found["member"], "", epoch)
    if found and found["new"] == "JOINING" and found["old"] == "UNSUBSCRIBED":
        return ClientMember(client, group, found["member"])
    if found and found["new"] == "FENCED":
        return ClientRemoved(client, group, "fenced", epoch)
    if found and found["new"] in ("RECONCILING", "STABLE") and epoch is not None:
        return ClientJoined(client, group, found["member"], epoch)
    return None


def _trouble(client: str, group: str | None, instance: str | None, text: str) -> Fact | None:
    if "supported protocols are incompatible" in text or "INCONSISTENT_GROUP_PROTOCOL" in text:
        return ProtocolRefused(client, group)
    if text.startswith(_POLL_EXPIRED):
        interval = _INTERVAL.search(text[:2000])
        return ClientPollExpired(client, group, int(interval[1]) if interval else None)
    if any(word in text for word in _FENCED):
        return ClientFenced(client, group, instance)
    if "UNKNOWN_MEMBER_ID" in text or (
        text.startswith("Attempt to heartbeat failed") and "not valid" in text
    ):
        return ClientRemoved(client, group, "UNKNOWN_MEMBER_ID")
    reset = _RESET.match(text)
    if reset:
        return ClientRemoved(client, group, reset["error"])
    if text.startswith(_IN_NONE):
        return CommitRefused(client, group, joining=True)
    if text.startswith(_COMMITS) and any(words in text for words in _LOST):
        return CommitRefused(client, group)
    if text.startswith("Group coordinator ") and "unavailable or invalid" in text:
        if "session timed out without receiving a heartbeat response" in text:
            return SessionTimedOut(client, group, None)
        return CoordinatorLost(client, group, text.partition("due to cause: ")[2])
    return None


_POLL_EXPIRED = (
    "Consumer poll timeout has expired",
    "consumer poll timeout has expired",
    "This member will leave the group because consumer poll timeout has expired",
    POLLS_AGAIN,
)
_FENCED = (
    "FENCED_INSTANCE_ID",
    "FencedInstanceIdException",
    "group.instance.id gets fenced",
    "Caught fenced group.instance.id ",
    " failed due to fenced instance id ",
    " failed due to unreleased instance id ",
    "StreamsGroupHeartbeatRequest failed because instance id ",
)
_RESET = re.compile(
    r"Attempt to heartbeat with .{1,600} failed due to (?P<error>[A-Z_]{4,40}), resetting generation"
)
_IN_NONE = "Failing OffsetCommit request since the consumer is not part of an active group"
"""A client writes so while it joins, too: a rebalance is under way then, and nothing was lost."""
_COMMITS = (
    "Offset commit ",
    "OffsetCommit ",
    "Asynchronous auto-commit of offsets",
    "Synchronous auto-commit of offsets",
    "Auto-commit of offsets",
    "Auto offset commit failed",
)
_LOST = (
    "not aware of this member",
    "ommit cannot be completed since the group has already rebalanced",
    "ommit cannot be completed since the consumer is not part of an active group",
)
