"""One consumer-group member of the consumer protocol (KIP-848), driven like a classic `Member`,
with the same callbacks.

    member = ConsumerMember(MemberConfig(group_id="billing", group_protocol="consumer"), listener, chance=random.random)

Heartbeats contain the subscription and the owned partitions, and their answers the assignment:
there is no join phase and no leader. `tick` sends them; an assignment is taken over inside
`poll`, because callbacks run in the application's thread. Java's rules and names (K8-CL-1 to
K8-CL-4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import ClassVar

from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.schema import Response

from .. import discovery, offsets, topics
from ..closing import Closing, committed
from ..config import MemberConfig, MemberConfigError
from ..consumer_states import FATAL, JOIN_EPOCH, LEAVE_EPOCH, UNSUBSCRIBED, ConsumerState
from ..effects import Closed, RebalanceListener, SilentListener
from ..faults import ListenerFault, MemberFault
from ..group_member import AnswerTable, GroupMember
from ..participant import InFlight
from ..requests import Unsupported
from ..subscription import Partitions, topic_names
from . import heartbeats as consumer_heartbeats
from . import reconciling
from .membership import ConsumerMembership


class ConsumerMember(GroupMember):
    """A consumer protocol member of one group. `member_id`: default drawn from `chance`. Raises
    MemberConfigError for a configuration of the classic protocol.
    """

    __slots__ = ("_m",)

    ANSWERS: ClassVar[AnswerTable] = {
        **GroupMember.ANSWERS,
        ConsumerGroupHeartbeatRequest: consumer_heartbeats.on_heartbeat,
    }

    def __init__(
        self,
        config: MemberConfig,
        listener: RebalanceListener | None = None,
        *,
        chance: Callable[[], float] = lambda: 0.5,
        now: int = 0,
        member_id: str | None = None,
    ) -> None:
        if not config.speaks_consumer:
            raise MemberConfigError(
                "group.protocol=classic: that is what a Member speaks, not a ConsumerMember"
            )
        self._p = self._m = ConsumerMembership(
            config, listener or SilentListener(), chance, now, member_id
        )
        self._closing = None

    # -- what it is

    @property
    def state(self) -> ConsumerState:
        """State of the membership (K8-CL-1)."""
        return self._m.state

    @property
    def member_epoch(self) -> int:
        """The member epoch from the coordinator's last answer; 0 while joining, negative after
        leaving.
        """
        return self._m.member_epoch

    @property
    def member_id(self) -> str:
        """The member id, chosen by the member and constant."""
        return self._m.member_id

    @property
    def is_leader(self) -> bool:
        """Always False: the coordinator assigns."""
        return False

    @property
    def settled(self) -> bool:
        """True if the member has taken over its assignment, and the coordinator has answered that."""
        return self._m.settled

    @property
    def going(self) -> Partitions:
        """Partitions that it revokes, while the commit before that is in progress (K8-CL-4)."""
        return reconciling.going(self._m)

    @property
    def rejoin_reason(self) -> str:
        """Always "": this protocol has no rejoin reasons."""
        return ""

    # -- what the application asks for

    def subscribe(self, topics_: Iterable[str], now: int) -> None:
        """Subscribe to topics by name, replacing the former subscription; the next heartbeat
        contains it. An empty list means `unsubscribe`.
        """
        names = topic_names(topics_)
        if not names:
            self.unsubscribe(now)
            return
        self._m.subscribed.ask_for(names, None)
        self._new_topics(now)

    def subscribe_pattern(self, pattern: str | re.Pattern[str], now: int) -> None:
        """Subscribe to all topics whose whole name matches at the coordinator, now and later
        (K8-RX-1). The pattern has RE2's syntax.
        """
        self._m.subscribed.ask_for(
            (), None, pattern if isinstance(pattern, str) else pattern.pattern
        )
        self._new_topics(now)

    def _new_topics(self, now: int) -> None:
        m = self._m
        m.subscription_is_new = True
        if m.view is None or not m.view.covers(m.subscribed.metadata_topics()):
            topics.need(m)
            m.metadata_again_at = now
        topics.ask(m, now)

    def unsubscribe(self, now: int) -> None:
        """Leave the group and drop the subscription. Raises ListenerFault after that."""
        m = self._m
        epoch = consumer_heartbeats.leave_epoch(m)
        try:
            if m.state is not FATAL:
                reconciling.give_up(m)
        finally:
            if not consumer_heartbeats.leave(m, epoch, now) and m.state is not FATAL:
                m.state = UNSUBSCRIBED
            m.subscription_is_new = False
            m.subscribed.ask_for((), None)

    def enforce_rebalance(self, reason: str = "the application asked for it") -> None:
        """Do nothing, as in Java's consumer: the coordinator decides when to assign again."""

    def beat_soon(self, now: int) -> None:
        """Make the next heartbeat due now, if none is in flight."""
        self._m.pulse.beat_at = now

    def poll(self, now: int) -> bool:
        """Poll for the application; return True if the member has taken over its assignment. Raises
        MemberFault for faults that concern the application; the next poll continues, unless the
        member is FATAL.
        """
        m = self._m
        if self._closing is not None or not m.subscribed.wanted:
            return False
        topics.ask(m, now)
        topics.raise_faults(m)
        m.pulse.poll_expires_at = now + m.config.max_poll_interval_ms
        self._raise_fault()
        reconciling.join_if_out(m)
        offsets.push(m, now)
        if not discovery.ready(m, now):
            return False
        reconciling.reconcile(m, now)
        consumer_heartbeats.beat(m, now)
        if m.member_epoch > JOIN_EPOCH:
            if m.reconciling is None:
                offsets.auto_commit(m, now)
            offsets.look_up_positions(m, now)
        topics.ask(m, now)
        return m.settled

    def _raise_fault(self) -> None:
        m = self._m
        if m.fault is not None:
            fault, m.fault = m.fault, None
            with suppress(ListenerFault):  # the first fault is the one to tell
                reconciling.lose(m)
            raise fault

    # -- for drivers that skip heartbeats which change nothing

    @property
    def is_quiet(self) -> bool:
        """See `heartbeats.is_quiet`; False once the member is closing."""
        return self._closing is None and consumer_heartbeats.is_quiet(self._m)

    @property
    def beat_at(self) -> int:
        """Instant of the next heartbeat."""
        return self._m.pulse.beat_at

    @property
    def beat_interval_ms(self) -> int:
        return self._m.pulse.interval_ms

    def beats_late(self, duration_ms: int) -> None:
        self._m.pulse.late_ms = duration_ms

    def heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """Return the heartbeat that the member would send now."""
        return consumer_heartbeats.unchanged(self._m)

    def skip_heartbeats(self, count: int, sent_at: int, answered_at: int) -> None:
        consumer_heartbeats.skip(self._m, count, sent_at)

    def polled(self, now: int) -> None:
        self._m.pulse.poll_expires_at = now + self._m.config.max_poll_interval_ms

    def skip_poll(self, now: int) -> None:
        m = self._m
        if now >= m.next_auto_commit_at:
            self.poll(now)
        else:
            m.pulse.poll_expires_at = now + m.config.max_poll_interval_ms

    # -- its driver

    def next_poll(self) -> int | None:
        """Return the instant at which `poll` has work of its own, or None."""
        m = self._m
        if self._closing is not None or not m.subscribed.wanted or m.state is FATAL:
            return None
        if m.coordinator is None:
            return None if m.find_in_flight else m.find_again_at
        return offsets.next_deadline(
            m, settled=m.member_epoch > JOIN_EPOCH and m.reconciling is None
        )

    def _beat(self, now: int) -> None:
        consumer_heartbeats.beat(self._m, now)

    def _next_beat(self) -> int | None:
        return consumer_heartbeats.next_deadline(self._m)

    def _is_news(self, response: Response) -> bool:
        return (
            type(response) is not ConsumerGroupHeartbeatResponse
            or response.assignment is not None
            or not self._m.settled
        )

    def _cannot_say(self, sent: InFlight, fault: Unsupported) -> None:
        if (
            isinstance(sent.message, ConsumerGroupHeartbeatRequest)
            and sent.message.member_epoch >= JOIN_EPOCH
        ):
            known = (
                f"{fault}; {consumer_heartbeats.NOT_SERVED}"
                if sent.message.subscribed_topic_regex is None
                else str(fault)
            )
            consumer_heartbeats.fail(self._m, Unsupported(known))

    def _close(self, closing: Closing, now: int) -> None:
        """Continue to close: commit (auto-commit only), callbacks, the leaving heartbeat, end."""
        m = self._m
        if closing.ended:
            return
        if not closing.leaving:
            if now < closing.deadline and not committed(m, closing, now):
                return
            closing.leaving = True
            leaves = m.config.leave_group_on_close if closing.leave is None else closing.leave
            try:
                reconciling.give_up(m)
            except MemberFault as fault:
                closing.fault = fault
            if leaves or m.config.group_instance_id is not None:
                consumer_heartbeats.leave(
                    m,
                    LEAVE_EPOCH if closing.leave is True else consumer_heartbeats.leave_epoch(m),
                    now,
                )
        waits = any(_leaves(sent) or sent.commit is not None for sent in m.in_flight.values())
        if now >= closing.deadline or not waits:
            closing.ended = True
            m.in_flight.clear()
            m.state = UNSUBSCRIBED
            m.effects.append(Closed(closing.fault))


def _leaves(sent: InFlight) -> bool:
    return (
        isinstance(sent.message, ConsumerGroupHeartbeatRequest)
        and sent.message.member_epoch < JOIN_EPOCH
    )
