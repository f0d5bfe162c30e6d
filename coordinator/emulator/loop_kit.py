"""The kit on an event loop: what waits there is awaited, by any loop and thread.

Owns how work in steps is driven without blocking. The steps are those of `control`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ..control.kit import Kit
from ..control.thread_calls import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from ..control.session import KitSession
    from ..control.steps import Steps
    from ..control.topics import Value, Written

T = TypeVar("T")


class LoopKit(Kit):
    """Methods of a running emulator that are awaited."""

    async def produce_when_ready(
        self,
        name: str,
        values: Iterable[Value],
        *,
        timeout: float = DEFAULT_TIMEOUT_S,
        **words: Any,
    ) -> list[Written]:
        """As `produce`, on any loop: wait for leaders and for replicas in sync as a client does, up
        to `timeout` seconds."""
        written: list[Written] = await self.awaited.produce(name, values, timeout=timeout, **words)
        return written

    @property
    def awaited(self) -> Any:
        """The same emulator with methods that are awaited: those that a client would wait for, such
        as `await kafka.awaited.truncate("orders", 0)`."""
        return _Awaited(self)

    async def when_ready(self, steps: Steps[T], timeout: float = DEFAULT_TIMEOUT_S) -> T:
        """The result of work in steps, which may take so many seconds. Raises ControlError that
        says what it lacks."""
        from ..control import arguments
        from ..control.steps import Errand

        arguments.seconds("timeout", timeout)
        errand, waited = Errand(self._session, steps), None
        try:
            async with asyncio.timeout(timeout):
                while (waited := self.run(errand.go_on)) is not None:
                    await asyncio.wrap_future(waited)
        except TimeoutError:
            assert waited is not None
            late = waited
            raise self.run(lambda: errand.ended(late, timeout)) from None
        return errand.result


class _Awaited(Kit):
    """A kit whose topics and groups do their work in steps that are awaited."""

    def __init__(self, kafka: LoopKit) -> None:
        self._kafka = kafka
        self.run = kafka.run  # type: ignore[method-assign]

    @property
    def _session(self) -> KitSession:
        return self._kafka._session

    def _waits(self) -> bool:
        return True

    def _done(self, steps: Steps[T], timeout: float, instead: str = "") -> Any:
        return self._kafka.when_ready(steps, timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka, name)
