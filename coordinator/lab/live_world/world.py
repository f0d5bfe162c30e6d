"""A live world: a scenario's members on one event loop, in real time.

Owns the agenda, which is the event loop's, and the end of the run. An instant is never early by
the world's clock. An error in anything that happens ends the run. This module must not know
whether the brokers are ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakSet

from coordinator.events import EventLog
from coordinator.kit.cluster import Verb
from coordinator.kit.injection.fault_board import FaultBoard
from coordinator.members.live.wire import Entry
from coordinator.server.net.loop_clock import LoopClock

from ..simulator.clients.client_hosts import Client, ClientHosts
from ..simulator.sight import Sight
from .sockets import SocketConnection, SocketTransport

_LATER_S = 0.0002
"""Timers fire a fraction of a millisecond late, so that the clock, which counts whole
milliseconds, never shows too few."""


class Address(NamedTuple):
    """Address of a broker. `node`: its id, or below 0 if that is not known."""

    node: int
    host: str
    port: int


class Cluster:
    """The brokers of a live world, as far as they can be controlled: by default not at all."""

    faults: FaultBoard

    def __init__(
        self, addresses: Sequence[Address], clock: LoopClock, entry: Entry | None = None
    ) -> None:
        self.entry = entry
        self.addresses = list(addresses)
        """Addresses of the bootstrap brokers."""
        self.nodes = sorted({address.node for address in addresses})
        """The ids of all brokers, as members' links use them."""
        self.clock = clock

    def carry_out(self, verb: Verb) -> Verb | None:
        """Carry out a verb of the cluster; return its inverse. Raises ClusterError."""
        raise AssertionError(f"{verb} on brokers that are not ours")

    def settle(self) -> None:
        """Let the brokers finish after work that was done from outside."""

    def seen(self) -> Sight:
        """Return queries about the brokers, for conditions and targets of a scenario."""
        raise AssertionError("brokers that are not ours")

    async def stop(self) -> None:
        """Stop the cluster."""


class LiveWorld(ClientHosts):
    """Members on real sockets. Make it on a running loop."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        seed: int,
        log: EventLog,
        epoch_ms: int,
        delay_ms: tuple[int, int],
        bytes_per_second: int,
    ) -> None:
        super().__init__(seed=seed, log=log, delay_ms=delay_ms, bytes_per_second=bytes_per_second)
        self.epoch_ms = epoch_ms
        self.cluster = cluster
        self.entry = cluster.entry
        self.closing: WeakSet[asyncio.Transport] = WeakSet()
        if hasattr(cluster, "faults"):
            self.faults = cluster.faults
        self.loop = asyncio.get_running_loop()
        self.connections: dict[SocketConnection, None] = {}
        self._clock = cluster.clock
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0
        self._ended: asyncio.Future[None] = self.loop.create_future()
        self._over = False

    # -- time

    @property
    def now(self) -> int:  # type: ignore[override]
        """Milliseconds since the beginning of the cluster's clock."""
        return self._clock.now()

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call `action` at an instant."""
        self.loop.call_at(self._clock.loop_time(instant) + _LATER_S, self.guard, action)

    def guard(self, action: Callable[[], None]) -> None:
        """Call `action`, unless the run is over. An error in it ends the run."""
        if self._over:
            return
        try:
            action()
        except Exception as error:
            self._over = True
            if not self._ended.done():
                self._ended.set_exception(error)

    def end(self) -> None:
        """End the run now."""
        if not self._ended.done():
            self._ended.set_result(None)

    async def pass_time(self, until: int) -> None:
        """Let time pass until an instant, or until `end`. Raises the error that ended the run."""
        left = self._clock.loop_time(until) + _LATER_S - self.loop.time()
        done, _ = await asyncio.wait([self._ended], timeout=max(left, 0))
        for future in done:
            future.result()

    def close(self) -> None:
        """End the world: abort all connections without telling their clients."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self.connections):
            connection.cut_off()
        for socket in list(self.closing):
            socket.abort()
        self._ended.cancel()

    # -- members

    def call_at(self, member: Client, deadline: int | None) -> None:
        """Call a member at this instant; None: never by itself."""
        super().call_at(member, deadline)
        following = self._deadlines.next()
        if following is not None and (self._timer is None or following < self._timer_at):
            self._rearm(following)

    def _rearm(self, deadline: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop.call_at(
            self._clock.loop_time(deadline) + _LATER_S, self.guard, self._look
        )

    def _look(self) -> None:
        self._timer = None
        for member in self._deadlines.due(self.now):
            if member.name not in self.frozen:
                member.due()
        following = self._deadlines.next()
        if following is not None and self._timer is None:
            self._rearm(following)

    async def leave(self, within_s: float) -> bool:
        """Let all members leave their groups; return True if all did in time. Their actions are
        no longer logged."""
        self.log = EventLog(seed=self.seed)
        for host in [host for host in self.frozen if isinstance(host, str)]:
            self.thaw(host)
        for link in self._links.values():
            while link.is_cut:
                link.heal()
        for member in list(self.members.values()):
            member.leave()
        end = self.loop.time() + within_s
        while self.members and self.loop.time() < end and not self._ended.done():
            await asyncio.wait([self._ended], timeout=0.05)
        return not self.members

    # -- brokers

    def transport(self, host: str, highest: Mapping[int, int] | None = None) -> SocketTransport:
        """Return the transport of the client on a host."""
        return SocketTransport(self, host, highest)

    def addresses(self) -> Sequence[Address]:
        """Return the addresses of the bootstrap brokers."""
        return self.cluster.addresses

    def nodes(self) -> Sequence[int]:
        """Return the brokers that links lead to."""
        return self.cluster.nodes

    def carry_out(self, verb: Verb) -> Verb | None:
        """Carry out a verb of the cluster; return its inverse. Raises ClusterError."""
        return self.cluster.carry_out(verb)

    def settle(self) -> None:
        """Let the brokers finish after work that was done from outside."""
        self.cluster.settle()

    def seen(self) -> Sight:
        """See `ClientHosts.seen`."""
        return self.cluster.seen()
