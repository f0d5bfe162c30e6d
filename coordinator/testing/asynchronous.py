"""The testing kit for asynchronous tests: what waits is awaited, everything else is called as it is.

    async def test_hands_over(akafka):
        await akafka.group("billing").wait(state="Stable", members=1)

The emulator runs on a thread of its own; the test's loop is never blocked by a wait, and a client that blocks the loop does not
stop the broker.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coordinator.control.groups import GroupHandle
    from coordinator.control.snapshots import GroupSnapshot
    from coordinator.emulator import Emulator


class AsyncKafka:
    """An emulator as an asynchronous test holds it. Whatever is not here is the emulator's own (`kafka.produce`, `kafka.fail`)."""

    def __init__(self, kafka: Emulator) -> None:
        self._kafka = kafka

    def group(self, group_id: str) -> AsyncGroup:
        """A group, there or not yet."""
        return AsyncGroup(self._kafka.group(group_id))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka, name)


class AsyncGroup:
    """A group as an asynchronous test holds it."""

    def __init__(self, group: GroupHandle) -> None:
        self._group = group

    async def wait(self, *, timeout: float | None = None, **expected: Any) -> GroupSnapshot:
        """See `GroupHandle.wait`."""
        from coordinator.control.expectations import GroupExpectation
        from coordinator.control.running import DEFAULT_TIMEOUT_S

        seconds = DEFAULT_TIMEOUT_S if timeout is None else timeout
        expectation = GroupExpectation(**expected)
        future = self._group.begin_wait(expectation)
        try:
            async with asyncio.timeout(seconds):
                found: GroupSnapshot = await asyncio.wrap_future(future)
        except TimeoutError:
            raise self._group.timed_out(expectation, future, seconds) from None
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)
