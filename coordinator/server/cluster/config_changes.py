"""Changes of configurations at run time: the resulting values, and Kafka's refusals with their
codes and texts.

The change of a resource is checked and made as a whole, or not at all; with `validate_only` it
is only checked. Broker resources are checked by the broker's rules (mostly error 42), topics and
groups by the controller's (mostly 40), in this order: operations, resource name, values,
existence of the topic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.base.releases import Release

from ..settings import client_metrics, group_configs, topic_configs
from ..settings.broker_configs import BrokerConfigs, broker_defs, run_time_defs
from ..settings.definitions import ConfigDef, ConfigException, ConfigType, parse_whole
from .model import Cluster
from .topic_names import why_invalid

_LISTENER_PREFIX = re.compile(r"listener\.name\.[^.]*\.(.*)")
# Keys and certificates change at run time only for one listener, by its prefix.
_BY_LISTENER = frozenset(
    {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
_THREADS = (
    "num.network.threads",
    "num.io.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
_NO_LISTS: dict[str, ConfigDef] = {}  # what a controller knows of groups' and clients' settings
MIN_ISR = "min.insync.replicas"
MOST_VALUE_UNITS = 32_767
"""Of Java's chars: what a record of the metadata log holds."""
_TOO_LONG = f"The configuration value cannot be added because it exceeds the maximum value size of {MOST_VALUE_UNITS} bytes."


class Operation(IntEnum):
    """Operations of IncrementalAlterConfigs (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    """One operation on one configuration name."""

    name: str
    operation: int
    value: str | None


class ConfigRefused(Exception):
    """Error code and message with which a change is refused."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def check_form(changes: Iterable[Change]) -> None:
    """Raise ConfigRefused for names given twice or missing values, before the resource is looked
    up.
    """
    listed = list(changes)
    if len({change.name for change in listed}) < len(listed):
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [
        change.name
        for change in listed
        if change.value is None and change.operation != Operation.DELETE
    ]
    if nulls:
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}"
        )


def altered_topic(
    cluster: Cluster, name: str, changes: Iterable[Change], *, replace: bool, release: Release
) -> dict[str, str]:
    """Return a topic's own values after a change. `replace`: unnamed values are removed
    (AlterConfigs). `release`: the controller's. Raises ConfigRefused.
    """
    topic = cluster.topics.get(name)
    values = _apply_as_controller(
        topic.configs if topic and not replace else {},
        changes,
        topic_configs.settable_topic_defs(release),
    )
    if not name:
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    why = why_invalid(name)
    if why is not None:
        raise ConfigRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, why)
    try:
        topic_configs.validate(values, release)
    except ConfigException as refused:
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, str(refused)) from None
    if topic is None:
        raise ConfigRefused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )
    return values


def alter_group(
    cluster: Cluster,
    configs: BrokerConfigs,
    name: str,
    changes: Iterable[Change],
    *,
    replace: bool,
    validate_only: bool,
) -> None:
    """Change a group's own values, whether or not the group exists. Raises ConfigRefused."""
    own = cluster.group_configs.get(name, {})
    values = _apply_as_controller({} if replace else own, changes, _NO_LISTS)
    if not name:
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    try:
        group_configs.validate(values, configs)
    except ConfigException as refused:
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, str(refused)) from None
    if not validate_only:
        _keep(cluster.group_configs, name, values)


def alter_client_metrics(
    cluster: Cluster, name: str, changes: Iterable[Change], *, replace: bool, validate_only: bool
) -> None:
    """Change the values of a client metrics subscription. Raises ConfigRefused."""
    own = cluster.client_metrics.get(name, {})
    values = _apply_as_controller({} if replace else own, changes, _NO_LISTS)
    if not name:
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    try:
        client_metrics.validate(values)
    except client_metrics.SubscriptionRefused as refused:
        raise ConfigRefused(refused.code, str(refused)) from None
    if not validate_only:
        _keep(cluster.client_metrics, name, values)


def alter_broker(
    configs: BrokerConfigs,
    node_id: int,
    name: str,
    changes: Iterable[Change],
    *,
    replace: bool,
    validate_only: bool,
    eligible: bool,
) -> None:
    """Change values of this broker (`name` is its id) or the default of all brokers (`name` is
    empty). `eligible`: the cluster keeps eligible leader replicas. Raises ConfigRefused.
    """
    for_all = not name
    if not for_all:
        check_node(node_id, name, "Unexpected broker id, expected {}, but received {}")
    own = configs.dynamic_default if for_all else configs.dynamic
    asked = list(changes)
    values = _apply_as_broker({} if replace else own, asked, configs)
    _check_broker_names(values, configs, for_all=for_all)
    _check_broker_values(values, configs)
    min_isr_asked = MIN_ISR in values or any(change.name == MIN_ISR for change in asked)
    if eligible and not for_all and min_isr_asked:
        raise ConfigRefused(
            ErrorCode.INVALID_CONFIG,
            f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.",
        )
    if eligible and for_all and MIN_ISR in own and MIN_ISR not in values:
        raise ConfigRefused(
            ErrorCode.INVALID_CONFIG,
            f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.",
        )
    if not validate_only:
        configs.replace_dynamic(values, for_all_brokers=for_all)


def keep_eligible(all_brokers: Iterable[BrokerConfigs]) -> None:
    """Make min.insync.replicas the same for all brokers, as enabling eligible leader replicas does:
    the dynamic default, else the static value; brokers' own values are removed.
    """
    for configs in all_brokers:
        text = configs.static.get(MIN_ISR) or configs.definition(MIN_ISR).default
        assert text is not None
        for_all = {MIN_ISR: text, **configs.dynamic_default}
        own = {name: value for name, value in configs.dynamic.items() if name != MIN_ISR}
        configs.replace_dynamic(for_all, for_all_brokers=True)
        configs.replace_dynamic(own, for_all_brokers=False)


def check_node(node_id: int, name: str, otherwise: str) -> None:
    """Raise ConfigRefused unless `name` is this node's id. `otherwise`: the text for another id,
    with two placeholders.
    """
    given = parse_whole(name)
    if given is None:
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}"
        )
    if given != node_id:
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, otherwise.format(node_id, name))


def _keep(kept: dict[str, dict[str, str]], name: str, values: dict[str, str]) -> None:
    kept.pop(name, None)
    if values:
        kept[name] = values


def _apply_as_controller(
    own: Mapping[str, str], changes: Iterable[Change], defs: Mapping[str, ConfigDef]
) -> dict[str, str]:
    """Return the values after all changes, checked in the order of a Java HashMap of their names,
    which decides the fault that is reported.
    """
    values = dict(own)
    by_name = {change.name: change for change in changes}
    for name in in_hash_order(by_name, java_hash):
        _, operation, value = by_name[name]
        if operation not in tuple(Operation):
            raise ConfigRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if operation in (Operation.APPEND, Operation.SUBTRACT) and not _is_list(defs.get(name)):
            word = Operation(operation).name
            raise ConfigRefused(
                ErrorCode.INVALID_CONFIG,
                f"Can't {word} to key {name} because its type is not LIST.",
            )
        _apply(values, Operation(operation), name, value, defs)
    return values


def _apply_as_broker(
    own: Mapping[str, str], changes: Iterable[Change], configs: BrokerConfigs
) -> dict[str, str]:
    values = dict(own)
    defs = broker_defs(configs.release)
    for name, operation, value in changes:
        if operation not in tuple(Operation):
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
        if operation in (Operation.APPEND, Operation.SUBTRACT) and not _is_list(defs.get(name)):
            if name not in defs:
                raise ConfigRefused(ErrorCode.INVALID_CONFIG, f"Unknown config name: {name}")
            word = Operation(operation).name.lower()
            raise ConfigRefused(
                ErrorCode.INVALID_CONFIG,
                f"Config value {word} is not allowed for config key: {name}",
            )
        _apply(values, Operation(operation), name, value, defs)
    return values


def _is_list(of: ConfigDef | None) -> bool:
    return of is not None and of.type is ConfigType.LIST


def _apply(
    values: dict[str, str],
    operation: Operation,
    name: str,
    value: str | None,
    defs: Mapping[str, ConfigDef],
) -> None:
    if operation is Operation.DELETE:
        values.pop(name, None)
        return
    assert value is not None
    if operation is Operation.SET:
        values[name] = value
        return
    items = [
        item
        for item in _split(values[name] if name in values else defs[name].default or "")
        if item
    ]
    asked = _split(value)
    if operation is Operation.APPEND:
        there = set(items)
        items += [item for item in dict.fromkeys(asked) if item not in there]
    else:
        items = _without(items, asked)
    value = ",".join(items)
    if (
        value != values.get(name)
        and len(value.encode("utf-16-le", "surrogatepass")) // 2 > MOST_VALUE_UNITS
    ):
        raise ConfigRefused(ErrorCode.INVALID_CONFIG, _TOO_LONG)
    values[name] = value


def _without(items: list[str], asked: list[str]) -> list[str]:
    """Return the items without those asked for, each removed as often as it is named, from the
    front.
    """
    gone = Counter(asked)
    left = []
    for item in items:
        if gone[item] > 0:
            gone[item] -= 1
        else:
            left.append(item)
    return left


def _split(text: str) -> list[str]:
    """Split at commas like Java's String.split: trailing empty items are dropped."""
    return text.rstrip(",").split(",") if text.strip(",") or not text else []


def _base(name: str) -> str:
    """Return the configuration name without its listener prefix."""
    found = _LISTENER_PREFIX.match(name)
    return found.group(1) if found else name


def _check_broker_names(
    values: Mapping[str, str], configs: BrokerConfigs, *, for_all: bool
) -> None:
    defs = run_time_defs(configs.release)
    known = {name: defs[_base(name)] for name in values if _base(name) in defs}
    refuse = partial(_refuse, "[{}]" if configs.release.has("CFG-43-2") else "Set({})")
    refuse(
        "Cannot update these configs dynamically",
        (name for name in known if name in defs and known[name].update == "-"),
    )
    refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        (name for name in known if name in _BY_LISTENER),
    )
    rank = {name: place for place, name in enumerate(defs)}
    for name in sorted(
        known, key=lambda name: rank[_base(name)]
    ):  # of several bad values, the first as Kafka defines them
        try:
            known[name].parse(values[name])
        except ConfigException as refused:
            raise ConfigRefused(ErrorCode.INVALID_REQUEST, str(refused)) from None
    if for_all:
        refuse(
            "Cannot update these configs at default cluster level, broker id must be specified",
            (name for name in known if known[name].update == "broker"),
        )


def _refuse(as_set: str, what: str, names: Iterable[str]) -> None:
    """Raise ConfigRefused if there are any names, printed as a Java or a Scala set (CFG-43-2)."""
    listed = sorted(names)
    if listed:
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST, f"{what}: {as_set.format(', '.join(listed))}"
        )


def _check_broker_values(values: Mapping[str, str], configs: BrokerConfigs) -> None:
    """Check the values against each other, as a running broker does before it accepts a change."""

    def number(name: str) -> int:
        value = configs.definition(name).parse(values[name])
        assert isinstance(value, int)
        return value

    if "log.retention.ms" in values and number("log.retention.ms") == 0:
        why = "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
        raise ConfigRefused(ErrorCode.INVALID_REQUEST, why)
    if "log.roll.ms" in values and number("log.roll.ms") < 1:
        raise ConfigRefused(
            ErrorCode.INVALID_REQUEST,
            "requirement failed: log.roll.ms must be greater than or equal to 1",
        )
    for name in (
        f"group.{protocol}.assignment.interval.ms" for protocol in ("consumer", "share", "streams")
    ):
        if name in values:
            low, high = (
                name.replace(".assignment.", f".{bound}.assignment.") for bound in ("min", "max")
            )
            if number(name) < configs.get_int(low):
                raise ConfigRefused(
                    ErrorCode.INVALID_REQUEST, f"{name} must be greater than or equal to {low}"
                )
            if number(name) > configs.get_int(high):
                raise ConfigRefused(
                    ErrorCode.INVALID_REQUEST, f"{name} must be less than or equal to {high}"
                )
    for name in _THREADS:
        if name in values:
            _check_threads(name, number(name), configs.get_int(name))


def _check_threads(name: str, wanted: int, current: int) -> None:
    if wanted > current * 2:
        why = f"value should not be greater than double the current value {current}"
    elif wanted < current // 2:
        why = f"value should be at least half the current value {current}"
    else:
        return
    text = f"Dynamic thread count update validation failed for {name}={wanted}, {why}"
    wrapped = f"org.apache.kafka.common.config.ConfigException: {text}"
    raise ConfigRefused(
        ErrorCode.INVALID_REQUEST,
        f"Invalid value {wrapped} for configuration Invalid dynamic configuration",
    )
