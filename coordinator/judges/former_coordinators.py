"""Which of two coordinators of one group counts: a broker that does not know yet that it
coordinates a group no longer acts on its own.

Owns what judges see of it. From the event on by which another broker has loaded the group, until it
unloads the group or loads it again itself, the former coordinator's events change nothing, also
after its successor is gone: they are never replicated, and whoever asked it is told so in the end
(COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR). So judges see none of them, except a commit that it
acknowledges all the same: that they see just before its answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from .base import Line

ANSWERS = frozenset({"RequestAnswered", "RequestRefused"})
"""The lines of other streams than `group` that are to be sorted out."""
_COMES_OR_GOES = frozenset({"GroupLoaded", "GroupUnloaded", "GroupDeleted"})
_WRITES = frozenset({"OffsetsCommitted", "OffsetsPending"})


class Coordinators:
    """Who coordinates each group, as far as the log tells."""

    def __init__(self) -> None:
        self._loaded_by: dict[str, int | None] = {}
        self._have: dict[str, set[int]] = {}
        """The brokers that acted for a group and have not unloaded it."""
        self._former: dict[str, set[int]] = {}
        """Of those, the ones that another one succeeded."""
        self._held_back: dict[int, Line] = {}
        """Records of a former coordinator, by the request that asked for it."""

    def sort_out(self, line: Line) -> Sequence[Line]:
        """The lines that count now that this one came."""
        kind = line["type"]
        if kind in ANSWERS:
            held_back = self._held_back.pop(line["cause"] or -1, None) if self._held_back else None
            return (line,) if held_back is None or kind == "RequestRefused" else (held_back, line)
        if "broker" not in line and kind not in _COMES_OR_GOES:
            return (line,)
        group = line.get("group", "")
        if kind == "GroupLoaded":
            self._succeed(group, line.get("broker"))
        elif line["stream"] == "group" and self._is_former(line, group):
            if kind in ("GroupUnloaded", "GroupDeleted"):
                self._let_go(group, line["broker"])
            if kind in _WRITES and line["cause"] is not None:
                self._held_back[line["cause"]] = line
            return ()
        elif kind in ("GroupUnloaded", "GroupDeleted"):
            self._loaded_by.pop(group, None)
            self._let_go(group, line.get("broker"))
        elif line["stream"] == "group" and (broker := line.get("broker")) is not None:
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

    def _is_former(self, line: Line, group: str) -> bool:
        broker, loaded_by = line.get("broker"), self._loaded_by.get(group)
        return broker is not None and (
            (loaded_by is not None and broker != loaded_by) or broker in self._former.get(group, ())
        )
