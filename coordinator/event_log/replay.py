"""Events from a log as values: those of groups for GroupCoordinator.replay (all of them) and .load
(durable ones), those of transactional ids for TransactionCoordinator.replay; and both coordinators
replayed from a log.

A log that somebody made up may hold events that do not follow from each other. `replayed_groups`
and `replayed_transactions` raise LogError with the line for them, as for everything else that is no
log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike, fspath
from typing import TypeVar

from ..group_coordinator import GroupCoordinator, LoggedEvent
from ..groups.config import GroupConfig
from ..shards.availability import OF_SHARE_STATES
from ..transactions.config import TransactionConfig
from ..transactions.coordinator import LoggedTransactionEvent, TransactionCoordinator
from .clocks import JUMP, Clocks
from .codec import CodecError, coordinator_from_plain, from_plain, transaction_from_plain
from .reader import Line, LogError, numbered, read

T = TypeVar("T")


def group_events(lines: Iterable[Line], name: str = "log") -> Iterator[LoggedEvent]:
    """The events of groups and of their coordinator among `lines`, in order. Raises LogError for
    one that cannot be folded."""
    clocks = Clocks()
    for number, line in numbered(lines):
        if line["type"] == JUMP:
            clocks.jump(line)
        if line["stream"] not in ("group", "coordinator"):
            continue
        try:
            if line["stream"] == "coordinator":
                change = coordinator_from_plain(line)
                if not isinstance(change, OF_SHARE_STATES):
                    yield LoggedEvent(line["at_ms"], None, change)
                continue
            event = from_plain(line)
            yield LoggedEvent(clocks.instant(line, event), line["group"], event)
        except CodecError as error:
            raise LogError(name, number, str(error)) from None
        except KeyError:
            raise LogError(
                name, number, f'{line["type"]}: a group event names its "group"'
            ) from None


def read_group_events(path: str | PathLike[str], run: str | None = None) -> Iterator[LoggedEvent]:
    """The group events of a log file: of its last run, or of the one asked for by name. Raises
    LogError and OSError."""
    return group_events(read(path, run), fspath(path))


def transaction_events(
    lines: Iterable[Line], name: str = "log"
) -> Iterator[LoggedTransactionEvent]:
    """The events of transactional ids among `lines`, in order. Raises LogError for one that cannot
    be folded."""
    for number, line in numbered(lines):
        if line["stream"] != "transaction":
            continue
        try:
            yield LoggedTransactionEvent(line["at_ms"], transaction_from_plain(line))
        except CodecError as error:
            raise LogError(name, number, str(error)) from None


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
        self._what = f"seq {line['seq']}: {line['type']}"
        return line

    def replayed(self, replay: Callable[[], T]) -> T:
        """The result of `replay`. Raises LogError where an event does not follow from those before
        it."""
        try:
            return replay()
        except LogError:
            raise
        except (
            LookupError,
            AssertionError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
        ) as error:
            why = f"does not follow from the lines before it ({type(error).__name__}: {error})"
            raise LogError(self._name, self.number, f"{self._what} {why}") from error
