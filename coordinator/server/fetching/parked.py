"""Parked fetches: their deadlines, and the partitions that they watch.

Decides when a fetch is completed; the fetch itself knows whether it is `ready` and how to
`complete`. Deadlines are data, `next_deadline` is the earliest; an append checks only the
fetches that watch its partition; each parked fetch is completed once. Does not know requests,
logs, sockets or clocks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Protocol


class Waiting(Protocol):
    """Interface of a request that can be parked, such as a fetch that waits for data."""

    @property
    def token(self) -> Hashable:
        """The token of the request."""

    @property
    def deadline_ms(self) -> int:
        """The instant at which the request is answered with what there is."""

    @property
    def partitions(self) -> Iterable[tuple[str, int]]:
        """The (topic, index) of each partition that the request watches."""

    def ready(self, woken: tuple[str, int] | None = None) -> bool:
        """Return True if the request can be answered: it has enough data, or cannot get it any
        more. `woken`: the partition that changed; None: any may have changed.
        """

    def complete(self, now: int) -> None:
        """Answer the request."""


class ParkedFetches:
    """The parked fetches of one broker."""

    def __init__(self) -> None:
        self._parked: dict[Hashable, Waiting] = {}
        self._watching: dict[str, dict[int, dict[Hashable, Waiting]]] = {}
        self._deadlines: list[tuple[int, int, Hashable]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._parked)

    def park(self, fetch: Waiting) -> None:
        """Park a fetch until its partitions wake it or its deadline passes. Its token must not be
        parked yet.
        """
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
        """Complete the ready fetches that watch a partition whose records or log start offset
        changed.
        """
        watching = self._watching.get(topic)
        if watching is not None and index in watching:
            for fetch in list(watching[index].values()):
                if fetch.ready((topic, index)):
                    self._complete(fetch, now)

    def wake_topic(self, topic: str, now: int) -> None:
        """Complete the ready fetches that watch a topic that was deleted or whose leaders changed."""
        for index in list(self._watching.get(topic, ())):
            self.wake(topic, index, now)

    def forget(self, token: Hashable) -> None:
        """Drop a parked fetch whose connection closed."""
        fetch = self._parked.pop(token, None)
        if fetch is not None:
            self._unwatch(fetch)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None if no fetch is parked."""
        while self._deadlines and self._deadlines[0][2] not in self._parked:
            heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def tick(self, now: int) -> None:
        """Complete the fetches whose deadline has passed, in the order of their deadlines."""
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
