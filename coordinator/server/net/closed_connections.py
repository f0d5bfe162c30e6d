"""Messages on stderr about connections that the server closed, for example for invalid bytes, too
large an answer, or a stalled client.

A misconfigured client connects again at once, for ever. So each of the first few closes of a
kind has its own line; further ones are counted, and one line for each interval says how many
there were, from where and why. The event log records every one. Memory is bounded. Does not know
connections or brokers.
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
    """Interface of the result of `call_later`."""

    def cancel(self) -> None:
        """Cancel the call."""


class Clock(Protocol):
    """The part of an event loop that is needed."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer:
        """Call `callback` after `delay` seconds."""


class ClosedConnections:
    """Reporter of closed connections in a bounded number of lines, shared by all servers of a
    cluster.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timer: Timer | None = None
        self._lines: Counter[str] = Counter()
        self._from: Counter[str] = Counter()
        self._why: Counter[str] = Counter()
        self._untold = 0

    def closed(self, peer: str, why: str, fault: Exception | None = None) -> None:
        """Report a closed connection. `peer`: address and port; `why`: "" if the user knows
        already; `fault`: an exception of the emulator, shown with its traceback.
        """
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
        """Report the remaining counts, because the server stops."""
        if self._timer is not None:
            self._timer.cancel()
            self._interval_ends(last=True)

    def _interval_ends(self, last: bool = False) -> None:
        """Report the number of closes that had no line of their own. If there were any, the next
        interval has only its summary line.
        """
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
        """Return the most frequent addresses with their counts, as text."""
        named = self._from.most_common(_MOST_NAMED)
        parts = [f"{count} from {host}" for host, count in named]
        others = self._untold - sum(count for _, count in named)
        return ", ".join([*parts, f"{others} from other addresses"] if others else parts)
