"""Events from a log as values: those of groups for GroupCoordinator.replay (all of them) and .load
(durable ones), those of transactional ids for TransactionCoordinator.replay; and both coordinators
replayed from a log.

A log that somebody made up may hold events that do not follow from each other. `replayed_groups`
and `replayed_transactions` raise LogError with the line for them, as for everything else that is no
log.
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
    """The events of groups and of their coordinator among `lines`, in order. Raises LogError for
    one that cannot be folded."""
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
    """The group events of a log file: of its last run, or of the one asked for by name. Raises
    LogError and OSError."""
    return group_events(read(path, run), str(path))


def transaction_events(
    lines: Iterable[Line], name: str = "log"
) -> Iterator[LoggedTransactionEvent]:
    """The events of transactional ids among `lines`, in order. Raises LogError for one that cannot
    be folded."""
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
    """The group coordinator that the lines lead to, all sessions beginning at `now`. Raises
    LogError."""
    follow = _Followed(lines, name)
    return follow.replayed(lambda: GroupCoordinator.replay(config, group_events(follow, name), now))


def replayed_transactions(
    lines: Iterable[Line], config: TransactionConfig, fresh: Callable[[], int], name: str = "log"
) -> TransactionCoordinator:
    """The transaction coordinator that the lines lead to; `fresh` draws producer ids. Raises
    LogError."""
    follow = _Followed(lines, name)
    return follow.replayed(
        lambda: TransactionCoordinator.replay(config, fresh, transaction_events(follow, name))
    )


class _Followed(Iterator[Line]):
    """Lines that are counted while somebody folds their events."""

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
        """The result of `replay`. Raises LogError where an event does not follow from those before
        it."""
        try:
            return replay()
        except LogError:
            raise
        except UNFIT as error:
            why = f"does not follow from the lines before it ({what_failed(error)})"
            raise LogError(self._name, self.number, f"{self._what} {why}") from error
