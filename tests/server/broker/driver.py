"""The driver of a broker in tests: it has no sockets, clients put bytes in by hand, and time is
what the test says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from struct import Struct
from typing import TypeVar

from coordinator.base.releases import NEWEST, Release
from coordinator.server.build import build_broker, topic_options
from coordinator.server.connections.connection import Connection
from coordinator.server.limits import Limits
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.framing import frame, parse_response_header, request_header
from coordinator.wire.messages import response_type
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.schema import Message, Request, Response

_SIZE = Struct(">i")
R = TypeVar("R", bound=Response)


class Driver:
    """A broker and its clock: what `coordinator.server.net.server` does with sockets and a timer is done by
    method calls."""

    def __init__(
        self,
        topics: Iterable[str] = (),
        config: Mapping[str, str] | None = None,
        limits: Limits = Limits(),
        release: Release = NEWEST,
    ) -> None:
        self.now = 0
        configs = BrokerConfigs(config or {}, release=release)
        self.broker = build_broker(
            configs=configs,
            random=Random(1),
            epoch_ms=1_000_000,
            topics=topic_options(topics),
            limits=limits,
        )
        self.broker.cluster.brokers[1].endpoints["PLAINTEXT"] = ("127.0.0.1", 9092)

    def client(self, peer: str = "127.0.0.1:50000") -> Client:
        """A new connection."""
        return Client(self, peer)

    def settle(self) -> None:
        """What a driver does after every piece of work: freed connections go on, due deadlines
        fire."""
        self.broker.run_resumable(self.now)
        while self.broker.turns.wanted:
            self.broker.next_turn(self.now)
        while (deadline := self.broker.next_deadline()) is not None and deadline <= self.now:
            self.broker.tick(self.now)

    def pass_time(self, ms: int) -> None:
        """Let time pass, deadline by deadline."""
        end = self.now + ms
        while (deadline := self.broker.next_deadline()) is not None and deadline <= end:
            self.now = deadline
            self.broker.tick(deadline)
        self.now = end


class Client:
    """One connection, seen from the client's side."""

    def __init__(self, driver: Driver, peer: str) -> None:
        self.driver = driver
        self.writes: list[bytes] = []
        self.closed: str | None = None
        self.fault: Exception | None = None
        self.asked: list[tuple[int, int, int]] = []  # correlation id, key, version
        self.connection = Connection(
            driver.broker,
            peer=peer,
            client_host="/127.0.0.1",
            listener="PLAINTEXT",
            write=self.writes.append,
            close=self._close,
        )

    def _close(self, why: str, fault: Exception | None) -> None:
        assert self.closed is None
        self.closed, self.fault = why, fault

    def frame(self, request: Request, version: int, client_id: str | None = "test") -> bytes:
        """A request's whole frame, with the next correlation id."""
        correlation_id = len(self.asked) + 1
        key = type(request).api_key
        self.asked.append((correlation_id, key, version))
        return frame(
            request_header(key, version, correlation_id, client_id), request.encode(version)
        )

    def feed(self, data: bytes) -> None:
        """Let bytes arrive."""
        self.connection.receive(data, self.driver.now)
        self.driver.settle()

    def send(self, request: Request, version: int) -> None:
        """Send a request."""
        self.feed(self.frame(request, version))

    def answers(self) -> list[Message]:
        """The answers that came since the last look, in order, decoded; their correlation ids must
        be those asked."""
        data = b"".join(self.writes)
        self.writes.clear()
        messages: list[Message] = []
        while data:
            size = _SIZE.unpack_from(data)[0]
            body, data = data[4 : 4 + size], data[4 + size :]
            correlation_id, key, version = self.asked.pop(0)
            got, at = parse_response_header(body, key, version)
            assert got == correlation_id
            messages.append(response_type(key).decode(version, body, at))
        return messages

    def ask(self, request: Request, version: int) -> Message:
        """Send a request that is answered at once."""
        self.send(request, version)
        (answer,) = self.answers()
        return answer


def join(
    group: str = "g", member: str = "", *, rebalance_timeout_ms: int = 10_000
) -> JoinGroupRequest:
    """A consumer's JoinGroup."""
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\0")],
    )


def new_member(client: Client, group: str = "g") -> str:
    """The first of the two steps of joining: an id (KIP-394)."""
    told = client.ask(join(group), 9)
    assert isinstance(told, JoinGroupResponse)
    assert told.error_code == 79
    return told.member_id
