"""A client's side of a connection in a world: its `Channel` between two pipes, one each way.

Opening takes one round trip and at most CONNECT_TIMEOUT_MS. The client learns that the broker
closed the connection when the sign of it arrives. A subclass has the other end of the pipes: a
simulated broker or a socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from coordinator.base.version import __version__
from coordinator.members.connections.channel import Channel
from coordinator.members.requests import Unsupported
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..environment import Surroundings
from ..links import Pipe

if TYPE_CHECKING:
    from coordinator.members.connections.login import Login

CONNECT_TIMEOUT_MS = 10_000  # as Java's socket.connection.setup.timeout.ms
Answered = Callable[[Any, "Response | Unsupported"], None]
Lost = Callable[[list[Any], str], None]


class Sign(Enum):
    """TCP's signs beside bytes."""

    OPEN = "open"
    ACCEPTED = "accepted"
    END = "end"


class ClientSide:
    """One connection, as its client has it.

    `answered` is called with each response and its context; `lost` is called once, at the end,
    with the unanswered requests.
    """

    def __init__(
        self,
        world: Surroundings,
        host: str,
        client_id: str,
        node: int,
        answered: Answered,
        lost: Lost,
        highest: Mapping[int, int] | None = None,
        login: Login | None = None,
    ) -> None:
        self.node = node
        self.channel = Channel(client_id, __version__, highest, login=login)
        self._world = world
        self._host = host
        self._answered = answered
        self._lost = lost
        self._is_open = False
        self._ended = False
        self.links = world.link(host, node, up=True), world.link(host, node, up=False)
        """The links to the broker and back, in the order of the pipes."""
        self._up = Pipe(world, self.links[0], self._at_broker, node)
        self._down = Pipe(world, self.links[1], self._at_client, host)
        self.pipes = self._up, self._down
        self._up.send(Sign.OPEN)
        world.at(world.now + CONNECT_TIMEOUT_MS, self._give_up_opening, self._up.number)

    # -- the client's side

    def ask(self, message: Request, context: Any) -> None:
        """Send a request, or keep it until the connection is open. Raises Unsupported,
        WireError."""
        self.channel.ask(message, context)
        self._flush()

    @property
    def is_idle(self) -> bool:
        """Return True if the connection is open and nothing is in flight or unanswered."""
        return (
            self._is_open
            and not self._ended
            and self._up.is_empty
            and self._down.is_empty
            and self.channel.is_idle
        )

    def close(self) -> None:
        """Close the connection without calling `lost`."""
        if not self._ended:
            self._ended = True
            self._down.close()
            self._up.send(Sign.END)

    def reset(self) -> None:
        """Reset the connection for both sides."""
        if not self._ended:
            self._up.send(Sign.END)
            self._fail("the connection was reset")

    def _flush(self) -> None:
        output = self.channel.output
        if output and self._is_open and not self._ended:
            self._up.send(output[0] if len(output) == 1 else b"".join(output))
            output.clear()

    def _at_client(self, what: bytes | Sign) -> None:
        if self._ended:
            return
        if what is Sign.ACCEPTED:
            self._is_open = True
            self._flush()
        elif isinstance(what, Sign):
            self._fail(
                "the broker closed the connection"
                if self._is_open
                else "the broker does not listen"
            )
        else:
            try:
                answers = self.channel.receive(what)
            except WireError as error:
                self._up.send(Sign.END)
                self._fail(f"the broker sent what is no response: {error}")
                return
            self._flush()
            for context, answer in answers:
                self._answered(context, answer)

    def _give_up_opening(self) -> None:
        if not self._is_open and not self._ended:
            self._up.send(Sign.END)
            self._fail(f"no connection within {CONNECT_TIMEOUT_MS} ms")

    def _fail(self, why: str) -> None:
        self._ended = True
        self._down.close()
        self._lost(self.channel.unanswered(), why)

    def _at_broker(self, what: bytes | Sign) -> None:
        """Handle bytes or a sign that have arrived at the other end."""
        raise NotImplementedError
