"""A share consumer (KIP-932): a member of a share group that reads its assigned partitions, as a
pure state machine.

    consumer = ShareConsumer(ShareConfig(group_id="workers"), chance=random.random)
    consumer.subscribe(["jobs"], now)
    for of in consumer.poll(now): ...            # records, each with its delivery count
    consumer.acknowledge(of, RELEASE)            # explicit mode; in implicit mode the next poll accepts
    for effect in consumer.take(): ...           # as a member's
    consumer.receive(number, response, now)      # an answer, from any broker
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assignors import TopicPartition
from coordinator.wire.schema import Response

from ..backoff import Backoff
from ..cluster_view import ClusterView
from ..effects import Closed, Effect
from ..faults import MemberFault
from ..requests import Unsupported
from .config import ShareConfig
from .member import ShareMember, ShareState
from .session import ACCEPT, AckResult, SharedRecord
from .sessions import ShareSessions


class Unacknowledged(MemberFault):
    """Fault: in explicit mode, a poll came before all records were acknowledged."""


class ShareConsumer:
    """One share consumer. `member_id`: default drawn from `chance`."""

    def __init__(
        self,
        config: ShareConfig,
        *,
        chance: Callable[[], float],
        now: int = 0,
        member_id: str | None = None,
    ) -> None:
        self.config = config
        self.member = ShareMember(config, chance=chance, now=now, member_id=member_id)
        backoff = Backoff(config.retry_backoff_ms, config.retry_backoff_max_ms, chance)
        self.sessions = ShareSessions(config, self.member.member_id, backoff)
        self._topics: tuple[str, ...] = ()
        self._handed_out: list[SharedRecord] = []
        self._closing_until: int | None = None
        self.closed = False

    # -- what the application asks for

    def subscribe(self, topics: Iterable[str], now: int) -> None:
        """Subscribe to topics by name, replacing the former subscription."""
        self._topics = tuple(topics)
        self.member.subscribe(self._topics, now)

    def poll(self, now: int) -> list[SharedRecord]:
        """Poll for the application; return up to max.poll.records records.

        In implicit mode the previous poll's records are accepted. While lock renewals are
        unanswered nothing is returned, then the renewed records once more. Raises MemberFault;
        the next poll continues.
        """
        if self.config.implicit:
            for of in self._handed_out:
                self.sessions.acknowledge(of.partition, of.record.offset, ACCEPT)
        elif any(map(self.sessions.holds, self._handed_out)):
            raise Unacknowledged(
                "records of the last poll are not acknowledged: with "
                "share.acknowledgement.mode=explicit acknowledge each before the next poll"
            )
        self._handed_out = []
        self.member.poll(now)
        self.sessions.assign(self._topics, self.member.assigned)
        polled = self._handed_out = self.sessions.poll()
        if not polled:
            self.sessions.ask(now)
        return polled

    def acknowledge(self, of: SharedRecord, kind: int) -> bool:
        """Acknowledge a record: accept 1, release 2, reject 3, or renew its lock 4, after which a
        poll returns it again. Return False if its session is gone.
        """
        return self.sessions.acknowledge(of.partition, of.record.offset, kind)

    def commit(self, now: int) -> None:
        """Send waiting acknowledgements without a poll."""
        self.sessions.flush(now)

    def close(self, now: int, timeout_ms: int = 30_000) -> None:
        """Release all records, leave, end; `Closed` reports the end, at the latest after
        `timeout_ms`.
        """
        if self._closing_until is None:
            if self.config.implicit:
                for of in self._handed_out:
                    self.sessions.acknowledge(of.partition, of.record.offset, ACCEPT)
            self._closing_until = now + timeout_ms
            self.sessions.close(now)
            self.member.leave(now)
        self._close(now)

    # -- what it is

    @property
    def state(self) -> ShareState:
        """State of the membership."""
        return self.member.state

    @property
    def assigned(self) -> tuple[TopicPartition, ...]:
        """The assigned partitions whose topic names are known."""
        return self.sessions.assigned

    @property
    def renewing(self) -> bool:
        """True if a lock renewal is unanswered."""
        return self.sessions.renewing

    def results(self) -> list[AckResult]:
        """Return the results of acknowledgements since the last call."""
        results, self.sessions.results = self.sessions.results, []
        return results

    # -- what the driver tells

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take the answer to a request; return False if it gives `poll` and `take` nothing to do."""
        news = (
            self.sessions.receive(number, response, now)
            if number < 0
            else self.member.receive(number, response, now)
        )
        self._close(now)
        return news or self.closed

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer."""
        if number < 0:
            self.sessions.receive(number, None, now)
        else:
            self.member.failed(number, now)
        self._close(now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """Note that a request was not sent, because no common version can express it."""
        if number < 0:
            self.sessions.receive(number, None, now)
        else:
            self.member.unsupported(number, fault)

    def disconnected(self, now: int) -> None:
        """Note that the connection to the coordinator is lost."""
        self.member.disconnected(now)

    def metadata(self, view: ClusterView, now: int) -> None:
        """Do nothing: the sessions request metadata themselves."""

    def metadata_failed(self, now: int) -> None:
        """Do nothing: the sessions request metadata themselves."""

    def tick(self, now: int) -> None:
        """Run timers that do not need the application."""
        self.member.tick(now)
        self.sessions.leaders.tick(now)
        self.sessions.leaders.look_up(now)
        self._close(now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        due = [self.member.next_deadline(), self.sessions.leaders.next_deadline()]
        due.append(None if self.closed else self._closing_until)
        return min((of for of in due if of is not None), default=None)

    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has work of its own, or None."""
        return self.sessions.next_deadline()

    def take(self) -> list[Effect]:
        """Return the effects to carry out now, in order."""
        effects, self.member.effects = self.member.effects, []
        return effects + self.sessions.take()

    def _close(self, now: int) -> None:
        if self._closing_until is None or self.closed:
            return
        if now >= self._closing_until or (self.sessions.closed and self.member.is_silent):
            self.closed = True
            self.member.effects.append(Closed(None))
