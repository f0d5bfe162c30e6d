"""A test's settings, checked before Docker is called: broker configuration and ports, and both as
environment variables.

Names become variables as the apache/kafka image reads them: `.` is `_`, `_` is `__`, `-` is
`___`. It must not know Docker.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from coordinator.server.settings.broker_configs import broker_defs

from .errors import ContainerError

logger = logging.getLogger(__name__)

_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
_NOT_FOR_BROKERS = frozenset(
    {
        "gc.log.opts",
        "heap.opts",
        "jmx.hostname",
        "jmx.opts",
        "jvm.performance.opts",
        "log4j.loggers",
        "log4j.opts",
        "log4j.root.loglevel",
        "opts",
        "tools.log4j.loglevel",
        "version",
    }
)
"""Names whose variables the image takes for its own scripts."""


def variable(name: str) -> str:
    """Return the environment variable for a broker configuration: KAFKA_NUM_PARTITIONS for
    `num.partitions`."""
    return "KAFKA_" + name.replace("_", "__").replace("-", "___").replace(".", "_").upper()


def checked_config(config: Mapping[str, object], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return the configuration as texts. Raises ContainerError for names and values that cannot be
    passed to a broker; `reserved`: names that only the caller sets.

    The broker judges the values. An unknown name is no error, since plugins bring their own, but
    it is logged, because a broker ignores it silently.
    """
    texts = {}
    for name, value in config.items():
        if not _NAME.fullmatch(str(name)) or name in _NOT_FOR_BROKERS:
            raise ContainerError(
                f"config: {name!r} is no name of a broker configuration; write it as Kafka does, such as num.partitions"
            )
        if name in reserved:
            raise ContainerError(
                f"config: {name} follows from the other arguments (brokers, ports) and cannot be given"
            )
        texts[name] = _text(name, value)
    return texts


def checked_of_brokers(
    racks: Sequence[str | None], config: Mapping[int, Mapping[str, object]], brokers: int
) -> dict[int, dict[str, object]]:
    """Return settings of single brokers, with their racks, by broker id. Raises ContainerError
    for ids that no broker has."""
    if isinstance(racks, str) or (racks and len(racks) != brokers):
        raise ContainerError(
            f"racks={racks!r}: give {brokers}, one for each broker, None for a broker without a rack"
        )
    for number in config:
        if number not in range(1, brokers + 1):
            ids = ", ".join(map(str, range(1, brokers + 1)))
            raise ContainerError(
                f"broker_config: there is no broker {number}; the brokers are {ids}"
            )
    found: dict[int, dict[str, object]] = {
        number: {"broker.rack": rack} for number, rack in enumerate(racks, 1) if rack is not None
    }
    for number, settings in config.items():
        found[number] = {**found.get(number, {}), **settings}
    return found


def log_unknown(names: Iterable[str]) -> None:
    """Log which configurations Kafka 4.4.0 does not know, with similar names that it knows."""
    for name in names:
        if name not in broker_defs() and not name.startswith("listener.name."):
            near = get_close_matches(name, broker_defs(), 1)
            meant = f"; is {near[0]} meant?" if near else ""
            logger.warning(
                "config: %s is no broker configuration of Kafka 4.4.0, which passes over unknown names%s",
                name,
                meant,
            )


def checked_ports(ports: int | Sequence[int] | None, brokers: int) -> list[int] | None:
    """Return a port of the host for each broker, or None for free ones. Raises ContainerError."""
    if ports is None:
        return None
    listed = [ports] if isinstance(ports, int) else list(ports)
    if len(listed) != brokers or len(set(listed)) != brokers:
        raise ContainerError(
            f"ports={ports}: give {brokers} different port{'s' * (brokers > 1)}, one for each, or None for free ones"
        )
    for port in listed:
        if not 1 <= port <= 65_535:
            raise ContainerError(
                f"ports: {port} is no port; give one from 1 to 65535, or None for a free one"
            )
    return listed


def checked_seconds(name: str, value: float) -> float:
    """Return a time limit. Raises ContainerError unless it is positive."""
    if value <= 0:
        raise ContainerError(f"{name}={value}: give a time limit in seconds above 0")
    return value


def _text(name: str, value: object) -> str:
    """Return a value as Kafka writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise ContainerError(f"config: {name} is {value!r}; give a text, a number or a truth value")
    text = str(value)
    if "\n" in text or "\0" in text:
        raise ContainerError(f"config: {name} has a value of several lines; give one line")
    return text
