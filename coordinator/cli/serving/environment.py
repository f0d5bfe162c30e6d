"""Settings of `serve` from environment variables, in the form of the apache/kafka image: KAFKA_*,
CLUSTER_ID, and COORDINATOR_*.

Read only with `serve --from-environment`. A compose file for apache/kafka must work when the
image's name is changed, so settings that only a KRaft deployment or a Java process needs are
accepted, and listeners of controllers are left out. Settings that Kafka ignores are ignored with
a warning; settings that Kafka refuses at start are refused (UsageError: which variable, what is
wrong, what would be right). This module must not know what a setting does.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from .. import UsageError

if TYPE_CHECKING:
    from coordinator.base.releases import Release
    from coordinator.server.net.endpoints import Endpoint

# Meant for the Java process or the image's own scripts; no broker setting.
JAVA_ONLY = frozenset(
    {
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_HEAP_OPTS",
        "KAFKA_HOME",
        "KAFKA_JMX_HOSTNAME",
        "KAFKA_JMX_OPTS",
        "KAFKA_JMX_PORT",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_OPTS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_VERSION",
    }
)
_JAVA_ONLY_PREFIX = "KAFKA_LOG4J_"
OURS = (
    "COORDINATOR_ACLS",
    "COORDINATOR_BROKERS",
    "COORDINATOR_CONTROL",
    "COORDINATOR_CONTROL_ADVERTISE",
    "COORDINATOR_CONTROL_LISTEN",
    "COORDINATOR_CONTROL_TOKEN",
    "COORDINATOR_KAFKA_DEFAULTS",
    "COORDINATOR_KAFKA_VERSION",
    "COORDINATOR_LOG",
    "COORDINATOR_LOG_BOOTSTRAP",
    "COORDINATOR_LOG_COMMAND_CONFIG",
    "COORDINATOR_LOG_MODE",
    "COORDINATOR_LOG_TOPIC",
    "COORDINATOR_RACKS",
    "COORDINATOR_SEED",
    "COORDINATOR_TOPICS",
)
_PROTOCOL_MAP = "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_CONTROLLER = "CONTROLLER"
_EVERYWHERE = "PLAINTEXT://0.0.0.0:9092"
_HERE = "PLAINTEXT://127.0.0.1:9092"
# What this module reads itself, by variable; the server shows these settings from what it made of
# them.
_READ_HERE = frozenset(
    {
        "KAFKA_ADVERTISED_LISTENERS",
        "KAFKA_BROKER_ID",
        "KAFKA_CONTROLLER_LISTENER_NAMES",
        "KAFKA_LISTENERS",
        "KAFKA_NODE_ID",
        "KAFKA_PROCESS_ROLES",
    }
)


@dataclass(kw_only=True)
class Settings:
    """Settings from the environment, in the form of the options of `serve`; None: not set."""

    listen: list[str]
    advertise: list[str]
    topics: list[str] = field(default_factory=list)
    acls: list[str] = field(default_factory=list)
    configs: dict[str, str] = field(default_factory=dict)
    node_id: int | None = None
    cluster_id: str | None = None
    log: str | None = None
    log_mode: str | None = None
    log_topic: str | None = None
    log_bootstrap: str | None = None
    log_command_config: str | None = None
    control: str | None = None
    control_advertise: str | None = None
    seed: int | None = None
    brokers: int | None = None
    racks: str | None = None
    kafka_defaults: bool = False
    kafka_version: str | None = None
    warnings: list[str] = field(default_factory=list)


def read(
    environ: Mapping[str, str],
    *,
    listen: Sequence[str] = (),
    advertise: Sequence[str] = (),
    allow_remote: bool = False,
    kafka_version: str | None = None,
) -> Settings:
    """Read the environment. Raises UsageError.

    `listen`, `advertise`, `kafka_version`: values of options, which override the environment.
    Without any listener the result is port 9092 of every interface, advertised as
    localhost:9092, if `allow_remote`; else of loopback.
    """
    settings = Settings(listen=list(listen), advertise=list(advertise))
    if not listen:
        overruled = {"KAFKA_ADVERTISED_LISTENERS": ",".join(advertise)} if advertise else {}
        listeners, advertised = _listeners({**environ, **overruled}, allow_remote=allow_remote)
        settings.listen = [str(endpoint) for endpoint in listeners]
        settings.advertise = [str(endpoint) for endpoint in advertised]
    _check_roles(environ, settings)
    settings.kafka_version = kafka_version or (
        environ.get("COORDINATOR_KAFKA_VERSION", "").strip() or None
    )
    where = "--kafka-version" if kafka_version else "COORDINATOR_KAFKA_VERSION"
    release = _release(where, settings.kafka_version)
    _read_ours(environ, settings)
    settings.node_id = _node_id(environ)
    settings.cluster_id = environ.get("CLUSTER_ID") or None
    for variable in sorted(environ):
        if (
            variable.startswith("KAFKA_")
            and variable not in JAVA_ONLY | _READ_HERE
            and not variable.startswith(_JAVA_ONLY_PREFIX)
        ):
            _read_config(variable, environ[variable], settings, release)
    return settings


def config_name(variable: str) -> str:
    """Return the configuration that an environment variable sets: KAFKA_GROUP_MAX_SIZE sets
    group.max.size; two underscores stand for one, three for a hyphen."""
    name = variable.removeprefix("KAFKA_").lower().replace("_", ".")
    return name.replace("...", "-").replace("..", "_")


def client_listeners(environ: Mapping[str, str], *, allow_remote: bool = True) -> list[Endpoint]:
    """Return the listeners for clients, that is, all but the controllers'. Raises UsageError."""
    given = environ.get("KAFKA_LISTENERS", "").strip()
    of_controllers = _of_controllers(environ)
    listeners = _endpoints("KAFKA_LISTENERS", given or (_EVERYWHERE if allow_remote else _HERE))
    listeners = [endpoint for endpoint in listeners if endpoint.name not in of_controllers]
    if not listeners:
        raise UsageError(
            f"KAFKA_LISTENERS={given}: no listener is left for clients; add one, such as {_EVERYWHERE}"
        )
    return listeners


def _listeners(
    environ: Mapping[str, str], *, allow_remote: bool
) -> tuple[list[Endpoint], list[Endpoint]]:
    """Return the listeners for clients and their advertised addresses. Raises UsageError."""
    listeners = client_listeners(environ, allow_remote=allow_remote)
    names = [endpoint.name for endpoint in listeners]
    for name in names:
        protocol_of(environ, name)
    of_controllers = _of_controllers(environ)
    advertised = _endpoints(
        "KAFKA_ADVERTISED_LISTENERS", environ.get("KAFKA_ADVERTISED_LISTENERS", "")
    )
    advertised = [endpoint for endpoint in advertised if endpoint.name not in of_controllers]
    for endpoint in advertised:
        if endpoint.name not in names:
            raise UsageError(
                f"KAFKA_ADVERTISED_LISTENERS: {endpoint} has no listener; those in KAFKA_LISTENERS are {', '.join(names)}"
            )
    if not environ.get("KAFKA_LISTENERS", "").strip() and not advertised:
        return listeners, [
            endpoint._replace(host="localhost")
            for endpoint in listeners
            if not endpoint.is_loopback
        ]
    return listeners, advertised + _own_names(listeners, {endpoint.name for endpoint in advertised})


def _of_controllers(environ: Mapping[str, str]) -> set[str]:
    return {
        name.upper()
        for name in _items(environ.get("KAFKA_CONTROLLER_LISTENER_NAMES") or _CONTROLLER)
    }


def _own_names(listeners: list[Endpoint], advertised: set[str]) -> list[Endpoint]:
    """Return listeners without a host and an advertised address with the machine's name, which
    is Kafka's default."""
    missing = [endpoint for endpoint in listeners if endpoint.name not in advertised]
    for endpoint in missing:
        if endpoint.host in ("0.0.0.0", "::"):
            example = endpoint._replace(host="localhost")
            raise UsageError(
                f"KAFKA_LISTENERS: {endpoint} is no address that a client can connect to: say which one is, "
                f"such as KAFKA_ADVERTISED_LISTENERS={example}"
            )
    return [
        endpoint._replace(host=socket.gethostname()) for endpoint in missing if not endpoint.host
    ]


def _endpoints(variable: str, text: str) -> list[Endpoint]:
    from coordinator.server.net.endpoints import Endpoint

    endpoints = []
    for item in _items(text):
        try:
            endpoint = Endpoint.parse(item)
        except ValueError as error:
            raise UsageError(f"{variable}: {error}") from None
        endpoints.append(endpoint._replace(name=endpoint.name.upper()))
    return endpoints


def protocol_of(environ: Mapping[str, str], name: str) -> str:
    """Return the protocol of a listener. A listener that is not in the map must be named like a
    protocol. Raises UsageError."""
    given = environ.get(_PROTOCOL_MAP, "")
    protocols = {each: each for each in _PROTOCOLS} if not given.strip() else {}
    for item in _items(given):
        listener, colon, protocol = item.partition(":")
        if not colon or not protocol.strip():
            raise UsageError(
                f"{_PROTOCOL_MAP}: {item!r} is no pair; write LISTENER:PROTOCOL, such as PLAINTEXT:PLAINTEXT"
            )
        protocols[listener.strip().upper()] = protocol.strip().upper()
    if name not in protocols:
        raise UsageError(
            f"{_PROTOCOL_MAP}: it says nothing of the listener {name}; add {name}:PLAINTEXT"
        )
    if protocols[name] not in _PROTOCOLS:
        raise UsageError(
            f"{_PROTOCOL_MAP}: the listener {name} is to speak {protocols[name]}; it is one of {', '.join(_PROTOCOLS)}"
        )
    return protocols[name]


def _check_roles(environ: Mapping[str, str], settings: Settings) -> None:
    """Refuse a node that is not a broker; warn that several nodes become one."""
    roles = environ.get("KAFKA_PROCESS_ROLES", "")
    if roles.strip() and "broker" not in _items(roles):
        raise UsageError(
            f"KAFKA_PROCESS_ROLES={roles}: the emulator is a broker that needs no other node; leave this service out, "
            "or write broker,controller"
        )
    for variable in ("KAFKA_CONTROLLER_QUORUM_VOTERS", "KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS"):
        if len(_items(environ.get(variable, ""))) > 1:
            settings.warnings.append(
                f"{variable} names several nodes: every emulator is a cluster of its own, of one broker"
            )
            return


def _read_ours(environ: Mapping[str, str], settings: Settings) -> None:
    from coordinator.events.envelope import LOG_MODES

    settings.topics = _topics(environ.get("COORDINATOR_TOPICS", ""))
    settings.acls = _acls(environ.get("COORDINATOR_ACLS", ""))
    settings.log = environ.get("COORDINATOR_LOG") or None
    settings.log_topic = environ.get("COORDINATOR_LOG_TOPIC", "").strip() or None
    settings.log_bootstrap = environ.get("COORDINATOR_LOG_BOOTSTRAP", "").strip() or None
    settings.log_command_config = environ.get("COORDINATOR_LOG_COMMAND_CONFIG") or None
    settings.control = environ.get("COORDINATOR_CONTROL_LISTEN") or None
    settings.control_advertise = environ.get("COORDINATOR_CONTROL_ADVERTISE") or None
    settings.log_mode = environ.get("COORDINATOR_LOG_MODE", "").strip().lower() or None
    if settings.log_mode is not None and settings.log_mode not in LOG_MODES:
        raise UsageError(
            f"COORDINATOR_LOG_MODE={settings.log_mode}: write one of {', '.join(LOG_MODES)}"
        )
    seed = environ.get("COORDINATOR_SEED", "").strip()
    if seed:
        settings.seed = _whole("COORDINATOR_SEED", seed)
    brokers = environ.get("COORDINATOR_BROKERS", "").strip()
    if brokers:
        settings.brokers = _whole("COORDINATOR_BROKERS", brokers)
    settings.racks = environ.get("COORDINATOR_RACKS", "").strip() or None
    keep = environ.get("COORDINATOR_KAFKA_DEFAULTS", "").strip().lower()
    if keep not in ("", "true", "false"):
        raise UsageError(
            f"COORDINATOR_KAFKA_DEFAULTS={keep}: write true to keep Kafka's initial rebalance delay of 3000 ms, or false"
        )
    settings.kafka_defaults = keep == "true"
    for variable in sorted(environ):
        if variable.startswith("COORDINATOR_") and variable not in OURS:
            near = get_close_matches(variable, OURS, n=1) or [", ".join(OURS)]
            settings.warnings.append(
                f"{variable} is not known and ignored; did you mean {near[0]}?"
            )


def _topics(text: str) -> list[str]:
    from coordinator.server.build import TopicError, topic_options

    topics = _items(text)
    try:
        topic_options(topics)
    except TopicError as error:
        raise UsageError(f"COORDINATOR_TOPICS: {error}") from None
    return topics


def _acls(text: str) -> list[str]:
    """Return the ACLs of a text, one in each line, because names may contain any other
    character."""
    acls = [line.strip() for line in text.splitlines() if line.strip()]
    if not acls:
        return acls
    from coordinator.events.acls import AclError, read_acl

    try:
        for each in acls:
            read_acl(each)
    except AclError as error:
        raise UsageError(f"COORDINATOR_ACLS: {error}") from None
    return acls


def _node_id(environ: Mapping[str, str]) -> int | None:
    """Return node.id, also called broker.id."""
    ids = {
        name: _whole(name, environ[name])
        for name in ("KAFKA_NODE_ID", "KAFKA_BROKER_ID")
        if environ.get(name, "").strip()
    }
    for variable, number in ids.items():
        if not 0 <= number < 1 << 31:
            raise UsageError(
                f"{variable}={number}: a broker's id is a number from 0 to {(1 << 31) - 1}"
            )
    if len(set(ids.values())) > 1:
        raise UsageError(
            f"KAFKA_BROKER_ID={ids['KAFKA_BROKER_ID']}: KAFKA_NODE_ID={ids['KAFKA_NODE_ID']} is the same thing; leave one out"
        )
    return next(iter(ids.values()), None)


def _release(where: str, name: str | None) -> Release:
    from coordinator.base.releases import NEWEST, ReleaseError, release_named

    try:
        return NEWEST if name is None else release_named(name)
    except ReleaseError as error:
        raise UsageError(f"{where}: {error}") from None


def _read_config(variable: str, value: str, settings: Settings, release: Release) -> None:
    """Read one broker setting, checked as Kafka does at start. An unknown one is ignored with a
    warning."""
    from coordinator.server.settings.broker_configs import OF_LISTENERS, OF_SECURITY, broker_defs
    from coordinator.server.settings.definitions import ConfigException

    name = config_name(variable)
    if name in OF_SECURITY or name.startswith(OF_LISTENERS):
        settings.configs[name] = value
        return
    defs = broker_defs(release)
    known = defs.get(name)
    if known is None:
        near = get_close_matches(name, defs, n=1)
        hint = f"; did you mean {_variable(near[0])}?" if near else ""
        settings.warnings.append(
            f"{variable}: {name} is no broker configuration of Kafka {release}, and ignored{hint}"
        )
        return
    try:
        known.parse(value)
    except ConfigException as refused:
        raise UsageError(f"{variable}={value}: {refused}") from None
    settings.configs[name] = value


def _variable(name: str) -> str:
    return "KAFKA_" + name.replace("_", "__").replace("-", "___").replace(".", "_").upper()


def _whole(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{variable}={text}: a whole number is meant, such as 1") from None


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
