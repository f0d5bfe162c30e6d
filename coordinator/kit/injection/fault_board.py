"""All faults in force at an emulator, and the handle that a test has on each.

Owns the engines, one for each broker, and installs them before the broker's handlers only while
there is a fault. Everything here is called between two requests, except `FaultHandle`: it may be
used on any thread and calls the rest through a `Runner`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Self

from coordinator.base.keyword_errors import nearest_keywords
from coordinator.events.faults import FaultInjected
from coordinator.server.requests.call import Call

from .. import arguments
from .. import faults as f
from ..in_process_requests import ControlError
from ..thread_calls import DEFAULT_TIMEOUT_S, Runner
from ..waiting import LoopFuture
from .broker_queries import BrokerSurroundings
from .engine import Active, FaultEngine

if TYPE_CHECKING:
    from coordinator.server.broker import Broker


class FaultBoard:
    """The faults of all brokers of an emulator."""

    def __init__(self, brokers: Callable[[], list[Broker]], seed: int) -> None:
        self._brokers = brokers
        self._seed = seed
        self._engines: dict[int, tuple[Broker, FaultEngine]] = {}
        self._numbers = 0
        self.all: list[Active] = []
        """Every fault ever added, in force or not, in the order in which they were added."""
        self.in_force: dict[int, Active] = {}

    def add(self, fault: f.Fault) -> Active:
        """Put a fault in force."""
        if fault.selector.broker is not None and fault.selector.broker not in [
            broker.node_id for broker in self._brokers()
        ]:
            known = ", ".join(str(broker.node_id) for broker in self._brokers())
            raise f.FaultError(f"broker {fault.selector.broker}: there is none; there are: {known}")
        self._numbers += 1
        active = Active(self._numbers, fault)
        self.all.append(active)
        self.in_force[active.number] = active
        self.install()
        return active

    def install(self) -> None:
        """Put every fault in force at every running broker. Call it again after a broker was
        started again."""
        for broker in self._brokers():
            known = self._engines.get(broker.node_id)
            if known is None or known[0] is not broker:
                random = Random(f"{self._seed}:faults:{broker.node_id}")
                engine = FaultEngine(
                    broker.node_id, BrokerSurroundings(broker), random, _logger(broker)
                )
                known = self._engines[broker.node_id] = (broker, engine)
            _, engine = known
            engine.active = self.in_force
            if engine not in broker.interceptors and self.in_force:
                broker.interceptors.append(engine)
            elif engine in broker.interceptors and not self.in_force:
                broker.interceptors.remove(engine)

    def remove(self, active: Active) -> None:
        """Take a fault out of force; requests that it holds stay held."""
        if self.in_force.pop(active.number, None) is not None:
            self.install()

    def release(self, active: Active, now: int, count: int | None) -> int:
        """Release requests that a Hold holds, the longest held first; return their number."""
        released = 0
        while active.held and (count is None or released < count):
            token = active.held.pop(0)
            released += any(broker.parked.release(token, now) for broker in self._brokers())
        return released

    def clear(self, now: int) -> None:
        """End all faults and release the requests that they hold."""
        for active in list(self.in_force.values()):
            self.remove(active)
            self.release(active, now, None)

    def never_hit(self) -> list[Active]:
        """Return the faults that no request met, except those that may be missed or only
        observe."""
        return [
            active
            for active in self.all
            if not active.hits
            and not active.fault.may_miss
            and not isinstance(active.fault.action, f.Observe)
        ]

    def forget(self, now: int) -> None:
        """End all faults and forget them."""
        self.clear(now)
        self.all.clear()


def _logger(broker: Broker) -> Callable[[Active, Call, str], None]:
    def note(active: Active, call: Call, api: str) -> None:
        if broker.log is not None:
            group = getattr(call.message, "group_id", None) or None
            fault = active.fault
            broker.log.append(
                FaultInjected(api, call.client_id, fault.action.kind, str(fault)),
                at_ms=call.now,
                cause=call.cause,
                group=group,
                broker=broker.node_id,
            )

    return note


@nearest_keywords
class FaultHandle:
    """A fault in force, for a test. The end of a `with` block ends it."""

    def __init__(
        self, board: FaultBoard, active: Active, run: Runner, now: Callable[[], int]
    ) -> None:
        self._board = board
        self._active = active
        self._run = run
        self._now = now

    @property
    def fault(self) -> f.Fault:
        """The fault as data: its selector and its action."""
        return self._active.fault

    @property
    def hits(self) -> int:
        """The number of requests that met the fault."""
        return self._active.hits

    @property
    def seen(self) -> int:
        """The number of requests that the fault selected, including those that it spared (`nth`,
        `probability`)."""
        return self._active.seen

    @property
    def held(self) -> int:
        """The number of requests that the fault holds now."""
        return len(self._active.held)

    @property
    def number(self) -> int:
        """The number of the fault among all faults of the emulator, from 1 on."""
        return self._active.number

    @property
    def in_force(self) -> bool:
        """Return True if the fault is in force."""
        return self._active.number in self._board.in_force

    def begin_hit(self, hits: int = 1) -> Future[None]:
        """Wait without blocking: the future is done when `hits` requests have met the fault.
        Cancel it to end the wait."""
        if type(hits) is not int or hits < 1:
            raise ControlError(f"hits: {hits!r}; a whole number from 1 on")
        reached: LoopFuture[None] = self._run(LoopFuture)

        def look() -> None:
            if self._active.hits >= hits and not reached.done():
                with suppress(InvalidStateError):  # cancelled at this moment, on another thread
                    reached.set_result(None)

        def begin() -> None:
            self._active.on_hit.append(look)
            look()

        reached.add_done_callback(lambda _: self._forget(look))
        self._run(begin)
        return reached

    def _forget(self, look: Callable[[], None]) -> None:
        with suppress(ValueError):
            self._active.on_hit.remove(look)

    def not_hit(self, hits: int, timeout: float) -> ControlError:
        """Return the error of a wait whose time is over."""
        return ControlError(
            f"not hit {hits} time{'s' if hits > 1 else ''} within {timeout:g} s: {self._active}"
        )

    def wait_hit(self, hits: int = 1, timeout: float = DEFAULT_TIMEOUT_S) -> Self:
        """Wait until `hits` requests have met the fault; `timeout` in seconds. Raises
        ControlError when the time is over."""
        arguments.seconds("timeout", timeout)
        reached = self.begin_hit(hits)
        try:
            reached.result(timeout)
        except FutureTimeoutError:
            reached.cancel()
            raise self.not_hit(hits, timeout) from None
        return self

    def release(self, count: int | None = None) -> int:
        """Release held requests, by default all; return their number. Raises ControlError for a
        count below 1."""
        if count is not None:
            arguments.counted("count", count)
            if not count:
                raise ControlError("count: 0; at least 1, or none for all that it holds back")
        return self._run(lambda: self._board.release(self._active, self._now(), count))

    def remove(self) -> None:
        """End the fault; requests that it holds go on."""

        def end() -> None:
            self._board.remove(self._active)
            self._board.release(self._active, self._now(), None)

        self._run(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __str__(self) -> str:
        return str(self._active)
