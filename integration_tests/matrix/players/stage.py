"""What the players in Python have in common: orders in, answers out, polls in between. Needs nothing
but the standard library, so that it runs in any environment."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol


class Read(NamedTuple):
    """A record that was read."""

    partition: int
    offset: int
    value: str


class Wanted(NamedTuple):
    """What a player is called with."""

    address: str
    group: str
    topic: str
    protocol: str
    instance: str | None = None


class Member(Protocol):
    """A member of a group, made by a library."""

    def poll(self) -> Iterable[Read]: ...

    def commit(self) -> None: ...

    def release(self) -> None: ...

    def transact(self, out: str, read: list[Read], *, commits: bool) -> None: ...

    def close(self) -> None: ...


def play(member_of: Callable[[Wanted], Member]) -> None:
    """The whole life of a player."""
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            orders.put(line.strip())
        orders.put("leave")

    threading.Thread(target=listen, daemon=True).start()
    try:
        _obey(member_of(Wanted(*sys.argv[1:])), orders)
    except Exception as error:
        print(f"failed {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
        raise


def _obey(member: Member, orders: queue.SimpleQueue[str]) -> None:
    read: list[Read] = []
    while True:
        for record in member.poll():
            read.append(record)
            print("read", *record, flush=True)
        if orders.empty():
            continue
        match orders.get().split():
            case ["commit"]:
                member.commit()
                read.clear()
            case ["release"]:
                member.release()
                read.clear()
            case ["transact", out, "commit"]:
                member.transact(out, read, commits=True)
                read.clear()
            case ["transact", out, "abort"]:
                member.transact(out, read, commits=False)
            case _:
                member.close()
                return
        print("done", flush=True)


def next_offsets(read: list[Read]) -> dict[int, int]:
    """What is committed for records that were read, by partition."""
    found: dict[int, int] = {}
    for record in read:
        found[record.partition] = max(found.get(record.partition, 0), record.offset + 1)
    return found
