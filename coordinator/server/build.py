"""Construction of a whole broker from options: configuration, cluster with its first topics,
groups, and what is drawn from the seed.

Owns the order of construction, the same for every driver. Raises ConfigError or TopicError,
worded for the author of the option. Does not know where options come from, nor sockets or
clocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from coordinator.core.group_coordinator import GroupCoordinator
from coordinator.core.groups.config import GroupConfig

from .broker import Broker
from .cluster import CONSUMER_OFFSETS, BrokerNode, Cluster
from .cluster.internal_topics import OFFSETS_CONFIGS
from .environments import consumer as consumer_environment
from .environments import share as share_environment
from .fetching.parked import ParkedFetches
from .limits import Limits

if TYPE_CHECKING:
    from random import Random

    from coordinator.core.shards.journal import EventSink
    from coordinator.events import EventLog

    from .settings.broker_configs import BrokerConfigs
    from .shares.host import TopicMaker

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MOST_PARTITIONS = 100_000
_RIGHT = "; give {'orders': 12}, ['orders:12', 'payments'] or 'orders'"


class TopicError(ValueError):
    """Error for a topic option that is not possible; the message says what would be right."""


class TopicOption(NamedTuple):
    """A topic to create at start. `partitions` None: num.partitions applies."""

    name: str
    partitions: int | None = None

    @classmethod
    def parse(cls, text: str) -> TopicOption:
        """Read `name` or `name:partitions`. Raises TopicError."""
        if not isinstance(text, str):
            raise TopicError(f"topic {text!r}: a name is a text{_RIGHT}")
        name, colon, partitions = text.partition(":")
        if colon and not (partitions.isdecimal() and len(partitions) < 10):
            raise TopicError(f"topic {text!r}: write name or name:partitions, such as orders:12")
        return cls(name, int(partitions) if colon else None).checked()

    def checked(self) -> TopicOption:
        """Return the option itself. Raises TopicError for a name or a number that Kafka does not
        allow.
        """
        if not isinstance(self.name, str):
            raise TopicError(f"topic {self.name!r}: a name is a text{_RIGHT}")
        if not _LEGAL_NAME.fullmatch(self.name) or self.name in (".", ".."):
            raise TopicError(
                f"topic {self.name!r}: a name has 1 to 249 of the characters a-z A-Z 0-9 . _ -, and is not . or .."
            )
        if self.partitions is not None and type(self.partitions) is not int:
            raise TopicError(
                f"topic {self.name}: {self.partitions!r} partitions; give a whole number, such as {{{self.name!r}: 12}}"
            )
        if self.partitions is not None and not 1 <= self.partitions <= _MOST_PARTITIONS:
            raise TopicError(
                f"topic {self.name}: {self.partitions} partitions; from 1 to {_MOST_PARTITIONS} can be had"
            )
        return self


def topic_maker(broker: Broker) -> TopicMaker:
    """Return a function with which the coordinator has the controller create an internal topic."""

    def make(name: str, configs: Mapping[str, str], now: int, cause: int | None) -> str | None:
        from .topics import make_for_broker  # at first use, so that start-up does not load it

        return make_for_broker(broker, name, configs, now, cause)

    return make


def topic_options(topics: Iterable[str] | Mapping[str, int]) -> list[TopicOption]:
    """Parse topics given as one or several `name` or `name:partitions`, or as a mapping from name
    to partitions. Raises TopicError.
    """
    given: Any = topics
    if isinstance(given, Mapping):
        options = [TopicOption(name, partitions).checked() for name, partitions in given.items()]
    else:
        several = not isinstance(given, str) and isinstance(given, Iterable)
        options = [TopicOption.parse(topic) for topic in (given if several else (given,))]
    for name, times in Counter(option.name for option in options).items():
        if times > 1:
            raise TopicError(f"topic {name} is given twice")
        if name == CONSUMER_OFFSETS:
            raise TopicError(f"topic {name} is there anyway")
    return options


def new_group_coordinator(
    configs: BrokerConfigs, log: EventSink | None, cluster: Cluster
) -> GroupCoordinator:
    """Return a group coordinator that follows the broker's configuration, and whose consumer groups
    see the topics of `cluster`.
    """
    group_config = GroupConfig()
    configs.keep_current(group_config, configs.group_config)
    _put_in_force(group_config, cluster, configs)

    def record_limit() -> int:
        offsets = cluster.topics.get(CONSUMER_OFFSETS)
        return (
            configs.get_int("message.max.bytes")
            if offsets is None
            else offsets.effective_int("max.message.bytes")
        )

    group_config.record_limit = record_limit
    return GroupCoordinator(group_config, log)


def follow_release(broker: Broker) -> None:
    """Switch a broker to the release of its configuration, after an upgrade of the same object."""
    _put_in_force(broker.coordinator.config, broker.cluster, broker.configs)
    broker.services.shares.follow_release()


def _put_in_force(group_config: GroupConfig, cluster: Cluster, configs: BrokerConfigs) -> None:
    group_config.consumer = consumer_environment.environment(cluster, configs)
    group_config.share = share_environment.environment(cluster, configs)


def build_broker(
    *,
    configs: BrokerConfigs,
    random: Random,
    epoch_ms: int,
    topics: Iterable[TopicOption] = (),
    log: EventLog | None = None,
    node_id: int = 1,
    cluster_id: str | None = None,
    limits: Limits = Limits(),
) -> Broker:
    """Return a broker that is alone in its cluster and leads every partition. __consumer_offsets
    exists from the start. `cluster_id` replaces the drawn one; all other draws stay the same.
    """
    cluster = Cluster(
        cluster_id="", controller_id=node_id, brokers=[BrokerNode(node_id)], configs=configs
    )
    coordinator = new_group_coordinator(configs, log, cluster)
    broker = Broker(
        node_id=node_id,
        cluster=cluster,
        configs=configs,
        coordinator=coordinator,
        parked_fetches=ParkedFetches(),
        random=random,
        epoch_ms=epoch_ms,
        log=log,
        limits=limits,
    )
    broker.topic_maker = topic_maker(broker)
    drawn = broker.fresh_name()
    cluster.cluster_id = cluster_id or drawn
    offsets = TopicOption(CONSUMER_OFFSETS, configs.get_int("offsets.topic.num.partitions"))
    for name, partitions in (offsets, *topics):
        assignment = [[node_id]] * (
            configs.get_int("num.partitions") if partitions is None else partitions
        )
        configured = OFFSETS_CONFIGS if name == CONSUMER_OFFSETS else {}
        broker.controller.create_topic(
            name, topic_id=broker.fresh_uuid(), replicas=assignment, configs=configured, now=0
        )
    return broker
