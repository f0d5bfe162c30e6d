"""Configurations of single groups (DescribeConfigs resource type 32): validated, stored and shown
as in Kafka. They apply to consumer, share and streams groups, not to classic groups. The
notation of the table is that of `definitions.read_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from coordinator.base.releases import NEWEST, Release

from .definitions import (
    ConfigDef,
    ConfigException,
    ConfigValue,
    parse_whole,
    read_table,
    released,
    show,
    trim,
)

if TYPE_CHECKING:
    from .broker_configs import BrokerConfigs

# In the order in which Kafka reads values: of two faults the first is told.
TABLE = """
consumer.session.timeout.ms int 45000 1.. -
consumer.heartbeat.interval.ms int 5000 1.. -
consumer.assignment.interval.ms int 1000 0.. -
consumer.assignor.offload.enable boolean true - -
share.session.timeout.ms int 45000 1.. -
share.heartbeat.interval.ms int 5000 1.. -
share.record.lock.duration.ms int 30000 1000.. -
share.delivery.count.limit int 5 2.. -
share.partition.max.record.locks int 2000 100.. -
share.auto.offset.reset string latest - -
share.isolation.level string read_uncommitted read_committed|read_uncommitted -
share.renew.acknowledge.enable boolean true - -
share.assignment.interval.ms int 1000 0.. -
share.assignor.offload.enable boolean true - -
streams.session.timeout.ms int 45000 1.. -
streams.heartbeat.interval.ms int 5000 1.. -
streams.num.standby.replicas int 0 0.. -
streams.initial.rebalance.delay.ms int 3000 0.. -
streams.assignment.interval.ms int 1000 0.. -
streams.assignor.offload.enable boolean true - -
streams.task.offset.interval.ms int 60000 1.. -
streams.num.warmup.replicas int 2 0.. -
streams.rack.aware.assignment.tags list '' [] -
streams.acceptable.recovery.lag long 10000 0.. -
streams.assignor.name string null - -
errors.deadletterqueue.topic.name string '' - -
errors.deadletterqueue.copy.record.enable boolean false - -
"""

# What Kafka marks internal: it may be set, and is shown only where it is set, be it of the group or of
# the broker.
_INTERNAL = frozenset(
    {
        "consumer.assignor.offload.enable",
        "share.assignor.offload.enable",
        "streams.acceptable.recovery.lag",
        "streams.assignor.offload.enable",
        "streams.num.warmup.replicas",
        "streams.task.offset.interval.ms",
    }
)

# Bounds that the broker sets: the group's value may be neither below group.X.min.Y nor above
# group.X.max.Y, as far as there are such settings.
_BOUNDED = (
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms",
    "share.session.timeout.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms",
    "streams.session.timeout.ms",
    "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
    "streams.task.offset.interval.ms",
    "streams.num.warmup.replicas",
)
_WITHOUT_BROKER_NAME = frozenset(
    {
        "errors.deadletterqueue.copy.record.enable",
        "errors.deadletterqueue.topic.name",
        "share.auto.offset.reset",
        "share.isolation.level",
        "share.renew.acknowledge.enable",
    }
)
_OFFSET_RESET, _ASSIGNOR, _TAGS, _DEAD_LETTERS = (
    "share.auto.offset.reset",
    "streams.assignor.name",
    "streams.rack.aware.assignment.tags",
    "errors.deadletterqueue.topic.name",
)
_BY_DURATION = "by_duration:"
_DURATION = re.compile(
    r"([+-]?)P(?=[+-]?[0-9]|T)(?:([+-]?[0-9]+)D)?"
    r"(?:T(?=[+-]?[0-9])(?:([+-]?[0-9]+)H)?(?:([+-]?[0-9]+)M)?(?:([+-]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?\Z",
    re.IGNORECASE,
)
_UNIT_S = (86_400, 3_600, 60, 1)
_NANOS = 10**9


@cache
def group_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return the group configurations of a release that Kafka shows, by name."""
    return {name: of for name, of in settable_defs(release).items() if name not in _INTERNAL}


@cache
def settable_defs(release: Release = NEWEST) -> dict[str, ConfigDef]:
    """Return all group configurations of a release, by name."""
    return released(read_table(TABLE), release.group_settings)


def broker_synonym(name: str) -> str | None:
    """Return the broker configuration that is the default of a group configuration, or None."""
    if name in _WITHOUT_BROKER_NAME:
        return None
    return "group.streams.assignors" if name == _ASSIGNOR else f"group.{name}"


def default_text(name: str, broker: BrokerConfigs) -> str | None:
    """Return the value in force for a group without its own: the broker's, else Kafka's default."""
    behind = broker_synonym(name)
    if behind is None:
        return settable_defs(broker.release)[name].default
    return broker.get_list(behind)[0] if name == _ASSIGNOR else show(broker.get(behind))


def validate(values: Mapping[str, str], broker: BrokerConfigs) -> None:
    """Validate a group's values together. Raises ConfigException with Kafka's message (code 40)."""
    defs = settable_defs(broker.release)
    for name in values:
        if name not in defs:
            raise ConfigException(f"Unknown group config name: {name}")
    tags = [trim(key) for key in values.get(_TAGS, "").split(",")]
    if len(set(tags)) < len(tags):
        raise ConfigException(f"{_TAGS} must not contain duplicate tag keys.")
    typed: dict[str, ConfigValue] = {}
    for name, of in defs.items():
        if name in values:
            typed[name] = of.parse(values[name])
            if name == _OFFSET_RESET:
                _check_offset_reset(typed[name])
    for name in _BOUNDED:
        value = typed.get(name)
        if isinstance(value, int):
            _check_bounds(name, value, broker)
    assignor = typed.get(_ASSIGNOR)
    if assignor is not None and assignor not in broker.get_list("group.streams.assignors"):
        known = ", ".join(broker.get_list("group.streams.assignors"))
        raise ConfigException(
            f"{_ASSIGNOR} '{assignor}' is not a registered task assignor. "
            f"Registered assignors are: [{known}]."
        )
    for protocol in ("consumer", "share", "streams"):
        session, heartbeat = f"{protocol}.session.timeout.ms", f"{protocol}.heartbeat.interval.ms"
        if session in defs and _in_force(typed, session, broker) <= _in_force(
            typed, heartbeat, broker
        ):
            raise ConfigException(f"{session} must be greater than {heartbeat}")
    if str(typed.get(_DEAD_LETTERS)).startswith("__"):
        raise ConfigException(f"{_DEAD_LETTERS}: DLQ topic name must not start with '__'")


def _check_bounds(name: str, value: int, broker: BrokerConfigs) -> None:
    """Check a value against the broker's bounds. The message names the bounds; in older releases
    the setting that has them (CFG-44-3).
    """
    protocol, _, rest = name.partition(".")
    low, high = (
        f"group.{protocol}.min.{rest}",
        f"group.{protocol}.max.{rest.removeprefix('num.')}",
    )
    least, most = (broker.get_int(of) if broker.knows(of) else None for of in (low, high))
    below, above = (
        least is not None and value < least,
        most is not None and value > most,
    )
    if not below and not above:
        return
    if not broker.release.has("CFG-44-3"):
        which, bound = ("greater", low) if below else ("less", high)
        raise ConfigException(f"{name} must be {which} than or equal to {bound}")
    if least is None:
        raise ConfigException(f"{name} must be less than or equal to {most}")
    if most is None:
        raise ConfigException(f"{name} must be greater than or equal to {least}")
    raise ConfigException(f"{name} must be in the range {least} to {most} inclusive.")


def _in_force(typed: Mapping[str, object], name: str, broker: BrokerConfigs) -> int:
    value = typed.get(name)
    return value if isinstance(value, int) else broker.get_int(f"group.{name}")


def _check_offset_reset(value: object) -> None:
    if (
        isinstance(value, str)
        and value not in ("latest", "earliest")
        and duration_ms(value) is None
    ):
        raise ConfigException.invalid(
            _OFFSET_RESET,
            value,
            f"Invalid value `{value}` for configuration {_OFFSET_RESET}. The value must be either 'earliest', 'latest' or of the format "
            "'by_duration:<PnDTnHnMn.nS>'.",
        )


def duration_ms(reset: str) -> int | None:
    """Return the milliseconds of `by_duration:` and a non-negative duration, as java.time.Duration
    parses it, or None if invalid.
    """
    prefix, found = reset[: len(_BY_DURATION)], _DURATION.match(reset[len(_BY_DURATION) :])
    if prefix != _BY_DURATION or found is None:
        return None
    sign, *texts, fraction = found.groups()
    total = 0
    for text, unit_s in zip(texts, _UNIT_S, strict=True):
        number = 0 if text is None else parse_whole(text, 63)
        if number is None or not _is_long(number * unit_s):
            return None
        total += number * unit_s
    nanos = int((fraction or "").ljust(9, "0"))
    total = total * _NANOS + (-nanos if (texts[-1] or "").startswith("-") else nanos)
    total = -total if sign == "-" else total
    return total // (_NANOS // 1000) if total >= 0 and _is_long(total // _NANOS) else None


def _is_long(number: int) -> bool:
    return -(1 << 63) <= number < 1 << 63
