"""An agent's frame: reads commands, gives every member a thread, writes replies and events.

Owns standard input and output, and the order of lines. Does not depend on any client library: each
gives a `Library` and a `Consumer`. The contract is `integration_tests.clients.agent_protocol`.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol

from coordinator.base.errors import ErrorCode

AFTER_FAILURE_S = 0.1


class Partition(NamedTuple):
    """A topic and a partition's number."""

    topic: str
    partition: int


Positions = dict[Partition, int | None]
Value = Any


class Record(NamedTuple):
    """One record consumed."""

    topic: str
    partition: int
    offset: int
    value: str


class Unsupported(Exception):
    """The library has no such call."""


class Listener:
    """What a consumer's rebalance listener calls; it writes the events. `commits`: the story wants
    a commit inside revoked."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell
        self.commits = False

    def assigned(self, partitions: Iterable[Any]) -> None:
        """The library called its listener with these."""
        self._tell("assigned", partitions=_sorted(partitions))

    def revoked(self, partitions: Iterable[Any]) -> None:
        """As above. Where `commits` is set a commit of the positions must follow, inside
        `committing`."""
        self._tell("revoked", partitions=_sorted(partitions))

    def lost(self, partitions: Iterable[Any]) -> None:
        """As above."""
        self._tell("lost", partitions=_sorted(partitions))

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Writes what became of the commit inside."""
        try:
            yield
        except Exception as error:
            self._tell("committed in revoked", error=name_of(error))
        else:
            self._tell("committed in revoked", result=None)


class Consumer(Protocol):
    """One consumer of a library; every method may raise the library's errors."""

    def subscribe(self, topics: list[str], pattern: str | None) -> None: ...
    def assign(self, partitions: list[Partition]) -> None: ...
    def unsubscribe(self) -> None: ...
    def poll(self, timeout_ms: int) -> list[Record]: ...
    def pause(self, partitions: list[Partition]) -> None: ...
    def resume(self, partitions: list[Partition]) -> None: ...
    def seek(self, partition: Partition, offset: int) -> None: ...
    def seek_to_beginning(self, partitions: list[Partition]) -> None: ...
    def seek_to_end(self, partitions: list[Partition]) -> None: ...
    def commit(self, offsets: dict[Partition, int] | None) -> None: ...
    def committed(self, partitions: list[Partition]) -> Positions: ...
    def position(self, partitions: list[Partition]) -> Positions: ...
    def beginning_offsets(self, partitions: list[Partition]) -> Positions: ...
    def end_offsets(self, partitions: list[Partition]) -> Positions: ...
    def offsets_for_times(self, times: dict[Partition, int]) -> Positions: ...
    def assignment(self) -> Iterable[Any]: ...
    def paused(self) -> Iterable[Any]: ...
    def subscription(self) -> Iterable[str]: ...
    def member_id(self) -> str | None: ...
    def close(self) -> None: ...


class Library(Protocol):
    """A client library, as the host needs it."""

    version: str
    poll_ms: int

    def consumer(self, config: dict[str, Any], listener: Listener) -> Consumer:
        """A new consumer. Errors are the library's."""

    def produce(self, bootstrap: str, records: list[tuple[str, int, str, int | None]]) -> list[int]:
        """Produce with acks=all; the offset of each record, in the order given."""


def name_of(error: BaseException) -> str:
    """An error by its name, as the contract has it."""
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0 and not isinstance(error, OSError):
        return ErrorCode(number).name
    named = getattr(error, "kafka_name", None)
    if isinstance(named, str):
        return named
    name = type(error).__name__
    return name.removesuffix("Error").removesuffix("Exception") or name


def _sorted(partitions: Iterable[Any]) -> list[list[Any]]:
    return sorted([tp.topic, tp.partition] for tp in partitions)


def _table(offsets: Positions) -> list[list[Any]]:
    return sorted([topic, partition, offset] for (topic, partition), offset in offsets.items())


def _partitions(command: dict[str, Any]) -> list[Partition]:
    return [Partition(*tp) for tp in command["partitions"]]


def _subscribe(consumer: Consumer, listener: Listener, command: dict[str, Any]) -> None:
    listener.commits = command.get("on_revoked") == "commit"
    consumer.subscribe(command.get("topics", []), command.get("pattern"))


_COMMANDS: dict[str, Callable[[Consumer, Listener, dict[str, Any]], Value]] = {
    "subscribe": _subscribe,
    "assign": lambda c, _, x: c.assign(_partitions(x)),
    "unsubscribe": lambda c, _, x: c.unsubscribe(),
    "pause": lambda c, _, x: c.pause(_partitions(x)),
    "resume": lambda c, _, x: c.resume(_partitions(x)),
    "seek": lambda c, _, x: c.seek(Partition(*x["partition"]), x["offset"]),
    "seek_to_beginning": lambda c, _, x: c.seek_to_beginning(_partitions(x)),
    "seek_to_end": lambda c, _, x: c.seek_to_end(_partitions(x)),
    "commit": lambda c, _, x: c.commit(
        {Partition(t, p): o for t, p, o in x["offsets"]} if "offsets" in x else None
    ),
    "committed": lambda c, _, x: _table(c.committed(_partitions(x))),
    "position": lambda c, _, x: _table(c.position(_partitions(x))),
    "beginning_offsets": lambda c, _, x: _table(c.beginning_offsets(_partitions(x))),
    "end_offsets": lambda c, _, x: _table(c.end_offsets(_partitions(x))),
    "offsets_for_times": lambda c, _, x: _table(
        c.offsets_for_times({Partition(t, p): at for t, p, at in x["times"]})
    ),
    "assignment": lambda c, _, x: _sorted(c.assignment()),
    "paused": lambda c, _, x: _sorted(c.paused()),
    "subscription": lambda c, _, x: sorted(c.subscription()),
    "member_id": lambda c, _, x: c.member_id(),
    "close": lambda c, _, x: c.close(),
}


class Member:
    """One consumer and its thread."""

    def __init__(self, host: Host, name: str) -> None:
        self.name = name
        self.commands: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._host = host
        self._polling = False
        self._failed = ""
        threading.Thread(target=self._live, name=name, daemon=True).start()

    def _tell(self, event: str, **what: Value) -> None:
        self._host.write({"event": event, "member": self.name, **what})

    def _live(self) -> None:
        listener = Listener(self._tell)
        create = self.commands.get()
        consumer = self._host.reply_with(
            create, lambda: self._host.library.consumer(create["config"], listener), quiet=True
        )
        if consumer is None:
            return
        while True:
            command = self._next()
            if command is None:
                self._poll(consumer)
            elif command["do"] == "poll":
                self._polling = command["on"]
                self._host.write({"reply": command["id"], "result": None})
            else:
                self._host.reply_with(
                    command, partial(_COMMANDS[command["do"]], consumer, listener, command)
                )
                if command["do"] == "close":
                    return

    def _next(self) -> dict[str, Any] | None:
        try:
            return self.commands.get(block=not self._polling)
        except queue.Empty:
            return None

    def _poll(self, consumer: Consumer) -> None:
        try:
            records = consumer.poll(self._host.library.poll_ms)
        except Exception as error:
            name = name_of(error)
            if name != self._failed:
                self._failed = name
                self._tell("poll failed", error=name)
            time.sleep(AFTER_FAILURE_S)
            return
        self._failed = ""
        if records:
            self._tell("records", records=[list(record) for record in records])


class Host:
    """The agent."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._output = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        self._lock = threading.Lock()
        self._members: dict[str, Member] = {}
        sys.stdout = sys.stderr  # a library that prints must not disturb the lines

    def write(self, line: dict[str, Any]) -> None:
        """One line out."""
        with self._lock:
            self._output.write(json.dumps(line) + "\n")
            self._output.flush()

    def reply_with(
        self, command: dict[str, Any], call: Callable[[], Value], *, quiet: bool = False
    ) -> Value:
        """Call, reply with what it returned (null if `quiet`) or raised; its result, None if it
        raised."""
        try:
            result = call()
        except Exception as error:
            traceback.print_exc()
            self.write({"reply": command["id"], "error": name_of(error)})
            return None
        self.write({"reply": command["id"], "result": None if quiet else result})
        return result

    def run(self) -> None:
        """Obey until the input ends; then the process ends at once."""
        self.write({"ready": self.library.version})
        producing: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(
            target=self._produce, args=[producing], name="producer", daemon=True
        ).start()
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "produce":
                producing.put(command)
            elif command["do"] == "wakeup":
                self.write({"reply": command["id"], "error": "Unsupported"})
            else:
                name = command["member"]
                if command["do"] == "create":
                    self._members[name] = Member(self, name)
                self._members[name].commands.put(command)
        os._exit(0)

    def _produce(self, commands: queue.SimpleQueue[dict[str, Any]]) -> None:
        while True:
            command = commands.get()
            self.reply_with(command, partial(self._produced, command))

    def _produced(self, command: dict[str, Any]) -> Value:
        records = [(t, p, value, at) for t, p, value, at in command["records"]]
        spans: dict[Partition, list[int]] = {}
        for (topic, partition, _, _), offset in zip(
            records, self.library.produce(command["bootstrap"], records), strict=True
        ):
            spans.setdefault(Partition(topic, partition), []).append(offset)
        return sorted([*tp, min(offsets), max(offsets)] for tp, offsets in spans.items())


def main(library: Library) -> None:
    """The whole life of an agent."""
    Host(library).run()
