"""A minimum-cost flow that divides partitions among members with given loads, so that as many as
possible stay with their owners.

Successive shortest paths by Bellman-Ford; the network is too small to need a better algorithm.
Owns the arithmetic; does not depend on what is balanced.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from typing import Final

Arc = list[int]
_TARGET: Final = 0
_ROOM: Final = 1
_COST: Final = 2
_BACK: Final = 3


def most_kept(
    classes: Mapping[tuple[str, str | None], int],
    load_of: Mapping[str, int],
    allowed: Mapping[str, Set[str]],
) -> int:
    """Return how many partitions can stay with their owners, or -1 if the loads are impossible.

    `classes`: the number of partitions of each topic by the owner that may keep them; `allowed`:
    the members that may own partitions of a topic.
    """
    network = _Network()
    for (topic, keeper), size in classes.items():
        network.arc("source", (topic, keeper), size, 0)
        for member in allowed[topic]:
            network.arc((topic, keeper), member, size, -(member == keeper))
    for member, load in load_of.items():
        network.arc(member, "sink", load, 0)
    flow, cost = network.cheapest("source", "sink")
    return -cost if flow == sum(classes.values()) else -1


class _Network:
    """A flow network: arcs with remaining capacity and cost, each with its reverse arc."""

    def __init__(self) -> None:
        self._number: dict[Hashable, int] = {}
        self._arcs: list[list[Arc]] = []

    def arc(self, start: Hashable, end: Hashable, room: int, cost: int) -> None:
        a, b = self._node(start), self._node(end)
        self._arcs[a].append([b, room, cost, len(self._arcs[b])])
        self._arcs[b].append([a, 0, -cost, len(self._arcs[a]) - 1])

    def _node(self, name: Hashable) -> int:
        if name not in self._number:
            self._number[name] = len(self._arcs)
            self._arcs.append([])
        return self._number[name]

    def cheapest(self, source: Hashable, sink: Hashable) -> tuple[int, int]:
        """Return the maximum flow and its minimum cost."""
        start, end = self._node(source), self._node(sink)
        flow = cost = 0
        while path := self._shortest(start, end):
            amount = min(arc[_ROOM] for arc in path)
            for arc in path:
                arc[_ROOM] -= amount
                self._arcs[arc[_TARGET]][arc[_BACK]][_ROOM] += amount
            flow += amount
            cost += amount * sum(arc[_COST] for arc in path)
        return flow, cost

    def _shortest(self, start: int, end: int) -> list[Arc]:
        """Return the arcs of a cheapest path with remaining capacity; empty if there is none."""
        distance = {start: 0}
        through: dict[int, tuple[int, Arc]] = {}
        queue = [start]
        while queue:
            node = queue.pop(0)
            for arc in self._arcs[node]:
                further = distance[node] + arc[_COST]
                if arc[_ROOM] and further < distance.get(arc[_TARGET], further + 1):
                    distance[arc[_TARGET]] = further
                    through[arc[_TARGET]] = node, arc
                    if arc[_TARGET] not in queue:
                        queue.append(arc[_TARGET])
        path: list[Arc] = []
        while end in through and end != start:
            end, arc = through[end]
            path.append(arc)
        return path
