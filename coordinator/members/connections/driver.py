"""Driver of a client over any transport: carries out its effects on connections. No clock, no
sockets: both come with the transport.

    driver = Driver(transport, consumer, first_broker=0)
    told = driver.perform(consumer.take())        # effects for the application, such as Committed and Delivered

Owns the connections of one client: to its coordinator, to any broker, and one for data to each
broker. The client's machine gets every answer and every loss; afterwards `turn` is called, or
`rearm` if nothing concerns the application. The simulator passes its links as transport,
`members.live` sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol

from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..cluster_view import ClusterView
from ..effects import AskBroker, Disconnect, DropBroker, FetchMetadata, Node, Send
from ..requests import Unsupported

Answered = Callable[[Any, "Response | Unsupported"], None]
Lost = Callable[[list[Any], str], None]


@lru_cache(maxsize=64)
def metadata_request(question: FetchMetadata) -> MetadataRequest:
    """Return the Metadata request for a question, shared by all members with the same question; it
    must not be modified.
    """
    asked = (
        None
        if question.topics is None
        else [MetadataRequestTopic(name=name) for name in sorted(question.topics)]
    )
    return MetadataRequest(
        topics=asked, allow_auto_topic_creation=question.allow_auto_topic_creation
    )


class Link(Protocol):
    """Interface of a connection, open or opening."""

    def ask(self, message: Request, context: Any) -> None:
        """Send a request, or keep it until the connection is open. Raises Unsupported, WireError."""

    def close(self) -> None:
        """Close the connection without notifying its owner."""

    def reset(self) -> None:
        """Break the connection like a network fault; its owner is notified."""


class Transport(Protocol):
    """Source of connections and of the time."""

    def now(self) -> int:
        """Return milliseconds since the driver's zero."""

    def connect(self, node: Node | None, turn: int, answered: Answered, lost: Lost) -> Link:
        """Open a connection to a broker; None: to a bootstrap broker, chosen by the number `turn`
        of the attempt.
        """

    def soon(self, action: Callable[[], None]) -> None:
        """Call `action` after the current event."""


class Client(Protocol):
    """Interface of the driven client: a Consumer, or a Producer."""

    def receive(self, number: int, response: Response, now: int) -> bool:
        """Take the answer to a request."""

    def failed(self, number: int, now: int) -> None:
        """Note that a request will get no answer."""

    def unsupported(self, number: int, fault: Unsupported, now: int) -> None:
        """Note that a request was not sent, because no common version can express it."""


class MetadataClient(Client, Protocol):
    """Interface of a client that requests metadata and has a coordinator."""

    def disconnected(self, now: int) -> None:
        """Note that the connection to the coordinator is lost."""

    def metadata(self, view: ClusterView, now: int) -> None:
        """Take requested metadata."""

    def metadata_failed(self, now: int) -> None:
        """Note that requested metadata will not come."""


class Driver:
    """The connections of one client. `turn` is called after each call of the client."""

    def __init__(
        self,
        transport: Transport,
        client: Any,
        turn: Callable[[], None],
        rearm: Callable[[], None],
        first_broker: int = 0,
    ) -> None:
        self._rearm = rearm
        self._transport = transport
        self._client: MetadataClient = client
        self._turn = turn
        self._tries = first_broker
        self._coordinator: tuple[Node, Link] | None = None
        self._any: Link | None = None
        self._data: dict[Node, Link] = {}
        self._ended = False

    def perform(self, effects: Iterable[Any]) -> list[Any]:
        """Carry out effects; return those for the application."""
        told, hung_up = [], False
        for effect in effects:
            match effect:
                case Send(number=number, node=node, message=message):
                    if node is None:
                        self._ask_any(message, number)
                    else:
                        self._ask(self._to_coordinator(node), message, number)
                case AskBroker(number, node, message):
                    self._ask(self._to_broker(node), message, number)
                case Disconnect():
                    self._hang_up()
                    hung_up = True
                case DropBroker(node, _):
                    if (link := self._data.pop(node, None)) is not None:
                        link.close()
                case FetchMetadata():
                    self._ask_any(metadata_request(effect), (effect.topics,))
                case _:
                    told.append(effect)
        if hung_up:
            self._transport.soon(self._hung_up)
        return told

    def reset(self) -> None:
        """Break all connections like a network fault."""
        links = [
            self._any,
            self._coordinator[1] if self._coordinator else None,
            *self._data.values(),
        ]
        for link in links:
            if link is not None:
                link.reset()

    def only_link(self) -> Link | None:
        """The connection to the coordinator; None if there is none, or there are others for data."""
        return None if self._data or self._coordinator is None else self._coordinator[1]

    @property
    def any_link(self) -> Link | None:
        """The connection to any broker, or None."""
        return self._any

    def close(self) -> None:
        """Close all connections after the client has ended; no further calls to it."""
        self._ended = True
        self._hang_up()
        if self._any is not None:
            self._any.close()
            self._any = None
        for link in self._data.values():
            link.close()
        self._data.clear()

    # -- connections

    def _to_coordinator(self, node: Node) -> Link:
        known = self._coordinator
        if known is not None and (known[0] is node or known[0] == node):
            return known[1]
        self._hang_up()
        link: list[Link] = []
        link.append(
            self._transport.connect(
                node, 0, self._answered, lambda unanswered, why: self._lost_coordinator(link, why)
            )
        )
        self._coordinator = node, link[0]
        return link[0]

    def _to_broker(self, node: Node) -> Link:
        found = self._data.get(node)
        if found is None:
            link: list[Link] = []
            link.append(
                self._transport.connect(
                    node,
                    0,
                    self._answered,
                    lambda unanswered, why: self._lost_broker(node, link, unanswered),
                )
            )
            found = self._data[node] = link[0]
        return found

    def _ask_any(self, message: Request, context: Any) -> None:
        if self._any is None:
            link: list[Link] = []
            link.append(
                self._transport.connect(
                    None,
                    self._tries,
                    self._answered,
                    lambda unanswered, why: self._lost_any(link, unanswered),
                )
            )
            self._any = link[0]
        self._ask(self._any, message, context)

    def _ask(self, link: Link, message: Request, context: Any) -> None:
        try:
            link.ask(message, context)
        except (Unsupported, WireError) as error:
            fault = error if isinstance(error, Unsupported) else Unsupported(str(error))
            self._transport.soon(lambda: self._answered(context, fault))

    def _hang_up(self) -> None:
        if self._coordinator is not None:
            self._coordinator[1].close()
            self._coordinator = None

    def _hung_up(self) -> None:
        """Report the requests of a connection that the client dropped as unanswered, as Java's
        NetworkClient does for a node it disconnects.
        """
        if not self._ended and self._coordinator is None:
            self._client.disconnected(self._transport.now())
            self._turn()

    # -- what comes back

    def _answered(self, context: Any, answer: Response | Unsupported) -> None:
        if self._ended:
            return
        now = self._transport.now()
        if isinstance(context, tuple):
            asked = context[0]
            if isinstance(answer, MetadataResponse) and not answer.error_code:
                self._client.metadata(ClusterView.of(answer, asked), now)
            else:
                self._client.metadata_failed(now)
        elif isinstance(answer, Unsupported):
            self._client.unsupported(context, answer, now)
        elif not self._client.receive(context, answer, now):
            self._rearm()
            return
        self._turn()

    def _lost_coordinator(self, link: list[Link], why: str) -> None:
        if not self._ended and self._coordinator is not None and self._coordinator[1] is link[0]:
            self._coordinator = None
            self._client.disconnected(self._transport.now())
            self._turn()

    def _lost_broker(self, node: Node, link: list[Link], unanswered: list[Any]) -> None:
        if not self._ended and self._data.get(node) is link[0]:
            del self._data[node]
            self._fail(unanswered)

    def _lost_any(self, link: list[Link], unanswered: list[Any]) -> None:
        if not self._ended and self._any is link[0]:
            self._any = None
            self._tries += 1
            self._fail(unanswered)

    def _fail(self, unanswered: list[Any]) -> None:
        now = self._transport.now()
        for context in unanswered:
            if isinstance(context, tuple):
                self._client.metadata_failed(now)
            else:
                self._client.failed(context, now)
        self._turn()
