"""Handle of a peer in an application's test, usable from synchronous and asynchronous code.

The peer lives on the emulator's loop. From another thread every call waits for that loop; on the
loop itself, calls that would have to wait are refused, and asynchronous ones exist instead:
`stable` for `wait_stable`, `left` after `stop`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from assignors import TopicPartition
from coordinator.base.forgotten_awaits import noted
from coordinator.base.keyword_errors import nearest_keywords

from ..consumer_states import ConsumerState
from ..effects import Position
from ..faults import MemberFault
from ..states import MemberState
from .fleet import DEFAULT_TIMEOUT_S, Fleet, FleetError
from .on_loop import Awaited, OnLoop
from .peer import Peer
from .recorder import Callback


@nearest_keywords
class PeerHandle(OnLoop):
    """A live member beside a test. It leaves at the end of `with` or `async with`."""

    def __init__(
        self,
        fleet: Fleet,
        make: Callable[[], Peer],
        loop_thread: int,
        stable_members: Callable[[], int],
    ) -> None:
        """`stable_members`: returns the number of members of its group, 0 while the group is not
        Stable; called on the fleet's loop.
        """
        super().__init__(fleet.loop, loop_thread)
        self._fleet = fleet
        self._stable_members = stable_members
        self._peer = self._do(make)

    def _name(self) -> str:
        return self._peer.client_id

    # -- what it is

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """The owned partitions, sorted by topic and number."""
        return self._do(lambda: self._peer.owned)

    @property
    def generation(self) -> int:
        """The generation, in the consumer protocol the member epoch; -1: none."""
        return self._do(lambda: self._peer.generation)

    @property
    def member_id(self) -> str:
        """The member id; "" until it has one."""
        return self._do(lambda: self._peer.member_id)

    @property
    def client_id(self) -> str:
        """The peer's client.id."""
        return self._peer.client_id

    @property
    def state(self) -> MemberState | ConsumerState:
        """State of the membership: UNJOINED to STABLE (CLI-3); in the consumer protocol
        UNSUBSCRIBED to FATAL (K8-CL-1).
        """
        return self._do(lambda: self._peer.state)

    @property
    def is_leader(self) -> bool:
        """True if the member ran the assignor in this generation."""
        return self._do(lambda: self._peer.member.is_leader)

    @property
    def callbacks(self) -> list[Callback]:
        """The callbacks of its listener so far."""
        return self._do(lambda: list(self._peer.callbacks))

    @property
    def fault(self) -> MemberFault | None:
        """The fault that ended it, if any."""
        return self._do(lambda: self._peer.fault)

    @property
    def ended(self) -> bool:
        """True if the member has left or crashed."""
        return self._do(lambda: self._peer.ended)

    @property
    def positions(self) -> dict[TopicPartition, Position]:
        """Positions: fetched committed offsets, and those set by `seek`."""
        return self._do(lambda: dict(self._peer.member.positions))

    # -- what it is told to do

    def stall(self) -> None:
        """Stop polling: after max.poll.interval.ms the member leaves."""
        self._do(self._peer.stall)

    def pause(self) -> None:
        """Freeze the peer, like a process in a long garbage collection: no heartbeats, no polls,
        nothing read, until `resume`.
        """
        self._do(self._peer.pause)

    @property
    def paused(self) -> bool:
        """True if the peer is frozen by `pause`."""
        return self._do(lambda: self._peer.paused)

    def resume(self) -> None:
        """Continue after `stall` or `pause`."""
        self._do(self._peer.resume)

    def rebalance(self) -> None:
        """Rejoin, so that the group rebalances."""
        self._do(self._peer.rebalance)

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Set the position, as if the peer had read up to an offset. Raises KeyError if the
        partition is not owned, MemberConfigError for an invalid offset.
        """
        self._do(lambda: self._peer.seek(TopicPartition(topic, partition), offset))

    def crash(self) -> None:
        """End without leaving; the group notices when the session expires."""
        self._do(self._peer.crash)

    def wait_stable(
        self,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        members: int | None = None,
        after_generation: int = -1,
    ) -> Self:
        """Wait until the peer is settled in a generation: Stable, with its assignment, and no
        reason to rejoin.

        A settled peer is so at once, even if another member has just begun to join. To wait for
        the next generation, give the number of `members` that the group then has, or the
        previous generation:

            before = peer.generation
            consumer.subscribe(["orders"])
            peer.wait_stable(members=2)       # or after_generation=before

        Raises FleetError after the timeout, PeerError if the peer ended.
        """
        self._wait(lambda: self._settled(timeout_s, members, after_generation), "await stable()")
        return self

    async def _settled(self, timeout_s: float, members: int | None, after_generation: int) -> None:
        also = None if members is None else lambda: self._stable_members() == members
        if members is None and self._peer.member.config.speaks_consumer:
            # Only the coordinator knows whether a new assignment is still to come
            # (group.consumer.assignment.interval.ms).
            also = lambda: self._stable_members() > 0  # noqa: E731
        try:
            await self._fleet.stable(
                [self._peer], timeout_s, after_generation=after_generation, also=also
            )
        except FleetError as error:
            if members is None:
                raise
            raise FleetError(
                f"{error}; members in the stable group: {self._stable_members()}, not {members}"
            ) from None

    def wait_commit(self, offsets: Mapping[TopicPartition, Position] | None = None) -> None:
        """Commit positions (default: all), and wait. Raises MemberFault."""
        self._wait(lambda: self._peer.commit(offsets), "await commit()")

    def stop(self, *, leave: bool | None = None) -> None:
        """Leave the group and end; from another thread, wait for it. On the loop itself, `await
        left()` afterwards. A peer that has ended, even with its emulator, is left as it is.
        """
        if self._peer.ended or self._loop.is_closed():
            return
        if self._is_here:
            self._peer.close(leave=leave)
            return
        self._wait(lambda: self._closed(leave), "await left()")

    # -- the same for asynchronous code

    def stable(
        self,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        members: int | None = None,
        after_generation: int = -1,
    ) -> Awaited[Self]:
        """Like `wait_stable`, to be awaited. Raises PeerError at once if no event loop runs."""
        self._needs_loop("stable()", "wait_stable()")
        return noted(self._stable(timeout_s, members, after_generation), "stable")

    def commit(self, offsets: Mapping[TopicPartition, Position] | None = None) -> Awaited[None]:
        """Like `wait_commit`, to be awaited. Raises PeerError at once if no event loop runs."""
        self._needs_loop("commit()", "wait_commit()")
        return noted(self._on_loop(lambda: self._peer.commit(offsets)), "commit")

    def left(self) -> Awaited[None]:
        """Leave and wait for the end, to be awaited. Raises PeerError at once if no event loop
        runs.
        """
        self._needs_loop("left()", "stop()")
        return noted(self._left(), "left")

    async def _stable(self, timeout_s: float, members: int | None, after_generation: int) -> Self:
        await self._on_loop(lambda: self._settled(timeout_s, members, after_generation))
        return self

    async def _left(self) -> None:
        if self._peer.ended or self._loop.is_closed():
            return
        await self._on_loop(lambda: self._closed(None))

    async def _closed(self, leave: bool | None) -> None:
        await self._peer.close(leave=leave)

    def __repr__(self) -> str:
        return repr(self._peer)
