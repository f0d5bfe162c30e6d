"""The selector that tells of a few descriptors a turn, the longest waiting first."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

import pytest

if not hasattr(select, "epoll"):
    pytest.skip(
        "this system has no epoll: asyncio's own selector is taken", allow_module_level=True
    )

from coordinator.server.net import fair_selector
from coordinator.server.net.fair_selector import _AT_ONCE, FairSelector, new_loop


class Pairs:
    """A selector, and pairs of sockets of which it watches one."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.selector = FairSelector()
        stack.callback(self.selector.close)

    def pair(self) -> tuple[socket.socket, socket.socket]:
        both = socket.socketpair()
        for one in both:
            self._stack.callback(one.close)
        return both

    def busy(self, count: int) -> list[socket.socket]:
        """So many that stay readable."""
        found = [self.quiet() for _ in range(count)]
        for _, other in found:
            other.send(b"x")
        return [one for one, _ in found]

    def quiet(self) -> tuple[socket.socket, socket.socket]:
        """One that is watched, and its other end."""
        one, other = self.pair()
        self.selector.register(one, EVENT_READ)
        return one, other

    def turn(self) -> list[Any]:
        return [key.fileobj for key, _ in self.selector.select(0)]


@pytest.fixture
def pairs() -> Iterator[Pairs]:
    with ExitStack() as stack:
        yield Pairs(stack)


def test_a_turn_tells_of_a_few_and_a_round_of_all(pairs: Pairs) -> None:
    busy = pairs.busy(5 * _AT_ONCE)
    turns = [pairs.turn() for _ in range(10)]
    assert {len(turn) for turn in turns} == {_AT_ONCE}
    for half in (turns[:5], turns[5:]):
        assert {one for turn in half for one in turn} == set(busy)


def test_who_was_quiet_does_not_wait_for_a_round_of_the_busy(pairs: Pairs) -> None:
    late, sender = pairs.quiet()
    pairs.busy(5 * _AT_ONCE)
    for _ in range(7):
        assert late not in pairs.turn()
    sender.send(b"x")
    assert late in pairs.turn()


def test_of_very_many_all_have_their_turn(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    """epoll tells of a part of them each time, and of others the next."""
    monkeypatch.setattr(fair_selector, "_LOOKED_AT", 4 * _AT_ONCE)
    late, sender = pairs.quiet()
    busy = pairs.busy(9 * _AT_ONCE)
    assert {one for _ in range(4 * len(busy) // _AT_ONCE) for one in pairs.turn()} == set(busy)
    sender.send(b"x")
    assert late in [one for _ in range(4) for one in pairs.turn()]


def test_a_flood_of_newcomers_does_not_keep_others_waiting(pairs: Pairs) -> None:
    old = set(pairs.busy(2 * _AT_ONCE))
    told: set[Any] = set()
    for _ in range(12):
        pairs.busy(_AT_ONCE)
        told.update(pairs.turn())
    assert old <= told


def test_reading_and_writing(pairs: Pairs) -> None:
    one, other = pairs.quiet()
    assert pairs.selector.select(0.001) == []
    key = pairs.selector.modify(one, EVENT_READ | EVENT_WRITE, "both")
    assert pairs.selector.select(0) == [(key, EVENT_WRITE)]
    other.send(b"x")
    assert pairs.selector.select(None) == [(key, EVENT_READ | EVENT_WRITE)]
    key = pairs.selector.modify(one.fileno(), EVENT_READ, "read")
    assert pairs.selector.select(-1) == [(key, EVENT_READ)]
    other.close()
    one.recv(1)
    assert pairs.selector.select(1) == [(key, EVENT_READ)], "its end is to be read, too"
    assert (key.data, pairs.selector.get_key(one), dict(pairs.selector.get_map())) == (
        "read",
        key,
        {one.fileno(): key},
    )


def test_what_is_not_there(pairs: Pairs) -> None:
    one, _ = pairs.quiet()
    stranger, _ = pairs.pair()
    with pytest.raises(KeyError, match="registered already"):
        pairs.selector.register(one, EVENT_READ)
    for call in (pairs.selector.unregister, pairs.selector.get_key):
        with pytest.raises(KeyError):
            call(stranger)
    with pytest.raises(KeyError):
        pairs.selector.modify(stranger, EVENT_READ)
    number = one.fileno()
    one.close()
    assert pairs.selector.unregister(number).fd == number
    with pytest.raises(ValueError, match="closed"):
        pairs.selector.register(one, EVENT_READ)


def test_asyncio_runs_on_it(pairs: Pairs) -> None:
    size = 1_000_000

    async def received(one: socket.socket) -> int:
        loop, came = asyncio.get_running_loop(), 0
        while came < size:
            came += len(await loop.sock_recv(one, size))
        return came

    async def exchange() -> list[int]:
        loop = asyncio.get_running_loop()
        both = [pairs.pair() for _ in range(2 * _AT_ONCE)]
        for one in (one for pair in both for one in pair):
            one.setblocking(False)
        sending = [asyncio.ensure_future(loop.sock_sendall(one, bytes(size))) for one, _ in both]
        came = await asyncio.gather(*(received(other) for _, other in both))
        await asyncio.gather(*sending)
        return came

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(exchange()) == [size] * 2 * _AT_ONCE
