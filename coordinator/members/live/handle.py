"""A peer as an application's test holds it: the same object from synchronous and asynchronous code.

The peer lives on the emulator's loop. From another thread every call waits for that loop; on the loop itself calls that would
have to wait are refused, and their asynchronous twins are there: `stable` for `wait_stable`, `left` after `stop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from threading import get_ident
from types import TracebackType
from typing import Any, Self, TypeVar

from assignors import TopicPartition

from ..effects import Position
from ..faults import MemberFault
from ..states import MemberState
from .fleet import DEFAULT_TIMEOUT_S, Fleet
from .peer import Peer, PeerError
from .recorder import Callback

T = TypeVar("T")


class PeerHandle:
    """A live member beside a test. Leaves at the end of `with` or `async with`."""

    def __init__(self, fleet: Fleet, make: Callable[[], Peer], loop_thread: int) -> None:
        self._fleet = fleet
        self._loop_thread = loop_thread
        self._peer = self._do(make)

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """Its partitions, by topic and number."""
        return self._do(lambda: self._peer.owned)

    @property
    def generation(self) -> int:
        """The generation it is in; -1: none."""
        return self._do(lambda: self._peer.generation)

    @property
    def member_id(self) -> str:
        """"" until it has one."""
        return self._do(lambda: self._peer.member_id)

    @property
    def client_id(self) -> str:
        """Its client.id."""
        return self._peer.client_id

    @property
    def state(self) -> MemberState:
        """UNJOINED to STABLE (CLI-3)."""
        return self._do(lambda: self._peer.state)

    @property
    def is_leader(self) -> bool:
        """Did it assign in this generation?"""
        return self._do(lambda: self._peer.member.is_leader)

    @property
    def callbacks(self) -> list[Callback]:
        """What its listener was called with so far."""
        return self._do(lambda: list(self._peer.callbacks))

    @property
    def fault(self) -> MemberFault | None:
        """What ended it, if anything did."""
        return self._do(lambda: self._peer.fault)

    @property
    def ended(self) -> bool:
        """Has it left, or crashed?"""
        return self._do(lambda: self._peer.ended)

    @property
    def positions(self) -> dict[TopicPartition, Position]:
        """Where it stands: committed offsets it found, and what `seek` set."""
        return self._do(lambda: dict(self._peer.member.positions))

    # -- what it is told to do -----------------------------------------------------------------------------------------

    def stall(self) -> None:
        """Stop polling: after max.poll.interval.ms it leaves."""
        self._do(self._peer.stall)

    def resume(self) -> None:
        """Poll again."""
        self._do(self._peer.resume)

    def rebalance(self) -> None:
        """Join anew, so that the group rebalances."""
        self._do(self._peer.rebalance)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Pretend to have read up to an offset. Raises KeyError if the partition is not owned."""
        self._do(lambda: self._peer.seek(TopicPartition(topic, partition), offset))

    def crash(self) -> None:
        """Die without a word; the group notices when the session runs out."""
        self._do(self._peer.crash)

    def wait_stable(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> Self:
        """Wait until it is settled in a generation. Raises FleetError when the time is over, PeerError if it ended."""
        self._wait(lambda: self._fleet.stable([self._peer], timeout_s), "await stable()")
        return self

    def wait_commit(self, offsets: Mapping[TopicPartition, Position] | None = None) -> None:
        """Commit, all positions unless named, and wait. Raises MemberFault."""
        self._wait(lambda: self._peer.commit(offsets), "await commit()")

    def stop(self, *, leave: bool | None = None) -> None:
        """Leave the group and end; from another thread, wait for it. On the loop itself: `await left()` afterwards."""
        if self._loop_thread == get_ident():
            self._peer.close(leave=leave)
            return
        self._wait(lambda: self._closed(leave), "await left()")

    # -- the same for asynchronous code --------------------------------------------------------------------------------

    async def stable(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> Self:
        """As `wait_stable`."""
        await self._on_loop(lambda: self._fleet.stable([self._peer], timeout_s))
        return self

    async def commit(self, offsets: Mapping[TopicPartition, Position] | None = None) -> None:
        """As `wait_commit`."""
        await self._on_loop(lambda: self._peer.commit(offsets))

    async def left(self) -> None:
        """Leave, and wait until that is done."""
        await self._on_loop(lambda: self._closed(None))

    async def _closed(self, leave: bool | None) -> None:
        await self._peer.close(leave=leave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.left()

    def __repr__(self) -> str:
        return repr(self._peer)

    # -- between threads -----------------------------------------------------------------------------------------------

    def _do(self, action: Callable[[], T]) -> T:
        if self._loop_thread == get_ident() or self._fleet.loop.is_closed():
            return action()

        async def act() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(act(), self._fleet.loop).result()

    def _wait(self, action: Callable[[], Coroutine[Any, Any, T]], instead: str) -> T:
        if self._loop_thread == get_ident():
            raise PeerError(f"waiting here would hold up the loop that the peer lives on: {instead}")
        return asyncio.run_coroutine_threadsafe(action(), self._fleet.loop).result()

    async def _on_loop(self, action: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._loop_thread == get_ident():
            return await action()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(action(), self._fleet.loop))
