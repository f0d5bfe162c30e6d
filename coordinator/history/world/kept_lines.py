"""Lines of a log that later ones may name as their cause, by number, without those that nothing can
refer to any more."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from coordinator.events.groups import GenerationStored, MemberJoined, MemberRejoined
from coordinator.events.line import Line

from .compact import compact
from .packed_stories import FiledLines, LogFile

_LARGE: Final[dict[type, str]] = {
    GenerationStored: "members",
    MemberJoined: "protocols",
    MemberRejoined: "protocols",
}
"""The field with each member's partitions or subscription. It is most of such a line, and no
cause."""
_MOST_CAUSES: Final = 64


class KeptLines:
    """`from_text`: lines were read as JSON, so equal texts are many objects; those of kept lines are
    made one. `file`: the lines are in a file, so only the newest are kept in memory."""

    def __init__(self, *, from_text: bool = False, file: LogFile | None = None) -> None:
        self._lines: MutableMapping[int, Line] = {} if file is None else FiledLines(file)
        self._from_text = from_text and file is None
        self._waiting: dict[int, int] = {}
        """SyncGroups that wait for the leader's, with their events; only the leader's SyncGroup
        refers to them."""

    def get(self, seq: int) -> Line | None:
        """Return a line by its number, or None if it is not kept."""
        return self._lines.get(seq)

    def keep(self, line: Line) -> None:
        """Keep a line, without its large field."""
        kind = line.kind
        kept = line.without(_LARGE[kind]) if kind in _LARGE else line
        if self._from_text:
            compact(kept)
        self._lines[line.seq] = kept

    def forget(self, seq: int) -> None:
        """Forget a line that no later one refers to."""
        if seq in self._lines:
            del self._lines[seq]

    def chain(self, seq: int | None) -> list[Line]:
        """Return a line and its causes, back to one from outside, at most `_MOST_CAUSES`."""
        chain: list[Line] = []
        while seq is not None and len(chain) < _MOST_CAUSES:
            found = self._lines.get(seq)
            if found is None:
                break
            chain.append(found)
            seq = found.cause
        return chain

    def wait_for_leader(self, request: int, event: int) -> None:
        """Note a SyncGroup that waits for the leader's: the numbers of its request and its event."""
        self._waiting[request] = event

    def leader_came(self, request: int) -> None:
        """Note that this request is the leader's SyncGroup: lines refer to it."""
        self._waiting.pop(request, None)

    def answered(self, request: int, *, for_good: bool) -> None:
        """Note the answer of a request. A SyncGroup that waited for the leader's, and any request
        that is answered `for_good`, is forgotten."""
        synced = self._waiting.pop(request, None)
        if synced is not None:
            self.forget(synced)
        if synced is not None or for_good:
            self.forget(request)
