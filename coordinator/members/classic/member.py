"""One consumer-group member of the classic protocol: the calls of its driver, and its effects.

    member = Member(MemberConfig(group_id="billing", client_id="c1"), listener, chance=random.random)
    member.subscribe(["orders"], now)
    member.poll(now)                          # the application polls
    for effect in member.take(): ...          # send, disconnect, fetch metadata, report a commit
    member.receive(number, response, now)     # an answer; then poll again
    member.tick(now)                          # when next_deadline() has come: heartbeats, timeouts; poll again, if the application does

`tick` is Java's heartbeat thread, `poll` the application's: a member whose application stalls is
ticked but not polled, and leaves after max.poll.interval.ms (CLI-14). Times are milliseconds
passed by the driver; randomness only jitters backoffs. One thread at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import ClassVar

from assignors import AssignorError, common_protocol
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.sync_group import SyncGroupRequest
from coordinator.wire.schema import Response

from .. import discovery, offsets, rebalancing, topics
from ..closing import Closing
from ..cluster_view import ClusterView
from ..config import MemberConfig, MemberConfigError
from ..effects import RebalanceListener, SilentListener
from ..group_member import AnswerTable, GroupMember, earlier
from ..membership import Membership
from ..participant import InFlight
from ..requests import Unsupported
from ..states import STABLE, MemberState
from ..subscription import Partitions, topic_names
from . import heartbeats, joining, leaving


class Member(GroupMember):
    """A classic member of one group. Raises MemberConfigError for assignors that do not exist or
    cannot be combined.
    """

    __slots__ = ("_m",)

    ANSWERS: ClassVar[AnswerTable] = {
        **GroupMember.ANSWERS,
        JoinGroupRequest: joining.on_join,
        SyncGroupRequest: joining.on_sync,
        HeartbeatRequest: heartbeats.on_heartbeat,
        LeaveGroupRequest: leaving.on_leave,
    }

    def __init__(
        self,
        config: MemberConfig,
        listener: RebalanceListener | None = None,
        *,
        chance: Callable[[], float] = lambda: 0.5,
        now: int = 0,
    ) -> None:
        assignors = config.make_assignors()
        try:
            protocol = common_protocol(assignors)
        except AssignorError as error:
            raise MemberConfigError(f"partition.assignment.strategy: {error}") from error
        self._p = self._m = Membership(
            config,
            assignors,
            protocol.name == "COOPERATIVE",
            listener or SilentListener(),
            chance,
            now,
        )
        self._closing = None

    @property
    def state(self) -> MemberState:
        """State of the membership (CLI-3)."""
        return self._m.state

    @property
    def is_leader(self) -> bool:
        """True if the member ran the assignor in this generation."""
        return self._m.is_leader

    @property
    def cooperative(self) -> bool:
        """True if its assignors make it follow the cooperative rebalance protocol (CLI-22)."""
        return self._m.cooperative

    @property
    def settled(self) -> bool:
        """True if it is Stable with its assignment, and has no reason to rejoin."""
        m = self._m
        return m.state is STABLE and m.join is None and not m.rejoin_needed

    @property
    def going(self) -> Partitions:
        """Partitions that it revokes before it joins, while the commit before that is in progress
        (CLI-23).
        """
        return rebalancing.going(self._m)

    @property
    def rejoin_reason(self) -> str:
        """Reason of the next JoinGroup; "" if none is due."""
        return self._m.rejoin_reason

    def subscribe(self, topics_: Iterable[str], now: int) -> None:
        """Subscribe to topics by name, replacing the former subscription; an empty list means
        `unsubscribe`. Raises MemberConfigError for invalid names.
        """
        names = topic_names(topics_)
        if not names:
            self.unsubscribe(now)
            return
        self._m.subscribed.ask_for(names, None)
        self._new_topics(now)

    def subscribe_pattern(self, pattern: str | re.Pattern[str], now: int) -> None:
        """Subscribe to all topics whose whole name matches, now and later (CLI-20)."""
        compiled = re.compile(pattern)
        self._m.subscribed.ask_for((), compiled)
        self._m.view_seen = None
        self._new_topics(now)

    def _new_topics(self, now: int) -> None:
        m = self._m
        if m.view is None or not m.view.covers(m.subscribed.metadata_topics()):
            topics.need(m)
            m.metadata_again_at = now
        else:
            m.view_seen = None
        topics.ask(m, now)

    def unsubscribe(self, now: int) -> None:
        """Leave the group and drop the subscription. Raises ListenerFault after that."""
        leaving.unsubscribe(self._m, now)

    def enforce_rebalance(self, reason: str = "the application asked for it") -> None:
        """Rejoin at the next poll, so that the group rebalances (KIP-568)."""
        self._m.request_rejoin(reason)

    def beat_soon(self, now: int) -> None:
        """Make the next heartbeat due now, if none is in flight."""
        self._m.pulse.beat_at = now

    def poll(self, now: int) -> bool:
        """Poll for the application; return True if the member is in the group and nothing is
        pending. Raises MemberFault for faults that concern the application; the next poll
        continues.
        """
        m, subscribed = self._m, self._m.subscribed
        if self._closing is not None or not subscribed.wanted:
            return False
        asks = (
            m.metadata_needed or now >= m.metadata_expires_at
        )  # most polls find nothing to do: what is not due is not called
        if asks:
            topics.ask(m, now)
        if m.topics_fault is not None:
            topics.raise_faults(m)
        if m.view is not m.view_seen:
            topics.take_over(m)
        if m.beat_fault is not None:
            self._raise_beat_fault()
        m.pulse.polled(now)
        if m.commits:
            offsets.push(m, now)
        if m.coordinator is None and not discovery.ready(m, now):
            return False
        if joining.rejoin_needed(m):
            if m.subscribed.pattern is not None and not self._pattern_is_fresh(now):
                return False
            if not joining.join_if_needed(m, now):
                return False
        if now >= m.next_auto_commit_at:
            offsets.auto_commit(m, now)
        if m.offsets_fault is not None or len(subscribed.looked_up) != len(subscribed.owned):
            offsets.look_up_positions(m, now)
        if m.metadata_needed or asks:
            topics.ask(m, now)
        return True

    def _raise_beat_fault(self) -> None:
        if self._m.beat_fault is not None:
            fault, self._m.beat_fault = self._m.beat_fault, None
            raise fault

    def _pattern_is_fresh(self, now: int) -> bool:
        """Request fresh metadata before joining by pattern, if the backoff allows (CLI-20); return
        whether it is fresh.
        """
        m = self._m
        if m.join is None and not m.pattern_refreshed and now >= m.metadata_again_at:
            m.pattern_refreshed = True
            topics.need(m)
        if topics.is_fresh(m):
            topics.take_over(m)
            return True
        topics.ask(m, now)
        return False

    def metadata(self, view: ClusterView, now: int) -> None:
        """Take metadata that this member requested; an elected leader may wait for it."""
        super().metadata(view, now)
        joining.lead(self._m, now)

    # -- for drivers that skip heartbeats which change nothing

    @property
    def is_quiet(self) -> bool:
        """See `heartbeats.is_quiet`; False once the member is closing."""
        return self._closing is None and heartbeats.is_quiet(self._m)

    @property
    def beat_at(self) -> int:
        """Instant of the next heartbeat."""
        return self._m.pulse.beat_at

    @property
    def beat_interval_ms(self) -> int:
        return self._m.pulse.interval_ms

    def beats_late(self, duration_ms: int) -> None:
        self._m.pulse.interval_ms += duration_ms

    def heartbeat(self) -> HeartbeatRequest:
        """Return the heartbeat that the member would send now."""
        return heartbeats.request(self._m)

    def skip_heartbeats(self, count: int, sent_at: int, answered_at: int) -> None:
        heartbeats.skip(self._m, count, sent_at, answered_at)

    def polled(self, now: int) -> None:
        self._m.pulse.polled(now)

    def skip_poll(self, now: int) -> None:
        m = self._m
        if now >= m.next_auto_commit_at:
            self.poll(now)
        else:
            m.pulse.polled(now)

    def assigns_for(self, duration_ms: int) -> None:
        """Let the assignor take `duration_ms` whenever this member leads: the group waits
        meanwhile, and heartbeats go on.
        """
        self._m.assigning_ms = duration_ms

    def _beat(self, now: int) -> None:
        heartbeats.beat(self._m, now)
        if self._m.assigns_at and now >= self._m.assigns_at:
            joining.lead(self._m, now)

    def _next_beat(self) -> int | None:
        m, due = self._m, heartbeats.next_deadline(self._m)
        return earlier(due, m.assigns_at) if m.assigns_at and m.election is not None else due

    def _close(self, closing: Closing, now: int) -> None:
        leaving.close(self._m, closing, now)

    def _is_news(self, response: Response) -> bool:
        return type(response) is not HeartbeatResponse or not self.settled

    def _cannot_say(self, sent: InFlight, fault: Unsupported) -> None:
        m = self._m
        if isinstance(sent.message, HeartbeatRequest):
            m.pulse.in_flight, m.beat_fault = False, fault
        elif m.join is not None and isinstance(sent.message, JoinGroupRequest | SyncGroupRequest):
            m.join.fail(fault)

    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has work of its own, or None."""
        m = self._m
        if self._closing is not None or not m.subscribed.wanted:
            return None
        if m.coordinator is None:
            return None if m.find_in_flight else m.find_again_at
        rejoins = joining.rejoin_needed(m)
        waits_for_metadata = m.subscribed.pattern is not None and not topics.is_fresh(
            m
        )  # `tick` asks, the answer polls
        waits_for_backoff = (
            rejoins and m.join is None and m.prepare_commit is None and not waits_for_metadata
        )
        due = offsets.next_deadline(m, settled=not rejoins)
        return earlier(m.join_again_at, due) if waits_for_backoff else due
