"""The parts of a scenario that churn and faults may name: its members, brokers, topics and
groups. Also turns errors of settings, verbs and faults into ScenarioErrors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from coordinator.kit import faults
from coordinator.members import MemberConfigError
from coordinator.server.build import TopicError
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.settings.broker_configs import ConfigError

from .key_positions import Where
from .reading import ScenarioError
from .schema import TABLES, duration_ms


class There(NamedTuple):
    """A scenario's parts. `members` and `producers`: how many of each kind start."""

    members: Mapping[str, int]
    producers: Mapping[str, int]
    groups: tuple[str, ...]
    topics: Mapping[str, int]
    brokers: int
    later: frozenset[str] = frozenset()
    """Topics that CreateTopic makes."""
    deleted: frozenset[str] = frozenset()
    """Topics that DeleteTopic takes away."""
    instances: frozenset[str] = frozenset()
    """Instance ids that config gives, and the kinds of members that are static."""
    transactional: frozenset[str] = frozenset()
    """The kinds of producers that are transactional, and the pipelines, as GROUP-KIND."""
    consuming: frozenset[str] = frozenset()
    """Groups with members that really read."""
    zones: frozenset[str] = frozenset()
    """Zones of brokers and clients."""

    def started(self) -> list[str]:
        """Return the client ids of the members and producers that start with the scenario."""
        return [
            f"{kind}-{number}"
            for kind, count in (*self.members.items(), *self.producers.items())
            for number in range(1, count + 1)
        ]

    def may_come(self, client_id: str) -> bool:
        """Return True if this is a client that starts with the scenario, or that churn may add."""
        kind, _, number = client_id.rpartition("-")
        return number.isdecimal() and (kind in self.members or kind in self.producers)

    def is_producer(self, name: str) -> bool:
        """Return True if this is a producer's client id, and no group's."""
        return name not in self.groups and name.rpartition("-")[0] in self.producers

    def has_instance(self, name: str) -> bool:
        """Return True if this may be a member's instance id."""
        return name in self.instances or (
            self.may_come(name) and name.rpartition("-")[0] in self.instances
        )

    def has_transactional(self, name: str) -> bool:
        """Return True if this may be a producer's transactional id."""
        kind, _, number = name.rpartition("-")
        return name in self.transactional or (number.isdecimal() and kind in self.transactional)


@contextmanager
def blamed(where: Where) -> Iterator[None]:
    """Convert an error that settings, verbs or faults raise into a ScenarioError at the key that
    it names."""
    try:
        yield
    except (MemberConfigError, ConfigError, TopicError, faults.FaultError, ClusterError) as error:
        text = str(error)
        place = where.of(
            text,
            partition_assignment_strategy="assignor",
            group_remote_assignor="assignor",
            group_id="group",
        )
        raise ScenarioError(f"{place}: {text}") from None


def default_of(key: str, table: str = "churn") -> Any:
    """Return the default of a key, as it is read from a file."""
    spec = TABLES[table].keys[key]
    return (
        duration_ms(spec.default)
        if spec.kind == "duration" and spec.default is not None
        else spec.default
    )


def brokers_of(there: There) -> str:
    return (
        f"from 1 to {there.brokers} (brokers.count)"
        if there.brokers > 1
        else "there is one, 1 (brokers.count)"
    )


def some_of(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
