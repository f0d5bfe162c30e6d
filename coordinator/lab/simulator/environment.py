"""Interfaces of the world that members, connections and links need: its time, its hosts, its
links and its log. `world.py` and `coordinator/lab/live_world/world.py` implement them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol

from .links import Agenda, Link

if TYPE_CHECKING:
    from coordinator.events import EventLog
    from coordinator.members.connections.driver import Transport
    from coordinator.server.broker import Broker
    from coordinator.server.cluster_runtime import Brokers
    from coordinator.server.connections.connection import Connection

EPOCH_MS: Final = 1_700_000_000_000
"""The wall clock at the zero of a simulated world."""


class Surroundings(Agenda, Protocol):
    """A world as its clients see it: the simulated one (`world.World`) or a live one
    (`coordinator.lab.live_world`)."""

    seed: int
    log: EventLog
    frozen: set[str | int]

    def at(self, instant: int, action: Callable[[], None], pipe: int = 0) -> None:
        """Call `action` at `instant`. `pipe`: see `Agenda`."""

    def link(self, host: str, node: int, *, up: bool) -> Link:
        """Return the link from a member's host to a broker (`up`), or back."""

    def transport(self, host: str, highest: Mapping[int, int] | None = None) -> Transport:
        """Return the transport of the client on a host. `highest`: see `Channel`."""

    def arm(self, member: Any) -> None:
        """Note that a member's next deadline may have changed."""

    def new_process(self, host: str) -> str:
        """Return a unique mark for a process that starts on a host now."""

    def wall_ms(self, host: str) -> int:
        """Return the Unix milliseconds at instant 0 by the wall clock of a member's host, which
        may have jumped."""

    def gone(self, member: Any) -> None:
        """Note that a member has ended."""


class Rights(Protocol):
    """Users and their rights in a world (`rights.SimulatedRights`)."""

    def connection(self, broker: Broker, client: str, **options: Any) -> Connection:
        """Return the broker's side of a client's connection."""

    def change(self, change: Any) -> Callable[[], None]:
        """Create or delete ACLs (`files.security_keys.AclChange`); return a function that undoes
        that."""


class Environment(Surroundings, Protocol):
    """The simulated world, whose brokers are in it."""

    brokers: Brokers
    rights: Rights | None
    listening: set[int]
    accepted: dict[Any, None]

    def peer_name(self) -> str:
        """Return the address of a new connection, as brokers see it."""

    def settle(self) -> None:
        """Let the brokers finish after some work."""

    @property
    def anybody_quiet(self) -> bool:
        """Return True if `catch_up` would change the state of any member."""

    def catch_up(self) -> object:
        """Bring quiet members to their present state: something happens that may concern members
        other than the one that sent it, so their heartbeats cannot be skipped beyond now."""

    def wake(self, member: Any) -> None:
        """End a member's quiet: bring it to its present state."""

    def at_earlier(self, instant: int) -> AbstractContextManager[None]:
        """Return a context in which the world's time is an earlier instant. What is computed
        there must not change anything that happened since."""
