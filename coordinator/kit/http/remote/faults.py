"""A fault in force at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from ...faults import Fault, from_plain
from ...injection.fault_board import FaultHandle
from ...thread_calls import DEFAULT_TIMEOUT_S
from .calls import Caller, Look, far


class RemoteFault:
    """A fault like `FaultHandle`; each property is fetched anew."""

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self.number = int(shown["fault_id"])
        self.fault: Fault = from_plain(shown["fault"])
        self._at = {"fault_id": self.number}

    def now(self) -> Any:
        """Return the fault's state now, as the port describes it."""
        return self._caller("fault_describe", **self._at)

    hits = Look(int, FaultHandle.hits)
    seen = Look(int, FaultHandle.seen)
    held = Look(int, FaultHandle.held)
    in_force = Look(bool, FaultHandle.in_force)
    release = far(FaultHandle.release, "fault_release")
    remove = far(FaultHandle.remove, "fault_remove")

    def wait_hit(self, hits: int = 1, timeout: float = DEFAULT_TIMEOUT_S) -> Self:
        """See `FaultHandle.wait_hit`."""
        self._caller("fault_wait", hits=hits, timeout=timeout, **self._at)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __str__(self) -> str:
        return str(self.now()["text"])
