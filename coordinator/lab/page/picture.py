"""A folded log as plain JSON values: everything that the page draws, so that the page computes
nothing.

`Picture.plain` has all groups with their bands, lanes and rasters, and the steps of a log that
is not too long; `Picture.steps` has further steps on demand. Instants are whole milliseconds
since the run's zero. `fold.py` does the reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from coordinator.events.faults import FaultInjected
from coordinator.events.line import Line
from coordinator.events.run import RunStarted
from coordinator.history.explain.formatting import printable
from coordinator.history.world.views import GroupView

from ..named import api_of, client_of
from .fields import fields_of
from .fold import Fold, GroupPicture
from .in_pieces import Rows, whole
from .lanes import MOST_NAME, cut, raster
from .line_sentences import Teller
from .long_logs import Commits, Steps, by_seq
from .verdict import verdict

VERSION: Final = 1
_MOST_WORDS: Final = 1000
"""Longest sentence in letters: clients choose their names, and some are long."""
MOST_STEPS_AT_ONCE: Final = 4000
"""For a longer log sentences are made on demand."""
_NOT_OF_A_PULSE: Final = frozenset({"fault", "action", "seat", "cause"})
"""Fields of a request that was only observed: they are about the observation."""
_CONTEXT: Final = 2000
"""Number of steps before the first one that are searched for the request of a response."""


class Picture:
    """A log that can be drawn. Feed it more lines as the log grows."""

    def __init__(self, lines: Iterable[Line] = (), steps: Steps | None = None) -> None:
        self.fold = Fold(steps).feed_all(lines)
        self.commits = Commits()
        """Commits that the reader of a long log counted instead of folding."""

    def plain(self) -> dict[str, Any]:
        """Return everything that is drawn, including the steps if they are not too many."""
        plain: dict[str, Any] = whole(self.values())
        return plain

    def values(self) -> dict[str, Any]:
        """Return the same, to be written piece by piece."""
        timeline = self.fold.timeline
        header, end_ms = timeline.header, timeline.end_ms
        began: RunStarted | None = None if header is None else header.event
        count = len(self.fold.steps)
        self.commits.tell(timeline)
        return {
            "version": VERSION,
            "run": printable("" if header is None else header.run),
            "product": printable("" if began is None else began.product),
            "seed": None if began is None else began.seed,
            "end_ms": end_ms,
            "groups": Rows(self._group(group, end_ms) for group in self.fold.groups.values()),
            "replicas": [
                {
                    "topic": topic,
                    "partition": number,
                    "name": printable(f"{topic}-{number}"),
                    "spans": [
                        (begin, end, each.plain()) for begin, end, each in track.until(end_ms)
                    ],
                }
                for (topic, number), track in sorted(self.fold.replicas.items())
            ],
            "step_count": count,
            "steps": self.steps(0, count) if count <= MOST_STEPS_AT_ONCE else [],
            "step_index": [] if count <= MOST_STEPS_AT_ONCE else Rows(self.fold.steps.instants()),
            "commits_not_drawn": self.commits.count,
        }

    def steps(self, begin: int, end: int) -> list[dict[str, Any]]:
        """Return some of the steps, with sentences and fields."""
        steps = self.fold.steps
        before = steps.read(max(0, begin - _CONTEXT), begin)
        lines = steps.read(begin, end)
        teller = Teller(self.fold.timeline, by_seq([*before, *lines]), self.fold.reassignments)
        labels = {name: group.labels() for name, group in self.fold.groups.items()}
        return [self._step(line, teller, labels) for line in lines]

    def _step(self, line: Line, teller: Teller, labels: dict[str, list[str]]) -> dict[str, Any]:
        groups = self.fold.groups
        picture = groups.get(line.group or "")
        lane = picture.known(line) if picture is not None else None
        say = teller.sentence(line)
        if picture is not None:
            say = picture.with_names(say, labels[picture.name])
        if lane is None and client_of(line) is not None:
            lane = next(
                (found for each in groups.values() if (found := each.known(line)) is not None), None
            )
        event = line.event if line.kind is FaultInjected else None
        pulse = isinstance(event, FaultInjected) and event.action == "observe"
        return {
            "seq": line.seq,
            "at_ms": line.at_ms,
            "stream": printable(line.stream),
            "type": printable((api_of(line) or "") if pulse else line.name),
            "group": line.group,
            "lane": lane.index if lane is not None else None,
            "cause": line.cause,
            "message": line.stream == "wire" or pulse,
            "say": cut(say, _MOST_WORDS),
            "fields": fields_of(line, _NOT_OF_A_PULSE if pulse else frozenset()),
        }

    def _group(self, group: GroupPicture, end_ms: int) -> dict[str, Any]:
        view = self.fold.timeline.groups.get(group.name)
        partitions, lost = (
            group.activity.partitions,
            self.fold.timeline.lost_time.of(group.name, end_ms),
        )
        shares = view is not None and view.share is not None
        return {
            "group": group.name,
            "name": cut(printable(group.name), MOST_NAME),
            "protocol": "classic"
            if view is None
            else view.seen_protocol
            if view.seen_protocol is not None
            else "consumer"
            if view.consumer is not None
            else "share"
            if view.share is not None
            else "classic",
            "states": group.state.until(end_ms),
            "numbers": group.number.until(end_ms),
            "brokers": group.broker.until(end_ms),
            "assignors": group.assignor.until(end_ms),
            "deadlines": [asdict(each) for each in group.deadlines.all],
            "lanes": Rows(
                lane.plain(end_ms, label)
                for lane, label in zip(group.lanes, group.labels(), strict=True)
            ),
            "raster": [] if shares else raster(partitions, end_ms),
            **self._shared(group, view, end_ms),
            "verdict": verdict(view, group, end_ms),
            "lost_partition_ms": lost.most_ms,
            "unowned_partition_ms": 0 if shares else partitions.unowned_ms(end_ms),
            "silent_partition_ms": lost.most_ms - lost.least_ms,
            "still_partition_ms": partitions.still_ms(end_ms),
        }

    def _shared(self, group: GroupPicture, view: GroupView | None, end_ms: int) -> dict[str, Any]:
        """Return what a share group has in addition: the records of its share partitions."""
        if view is None or view.share is None:
            return {}
        return {
            "queues": self.fold.queues.plain(group.name, group.lane_of_id, end_ms),
            "delivered_again": self.fold.queues.again(group.name),
        }
