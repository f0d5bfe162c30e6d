"""The first stage of every reader of a log: it decides which lines count, and when.

A broker that was cut off or paused may act as coordinator of a group, or as share leader of a
partition, until it learns of its successor. From the line by which another broker begins to load the
group's partition of __consumer_offsets (`PartitionsLoading`; `GroupLoaded` where the log has no such
line), or opens the share partition (`SharePartitionOpened`), the former one's events change nothing,
also after its successor is gone: they are never replicated or stored, and whoever asked it is told so
in the end. They count again once it loads or opens the same thing itself. Only a commit that a former
coordinator acknowledges all the same counts: it is held back until its answer.

What the lines mean is for the folds behind this stage. They take accepted lines alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, get_args

from coordinator.base.java_hash import coordinator_partition
from coordinator.events.availability import PartitionsLoading
from coordinator.events.cluster import TopicCreated
from coordinator.events.faults import SnapshotRestored
from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.offsets import OffsetsCommitted, OffsetsPending
from coordinator.events.line import Line
from coordinator.events.share_partitions import Event as SharePartitionEvent
from coordinator.events.share_partitions import SharePartitionOpened
from coordinator.events.wire import RequestAnswered, RequestRefused

from .shares.records import Key, key_of

_ANSWERS: Final = frozenset[type[Any]]({RequestAnswered, RequestRefused})
_GOES: Final = frozenset[type[Any]]({GroupUnloaded, GroupDeleted})
_COMES_OR_GOES: Final = _GOES | {GroupLoaded}
_COMMITS: Final = frozenset[type[Any]]({OffsetsCommitted, OffsetsPending})
_OTHERS: Final = frozenset[type[Any]]({PartitionsLoading, TopicCreated, SnapshotRestored})
_OF_SHARE_LEADERS: Final = frozenset[type[Any]](get_args(SharePartitionEvent))
"""Events of stream `share` whose broker is the share leader; of the others it is the share
coordinator."""
_CONSUMER_OFFSETS: Final = "__consumer_offsets"


class AcceptedLines:
    """The lines of one run that count. `see` each line in order.

    `group`: lines of other groups do not count; those of no group do. `numbered`: each line is
    expected to have the number after that of the line before, and gaps are counted; a log that was
    filtered has gaps by itself.
    """

    def __init__(self, *, group: str | None = None, numbered: bool = False) -> None:
        self.gaps = 0
        """Places where lines are missing; 0 if lines are not numbered."""
        self.missing = 0
        """Lines that are missing in all gaps together."""
        self._group = group
        self._numbered = numbered
        self._next = 0
        self._partitions: int | None = None
        """Number of partitions of __consumer_offsets; None if it is not known."""
        self._led_by: dict[int, int | None] = {}
        """Broker that loaded each of them last."""
        self._acting: dict[str, int] = {}
        """Broker that wrote the last accepted line of each group: no former coordinator."""
        self._loaded_by: dict[str, int | None] = {}
        self._have: dict[str, set[int]] = {}
        """The brokers that acted for a group and have not unloaded it."""
        self._former: dict[str, set[int]] = {}
        """Of those, the ones that another one succeeded."""
        self._held_back: dict[int, Line] = {}
        """Commits of former coordinators, by the request that asked for each."""
        self._share_leaders: dict[Key, int | None] = {}
        """Broker that opened each share partition last."""

    def see(self, line: Line) -> Sequence[Line]:
        """Return the lines to fold now: this line, a commit that was held back and this line, which
        answers its request, or none."""
        if self._numbered:
            self._number(line.seq)
        if self._group is not None and line.group not in (None, self._group):
            return ()
        stream = line.stream
        if stream == "group":
            return self._of_group(line)
        if stream == "share":
            return (line,) if self._is_of_share_leader(line) else ()
        if self._held_back and line.kind in _ANSWERS:
            held_back = self._held_back.pop(-1 if line.cause is None else line.cause, None)
            if held_back is not None and line.kind is RequestAnswered:
                return (held_back, line)
        elif line.kind in _OTHERS:
            self._other(line)
        return (line,)

    def _other(self, line: Line) -> None:
        event = line.event
        match event:
            case PartitionsLoading():
                self._led_by.update(dict.fromkeys(event.partitions, line.broker))
                self._acting.clear()
            case TopicCreated():
                if event.topic == _CONSUMER_OFFSETS:
                    self._partitions = len(event.replicas)
            case SnapshotRestored():
                self._share_leaders.clear()

    def _number(self, seq: int) -> None:
        if seq > self._next:
            self.gaps += 1
            self.missing += seq - self._next
        self._next = max(self._next, seq + 1)

    def _of_group(self, line: Line) -> Sequence[Line]:
        kind, broker, group = line.kind, line.broker, line.group or ""
        if kind not in _COMES_OR_GOES and (broker is None or self._acting.get(group) == broker):
            return (line,)
        leader = self._leader(group)
        if kind is GroupLoaded and leader in (None, broker):
            self._succeed(group, broker)
        elif broker is not None and self._is_former(broker, group, leader):
            if kind in _GOES:
                self._let_go(group, broker)
            elif kind in _COMMITS and line.cause is not None:
                self._held_back[line.cause] = line
            return ()
        elif kind in _GOES:
            self._loaded_by.pop(group, None)
            self._let_go(group, broker)
        elif broker is not None:
            self._acting[group] = broker
            self._have.setdefault(group, set()).add(broker)
        return (line,)

    def _succeed(self, group: str, broker: int | None) -> None:
        self._loaded_by[group] = broker
        self._acting.pop(group, None)
        if broker is not None:
            have = self._have.setdefault(group, set()) | {broker}
            self._have[group], self._former[group] = have, have - {broker}

    def _let_go(self, group: str, broker: int | None) -> None:
        if broker is not None:
            self._have.get(group, set()).discard(broker)
            self._former.get(group, set()).discard(broker)
            if self._acting.get(group) == broker:
                del self._acting[group]

    def _leader(self, group: str) -> int | None:
        """Return the broker that loaded the group's partition last, or None if it is not known."""
        if not self._partitions:
            return None
        return self._led_by.get(coordinator_partition(group, self._partitions))

    def _is_former(self, broker: int, group: str, leader: int | None) -> bool:
        if leader is not None:
            return broker != leader
        loaded_by = self._loaded_by.get(group)
        return (loaded_by is not None and broker != loaded_by) or broker in self._former.get(
            group, ()
        )

    def _is_of_share_leader(self, line: Line) -> bool:
        if line.kind not in _OF_SHARE_LEADERS:
            return True
        if line.kind is SharePartitionOpened:
            self._share_leaders[key_of(line)] = line.broker
            return True
        return self._share_leaders.get(key_of(line), line.broker) == line.broker


def accepted(lines: Iterable[Line], *, group: str | None = None) -> Iterator[Line]:
    """Return the lines of one run that count, in the order in which they are to be folded. `group`:
    as of AcceptedLines."""
    see = AcceptedLines(group=group).see
    for line in lines:
        yield from see(line)
