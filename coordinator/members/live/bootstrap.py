"""Shared connection to any broker: discovery and metadata for all members of a fleet, each question
asked once.

Equal questions at the same time share one request: FindCoordinator by group, Metadata by the
union of topics. Bootstrap addresses are tried in turn. Does not know members.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response

from ..cluster_view import ClusterView
from ..requests import Unsupported
from .wire import Entry, Wire

Done = Callable[["Response | None"], None]
GotView = Callable[["ClusterView | None"], None]


class AddressError(ValueError):
    """Error for an invalid bootstrap address; the message says what would be right."""


def parse_addresses(text: str) -> list[tuple[str, int]]:
    """Parse `host:port,host:port`; IPv6 in brackets. Raises AddressError."""
    addresses = []
    for part in text.split(","):
        host, colon, port = part.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise AddressError(
                f"{part.strip()!r} is no address of a broker: give host:port, such as 127.0.0.1:9092"
            )
        addresses.append((host, int(port)))
    return addresses


class Bootstrap:
    """Requests to any broker."""

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        loop: asyncio.AbstractEventLoop,
        buffer: memoryview,
        client_id: str,
        timeout_s: float,
        entry: Entry | None = None,
        wires: set[Wire] | None = None,
    ) -> None:
        """`wires`: the set to which its open connection is added."""
        self._entry = entry
        self._wires = wires
        self.addresses = list(addresses)
        self._loop = loop
        self._buffer = buffer
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._wire: Wire | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._finding: dict[str, list[Done]] = {}
        self._wanted: list[tuple[frozenset[str] | None, bool, GotView]] = []
        self._fetching = False
        self._closed = False
        self.reached = False
        """Was there ever a connection?"""
        self.trouble = ""
        """The error of the last attempt to connect; "" if it succeeded."""

    def find(self, message: FindCoordinatorRequest, done: Done) -> None:
        """Look up a group's coordinator; equal lookups in flight share the answer."""
        key = message.coordinator_keys[0]
        waiting = self._finding.setdefault(key, [])
        waiting.append(done)
        if len(waiting) == 1:
            self._ask(message, lambda response: self._found(key, response))

    def metadata(
        self, topics: frozenset[str] | None, allow_auto_topic_creation: bool, done: GotView
    ) -> None:
        """Request topics (None: all); requests of the same turn of the loop are combined into one."""
        self._wanted.append((topics, allow_auto_topic_creation, done))
        if not self._fetching:
            self._fetching = True
            self._loop.call_soon(self._fetch)

    def close(self) -> None:
        """Close the connection; pending questions get no answer."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._wire is not None:
            self._wire.close()

    def _found(self, key: str, response: Response | None) -> None:
        for done in self._finding.pop(key, ()):
            done(response)

    def _fetch(self) -> None:
        wanted, self._wanted = self._wanted, []
        asked = (
            None
            if any(topics is None for topics, _, _ in wanted)
            else frozenset().union(*(topics or () for topics, _, _ in wanted))
        )
        message = MetadataRequest(
            topics=None
            if asked is None
            else [MetadataRequestTopic(name=name) for name in sorted(asked)],
            allow_auto_topic_creation=any(allowed for _, allowed, _ in wanted),
        )

        def done(response: Response | None) -> None:
            self._fetching = False
            view = (
                ClusterView.of(response, asked)
                if isinstance(response, MetadataResponse) and not response.error_code
                else None
            )
            for _, _, got in wanted:
                got(view)
            if self._wanted and not self._fetching:
                self._fetching = True
                self._loop.call_soon(self._fetch)

        self._ask(message, done)

    def _ask(self, message: Request, done: Done) -> None:
        if self._closed:
            return
        if self._wire is None:
            self._wire = Wire(
                self._client_id, self._buffer, self._answered, self._lost, self._entry, self._wires
            )
            self._connecting = self._loop.create_task(self._connect(self._wire))
        try:
            self._wire.ask(message, done)
        except (Unsupported, WireError) as error:
            self.trouble = str(error)
            self._loop.call_soon(done, None)

    async def _connect(self, wire: Wire) -> None:
        """Try every address once."""
        for _ in range(len(self.addresses)):
            host, port = self.addresses[0]
            try:
                await wire.connect(self._loop, host, port, self._timeout_s)
            except OSError as error:
                self.trouble = f"{host}:{port}: {error.strerror or type(error).__name__}"
                self.addresses.append(self.addresses.pop(0))
            else:
                self.trouble = ""
                self.reached = True
                return
        self._lost(wire, wire.channel.unanswered(), self.trouble)

    @staticmethod
    def _answered(context: Any, answer: Response | Unsupported) -> None:
        context(None if isinstance(answer, Unsupported) else answer)

    def _lost(self, wire: Wire, unanswered: list[Any], why: str) -> None:
        if self._wire is wire:
            self._wire = None
        self.trouble = why
        for done in unanswered:
            done(None)
