"""Links between members and brokers, as TCP has them: in order, with delay, and silent while a link
is cut.

Within a connection nothing is lost or overtaken. Messages into a cut link, or to a paused host,
wait until that is over. This module must not know what is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from .chance import Draws

_BYTES: Final = (bytes, bytearray)


class Agenda(Protocol):
    """The world as links need it: its time, and calls at later instants."""

    pipes: int
    """The number of pipes made so far."""

    frozen: set[str | int]
    """Hosts that are paused."""

    @property
    def now(self) -> int:
        """Milliseconds since the world's zero."""

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call `action` at `instant`. `pipe`: the number of the pipe that it delivers from, if
        it does nothing else."""


class Link:
    """One direction between two hosts. `delay_ms`: the shortest and the longest delay; each message
    draws its own.

    `bytes_per_second`: the bandwidth for all connections together; 0: unlimited. A message has
    arrived when its last byte has.
    """

    def __init__(self, draws: Draws, delay_ms: tuple[int, int], bytes_per_second: int = 0) -> None:
        self._draws = draws
        self.delay_ms = delay_ms
        self.bytes_per_second = bytes_per_second
        self._busy_until_us = 0
        self.is_cut = False
        self._cuts = 0
        self._usual = bytes_per_second
        self._slowed: dict[object, int] = {}
        self.sent_bytes = 0
        """The number of bytes sent into the link so far."""
        self.pipes: dict[Pipe, None] = {}

    def delay_after(self, messages: int) -> int:
        """Return the delay of the message after so many others, without sending."""
        low, high = self.delay_ms
        return low if low == high else self._draws.between_after(messages, low, high)

    def skip(self, messages: int, size: int) -> None:
        """Note that so many messages of this size were sent and have arrived."""
        self._skip(messages)
        self.sent_bytes += messages * size

    def _skip(self, messages: int) -> None:
        low, high = self.delay_ms
        if low != high:
            self._draws.skip(messages)

    def arrival(self, now: int, size: int) -> int:
        """Return the instant at which a message of this size arrives if it is sent now and the
        link is not cut. Earlier messages go first."""
        low, high = self.delay_ms
        delay = low if low == high else self._draws.between(low, high)
        if not self.bytes_per_second:
            return now + delay
        self._busy_until_us = (
            max(self._busy_until_us, now * 1000) + size * 1_000_000 // self.bytes_per_second
        )
        return -(-self._busy_until_us // 1000) + delay

    def cut(self) -> None:
        """Cut the link until `heal`, which must be called as often as this."""
        self._cuts += 1
        self.is_cut = True

    def heal(self) -> None:
        """End one cut; after the last one all waiting messages arrive."""
        self._cuts = max(self._cuts - 1, 0)
        if self._cuts:
            return
        self.is_cut = False
        for pipe in list(self.pipes):
            pipe.go_on()

    def slow_down(self, bytes_per_second: int) -> object:
        """Limit the bandwidth until `speed_up` is called with the result. Of several limits the
        latest counts."""
        slowed = object()
        self._slowed[slowed] = self.bytes_per_second = bytes_per_second
        return slowed

    def speed_up(self, slowed: object) -> None:
        """Undo one `slow_down`."""
        del self._slowed[slowed]
        self.bytes_per_second = next(reversed(self._slowed.values()), self._usual)


class Pipe:
    """One direction of one connection. `deliver` is called with what arrives at `host`."""

    def __init__(
        self, agenda: Agenda, link: Link, deliver: Callable[[Any], None], host: str | int
    ) -> None:
        self._agenda = agenda
        self._link = link
        self._deliver = deliver
        self._host = host
        self._queue: list[tuple[int, int, Any]] = []  # arrives at, was sent at, what
        self._latest = 0
        agenda.pipes += 1
        self.number = agenda.pipes
        link.pipes[self] = None

    def send(self, what: Any) -> None:
        """Send bytes or a sign."""
        agenda, link = self._agenda, self._link
        now = agenda.now
        if isinstance(what, _BYTES):
            size = len(what)
            link.sent_bytes += size
        else:
            size = 0
        arrives = link.arrival(now, size)
        if arrives < self._latest:
            arrives = self._latest
        self._latest = arrives
        self._queue.append((arrives, now, what))
        agenda.at(arrives, self.go_on, self.number)

    def go_on(self) -> None:
        """Deliver what has arrived by now, unless the link is cut or the host paused."""
        queue, agenda, link = self._queue, self._agenda, self._link
        while (
            queue
            and queue[0][0] <= agenda.now
            and not link.is_cut
            and self._host not in agenda.frozen
        ):
            self._deliver(queue.pop(0)[2])

    @property
    def is_empty(self) -> bool:
        """Return True if nothing is in flight."""
        return not self._queue

    @property
    def link(self) -> Link:
        """The link of the pipe."""
        return self._link

    def unsend(self) -> None:
        """Take back what was sent at this very instant: its sender was killed before it could
        send it."""
        while self._queue and self._queue[-1][1] == self._agenda.now:
            self._queue.pop()

    def take_back(self) -> None:
        """Drop the last message, because it was delivered in another way."""
        self._queue.pop()

    def close(self) -> None:
        """Deliver nothing more."""
        self._queue.clear()
        self._link.pipes.pop(self, None)
