"""Events of stream `seen`: what the logs of another cluster say about its groups.

`coordinator diagnose --log` writes them. Log text says less than a coordinator knows: None means
that no line says it. Readers of these events show it as "not known", never as "none" or a
default.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.base.printable import printable


class SourceLine(NamedTuple):
    """A line of a file that was read, from which the event was derived."""

    file: str
    line: int
    """From 1."""


class GroupSeen(NamedTuple):
    """A group that the files mention."""

    group: str
    protocol: str | None
    """`classic`, `consumer`, `share` or `streams`."""


class RebalanceSeen(NamedTuple):
    """A generation, or a group epoch, began."""

    group: str
    generation: int
    stamped: bool
    """False if the line had no time stamp: then its instant is that of the event before."""
    reason: str
    """One of the causes that docs/diagnose.md lists, `unknown` among them."""
    held_up_by: str | None
    removed: tuple[str, ...]
    join_phase_ms: int | None
    members: int | None
    returns: bool | None
    empty: bool
    certainty: str | None
    """`shown`, `follows` or `likely`; None if the cause is unknown."""
    evidence: tuple[SourceLine, ...]
    member: str = ""
    """Left out of the line if it is not known, and "" here."""


class OccurrenceSeen(NamedTuple):
    """Something happened that does not begin a generation: a fence, a replacement, a refused
    commit.
    """

    group: str
    stamped: bool
    what: str
    """One of the kinds of events listed in docs/diagnose.md."""
    by: str | None
    sentence: str
    certainty: str
    evidence: tuple[SourceLine, ...]
    member: str = ""
    """Left out of the line if it is not known, and "" here."""


class StateSeen(NamedTuple):
    """The group at an instant, as `kafka-consumer-groups --describe` shows it."""

    group: str
    stamped: bool
    state: str | None
    members: int | None
    owners: tuple[str, ...]
    lag: int | None
    evidence: tuple[SourceLine, ...]


class FindingSeen(NamedTuple):
    """A finding of `coordinator diagnose` about the group."""

    group: str
    finding: str
    """Its id in docs/diagnose-findings.md."""
    setting: str | None
    sentence: str
    certainty: str
    evidence: tuple[SourceLine, ...]
    member: str = ""
    """Left out of the line if it is not known, and "" here."""


class NotKnown(NamedTuple):
    """Something that the files do not say, and the log that would."""

    group: str
    sentence: str


Event = GroupSeen | RebalanceSeen | OccurrenceSeen | StateSeen | FindingSeen | NotKnown

CAUSES: Final = {
    "first-join": "{member} joined, the first of the group",
    "joined": "{member} joined",
    "left": "{member} left",
    "expired": "the session of {member} ended without a heartbeat",
    "poll-timeout": "{member} did not poll in time, and left",
    "static-restart": "static member {member} came back",
    "twin-fenced": "a second process has the instance id {member}",
    "topic-grew": "the partitions of a subscribed topic changed",
    "subscription-changed": "the metadata of {member} (its topics, or what it owns) changed",
    "leader-rejoined": "the leader {member} joined again",
    "rejoined": "{member} joined again, as a further step of a cooperative rebalance or after an error",
    "coordinator-moved": "the coordinator moved",
    "coordinator-loaded": "the coordinator loaded the group anew",
    "member-fenced": "the coordinator removed {member}",
    "unknown": "not known from these files",
}
"""Each cause of a rebalance that a log of a real cluster can tell, as a sentence."""


def cause(reason: str, member: str | None) -> str:
    """Return the sentence for a cause. `member` is its printable name; None: not known."""
    known = CAUSES.get(reason)
    if known is None:  # a later version's, or a stranger's text
        return printable(reason)
    return known.format(member="a member" if member is None else member)
