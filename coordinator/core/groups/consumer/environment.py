"""The outside needs of a consumer group's decisions: configuration, topics, assignors and a
matcher of patterns.

Plain interfaces; who implements them (the cluster's metadata, the server-side assignors, the RE2
binding) is elsewhere. Assignors are injected: this package does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from coordinator.base.releases import NEWEST, Release

Owned = Mapping[bytes, Sequence[int]]


class Topics(Protocol):
    """The cluster's topics as the coordinator sees them now."""

    @property
    def version(self) -> int:
        """A number that rises whenever anything about topics changes."""

    @property
    def created(self) -> int:
        """A number that rises whenever a topic is created (K8-RX-2)."""

    def topic_id(self, name: str) -> bytes | None:
        """The id of a topic, None if there is none of that name."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """The name of a topic, None if there is none of that id."""

    def partition_count(self, topic_id: bytes) -> int:
        """Return the number of partitions of a topic that exists."""

    def fingerprint(self, name: str) -> bytes:
        """Bytes that differ whenever id, partitions or racks of a topic differ; empty if there is
        no such topic."""

    def names(self) -> Collection[str]:
        """The names of all topics."""


class AssignorFailed(Exception):
    """The error of `AssignorPort.assign` when there is no assignment; the text says why."""


class AssignorPort(Protocol):
    """A server-side assignor, behind a function that hides its own types."""

    name: str

    def assign(self, wanted: AssignmentInput) -> Mapping[str, Mapping[bytes, Sequence[int]]]:
        """Targets by member id; members that are left out get nothing. Raises AssignorFailed."""


class SubscribedMember(NamedTuple):
    """One member as an assignor sees it: `topics` are ids in Java's order, `unresolved` counts
    names that no topic has, `assignment` is its target so far. The names are those of a member that
    the assignors are given (`assignors.server_side.Member`)."""

    topics: Sequence[bytes]
    unresolved: int
    assignment: Owned
    instance_id: str | None
    rack: str | None


class AssignmentInput(NamedTuple):
    """A group to assign: members in Java's order, partition counts, whether all subscribe alike,
    what is assigned now (None: nobody asks), and, of a share group, what may be assigned at all."""

    members: Mapping[str, SubscribedMember]
    partitions: Mapping[bytes, int]
    homogeneous: bool
    assigned: Mapping[bytes, Container[int]] | None = None
    assignable: Mapping[bytes, Container[int]] | None = None


class MigrationPolicy(Enum):
    """group.consumer.migration.policy: which conversions of groups with members are allowed
    (K8-CFG-1)."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def allows_upgrade(self) -> bool:
        """True if a classic group with members may become a consumer group."""
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def allows_downgrade(self) -> bool:
        """True if a consumer group with members may become a classic group."""
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


class Pattern(Protocol):
    """A regular expression."""

    @property
    def instructions(self) -> int:
        """Steps of the engine, of some nanoseconds each, that one byte of a text may cost at
        most."""

    def matches(self, text: str) -> object:
        """Something true if the whole text matches."""


class GroupSettings(NamedTuple):
    """The settings of a single group (consumer.*); milliseconds."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000


@dataclass(slots=True)
class Environment:
    """Everything that a decision may ask for. `classic_max_size` is group.max.size, `max_size`
    group.consumer.max.size."""

    topics: Topics
    make_assignors: Callable[[], Mapping[str, AssignorPort]]
    """Makes the assignors of group.consumer.assignors by name, the default first; called once, when
    they are first needed."""
    compile_pattern: Callable[[str], Pattern]
    """Makes a pattern; raises PatternRefused with RE2J's words."""
    settings: Callable[[str], GroupSettings] = lambda group_id: GroupSettings()
    max_size: int = 2_147_483_647
    classic_max_size: int = 2_147_483_647
    migration: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    regex_refresh_interval_ms: int = 600_000
    release: Release = NEWEST
    """Whose behaviour the groups have."""

    _assignors: Mapping[str, AssignorPort] | None = None

    @property
    def assignors(self) -> Mapping[str, AssignorPort]:
        """The assignors by name, the default first."""
        if self._assignors is None:
            self._assignors = self.make_assignors()
        return self._assignors

    def default_assignor(self) -> str:
        """The first of group.consumer.assignors."""
        return next(iter(self.assignors))


class PatternRefused(ValueError):
    """A regular expression that RE2J refuses; the text is what RE2J says about it."""
