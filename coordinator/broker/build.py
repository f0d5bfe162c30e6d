"""A whole broker from options: configuration, cluster with its first topics, groups, and what it draws from its seed.

Owns the order in which the parts are put together, for every driver alike. Raises ConfigError or TopicError in words meant
for whoever wrote the option. Refuses to know where options came from, sockets and clocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..cluster import CONSUMER_OFFSETS, BrokerNode, Cluster
from ..group_coordinator import GroupCoordinator
from ..groups.config import GroupConfig
from .core import Broker
from .parked_fetches import ParkedFetches

if TYPE_CHECKING:
    from random import Random

    from ..cluster.configs import BrokerConfigs
    from ..event_log import EventLog

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MOST_PARTITIONS = 100_000
_OFFSETS_CONFIGS = {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"}


class TopicError(ValueError):
    """A topic option that cannot be: what, and what would be right."""


class TopicOption(NamedTuple):
    """A topic to have from the start. `partitions` None: as many as num.partitions says."""

    name: str
    partitions: int | None = None

    @classmethod
    def parse(cls, text: str) -> TopicOption:
        """Read `name` or `name:partitions`. Raises TopicError."""
        name, colon, partitions = text.partition(":")
        if colon and not partitions.isdecimal():
            raise TopicError(f"topic {text!r}: write name or name:partitions, such as orders:12")
        return cls(name, int(partitions) if colon else None).checked()

    def checked(self) -> TopicOption:
        """Itself. Raises TopicError for a name or a number that Kafka would not have."""
        if not _LEGAL_NAME.fullmatch(self.name) or self.name in (".", ".."):
            raise TopicError(f"topic {self.name!r}: a name has 1 to 249 of the characters a-z A-Z 0-9 . _ -, and is not . or ..")
        if self.partitions is not None and not 1 <= self.partitions <= _MOST_PARTITIONS:
            raise TopicError(f"topic {self.name}: {self.partitions} partitions; from 1 to {_MOST_PARTITIONS} can be had")
        return self


def topic_options(topics: Iterable[str] | Mapping[str, int]) -> list[TopicOption]:
    """Topics given as `name` and `name:partitions`, or as a mapping from name to partitions. Raises TopicError."""
    if isinstance(topics, Mapping):
        options = [TopicOption(name, partitions).checked() for name, partitions in topics.items()]
    else:
        options = [TopicOption.parse(topic) for topic in topics]
    names = [option.name for option in options]
    for name in names:
        if names.count(name) > 1:
            raise TopicError(f"topic {name} is given twice")
        if name == CONSUMER_OFFSETS:
            raise TopicError(f"topic {name} is there anyway")
    return options


def group_config(configs: BrokerConfigs) -> GroupConfig:
    """The group coordinator's settings as the broker's configuration has them now."""
    config = GroupConfig()
    for name, value in configs.group_config().items():
        setattr(config, name, value)
    return config


def build_broker(
    *, configs: BrokerConfigs, random: Random, epoch_ms: int, topics: Iterable[TopicOption] = (), log: EventLog | None = None,
    node_id: int = 1, cluster_id: str | None = None,
) -> Broker:
    """A broker, alone in its cluster, that leads every partition. __consumer_offsets exists from the start.

    `cluster_id` takes the place of the one that is drawn; nothing else that is drawn differs.
    """
    coordinator = GroupCoordinator(group_config(configs), log)
    cluster = Cluster(cluster_id="", controller_id=node_id, brokers=[BrokerNode(node_id)], configs=configs)
    broker = Broker(
        node_id=node_id, cluster=cluster, configs=configs, coordinator=coordinator, parked_fetches=ParkedFetches(), random=random,
        epoch_ms=epoch_ms, log=log,
    )  # fmt: skip
    drawn = broker.fresh_name()
    cluster.cluster_id = cluster_id or drawn
    offsets = TopicOption(CONSUMER_OFFSETS, configs.get_int("offsets.topic.num.partitions"))
    for name, partitions in (offsets, *topics):
        assignment = [[node_id]] * (configs.get_int("num.partitions") if partitions is None else partitions)
        topic = cluster.create_topic(
            name, topic_id=broker.fresh_uuid(), assignment=assignment, configs=_OFFSETS_CONFIGS if name == CONSUMER_OFFSETS else {}
        )
        if log is not None:
            log.append(
                "cluster", "TopicCreated", topic=name, topic_id=topic.id.hex(), partitions=len(assignment), replicas=assignment,
                configs=topic.configs,
            )  # fmt: skip
    return broker
