"""The lanes of a picture: one for each process, or for each member id if the log does not tell
processes apart.

A lane has its process's activity (consuming, stopped, standing still, down), the partitions that
it owns by its own lines or as inferred from requests, and whether it believes so wrongly. It
does not read the log: `fold` calls it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Final

from coordinator.history.explain.formatting import printable

from .tracks import Track

Key = tuple[str, int]
"""A partition: topic and number."""
Owned = tuple[tuple[int, ...], bool | str]
"""The owners' lanes, and whether none of them consumes the partition: True if they stand still
or are gone, or if it has no live leader; `SILENT` if its owner may have done nothing."""
OwnerSpan = tuple[int, int, Owned]
"""From, to, and the owners in that time."""
SILENT: Final = "silent"
"""Activity of a member between its last sign of life and its expiry: it may have done nothing."""
GONE: Final = "gone"
"""Activity of a member whose connection has closed: unknown."""

UNKNOWN: Final = "unknown"
"""Activity of a member of another cluster, of which its logs do not tell."""
AWAITED: Final = "awaited"
"""A member of another cluster for which a rebalance waited."""

MOST_NAME: Final = 80
"""Longest name that is shown; a client may choose one of 32 KiB."""


def cut(text: str, most: int) -> str:
    """Return a text of at most so many letters, with dots for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


RUNNING: Final = ("consuming", "stopped", "idle", "stalled", "frozen")


_KINDS: list[str] = []
_NUMBERS: dict[str, int] = {}
"""Kinds of marks, numbered as they first occur."""


class Marks:
    """The events of a lane: instant and kind of each, in the order of the log. A long log has as
    many as lines, so each takes nine bytes."""

    __slots__ = ("_instants", "_kinds")

    def __init__(self) -> None:
        self._instants = array("q")
        self._kinds = array("B")

    def add(self, at_ms: int, kind: str) -> None:
        """Add a mark."""
        number = _NUMBERS.get(kind)
        if number is None:
            number = _NUMBERS[kind] = len(_KINDS)
            _KINDS.append(kind)
        self._instants.append(at_ms)
        self._kinds.append(number)

    def plain(self) -> dict[str, Any]:
        """Return all marks in columns: instants, and numbers of `kinds`."""
        numbers = {number: at for at, number in enumerate(dict.fromkeys(self._kinds))}
        return {
            "at_ms": self._instants.tolist(),
            "kinds": [_KINDS[number] for number in numbers],
            "kind": [numbers[each] for each in self._kinds],
        }


class Lane:
    """One process, or one member id. `index`: its place. `tells`: it logs its own callbacks, so
    nothing is inferred."""

    def __init__(self, index: int, name: str, at_ms: int, client: str = "") -> None:
        self.index = index
        self.name = name
        self.client = client or name
        self.member_id: str | None = None
        self.tells = False
        self.running = True
        self.frozen = False
        self.stalled = False
        self.closed_ms: int | None = None
        """The instant when its connection closed, if it has not sent anything since and does not
        log its own callbacks; else None."""
        self.stopped = False
        """It gave up its partitions for a rebalance and has none yet."""
        self.in_group = False
        self.held: frozenset[Key] = frozenset()
        self.in_hand = False
        """It is a member of a share group and holds records."""
        self.activity: Track[str] = Track()
        self.belief: Track[int] = Track()
        """The number of partitions that it believes to own although it is no member any more."""
        self.leads: Track[bool] = Track()
        self.epoch: Track[int] = Track()
        """Its member epoch, in a consumer group."""
        self.membership: Track[bool] = Track()
        """It is a member of the group."""
        self.marks = Marks()
        self.session_timeout_ms: int | None = None
        self.signs = array("q")
        """Instants at which its session was renewed, as far as the log shows."""
        self.refresh(at_ms)

    def refresh(self, at_ms: int) -> None:
        """Draw the lane again, because something changed."""
        self.activity.set(self._doing(), at_ms)
        self.membership.set(self.in_group or None, at_ms)
        self.belief.set(
            len(self.held) if self.running and self.held and not self.in_group else None, at_ms
        )

    def _doing(self) -> str | None:
        if not self.running:
            return None
        if self.closed_ms is not None:
            return GONE
        if self.frozen:
            return "frozen"
        if self.stalled:
            return "stalled"
        if self.held or self.in_hand:
            return "consuming"
        return "stopped" if self.stopped else "idle"

    @property
    def still(self) -> bool:
        """Return True if it has partitions and does not consume them."""
        return self.running and (self.frozen or self.stalled or self.closed_ms is not None)

    def speaks_again(self) -> None:
        """Note that a process sends again after its connection had closed: it was alive all the
        time."""
        since_ms, self.closed_ms = self.closed_ms, None
        now = self._doing()
        if since_ms is not None and now is not None:
            self.activity.revise(since_ms, lambda does: now if does == GONE else does)

    def was_silent(self, since_ms: int) -> None:
        """Note that a member has expired: its activity since its last sign of life is unknown."""
        self.activity.revise(since_ms, lambda does: SILENT if does == "consuming" else does)

    def plain(self, end_ms: int, label: str) -> dict[str, Any]:
        """Return JSON values; spans are `[from, to, what]`. `member_id`: for actions on the
        member."""
        return {
            "index": self.index,
            "name": self.name,
            "label": cut(printable(label), MOST_NAME),
            "member_id": self.member_id if self.in_group else None,
            "inferred": not self.tells,
            "activity": self.activity.until(end_ms),
            "belief": self.belief.until(end_ms),
            "leads": [row[:2] for row in self.leads.until(end_ms)],
            "member": [row[:2] for row in self.membership.until(end_ms)],
            "epochs": self.epoch.until(end_ms),
            "marks": self.marks.plain(),
            "session_timeout_ms": self.session_timeout_ms,
            "signs": self.signs.tolist(),
        }


class Raster:
    """Owners of partitions over time, including the times when a partition that the group reads
    has no owner."""

    def __init__(self) -> None:
        self._tracks: dict[Key, Track[Owned]] = {}
        self._owners: dict[Key, tuple[int, ...]] = {}
        self._wanted: dict[str, int] = {}
        self._grown: dict[Key, int] = {}
        self._still: set[int] = set()
        """Lanes that stand still."""
        self._leaderless: set[Key] = set()

    def want(self, topic: str, at_ms: int) -> None:
        """Note that the group has agreed to read a topic: from then on its partitions wait for
        an owner."""
        self._wanted.setdefault(topic, at_ms)

    def grow(self, topic: str, numbers: Iterable[int], at_ms: int) -> None:
        """Note that a topic which is read got these partitions."""
        self._grown.update(((topic, number), at_ms) for number in numbers)

    def add(self, lane: Lane, keys: frozenset[Key], at_ms: int) -> None:
        """Add partitions to a lane."""
        for key in keys:
            self._owners[key] = tuple(sorted({*self._owners.get(key, ()), lane.index}))
            self._draw(key, at_ms)

    def remove(self, lane: Lane, keys: frozenset[Key], at_ms: int) -> None:
        """Remove partitions from a lane."""
        for key in keys:
            self._owners[key] = tuple(
                index for index in self._owners.get(key, ()) if index != lane.index
            )
            self._draw(key, at_ms)

    def refresh(self, lane: Lane, at_ms: int) -> None:
        """Note that a lane stands still, or is resumed."""
        (self._still.add if lane.still else self._still.discard)(lane.index)
        for key in lane.held:
            self._draw(key, at_ms)

    def revise(self, lane: Lane, since_ms: int, *, silent: bool) -> None:
        """Change a lane's partitions from `since_ms` on. `silent`: it may have done nothing;
        otherwise it was consuming all the time."""

        def change(owned: Owned) -> Owned:
            owners, still = owned
            if owners != (lane.index,):
                return owned
            return (owners, still or SILENT) if silent else (owners, False)

        for key in lane.held:
            if key not in self._leaderless and key in self._tracks:
                self._tracks[key].revise(since_ms, change)

    def without_leader(self, key: Key, lost: bool, at_ms: int) -> None:
        """Note that a partition lost its live leader, or has one again."""
        (self._leaderless.add if lost else self._leaderless.discard)(key)
        if key in self._tracks:
            self._set(key, at_ms)

    def _draw(self, key: Key, at_ms: int) -> None:
        if key not in self._tracks:
            self._tracks[key] = Track()
            since = max(self._wanted.get(key[0], at_ms), self._grown.get(key, 0))
            self._tracks[key].set(((), False), min(since, at_ms))
        self._set(key, at_ms)

    def _set(self, key: Key, at_ms: int) -> None:
        owners = self._owners[key]
        idle = bool(owners) and (self._still.issuperset(owners) or key in self._leaderless)
        self._tracks[key].set((owners, idle), at_ms)

    def keep_topics(self, topics: frozenset[str], at_ms: int) -> None:
        """End the wait for owners of partitions of topics that are gone."""
        for key, track in self._tracks.items():
            if key[0] not in topics and not self._owners[key]:
                track.set(None, at_ms)

    def plain(self, end_ms: int) -> list[dict[str, Any]]:
        """Return JSON values: a partition's spans are `[from, to, lanes, still]`. Without a lane
        it had no owner although the group agreed to read it. `still`: true if its owner did not
        consume it, "silent" if its owner may not have."""
        return [
            {
                "topic": topic,
                "label": cut(printable(topic), MOST_NAME),
                "partition": number,
                "spans": [
                    (begin, end, owners, still)
                    for begin, end, (owners, still) in self._tracks[topic, number].until(end_ms)
                ],
            }
            for topic, number in sorted(self._tracks)
        ]

    def lost(self, end_ms: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of `lost_ms`, from and to, partition by partition."""
        for track in self._tracks.values():
            for begin, end, (owners, still) in track.until(end_ms):
                if still or not owners:
                    yield begin, end

    def lost_ms(self, end_ms: int) -> int:
        """Return the milliseconds in which a partition that the group had agreed to read was not
        consumed, summed over the partitions: it had no owner, its owner stood still or was gone,
        or no live broker led it. This is an upper bound: the silence of members that expired is
        included."""
        return sum(end - begin for begin, end in self.lost(end_ms))

    def unowned_ms(self, end_ms: int) -> int:
        """Return the part of `lost_ms` in which a partition had no owner although it had had one
        before."""
        return sum(
            end - begin
            for track in self._tracks.values()
            for begin, end, (owners, _) in _since_owned(track.until(end_ms))
            if not owners
        )

    def silent_ms(self, end_ms: int) -> int:
        """Return the part of `lost_ms` that is uncertain: the silence of members that expired."""
        return sum(
            end - begin
            for track in self._tracks.values()
            for begin, end, (_, still) in track.until(end_ms)
            if still == SILENT
        )

    def still_ms(self, end_ms: int) -> int:
        """Return the part of `lost_ms` in which partitions had owners: these stood still, did
        not poll or were gone, or the partition had no live leader."""
        return sum(
            end - begin
            for track in self._tracks.values()
            for begin, end, (_, still) in track.until(end_ms)
            if still
        )


def _since_owned(rows: list[OwnerSpan]) -> list[OwnerSpan]:
    """Return the spans without the wait for the first owner."""
    return rows[1:] if rows and not rows[0][2][0] else rows
