"""A producer on real sockets: the pure `Producer`, driven by asyncio.

Owns its timer and its connections. Each record's result is reported as `Delivered`; a fault that
ends the producer is in `fatal`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from assignors import TopicPartition

from ..cluster_view import ClusterView
from ..connections.driver import Driver
from ..effects import FetchMetadata
from ..faults import MemberFault
from ..producers.config import ProducerConfig
from ..producers.produced import Delivered
from ..producers.producer import Producer
from .transport import LiveTransport


class LiveProducer:
    """A live producer; use it on its loop only. `wall_ms`: the wall clock now, in Unix
    milliseconds, for the records' timestamps.
    """

    def __init__(
        self,
        transport: LiveTransport,
        config: ProducerConfig,
        delivered: Callable[[Delivered], None],
        *,
        wall_ms: int = 0,
    ) -> None:
        self._transport = transport
        self._delivered = delivered
        self._producer = Producer(config, wall_ms=wall_ms - transport.now())
        self._driver = Driver(transport, _Asking(self._producer), self.turn, self.turn)
        self._timer: asyncio.TimerHandle | None = None
        self._turning = False
        self._closed = False

    @property
    def fatal(self) -> MemberFault | None:
        """The fault that ended the producer for good, or None."""
        return self._producer.fatal

    def want(self, topic: str) -> None:
        """Request metadata of a topic, so that a broker with automatic creation creates it."""
        self._driver.perform([FetchMetadata(frozenset({topic}), True)])

    def send(self, partition: TopicPartition, value: bytes, key: bytes | None = None) -> int:
        """Queue a record; return its ticket. Call `turn` after the last one. Raises MemberFault if
        the producer has ended.
        """
        return self._producer.send(partition, value, self._transport.now(), key)

    def turn(self) -> None:
        """Send what can be sent, report results, and schedule the next call."""
        if self._closed or self._turning:
            return
        self._turning = True
        try:
            self._producer.tick(self._transport.now())
            for told in self._driver.perform(self._producer.take()):
                if isinstance(told, Delivered) and not self._closed:
                    self._delivered(told)
        finally:
            self._turning = False
        self._rearm()

    def close(self) -> None:
        """End at once: undelivered records may or may not be written, and nothing more is reported."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._driver.close()

    def _rearm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = None if self._closed else self._producer.next_deadline()
        if deadline is not None:
            # The loop's clock is finer than ours: come a millisecond late rather than early.
            self._timer = self._transport.call_at(
                max(deadline, self._transport.now()) + 1, self.turn
            )


class _Asking:
    """A producer whose driver may also request metadata."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self.receive, self.failed, self.unsupported = (
            producer.receive,
            producer.failed,
            producer.unsupported,
        )

    def metadata(self, view: ClusterView, now: int) -> None:
        """Do nothing: the request itself was the purpose."""

    def metadata_failed(self, now: int) -> None:
        """Do nothing: the request was only a try."""

    def disconnected(self, now: int) -> None:
        """Do nothing: a producer without transactions has no coordinator."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)
