"""The event log as a Kafka topic: each line of the file becomes a record, in order (`coordinator
serve --log-topic`).

The publisher follows the log's file on the serving loop, with a producer of `members`. Rules:

- Nothing is dropped: while the brokers accept no records, the file is not read further. At most
`MOST_LINES` and `MOST_BYTES` wait.
- All records go to partition 0, so that they stay in order. The producer is idempotent: a batch
that is sent again is written once. If an error ends the producer, a new one begins with the first
line that was not acknowledged. Lines may then be written twice; a reader recognises them by `run`
and `seq`.
- Lines about the publisher's own requests are not published: on the emulator itself publishing
would never end. Lines of more than `MOST_LINE_BYTES`, which Kafka would refuse (max.message.bytes),
are not published either; they are counted and reported.

This module knows the log's file alone, not the code that writes it.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from time import time
from typing import TYPE_CHECKING, Final, NamedTuple

from assignors import TopicPartition
from coordinator.members.faults import MemberFault
from coordinator.members.live.producing import LiveProducer
from coordinator.members.live.transport import LiveTransport
from coordinator.members.producers.config import ProducerConfig
from coordinator.members.producers.produced import Delivered

if TYPE_CHECKING:
    from coordinator.members.live.wire import Entry

CLIENT_ID: Final = "coordinator-event-log"
MOST_LINES: Final = 5_000
MOST_BYTES: Final = 4 << 20
MOST_LINE_BYTES: Final = 1_000_000
_OURS: Final = f'"client":"{CLIENT_ID}"'.encode()
_READ_BYTES: Final = 1 << 18
_LOOK_S: Final = 0.05
_SILENT_S: Final = 10.0
_MOST_TRIES: Final = 5
_A_DAY_MS: Final = 86_400_000


class Line(NamedTuple):
    """A whole line of the file without its newline, and the offsets of its beginning and end."""

    begin: int
    end: int
    text: bytes


class Tail:
    """Reads the whole lines of a growing file, from an offset on."""

    def __init__(self, path: str, offset: int = 0) -> None:
        self._path = path
        self.offset = offset

    def take(self, most_bytes: int = _READ_BYTES) -> list[Line]:
        """Return the next lines, about `most_bytes` of them; empty if there is no whole line.
        Raises OSError."""
        with open(self._path, "rb") as file:
            file.seek(self.offset)
            data = file.read(most_bytes)
            while data and b"\n" not in data and (more := file.read(most_bytes)):
                data += more
        found = []
        for text in data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]:
            found.append(Line(self.offset, self.offset + len(text) + 1, text))
            self.offset += len(text) + 1
        return found


class LogPublisher:
    """Publishes one log: `start` it on the running loop, `stop` ends it. Raises AddressError for
    a malformed bootstrap. `offset`: where in the file to begin. `routes`, `entry`: see
    `LiveTransport`. `tell`: called with sentences about failures."""

    def __init__(
        self,
        path: str,
        bootstrap: str,
        topic: str,
        *,
        offset: int = 0,
        tell: Callable[[str], None] = lambda text: None,
        routes: Mapping[tuple[str, int], tuple[str, int]] | None = None,
        entry: Entry | None = None,
        most_lines: int = MOST_LINES,
    ) -> None:
        self.published = 0
        """Number of lines that brokers acknowledged."""
        self.left_out = 0
        """Number of lines that were too long to be published."""
        self.ended: str | None = None
        """The reason why publishing ended, or None while it goes on."""
        self._place = TopicPartition(topic, 0)
        self._bootstrap = bootstrap
        self._tell = tell
        self._most_lines = most_lines
        self._transport = LiveTransport(bootstrap, CLIENT_ID, routes, entry)
        self._tail = Tail(path, offset)
        self._waiting: deque[tuple[int, Line]] = deque()
        self._waiting_bytes = 0
        self._fault: MemberFault | None = None
        self._tries = 0
        self._woken = asyncio.Event()
        self._at_end = asyncio.Event()
        self._finishing = False
        self._task: asyncio.Task[None] | None = None
        self._progress_at = self._transport.loop.time()
        self._silence_told = False
        self._producer = self._new_producer()

    def start(self) -> None:
        """Start publishing."""
        self._producer.want(self._place.topic)
        self._task = self._transport.loop.create_task(self._run())

    @property
    def waiting(self) -> int:
        """Number of lines that were read and are not acknowledged yet."""
        return len(self._waiting)

    async def caught_up(self) -> None:
        """Wait until everything that is in the file now is published, or publishing has ended."""
        for _ in range(2):  # the first look at the file's end may have begun before
            self._at_end.clear()
            self._woken.set()
            if self._task is None or self._task.done():
                return
            await self._at_end.wait()

    async def stop(self, silence_s: float = 8.0) -> bool:
        """Publish the rest and end, but give up if no record is acknowledged for `silence_s`.
        Return True if everything was published."""
        self._finishing = True
        self._woken.set()
        loop, task = self._transport.loop, self._task
        self._progress_at = loop.time()
        while (
            task is not None
            and not task.done()
            and (left := self._progress_at + silence_s - loop.time()) > 0
        ):
            await asyncio.wait([task], timeout=left)
        done = task is not None and task.done()
        if task is not None:
            task.cancel()
        self._producer.close()
        self._at_end.set()
        return done and self.ended is None

    # -- the work

    async def _run(self) -> None:
        try:
            while self.ended is None:
                if self._fault is not None:
                    await self._begin_again(self._fault)
                elif len(self._waiting) >= self._most_lines or self._waiting_bytes >= MOST_BYTES:
                    await self._woken_within(1.0)
                else:
                    lines = await asyncio.to_thread(self._tail.take)
                    if lines:
                        self._queue(lines)
                    elif not self._waiting:
                        self._at_end.set()
                        if self._finishing:
                            return
                        self._progress_at = self._transport.loop.time()
                        await self._woken_within(_LOOK_S)
                    else:
                        await self._woken_within(_LOOK_S)
                self._tell_silence()
        except OSError as error:
            self._end(f"its file cannot be read: {error.strerror or error}")
        finally:
            self._at_end.set()

    async def _woken_within(self, seconds: float) -> None:
        self._woken.clear()
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            pass

    def _queue(self, lines: list[Line]) -> None:
        for line in lines:
            if len(line.text) > MOST_LINE_BYTES:
                self.left_out += 1
                self._tell(
                    f"event log: a line of {len(line.text):,} bytes is too long for a record; it is only in the file"
                )
            elif not (_OURS in line.text and _is_ours(line.text)):
                try:
                    ticket = self._producer.send(self._place, line.text)
                except MemberFault as fault:
                    self._fault = fault
                    self._tail.offset = line.begin
                    return
                self._waiting.append((ticket, line))
                self._waiting_bytes += len(line.text)
        self._producer.turn()

    def _new_producer(self) -> LiveProducer:
        config = ProducerConfig(
            client_id=CLIENT_ID, linger_ms=10, batch_size=1 << 16, delivery_timeout_ms=_A_DAY_MS
        )
        return LiveProducer(self._transport, config, self._delivered, wall_ms=int(time() * 1000))

    def _delivered(self, told: Delivered) -> None:
        self._woken.set()
        if self._fault is not None:
            return
        if told.fault is not None:
            self._fault = told.fault
            return
        for ticket in told.tickets:
            expected, line = self._waiting.popleft()
            assert ticket == expected
            self._waiting_bytes -= len(line.text)
        self.published += len(told.tickets)
        self._tries = 0
        self._progress_at = self._transport.loop.time()
        if self._silence_told:
            self._silence_told = False
            self._tell("event log: publishing continues")

    async def _begin_again(self, fault: MemberFault) -> None:
        """Replace a failed producer by a new one, which begins with the first line that was not
        acknowledged."""
        self._tries += 1
        if self._tries > _MOST_TRIES:
            self._end(str(fault))
            return
        self._producer.close()
        await asyncio.sleep(0.1 * 2**self._tries)
        if self._waiting:
            self._tail.offset = self._waiting[0][1].begin
        self._waiting.clear()
        self._waiting_bytes = 0
        self._fault = None
        self._producer = self._new_producer()

    def _end(self, why: str) -> None:
        self.ended = why
        self._tell(
            f"event log: publishing to topic {self._place.topic} has ended: {why}; {self.published:,} lines are published, "
            "the log continues in its file"
        )

    def _tell_silence(self) -> None:
        if (
            self._waiting
            and not self._silence_told
            and self._transport.loop.time() - self._progress_at > _SILENT_S
        ):
            self._silence_told = True
            self._tell(
                f"event log: {self._bootstrap} has taken no record of topic {self._place.topic} for {_SILENT_S:g} s: does it run, "
                "and does it have this topic? The log continues in its file and is published from there"
            )


def _is_ours(text: bytes) -> bool:
    try:
        plain = json.loads(text)
    except ValueError:
        return False
    return isinstance(plain, dict) and plain.get("client") == CLIENT_ID
