"""A whole consumer: a member of a group that also reads what it owns. As pure as the member: bytes
and time in, requests out.

    consumer = Consumer(MemberConfig(group_id="billing"), FetchConfig(auto_offset_reset="earliest"), listener)
    consumer.subscribe(["orders"], now)
    for polled in consumer.poll(now): ...        # records of one partition each
    for effect in consumer.take(): ...           # as a member's, and requests to the leaders of partitions
    consumer.receive(number, response, now)      # an answer, whoever it came from

Rules: `poll` commits automatically what polls before it handed out, and nothing newer (at least
once); positions move with what is handed out. Everything else is the member's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from assignors import TopicPartition
from coordinator.wire.schema import Response

from ..backoff import Backoff
from ..cluster_view import ClusterView
from ..config import MemberConfig
from ..effects import Effect, Position, RebalanceListener
from ..group_member import DEFAULT_CLOSE_TIMEOUT_MS, GroupMember
from ..making import make_member
from ..requests import Unsupported
from .fetch_config import FetchConfig
from .fetching import Fetcher, Polled, Reset


class Consumer:
    """A member, of either group protocol, and its fetcher. `member` may be given; else it is made
    from `config`."""

    def __init__(
        self,
        config: MemberConfig,
        fetch: FetchConfig,
        listener: RebalanceListener | None = None,
        *,
        chance: Callable[[], float] = lambda: 0.5,
        now: int = 0,
        member: GroupMember | None = None,
    ) -> None:
        self.member: GroupMember = (
            make_member(config, listener, chance=chance, now=now) if member is None else member
        )
        backoff = Backoff(config.retry_backoff_ms, config.retry_backoff_max_ms, chance)
        self.fetcher = Fetcher(
            fetch,
            committed=config.isolation_level == "read_committed",
            timeout_ms=config.request_timeout_ms,
            backoff=backoff,
            rack=config.client_rack,
            max_age_ms=config.metadata_max_age_ms,
        )

    def subscribe(self, topics: Iterable[str], now: int) -> None:
        """As `Member.subscribe`."""
        self.member.subscribe(topics, now)

    def poll(self, now: int) -> list[Polled]:
        """The application calls in; up to max.poll.records records. Raises MemberFault; the next
        poll goes on."""
        member = self.member
        member.poll(now)
        self._adopt()
        polled = self.fetcher.poll()
        for partition, position in self.fetcher.moved().items():
            member.seek(partition, position)
        self.fetcher.ask(now)
        return polled

    def _adopt(self) -> None:
        member = self.member
        subscribed = member.subscribed
        self.fetcher.assign(
            subscribed.owned_in_order,
            subscribed.positions,
            known=len(subscribed.looked_up) == len(subscribed.owned),
            going=member.going,
        )
        found = self.fetcher.found()
        for partition, position in found.items():
            member.seek(partition, position)

    def resets(self) -> list[Reset]:
        """Positions that auto.offset.reset chose since the last time."""
        resets, self.fetcher.resets = self.fetcher.resets, []
        return resets

    def seek(self, partition: TopicPartition, position: Position | int) -> None:
        """Read on from there. Raises KeyError if the partition is not owned."""
        self.member.seek(partition, position)

    def commit(
        self,
        now: int,
        offsets: Mapping[TopicPartition, Position] | None = None,
        *,
        retry: bool = True,
    ) -> int:
        """As `Member.commit`."""
        return self.member.commit(now, offsets, retry=retry)

    def close(
        self, now: int, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS, *, leave: bool | None = None
    ) -> None:
        """As `Member.close`."""
        self.member.close(now, timeout_ms, leave=leave)

    # -- what the driver tells

    def receive(self, number: int, response: Response, now: int) -> bool:
        """An answer came. False: nothing new for `poll` or `take`."""
        return (
            self.fetcher.receive(number, response, now)
            if number < 0
            else self.member.receive(number, response, now)
        )

    def failed(self, number: int, now: int) -> None:
        """No answer will come."""
        if number < 0:
            self.fetcher.receive(number, None, now)
        else:
            self.member.failed(number, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """The request was never sent: the broker's versions cannot carry it."""
        if number < 0:
            self.fetcher.receive(number, None, now)
        else:
            self.member.unsupported(number, fault, now)

    def disconnected(self, now: int) -> None:
        """The connection to the coordinator is gone."""
        self.member.disconnected(now)

    def metadata(self, view: ClusterView, now: int) -> None:
        """As `Member.metadata`."""
        self.member.metadata(view, now)

    def metadata_failed(self, now: int) -> None:
        """As `Member.metadata_failed`."""
        self.member.metadata_failed(now)

    def tick(self, now: int) -> None:
        """Do what has fallen due without the application."""
        self.member.tick(now)
        self.fetcher.leaders.tick(now)
        self.fetcher.leaders.look_up(now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` has something to do, or None."""
        due, other = self.member.next_deadline(), self.fetcher.leaders.next_deadline()
        return other if due is None or (other is not None and other < due) else due

    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has something to do of its own accord, beside what
        `tick` does; None if there is none."""
        due, other = self.member.next_poll(), self.fetcher.next_deadline()
        return other if due is None or (other is not None and other < due) else due

    def take(self) -> list[Effect]:
        """The actions to take now, in order."""
        return self.member.take() + self.fetcher.take()
