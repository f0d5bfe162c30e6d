"""Real sockets around a broker: listeners, the timer, back-pressure, hostile peers, and the end of
it all."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from coordinator.server.build import build_broker, topic_options
from coordinator.server.limits import Limits
from coordinator.server.net.endpoints import Endpoint, ListenError, java_host
from coordinator.server.net.server import Server
from coordinator.server.settings.broker_configs import BrokerConfigs
from coordinator.wire.framing import frame, parse_response_header, request_header
from coordinator.wire.messages import response_type
from coordinator.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.schema import Message, Request

PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
SESSION_MS = 120_000
"""Longer than a busy machine stands still between two requests."""


class Peer:
    """A client on a real socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, request: Request, version: int) -> None:
        self.writer.write(
            frame(
                request_header(type(request).api_key, version, 1, "peer"), request.encode(version)
            )
        )

    async def receive(self, request: type[Request], version: int) -> Message:
        (size,) = struct.unpack(">i", await self.reader.readexactly(4))
        data = await self.reader.readexactly(size)
        _, at = parse_response_header(data, request.api_key, version)
        return response_type(request.api_key).decode(version, data, at)

    async def ask(self, request: Request, version: int) -> Message:
        self.send(request, version)
        return await self.receive(type(request), version)


class Running:
    """A server and its peers."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.peers: list[Peer] = []

    async def peer(self, listener: int = 0) -> Peer:
        host, port = self.server.endpoints[listener][1:]
        peer = Peer(*await asyncio.open_connection(host, port))
        self.peers.append(peer)
        return peer


def new_server(config: dict[str, str] | None = None, limits: Limits = Limits()) -> Server:
    configs = BrokerConfigs(config or {})
    broker = build_broker(
        configs=configs,
        random=Random(1),
        epoch_ms=0,
        topics=topic_options(["orders:3"]),
        limits=limits,
    )
    return Server(broker, asyncio.get_running_loop())


@asynccontextmanager
async def running(
    *listen: str,
    advertise: tuple[str, ...] = (),
    config: dict[str, str] | None = None,
    limits: Limits = Limits(),
) -> AsyncIterator[Running]:
    server = new_server(config, limits)
    await server.listen(
        [Endpoint.parse(text) for text in listen or ("127.0.0.1:0",)],
        [Endpoint.parse(text) for text in advertise],
    )
    run = Running(server)
    try:
        yield run
    finally:
        await server.stop()
        for peer in run.peers:
            peer.writer.close()
            await asyncio.wait([asyncio.ensure_future(peer.writer.wait_closed())])


def pass_time(run: Running, duration_ms: int) -> None:
    """Let the server's clock jump, and what falls due by that happen."""
    run.server.jump(duration_ms)
    now = run.server.now()
    run.server.runtime.tick(now)
    run.server.settle(now)


def join(member: str = "", session_timeout_ms: int = SESSION_MS) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=10_000,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range")],
    )


async def member_id(peer: Peer) -> str:
    told = await peer.ask(join(), 9)
    assert isinstance(told, JoinGroupResponse)
    assert told.error_code == 79
    return told.member_id


class TestListeners:
    async def test_each_listener_shows_its_own_address(self) -> None:
        async with running("127.0.0.1:0", "OTHER://127.0.0.1:0") as run:
            for index in range(2):
                peer = await run.peer(index)
                answer = await peer.ask(FindCoordinatorRequest(key="g"), 3)
                assert isinstance(answer, FindCoordinatorResponse)
                assert (answer.host, answer.port) == run.server.endpoints[index][1:]

    async def test_an_advertised_address_is_shown_instead(self) -> None:
        async with running(
            "A://127.0.0.1:0",
            "B://localhost:0",
            advertise=("B://kafka.example:1234", "A://one.example:0"),
        ) as run:
            shown = []
            for index in range(2):
                answer = await (await run.peer(index)).ask(FindCoordinatorRequest(key="g"), 3)
                assert isinstance(answer, FindCoordinatorResponse)
                shown.append((answer.host, answer.port))
            assert shown == [("one.example", run.server.endpoints[0].port), ("kafka.example", 1234)]

    @pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
    async def test_ipv6(self) -> None:
        """DSC-3: Java writes the address in full."""
        try:
            async with running("[::1]:0") as run:
                peer = await run.peer()
                await peer.ask(join(await member_id(peer)), 9)
                (group,) = run.server.broker.coordinator.groups.values()
                assert [member.client_host for member in group.members.values()] == [
                    "/0:0:0:0:0:0:0:1"
                ]
        except ListenError:
            pytest.skip("no IPv6 loopback here")

    @pytest.mark.parametrize(
        ("listen", "advertise", "words"),
        [
            (["0.0.0.0:0"], ["0.0.0.0:1"], "--allow-remote"),
            (["192.0.2.1:0"], [], "--allow-remote"),
            (["127.0.0.1:0", "127.0.0.1:0"], [], "two listeners are called PLAINTEXT"),
            (["127.0.0.1:0"], ["OTHER://x:1"], "the listeners are called PLAINTEXT"),
            (["127.0.0.1:0"], ["0.0.0.0:1"], "cannot be advertised"),
            (["127.255.255.255.255:0"], [], "cannot listen on"),
            ([f"127.{'x' * 300}:0"], [], "cannot listen on"),
        ],
    )
    async def test_what_cannot_be_meant_is_refused(
        self, listen: list[str], advertise: list[str], words: str
    ) -> None:
        with pytest.raises(ListenError, match=words):
            await new_server().listen(
                [Endpoint.parse(text) for text in listen],
                [Endpoint.parse(text) for text in advertise],
            )

    async def test_a_wildcard_needs_an_address_to_advertise(self) -> None:
        with pytest.raises(ListenError, match="--advertise PLAINTEXT://host:0"):
            await new_server().listen([Endpoint.parse("0.0.0.0:0")], allow_remote=True)

    async def test_a_port_in_use_opens_nothing(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            server = new_server()
            port = taken.getsockname()[1]
            with pytest.raises(
                ListenError, match=rf"PLAINTEXT://127\.0\.0\.1:{port}: the address is in use"
            ):
                await server.listen(
                    [Endpoint.parse("FREE://127.0.0.1:0"), Endpoint("PLAINTEXT", "127.0.0.1", port)]
                )
            with pytest.raises(OSError):
                await asyncio.open_connection("127.0.0.1", server.endpoints[0].port)

    @pytest.mark.parametrize("text", ["9092", "host:", ":x", "h:70000", "://h:1", "h:-1"])
    def test_addresses_that_are_none(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"such as 127\.0\.0\.1:9092"):
            Endpoint.parse(text)

    def test_addresses(self) -> None:
        assert Endpoint.parse("localhost:0") == ("PLAINTEXT", "localhost", 0)
        assert Endpoint.parse("X://[::1]:9092") == ("X", "::1", 9092)
        assert str(Endpoint("X", "::1", 9092)) == "X://[::1]:9092"
        assert str(Endpoint("X", "h", 1)) == "X://h:1"

    @pytest.mark.parametrize(
        ("host", "java"),
        [
            ("127.0.0.1", "/127.0.0.1"),
            ("::1", "/0:0:0:0:0:0:0:1"),
            ("fe80::a0b:1%lo", "/fe80:0:0:0:0:0:a0b:1%lo"),
            ("::ffff:10.1.2.3", "/10.1.2.3"),
        ],
    )
    def test_hosts_in_javas_form(self, host: str, java: str) -> None:
        """DSC-3"""
        assert java_host(host) == java


class TestService:
    async def test_a_parked_join_is_answered_by_the_timer(self) -> None:
        async with running(config={"group.initial.rebalance.delay.ms": "30"}) as run:
            peer, other = await run.peer(), await run.peer()
            peer.send(join(await member_id(peer)), 9)
            assert await other.ask(
                HeartbeatRequest(group_id="x", member_id="y"), 4
            ) == HeartbeatResponse(error_code=25)
            joined = await asyncio.wait_for(peer.receive(JoinGroupRequest, 9), PATIENCE_S)
            assert isinstance(joined, JoinGroupResponse)
            assert (joined.error_code, joined.generation_id) == (0, 1)

    async def test_a_silent_member_expires_by_the_timer(self) -> None:
        """SES-1: nobody sends anything, and the session ends all the same."""
        async with running(config={"group.min.session.timeout.ms": "10"}) as run:
            peer = await run.peer()
            member = await member_id(peer)
            joined = await peer.ask(join(member, session_timeout_ms=60), 9)
            assert isinstance(joined, JoinGroupResponse)
            group = run.server.broker.coordinator.groups["g"]
            async with asyncio.timeout(PATIENCE_S):
                while group.members:
                    await asyncio.sleep(0.01)

    async def test_a_late_timer_does_not_let_a_request_see_the_past(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """SES-2: the session was over before the heartbeat came, though the loop was too busy to
        notice."""
        async with running() as run:
            peer = await run.peer()
            member = await member_id(peer)
            joined = await peer.ask(join(member), 9)
            assert isinstance(joined, JoinGroupResponse)
            beat = HeartbeatRequest(
                group_id="g", member_id=member, generation_id=joined.generation_id
            )
            assert await peer.ask(beat, 4) == HeartbeatResponse(error_code=0)
            now = run.server.now
            monkeypatch.setattr(run.server, "now", lambda: now() + SESSION_MS + 1)
            assert await peer.ask(beat, 4) == HeartbeatResponse(error_code=25)

    async def test_a_hostile_peer_is_logged_in_one_line_and_disturbs_nobody(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """VER-16"""
        async with running() as run:
            good, bad = await run.peer(), await run.peer()
            address = bad.writer.get_extra_info("sockname")
            bad.writer.write(b"GET / HTTP/1.1\r\n\r\n")
            with caplog.at_level(logging.WARNING, "coordinator.server.net.server"):
                assert await bad.reader.read() == b""
            (record,) = caplog.records
            assert record.getMessage().startswith(
                f"{address[0]}:{address[1]}: connection closed: this looks like an HTTP request"
            )
            assert await good.ask(
                HeartbeatRequest(group_id="x", member_id="y"), 4
            ) == HeartbeatResponse(error_code=25)

    async def test_a_peer_that_does_not_read_is_not_read_from(self) -> None:
        """Answers pile up in the transport, then requests in the kernel; memory stays bounded, and
        nothing is lost."""
        async with running() as run:
            peer = await run.peer()
            first = await peer.ask(MetadataRequest(topics=None), 12)
            count = 10_000  # of a few thousand bytes each: more than the kernel keeps
            for _ in range(count):
                peer.send(MetadataRequest(topics=None), 12)
            async with asyncio.timeout(PATIENCE_S):
                while not run.server.unread:
                    await asyncio.sleep(0)
            (protocol,) = run.server.protocols
            assert protocol.transport.get_write_buffer_size() < 4 << 20
            async with asyncio.timeout(PATIENCE_S):
                for _ in range(count):
                    assert await peer.receive(MetadataRequest, 12) == first
            assert not run.server.unread

    async def test_requests_behind_a_parked_one_stay_in_the_kernel_at_last(self) -> None:
        async with running(config={"group.initial.rebalance.delay.ms": "60000"}) as run:
            peer = await run.peer()
            peer.send(join(await member_id(peer)), 9)
            beat = frame(
                request_header(12, 4, 1, "peer"),
                HeartbeatRequest(group_id="x", member_id="y").encode(4),
            )
            peer.writer.write(beat * 10_000)
            async with asyncio.timeout(PATIENCE_S):
                while not run.server.unread:
                    await asyncio.sleep(0)
                pass_time(run, 60_000)
                assert isinstance(await peer.receive(JoinGroupRequest, 9), JoinGroupResponse)
                await peer.reader.readexactly(16 * 10_000)

    async def test_an_idle_connection_is_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """connections.max.idle.ms"""
        async with running(config={"connections.max.idle.ms": "200"}) as run:
            now = 0
            monkeypatch.setattr(run.server, "now", lambda: now)
            idle, busy = await run.peer(), await run.peer()
            for peer in (idle, busy):
                assert await peer.ask(
                    HeartbeatRequest(group_id="x", member_id="y"), 4
                ) == HeartbeatResponse(error_code=25)
            now = 199
            assert await busy.ask(
                HeartbeatRequest(group_id="x", member_id="y"), 4
            ) == HeartbeatResponse(error_code=25)
            now = 200  # the server looks around every 50 ms of real time
            assert await asyncio.wait_for(idle.reader.read(), PATIENCE_S) == b""
            assert await busy.ask(
                HeartbeatRequest(group_id="x", member_id="y"), 4
            ) == HeartbeatResponse(error_code=25)
            assert len(run.server.protocols) == 1

    async def test_an_answer_counts_as_activity(self) -> None:
        """connections.max.idle.ms counts from the last byte either way, as scenario
        cleanup.an_answer_counts_as_activity shows of Kafka."""
        async with running(config={"group.initial.rebalance.delay.ms": "60000"}) as run:
            peer = await run.peer()
            (connection,) = run.server.protocols
            peer.send(join(await member_id(peer)), 9)
            while not run.server.broker.coordinator.groups["g"].members:
                await asyncio.sleep(0)
            connection.active_at = -1_000_000
            pass_time(run, 60_000)
            await peer.receive(JoinGroupRequest, 9)
            assert connection.active_at >= 0


class TestStop:
    async def test_parked_requests_are_answered_and_everything_is_closed(self) -> None:
        """ERR-6: joins get 16 before the connection ends; no task and no timer stays."""
        before = asyncio.all_tasks()
        async with running(config={"group.initial.rebalance.delay.ms": "60000"}) as run:
            parked, idle = await run.peer(), await run.peer()
            parked.send(join(await member_id(parked)), 9)
            await idle.ask(HeartbeatRequest(group_id="x", member_id="y"), 4)
            await run.server.stop()
            answer = await parked.receive(JoinGroupRequest, 9)
            assert isinstance(answer, JoinGroupResponse)
            assert answer.error_code == 16
            assert await parked.reader.read() == await idle.reader.read() == b""
            assert not run.server.protocols
            assert run.server._timer is None
            with pytest.raises(OSError):
                await run.peer()
        assert asyncio.all_tasks() == before

    async def test_large_answers_are_flushed(self) -> None:
        async with running() as run:
            run.server.broker.configs.set("auto.create.topics.enable", "false")
            peer = await run.peer()
            for _ in range(100):
                peer.send(MetadataRequest(topics=None), 12)
            first = await peer.receive(MetadataRequest, 12)
            stopping = asyncio.ensure_future(run.server.stop())
            received = 1
            with pytest.raises(asyncio.IncompleteReadError) as end:
                while True:
                    assert await peer.receive(MetadataRequest, 12) == first
                    received += 1
            assert end.value.partial == b"", "no answer was cut off"
            await stopping
            assert received == 100

    async def test_a_peer_that_does_not_read_does_not_hold_up_the_end(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("coordinator.server.net.server.FLUSH_GRACE_S", 0.05)
        async with running() as run:
            peer = await run.peer()
            peer.writer.write(
                frame(request_header(3, 12, 1, "peer"), MetadataRequest(topics=None).encode(12))
                * 10_000
            )
            async with asyncio.timeout(PATIENCE_S):
                while not run.server.unread:
                    await asyncio.sleep(0)
                await run.server.stop()
                while run.server.protocols:
                    await asyncio.sleep(0)

    async def test_stopping_twice_is_stopping(self) -> None:
        async with running() as run:
            await run.server.stop()
