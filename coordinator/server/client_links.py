"""Links between clients and one broker that are cut: nothing passes, in either direction, until
they are healed.

Owns which requests and answers wait for that. Rules: connections stay open, as on a network that
loses every packet; a request that came meanwhile is handled once the link is whole, an answer that
was ready meanwhile is sent then, and neither if its client has hung up. A client is known by its
client id. It is one interceptor: while no link is cut it is not installed, and requests pay nothing
for it. Does not depend on sockets and on why links are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from .interceptors import Hold, Interceptor, Verdict

if TYPE_CHECKING:
    from .requests.call import Call

LINK_IS_CUT: Final = 2
"""Why a connection is paused (`Connection.pause`), beside a client that does not read."""
THROTTLED: Final = 4
"""Another reason: its client has used more than its quota."""


@runtime_checkable
class Pausable(Protocol):
    """A client's connection."""

    client_id: str

    def pause(self, why: int) -> None:
        """Send nothing, handle nothing."""

    def unpause(self, now: int, why: int) -> None:
        """Go on, if nothing else is in the way."""


class LinkedBroker(Protocol):
    """The links' needs from their broker."""

    @property
    def interceptors(self) -> list[Interceptor]:
        """Who is asked about requests first."""

    @property
    def parked(self) -> Mapping[int, object]:
        """Who waits for an answer."""

    def release(self, token: int, now: int) -> bool:
        """Go on with a request that was held."""


class ClientLinks:
    """The cut links of one broker. `client_ids`: those that are cut from the start."""

    def __init__(self, broker: LinkedBroker, client_ids: Iterable[str] = ()) -> None:
        self._broker = broker
        self._held: dict[str, list[int]] = {}  # cut links, and the requests that wait for them
        self._silent: dict[str, list[Pausable]] = {}  # connections whose answers wait for them
        self._healed: list[int] = []
        self._freed: list[Pausable] = []
        for client_id in client_ids:
            self.cut(client_id)

    @property
    def cut_off(self) -> tuple[str, ...]:
        """The clients whose links are cut."""
        return tuple(self._held)

    def cut(self, client_id: str) -> None:
        """Let nothing pass between a client and this broker any more."""
        if not self._held:
            self._broker.interceptors.insert(0, self)
        self._held[client_id] = []
        waiting = [
            each
            for each in self._broker.parked.values()
            if isinstance(each, Pausable) and each.client_id == client_id
        ]
        self._silent[client_id] = waiting
        for connection in waiting:
            connection.pause(LINK_IS_CUT)

    def heal(self, client_id: str) -> None:
        """Let things pass again; what waited goes on with `go_on`."""
        self._healed += self._held.pop(client_id)
        self._freed += self._silent.pop(client_id)
        if not self._held:
            self._broker.interceptors.remove(self)

    def go_on(self, now: int) -> None:
        """Handle the requests and send the answers that waited for links that are whole again. The
        broker must be running."""
        healed, self._healed = self._healed, []
        freed, self._freed = self._freed, []
        for connection in freed:
            connection.unpause(now, LINK_IS_CUT)
        for token in healed:
            self._broker.release(token, now)

    def __call__(self, call: Call) -> Verdict:
        """Keep the requests of clients back that are cut off."""
        held = self._held.get(call.client_id)
        if held is None:
            return None
        held.append(call.token)
        return Hold(None)
