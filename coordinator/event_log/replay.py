"""Group events from a log as the heart's own values, for GroupCoordinator.replay (all of them) and .load (durable ones)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike, fspath
from typing import Any

from ..group_coordinator import LoggedEvent
from .codec import CodecError, from_plain
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
