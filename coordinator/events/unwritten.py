"""A log that is not written: a function gets each line at once, with its event.

For a simulation whose log is judged or folded while it runs, and not needed afterwards: no text
and no dictionaries are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.base.releases import NEWEST

from .line import Line
from .vocabulary import type_of
from .writer import EventLog


class UnwrittenLog(EventLog):
    """An event log of one run, which calls `take` with every line, the header first. `wire`:
    whether that includes the lines about requests, which are more than half of all.
    """

    def __init__(
        self,
        take: Callable[[Line], None],
        *,
        seed: int | None = None,
        epoch_ms: int = 0,
        wire: bool = True,
        kafka_version: str = NEWEST.number,
    ) -> None:
        super().__init__(seed=seed, epoch_ms=epoch_ms, kafka_version=kafka_version)
        self.wire = wire
        self._take = take
        self.lines.clear()
        take(self.header)

    def append(
        self,
        event: Any,
        *,
        at_ms: int,
        cause: int | None = None,
        group: str | None = None,
        generation: int | None = None,
        member: str | None = None,
        broker: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> int:
        """Hand on the line of an event and return its number, as `EventLog.append` does."""
        type_ = type_of(event)
        self.seq = seq = self.seq + 1
        places = type_.places(event, group, generation, member, broker, topic, partition)
        line = Line(seq, at_ms, self.run, type_, cause, *places, event, None)
        if self.heard is not None:
            self.heard(line)
        for follow in self.followers:
            follow(line.text)
        self._take(line)
        return seq
