"""Events from a log as the heart's own values: those of groups for GroupCoordinator.replay (all of them) and .load (durable
ones), those of transactional ids for TransactionCoordinator.replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from ..group_coordinator import LoggedEvent
from ..transactions.coordinator import LoggedEvent as LoggedTransactionEvent
from .codec import CodecError, from_plain, transaction_from_plain
from .reader import LogError, read


def group_events(lines: Iterable[Mapping[str, Any]], name: str = "log") -> Iterator[LoggedEvent]:
    """The group events among `lines`, in order. Raises LogError for one that cannot be folded."""
    for number, line in enumerate(lines, 1):
        if line["stream"] != "group":
            continue
        try:
            yield LoggedEvent(line["at_ms"], line["group"], from_plain(line))
        except CodecError as error:
            raise LogError(name, number, str(error)) from None
        except KeyError:
            raise LogError(name, number, f'{line["type"]}: a group event names its "group"') from None


def read_group_events(path: str | PathLike[str]) -> Iterator[LoggedEvent]:
    """The group events of a log file. Raises LogError and OSError."""
    return group_events(read(path), fspath(path))


def transaction_events(lines: Iterable[Mapping[str, Any]], name: str = "log") -> Iterator[LoggedTransactionEvent]:
    """The events of transactional ids among `lines`, in order. Raises LogError for one that cannot be folded."""
    for number, line in enumerate(lines, 1):
        if line["stream"] != "transaction":
            continue
        try:
            yield LoggedTransactionEvent(line["at_ms"], transaction_from_plain(line))
        except CodecError as error:
            raise LogError(name, number, str(error)) from None
