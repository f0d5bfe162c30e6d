"""Lines of a broker's Java coordinator (`org.apache.kafka.coordinator.group`): Kafka 4.0 to 4.4,
groups of the classic protocol, of KIP-848 and share groups."""

from __future__ import annotations

import re

from ..facts import (
    EpochBumped,
    Fact,
    Fenced,
    Joined,
    Left,
    Loaded,
    MemberFenced,
    MetadataChanged,
    Migrated,
    Refused,
    Replaced,
    SubscriptionChanged,
    TargetComputed,
    TemporarilyLeft,
    Unloaded,
)
from ..lines.patterns import first_match, ignored, pattern
from .scala_broker import BUG, OFFSETS, PENDING
from .scala_broker import TABLE as SCALA

NAME = "kafka-broker-java"
ANCHORS = ("[GroupCoordinator id=",)
_BEHIND = re.compile(r"\[GroupCoordinator id=\d{1,10}(?: topic=\S+ partition=\d+)?\] ")
_GROUP = r"\[Group(?:Id)? (?P<group>[^\]]+)\](?:\[MemberId [^\]]+\])? "

TOPOLOGY = "is about the topology of a streams group; the epoch that follows has a line of its own"
TARGET = "no target assignment was made: no epoch begins"
REGEX = "names no member; the metadata that a regular expression changes has a line of its own"
SHUTDOWN = "the members that leave then have lines of their own"
SHARE = "is about the records of a share group, not about who is in it"
CONFIG = "the effective value of a setting; nothing happens to the group then"

TABLE = (
    pattern(
        _GROUP
        + r"Bumped (?:streams )?group epoch to (?P<n>\d{1,10})(?: with metadata hash (?P<hash>-?\d{1,20}))?",
        lambda f: EpochBumped(f["group"], int(f["n"]), f["hash"]),
    ),
    pattern(
        _GROUP + r"Computed a new target assignment for epoch (?P<n>\d{1,10}) ",
        lambda f: TargetComputed(f["group"], int(f["n"])),
    ),
    pattern(
        _GROUP
        + r"Member (?P<member>\S+) joins the (?P<kind>consumer|share) group using the (?P<protocol>\w+) protocol",
        lambda f: Joined(
            f["group"], f["member"], None, "", "share" if f["kind"] == "share" else f["protocol"]
        ),
    ),
    pattern(
        r"\[GroupId (?P<group>[^\]]+)\]\[MemberId (?P<member>[^\]]+)\] Member joins the streams group",
        lambda f: Joined(f["group"], f["member"], None, "", "streams"),
    ),
    pattern(
        _GROUP
        + r"(?:\[MemberId [^\]]+\] )?Static member (?P<member>\S+) with instance id (?P<instance>\S+) "
        r"joins the (?:consumer|streams) group(?: using the (?P<protocol>\w+) protocol)?",
        lambda f: Joined(f["group"], f["member"], f["instance"], "", f["protocol"] or "streams"),
    ),
    pattern(
        _GROUP
        + r"Static member with instance id (?P<instance>\S+) re-joins the \w+ group using the \w+ "
        r"protocol\. Created a new member (?P<member>\S+) to replace the existing member "
        r"(?P<former>\S+)",
        lambda f: Replaced(f["group"], f["instance"], f["member"], f["former"].rstrip(".")),
    ),
    pattern(
        _GROUP
        + r"Static member (?P<member>\S+) with instance id (?P<instance>\S+) (?:cannot join the group "
        r"because the instance id is (?:is )?owned by member|is fenced by existing member) "
        r"(?P<by>\S+)",
        lambda f: Fenced(f["group"], f["instance"], f["member"], f["by"].rstrip("."), "join"),
    ),
    pattern(
        _GROUP + r"(?:Streams m|M)ember (?P<member>\S+) fenced from the group because (?P<why>.*)",
        lambda f: MemberFenced(f["group"], f["member"], f["why"].rstrip(".")),
    ),
    pattern(
        _GROUP
        + r"(?:Member|Static [Mm]ember) (?P<member>\S+)(?: with instance id (?P<instance>\S+))? left "
        r"the (?:consumer|share|streams) group",
        lambda f: Left(f["group"], f["member"], "", f["instance"]),
    ),
    pattern(
        _GROUP
        + r"Static [Mm]ember (?P<member>\S+) with instance id (?P<instance>\S+) temporarily left the ",
        lambda f: TemporarilyLeft(f["group"], f["member"], f["instance"]),
    ),
    pattern(
        _GROUP + r"(?:Member|(?:Dynamic|Static) [Mm]ember) (?P<member>\S+)(?: with instance id "
        r"(?P<instance>\S+))? has left group through explicit `LeaveGroup` request; client reason: "
        r"(?P<why>.*)",
        lambda f: Left(f["group"], f["member"], f["why"], f["instance"]),
    ),
    ignored(_GROUP + r"Pending member \S+ has left group ", PENDING),
    pattern(
        _GROUP
        + r"Member (?P<member>\S+) updated its subscribed (?:topics|regex) to:? ?(?P<topics>.*)",
        lambda f: SubscriptionChanged(f["group"], f["member"], f["topics"].rstrip(".")),
    ),
    pattern(
        r"\[GroupId (?P<group>[^\]]+)\]\[MemberId (?P<member>[^\]]+)\] Member updated its member metadata",
        lambda f: SubscriptionChanged(f["group"], f["member"]),
    ),
    pattern(
        _GROUP + r"Assignment configurations changed to ",
        lambda f: MetadataChanged(f["group"]),
    ),
    pattern(
        _GROUP + r"Computed new (?:metadata hash|subscription metadata)",
        lambda f: MetadataChanged(f["group"]),
    ),
    pattern(
        _GROUP + r"Converted the (?:empty )?\w+ group to a (?P<to>\w+) group",
        lambda f: Migrated(f["group"], f["to"]),
    ),
    ignored(_GROUP + r"Dynamic member with unknown member id joins the consumer group", PENDING),
    ignored(
        _GROUP + r"(?:Member \S+|Member's) new assignment state",
        "one step of a member towards its target; the epoch has a line of its own",
    ),
    ignored(_GROUP + r"Member initialized the topology with epoch ", TOPOLOGY),
    ignored(_GROUP + r"(?:Configuring the topology|Member joined with stale topology) ", TOPOLOGY),
    ignored(_GROUP + r"(?:Topic configuration failed|Valid topic configuration found) ", TOPOLOGY),
    ignored(_GROUP + r"Requested topology description push ", TOPOLOGY),
    ignored(_GROUP + r"(?:Cannot compute|Skipping) delayed target assignment: ", TARGET),
    ignored(_GROUP + r"Group not found during initial rebalance", TARGET),
    ignored(_GROUP + r"The (?:configured task assignor|refined assignment) ", TARGET),
    ignored(_GROUP + r"Size of assignment epochs ", BUG),
    ignored(_GROUP + r"updatedMember is unexpectedly null ", BUG),
    ignored(_GROUP + r"Couldn't (?:update|parse) regular expression ", REGEX),
    ignored(_GROUP + r"Scanned \S+ topics to refresh regular expressions ", REGEX),
    ignored(_GROUP + r"(?:Clearing s|S)hutdown requested for the streams application", SHUTDOWN),
    ignored(_GROUP + r"Creating a simple consumer group via manual offset commit", OFFSETS),
    pattern(
        r"\[GroupId=(?P<group>[^\]]+)\] Unload(?:ed|ing) group metadata for (?:group epoch|generation) (?P<n>-?\d{1,10})",
        lambda f: Unloaded(f["group"], int(f["n"])),
    ),
    pattern(
        r"Loaded (?:classic|consumer|share|streams) group (?P<group>\S+) with \d+ members",
        lambda f: Loaded(f["group"], None),
    ),
    pattern(
        r"Request memberId=(?P<member>\S+) for static member with groupInstanceId=(?P<instance>\S+) "
        r"is fenced by existing memberId=(?P<by>\S+) during operation (?P<op>\S+)",
        lambda f: Fenced(None, f["instance"], f["member"], f["by"], f["op"].rstrip(".")),
    ),
    *SCALA,
    pattern(
        r"Cannot (?P<what>downgrade|upgrade) (?:the )?(?:classic|consumer) group (?P<group>[^\s:]+)(?: to "
        r"(?:classic|consumer) group)?(?: because |: )(?P<why>.*)",
        lambda f: Refused(
            f["group"],
            "consumer" if f["what"] == "upgrade" else "classic",
            f["why"].rstrip("."),
        ),
    ),
    pattern(
        r"Cannot join the consumer group (?P<group>\S+) with the classic protocol because (?P<why>.*)",
        lambda f: Refused(f["group"], "classic", f["why"].rstrip(".")),
    ),
    ignored(r"(?:Loaded|Removed|onUnloaded) group (?:\S+ )?with an unknown group type", BUG),
    ignored(r"Generated \S+ (?:tombstone )?records ", OFFSETS),
    ignored(r"Skipped the materialization of transactional offset commit ", OFFSETS),
    ignored(r"(?:Initializing topic|Some topics for share group|Existing deleting) ", SHARE),
    ignored(r"(?:Error|Received error while) deleting share group ", SHARE),
    ignored(r"Failed to (?:retrieve|delete share group) ", SHARE),
    ignored(r"(?:Unable to|Received error while calling) (?:initialize|delete|cleanup) ", SHARE),
    ignored(r"Data not found for topic \S+ partition \S+ for group ", SHARE),
    ignored(r"Group id must be specified and non-empty", SHARE),
    ignored(r"Failed to (?:apply|finalize|write the UNCERTAIN) ", TOPOLOGY),
    ignored(r"(?:Topology-description|Topology description|Unexpected error scanning) ", TOPOLOGY),
    ignored(r"The (?:group config|effective) ", CONFIG),
    ignored(r"The member \S+ is assigned more partitions than the maximum", BUG),
    ignored(r"Member Id \S+ not found", BUG),
)


def read(text: str) -> tuple[bool, list[Fact]]:
    """Return whether a message that begins at an anchor is understood, and its facts."""
    behind = _BEHIND.match(text)
    understood, fact = first_match(TABLE, text[behind.end() :] if behind else text)
    return understood, [fact] if fact is not None else []
