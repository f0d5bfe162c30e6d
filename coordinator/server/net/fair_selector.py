"""Fair selector for asyncio's event loop: no busy descriptor delays the others.

Each turn of the loop gets only a few ready descriptors, those served longest ago first.
asyncio's own selector takes all ready ones, and epoll lists a descriptor that stays readable
before one that becomes readable during the turn: while a hundred members send heartbeats without
a pause, another member's JoinGroup would wait for one and a half rounds of them. Kafka's threads
take requests as they come. Does not depend on sockets; without epoll the loop keeps its own
selector.
"""

from __future__ import annotations

import asyncio
import select
import selectors
from collections.abc import Coroutine, Mapping
from math import ceil
from types import MappingProxyType
from typing import Any

_AT_ONCE = 16
"""Descriptors a turn. Fewer would cost more system calls, more would let others wait longer: with 64 a
hundred busy members cost somewhat less processor time, and who asks seldom waits a third longer."""
_LOOKED_AT = 8 * _AT_ONCE
"""Of so many that are ready the turn's are chosen; epoll goes round, so that the next turn is
chosen from others. More would cost each of a thousand busy descriptors more than its own turn."""
_HEAD_START = 4
"""The number of turns since which a new descriptor counts as reported: it need not wait for all
busy ones, and a flood of new ones delays no other."""


def _descriptor(fileobj: Any) -> int:
    number: int = fileobj if isinstance(fileobj, int) else fileobj.fileno()
    if number < 0:
        raise ValueError(f"{fileobj!r} is closed")
    return number


class FairSelector(selectors.BaseSelector):
    """Selector on epoll that returns at most `_AT_ONCE` descriptors, the longest waiting first;
    otherwise like `selectors.EpollSelector`. Raises ValueError and KeyError where that does.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._turn = 0
        self._told: dict[int, int] = {}
        """Descriptor -> the last turn that told of it while others waited."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Watch a descriptor. Raises KeyError if it is watched already."""
        number = _descriptor(fileobj)
        if number in self._keys:
            raise KeyError(f"{fileobj!r} is registered already")
        self._epoll.register(number, _wanted(events))
        key = self._keys[number] = selectors.SelectorKey(fileobj, number, events, data)
        self._told[number] = self._turn - _HEAD_START
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Stop watching a descriptor. Raises KeyError if it is not watched."""
        key = self._keys.pop(_descriptor(fileobj))
        del self._told[key.fd]
        try:
            self._epoll.unregister(key.fd)
        except OSError:  # it was closed
            pass
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Change a watched descriptor's events or data."""
        former = self.get_key(fileobj)
        if events != former.events:
            self._epoll.modify(former.fd, _wanted(events))
        key = self._keys[former.fd] = former._replace(events=events, data=data)
        return key

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return ready descriptors, a bounded number. `timeout` in seconds; None: until one is
        ready.
        """
        wait = -1.0 if timeout is None else 0.0 if timeout <= 0 else ceil(timeout * 1_000) / 1_000
        events = self._epoll.poll(wait, _LOOKED_AT)
        if len(events) > _AT_ONCE:
            events = self._longest_waiting(events)
        keys, ready = self._keys, []
        for number, event in events:
            key = keys[number]
            told = (event & ~select.EPOLLIN and selectors.EVENT_WRITE) | (
                event & ~select.EPOLLOUT and selectors.EVENT_READ
            )
            ready.append((key, told & key.events))
        return ready

    def _longest_waiting(self, events: list[tuple[int, int]]) -> list[tuple[int, int]]:
        told = self._told
        self._turn += 1
        chosen = sorted(events, key=lambda event: told[event[0]])[:_AT_ONCE]
        for number, _ in chosen:
            told[number] = self._turn
        return chosen

    def close(self) -> None:
        """Close the selector."""
        self._epoll.close()
        self._keys.clear()
        self._told.clear()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """Return the key of a watched descriptor. Raises KeyError if it is not watched."""
        return self._keys[_descriptor(fileobj)]

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Return the keys by descriptor."""
        return MappingProxyType(self._keys)


def _wanted(events: int) -> int:
    return (select.EPOLLIN if events & selectors.EVENT_READ else 0) | (
        select.EPOLLOUT if events & selectors.EVENT_WRITE else 0
    )


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an asyncio event loop, with the fair selector if there is epoll."""
    return (
        asyncio.SelectorEventLoop(FairSelector())
        if hasattr(select, "epoll")
        else asyncio.new_event_loop()
    )


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine like `asyncio.run`, on a fair loop."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(work)
