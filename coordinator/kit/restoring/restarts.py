"""Verbs for an emulator's only broker, and restarts with other settings.

An only broker can be stopped (shutdown, crash or pause) and started again, and its logs can be
cleaned; all other verbs need several brokers. A setting that a broker does not read at its start
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, get_args

from coordinator.server.cluster.network import HostState
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.cluster_runtime.upgrades import check_levels, chosen, stays_what_it_is
from coordinator.server.settings.broker_configs import ConfigError
from coordinator.verbs.brokers import CleanLogs, How, StartBroker, StopBroker, UpdateFeature

from .. import arguments
from ..in_process_requests import ControlError

if TYPE_CHECKING:
    from coordinator.base.releases import Release
    from coordinator.server.broker import Broker
    from coordinator.server.settings.broker_configs import BrokerConfigs
    from coordinator.verbs.brokers import Verb

_NOT_AT_A_START = {
    "node.id": "a broker keeps its id",
    "broker.id": "a broker keeps its id",
    "process.roles": "a broker keeps its roles",
    "offsets.topic.num.partitions": "it counts when __consumer_offsets is made",
    "offsets.topic.replication.factor": "it counts when __consumer_offsets is made",
    "transaction.state.log.num.partitions": "it counts when __transaction_state is made",
    "transaction.state.log.replication.factor": "it counts when __transaction_state is made",
}


class Host(Protocol):
    """Interface of the host of the only broker."""

    state: HostState

    @property
    def node_id(self) -> int:
        """The broker's id."""

    def shut_down(self, now: int) -> None:
        """Shut the broker down in a controlled way."""

    def crash(self, now: int) -> None:
        """End the process at once."""

    def pause(self, now: int) -> None:
        """Pause the process."""

    def resume(self, now: int) -> None:
        """Let a paused process go on."""

    def start(self, now: int, release: Release | None = None) -> None:
        """Start the broker again, as another release of Kafka if one is given."""


def perform_alone(host: Host, broker: Broker, verb: Verb, now: int) -> Verb | None:
    """Carry a verb out on the only broker; return its inverse. Raises ClusterError."""
    inverse: Verb | None
    if isinstance(verb, UpdateFeature):
        inverse = _update_feature(host, broker, verb, now)
    elif isinstance(verb, CleanLogs):
        _clean_logs(host, broker, verb, now)
        inverse = None
    elif isinstance(verb, StopBroker | StartBroker):
        verb, inverse = _stop_or_start(host, verb, now)
    else:
        raise ClusterError(
            f"{verb}: there is one broker only, which can be stopped and started, and whose logs "
            "can be cleaned; for the other verbs give brokers=3, say"
        )
    if broker.log is not None:
        broker.log.append(verb, at_ms=now)
    return inverse


def _update_feature(host: Host, broker: Broker, verb: UpdateFeature, now: int) -> Verb | None:
    from .. import features  # at first use, so that a restart does not load it

    if host.state is not HostState.RUNNING:
        raise ClusterError(f"feature {verb.feature} stays as it is: the only broker does not run")
    try:
        before = features.update(broker, now, verb.feature, verb.level)
    except ControlError as error:
        raise ClusterError(str(error)) from None
    return None if before is None else UpdateFeature(verb.feature, before)


def _clean_logs(host: Host, broker: Broker, verb: CleanLogs, now: int) -> None:
    from coordinator.server.cluster_runtime.cleaned import (
        check_logs,  # at first use, so that a restart does not load it
    )

    if host.state is not HostState.RUNNING:
        raise ClusterError("no log is cleaned: the only broker does not run")
    check_logs(broker.cluster, verb.topic, verb.partition)
    clean = broker.services.cleaning.clean if verb.now else broker.services.cleaning.check_soon
    clean(verb.topic, verb.partition, now)


def _stop_or_start(
    host: Host, verb: StopBroker | StartBroker, now: int
) -> tuple[StopBroker | StartBroker, Verb]:
    """Stop or start the broker. Return the verb as it is logged, and its inverse."""
    if verb.broker != host.node_id:
        raise ClusterError(f"there is no broker {verb.broker}: the broker is {host.node_id}")
    if isinstance(verb, StopBroker):
        if verb.how not in get_args(How):
            raise ClusterError(
                f"how={verb.how!r}: a broker is stopped by one of {', '.join(get_args(How))}"
            )
        {"controlled": host.shut_down, "crash": host.crash, "pause": host.pause}[verb.how](now)
        return verb, StartBroker(verb.broker)
    release = chosen(verb.kafka_version)
    if host.state is HostState.PAUSED:
        if release is not None:
            raise ClusterError(stays_what_it_is(verb.broker, verb.kafka_version))
        host.resume(now)
        return verb, StopBroker(verb.broker, "pause")
    host.start(now, release)
    told = verb if release is None else replace(verb, kafka_version=release.number)
    return told, StopBroker(verb.broker, "controlled")


def prepared(
    broker: Broker, given: Mapping[str, object], kafka_version: str | None
) -> Callable[[], None]:
    """Check settings and a release for a restart; return a function that puts them in force once
    the broker has stopped. Raises ConfigError for settings with which Kafka would not start, and
    for those that it does not read at a start; ClusterError for a release that does not start.
    Then nothing has changed."""
    arguments.mapping("config", given, '{"group.max.size": 10}')
    configs, release = broker.configs, chosen(kafka_version)
    if release is not None:
        check_levels(broker.node_id, release, broker.controller.cluster.highest_levels)
    texts = _read_settings(configs, given, release)

    def put_in_force() -> None:
        if release is not None:
            configs.become(release)
        for name, text in texts.items():
            configs.set(name, text)

    return put_in_force


def _read_settings(
    configs: BrokerConfigs, given: Mapping[str, object], release: Release | None
) -> dict[str, str]:
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in given.items()
    }
    for name in texts:
        if name in _NOT_AT_A_START:
            raise ConfigError(
                f"{name} is not read when a broker starts again: {_NOT_AT_A_START[name]}"
            )
        if name in configs.dynamic or name in configs.dynamic_default:
            raise ConfigError(
                f"{name} is in force as a dynamic configuration, which a broker's own file does not overrule: alter that"
            )
    configs.for_broker(int(configs.get_int("node.id")), texts, release)
    return texts
