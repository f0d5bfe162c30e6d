"""View of the broker for consumer groups: topics, server-side assignors, patterns and
configuration.

Implements the interfaces of `core.groups.consumer.environment`. It is the only place where the
coordinator's side meets an assignor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from coordinator.core.groups.consumer.environment import (
    AssignmentInput,
    AssignorFailed,
    Environment,
    GroupSettings,
    MigrationPolicy,
    Pattern,
    PatternRefused,
)

from .. import patterns
from ..settings.broker_configs import GROUP_TIMES, ConfigError
from ..settings.definitions import parse_whole, trim

if TYPE_CHECKING:
    from assignors.server_side import ServerAssignor

    from ..broker import Broker
    from ..cluster import Cluster
    from ..settings.broker_configs import BrokerConfigs


BUILT_IN = ("uniform", "range")
"""The names of the server-side assignors there are; their modules are loaded when a member first
needs one."""
_CLASSES = {
    f"org.apache.kafka.coordinator.group.assignor.{name.title()}Assignor": name for name in BUILT_IN
}
"""Kafka's classes of them, which may be given by their names; before 4.0 only so."""


class ClusterTopics:
    """The topics of the cluster. Fingerprints are kept until any topic changes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._marks: dict[str, bytes] = {}
        self._marked_at = -1

    @property
    def version(self) -> int:
        """The cluster's version, which rises with any change of topics."""
        return self._cluster.version

    @property
    def created(self) -> int:
        """The number of topics created so far."""
        return self._cluster.topics_created

    def topic_id(self, name: str) -> bytes | None:
        """Return the id of a topic, or None if it does not exist."""
        topic = self._cluster.topics.get(name)
        return None if topic is None else topic.id

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of a topic id, or None if it does not exist."""
        topic = self._cluster.topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def partition_count(self, topic_id: bytes) -> int:
        """Return the number of partitions of an existing topic."""
        return len(self._cluster.topics_by_id[topic_id].partitions)

    def fingerprint(self, name: str) -> bytes:
        """Return id, partitions and racks of a topic as bytes; empty if it does not exist."""
        if self._marked_at != self._cluster.version:
            self._marks.clear()
            self._marked_at = self._cluster.version
        mark = self._marks.get(name)
        if mark is None:
            mark = self._mark(name)
            if mark:  # names that are no topics come from clients, who may give any number of them
                self._marks[name] = mark
        return mark

    def names(self) -> Collection[str]:
        """Return the names of all topics."""
        return self._cluster.topics

    def _mark(self, name: str) -> bytes:
        topic = self._cluster.topics.get(name)
        if topic is None:
            return b""
        brokers = self._cluster.brokers
        racks = [
            sorted({brokers[node].rack or "" for node in of.replicas if node in brokers})
            for of in topic.partitions
        ]
        return (
            topic.id
            + len(topic.partitions).to_bytes(4, "big")
            + "\0".join(map("\1".join, racks)).encode()
        )


class Assigning:
    """Adapter from a server-side assignor to the interface of groups."""

    def __init__(self, assignor: ServerAssignor) -> None:
        self.name = assignor.name
        self._assignor = assignor

    def assign(self, wanted: AssignmentInput) -> Mapping[str, Mapping[bytes, Sequence[int]]]:
        """Return the target assignment by member id. Raises AssignorFailed."""
        from assignors.server_side import AssignorError, GroupSpec

        spec = GroupSpec(**wanted._asdict())
        try:
            return self._assignor.assign(spec)
        except AssignorError as failure:
            raise AssignorFailed(str(failure)) from failure
        except Exception as failure:  # a user's assignor may raise anything
            raise AssignorFailed(f"{type(failure).__name__}: {failure}") from failure


@lru_cache(maxsize=1)
def compile_pattern(text: str) -> Pattern:
    """Compile a topic pattern; matching is linear in the name's length. Raises PatternRefused with
    RE2J's message. The last pattern is cached, because a heartbeat checks it and then matches
    it.
    """
    try:
        return patterns.compile_pattern(text)
    except patterns.PatternError as error:
        raise PatternRefused(str(error)) from None


def is_enabled(broker: Broker) -> bool:
    """Return True if consumer groups are served: the feature group.version is at least 1 and
    group.coordinator.rebalance.protocols contains `consumer` (K8-CFG-2).
    """
    return broker.cluster.features.get(
        "group.version", 0
    ) > 0 and "consumer" in broker.configs.get_list("group.coordinator.rebalance.protocols")


class Settings:
    """Settings of single groups of one type: the group's own configuration clamped to the broker's
    bounds, else the broker's values.
    """

    def __init__(self, cluster: Cluster, configs: BrokerConfigs, group_type: str) -> None:
        """`group_type`: consumer or share."""
        self._type = group_type
        self._cluster = cluster
        self._configs = configs
        self._kept: dict[str, tuple[dict[str, str], GroupSettings]] = {}
        self._broker = self._in_force({})
        configs.on_change(self._read_again)

    def __call__(self, group_id: str) -> GroupSettings:
        """Return the settings in force for a group."""
        own = self._cluster.group_configs.get(group_id)
        if own is None:
            return self._broker
        kept = self._kept.get(group_id)
        if kept is None or kept[0] is not own:
            kept = self._kept[group_id] = (own, self._in_force(own))
        return kept[1]

    def _read_again(self) -> None:
        self._kept.clear()
        self._broker = self._in_force({})

    def _in_force(self, own: Mapping[str, str]) -> GroupSettings:
        return GroupSettings(
            *(self._value(name, own.get(f"{self._type}.{name}")) for name in GROUP_TIMES)
        )

    def _value(self, name: str, own: str | None) -> int:
        get, of_type = self._configs.get_int, f"group.{self._type}"
        if own is None:
            return get(f"{of_type}.{name}")
        kept = parse_whole(trim(own)) or 0  # it was checked
        return min(max(kept, get(f"{of_type}.min.{name}")), get(f"{of_type}.max.{name}"))


def assignors(configs: BrokerConfigs) -> dict[str, Assigning]:
    """Return the assignors of group.consumer.assignors, the default first. Raises ConfigError if
    one cannot be loaded.
    """
    from assignors.server_side import DEFAULT_ASSIGNORS

    built_in = {assignor.name: assignor for assignor in DEFAULT_ASSIGNORS}
    found = [
        built_in.get(_CLASSES.get(entry, entry))
        or user_assignor("group.consumer.assignors", entry, BUILT_IN)
        for entry in configs.get_list("group.consumer.assignors")
    ]
    return {assignor.name: Assigning(assignor) for assignor in found}


def user_assignor(setting: str, entry: str, built_in: Sequence[str]) -> ServerAssignor:
    """Load a user's assignor given as `module:Class`. Raises ConfigError if it cannot be loaded."""
    module, colon, name = entry.partition(":")
    if not colon:
        raise ConfigError(
            f"{setting}={entry}: {' and '.join(built_in)} {'is' if len(built_in) == 1 else 'are'} built in; "
            "give others as module:Class"
        )
    try:
        made: ServerAssignor = getattr(import_module(module), name)()
    except Exception as failure:
        raise ConfigError(f"{setting}={entry}: {type(failure).__name__}: {failure}") from failure
    if not callable(getattr(made, "assign", None)) or not isinstance(
        getattr(made, "name", None), str
    ):
        raise ConfigError(f"{setting}={entry}: it has no name, or no method assign(spec)")
    return made


def environment(cluster: Cluster, configs: BrokerConfigs) -> Environment:
    """Return the environment of consumer groups for a broker configuration. Raises ConfigError."""
    if not set(configs.get_list("group.consumer.assignors")) <= {*BUILT_IN, *_CLASSES}:
        assignors(configs)  # told now, not at the first member
    policy = configs.get_str("group.consumer.migration.policy").lower()
    return Environment(
        topics=ClusterTopics(cluster),
        make_assignors=lambda: assignors(configs),
        compile_pattern=compile_pattern,
        settings=Settings(cluster, configs, "consumer"),
        max_size=configs.get_int("group.consumer.max.size"),
        classic_max_size=configs.get_int("group.max.size"),
        migration=MigrationPolicy(policy),
        regex_refresh_interval_ms=configs.get_int("group.consumer.regex.refresh.interval.ms"),
        release=configs.release,
    )
