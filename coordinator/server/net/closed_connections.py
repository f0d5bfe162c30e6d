"""Messages on stderr about connections that the server closed: bad bytes, too large an answer,
nothing read for too long.

A client that is set up wrongly connects again at once, for ever, and a hostile one as often as it
can: each of the first few closes of a kind has its line, the others are counted, and one line for
each interval says how many they were, from where and why. The event log has every one of them. Owns
what was said in the interval that runs; its memory is bounded. Does not depend on connections and
brokers.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from coordinator.base.printable import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("coordinator.server.net.server")

LINES_OF_A_KIND: Final = 5
"""So many closes for the same reason have a line of their own in an interval; reasons that differ
in numbers only are the same."""
LINES: Final = 20
"""So many closes have a line of their own in an interval, for whatever reasons."""
INTERVAL_S: Final = 10.0
_MOST_COUNTED: Final = 1_000
"""So many addresses, and so many reasons, are counted one by one."""
_MOST_NAMED: Final = 3
_NUMBER: Final = re.compile(r"\d+")


class Timer(Protocol):
    """The result of `call_later`."""

    def cancel(self) -> None:
        """Do not call."""


class Clock(Protocol):
    """The needed part of a loop."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Call in so many seconds."""


class ClosedConnections:
    """Says which connections were closed, in a bounded number of lines. One for all servers of a
    cluster."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timer: Timer | None = None
        self._lines: Counter[str] = Counter()
        self._from: Counter[str] = Counter()
        self._why: Counter[str] = Counter()
        self._untold = 0

    def closed(self, peer: str, why: str, fault: Exception | None = None) -> None:
        """A connection was closed. `peer`: its address and port; `why` empty: people know already;
        `fault`: ours, shown whole."""
        if not why:
            logger.debug("%s: connection closed", peer)
            return
        why = shortened(why)
        kind = _NUMBER.sub("#", why)
        if self._timer is None:
            self._timer = self._clock.call_later(INTERVAL_S, self._interval_ends)
        if self._lines[kind] < LINES_OF_A_KIND and self._lines.total() < LINES:
            self._lines[kind] += 1
            level = logging.ERROR if fault else logging.WARNING
            logger.log(level, "%s: connection closed: %s", peer, why, exc_info=fault)
            return
        self._untold += 1
        for counter, key in ((self._from, peer.rpartition(":")[0]), (self._why, why)):
            if key in counter or len(counter) < _MOST_COUNTED:
                counter[key] += 1

    def stop(self) -> None:
        """Say what was not said yet: the server ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._interval_ends(last=True)

    def _interval_ends(self, last: bool = False) -> None:
        """Say how many were not told one by one. As long as there were such, the next interval has
        this one line only."""
        self._timer = None
        if not self._untold:
            self._lines.clear()
            return
        ((why, _),) = self._why.most_common(1)
        logger.warning(
            "%d more connection%s closed, %s; most often: %s; an event log (--log) has each",
            self._untold,
            " was" if self._untold == 1 else "s were",
            self._where(),
            why,
        )
        self._untold = 0
        self._from.clear()
        self._why.clear()
        if not last:
            self._timer = self._clock.call_later(INTERVAL_S, self._interval_ends)

    def _where(self) -> str:
        """From which addresses they came, those with the most first."""
        named = self._from.most_common(_MOST_NAMED)
        parts = [f"{count} from {host}" for host, count in named]
        others = self._untold - sum(count for _, count in named)
        return ", ".join([*parts, f"{others} from other addresses"] if others else parts)
