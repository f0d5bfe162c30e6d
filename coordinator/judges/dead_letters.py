"""Dead letters of share groups (KIP-1191): each record that was given up has one, or it is said why
not.

Owns which records are on their way to the dead letters, at the leader that gave them up. A leader
that ends leaves them to the next one, which may write a letter again, as Kafka does.
"""

from __future__ import annotations

from typing import Final

from .base import Judge, Line
from .intervals import Offsets

_Key = tuple[str, str, int]
_GIVEN_UP: Final = frozenset({"RecordsAcknowledged", "RecordsReleased", "SharePartitionOpened"})
_SEES: Final = _GIVEN_UP | {"DeadLettersWritten", "RecordsArchived", "SharePartitionClosed"}
_WRITTEN: Final = "their dead letters are in "
LONGEST_MS: Final = 20_000
"""Longer than five attempts last, with 1, 2, 4 and 8 seconds between them."""


class DeadLettersComplete(Judge):
    """Each record that is on its way to the dead letters gets one."""

    name = "dead_letters_complete"
    promise = (
        "each record that a share group with a topic for dead letters gave up has one dead letter there, before it is archived, unless "
        "the log says why there is none; and no other record has one. A leader that begins anew may write a letter again"
    )
    needs = frozenset({"share"})
    of_streams = frozenset({"share"})
    unasked = True
    looks_at = _SEES

    def __init__(self) -> None:
        super().__init__()
        self._under_way: dict[_Key, Offsets] = {}
        self._written: dict[_Key, Offsets] = {}
        self._since: dict[_Key, Line] = {}
        self._last_ms = 0

    def see(self, line: Line) -> None:
        kind = line["type"]
        if kind not in _SEES:
            return
        self._last_ms = line["at_ms"]
        key = line["group"], line["topic"], line["partition"]
        if kind in ("SharePartitionClosed", "SharePartitionOpened"):
            self._forget(key)
        if kind in _GIVEN_UP:
            for of in line["records"]:
                if of["state"] == "Archiving":
                    span = of["first_offset"], of["last_offset"]
                    self._under_way.setdefault(key, Offsets()).add(*span)
                    self._since.setdefault(key, line)
        elif kind == "DeadLettersWritten":
            self._letter(key, line)
        elif kind == "RecordsArchived":
            self._archived(key, line)

    def _letter(self, key: _Key, line: Line) -> None:
        span = line["first_offset"], line["last_offset"]
        written = self._written.setdefault(key, Offsets())
        again = written.overlaps(*span)
        if again is not None:
            self.blame(line, f"offset {again} of {_told(key)} has a second dead letter")
        other = self._under_way.setdefault(key, Offsets()).missing(*span)
        if other is not None:
            self.blame(
                line, f"offset {other} of {_told(key)} has a dead letter and was not given up"
            )
        written.add(*span)

    def _archived(self, key: _Key, line: Line) -> None:
        under_way = self._under_way.get(key)
        if under_way is None:
            return
        written = self._written.setdefault(key, Offsets())
        for of in line["records"]:
            span = of["first_offset"], of["last_offset"]
            if under_way.overlaps(*span) is None:
                continue
            missing = written.missing(*span)
            if line["reason"].startswith(_WRITTEN) and missing is not None:
                self.blame(
                    line, f"offset {missing} of {_told(key)} was archived without its dead letter"
                )
            under_way.remove(*span)
            written.remove(*span)
        if under_way.empty:
            self._since.pop(key, None)

    def _forget(self, key: _Key) -> None:
        for known in (self._under_way, self._written, self._since):
            known.pop(key, None)

    def finish(self) -> None:
        for key, line in self._since.items():
            if self._last_ms - line["at_ms"] > LONGEST_MS:
                self.blame(line, f"records of {_told(key)} never got their dead letters")


def _told(key: _Key) -> str:
    group, topic, partition = key
    return f"{topic}-{partition} of share group {group}"
