"""The testing kit for asynchronous tests: methods that wait are awaited, all others are called as
they are.

    async def test_hands_over(akafka):
        await akafka.group("billing").wait(state="Stable", members=1)

It serves an emulator on the test's own loop (`async with Emulator() as kafka: akafka =
AsyncKafka(kafka)`, as the fixture `akafka` does) and one on a thread of its own. Peers are
asynchronous already: `async with akafka.peer(...)`, `await peer.stable()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from coordinator.base.forgotten_awaits import await_is_watched
from coordinator.base.keyword_errors import nearest_keywords
from coordinator.kit.injection.fault_words import FaultWords

if TYPE_CHECKING:
    from coordinator.kit.emulator.loop_kit import LoopKit
    from coordinator.kit.faults import Fault
    from coordinator.kit.group.handle import GroupHandle
    from coordinator.kit.injection.fault_board import FaultHandle
    from coordinator.kit.shares.handle import ShareGroupHandle
    from coordinator.kit.views.group_snapshots import GroupSnapshot
    from coordinator.kit.views.share_records import ShareSnapshot


@await_is_watched
@nearest_keywords
class AsyncKafka(FaultWords["AsyncFault"]):
    """An emulator for an asynchronous test. Attributes that are not defined here are the
    emulator's own (`kafka.produce`, `kafka.peer`)."""

    def __init__(self, kafka: LoopKit) -> None:
        self._kafka = kafka

    def group(self, group_id: str) -> AsyncGroup:
        """Return a group, which need not exist yet."""
        return AsyncGroup(self._kafka.group(group_id))

    def share_group(self, group_id: str) -> AsyncShareGroup:
        """Return a share group, which need not exist yet."""
        return AsyncShareGroup(self._kafka.share_group(group_id))

    def add_fault(self, fault: Fault) -> AsyncFault:
        """See `Kit.add_fault`; `fail`, `delay` and the other words build one and do this."""
        return AsyncFault(self._kafka.add_fault(fault))

    async def wait_for(
        self,
        kind: str | None = None,
        *,
        group: str | None = None,
        stream: str | None = None,
        since: int | None = None,
        count: int = 1,
        timeout: float | None = None,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """See `Kit.wait_for`."""
        from coordinator.kit.event_waits import EventPattern

        seconds = _seconds(timeout)
        pattern = EventPattern(
            kind, group, stream, self._kafka.mark() if since is None else since, count, fields
        )
        future = self._kafka.begin_wait_for(pattern)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise self._kafka.timed_out(pattern, future, seconds) from None

    async def advance(
        self,
        seconds: float = 0,
        *,
        hours: float = 0,
        silent: Collection[str] = (),
        grace: float | None = None,
    ) -> list[dict[str, Any]]:
        """See `Kit.advance`."""
        from coordinator.kit import arguments
        from coordinator.kit.kit import DEFAULT_GRACE_S

        since = self._kafka.mark()
        for answered in self._kafka.advancing(arguments.jump(seconds, hours), silent=silent):
            await asyncio.wait(
                [asyncio.wrap_future(answered)], timeout=DEFAULT_GRACE_S if grace is None else grace
            )
        return self._kafka.fallen_due(since)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka, name)


@await_is_watched
@nearest_keywords
class AsyncGroup:
    """A group, for an asynchronous test."""

    def __init__(self, group: GroupHandle) -> None:
        self._group = group

    async def wait(self, *, timeout: float | None = None, **expected: Any) -> GroupSnapshot:
        """See `GroupHandle.wait`."""
        from coordinator.kit.waits.expectations import GroupExpectation

        seconds = _seconds(timeout)
        expectation = GroupExpectation(**expected)
        future = self._group.begin_wait(expectation)
        try:
            async with asyncio.timeout(seconds):
                found: GroupSnapshot = await asyncio.wrap_future(future)
        except TimeoutError:
            raise self._group.timed_out(expectation, future, seconds) from None
        return found

    def lose(self, name: str) -> AsyncFault:
        """See `GroupHandle.lose`."""
        return AsyncFault(self._group.lose(name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


@await_is_watched
@nearest_keywords
class AsyncShareGroup:
    """A share group, for an asynchronous test."""

    def __init__(self, group: ShareGroupHandle) -> None:
        self._group = group

    async def wait(self, *, timeout: float | None = None, **expected: Any) -> ShareSnapshot:
        """See `ShareGroupHandle.wait`."""
        from coordinator.kit.waits.share_expectations import ShareExpectation

        seconds = _seconds(timeout)
        expectation = ShareExpectation(**expected)
        future = self._group.begin_wait(expectation)
        try:
            async with asyncio.timeout(seconds):
                found: ShareSnapshot = await asyncio.wrap_future(future)
        except TimeoutError:
            raise self._group.timed_out(expectation, future, seconds) from None
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


@await_is_watched
@nearest_keywords
class AsyncFault:
    """A fault, for an asynchronous test."""

    def __init__(self, fault: FaultHandle) -> None:
        self._fault = fault

    async def wait_hit(self, hits: int = 1, timeout: float | None = None) -> Self:
        """See `FaultHandle.wait_hit`."""
        seconds = _seconds(timeout)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wrap_future(self._fault.begin_hit(hits))
        except TimeoutError:
            raise self._fault.not_hit(hits, seconds) from None
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._fault.remove()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fault, name)


def _seconds(timeout: float | None) -> float:
    from coordinator.kit.thread_calls import DEFAULT_TIMEOUT_S

    return DEFAULT_TIMEOUT_S if timeout is None else timeout
