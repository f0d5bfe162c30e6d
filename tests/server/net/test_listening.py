"""Listening sockets that end while an accept is to be tried again."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
from typing import Any, Literal, NoReturn

import pytest

from coordinator import Emulator
from coordinator.server.net import listening
from coordinator.server.net.listening import Descriptors, stop_listening

RETRY_S = 0.05


async def test_an_accept_tried_again_after_the_end_is_not_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """asyncio tries a failed accept again a second later, on a socket that is closed by then, and
    tells of that with a traceback."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, asyncio.BaseEventLoop):
        pytest.skip("uvloop tries nothing again")
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    before = loop.get_exception_handler()

    def no_descriptor(_: socket.socket) -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("asyncio.constants.ACCEPT_RETRY_DELAY", RETRY_S)
    monkeypatch.setattr(listening, "ACCEPT_RETRY_DELAY", RETRY_S)
    monkeypatch.setattr(socket.socket, "accept", no_descriptor)
    descriptors = Descriptors(loop)
    descriptors.watch()
    servers = [await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)]
    with socket.create_connection(servers[0].sockets[0].getsockname()):
        while not caplog.records:
            await asyncio.sleep(0)
        await stop_listening(loop, servers)
        descriptors.stop()
        while loop.get_exception_handler() is not before:
            await asyncio.sleep(0.01)
    assert told == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("turns", range(6))
@pytest.mark.parametrize("how", ["controlled", "crash"])
async def test_a_connection_that_comes_as_its_broker_stops_is_closed(
    how: Literal["controlled", "crash"], turns: int
) -> None:
    """asyncio leaves the socket open that it accepted just before the listening one was closed;
    then a test fails for a warning."""
    async with Emulator(brokers=2) as kafka:
        host, _, port = kafka.bootstrap_servers.split(",")[1].rpartition(":")
        with socket.create_connection((host, int(port))) as client:
            for _ in range(turns):
                await asyncio.sleep(0)
            kafka.stop_broker(2, how)
            reader, writer = await asyncio.open_connection(sock=client)
            assert await read_to_the_end(reader) == b""
            writer.close()
        gc.collect()


async def read_to_the_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_loop_without_failed_accepts_is_left_as_it_was_at_once() -> None:
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    descriptors = Descriptors(loop)
    descriptors.watch()
    descriptors.stop()
    assert loop.get_exception_handler() is before
