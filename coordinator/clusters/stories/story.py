"""The story of one group: its rebalances, its events, its described states, and what is not
known."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..facts import Described, Evidence, Seen

CAUSES = (
    "first-join",
    "joined",
    "left",
    "expired",
    "poll-timeout",
    "static-restart",
    "twin-fenced",
    "topic-grew",
    "subscription-changed",
    "leader-rejoined",
    "rejoined",
    "coordinator-moved",
    "coordinator-loaded",
    "member-fenced",
    "unknown",
)
SHOWN, FOLLOWS, LIKELY = "shown", "follows", "likely"


@dataclass
class Rebalance:
    """A generation, or a group epoch, that begins in the files. Times in ms; None: not known.

    `missing`: members of the generation before that are not in this one, where a leader's lines
    tell that and nothing tells why. `certainty`: `shown` (a line says the cause), `follows` (from several lines), `likely`; None for
    a cause that is unknown.
    """

    generation: int
    at: int | None
    cause: str = "unknown"
    member: str | None = None
    member_id: str | None = None
    held_up_by: str | None = None
    removed: list[str] = field(default_factory=list)
    began: int | None = None
    members: int | None = None
    returns: bool | None = None
    empty: bool = False
    certainty: str | None = None
    evidence: list[Evidence] = field(default_factory=list)
    reason: str = ""
    missing: list[str] = field(default_factory=list)

    after_empty: bool = False
    """The group had no members before: brokers wait for more members then
    (group.initial.rebalance.delay.ms), whoever is slow."""

    @property
    def join_phase_ms(self) -> int | None:
        """The length of the join phase in ms, or None."""
        if self.at is None or self.began is None or self.at < self.began:
            return None
        return self.at - self.began


@dataclass
class Event:
    """A fact that is no generation. `kind`: fenced, replaced, unloaded, loaded, commit-refused or
    migrated."""

    at: int | None
    kind: str
    member: str | None
    by: str | None
    sentence: str
    certainty: str
    evidence: list[Evidence]


@dataclass
class Finding:
    """One mistake: the member, and the setting concerned; None if no line has it."""

    id: str
    member: str | None
    setting: str | None
    certainty: str
    sentence: str
    evidence: list[Evidence]


@dataclass
class State:
    """The group at an instant, as a describe shows it."""

    at: int | None
    described: Described
    evidence: Evidence


@dataclass
class GroupStory:
    """Everything that is known of one group."""

    group: str
    protocol: str | None = None
    rebalances: list[Rebalance] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    not_known: list[str] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    broker: bool = False
    offset: int | None = None
    one_clock: bool = True
