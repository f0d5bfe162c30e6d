"""Replay of one broker's event log: the events of groups and of transactional ids, and the
coordinators reconstructed from them.

`group_events` yields values for GroupCoordinator.replay and .load, `transaction_events` for
TransactionCoordinator.replay. A log written by hand may contain events that do not follow from
each other: `replayed_groups` and `replayed_transactions` raise LogError with the line number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from coordinator.base.contradictions import UNFIT, what_failed
from coordinator.core.group_coordinator import GroupCoordinator, LoggedEvent
from coordinator.core.groups.config import GroupConfig
from coordinator.core.transactions.config import TransactionConfig
from coordinator.core.transactions.coordinator import LoggedTransactionEvent, TransactionCoordinator
from coordinator.events.availability import OF_SHARE_STATES
from coordinator.events.clocks import Clocks
from coordinator.events.files import LogPath, read
from coordinator.events.line import Line, LogError
from coordinator.events.reader import numbered
from coordinator.events.vocabulary import Unknown
from coordinator.verbs.brokers import JumpClock

T = TypeVar("T")


def group_events(lines: Iterable[Line], name: str = "log") -> Iterator[LoggedEvent]:
    """Yield the events of groups and of the group coordinator among `lines`, in order. Raises
    LogError for an event that cannot be folded.
    """
    clocks = Clocks()
    for number, line in numbered(lines):
        if line.kind is JumpClock:
            clocks.jump(line.event)
        if line.stream not in ("group", "coordinator"):
            continue
        if line.kind is Unknown:
            raise LogError(name, number, f"{line.name}: no event of groups that this version folds")
        if line.stream == "group":
            if line.group is None:
                raise LogError(name, number, f'{line.name}: a group event names its "group"')
            yield LoggedEvent(clocks.instant(line), line.group, line.event)
        elif line.kind not in OF_SHARE_STATES:
            yield LoggedEvent(line.at_ms, None, line.event)


def read_group_events(path: LogPath, run: str | None = None) -> Iterator[LoggedEvent]:
    """Yield the group events of a log file: those of the run named, default the last one. Raises
    LogError and OSError.
    """
    return group_events(read(path, run), str(path))


def transaction_events(
    lines: Iterable[Line], name: str = "log"
) -> Iterator[LoggedTransactionEvent]:
    """Yield the events of transactional ids among `lines`, in order. Raises LogError for an event
    that cannot be folded.
    """
    for number, line in numbered(lines):
        if line.stream != "transaction":
            continue
        if line.kind is Unknown:
            what = f"{line.name}: no event of transactional ids that this version folds"
            raise LogError(name, number, what)
        yield LoggedTransactionEvent(line.at_ms, line.event)


def replayed_groups(
    lines: Iterable[Line], config: GroupConfig, now: int, name: str = "log"
) -> GroupCoordinator:
    """Return the group coordinator that results from the lines, with all sessions starting at
    `now`. Raises LogError.
    """
    follow = _Followed(lines, name)
    return follow.replayed(lambda: GroupCoordinator.replay(config, group_events(follow, name), now))


def replayed_transactions(
    lines: Iterable[Line], config: TransactionConfig, fresh: Callable[[], int], name: str = "log"
) -> TransactionCoordinator:
    """Return the transaction coordinator that results from the lines; `fresh` draws producer ids.
    Raises LogError.
    """
    follow = _Followed(lines, name)
    return follow.replayed(
        lambda: TransactionCoordinator.replay(config, fresh, transaction_events(follow, name))
    )


class _Followed(Iterator[Line]):
    """Iterator over lines that remembers the current line number for errors."""

    def __init__(self, lines: Iterable[Line], name: str) -> None:
        self._lines = numbered(lines)
        self._name = name
        self.number = 0
        self._what = ""

    def __next__(self) -> Line:
        self.number, line = next(self._lines)
        self._what = f"seq {line.seq}: {line.name}"
        return line

    def replayed(self, replay: Callable[[], T]) -> T:
        """Return the result of `replay`. Raises LogError if an event does not follow from those
        before it.
        """
        try:
            return replay()
        except LogError:
            raise
        except UNFIT as error:
            why = f"does not follow from the lines before it ({what_failed(error)})"
            raise LogError(self._name, self.number, f"{self._what} {why}") from error
