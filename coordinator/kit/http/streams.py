"""The event log as server-sent events: first the lines that exist, then each line as it is written.

A client that reads too slowly is disconnected when too many lines wait for it; it can continue
with Last-Event-ID. Nothing else waits for a slow client.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from .operations.event_log import Lines
from .port import Port

MOST_WAITING = 20_000
KEEP_ALIVE_S = 15.0
_ENOUGH = 256  # so many lines are handed over at once


class EventStream:
    """One reader of the log."""

    def __init__(self, port: Port, wanted: Lines) -> None:
        self._wanted = {
            name: getattr(wanted, name)
            for name in ("type", "group", "stream")
            if getattr(wanted, name) is not None
        }
        self._waiting: deque[str] = deque()
        self._something = asyncio.Event()
        self._ended = False
        self._log = port.kafka.event_log()
        self._past = port.kafka.events(
            wanted.type, group=wanted.group, stream=wanted.stream, since=wanted.since
        )
        self._log.followers.append(self._follow)

    def _follow(self, text: str) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self.end()
            return
        self._waiting.append(text)
        self._something.set()

    def end(self) -> None:
        """End the stream."""
        self._ended = True
        self._something.set()
        with suppress(ValueError):
            self._log.followers.remove(self._follow)

    async def chunks(self) -> AsyncIterator[str]:
        """Yield the stream in pieces."""
        try:
            yield ": the event log\n\n"
            for first in range(0, len(self._past), _ENOUGH):
                yield "".join(
                    _event(plain["seq"], json.dumps(plain))
                    for plain in self._past[first : first + _ENOUGH]
                )
            self._past = []
            while True:
                piece = "".join(self._next())
                if piece:
                    yield piece
                    continue
                if self._ended:
                    return
                self._something.clear()
                try:
                    async with asyncio.timeout(KEEP_ALIVE_S):
                        await self._something.wait()
                except TimeoutError:
                    yield ": nothing new\n\n"
        finally:
            self.end()

    def _next(self) -> list[str]:
        found: list[str] = []
        for _ in range(min(len(self._waiting), _ENOUGH)):
            text = self._waiting.popleft()
            plain: dict[str, Any] = json.loads(text)
            if all(plain.get(name) == value for name, value in self._wanted.items()):
                found.append(_event(plain["seq"], text))
        return found


def _event(seq: int, text: str) -> str:
    return f"id: {seq}\ndata: {text}\n\n"
