"""Limits of a run: numbers of brokers, clients, partitions and replicas, and its length. More
would exhaust memory, or take a lifetime. Raises ScenarioError with the place in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from coordinator.server.cluster.topic_names import TopicNames
from coordinator.server.settings.broker_configs import BrokerConfigs

from .key_positions import Where
from .reading import Plain, ScenarioError

MOST_TIMES: Final = 100_000
"""The highest number of times that churn or a fault may happen."""
MOST_CLIENTS: Final = 20_000
_MOST_BROKERS: Final = 100
_MOST_PARTITIONS_IN_ALL: Final = 200_000
_MOST_REPLICAS: Final = 600_000
_MOST_INTERNAL: Final = 100_000
_INTERNAL: Final = {
    "offsets.topic.num.partitions": "offsets.topic.replication.factor",
    "transaction.state.log.num.partitions": "transaction.state.log.replication.factor",
}
"""Numbers of partitions, and of replicas of each, of internal topics."""
_FACTORS: Final = ("default.replication.factor", *_INTERNAL.values())


def check_sizes(clients: int, where: Where) -> None:
    """Refuse more members and producers than memory would do for."""
    if clients > MOST_CLIENTS:
        raise ScenarioError(
            f"{where}: {clients} members and producers: a run has at most {MOST_CLIENTS}, for each takes some 100 KB"
        )


def check_scale(plain: Plain, where: Callable[[str], Where]) -> None:
    """Refuse what no run could carry out in a lifetime, or would have nothing to do in. `where`: a
    table's place."""
    duration_ms, brokers = plain["duration"], plain["brokers"]["count"]
    if not duration_ms:
        raise ScenarioError(
            f"{where('').at('duration')}: duration = {duration_ms} ms: from 1 ms to 366 days (8784h)"
        )
    if not 0 < brokers <= _MOST_BROKERS:
        raise ScenarioError(
            f"{where('brokers').at('count')}: brokers.count = {brokers}: from 1 to {_MOST_BROKERS}"
        )
    if not any(kind["count"] for kind in plain["members"]) and not plain["churn"]:
        raise ScenarioError(
            f"{where('members').at('count')}: count = 0: no member starts, and no churn brings one: at least 1"
        )


def check_replication(
    given: Mapping[str, str], configs: BrokerConfigs, brokers: int, where: Where
) -> None:
    """Check that the brokers are enough for each replication factor that the file sets; the
    default is the number of brokers."""
    for setting in _FACTORS:
        if setting in given and configs.get_int(setting) > brokers:
            there = f"there {'are' if brokers > 1 else 'is'} {brokers} (brokers.count), so at most {brokers}, or leave it out"
            raise ScenarioError(
                f"{where.of(setting)}: {setting} = {configs.get_int(setting)}: needs as many brokers: {there}"
            )


def check_topics(
    topics: Mapping[str, int],
    configs: BrokerConfigs,
    brokers: int,
    where: Where,
    where_brokers: Where,
) -> None:
    """Check that Kafka accepts the topics' names beside each other, and that memory is enough
    for the partitions."""
    there = TopicNames(topics)
    for topic in topics:
        other = there.colliding(topic)
        if other is not None:
            said = f"{topic} and {other} differ only in dots and underscores, and Kafka has but one of them: give one another name"
            raise ScenarioError(f"{where.at(topic)}: {said}")
    for setting in _INTERNAL:
        if configs.get_int(setting) > _MOST_INTERNAL:
            raise ScenarioError(
                f"{where_brokers.of(setting)}: {setting} = {configs.get_int(setting)}: at most {_MOST_INTERNAL}"
            )
    count = sum(topics.values())
    if count > _MOST_PARTITIONS_IN_ALL:
        most = f"a run has at most {_MOST_PARTITIONS_IN_ALL}, for each takes some 10 KB"
        raise ScenarioError(f"{where}: {count} partitions of all topics: {most}")
    replicas = count * min(configs.get_int("default.replication.factor"), brokers)
    replicas += sum(
        configs.get_int(number) * min(configs.get_int(factor), brokers)
        for number, factor in _INTERNAL.items()
    )
    if replicas > _MOST_REPLICAS:
        most = f"a run has at most {_MOST_REPLICAS}, for each takes some 2 KB: give fewer partitions, or lower replication factors"
        raise ScenarioError(
            f"{where}: {replicas} replicas of all partitions, internal topics' among them: {most}"
        )
