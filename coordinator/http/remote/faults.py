"""A fault in force at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from ...control.faults import Fault, from_plain
from ...control.thread_calls import DEFAULT_TIMEOUT_S
from ..client import path_of
from .calls import Caller


class RemoteFault:
    """As `FaultHandle`: each property is asked for anew."""

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self.number = int(shown["number"])
        self.fault: Fault = from_plain(shown["fault"])
        self._path = path_of("faults", self.number)

    def _now(self) -> Any:
        return self._caller.get(self._path)

    @property
    def hits(self) -> int:
        """How many requests met it."""
        return int(self._now()["hits"])

    @property
    def seen(self) -> int:
        """How many requests it selected."""
        return int(self._now()["seen"])

    @property
    def held(self) -> int:
        """How many requests it keeps back now."""
        return int(self._now()["held"])

    @property
    def in_force(self) -> bool:
        """Is it in force still?"""
        return bool(self._now()["in_force"])

    def wait_hit(self, hits: int = 1, timeout: float = DEFAULT_TIMEOUT_S) -> Self:
        """See `FaultHandle.wait_hit`."""
        self._caller.post(f"{self._path}/wait", {"hits": hits, "timeout": timeout})
        return self

    def release(self, count: int | None = None) -> int:
        """See `FaultHandle.release`."""
        return int(self._caller.post(f"{self._path}/release", {"count": count})["released"])

    def remove(self) -> None:
        """See `FaultHandle.remove`."""
        self._caller.delete(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def __str__(self) -> str:
        return str(self._now()["text"])
