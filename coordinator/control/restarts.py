"""The verbs of an emulator's only broker, and restarts with other settings.

A broker alone can be stopped, by a shutdown, a crash or a pause, and started again; all other verbs
need several. Settings that a broker does not read when it starts are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, get_args

from ..cluster.network import HostState
from ..cluster_runtime import ClusterError
from ..configs.broker_configs import ConfigError
from ..verbs import row_of
from ..verbs.brokers import How, StartBroker, StopBroker

if TYPE_CHECKING:
    from ..broker.core import Broker
    from ..configs.broker_configs import BrokerConfigs
    from ..verbs.brokers import Verb

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
    """The host of the only broker."""

    state: HostState

    @property
    def node_id(self) -> int:
        """The broker's id."""

    def shut_down(self, now: int) -> None:
        """A controlled shutdown."""

    def crash(self, now: int) -> None:
        """The process ends at once."""

    def pause(self, now: int) -> None:
        """The process does nothing any more."""

    def resume(self, now: int) -> None:
        """A paused process goes on."""

    def start(self, now: int) -> None:
        """It is started again."""


def perform_alone(host: Host, broker: Broker, verb: Verb, now: int) -> Verb:
    """Carry a verb out on the only broker; answers its inverse. Raises ClusterError."""
    if not isinstance(verb, StopBroker | StartBroker):
        raise ClusterError(
            f"{verb}: there is one broker only, which can be stopped and started; for the other verbs give brokers=3, say"
        )
    if verb.broker != host.node_id:
        raise ClusterError(f"there is no broker {verb.broker}: the broker is {host.node_id}")
    if isinstance(verb, StopBroker):
        if verb.how not in get_args(How):
            raise ClusterError(
                f"how={verb.how!r}: a broker is stopped by one of {', '.join(get_args(How))}"
            )
        {"controlled": host.shut_down, "crash": host.crash, "pause": host.pause}[verb.how](now)
        inverse: Verb = StartBroker(verb.broker)
    else:
        paused = host.state is HostState.PAUSED
        (host.resume if paused else host.start)(now)
        inverse = StopBroker(verb.broker, "pause" if paused else "controlled")
    if broker.log is not None:
        fields = [getattr(verb, taken.name) for taken in row_of(verb).takes]
        logged = dict(zip(row_of(verb).logged, fields, strict=True))
        broker.log.append("fault", type(verb).__name__, at_ms=now, **logged)
    return inverse


def read_settings(configs: BrokerConfigs, given: Mapping[str, object]) -> dict[str, str]:
    """Settings for a restart as texts. Raises ConfigError for what Kafka would not start with, and
    for what it does not read at a start; then nothing has changed."""
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
    configs.for_broker(int(configs.get_int("node.id")), texts)
    return texts
