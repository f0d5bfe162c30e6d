"""The options of an emulator, read and checked. A wrong option is refused with what is wrong and
what would be right. This module must not need a running emulator; options about security are
in `security_options.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from coordinator.base.releases import NEWEST, Release, ReleaseError, release_named
from coordinator.server.limits import Limits
from coordinator.server.net.endpoints import DEFAULT_LISTENER, Endpoint
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.events.files import LogMode
    from coordinator.server.net.server import Server

MOST_BROKERS = 100
_AUTO_CREATE = "auto.create.topics.enable"


class EmulatorError(Exception):
    """An emulator cannot start, or is used while it does not run; the message says what is wrong
    and what to do."""


def read_limits(output_bytes: int, response_bytes: int) -> Limits:
    for name, value in (("max_output_bytes", output_bytes), ("max_response_bytes", response_bytes)):
        if type(value) is not int or value <= 0:
            raise EmulatorError(
                f"{name}={value!r}: give a number of bytes from 1 on, such as {Limits().output_bytes}"
            )
    return Limits(output_bytes, response_bytes)


def read_log_mode(mode: LogMode | str) -> LogMode:
    if mode == "new":
        return mode
    from coordinator.events.envelope import LOG_MODES

    if mode not in LOG_MODES:
        raise EmulatorError(f"log_mode={mode!r}: it is one of {', '.join(LOG_MODES)}")
    return cast("LogMode", mode)


def publish_listeners(server: Server, *, advertised: bool) -> None:
    """Put a broker's listeners, and its advertised ones if they were given, into its
    configuration."""
    broker = server.broker
    broker.configs.publish("listeners", ",".join(map(str, server.endpoints)))
    if not advertised:
        return
    own = broker.cluster.brokers[broker.node_id].endpoints
    names = [endpoint.name for endpoint in server.endpoints]
    broker.configs.publish(
        "advertised.listeners", ",".join(str(Endpoint(name, *own[name])) for name in names)
    )


def read_configs_of_brokers(
    configs: BrokerConfigs,
    brokers: int,
    racks: Sequence[str | None],
    own: Mapping[int, Mapping[str, object]],
    node_id: int,
) -> list[BrokerConfigs]:
    """Return a configuration for each broker. Raises EmulatorError for numbers that do not fit
    together."""
    if type(brokers) is not int or not 1 <= brokers <= MOST_BROKERS:
        raise EmulatorError(f"brokers={brokers!r}: give 1 to {MOST_BROKERS}")
    if not isinstance(own, Mapping):
        raise EmulatorError(
            f"broker_config={own!r}: give settings by broker id, such as {{1: {{'broker.rack': 'a'}}}}"
        )
    if brokers > 1 and node_id != 1:
        raise EmulatorError(
            f"node_id={node_id}: several brokers have the ids 1 to {brokers}; leave node_id out"
        )
    if racks and len(racks) != brokers:
        raise EmulatorError(
            f"racks: {len(racks)} were given for {brokers} brokers; give one for each"
        )
    ids = [node_id] if brokers == 1 else list(range(1, brokers + 1))
    for node in own:
        if node not in ids:
            raise EmulatorError(
                f"broker_config: there is no broker {node}; the brokers are {', '.join(map(str, ids))}"
            )
    if brokers == 1 and not own:
        return [configs]
    return [
        configs.for_broker(node, _texts(f"broker_config for broker {node}", own.get(node, {})))
        for node in ids
    ]


def read_endpoints(option: str, given: Any, default_name: str = DEFAULT_LISTENER) -> list[Endpoint]:
    """Read one address or several; an address without a name gets `default_name`. Raises
    EmulatorError."""
    texts = (
        [given]
        if isinstance(given, str)
        else list(given)
        if isinstance(given, Iterable)
        else [given]
    )
    if not all(isinstance(text, str) for text in texts):
        raise EmulatorError(
            f"{option}={given!r}: give 'host:port' or 'NAME://host:port', such as '127.0.0.1:9092', or a list of such"
        )
    try:
        return [Endpoint.parse(text, default_name) for text in texts]
    except ValueError as error:
        raise EmulatorError(str(error)) from None


def read_configs(
    config: Mapping[str, object] | BrokerConfigs | None,
    kafka_defaults: bool,
    node_id: int,
    auto_create_topics: bool | None,
    kafka_version: str | None = None,
    features: Mapping[str, int] | None = None,
) -> BrokerConfigs:
    """Return the configuration of a release, with feature levels. Raises ConfigError, and
    EmulatorError for an unknown release."""
    if isinstance(config, BrokerConfigs) and features is not None:
        raise ConfigError(
            f"features={features!r}: the configuration given has levels of its own; give one of them"
        )
    if isinstance(config, BrokerConfigs) and kafka_version is not None:
        raise ConfigError(
            f"kafka_version={kafka_version!r}: the configuration given is of Kafka {config.release}; give one of them"
        )
    release = read_release(kafka_version)
    if isinstance(config, BrokerConfigs) and auto_create_topics is None:
        return config
    if isinstance(config, BrokerConfigs) or (
        auto_create_topics is not None and _AUTO_CREATE in (config or {})
    ):
        raise ConfigError(
            f"auto_create_topics={auto_create_topics}: the configuration given says what {_AUTO_CREATE} is; give one of them"
        )
    texts = _texts("config", config or {})
    if auto_create_topics is not None:
        texts[_AUTO_CREATE] = _text(_AUTO_CREATE, auto_create_topics)
    if not kafka_defaults:
        _lower_bounds(texts)
    return BrokerConfigs(
        texts, kafka_defaults=kafka_defaults, node_id=node_id, release=release, features=features
    )


def _lower_bounds(texts: dict[str, str]) -> None:
    """Lower Kafka's lower bounds for share groups to the values that the user set, unless a
    bound is set as well. Tests need short times."""
    for name in ("heartbeat.interval.ms", "record.lock.duration.ms", "session.timeout.ms"):
        asked, bound = texts.get(f"group.share.{name}", ""), f"group.share.min.{name}"
        if asked.isdecimal() and bound not in texts and int(asked) < _LEAST[name]:
            texts[bound] = asked


_LEAST = {
    "heartbeat.interval.ms": 5_000,
    "record.lock.duration.ms": 15_000,
    "session.timeout.ms": 45_000,
}
"""Kafka's lower bounds."""


def read_release(kafka_version: str | None) -> Release:
    """Return the release that is asked for; None: the newest. Raises EmulatorError."""
    try:
        return NEWEST if kafka_version is None else release_named(kafka_version)
    except ReleaseError as error:
        raise EmulatorError(f"kafka_version={error}") from None


_SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_OF_SECURITY = ("listener.security.protocol.map", "authorizer.class.name")


def read_protocol(security: Any) -> str:
    """Return the option `security`, which names the protocol of listeners without a name of
    their own. Raises EmulatorError."""
    if security is None:
        return DEFAULT_LISTENER
    if security not in _SECURITY_PROTOCOLS:
        raise EmulatorError(f"security={security!r}: it is one of {', '.join(_SECURITY_PROTOCOLS)}")
    return cast("str", security)


def asks_for_security(
    users: Any, acls: Any, super_users: Any, endpoints: Sequence[Endpoint], configs: BrokerConfigs
) -> bool:
    """Return True if any option or setting concerns security; `security_options` then reads
    them."""
    plain = all(endpoint.name.upper() not in _SECURITY_PROTOCOLS[1:] for endpoint in endpoints)
    given = users is not None or bool(acls) or bool(super_users)
    of_configs = configs.security or not configs.static.keys().isdisjoint(_OF_SECURITY)
    return given or not plain or bool(of_configs)


def check_kinds(*, seed: Any, node_id: Any, log: Any, remember: Any, racks: Any) -> None:
    """Raise EmulatorError for options of a wrong type."""
    if type(remember) is not int or remember < 0:
        raise EmulatorError(
            f"remember={remember!r}: give a number of lines from 0 on, such as 100_000"
        )
    if (
        isinstance(racks, str)
        or not isinstance(racks, Iterable)
        or not all(rack is None or isinstance(rack, str) for rack in racks)
    ):
        raise EmulatorError(
            f"racks={racks!r}: give a list with a name for each broker, or None for one without, such as ['a', 'b', 'c']"
        )
    for name, number in (("seed", seed), ("node_id", node_id)):
        if number is not None and type(number) is not int:
            raise EmulatorError(f"{name}={number!r}: give a whole number")
    if log is not None and not isinstance(log, (str, PathLike)):
        raise EmulatorError(f"log={log!r}: give the path of a file")


def _texts(option: str, config: Any) -> dict[str, str]:
    """Return settings as Kafka writes them: all values as text. Raises ConfigError for a value
    of another kind."""
    if not isinstance(config, Mapping):
        raise ConfigError(
            f"{option}={config!r}: give Kafka's names and values, such as {{'num.partitions': 3}}"
        )
    return {str(name): _text(name, value) for name, value in config.items()}


def _text(name: object, value: object) -> str:
    if value is None:
        raise ConfigError(f"{name}=None: leave the name out to have Kafka's default")
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def open_log(
    path: str | PathLike[str] | None,
    mode: LogMode,
    remember: int,
    configs: BrokerConfigs,
    *,
    seed: int,
    epoch_ms: int,
    tell: Callable[[str], None],
) -> EventLog | None:
    """Return the event log in a file, or in memory if lines are to be remembered. `tell`: called
    with a sentence if the file cannot be written. Raises EmulatorError for a file that cannot be
    opened."""
    if path is None and not remember:
        return None
    from coordinator.events import EventLog, LogError

    config = {name: value for name, value, _, honoured in configs.in_force() if honoured}
    version = configs.release.number
    if path is None:
        return EventLog(
            seed=seed,
            epoch_ms=epoch_ms,
            config=config,
            kafka_version=version,
            most_lines=remember,
        )
    try:
        log = EventLog.open(
            path, mode=mode, seed=seed, epoch_ms=epoch_ms, config=config, kafka_version=version
        )
    except OSError as error:
        raise EmulatorError(f"cannot write the log {path}: {error.strerror or error}") from error
    except LogError as error:
        raise EmulatorError(f"cannot append to the log: {error}") from None
    log.tell = tell
    return log
