"""Clients that do not read, requests that are not finished, and too few descriptors: memory stays
bounded and others are served."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from coordinator.server.limits import Limits
from coordinator.server.net import server as driver
from coordinator.server.net import stalled
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.framing import frame, request_header
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.metadata import MetadataRequest
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.net.test_server import Peer, Running, running

pytestmark = pytest.mark.unmeasured

MIB = 1 << 20
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
BEAT = HeartbeatRequest(group_id="x", member_id="y")


def fetch() -> FetchRequest:
    return FetchRequest(
        max_wait_ms=60_000,
        min_bytes=1,
        max_bytes=50 * MIB,
        topics=[
            FetchTopic(
                topic="orders",
                partitions=[
                    FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=50 * MIB)
                ],
            )
        ],
    )


async def produce(peer: Peer, mib: int) -> None:
    for _ in range(mib):
        records = build_batch([b"x" * 1000] * 1000, timestamp=0)
        data = TopicProduceData(
            name="orders", partition_data=[PartitionProduceData(index=0, records=records)]
        )
        await peer.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[data]), 9)


def unsent(run: Running) -> int:
    return sum(protocol.transport.get_write_buffer_size() for protocol in run.server.protocols)


async def until(condition: object, run: Running) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.001)


async def test_unread_answers_of_many_connections_are_bounded_and_readers_are_served() -> None:
    """Thirty fetches of 20 MiB whose clients do not read; then one by one they do, and each gets
    all of it."""
    async with running(limits=Limits(output_bytes=40 * MIB)) as run:
        producer = await run.peer()
        await produce(producer, 20)
        unread = [await run.peer() for _ in range(30)]
        for peer in unread:
            peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
            peer.send(fetch(), 11)
        await until(
            lambda: (
                run.server.broker.turns.output.full
                and len(run.server.broker.turns.output.waiting) >= 25
            ),
            run,
        )
        assert unsent(run) <= 40 * MIB + 21 * MIB, "the bound, and the answer that passed it"
        assert await producer.ask(BEAT, 4) == HeartbeatResponse(error_code=25), (
            "small answers do not wait"
        )
        for peer in unread:
            peer.writer.transport.resume_reading()  # type: ignore[attr-defined]
            answer = await asyncio.wait_for(peer.receive(FetchRequest, 11), PATIENCE_S)
            assert isinstance(answer, FetchResponse)
            assert len(answer.responses[0].partitions[0].records or b"") > 20_000_000
            assert unsent(run) <= 61 * MIB
        await until(lambda: run.server.broker.turns.output.held == 0, run)
        assert not run.server.broker.turns.output.waiting


async def test_who_takes_nothing_while_others_wait_is_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stalled, "STALLED_MS", 200)
    monkeypatch.setattr(driver, "_LOOK_AFTER_S", 0.05)
    async with running(limits=Limits(output_bytes=4 * MIB)) as run:
        producer, idle, reader = await run.peer(), await run.peer(), await run.peer()
        await produce(producer, 20)
        idle.writer.transport.pause_reading()  # type: ignore[attr-defined]
        idle.send(fetch(), 11)
        await until(lambda: run.server.broker.turns.output.full, run)
        with caplog.at_level(logging.WARNING, "coordinator.server.net.server"):
            answer = await asyncio.wait_for(reader.ask(fetch(), 11), PATIENCE_S)
        assert isinstance(answer, FetchResponse)
        (record,) = [
            record for record in caplog.records if "max_output_bytes" in record.getMessage()
        ]
        assert "bytes of answers are not taken" in record.getMessage()
        await until(lambda: len(run.server.protocols) == 2, run)


async def test_a_connection_that_ends_unread_is_aborted_after_a_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver, "END_GRACE_S", 0.05)
    async with running() as run:
        producer, peer = await run.peer(), await run.peer()
        await produce(producer, 20)
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        peer.send(fetch(), 11)
        await until(lambda: run.server.broker.turns.output.held, run)
        (protocol,) = [protocol for protocol in run.server.protocols if protocol.unsent]
        protocol.end()
        await until(lambda: len(run.server.protocols) == 1, run)
        assert run.server.broker.turns.output.held == 0


async def test_unfinished_requests_are_bounded_in_all_and_each_is_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty requests of 2 MiB, with room for 4: nobody is closed, every one is answered."""
    async with running(config={"queued.max.request.bytes": str(4 * MIB)}) as run:
        room, most = run.server.broker.turns.input, 0
        add = room.add

        def counted(count: int) -> None:
            nonlocal most
            add(count)
            most = max(most, room.held)

        monkeypatch.setattr(room, "add", counted)
        peers = [await run.peer() for _ in range(20)]
        body = frame(request_header(3, 12, 1, "peer" * 4000), MetadataRequest(topics=[]).encode(12))
        padded = (
            struct.pack(">i", 2 * MIB) + body[4:] + b"\0" * (2 * MIB + 4 - len(body))
        )  # trailing bytes are forgiven
        for peer in peers:
            peer.writer.write(padded[:-1])
        await until(lambda: room.held >= 4 * MIB, run)
        for peer in peers:
            peer.writer.write(padded[-1:])
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(peer.receive(MetadataRequest, 12) for peer in peers))
        assert 4 * MIB <= most <= 4 * MIB + 2 * MIB + (1 << 18) + 20 * 4096
        assert room.held == 0


async def test_who_does_not_finish_a_request_while_others_wait_is_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stalled, "STALLED_MS", 100)
    monkeypatch.setattr(driver, "_LOOK_AFTER_S", 0.05)
    async with running(config={"queued.max.request.bytes": str(MIB)}) as run:
        good, *bad = [await run.peer() for _ in range(6)]
        with caplog.at_level(logging.WARNING, "coordinator.server.net.server"):
            for peer in bad:
                peer.writer.write(struct.pack(">i", 50 * MIB) + b"\0" * (MIB // 2))
            await until(
                lambda: len(run.server.protocols) < 6 and not run.server.broker.turns.input.full,
                run,
            )
            assert await good.ask(BEAT, 4) == HeartbeatResponse(error_code=25)
        assert len(caplog.records) >= 1
        assert all("queued.max.request.bytes" in record.getMessage() for record in caplog.records)


async def test_one_connection_that_sends_much_does_not_starve_others() -> None:
    """Ten thousand heartbeats of one connection are there at once; another one's is answered before
    most of them."""
    async with running() as run:
        greedy, modest = await run.peer(), await run.peer()
        await modest.ask(BEAT, 4)
        beat = frame(request_header(12, 4, 1, "peer"), BEAT.encode(4))
        handled = 0
        broker = run.server.broker
        take = broker.next_token

        def counted() -> int:
            nonlocal handled
            handled += 1
            return take()

        broker.next_token = counted  # type: ignore[method-assign]
        greedy.writer.write(beat * 5000)
        modest.send(BEAT, 4)
        assert await modest.receive(HeartbeatRequest, 4) == HeartbeatResponse(error_code=25)
        assert handled < 3000
        await greedy.reader.readexactly(16 * 5000)


def _until_served(host: str, port: int) -> None:
    """Ask a server for a heartbeat until it answers: until it has seen that others are gone, it may
    hang up on whoever connects."""
    request = frame(request_header(12, 4, 1, "peer"), BEAT.encode(4))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with (
            socket.create_connection((host, port), timeout=PATIENCE_S) as late,
            suppress(ConnectionError),
        ):
            late.sendall(request)
            if late.recv(100):
                return
    pytest.fail("nobody was served although descriptors were free")


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_too_few_descriptors_are_told_in_one_line_and_it_recovers(loop: str) -> None:
    """A server with 60 descriptors and 100 clients; when most of them are gone it serves again."""
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    command = [
        sys.executable,
        "-m",
        "coordinator",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--loop",
        loop,
    ]
    limited = ["bash", "-c", 'ulimit -n 60; exec "$@"', "bash", *command]
    with subprocess.Popen(
        limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready: "))
            host, port = ready.split()[1].split(":")
            clients = [socket.create_connection((host, int(port))) for _ in range(100)]
            assert process.stderr is not None
            line = process.stderr.readline()
            for client in clients:
                client.close()
            _until_served(host, int(port))
        finally:
            process.terminate()
        assert process.stderr.read() == "", "told once"
    assert process.returncode == 0
    assert line.startswith("no more connections can be accepted: 60 files may be open (ulimit -n)")
