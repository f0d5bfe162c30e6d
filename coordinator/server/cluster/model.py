"""Model of the cluster: brokers with racks and endpoints, topics, partitions and their replicas;
what Kafka keeps in its metadata image.

Topic names and ids change together. `version` rises with every change that a Metadata response
could show, so an encoded response stays valid while `version` is the same. Ids and randomness
come from outside. Does not know sockets, clocks, groups, the format of records (`PartitionLog`),
nor whether a request is allowed: callers check first. Changes are made by `evolve`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..settings.broker_configs import BrokerConfigs, ConfigValue
    from ..storage.partition_log import PartitionLog
    from .client_quotas import ClientQuotas
    from .scram_credentials import ScramCredentials

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
ELIGIBLE_REPLICAS = "eligible.leader.replicas.version"
# Topics Kafka itself keeps; a client that creates one of these names gets an internal topic.
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})


@dataclass(slots=True)
class BrokerNode:
    """One broker. `endpoints`: advertised (host, port) by listener name. A fenced broker leads
    nothing. `epoch`: the broker epoch, new at each registration. `shutting_down`: a controlled
    shutdown has started (KIP-841).
    """

    node_id: int
    rack: str | None = None
    endpoints: dict[str, tuple[str, int]] = field(default_factory=dict)
    fenced: bool = False
    epoch: int = 0
    shutting_down: bool = False

    @property
    def active(self) -> bool:
        """True if the broker may lead partitions and be in sync: neither fenced nor shutting down."""
        return not self.fenced and not self.shutting_down


_NOBODY: Final[Sequence[int]] = []


@dataclass(slots=True)
class Partition:
    """One partition: leader, replicas, and the log of the broker that owns this copy of the
    metadata.

    `partition_epoch` rises with every change (KIP-497). `elr`, `last_known_elr`: eligible leader
    replicas (KIP-966). `adding` and `removing` are not empty while the partition is being
    reassigned (KIP-455); both are contained in `replicas`. Lists are replaced, never changed:
    all brokers' copies share them.
    """

    topic: str
    index: int
    leader: int
    leader_epoch: int
    replicas: Sequence[int]
    isr: Sequence[int]
    offline: Sequence[int]
    log: PartitionLog
    partition_epoch: int = 0
    elr: Sequence[int] = field(default_factory=lambda: _NOBODY)
    last_known_elr: Sequence[int] = field(default_factory=lambda: _NOBODY)
    adding: Sequence[int] = field(default_factory=lambda: _NOBODY)
    removing: Sequence[int] = field(default_factory=lambda: _NOBODY)

    @property
    def reassigning(self) -> bool:
        """True if the partition is being reassigned to other brokers."""
        return bool(self.adding or self.removing)


@dataclass(slots=True)
class Topic:
    """A topic with its partitions in index order. `configs`: its own configuration values as text."""

    name: str
    id: bytes
    internal: bool
    partitions: list[Partition]
    configs: dict[str, str]
    broker_configs: BrokerConfigs
    _cached: dict[str, ConfigValue] = field(default_factory=dict)
    derived: dict[type, Any] = field(default_factory=dict, compare=False)
    """Values others worked out from the configuration in force, by its type; forgotten when the
    configuration changes."""

    def effective(self, name: str) -> ConfigValue:
        """Return the typed value in force: the topic's own, else the broker's, else Kafka's
        default. Raises KeyError for a name that is no topic configuration.
        """
        if name not in self._cached:
            from ..settings.topic_configs import effective_value

            self._cached[name] = effective_value(name, self.configs, self.broker_configs)
        return self._cached[name]

    def effective_int(self, name: str) -> int:
        """Return `effective` of a configuration of an integer type, such as max.message.bytes."""
        value = self.effective(name)
        assert isinstance(value, int)
        return value

    def set_configs(self, configs: Mapping[str, str]) -> None:
        """Replace the topic's own values, which `topic_configs.validate` has accepted."""
        self.configs = dict(configs)
        self.forget_effective()

    def forget_effective(self) -> None:
        """Drop cached values after the topic's or the broker's configuration changed."""
        self._cached.clear()
        self.derived.clear()


class Cluster:
    """Brokers and topics. `version` rises with every visible change. `new_log`: returns the log of
    a new partition, given topic name, index and replicas; default: a new log for each.
    """

    def __init__(
        self,
        *,
        cluster_id: str,
        controller_id: int,
        brokers: Iterable[BrokerNode],
        configs: BrokerConfigs,
        new_log: Callable[[str, int, list[int]], PartitionLog] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.controller_epoch = 1
        self.brokers: dict[int, BrokerNode] = {broker.node_id: broker for broker in brokers}
        self.configs = configs
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self.group_configs: dict[str, dict[str, str]] = {}
        self.client_metrics: dict[str, dict[str, str]] = {}
        self.features = dict(configs.formatted)
        """The levels at which features are finalised; those that are left out are at 0."""
        self.highest_levels = dict(self.features)
        """The highest at which each ever was: brokers that start read all of the metadata log."""
        self.version = 0
        self.topics_created = 0
        # Answers made from this state, by whatever key their maker likes; emptied on every change.
        self.kept: dict[Hashable, bytes] = {}
        self._new_log = new_log
        self._ready: list[PartitionLog] = []
        configs.on_change(self._configs_changed)

    def create_topic(
        self,
        name: str,
        *,
        topic_id: bytes,
        assignment: list[list[int]],
        configs: Mapping[str, str] | None = None,
        internal: bool = False,
    ) -> Topic:
        """Add a topic. `assignment[i]`: the replicas of partition i, preferred leader first."""
        assert name not in self.topics, name
        assert topic_id not in self.topics_by_id
        topic = Topic(
            name,
            topic_id,
            internal or name in INTERNAL_TOPICS,
            [],
            dict(configs or {}),
            self.configs,
        )
        self.topics[name] = topic
        self.topics_by_id[topic_id] = topic
        self.topics_created += 1
        self.add_partitions(name, assignment)
        return topic

    def delete_topic(self, name: str) -> Topic:
        """Remove and return a topic. Raises KeyError if it does not exist."""
        topic = self.topics.pop(name)
        del self.topics_by_id[topic.id]
        self.changed()
        return topic

    def add_partitions(self, name: str, assignment: list[list[int]]) -> list[Partition]:
        """Append a partition for each replica list; return the new partitions."""
        topic = self.topics[name]
        first = len(topic.partitions)
        states: dict[tuple[int, ...], tuple[int, Sequence[int], Sequence[int]]] = {}
        added = []
        for index, replicas in enumerate(assignment, first):
            state = states.get(key := tuple(replicas))
            if state is None:
                state = states[key] = self._state(replicas)
            leader, isr, offline = state
            if self._new_log is not None:
                log = self._new_log(name, index, replicas)
            else:
                log = self._ready.pop() if self._ready else _log()
            about = (leader, 0, replicas, isr, offline, log, 0)
            added.append(Partition(name, index, *about, _NOBODY, _NOBODY, _NOBODY, _NOBODY))
        topic.partitions.extend(added)
        self.changed()
        return added

    def ready_logs(self, count: int) -> Iterator[None]:
        """Prepare the logs of partitions to be added, one at each step; nothing to do if `new_log`
        was given.
        """
        while self._new_log is None and len(self._ready) < count:
            self._ready.append(_log())
            yield

    def partition(self, name: str, index: int) -> Partition | None:
        """Return a partition, or None if the topic or the index does not exist."""
        topic = self.topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]

    def set_topic_configs(self, name: str, configs: Mapping[str, str]) -> None:
        """Replace a topic's own configuration values, validated before."""
        self.topics[name].set_configs(configs)
        self.changed()

    def set_feature(self, name: str, level: int) -> None:
        """Finalise a feature at a level; level 0 turns it off."""
        self.features[name] = level
        self.highest_levels[name] = max(level, self.highest_levels.get(name, 0))
        self.changed()

    @cached_property
    def client_quotas(self) -> ClientQuotas:
        """Quotas of users, client ids and IP addresses; Metadata does not show them."""
        from .client_quotas import ClientQuotas

        return ClientQuotas()

    @cached_property
    def scram_credentials(self) -> ScramCredentials:
        """SCRAM credentials of users; Metadata does not show them."""
        from .scram_credentials import ScramCredentials

        return ScramCredentials()

    def add_broker(self, broker: BrokerNode) -> None:
        """Add a broker, or replace the one with the same id."""
        self.brokers[broker.node_id] = broker
        self.changed()

    def _configs_changed(self) -> None:
        for topic in self.topics.values():
            topic.forget_effective()

    def changed(self) -> None:
        """Raise the version and drop cached answers: something that Metadata shows has changed."""
        self.version += 1
        self.kept.clear()

    def _state(self, replicas: list[int]) -> tuple[int, Sequence[int], Sequence[int]]:
        """Return leader, ISR and offline replicas of a new partition."""
        active = [node for node in replicas if node in self.brokers and self.brokers[node].active]
        isr = replicas if not active or active == replicas else active
        return active[0] if active else -1, isr, self.offline(replicas)

    def offline(self, replicas: Iterable[int]) -> Sequence[int]:
        """Return the replicas whose brokers are unknown or fenced."""
        return [
            node for node in replicas if node not in self.brokers or self.brokers[node].fenced
        ] or _NOBODY


def _log() -> PartitionLog:
    from ..storage.partition_log import PartitionLog

    return PartitionLog()
