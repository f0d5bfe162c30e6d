"""Lines of a broker's Scala coordinator (`kafka.coordinator.group`): Kafka up to 3.x, and 4.0's
predecessors with the classic coordinator."""

from __future__ import annotations

import re

from ..facts import (
    BecameEmpty,
    EmptyAssignment,
    Expired,
    Fact,
    Fenced,
    Joined,
    LeaderKnown,
    LeaderReplaced,
    Left,
    Loaded,
    MemberTimeouts,
    NotRejoined,
    Prepared,
    Replaced,
    Stabilized,
    Unloaded,
)
from ..lines.patterns import first_match, ignored, none_of, pattern

NAME = "kafka-broker-scala"
ANCHORS = ("[GroupCoordinator ", "[GroupMetadataManager brokerId=")
_BEHIND = re.compile(r"\[(?:GroupCoordinator \d{1,10}|GroupMetadataManager brokerId=\d{1,10})\]:? ")


def _left(found: re.Match[str]) -> Fact:
    return Left(
        found["group"], found["member"], found["why"] or "not provided", none_of(found["instance"])
    )


def reason_and_place(rest: str) -> str:
    """Return the reason of a line "Preparing to rebalance", without the parenthesis at its end."""
    return rest.rstrip().removesuffix(".").removesuffix(")")


def members_of(text: str) -> tuple[str, ...]:
    """Return the member ids in a printed collection, such as `a, b)` or `a=..., b=...}`."""
    text = text.strip().rstrip(".)]}")
    found: list[str] = []
    for part in text.split(", "):
        if part.startswith(("MemberMetadata(memberId=", "memberId=")):
            part = part.partition("memberId=")[2]
        elif "=" in part or "(" in part or ")" in part:
            continue
        if part:
            found.append(part)
    return tuple(found)


def timeouts(found: re.Match[str]) -> MemberTimeouts:
    """Return the timeouts of a member that a broker printed."""
    return MemberTimeouts(
        found["member"],
        found["client"],
        none_of(found["instance"]),
        int(found["session"]),
        int(found["rebalance"]),
    )


PENDING = "a pending member was never in the group"
AGAIN = "the line before it says the same: a new member id was made"
GENERATION = "the lines about the generation around it say the same"
REPLACED = "the line about the static member before it says the same"
COORDINATOR = "names no group, or one whose loading and unloading have lines of their own"
OFFSETS = "is about committed offsets, not about who is in the group"
EMPTY = "the group was empty before: that has a line of its own"
GONE = "the group is not here any more: that has a line of its own"
BUG = "a fault of the broker itself; its effect on the group has lines of its own"
APPEND = "the broker could not write; the rebalance that follows has lines of its own"
PARSE = "the members' bytes are not those of a consumer: nothing about who is in the group"

TABLE = (
    pattern(
        r"Preparing to rebalance group (?P<group>\S+) (?:in state \S+ )?with old generation "
        r"(?P<n>\d{1,10}) (?:\(__consumer_offsets-\d+\) )?(?:\(reason: (?P<reason>.*))?",
        lambda f: Prepared(f["group"], int(f["n"]), reason_and_place(f["reason"] or "")),
    ),
    pattern(
        r"Stabilized group (?P<group>\S+) generation (?P<n>\d{1,10})(?: "
        r"\(__consumer_offsets-\d+\))?(?: with (?P<members>\d{1,9}) members)?",
        lambda f: Stabilized(f["group"], int(f["n"]), int(f["members"]) if f["members"] else None),
    ),
    pattern(
        r"Group (?P<group>\S+) with generation (?P<n>\d{1,10}) is now empty",
        lambda f: BecameEmpty(f["group"], int(f["n"])),
    ),
    pattern(
        r"Member (?P<member>\S+) in group (?P<group>\S+) has failed",
        lambda f: Expired(f["group"], f["member"]),
    ),
    pattern(
        r"(?:Member )?MemberMetadata\(memberId=(?P<member>[^,]+), "
        r"groupInstanceId=(?P<instance>[^,]+), clientId=(?P<client>[^,]*), clientHost=[^,]*, "
        r"sessionTimeoutMs=(?P<session>\d{1,10}), rebalanceTimeoutMs=(?P<rebalance>\d{1,10}), "
        r"supportedProtocols=[^)]*\)+ has left group (?P<group>\S+) through explicit "
        r"`LeaveGroup`(?: request)?(?:; client reason: (?P<why>.*))?",
        _left,
    ),
    pattern(
        r"Member\[?(?: |group.instance.id )?(?P<instance>Some\([^)]*\)|None)?,? ?(?:member.id "
        r")?(?P<member>[^\s\]]+)\]? (?:in|has left) group (?P<group>\S+) (?:has left, removing it "
        r"from the group|through explicit `LeaveGroup`(?: request)?)(?:; client reason: "
        r"(?P<why>.*))?",
        _left,
    ),
    ignored(r"Pending member with memberId=\S+ has left group ", PENDING),
    pattern(
        r"Static member with groupInstanceId=(?P<instance>\S+) and unknown member id (?:re)?joins "
        r"group (?P<group>\S+) in (?P<state>\S+) state\. Replacing previously mapped member "
        r"(?P<former>\S+)",
        lambda f: Replaced(f["group"], f["instance"], None, f["former"]),
    ),
    pattern(
        r"Static member with groupInstanceId=(?P<instance>\S+) and unknown member id joins group "
        r"(?P<group>\S+) in (?P<state>\S+) state\. Created a new member id (?P<member>\S+)",
        lambda f: Joined(f["group"], f["member"], f["instance"], f["state"]),
    ),
    pattern(
        r"(?:Dynamic [Mm]ember|Member) with unknown member id (?:joins|rejoins) group "
        r"(?P<group>\S+) in (?:state )?(?P<state>[^\s.]+)(?: state)?\.? ?Created a new member id (?P<member>\S+)",
        lambda f: Joined(f["group"], f["member"], None, f["state"]),
    ),
    ignored(r"Pending dynamic member with id \S+ joins group ", AGAIN),
    ignored(r"Pending member \S+ in group \S+ has been removed", PENDING),
    pattern(
        r"Group (?P<group>\S+) removed dynamic members who haven't joined: (?:Set|HashSet|List|Map)?[(\[]?(?P<members>.*)",
        lambda f: NotRejoined(f["group"], members_of(f["members"])),
    ),
    pattern(
        r"Request memberId=(?P<member>\S+) for static member with groupInstanceId=(?P<instance>\S+) "
        r"is fenced by current memberId=(?P<by>\S+) during operation (?P<op>\S+)",
        lambda f: Fenced(None, f["instance"], f["member"], f["by"], f["op"]),
    ),
    pattern(
        r"Assignment received from leader (?P<member>\S+) for group (?P<group>\S+) for generation (?P<n>\d{1,10})",
        lambda f: LeaderKnown(f["group"], f["member"], int(f["n"])),
    ),
    ignored(r"Assignment received from leader for group ", GENERATION),
    pattern(
        r"Loading group metadata for (?P<group>\S+) with generation (?P<n>\d{1,10})",
        lambda f: Loaded(f["group"], int(f["n"])),
    ),
    pattern(
        r"Unloading group metadata for (?P<group>\S+) with generation (?P<n>\d{1,10})",
        lambda f: Unloaded(f["group"], int(f["n"])),
    ),
    pattern(
        r"Loaded member MemberMetadata\(memberId=(?P<member>[^,]+), "
        r"groupInstanceId=(?P<instance>[^,]+), clientId=(?P<client>[^,]*), clientHost=[^,]*, "
        r"sessionTimeoutMs=(?P<session>\d{1,10}), rebalanceTimeoutMs=(?P<rebalance>\d{1,10})",
        timeouts,
    ),
    ignored(
        r"Loaded member \S+ in group ", "the line about the group that is loaded says the same"
    ),
    pattern(
        r"Group leader \[member\.?[iI]d: (?P<member>[^,]+), [^\]]*\] failed to join before (?:the )?"
        r"rebalance timeout(?:, while new leader|\. Member) (?P<by>\S+) was elected",
        lambda f: LeaderReplaced(f["member"], f["by"]),
    ),
    pattern(
        r"Group leader \[member\.?[iI]d: (?P<member>[^,]+), [^\]]*\] failed to join before (?:the )?"
        r"rebalance timeout,? and the group couldn't proceed",
        lambda f: LeaderReplaced(f["member"], None),
    ),
    pattern(
        r"(?:Setting empty assignments for members .{0,20000}? of|"
        r"Sending empty assignment to member \S+ of) "
        r"(?P<group>\S+) for generation (?P<n>\d{1,10})",
        lambda f: EmptyAssignment(f["group"], int(f["n"])),
    ),
    ignored(r"Group \S+ could not complete rebalance because no members rejoined", GENERATION),
    ignored(r"Static member which joins during Stable stage", REPLACED),
    ignored(r"(?:Elected|Resigned) as the group coordinator for partition ", COORDINATOR),
    ignored(
        r"(?:Scheduling|Finished|Already|Not|Started|Ignored) (?:load|unload|removing offsets)",
        COORDINATOR,
    ),
    ignored(r"BrokerId \S+ is no longer a coordinator for the group ", COORDINATOR),
    ignored(r"Group \S+ has moved away from ", COORDINATOR),
    ignored(r"Attempted to load offsets and group metadata from ", COORDINATOR),
    ignored(r"Unknown message key with version ", COORDINATOR),
    ignored(r"Loaded offsets and group metadata from \S+ with buffer larger", COORDINATOR),
    ignored(r"Error loading offsets from ", COORDINATOR),
    ignored(r"Removed \d+ (?:expired )?offsets ", OFFSETS),
    ignored(r"The following (?:groups were deleted|offsets of the group )", OFFSETS),
    ignored(r"Creating simple consumer group \S+ via manual offset commit", OFFSETS),
    ignored(r"group: \S+ with leader: \S+ has received offset commits ", OFFSETS),
    ignored(r"Group \S+ transitioned to Dead in generation ", EMPTY),
    ignored(r"Group \S+ is dead, skipping rebalance stage", EMPTY),
    ignored(r"Received notification of heartbeat expiration for member ", GONE),
    ignored(r"Received unexpected notification of sync expiration ", GENERATION),
    ignored(r"Attempt to add rejoining member ", BUG),
    ignored(r"Failed to (?:persist metadata|write empty metadata) for group ", APPEND),
    ignored(r"Appending metadata message for group ", APPEND),
    ignored(r"Failed to append \S+ tombstones ", APPEND),
    ignored(r"Failed to invoke (?:join|sync) callback for ", BUG),
    ignored(r"Failed to parse Consumer Protocol ", PARSE),
    ignored(r"Starting up|Startup complete|Shutting down|Shutdown complete", COORDINATOR),
)


def read(text: str) -> tuple[bool, list[Fact]]:
    """Return whether a message that begins at an anchor is understood, and its facts."""
    behind = _BEHIND.match(text)
    message = text[behind.end() :] if behind else text
    understood, fact = first_match(TABLE, message)
    facts = [fact] if fact is not None else []
    if isinstance(fact, Left) and "sessionTimeoutMs=" in message:
        detailed = TABLE[4].regex.match(message)
        if detailed:
            facts.insert(0, timeouts(detailed))
    return understood, facts
