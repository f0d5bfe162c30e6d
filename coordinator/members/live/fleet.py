"""Fleet of live members on one loop: their shared resources, and waiting for them.

One timer for all deadlines; one receive buffer; one connection for discovery and metadata. There
is no task for each peer: a peer is called when data arrives for it, or when its deadline is due.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from typing import NamedTuple, Protocol, Self

from coordinator.base.deadlines import Deadlines

from ..config import MemberConfig, MemberConfigError
from ..effects import RebalanceListener
from ..subscription import check_pattern, topic_names
from .bootstrap import Bootstrap, parse_addresses
from .gate import Gate
from .peer import CONNECT_TIMEOUT_S, Peer, PeerError
from .recorder import Callback
from .wire import Entry, Wire

_RECEIVE_BUFFER_BYTES = 1 << 18
_CONNECTING_AT_ONCE = 256
_OTHER_DESCRIPTORS = 64
_MANY = 20
_GRID_MS = 20
"""With many peers the timer fires for those of a whole interval at once, so that some come a little
late."""
DEFAULT_TIMEOUT_S = 30.0
_LOOK_S = 0.25


class Other(Protocol):
    """Interface of a client in the fleet other than a consumer of a classic or KIP-848 group."""

    def close(self) -> asyncio.Future[None]:
        """Start to leave; the future is done when it has ended."""

    def crash(self) -> None:
        """End without leaving."""


class FleetError(Exception):
    """Error for a fleet that cannot be made, or did not reach a state in time; the message says
    what was seen.
    """


class _Wait(NamedTuple):
    """A wait for peers to be stable: which ones, after which generation, and with which further
    condition.
    """

    watched: frozenset[Peer]
    done: asyncio.Future[None]
    after_generation: int
    also: Callable[[], bool] | None


class Fleet:
    """Peers that share a loop. Use `async with`, or `close` at the end; the loop must be running.
    `seed` fixes the jitter of backoffs.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        seed: int | None = None,
        client_id: str = "peers",
        close_timeout_ms: int = 5_000,
        routes: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        entry: Entry | None = None,
    ) -> None:
        """`routes`: where to connect instead of an advertised host and port, which may not be
        reachable from here. `entry`: TLS and credentials, if the brokers require them.
        """
        self.entry = entry
        self.loop = asyncio.get_running_loop()
        self.random = Random(seed)
        self.identities = Random()
        """Source of member ids in the consumer protocol, which members choose; unseeded, because
        they must differ between fleets with the same seed.
        """
        self.buffer = memoryview(bytearray(_RECEIVE_BUFFER_BYTES))
        self.close_timeout_ms = close_timeout_ms
        self.routes = dict(routes or {})
        self.connecting = asyncio.Semaphore(_CONNECTING_AT_ONCE)
        self.peers: dict[Peer, None] = {}
        self.others: dict[Other, None] = {}
        """Clients of other kinds that end with the fleet."""
        self.failed: list[Peer] = []
        """Those that ended by a fault, in the order of their ends."""
        self.wires: set[Wire] = set()
        """All open connections of its clients."""
        self.bootstrap = Bootstrap(
            parse_addresses(bootstrap_servers),
            self.loop,
            self.buffer,
            client_id,
            CONNECT_TIMEOUT_S,
            entry,
            self.wires,
        )
        self._zero = self.loop.time()
        self._deadlines: Deadlines[Peer] = Deadlines()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: int | None = None
        self._numbers: Counter[str] = Counter()
        self._unsettled: set[Peer] = set()
        self._gates: dict[str, Gate] = {}
        self._waiting: list[_Wait] = []
        self.on_change: Callable[[Peer], None] | None = None
        """Called after anything that happened to a peer: for onlookers."""
        self.on_callback: Callable[[Peer, Callback], None] | None = None
        """Called with each callback of a peer's listener, before the listener is."""

    def now(self) -> int:
        """Return milliseconds since the fleet was created."""
        return int((self.loop.time() - self._zero) * 1000)

    def peer(
        self,
        config: MemberConfig,
        *,
        topics: Iterable[str] | None = None,
        pattern: str | None = None,
        listener: RebalanceListener | None = None,
        keep_going: bool = False,
    ) -> Peer:
        """Create a member that starts to join its group. Without a client id it gets Java's
        default, consumer-<group>-<number>.

        `topics`: a list of names; `pattern`: instead, a regular expression that whole names must
        match. `keep_going`: after a fault the peer polls again after a backoff instead of
        ending. Raises MemberConfigError, FleetError.
        """
        if (topics is None) == (pattern is None):
            raise MemberConfigError("give a peer either topics or a pattern")
        topics = None if topics is None else topic_names(topics)
        if topics == []:
            raise MemberConfigError("topics=[]: give one name at least, such as ['orders']")
        if pattern is not None:
            check_pattern(pattern)
        name = self.name(config.group_id)
        if not config.client_id:
            config = config.having(client_id=name)
        ensure_descriptors(len(self.peers) + 1)
        peer = Peer(self, config, listener, self._gate(config.group_id), keep_going=keep_going)
        self.peers[peer] = None
        self._unsettled.add(peer)
        peer.subscribe(topics, pattern)
        return peer

    def name(self, group_id: str) -> str:
        """Return the next client id of a group's members, in Java's form."""
        self._numbers[group_id] += 1
        return f"consumer-{group_id}-{self._numbers[group_id]}"

    def _gate(self, group_id: str) -> Gate:
        gate = self._gates.get(group_id)
        if gate is None:
            gate = self._gates[group_id] = Gate(self.loop, lambda: self._gate_opened(group_id))
        return gate

    def _gate_opened(self, group_id: str) -> None:
        del self._gates[group_id]

    async def stable(
        self,
        peers: Collection[Peer] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        after_generation: int = -1,
        also: Callable[[], bool] | None = None,
    ) -> None:
        """Wait until all these peers (default: all) are settled, those of one group in the same
        generation.

        Returns at once if they are. `after_generation`: wait for a later generation than this.
        `also`: a further condition, checked whenever one of these peers changes, and every
        quarter of a second. Raises PeerError if one of them ends, FleetError after the timeout;
        both say what was seen.
        """
        watched = frozenset(self.peers if peers is None else peers)
        wait = _Wait(watched, self.loop.create_future(), after_generation, also)
        self._waiting.append(wait)
        self._look(wait)
        end = self.loop.time() + timeout_s
        try:
            while not wait.done.done():
                left = end - self.loop.time()
                if left <= 0:
                    later = (
                        f" in a generation after {after_generation}"
                        if after_generation >= 0
                        else ""
                    )
                    raise FleetError(
                        f"not stable{later} after {timeout_s:g} s: {self._seen(watched)}"
                    )
                await asyncio.wait(
                    [wait.done], timeout=left if also is None else min(left, _LOOK_S)
                )
                self._look(wait)
            wait.done.result()
        finally:
            self._waiting.remove(wait)
            wait.done.cancel()

    def _seen(self, watched: Collection[Peer]) -> str:
        states = Counter(
            "ended" if peer.ended else f"{peer.state} in generation {peer.generation}"
            for peer in watched
        )
        seen = ", ".join(f"{count} {state}" for state, count in states.most_common())
        trouble = (
            next((str(peer.fault) for peer in watched if peer.fault), "") or self.bootstrap.trouble
        )
        return f"{seen}{f'; {trouble}' if trouble else ''}"

    async def close(self) -> None:
        """Let all peers leave, wait for it, then close the shared connection."""
        ends = [peer.close() for peer in [*self.peers, *self.others]]
        if ends:
            await asyncio.wait(ends, timeout=self.close_timeout_ms / 1000 + 1)
        self.abandon()

    def addresses(self) -> set[str]:
        """Return `host:port` of the local end of each open connection, as a broker sees it."""
        names = (wire.transport.get_extra_info("sockname") for wire in self.wires)
        return {f"{name[0]}:{name[1]}" for name in names if name}

    def abandon(self) -> None:
        """End at once: no member leaves, connections are aborted."""
        for peer in [*self.peers, *self.others]:
            peer.crash()
        self.bootstrap.close()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- what peers tell

    def arm(self, peer: Peer) -> None:
        """Schedule the next call of this peer."""
        deadline = None if peer.paused else peer.member.next_deadline()
        if peer.polling and not peer.paused:
            poll = peer.member.next_poll()
            if poll is not None and (deadline is None or poll < deadline):
                deadline = poll
        if deadline is None:
            self._deadlines.cancel(peer)
            return
        if len(self.peers) > _MANY:
            deadline += -deadline % _GRID_MS
        self._deadlines.arm(peer, deadline)
        if self._timer_at is None or deadline < self._timer_at:
            self._rearm(deadline)

    def changed(self, peer: Peer) -> None:
        """Check the waits that concern a peer whose state changed."""
        if self.on_change is not None:
            self.on_change(peer)
        if peer.settled or peer.ended:
            self._unsettled.discard(peer)
        else:
            self._unsettled.add(peer)
        for wait in list(self._waiting):
            if peer.ended or self._unsettled.isdisjoint(wait.watched):
                self._look(wait)

    def called_back(self, peer: Peer, callback: Callback) -> None:
        """Report a callback of a peer before its application gets it."""
        if self.on_callback is not None:
            self.on_callback(peer, callback)

    def gone(self, peer: Peer) -> None:
        """Remove a peer that has ended."""
        self.peers.pop(peer, None)
        if peer.fault is not None:
            self.failed.append(peer)
        self._deadlines.cancel(peer)
        self.changed(peer)

    def _look(self, wait: _Wait) -> None:
        """Complete a wait if its condition holds now."""
        if wait.done.done():
            return
        for peer in wait.watched:
            if peer.ended:
                wait.done.set_exception(
                    PeerError(
                        f"{peer.client_id} has ended{f': {peer.fault}' if peer.fault else ''}"
                    )
                )
                return
        if not agree(wait.watched) or any(
            peer.generation <= wait.after_generation for peer in wait.watched
        ):
            return
        if wait.also is None or wait.also():
            wait.done.set_result(None)

    # -- the timer

    def _rearm(self, deadline: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self.loop.call_at(self._zero + deadline / 1000, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = self._timer_at = None
        now = (
            self.now() + 1
        )  # the loop's clock is finer than ours: a timer may fire a fraction of a millisecond early
        for peer in self._deadlines.due(now):
            peer.due(now)
        deadline = self._deadlines.next()
        if deadline is not None and (self._timer_at is None or deadline < self._timer_at):
            self._rearm(deadline)


def agree(peers: Collection[Peer]) -> bool:
    """Return whether all peers are settled, and those of one group are in the same generation."""
    if not all(peer.settled for peer in peers):
        return False
    groups = {peer.member.config.group_id for peer in peers}
    return len({(peer.member.config.group_id, peer.generation) for peer in peers}) == len(groups)


def ensure_descriptors(peers: int) -> None:
    """Raise the soft limit of open files if need be, for a connection each. Raises FleetError if
    that is not possible.
    """
    try:
        import resource
    except ImportError:  # no such limit on this system
        return
    needed = peers + _OTHER_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise FleetError(
            f"{peers} peers need about {needed} open files, this process may have {hard}: raise that (ulimit -Hn {needed})"
        )
    wanted = max(needed, 2 * soft)
    resource.setrlimit(
        resource.RLIMIT_NOFILE,
        (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard),
    )
