"""Drops lines of a former coordinator: a broker that does not know yet that another one coordinates
the group.

Once another broker has loaded the group, events of the former coordinator change nothing until
the other one unloads the group or the former one loads it again. They are never replicated, and
their clients are answered with COORDINATOR_NOT_AVAILABLE or NOT_COORDINATOR in the end. Judges
do not get these lines, with one exception: a commit that the former coordinator acknowledges all
the same; judges get it just before its response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from coordinator.events.groups import GroupDeleted, GroupLoaded, GroupUnloaded
from coordinator.events.groups.offsets import OffsetsCommitted, OffsetsPending
from coordinator.events.wire import RequestAnswered, RequestRefused

from .base import Line

ANSWERS: Final = frozenset[type[Any]]({RequestAnswered, RequestRefused})
"""Events of other streams than `group` whose lines are to be sorted out."""
_COMES_OR_GOES: Final = frozenset[type[Any]]({GroupLoaded, GroupUnloaded, GroupDeleted})
_WRITES: Final = frozenset[type[Any]]({OffsetsCommitted, OffsetsPending})


class Coordinators:
    """Coordinator of each group, as far as the log shows."""

    def __init__(self) -> None:
        self._loaded_by: dict[str, int | None] = {}
        self._have: dict[str, set[int]] = {}
        """The brokers that acted for a group and have not unloaded it."""
        self._former: dict[str, set[int]] = {}
        """Of those, the ones that another one succeeded."""
        self._held_back: dict[int, Line] = {}
        """Records of a former coordinator, by the request that asked for it."""

    def sort_out(self, line: Line) -> Sequence[Line]:
        """Return the lines to judge: this line, a line that was held back until its request was
        answered, or none. A former coordinator's line is ignored or held back."""
        kind, broker = line.kind, line.broker
        if kind in ANSWERS:
            held_back = self._held_back.pop(line.cause or -1, None) if self._held_back else None
            return (line,) if held_back is None or kind is RequestRefused else (held_back, line)
        if broker is None and kind not in _COMES_OR_GOES:
            return (line,)
        group = line.group or ""
        if kind is GroupLoaded:
            self._succeed(group, broker)
        elif broker is not None and self._is_former(broker, group):
            if kind in (GroupUnloaded, GroupDeleted):
                self._let_go(group, broker)
            if kind in _WRITES and line.cause is not None:
                self._held_back[line.cause] = line
            return ()
        elif kind in (GroupUnloaded, GroupDeleted):
            self._loaded_by.pop(group, None)
            self._let_go(group, broker)
        elif broker is not None:
            self._have.setdefault(group, set()).add(broker)
        return (line,)

    def _succeed(self, group: str, broker: int | None) -> None:
        self._loaded_by[group] = broker
        if broker is not None:
            have = self._have.setdefault(group, set()) | {broker}
            self._have[group], self._former[group] = have, have - {broker}

    def _let_go(self, group: str, broker: int | None) -> None:
        if broker is not None:
            self._have.get(group, set()).discard(broker)
            self._former.get(group, set()).discard(broker)

    def _is_former(self, broker: int, group: str) -> bool:
        loaded_by = self._loaded_by.get(group)
        return (loaded_by is not None and broker != loaded_by) or broker in self._former.get(
            group, ()
        )
