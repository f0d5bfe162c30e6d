"""The news for members of share groups: of the acknowledgements that were answered, and of the
records that were given back.

Owns what members say by their own word beside what the leaders of partitions say. Does not depend
on who holds what.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..verbs.row import Hurts, undone_by
from .base import NEVER, Judge, Line
from .of_shares import (
    DELIVERS,
    ENDS,
    OPEN_OR_NOT,
    JudgeOfShares,
    Key,
    Spans,
    key_of,
    put_highest,
    told,
)
from .quiet import DONE_TO_MEMBERS, NOTHING_DONE

_ANSWERED: Final = "AcknowledgementsEnded"


_STORED: Final = "ShareStateUpdated"
_STORED_AS: Final = {
    "gap": frozenset({4}),
    "accept": frozenset({2}),
    "release": frozenset({0, 3, 4}),
    "reject": frozenset({3, 4}),
}
"""The states that share coordinators store of acknowledgements, by number."""


class AcknowledgementsAreStored(JudgeOfShares):
    """Records a member was told are acknowledged are so at the leader; or, if another broker became
    leader while that was stored, at the share coordinator, whom the new leader asks."""

    name = "acknowledgements_are_stored"
    promise = (
        "an acknowledgement that a member of a share group was told to be taken is in its leader's log, word for word, or in its share "
        "coordinator's, or its record was done with before"
    )
    needs = frozenset({"share", "member"})
    of_streams = frozenset({"share", "member"})
    SEES = OPEN_OR_NOT | ENDS | {DELIVERS, _ANSWERED, _STORED}

    def __init__(self) -> None:
        super().__init__()
        self._stored: dict[Key, Spans[tuple[int, int]]] = {}
        """How often records had been delivered, and in which state they are stored."""
        self._said: dict[tuple[Key, str], Spans[str]] = {}
        """Each member's acknowledgements, by the leader's word, not yet told to have been taken."""
        self._starts: dict[Key, int] = {}

    def look(self, line: Line) -> None:
        kind, key = line["type"], key_of(line)
        if kind == _ANSWERED:
            said = self._said.setdefault((key, line["member"]), Spans())
            if line["failed"] is None:
                self._answered(line, said, self._starts.get(key, 0))
            for of in line["records"]:
                said.put(of["first_offset"], of["last_offset"], None)
            return
        if kind == _STORED:
            stored = self._stored.setdefault(key, Spans())
            for of in line["batches"]:
                value = of["delivery_count"], of["delivery_state"]
                put_highest(stored, of["first_offset"], of["last_offset"], value)
            return
        if "start_offset" in line:
            self._starts[key] = max(self._starts.get(key, 0), line["start_offset"])
        if kind == "RecordsAcknowledged":
            said = self._said.setdefault((key, line["member"]), Spans())
            for of in line["records"]:
                said.put(of["first_offset"], of["last_offset"], of["acknowledgement"])

    def _answered(self, line: Line, said: Spans[str], start: int) -> None:
        for of in line["records"]:
            word = of["acknowledgement"]
            expected, taken = max(of["first_offset"], start), word
            for first, last, taken in said.within(expected, of["last_offset"]):
                if first > expected or taken != word:
                    break
                expected = last + 1
            stored = self._stored.get(key_of(line), Spans[tuple[int, int]]())
            for first, last, (_, state) in stored.within(expected, of["last_offset"]):
                if first > expected or state not in _STORED_AS.get(word, ()):
                    break
                expected = last + 1
            if expected <= of["last_offset"]:
                took = "did not take it" if taken == word else f"took {taken}"
                text = f"{line['client']} was told that its {word} of offset {expected} of {told(line)} is taken"
                self.blame(line, f"{text}, and its leader {took}")
                return


class SessionEpochsCount(JudgeOfShares):
    """A request that arrives twice is refused the second time."""

    name = "session_epochs_count"
    promise = (
        "a request within a share session that arrives for a second time is refused, because its epoch is over, unless the first one was "
        "kept from the broker or from its handler"
    )
    needs = frozenset({"share", "member"})
    of_streams = frozenset({"share", "member", "fault"})
    SEES = frozenset({"RequestRepeated", "FaultInjected"})

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[str, int] = {}
        """When a request of each client met a fault last."""

    def look(self, line: Line) -> None:
        if line["type"] == "FaultInjected":
            self._faults[line.get("client") or ""] = line["at_ms"]
        elif line["failed"] is None and self._faults.get(line["client"], -1) < line["sent_ms"]:
            self.blame(
                line,
                f"the {line['api']} of {line['client']}, sent at {line['sent_ms']} ms, was taken a second time",
            )


_BEGINS: Final = "MemberStarted"
_ENDED: Final = frozenset({"MemberClosing", "MemberClosed", "MemberCrashed", "MemberFailed"})
_UNDOES: Final = {end: begins for begins, end in undone_by(Hurts.CLIENT).items()}
_HOLDS_UP: Final = frozenset(_UNDOES.values())
_GIVES_BACK: Final = ENDS | {"SharePartitionOpened"}


class ReleasedComeAgain(Judge):
    """When nothing is done any more, what was given back is given to somebody within the bound."""

    name = "released_come_again"
    promise = (
        "when churn and faults are over, each record that was given back to a share group and may be delivered again is so within the "
        "bound, as long as the group has a member that is well"
    )
    needs = frozenset({"share", "member"})
    of_streams = frozenset({"share", "member", "fault", "cluster"})
    unasked = True
    timed = True

    def __init__(self, bound_ms: int) -> None:
        super().__init__()
        self._bound_ms = bound_ms
        self._waiting: dict[Key, Spans[Line]] = {}
        self._starts: dict[Key, int] = {}
        self._well: dict[str, set[str]] = {}
        """The clients of each group whose processes run."""
        self._held_up: Counter[str] = Counter()
        self._stalled: set[str] = set()
        self._lasting = 0
        self._quiet_since = 0
        self._now = 0

    def see(self, line: Line) -> None:
        stream, kind = line["stream"], line["type"]
        if stream == "fault":
            self._of_fault(line, kind)
        elif stream == "member":
            self._of_member(line, kind)
        elif kind == "TopicDeleted":
            for key in [key for key in self._waiting if key[1] == line["topic"]]:
                del self._waiting[key]
        elif stream == "share" and (kind in _GIVES_BACK or kind == DELIVERS):
            self._of_records(line, kind, key_of(line))

    def _of_fault(self, line: Line, kind: str) -> None:
        if kind in NOTHING_DONE:
            return
        self._quiet_since = line["at_ms"]
        client = line.get("client") or line.get("client_id") or ""
        if kind in _HOLDS_UP:
            self._held_up[client] += 1
        elif kind in _UNDOES:
            self._held_up[client] -= 1
        self._lasting += (kind == "RequestFaultBegan") - (kind == "RequestFaultEnded")

    def _of_member(self, line: Line, kind: str) -> None:
        if kind not in DONE_TO_MEMBERS or "group" not in line:
            return
        self._quiet_since = line["at_ms"]
        well = self._well.setdefault(line["group"], set())
        if kind == _BEGINS:
            well.add(line["client"])
            self._stalled.discard(line["client"])
        elif kind in _ENDED:
            well.discard(line["client"])
        elif kind == "ApplicationStalled":
            self._stalled.add(line["client"])
        else:
            self._stalled.discard(line["client"])

    def _of_records(self, line: Line, kind: str, key: Key) -> None:
        waiting = self._waiting.setdefault(key, Spans())
        self._starts[key] = line["start_offset"]
        if kind == "SharePartitionOpened":
            waiting.put(0, NEVER, None)
        for of in line["records"]:
            back = kind in _GIVES_BACK and of["state"] == "Available"
            waiting.put(of["first_offset"], of["last_offset"], line if back else None)

    def passed(self, now_ms: int) -> None:
        self._now = now_ms

    def finish(self) -> None:
        if self._lasting > 0:
            return
        for key, waiting in self._waiting.items():
            if not any(self._is_well(client) for client in self._well.get(key[0], ())):
                continue
            for at, _, line in waiting.within(self._starts[key], NEVER):
                since = max(self._quiet_since, line["at_ms"])
                if since + self._bound_ms < self._now:
                    text = f"offset {at} of {told(line)} was given back, and to nobody since"
                    self.blame(line, text)
                    break

    def _is_well(self, client: str) -> bool:
        return self._held_up[client] <= 0 and client not in self._stalled
