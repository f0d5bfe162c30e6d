"""Withholds the news of a rebalance from an application until a case releases it.

Its heartbeats are answered without the news: a classic member gets no REBALANCE_IN_PROGRESS, a
member of a consumer group (KIP-848) no new assignment. So its session goes on, and other requests
on the same connection are answered. Each such answer is in the event log (`FaultInjected`, action
`withhold`).

When the case releases the news, the next heartbeat is held until the application is at work (for
a part of its session at most); then its answer has the news.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coordinator.base.errors import ErrorCode
from coordinator.core.shards.by_hand import postpone_session, session_ends
from coordinator.events.faults import FaultInjected
from coordinator.events.groups import MemberRemoved, Removal
from coordinator.events.groups.consumer import ConsumerMemberRemoved
from coordinator.events.line import lines_of
from coordinator.server.interceptors import Answer, Handle, Hold, Verdict
from coordinator.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

from . import findings
from .findings import Finding
from .sessions import held_at_most_s
from .under_test import A_MOMENT_S, ApplicationError, ApplicationUnderTest

if TYPE_CHECKING:
    from coordinator.server.broker import Broker
    from coordinator.server.requests.call import Call, Encoded
    from coordinator.wire.schema import Message

_WITHHELD = "a ready test withholds the news of a rebalance"
_LATER = "a ready test announces a rebalance while it is processing"


class WithheldNews:
    """Withholds the news from one application. `others`: client ids that get all news."""

    def __init__(self, app: ApplicationUnderTest, others: Collection[str]) -> None:
        self._app = app
        self._began: int | None = None
        self._doors = [
            _Door(broker, app.application.group, others) for broker in app.kafka.brokers.values()
        ]

    def begin(self) -> None:
        """Begin to withhold the news."""

        def begin() -> None:
            for door in self._doors:
                door.broker.interceptors.insert(0, door)

        self._began = self._app.kafka.mark()
        self._app.kafka.run(begin)

    def end(self) -> None:
        """Release the held heartbeat. Removals of members until now are excused by it."""

        def end() -> None:
            for door in self._doors:
                door.end(self._app.kafka.server.now())

        app, since, self._began = self._app, self._began, None
        if since is None:
            return
        lines = lines_of(app.kafka.events(group=app.application.group, since=since))
        app.kafka.run(end)
        app.told.removed |= {
            event.member_id
            for line in lines
            if isinstance(event := line.event, MemberRemoved | ConsumerMemberRemoved)
            and event.reason != Removal.LEFT
        }

    @contextmanager
    def told_at_work(self, done: Callable[[], bool]) -> Iterator[None]:
        """In the block the application gets work; meanwhile its heartbeat is held, and tells it
        of the rebalance as soon as `done` returns True, or after a part of its session."""
        app = self._app
        most_s = held_at_most_s(app, A_MOMENT_S)
        held: Future[None] = Future()

        def hold() -> None:
            for door in self._doors:
                door.hold_next(held, round(most_s * 1000))

        app.kafka.run(hold)
        try:
            held.result(app.patience_s)
        except FutureTimeoutError:
            finding = Finding(findings.NO_RECOVERY, "the application sends no heartbeats")
            raise ApplicationError([*app.findings(), finding]) from None
        until = time.monotonic() + most_s
        yield
        while not done() and time.monotonic() < until:
            time.sleep(0.002)
        self.end()


class _Door:
    """The interceptor that withholds the news at one broker."""

    api_keys = frozenset({HeartbeatRequest.api_key, ConsumerGroupHeartbeatRequest.api_key})

    def __init__(self, broker: Broker, group: str, others: Collection[str]) -> None:
        self.broker = broker
        self._group = group
        self._others = others
        self._holds: tuple[Future[None], int] | None = None
        self._token: int | None = None

    def hold_next(self, held: Future[None], most_ms: int) -> None:
        """Hold the next heartbeat for at most `most_ms`, and prolong its sender's session;
        `held` is done when it has arrived."""
        self._holds = held, most_ms

    def end(self, now: int) -> None:
        """Let everything go on."""
        if self in self.broker.interceptors:
            self.broker.interceptors.remove(self)
        token, self._token = self._token, None
        if token is not None:
            self.broker.parked.release(token, now)

    def __call__(self, call: Call) -> Verdict:
        message: Any = call.message
        if message.group_id != self._group or call.client_id in self._others:
            return None
        if self._holds is not None and not self._holds[0].done() and message.member_id:
            held, most_ms = self._holds
            self._put_off(message.member_id, most_ms)
            self._token = call.token
            self._note(call, "hold", _LATER)
            held.set_result(None)
            return Hold(None)
        if isinstance(message, HeartbeatRequest):
            return Handle(message, lambda answer: self._without_news(call, answer))
        return self._without_assignment(call, message)

    def _without_news(self, call: Call, answer: Message | Encoded | None) -> Message | Encoded:
        assert answer is not None
        if getattr(answer, "error_code", 0) != ErrorCode.REBALANCE_IN_PROGRESS:
            return answer
        self._note(call, "withhold", _WITHHELD)
        return HeartbeatResponse()

    def _without_assignment(self, call: Call, asked: ConsumerGroupHeartbeatRequest) -> Verdict:
        """Answer a heartbeat that changes nothing without the new assignment."""
        shard = self.broker.coordinator.shard_of(self._group)
        says = (asked.subscribed_topic_names, asked.subscribed_topic_regex, asked.topic_partitions)
        ends = None if shard is None else session_ends(shard, self._group, asked.member_id)
        if asked.member_epoch <= 0 or any(word is not None for word in says) or ends is None:
            return None
        if self.broker.coordinator.renew_consumer(
            asked, call.client_id, call.client_host, call.now
        ):
            return None
        assert shard is not None
        environment = shard.config.consumer
        assert environment is not None
        settings = environment.settings(self._group)
        self._put_off(asked.member_id, max(call.now + settings.session_timeout_ms - ends, 0))
        self._note(call, "withhold", _WITHHELD)
        return Answer(
            ConsumerGroupHeartbeatResponse(
                member_id=asked.member_id,
                member_epoch=asked.member_epoch,
                heartbeat_interval_ms=settings.heartbeat_interval_ms,
            )
        )

    def _put_off(self, member_id: str, duration_ms: int) -> None:
        shard = self.broker.coordinator.shard_of(self._group)
        if shard is not None:
            postpone_session(shard, self._group, member_id, duration_ms)

    def _note(self, call: Call, action: str, fault: str) -> None:
        log = self.broker.log
        if log is not None:
            heartbeat = isinstance(call.message, HeartbeatRequest)
            api = "Heartbeat" if heartbeat else "ConsumerGroupHeartbeat"
            log.append(
                FaultInjected(api, call.client_id, action, fault),
                at_ms=call.now,
                cause=call.cause,
                group=self._group,
                broker=self.broker.node_id,
            )


@contextmanager
def news_withheld(app: ApplicationUnderTest) -> Iterator[WithheldNews]:
    """In the block the application gets no news of a rebalance until `told_at_work`, or until
    the end of the block."""
    news = WithheldNews(app, app.peer_clients)
    news.begin()
    try:
        yield news
    finally:
        news.end()
