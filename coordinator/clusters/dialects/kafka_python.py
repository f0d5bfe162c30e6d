"""Lines of kafka-python and of aiokafka, whose coordinators are of one family. They carry no client
id: the file or the pod stands for it, until a line names it."""

from __future__ import annotations

import re

from ..facts import (
    ClientAsked,
    ClientFenced,
    ClientJoined,
    ClientJoining,
    ClientLeaving,
    ClientPollExpired,
    ClientRemoved,
    CommitRefused,
    Fact,
    SessionTimedOut,
)

NAME = "kafka-python"
BARE = re.compile(
    r"\(Re-\)joining group \S|Successfully joined group (?:with generation )?\S{1,300} (?:with generation|<Generation) ?\d|"
    r"Joined group '\S{1,300}' \(generation |Heartbeat failed for group \S|Heartbeat poll expired, leaving|"
    r"Heartbeat session expired|Heartbeat(?: failed)?: local member_id |Marking the coordinator |Leaving consumer group|"
    r"Consumer poll timeout has expired\. This means the time between|"
    r"Elected group leader -- |Discovered coordinator |Attempt to heartbeat failed for group \S|"
    r"(?:Revoking previously|Setting newly) assigned partitions .{1,3000} for group \S"
)
"""Messages without the logger's name; Java's clients up to 1.0 log some of them too."""
OLD_JAVA = re.compile(r"(?:Abstract|Consumer)Coordinator\b|org\.apache\.kafka|o\.a\.k\.")
ANCHORS = ("kafka.coordinator", "aiokafka.consumer.group_coordinator")
_JOINED = re.compile(
    r"(?:Successfully joined|Joined) group '?(?P<group>[^\s']+)'? "
    r"(?:<Generation |\(?with generation |\(generation )(?P<n>\d{1,10})"
    r"(?: \(member_id: (?P<member>[^,)]+)|\) with member_id (?P<also>\S+))?"
)
_IN_GROUP = re.compile(
    r"(?:(?:for|joining|join|of) |consumer |^)[Gg]roup '?\(?(?P<group>[^\s',()]*[^\s'.,:()])"
)
CLIENT = re.compile(r"\(client_id=(?P<client>[^\s)]{1,250})\)")
_SAYS = re.compile(
    r"[\w.]{1,100}[ :\-]{1,6}(?:(?:DEBUG|INFO|WARNING|ERROR)[ :\-]{1,6})?(?:\[[^\]]{1,100}\] ?)?"
)


def read(client: str, text: str) -> tuple[bool, list[Fact]]:
    """Return whether a message that begins with the logger's name is understood, and its facts."""
    behind = _SAYS.match(text)
    return told(client, text[behind.end() :] if behind else text)


def told(client: str, message: str) -> tuple[bool, list[Fact]]:
    """Return whether a message without its logger's name is understood, and its facts."""
    found = _IN_GROUP.search(message[:300])
    group = found["group"] if found else None
    joined = _JOINED.match(message)
    if joined:
        return True, [
            ClientJoined(
                client,
                joined["group"],
                joined["member"] or joined["also"] or None,
                int(joined["n"]),
            )
        ]
    if message.startswith(
        (
            "Heartbeat poll expired, leaving group",
            "consumer poll timeout has expired",
            "Consumer poll timeout has expired",
        )
    ):
        return True, [ClientPollExpired(client, group)]
    if (
        message.startswith("Heartbeat session expired")
        or "Heartbeat session expired" in message[:120]
    ):
        return True, [SessionTimedOut(client, group, None)]
    if message.startswith(("(Re-)joining group", "Joining group")):
        return True, [ClientJoining(client, group)]
    if message.startswith("Leaving consumer group"):
        return True, [ClientLeaving(client, group, None, "")]
    if "FencedInstanceId" in message or "fenced" in message.lower():
        return True, [ClientFenced(client, group, None)]
    if message.startswith(("LeaveGroup request succeeded", "LeaveGroup request for group")):
        return True, [ClientLeaving(client, group, None, "")]
    if message.startswith("OffsetCommit failed for group ") and "due to group error" in message:
        return True, [CommitRefused(client, group)]
    if message.startswith(_REFUSED) or (
        message.startswith("OffsetCommit ")
        and any(word in message for word in ("UnknownMember", "IllegalGeneration"))
    ):
        return True, [CommitRefused(client, group)]
    if message.startswith("Triggering follow-up rebalance"):
        return True, [ClientAsked(client, group, "need to revoke partitions and re-join")]
    if message.startswith("Metadata for topic has changed from"):
        return True, [ClientAsked(client, group, "cached metadata has changed")]
    if "is rebalancing" in message[:320]:
        return True, [ClientAsked(client, group, "group is already rebalancing")]
    if "UnknownMemberId" in message or any(word in message for word in _NOT_KNOWN):
        return True, [ClientRemoved(client, group, "UnknownMemberIdError")]
    return message.startswith(_PASSED), []


_NOT_KNOWN = (
    "local member_id was not recognized",
    "since member id is not valid",
    "failed due to unknown member id",
)
_REFUSED = (
    "Offset commit failed: group membership out of date",
    "Pre-rebalance offset commit failed: group membership",
    "Failing OffsetCommit request since the consumer is not part of an active group",
)
_PASSED = (
    "Assignment rejected: ",
    "Auto offset commit failed",
    "Broker version (",
    "Cooperative assignment rejected: ",
    "Error sending ",
    "Failed to commit on finallization",
    "Heartbeat failed: ",
    "Heartbeat send request failed",
    "JoinGroup for group ",
    "LeaveGroup request for member ",
    "LeaveGroup request failed",
    "Not authorized to commit",
    "Offset commit failed",
    "OffsetCommit ",
    "OffsetFetchRequest -- ",
    "Pre-rebalance offset commit failed",
    "Rebalance listener ",
    "Successfully joined group",
    "Unexpected error",
    "Unknown error fetching offsets",
    "User provided ",
    "group_id is None",
    "heartbeat_interval_ms is high",
    "Attempt to join group",
    "Cooperative pre-rebalance for group",
    "Cooperative rebalance complete for group",
    "Group ",
    "Received member id ",
    "Successfully synced group",
    "SyncGroup for group",
    "Discovered coordinator",
    "Elected group leader",
    "Heartbeat failed for group",
    "Group coordinator for",
    "Marking the coordinator dead",
    "Revoking previously assigned partitions",
    "Setting newly assigned partitions",
    "Updated partition assignment",
)
