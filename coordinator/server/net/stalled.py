"""Connections that hold memory without progress: clients that do not read answers, and unfinished
requests.

While there is room, nothing is checked. When one of the broker's two rooms is full
(`server.limits`), a connection that has read no byte of its answers, or sent no byte of its
request, for `STALLED_MS` is closed with one WARNING. A client that reads or sends, however
slowly, is never closed. While the room for requests is full, unfinished requests are read one at
a time, the one that lacks the fewest bytes first. Does not depend on sockets.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..broker import Broker
    from ..connections.connection import Connection

STALLED_MS = 10_000
"""The time after which a connection counts as stalled if it holds memory that others wait for, and
nothing is read or written."""


class Holder(Protocol):
    """Interface of a connection's protocol object."""

    connection: Connection
    active_at: int
    """Instant at which a byte was last received or an answer last passed to the transport."""
    taken_at: int
    """Instant at which the client last read some of the unsent bytes, or there were none."""
    unsent: int
    """Bytes that the transport holds, as counted last."""
    favoured: bool
    """Its request is read to its end though the room is full."""

    def count_unsent(self) -> None:
        """Update `unsent`, here and in the broker's room."""

    def abort(self, why: str) -> None:
        """Close at once; unsent bytes are lost."""

    def resume_reading(self) -> None:
        """Read again."""


def look_after(
    broker: Broker, holders: Collection[Holder], unread: Collection[Holder], now: int
) -> None:
    """Close stalled connections while others wait for room, and let one unfinished request be read."""
    if broker.turns.output.full:
        _unsent(holders, now)
    if broker.turns.input.full:
        _unfinished(holders, unread, now)


def _unsent(holders: Collection[Holder], now: int) -> None:
    for holder in [holder for holder in holders if holder.unsent]:
        before = holder.unsent
        holder.count_unsent()
        if holder.unsent < before:
            holder.taken_at = now
        elif now - holder.taken_at >= STALLED_MS:
            holder.abort(
                f"{holder.unsent} bytes of answers are not taken, none for {now - holder.taken_at} ms, and others wait for the memory "
                "(max_output_bytes)"
            )


def _unfinished(holders: Collection[Holder], unread: Collection[Holder], now: int) -> None:
    moving = False
    for holder in [
        holder for holder in holders if holder.connection.missing_bytes and holder not in unread
    ]:
        if now - holder.active_at < STALLED_MS:
            moving = True
            continue
        held, missing = len(holder.connection.kept or b""), holder.connection.missing_bytes
        holder.abort(
            f"{held} bytes of a request came, {missing} are missing, none came for {now - holder.active_at} ms, and others wait for the "
            "memory (queued.max.request.bytes)"
        )
    if not moving:
        held_up = [holder for holder in unread if holder.connection.missing_bytes]
        if held_up:
            first = min(held_up, key=lambda holder: holder.connection.missing_bytes)
            first.favoured, first.active_at = True, now
            first.resume_reading()
