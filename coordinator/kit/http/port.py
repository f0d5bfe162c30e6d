"""State of the control port: the running emulator, the peers and snapshots that were made over
HTTP, and waits on the emulator's loop. Everything here runs on that loop; `operations/` uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ..in_process_requests import ControlError
from ..thread_calls import DEFAULT_TIMEOUT_S
from .shapes import ShapeError

if TYPE_CHECKING:
    from coordinator.members.live import PeerHandle
    from coordinator.members.live.sharing import SharePeerHandle

    from ..emulator.embedded import Emulator
    from ..injection.fault_board import FaultHandle
    from ..restoring.snapshot import Snapshot

LONGEST_WAIT_S = 3600.0


class NotThereError(ControlError, LookupError):
    """The path names something that does not exist: what, and what exists."""


class Live(Protocol):
    """Interface of an object that lives at the emulator and has a client id."""

    @property
    def client_id(self) -> str:
        """The client.id of the member."""


H = TypeVar("H", bound=Live)


class Registered(NamedTuple, Generic[H]):
    """A client that was started over HTTP, with its number and its group."""

    number: int
    group: str
    handle: H


class Register(Generic[H]):
    """The clients of one kind that were started over HTTP and have not been stopped; those that
    ended by a fault stay. `kind`: the word for one in errors."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._known: dict[int, Registered[H]] = {}
        self._numbers = 0

    def add(self, group: str, handle: H) -> Registered[H]:
        """Enter a client under the next number."""
        self._numbers += 1
        self._known[self._numbers] = Registered(self._numbers, group, handle)
        return self._known[self._numbers]

    def __iter__(self) -> Iterator[Registered[H]]:
        return iter(list(self._known.values()))

    def find(self, name: str) -> Registered[H]:
        """Return the client with this number, or with this client id if only one has it. Raises
        NotThereError."""
        found = [of for of in self if name in (str(of.number), of.handle.client_id)]
        if len(found) == 1:
            return found[0]
        if found:
            numbers = ", ".join(str(of.number) for of in found)
            raise NotThereError(
                f"{name!r} is the client id of {len(found)} {self._kind}s: {numbers}"
            )
        known = ", ".join(f"{of.number} ({of.handle.client_id})" for of in self) or "none"
        raise NotThereError(f"there is no {self._kind} {name!r}; there are: {known}")

    def forget(self, of: Registered[H]) -> None:
        """Drop an entry whose member has ended."""
        self._known.pop(of.number, None)

    def forget_all(self) -> None:
        """Drop all entries; numbers are not used again."""
        self._known.clear()


class Port:
    """One emulator, as the operations use it."""

    def __init__(self, kafka: Emulator) -> None:
        self.kafka = kafka
        self.peers: Register[PeerHandle] = Register("peer")
        self.share_peers: Register[SharePeerHandle] = Register("share peer")
        self.snapshots: dict[int, Snapshot] = {}
        """The snapshots that are kept, by number."""
        self._taken = 0

    def fault(self, number: str) -> FaultHandle:
        """Return a fault, in force or ended. Raises NotThereError."""
        known = self.kafka.faults(ended=True)
        for fault in known:
            if str(fault.number) == number:
                return fault
        raise NotThereError(
            f"there is no fault {number!r}; there are: {', '.join(str(fault.number) for fault in known) or 'none'}"
        )

    def add_snapshot(self, snapshot: Snapshot) -> int:
        """Keep a snapshot and return its number."""
        self._taken += 1
        self.snapshots[self._taken] = snapshot
        return self._taken

    def snapshot(self, number: str) -> Snapshot:
        """Return the snapshot with this number. Raises NotThereError."""
        return self.snapshots[self._known_snapshot(number)]

    def forget_snapshot(self, number: str) -> None:
        """Drop a snapshot. Raises NotThereError."""
        del self.snapshots[self._known_snapshot(number)]

    def _known_snapshot(self, number: str) -> int:
        for known in self.snapshots:
            if str(known) == number:
                return known
        raise NotThereError(
            f"there is no snapshot {number!r}; there are: {', '.join(map(str, self.snapshots)) or 'none'}"
        )


async def until(future: Future[Any], timeout: float) -> bool:
    """Wait for a future of the kit; return False if the time is over. Cancellation ends the
    wait. Raises the future's error."""
    wrapped = asyncio.wrap_future(future)
    try:
        done, _ = await asyncio.wait([wrapped], timeout=timeout)
    except asyncio.CancelledError:
        wrapped.cancel()
        raise
    if done:
        wrapped.result()
    return bool(done)


def timeout_of(seconds: float | None) -> float:
    """Return a wait's timeout in seconds, with the default for None. Raises ShapeError."""
    if seconds is None:
        return DEFAULT_TIMEOUT_S
    if not 0 <= seconds <= LONGEST_WAIT_S:
        raise ShapeError(f"timeout: {seconds!r}; seconds from 0 to {LONGEST_WAIT_S:g} are meant")
    return float(seconds)


def index_of(text: str, what: str) -> int:
    """Return a number in a path. Raises ShapeError."""
    if not text.isdecimal() or len(text) > 9:
        raise ShapeError(f"{text!r} is no {what}: a number is")
    return int(text)
