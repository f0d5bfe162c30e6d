"""A share consumer on real sockets (KIP-932), and its handle in a test.

Owns its connections, its timer, and the record of its application's work. A fault ends the peer
as it ends most applications: it is kept, and the peer leaves.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from assignors import TopicPartition
from coordinator.base.counting import how_many
from coordinator.base.forgotten_awaits import noted
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.base.printable import printable

from ..applications.sharing import ShareApplication, Work
from ..config import MemberConfigError
from ..connections.driver import Driver
from ..effects import Closed
from ..faults import MemberFault
from ..share.consumer import ShareConsumer
from ..share.session import SharedRecord
from ..subscription import topic_names
from .on_loop import Awaited, OnLoop
from .transport import LiveTransport

if TYPE_CHECKING:
    from ..share.config import ShareConfig
    from ..share.member import ShareState
    from .fleet import Fleet

logger = logging.getLogger("coordinator.members")
MOST_REMEMBERED: Final = 10_000


class Done(NamedTuple):
    """A record that the peer's application finished. `word`: accept, release or reject."""

    topic: str
    partition: int
    offset: int
    delivery_count: int
    word: str
    value: bytes | None


class SharePeer:
    """A live share consumer of a fleet; use it on the fleet's loop only."""

    def __init__(
        self, fleet: Fleet, config: ShareConfig, topics: Iterable[str], work: Work
    ) -> None:
        names = topic_names(topics)
        if not names:
            raise MemberConfigError("topics=[]: give one name at least, such as ['jobs']")
        config = (
            config if config.client_id else config.having(client_id=fleet.name(config.group_id))
        )
        self.client_id = config.client_id
        self.done: deque[Done] = deque(maxlen=MOST_REMEMBERED)
        """Records it finished last, the oldest first."""
        self.words: Counter[str] = Counter()
        """The number of acknowledgements of each type: accept, release and reject."""
        self.fault: MemberFault | None = None
        self.paused = False
        self.ended = False
        self._fleet = fleet
        self._transport = LiveTransport.of(fleet, config.client_id)
        random = Random(fleet.random.random())
        now = self._transport.now()
        self.consumer = ShareConsumer(config, chance=fleet.identities.random, now=now)
        self.application = ShareApplication(
            self.consumer, work, chance=random.random, seen=self._seen
        )
        self._driver = Driver(self._transport, self.consumer, self.turn, self._rearm)
        self._timer: asyncio.TimerHandle | None = None
        self._turning = False
        self._missed = False
        self._end: asyncio.Future[None] | None = None
        fleet.others[self] = None
        self.consumer.subscribe(names, now)
        self.turn()

    @property
    def state(self) -> ShareState:
        """State of the membership."""
        return self.consumer.state

    def stall(self) -> None:
        """Stop polling until `resume`, like a busy application; its member goes on."""
        self.application.stalled = True
        self._rearm()

    def pause(self) -> None:
        """Freeze the peer until `resume`: nothing is sent, and its session and locks will expire."""
        if not self.ended:
            self.paused = True
            self._rearm()

    def resume(self) -> None:
        """Continue after `stall` or `pause`."""
        self.application.stalled = self.paused = False
        self.turn()

    def close(self) -> asyncio.Future[None]:
        """Start to release all records and to leave; the future is done when it has ended."""
        if self._end is None:
            self._end = self._transport.loop.create_future()
            if self.ended:
                self._end.set_result(None)
            elif self.paused:
                self.crash()
            else:
                self.consumer.close(self._transport.now(), self._fleet.close_timeout_ms)
                self.turn()
        return self._end

    def crash(self) -> None:
        """End without leaving: its connections are aborted, its session expires."""
        self._finish(abort=True)

    def turn(self) -> None:
        """After any event, let the application continue and carry out its effects."""
        if self.ended or self.paused or self._turning:
            return
        self._turning = True
        try:
            now = self._transport.now()
            self.consumer.tick(now)
            if self._end is None and self.fault is None:
                self._work(now)
            for told in self._driver.perform(self.consumer.take()):
                if isinstance(told, Closed):
                    self._finish(abort=False)
        finally:
            self._turning = False
        self._rearm()

    def _work(self, now: int) -> None:
        try:
            self.application.turn(now)
        except MemberFault as fault:
            self.fault = fault
            logger.error("%s: %s", self.client_id, printable(fault))
            self._transport.soon(self._give_up)

    def _give_up(self) -> None:
        self.close()

    @property
    def reached(self) -> bool:
        """True if any broker has ever answered."""
        return self.consumer.member.found

    def _seen(self, of: SharedRecord, word: str) -> None:
        self.words[word] += 1
        self.done.append(
            Done(*of.partition, of.record.offset, of.delivery_count, word, of.record.value)
        )

    def _rearm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.ended or self.paused:
            return
        due = [self.consumer.next_deadline()]
        if self._end is None and self.fault is None:
            due.append(self.application.next_turn())
        at = min((of for of in due if of is not None), default=None)
        if at is not None:
            # The loop's clock is finer than ours: come a millisecond late rather than early.
            self._timer = self._transport.call_at(max(at, self._transport.now()) + 1, self.turn)

    def _finish(self, *, abort: bool) -> None:
        if self.ended:
            return
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()
        if abort:
            self._driver.reset()
        self._driver.close()
        if self._end is not None and not self._end.done():
            self._end.set_result(None)
        self._fleet.others.pop(self, None)

    def __repr__(self) -> str:
        state = "ended" if self.ended else str(self.state)
        trouble = f", {self.fault}" if self.fault else ""
        count = len(self.consumer.assigned)
        return f"<share peer {self.client_id}: {state}, {how_many(count, 'partition')}{trouble}>"


@nearest_keywords
class SharePeerHandle(OnLoop):
    """A live share consumer beside a test. It leaves at the end of `with` or `async with`."""

    def __init__(self, fleet: Fleet, make: Callable[[], SharePeer], loop_thread: int) -> None:
        super().__init__(fleet.loop, loop_thread)
        self._peer = self._do(make)

    def _name(self) -> str:
        return self._peer.client_id

    @property
    def client_id(self) -> str:
        """The peer's client.id."""
        return self._peer.client_id

    @property
    def member_id(self) -> str:
        """The member id, chosen by the member and constant."""
        return self._peer.consumer.member.member_id

    @property
    def state(self) -> ShareState:
        """State of the membership: UNSUBSCRIBED to FATAL."""
        return self._do(lambda: self._peer.state)

    @property
    def assigned(self) -> tuple[TopicPartition, ...]:
        """The assigned partitions, sorted by topic and number."""
        return self._do(lambda: self._peer.consumer.assigned)

    @property
    def in_hand(self) -> list[tuple[str, int, int]]:
        """Records that it has received and not finished: topic, partition, offset."""
        return self._do(
            lambda: [(*of.partition, of.record.offset) for of in self._peer.application.in_hand]
        )

    @property
    def renewed(self) -> int:
        """The number of renewed locks."""
        return self._do(lambda: self._peer.application.renewed)

    @property
    def done(self) -> list[Done]:
        """The records that it finished, with their acknowledgements; the latest 10,000."""
        return self._do(lambda: list(self._peer.done))

    @property
    def fault(self) -> MemberFault | None:
        """The fault that ended it, if any."""
        return self._do(lambda: self._peer.fault)

    @property
    def ended(self) -> bool:
        """True if the member has left or crashed."""
        return self._do(lambda: self._peer.ended)

    def stall(self) -> None:
        """Stop polling while holding records: their locks expire."""
        self._do(self._peer.stall)

    def pause(self) -> None:
        """Freeze the peer until `resume`: no heartbeats, no polls."""
        self._do(self._peer.pause)

    def resume(self) -> None:
        """Continue after `stall` or `pause`."""
        self._do(self._peer.resume)

    def crash(self) -> None:
        """End without leaving, while holding records."""
        self._do(self._peer.crash)

    def stop(self) -> None:
        """Release all records, leave and end; from another thread, wait for it. On the loop itself,
        `await left()` afterwards.
        """
        if self._peer.ended or self._loop.is_closed():
            return
        if self._is_here:
            self._peer.close()
            return
        self._wait(self._closed, "await left()")

    def left(self) -> Awaited[None]:
        """Leave and wait for the end, to be awaited."""
        self._needs_loop("left()", "stop()")
        return noted(self._left(), "left")

    async def _left(self) -> None:
        if not (self._peer.ended or self._loop.is_closed()):
            await self._on_loop(self._closed)

    async def _closed(self) -> None:
        await self._peer.close()

    def __repr__(self) -> str:
        return repr(self._peer)
