"""What every client library must be able to do against the server: the same story, told once.

A library's test file gives a `Library` (how it produces, consumes, administers) and inherits
`ClientStory`. All calls block; nothing waits without a deadline. kafka-python must not be polled
with less than 50 ms: it can spin for ever unassigned.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from coordinator import Emulator

DEADLINE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
POLL_MS = 100
SESSION_MS = 30_000
"""Longer than a busy machine lets any thread stand still: no session ends by chance."""


class Member(ABC):
    """A consumer in a group, reading from the earliest offset, committing by hand, with the range
    assignor."""

    @abstractmethod
    def poll(self) -> list[str]:
        """Values of the records that came within `POLL_MS`."""

    @abstractmethod
    def owned(self) -> set[int]:
        """The partitions it has."""

    @abstractmethod
    def commit(self) -> None:
        """Commit where it has got to, and wait for that."""

    @abstractmethod
    def committed(self, partition: int) -> int | None:
        """The group's committed offset."""

    @abstractmethod
    def leave(self) -> None:
        """Close with a goodbye."""


class Library(ABC):
    """A client library, pointed at one server."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers

    @abstractmethod
    def produce(self, topic: str, values: list[str]) -> None:
        """Write records and wait until all are acknowledged."""

    @abstractmethod
    def member(self, group: str, topic: str) -> Member:
        """A new consumer."""

    @abstractmethod
    def create_topic(self, topic: str, partitions: int) -> None:
        """Create a topic and wait."""

    @abstractmethod
    def topics(self) -> dict[str, int]:
        """Number of partitions by topic, without internal topics."""

    @abstractmethod
    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions up to that number."""

    @abstractmethod
    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""

    @abstractmethod
    def topic_config(self, topic: str, name: str) -> str:
        """A topic's configuration value."""

    @abstractmethod
    def set_topic_config(self, topic: str, name: str, value: str) -> None:
        """Change a topic's configuration."""

    @abstractmethod
    def groups(self) -> set[str]:
        """All group ids."""

    @abstractmethod
    def group(self, group: str) -> tuple[str, int]:
        """State and number of members."""

    @abstractmethod
    def group_offsets(self, group: str) -> dict[int, int]:
        """Committed offset by partition."""

    def delete_group(self, group: str) -> None:
        """Delete a group; libraries that cannot skip this."""
        pytest.skip("the library cannot delete groups")

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete the records below an offset; libraries that cannot skip this."""
        pytest.skip("the library cannot delete records")

    def close(self) -> None:  # noqa: B027 (some have nothing to close)
        """Close what is left open."""


def until(
    what: str, condition: Callable[[], bool], *members: Member, seen: list[str] | None = None
) -> None:
    """Poll the members until the condition holds; what they read is added to `seen`.

    They poll at the same time: a member that joins waits for the others, and the poll of
    kafka-python's leader must not end before that (tests/lost_joins.py).
    """
    end = time.monotonic() + DEADLINE_S
    with ThreadPoolExecutor(max(len(members), 1)) as pool:
        while not condition():
            assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
            for values in pool.map(lambda member: member.poll(), members):
                if seen is not None:
                    seen += values


class ClientStory:
    """The tests. `library` is the class under test."""

    library: type[Library]

    @pytest.fixture
    def kafka(self) -> Iterator[Emulator]:
        with Emulator({"orders": 4}, {"group.min.session.timeout.ms": 100}) as kafka:
            yield kafka

    @pytest.fixture
    def client(self, kafka: Emulator) -> Iterator[Library]:
        client = self.library(kafka.bootstrap_servers)
        yield client
        client.close()

    @pytest.fixture
    def stack(self) -> Iterator[ExitStack]:
        with ExitStack() as stack:
            yield stack

    def test_produces_consumes_commits_and_resumes(self, client: Library, stack: ExitStack) -> None:
        """OC-1, OF-1: what was committed is where the next member starts."""
        values = [f"v{i}" for i in range(100)]
        client.produce("orders", values)
        first = client.member("readers", "orders")
        seen: list[str] = []
        until("all records read", lambda: len(seen) >= 100, first, seen=seen)
        assert sorted(seen) == sorted(values)
        first.commit()
        first.leave()
        client.produce("orders", ["late"])
        second = client.member("readers", "orders")
        stack.callback(second.leave)
        again: list[str] = []
        until("the late record read", lambda: bool(again), second, seen=again)
        assert again == ["late"]
        assert sum(second.committed(partition) or 0 for partition in range(4)) == 100
        assert sum(max(offset, 0) for offset in client.group_offsets("readers").values()) == 100

    def test_rebalances(self, kafka: Emulator, client: Library) -> None:
        """REB-1, LV-4: everybody has a share, and the one who stays has everything; the server sees
        the same."""
        one = client.member("movers", "orders")
        until("the first owns all", lambda: one.owned() == {0, 1, 2, 3}, one)
        two = client.member("movers", "orders")
        until("both own half", lambda: len(one.owned()) == len(two.owned()) == 2, one, two)
        assert one.owned() | two.owned() == {0, 1, 2, 3}
        until("the server says so", lambda: client.group("movers") == ("Stable", 2), one, two)

        def view() -> tuple[str, int]:
            group = kafka.coordinator.groups["movers"]
            return str(group.state.value), len(group.members)

        until("the server has both", lambda: kafka.run(view) == ("Stable", 2), one, two)
        one.leave()
        until("the second owns all", lambda: two.owned() == {0, 1, 2, 3}, two)
        two.leave()
        until("the group is empty", lambda: client.group("movers") == ("Empty", 0))

    def test_a_growing_topic_is_noticed(self, client: Library, stack: ExitStack) -> None:
        member = client.member("growers", "orders")
        stack.callback(member.leave)
        until("all owned", lambda: member.owned() == {0, 1, 2, 3}, member)
        client.grow("orders", 6)
        assert client.topics()["orders"] == 6
        until("the new partitions are owned", lambda: member.owned() == set(range(6)), member)

    def test_administers_topics(self, client: Library) -> None:
        client.create_topic("payments", 3)
        assert client.topics() == {"orders": 4, "payments": 3}
        assert client.topic_config("payments", "max.message.bytes") == "1048588"
        client.set_topic_config("payments", "max.message.bytes", "2000")
        assert client.topic_config("payments", "max.message.bytes") == "2000"
        client.delete_topic("payments")
        assert client.topics() == {"orders": 4}

    def test_administers_groups(self, client: Library) -> None:
        client.produce("orders", ["a", "b", "c"])
        member = client.member("watched", "orders")
        seen: list[str] = []
        until("all read", lambda: len(seen) == 3, member, seen=seen)
        member.commit()
        assert client.groups() == {"watched"}
        until("the server says so", lambda: client.group("watched") == ("Stable", 1), member)
        member.leave()
        until("the group is empty", lambda: client.group("watched") == ("Empty", 0))
        client.delete_group("watched")
        assert client.groups() == set()

    def test_deletes_records(self, client: Library, stack: ExitStack) -> None:
        client.create_topic("short", 1)
        client.produce("short", ["a", "b", "c", "d"])
        client.delete_records("short", 0, 3)
        member = client.member("late", "short")
        stack.callback(member.leave)
        seen: list[str] = []
        until("the rest read", lambda: bool(seen), member, seen=seen)
        assert seen == ["d"]

    def test_a_topic_is_made_by_writing_to_it(self, client: Library) -> None:
        """auto.create.topics.enable"""
        client.produce("fresh", ["a"])
        assert client.topics()["fresh"] == 1


def text(value: Any) -> str:
    """A record's value."""
    assert isinstance(value, bytes)
    return value.decode()
