"""Cut links between clients and one broker: nothing passes in either direction until a link is
healed.

Connections stay open, as on a network that loses every packet. A request that arrives meanwhile
is handled after healing, an answer that becomes ready is sent then; both are dropped if the
client has hung up. A client is known by its client id. The cut is an interceptor, installed only
while a link is cut. Does not know sockets, nor why a link is cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from .interceptors import Hold, Interceptor, Verdict

if TYPE_CHECKING:
    from .parked_requests import ParkedRequests
    from .requests.call import Call

LINK_IS_CUT: Final = 2
"""The reason for which a cut link pauses a connection (`Connection.pause`), beside a client that
does not read."""
THROTTLED: Final = 4
"""Another reason: its client has used more than its quota."""


@runtime_checkable
class Pausable(Protocol):
    """Interface of a client's connection that can be paused."""

    client_id: str

    def pause(self, why: int) -> None:
        """Send nothing and handle nothing until `unpause` with the same reason."""

    def unpause(self, now: int, why: int) -> None:
        """Remove one reason for the pause; continue if no other is left."""


class LinkedBroker(Protocol):
    """The part of a broker that `ClientLinks` uses."""

    @property
    def interceptors(self) -> list[Interceptor]:
        """The interceptors that see each request before its handler."""

    @property
    def parked(self) -> ParkedRequests:
        """The requests that wait for an answer."""


class ClientLinks:
    """The cut links of one broker. `client_ids`: clients whose links are cut from the start."""

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
        """Return the client ids whose links are cut."""
        return tuple(self._held)

    def cut(self, client_id: str) -> None:
        """Cut the link between a client and this broker."""
        if not self._held:
            self._broker.interceptors.insert(0, self)
        self._held[client_id] = []
        waiting: list[Pausable] = [
            each
            for each in self._broker.parked.all()
            if isinstance(each, Pausable) and each.client_id == client_id
        ]
        self._silent[client_id] = waiting
        for connection in waiting:
            connection.pause(LINK_IS_CUT)

    def heal(self, client_id: str) -> None:
        """Heal a client's link. Its held requests and answers continue with `go_on`."""
        self._healed += self._held.pop(client_id)
        self._freed += self._silent.pop(client_id)
        if not self._held:
            self._broker.interceptors.remove(self)

    def go_on(self, now: int) -> None:
        """Handle the requests and send the answers that were held by links now healed. The broker
        must be running.
        """
        healed, self._healed = self._healed, []
        freed, self._freed = self._freed, []
        for connection in freed:
            connection.unpause(now, LINK_IS_CUT)
        for token in healed:
            self._broker.parked.release(token, now)

    def __call__(self, call: Call) -> Verdict:
        """Hold the request if its client's link is cut."""
        held = self._held.get(call.client_id)
        if held is None:
            return None
        held.append(call.token)
        return Hold(None)
