"""Configurations of single groups (DescribeConfigs resource type 32): stored, checked and shown as
Kafka does.

They concern the consumer, share and streams group protocols; nothing in classic groups reads them.
The notation of the table is `config_defs.read_table`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from .definitions import ConfigDef, ConfigException, read_table

if TYPE_CHECKING:
    from .broker_configs import BrokerConfigs

TABLE = """
consumer.session.timeout.ms int 45000 1.. -
consumer.heartbeat.interval.ms int 5000 1.. -
consumer.assignment.interval.ms int 1000 0.. -
share.session.timeout.ms int 45000 1.. -
share.heartbeat.interval.ms int 5000 1.. -
share.record.lock.duration.ms int 30000 1000.. -
share.delivery.count.limit int 5 2.. -
share.partition.max.record.locks int 2000 100.. -
share.auto.offset.reset string latest - -
share.isolation.level string read_uncommitted read_committed|read_uncommitted -
share.renew.acknowledge.enable boolean true - -
share.assignment.interval.ms int 1000 0.. -
streams.session.timeout.ms int 45000 1.. -
streams.heartbeat.interval.ms int 5000 1.. -
streams.num.standby.replicas int 0 0.. -
streams.initial.rebalance.delay.ms int 3000 0.. -
streams.assignment.interval.ms int 1000 0.. -
"""

# Bounds that the broker sets: the group's value may be neither below group.X.min.Y nor above
# group.X.max.Y.
_LOW_AND_HIGH = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
    "share.session.timeout.ms",
    "share.heartbeat.interval.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
)
_WITHOUT_BROKER_NAME = frozenset(
    {"share.auto.offset.reset", "share.isolation.level", "share.renew.acknowledge.enable"}
)


@cache
def group_defs() -> dict[str, ConfigDef]:
    """All group configurations by name."""
    return read_table(TABLE)


def broker_synonym(name: str) -> str | None:
    """The broker's name for a group configuration's default; None if it has none."""
    return None if name in _WITHOUT_BROKER_NAME else f"group.{name}"


def validate(values: Mapping[str, str], broker: BrokerConfigs) -> None:
    """Check a group's values as a whole. Raises ConfigException with Kafka's message (code 40)."""
    from .broker_configs import broker_defs

    defs = group_defs()
    for name in values:
        if name not in defs:
            raise ConfigException(f"Unknown group config name: {name}")
    typed = {name: of.parse(values[name]) for name, of in defs.items() if name in values}
    _check_offset_reset(values.get("share.auto.offset.reset"))
    for name in _LOW_AND_HIGH:
        value = typed.get(name)
        if not isinstance(value, int):
            continue
        protocol, _, rest = name.partition(".")
        low, high = (
            f"group.{protocol}.min.{rest}",
            f"group.{protocol}.max.{rest.removeprefix('num.')}",
        )
        if low in broker_defs() and value < broker.get_int(low):
            raise ConfigException(f"{name} must be greater than or equal to {low}")
        if high in broker_defs() and value > broker.get_int(high):
            raise ConfigException(f"{name} must be less than or equal to {high}")
    for protocol in ("consumer", "share", "streams"):
        session, heartbeat = f"{protocol}.session.timeout.ms", f"{protocol}.heartbeat.interval.ms"
        if _in_force(typed, session, broker) <= _in_force(typed, heartbeat, broker):
            raise ConfigException(f"{session} must be greater than {heartbeat}")


def _in_force(typed: Mapping[str, object], name: str, broker: BrokerConfigs) -> int:
    value = typed.get(name)
    return value if isinstance(value, int) else broker.get_int(f"group.{name}")


def _check_offset_reset(text: str | None) -> None:
    name = "share.auto.offset.reset"
    if (
        text is not None
        and text not in ("latest", "earliest")
        and not text.startswith("by_duration:P")
    ):
        raise ConfigException.invalid(
            name,
            text,
            f"Invalid value `{text}` for configuration {name}. The value must be either 'earliest', 'latest' or of the format "
            "'by_duration:<PnDTnHnMn.nS>'.",
        )
