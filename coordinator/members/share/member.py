"""One member of a share group (KIP-932): when it heartbeats, the fields of its heartbeats, and the
effect of each answer.

There is no rebalance to wait for: an assignment is valid with its answer (SH-HB-3). Owns the
coordinator and its own requests, whose numbers are positive. Does not know fetching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from coordinator.wire.schema import Request, Response

from ..backoff import Backoff
from ..consumer_protocol.membership import new_member_id
from ..effects import Disconnect, Effect, Node, Send
from ..faults import GroupAuthorizationFailed, MemberFault, Refused, code_of
from .config import ShareConfig

API: Final = "ShareGroupHeartbeat"
JOIN_EPOCH, LEAVE_EPOCH = 0, -1
_GROUP: Final = 0
_LOST_COORDINATOR: Final = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
_FENCED: Final = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})
_PASSING: Final = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.TOPIC_AUTHORIZATION_FAILED}
)
Assigned = Mapping[bytes, tuple[int, ...]]
"""Partitions by topic id."""


class ShareState(Enum):
    """State of a member of a share group."""

    UNSUBSCRIBED = "not a member"
    JOINING = "the heartbeat with epoch 0 is due or on its way"
    STABLE = "in the group"
    STALE = "left because the application did not poll: joins again when it does"
    FATAL = "refused for good"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.name


class _Asked(NamedTuple):
    message: Request
    deadline: int


class ShareMember:
    """A member of one share group. `chance` draws from 0 to 1, for backoffs and for the member id
    unless that is given.
    """

    def __init__(
        self,
        config: ShareConfig,
        *,
        chance: Callable[[], float],
        now: int = 0,
        member_id: str | None = None,
    ) -> None:
        self.config = config
        self.state = ShareState.UNSUBSCRIBED
        self.member_id = member_id or new_member_id(chance)
        self.member_epoch = JOIN_EPOCH
        self.assigned: Assigned = {}
        self.coordinator: Node | None = None
        self.found = False
        """Has a broker ever named the coordinator?"""
        self.effects: list[Effect] = []
        self.interval_ms = 0
        """0 until the coordinator has said."""
        self._backoff = Backoff(config.retry_backoff_ms, config.retry_backoff_max_ms, chance)
        self._topics: tuple[str, ...] = ()
        self._told: tuple[str, ...] | None = None
        self._fault: MemberFault | None = None
        self._asked: dict[int, _Asked] = {}
        self._number = 0
        self._beat_at = now
        self._retry_at = now
        self._poll_expires_at = now + config.max_poll_interval_ms

    # -- what the application asks for

    def subscribe(self, topics: Iterable[str], now: int) -> None:
        """Subscribe to topics by name, replacing the former subscription."""
        self._topics = tuple(sorted(set(topics)))
        if self.state is ShareState.UNSUBSCRIBED and self._topics:
            self._join()
        self._beat_at = now

    def poll(self, now: int) -> None:
        """Poll for the application. Raises, once, the MemberFault that ended the membership."""
        self._poll_expires_at = now + self.config.max_poll_interval_ms
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if self.state is ShareState.STALE:
            self._join()
        self.tick(now)

    def leave(self, now: int) -> None:
        """Send the leaving heartbeat, if there is a coordinator, without waiting for the answer."""
        if self.state in (ShareState.JOINING, ShareState.STABLE) and self.coordinator is not None:
            self._send(
                self.coordinator,
                ShareGroupHeartbeatRequest(
                    group_id=self.config.group_id,
                    member_id=self.member_id,
                    member_epoch=LEAVE_EPOCH,
                ),
                now,
            )
        self._out(ShareState.UNSUBSCRIBED)

    @property
    def is_silent(self) -> bool:
        """True if no answer is awaited."""
        return not self._asked

    # -- time

    def tick(self, now: int) -> None:
        """Do what is due: look up the coordinator, heartbeat, leave because the application does
        not poll, time out requests.
        """
        for number in [number for number, asked in self._asked.items() if now >= asked.deadline]:
            if number in self._asked:
                self._forget_coordinator("a request was not answered in time")
                self.failed(number, now)
        if self.state not in (ShareState.JOINING, ShareState.STABLE):
            return
        if now >= self._poll_expires_at:
            self.leave(now)
            self.state = ShareState.STALE
        elif not self._asked and now >= self._due():
            if self.coordinator is None:
                self._send(
                    None,
                    FindCoordinatorRequest(
                        key_type=_GROUP, coordinator_keys=[self.config.group_id]
                    ),
                    now,
                )
            else:
                self._beat(self.coordinator, now)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        due = [asked.deadline for asked in self._asked.values()]
        if self.state in (ShareState.JOINING, ShareState.STABLE):
            due.append(self._poll_expires_at)
            if not self._asked:
                due.append(self._due())
        return min(due, default=None)

    def _due(self) -> int:
        if self.coordinator is None or self.state is ShareState.JOINING:
            return self._retry_at
        return max(self._beat_at, self._retry_at)

    def _beat(self, coordinator: Node, now: int) -> None:
        joins = self.member_epoch == JOIN_EPOCH
        new = joins or self._told != self._topics
        self._told = self._topics
        message = ShareGroupHeartbeatRequest(
            group_id=self.config.group_id,
            member_id=self.member_id,
            member_epoch=self.member_epoch,
            rack_id=(self.config.client_rack or None) if joins else None,
            subscribed_topic_names=list(self._topics) if new else None,
        )
        self._send(coordinator, message, now)

    def _send(self, node: Node | None, message: Request, now: int) -> None:
        self._number += 1
        self._asked[self._number] = _Asked(message, now + self.config.request_timeout_ms)
        self.effects.append(Send(self._number, node, message))

    # -- answers

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take the answer to a request; return False if it concerns the application in nothing."""
        asked = self._asked.pop(number, None)
        if asked is None:
            return False
        if isinstance(response, FindCoordinatorResponse):
            self._on_find(response, now)
        elif isinstance(response, ShareGroupHeartbeatResponse):
            assert isinstance(asked.message, ShareGroupHeartbeatRequest)
            if asked.message.member_epoch == LEAVE_EPOCH:
                return False
            return self._on_heartbeat(response, now)
        return True

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer."""
        if self._asked.pop(number, None) is not None:
            self._told = None
            self._retry_at = now + self._backoff.next()

    def unsupported(self, number: int, fault: MemberFault) -> None:
        """Note that a request was not sent, because no common version can express it."""
        if self._asked.pop(number, None) is not None:
            self._fail(fault)

    def disconnected(self, now: int) -> None:
        """Note that the connection to the coordinator is lost, with the answers to come on it."""
        self.coordinator = None
        for number, asked in list(self._asked.items()):
            if isinstance(asked.message, ShareGroupHeartbeatRequest):
                self.failed(number, now)

    def _on_find(self, response: FindCoordinatorResponse, now: int) -> None:
        row = response.coordinators[0] if response.coordinators else None
        if row is not None and not row.error_code:
            self.coordinator, self.found = Node(row.node_id, row.host, row.port), True
            self._backoff.reset()
            self._retry_at = now
            return
        self._retry_at = now + self._backoff.next()
        if row is not None and row.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            where = f"group {self.config.group_id}"
            self._fail(GroupAuthorizationFailed("FindCoordinator", row.error_code, where))

    def _on_heartbeat(self, response: ShareGroupHeartbeatResponse, now: int) -> bool:
        if response.error_code:
            self._told = None
            self._on_error(code_of(response.error_code), response.error_message or "", now)
            return True
        self._backoff.reset()
        self._retry_at = now
        self.interval_ms = response.heartbeat_interval_ms
        self._beat_at = now + self.interval_ms
        if self.state is not ShareState.JOINING and self.state is not ShareState.STABLE:
            return False
        self.state = ShareState.STABLE
        self.member_epoch = response.member_epoch
        if response.assignment is None:
            return False
        self.assigned = {
            of.topic_id: tuple(sorted(of.partitions)) for of in response.assignment.topic_partitions
        }
        return True

    def _on_error(self, error: ErrorCode, message: str, now: int) -> None:
        self._retry_at = now + self._backoff.next()
        if error in _LOST_COORDINATOR:
            self._forget_coordinator(f"a heartbeat was answered {error.name}")
            self._retry_at = now
        elif error in _FENCED:
            self._out(ShareState.JOINING)
            self._retry_at = now
        elif error not in _PASSING:
            self._fail(Refused(API, error, message, retriable=False))

    def _forget_coordinator(self, why: str) -> None:
        if self.coordinator is not None:
            self.effects.append(Disconnect(self.coordinator, why))
            self.coordinator = None

    def _join(self) -> None:
        self._out(ShareState.JOINING)

    def _out(self, state: ShareState) -> None:
        self.state = state
        self.member_epoch = JOIN_EPOCH
        self.assigned = {}
        self._told = None

    def _fail(self, fault: MemberFault) -> None:
        self._out(ShareState.FATAL)
        self._fault = fault
