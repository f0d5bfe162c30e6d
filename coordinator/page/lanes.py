"""The lanes of a picture: one for each process, or for each member id where the log does not tell
processes apart.

A lane knows what its process does (consuming, stopped, standing still, down), which partitions it
owns by its own word or as inferred from requests, and whether it believes so against the
coordinator. It does not read the log: `fold` tells it what happened.
"""

from __future__ import annotations

from typing import Any, Final

from .tracks import Track

Key = tuple[str, int]
"""A partition: topic and number."""

RUNNING: Final = ("consuming", "stopped", "idle", "stalled", "frozen")


class Lane:
    """One process, or one member id. `index` is its place; `tells`: it writes its own callbacks, so
    nothing has to be inferred."""

    def __init__(self, index: int, name: str, at_ms: int) -> None:
        self.index = index
        self.name = name
        self.member_id: str | None = None
        self.tells = False
        self.running = True
        self.frozen = False
        self.stalled = False
        self.stopped = False
        """It gave up what it had for a rebalance, and has nothing yet."""
        self.in_group = False
        self.held: frozenset[Key] = frozenset()
        self.activity: Track[str] = Track()
        self.belief: Track[int] = Track()
        """How many partitions it believes that it owns although it is no member any more."""
        self.leads: Track[bool] = Track()
        self.epoch: Track[int] = Track()
        """Its member epoch, in a consumer group."""
        self.membership: Track[bool] = Track()
        """Whether the group has it as a member."""
        self.marks: list[tuple[int, str, int]] = []
        """Instant, kind and line number of what it did or was told."""
        self.session_timeout_ms: int | None = None
        self.signs: list[int] = []
        """Instants at which its session began anew, as far as the log tells."""
        self.refresh(at_ms)

    def refresh(self, at_ms: int) -> None:
        """Something changed: what is drawn follows."""
        self.activity.set(self._doing(), at_ms)
        self.membership.set(self.in_group or None, at_ms)
        self.belief.set(
            len(self.held) if self.running and self.held and not self.in_group else None, at_ms
        )

    def _doing(self) -> str | None:
        if not self.running:
            return None
        if self.frozen:
            return "frozen"
        if self.stalled:
            return "stalled"
        if self.held:
            return "consuming"
        return "stopped" if self.stopped else "idle"

    @property
    def still(self) -> bool:
        """It has partitions and does nothing with them."""
        return self.running and (self.frozen or self.stalled)

    def plain(self, end_ms: int) -> dict[str, Any]:
        """As JSON values; spans are `[from, to, what]`."""
        return {
            "index": self.index,
            "name": self.name,
            "inferred": not self.tells,
            "activity": self.activity.until(end_ms),
            "belief": self.belief.until(end_ms),
            "leads": [row[:2] for row in self.leads.until(end_ms)],
            "member": [row[:2] for row in self.membership.until(end_ms)],
            "epochs": self.epoch.until(end_ms),
            "marks": self.marks,
            "session_timeout_ms": self.session_timeout_ms,
            "signs": self.signs,
        }


class Raster:
    """Partitions over time: who has each, and since when nobody does who once was owned."""

    def __init__(self) -> None:
        self._tracks: dict[Key, Track[tuple[tuple[int, ...], bool]]] = {}
        self._owners: dict[Key, tuple[int, ...]] = {}

    def add(self, lane: Lane, keys: frozenset[Key], at_ms: int) -> None:
        """A lane has these now, too."""
        for key in keys:
            self._owners[key] = tuple(sorted({*self._owners.get(key, ()), lane.index}))
            self._draw(key, lane, at_ms)

    def remove(self, lane: Lane, keys: frozenset[Key], at_ms: int) -> None:
        """A lane has these no longer."""
        for key in keys:
            self._owners[key] = tuple(
                index for index in self._owners.get(key, ()) if index != lane.index
            )
            self._draw(key, lane, at_ms)

    def refresh(self, lane: Lane, at_ms: int) -> None:
        """A lane stands still, or goes on."""
        for key in lane.held:
            self._draw(key, lane, at_ms)

    def _draw(self, key: Key, lane: Lane, at_ms: int) -> None:
        owners = self._owners[key]
        self._tracks.setdefault(key, Track()).set(
            (owners, owners == (lane.index,) and lane.still), at_ms
        )

    def keep_topics(self, topics: frozenset[str], at_ms: int) -> None:
        """Nobody waits for partitions of topics that are gone."""
        for key, track in self._tracks.items():
            if key[0] not in topics and not self._owners[key]:
                track.set(None, at_ms)

    def plain(self, end_ms: int) -> list[dict[str, Any]]:
        """As JSON values: a partition's spans are `[from, to, lanes, still]`; no lane: nobody,
        after somebody had it."""
        return [
            {
                "topic": topic,
                "partition": number,
                "spans": [
                    (begin, end, owners, still)
                    for begin, end, (owners, still) in self._tracks[topic, number].until(end_ms)
                ],
            }
            for topic, number in sorted(self._tracks)
        ]

    def lost_ms(self, end_ms: int) -> int:
        """Milliseconds without an owner, summed over the partitions, from each one's first owner
        on."""
        return sum(
            end - begin
            for track in self._tracks.values()
            for begin, end, (owners, _) in track.until(end_ms)
            if not owners
        )

    def still_ms(self, end_ms: int) -> int:
        """Milliseconds in which the only owner stood still, summed over the partitions."""
        return sum(
            end - begin
            for track in self._tracks.values()
            for begin, end, (_, still) in track.until(end_ms)
            if still
        )
