"""A log that is written nowhere: whoever asked for it is given each line at once, as a reader would
find it in a file.

For a simulation whose log is folded while it runs, and then needed no more: holding all of it takes
more memory than the world. Most lines are made without their text, as long as nobody else listens
to it. Depends on the writer, which makes the text of all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..groups.events import Event, GenerationStored, StoredMember
from ..releases import NEWEST
from .codec import Plain, shapes, to_plain, to_plain_member
from .envelope import PLACES
from .reader import Line
from .text import value_text
from .writer import EventLog

_AS_IT_IS: Final = frozenset({str, int, bool, float, type(None)})


class UnwrittenLog(EventLog):
    """An event log of one run. `take` is given every line, the header first; the line is its own
    from then on, but for the members of a GenerationStored: those that are the same as in the one
    before are the same objects.

    `wire`: whether it wants those about requests, which are more than half of all.
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
        self._rows: dict[str, tuple[StoredMember, Plain]] = {}
        """The members of the last generation that was stored: each as the event has it, and as a
        line has it."""
        lines, loads = self.lines, json.loads

        def follow(text: str) -> None:
            lines.clear()
            take(loads(text))

        follow(lines[0])
        self.followers.append(follow)

    def append(
        self, stream: str, kind: str, /, *, at_ms: int, cause: int | None = None, **fields: Any
    ) -> int:
        """As `EventLog.append`."""
        if self.heard is not None or len(self.followers) > 1:
            return super().append(stream, kind, at_ms=at_ms, cause=cause, **fields)
        line = self._line(stream, kind, at_ms, cause)
        for place in PLACES:
            if place in fields and (value := fields.pop(place)) is not None:
                line[place] = value
        for key, value in fields.items():
            line[key] = value if type(value) in _AS_IT_IS else json.loads(value_text(value))
        self._take(line)
        return self.seq

    def group_event(
        self,
        group: str,
        generation: int | None,
        event: Event,
        at_ms: int,
        cause: int | None,
        broker: int | None = None,
    ) -> int:
        """As `EventLog.group_event`."""
        if self.heard is not None or len(self.followers) > 1:
            return super().group_event(group, generation, event, at_ms, cause, broker)
        shape = shapes()[type(event)]
        line = self._line("group", shape.name, at_ms, cause)
        line["group"] = group
        if type(event) is GenerationStored:
            rest = to_plain(event._replace(members=()))
            rest["members"] = self._members(event.members)
        else:
            rest = to_plain(event)
        generation = rest.pop("generation", generation)
        if generation is not None:
            line["generation"] = generation
        if "member" in rest:
            line["member"] = rest.pop("member")
        if broker is not None:
            line["broker"] = broker
        line["durable"] = shape.durable
        line.update(rest)
        self._take(line)
        return self.seq

    def listener_event(
        self,
        kind: str,
        at_ms: int,
        group: str,
        generation: int | None,
        member: str,
        client: str,
        member_epoch: int | None,
        partitions: Iterable[tuple[str, int]],
    ) -> int:
        """As `EventLog.listener_event`."""
        if self.heard is not None or len(self.followers) > 1:
            return super().listener_event(
                kind, at_ms, group, generation, member, client, member_epoch, partitions
            )
        line = self._line("member", kind, at_ms, None)
        line["group"] = group
        if generation is not None:
            line["generation"] = generation
        if member:
            line["member"] = member
        line["client"] = client
        if member_epoch is not None:
            line["member_epoch"] = member_epoch
        line["partitions"] = [{"topic": topic, "partition": number} for topic, number in partitions]
        self._take(line)
        return self.seq

    def _line(self, stream: str, kind: str, at_ms: int, cause: int | None) -> Line:
        self.seq += 1
        return {
            "seq": self.seq,
            "at_ms": at_ms,
            "run": self.run,
            "stream": stream,
            "type": kind,
            "cause": cause,
        }

    def _members(self, members: tuple[StoredMember, ...]) -> list[Plain]:
        before = self._rows
        now: dict[str, tuple[StoredMember, Plain]] = {}
        for member in members:
            known = before.get(member.member_id)
            if known is None or known[0] is not member:
                known = (member, to_plain_member(member))
            now[member.member_id] = known
        self._rows = now
        return [plain for _, plain in now.values()]
