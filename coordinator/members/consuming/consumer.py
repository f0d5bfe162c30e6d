"""A whole consumer: a group member with a fetcher, as a pure state machine.

    consumer = Consumer(MemberConfig(group_id="billing"), FetchConfig(auto_offset_reset="earliest"), listener)
    consumer.subscribe(["orders"], now)
    for polled in consumer.poll(now): ...        # records of one partition each
    for effect in consumer.take(): ...           # as a member's, and requests to the leaders of partitions
    consumer.receive(number, response, now)      # an answer, from any broker

`poll` auto-commits the records that earlier polls returned, and nothing newer (at least once);
positions move with the records returned. All else is the member's.
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
    """A member of either group protocol with a fetcher. `member`: default made from `config`."""

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
        """See `Member.subscribe`."""
        self.member.subscribe(topics, now)

    def poll(self, now: int) -> list[Polled]:
        """Poll for the application; return up to max.poll.records records. Raises MemberFault; the
        next poll continues.
        """
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
        """Return the positions that auto.offset.reset chose since the last call."""
        resets, self.fetcher.resets = self.fetcher.resets, []
        return resets

    def seek(self, partition: TopicPartition, position: Position | int) -> None:
        """Set the position from which to read. Raises KeyError if the partition is not owned."""
        self.member.seek(partition, position)

    def commit(
        self,
        now: int,
        offsets: Mapping[TopicPartition, Position] | None = None,
        *,
        retry: bool = True,
    ) -> int:
        """See `Member.commit`."""
        return self.member.commit(now, offsets, retry=retry)

    def close(
        self, now: int, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS, *, leave: bool | None = None
    ) -> None:
        """See `Member.close`."""
        self.member.close(now, timeout_ms, leave=leave)

    # -- what the driver tells

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take the answer to a request; return False if it gives `poll` and `take` nothing to do."""
        return (
            self.fetcher.receive(number, response, now)
            if number < 0
            else self.member.receive(number, response, now)
        )

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer."""
        if number < 0:
            self.fetcher.receive(number, None, now)
        else:
            self.member.failed(number, now)

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """Note that a request was not sent, because no common version can express it."""
        if number < 0:
            self.fetcher.receive(number, None, now)
        else:
            self.member.unsupported(number, fault, now)

    def disconnected(self, now: int) -> None:
        """Note that the connection to the coordinator is lost."""
        self.member.disconnected(now)

    def metadata(self, view: ClusterView, now: int) -> None:
        """See `Member.metadata`."""
        self.member.metadata(view, now)

    def metadata_failed(self, now: int) -> None:
        """See `Member.metadata_failed`."""
        self.member.metadata_failed(now)

    def tick(self, now: int) -> None:
        """Run timers that do not need the application."""
        self.member.tick(now)
        self.fetcher.leaders.tick(now)
        self.fetcher.leaders.look_up(now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        due, other = self.member.next_deadline(), self.fetcher.leaders.next_deadline()
        return other if due is None or (other is not None and other < due) else due

    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has work of its own, besides `tick`, or None."""
        due, other = self.member.next_poll(), self.fetcher.next_deadline()
        return other if due is None or (other is not None and other < due) else due

    def take(self) -> list[Effect]:
        """Return the effects to carry out now, in order."""
        return self.member.take() + self.fetcher.take()
