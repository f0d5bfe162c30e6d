"""Fetches that wait for data: their deadlines, and which partitions they watch.

Owns the waiting, nothing of fetching: what waits says itself whether it is `ready` and how to
`complete`. Rules: deadlines are data, `next_deadline` is the earliest; an append looks only at the
fetches that watch the partition; each parked fetch is completed once. Does not depend on requests,
logs, sockets and clocks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Protocol


class Waiting(Protocol):
    """A fetch that waits."""

    @property
    def token(self) -> Hashable:
        """Whose request it is."""

    @property
    def deadline_ms(self) -> int:
        """The instant at which it is answered with whatever there is."""

    @property
    def partitions(self) -> Iterable[tuple[str, int]]:
        """The (topic, index) it watches."""

    def ready(self, woken: tuple[str, int] | None = None) -> bool:
        """True if it has enough data, or a reason not to wait any longer. `woken`: the partition
        that changed, None: perhaps all."""

    def complete(self, now: int) -> None:
        """Answer it."""


class ParkedFetches:
    """All fetches that wait at one broker."""

    def __init__(self) -> None:
        self._parked: dict[Hashable, Waiting] = {}
        self._watching: dict[str, dict[int, dict[Hashable, Waiting]]] = {}
        self._deadlines: list[tuple[int, int, Hashable]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._parked)

    def park(self, fetch: Waiting) -> None:
        """Keep a fetch until its partitions wake it or its deadline passes. Its token must not be
        parked yet."""
        assert fetch.token not in self._parked
        self._parked[fetch.token] = fetch
        token = fetch.token
        for topic, index in fetch.partitions:
            watching = self._watching.get(topic)
            if watching is None:
                watching = self._watching[topic] = {}
            if index in watching:
                watching[index][token] = fetch
            else:
                watching[index] = {token: fetch}
        if (
            len(self._deadlines) > 2 * len(self._parked) + 100
        ):  # most have been completed before their time
            self._deadlines = [entry for entry in self._deadlines if entry[2] in self._parked]
            heapify(self._deadlines)
        self._order += 1
        heappush(self._deadlines, (fetch.deadline_ms, self._order, token))

    def wake(self, topic: str, index: int, now: int) -> None:
        """Records came to a partition, or its log start moved: complete the fetches that are ready
        now."""
        watching = self._watching.get(topic)
        if watching is not None and index in watching:
            for fetch in list(watching[index].values()):
                if fetch.ready((topic, index)):
                    self._complete(fetch, now)

    def wake_topic(self, topic: str, now: int) -> None:
        """A topic was deleted, or its leaders changed: complete whoever watches it and is ready
        now."""
        for index in list(self._watching.get(topic, ())):
            self.wake(topic, index, now)

    def forget(self, token: Hashable) -> None:
        """Its connection closed: nobody waits for the answer."""
        fetch = self._parked.pop(token, None)
        if fetch is not None:
            self._unwatch(fetch)

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
        while self._deadlines and self._deadlines[0][2] not in self._parked:
            heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def tick(self, now: int) -> None:
        """Complete the fetches whose deadline is `now` or earlier, in the order of their
        deadlines."""
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            self._complete(self._parked[heappop(self._deadlines)[2]], now)

    def _complete(self, fetch: Waiting, now: int) -> None:
        if self._parked.pop(fetch.token, None) is not None:
            self._unwatch(fetch)
            fetch.complete(now)

    def _unwatch(self, fetch: Waiting) -> None:
        token = fetch.token
        for topic, index in fetch.partitions:
            watching = self._watching[topic]
            waiting = watching[index]
            waiting.pop(token, None)
            if not waiting:
                del watching[index]
                if not watching:
                    del self._watching[topic]
