"""What members, connections and links need of the world around them: its time, its hosts, its links and its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .links import Agenda, Link

if TYPE_CHECKING:
    from ..brokers import Brokers
    from ..event_log import EventLog


class Environment(Agenda, Protocol):
    """The world, as those who live in it see it (`world.World`)."""

    seed: int
    epoch_ms: int
    log: EventLog
    brokers: Brokers
    frozen: set[str | int]
    listening: set[int]
    accepted: dict[Any, None]

    def at(self, instant: int, action: Callable[[], None]) -> None:
        """Call `action` at `instant`."""

    def link(self, host: str, node: int, *, up: bool) -> Link:
        """The link from a member's host to a broker (`up`), or back."""

    def peer_name(self) -> str:
        """The address of a new connection, as brokers see it."""

    def settle(self) -> None:
        """The brokers have done some work."""

    def arm(self, member: Any, deadline: int | None) -> None:
        """A member's next deadline may have changed."""

    def gone(self, member: Any) -> None:
        """A member has ended."""
