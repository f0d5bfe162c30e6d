"""Interfaces that a consumer group's decisions need: configuration, topics, assignors, pattern
matcher.

The server implements them (`server.environments`) and injects the assignors: this package knows
none.
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
        """A number that rises with any change of topics."""

    @property
    def created(self) -> int:
        """A number that rises with each created topic (K8-RX-2)."""

    def topic_id(self, name: str) -> bytes | None:
        """Return the id of a topic, or None if it does not exist."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic id, or None if it does not exist."""

    def partition_count(self, topic_id: bytes) -> int:
        """Return the number of partitions of an existing topic."""

    def fingerprint(self, name: str) -> bytes:
        """Return bytes that differ whenever id, partitions or racks of a topic differ; empty if it
        does not exist.
        """

    def names(self) -> Collection[str]:
        """Return the names of all topics."""


class AssignorFailed(Exception):
    """Error of `AssignorPort.assign` if there is no assignment; the text says why."""


class AssignorPort(Protocol):
    """Interface of a server-side assignor."""

    name: str

    def assign(self, wanted: AssignmentInput) -> Mapping[str, Mapping[bytes, Sequence[int]]]:
        """Return targets by member id; members left out get nothing. Raises AssignorFailed."""


class SubscribedMember(NamedTuple):
    """A member as an assignor sees it. `topics`: ids in Java's order; `unresolved`: number of names
    without a topic; `assignment`: its target so far. The field names are those of
    `assignors.server_side.Member`.
    """

    topics: Sequence[bytes]
    unresolved: int
    assignment: Owned
    instance_id: str | None
    rack: str | None


class AssignmentInput(NamedTuple):
    """Input of an assignor: members in Java's order, partition counts, whether all subscribe alike,
    the current owners of partitions (None: unused), and for a share group the assignable
    partitions.
    """

    members: Mapping[str, SubscribedMember]
    partitions: Mapping[bytes, int]
    homogeneous: bool
    assigned: Mapping[bytes, Container[int]] | None = None
    assignable: Mapping[bytes, Container[int]] | None = None


class MigrationPolicy(Enum):
    """Values of group.consumer.migration.policy: which conversions of groups with members are
    allowed (K8-CFG-1).
    """

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
    """Interface of a compiled regular expression."""

    @property
    def instructions(self) -> int:
        """Upper bound of the engine's steps, of some nanoseconds each, for each byte of a text."""

    def matches(self, text: str) -> object:
        """Return a true value if the whole text matches."""


class GroupSettings(NamedTuple):
    """Settings of a single group (consumer.*), in milliseconds."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000


@dataclass(slots=True)
class Environment:
    """Everything that a decision may ask for. `classic_max_size`: group.max.size; `max_size`:
    group.consumer.max.size.
    """

    topics: Topics
    make_assignors: Callable[[], Mapping[str, AssignorPort]]
    """Returns the assignors of group.consumer.assignors by name, the default first; called once,
    when they are first needed.
    """
    compile_pattern: Callable[[str], Pattern]
    """Makes a pattern; raises PatternRefused with RE2J's words."""
    settings: Callable[[str], GroupSettings] = lambda group_id: GroupSettings()
    max_size: int = 2_147_483_647
    classic_max_size: int = 2_147_483_647
    migration: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    regex_refresh_interval_ms: int = 600_000
    release: Release = NEWEST
    """The release as which the groups behave."""

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
    """Error for a regular expression that RE2J refuses; the text is RE2J's."""
