"""All judges on one log, in one pass over its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .base import Judge, Judgement, Line, Verdict
from .commits import CommitsStayWithinAssignment, CommitsStayWithinGeneration, CommittedOffsetsGrow, OffsetsOnlyGoBackWhenAsked
from .former_coordinators import Coordinators
from .generations import GenerationsGrow, OneLeader, StaticIdentity
from .ownership import RevokedBeforeAssigned, SingleOwner
from .records import AcknowledgedRecordsStay, DuplicatesAreUncommitted, IdempotentWritesOnce, NoRecordLostToTheGroup
from .requests import AnsweredOnce
from .sessions import SessionsEnd
from .transactions import OnlyCommittedIsRead, PipelinesWriteOnce

ALL: tuple[type[Judge], ...] = (
    SingleOwner, RevokedBeforeAssigned, CommitsStayWithinGeneration, CommitsStayWithinAssignment, OffsetsOnlyGoBackWhenAsked,
    GenerationsGrow, OneLeader, StaticIdentity, AnsweredOnce, CommittedOffsetsGrow, NoRecordLostToTheGroup, DuplicatesAreUncommitted,
    AcknowledgedRecordsStay, IdempotentWritesOnce, OnlyCommittedIsRead, PipelinesWriteOnce, SessionsEnd,
)  # fmt: skip
"""Every judge that a log alone is enough for."""


class Panel:
    """Judges of one log: `see` its lines in order, then take the `verdicts`. A judge is shown only lines of the types that it looks at.

    `judges`: what makes each, such as its class. `group`: of this group only. `streams`: those that the log has, for one that is known to
    have them although no line of theirs was written.
    """

    def __init__(
        self, judges: Sequence[Callable[[], Judge]] = ALL, *, group: str | None = None, streams: frozenset[str] | None = None
    ) -> None:  # fmt: skip
        self._kinds = judges
        self._sitting = [kind() for kind in judges]
        self._group = group
        self._streams = set(streams or ())
        self._coordinators = Coordinators()
        self._shown: dict[str, list[Callable[[Line], None]]] = {}
        """For each type of lines, who looks at it."""

    def see(self, line: Line) -> None:
        """Look at the next line."""
        self._streams.add(line["stream"])
        if line["type"] == "SnapshotRestored":
            self._sitting = [one if one.goes_on else _anew(one, kind) for one, kind in zip(self._sitting, self._kinds, strict=True)]
            self._shown.clear()
        for counted in self._coordinators.sort_out(line):
            if self._group is not None and counted.get("group", self._group) != self._group:
                continue
            kind = counted["type"]
            shown = self._shown.get(kind)
            if shown is None:
                shown = self._shown[kind] = [one.see for one in self._sitting if one.looks_at is None or kind in one.looks_at]
            for see in shown:
                see(counted)

    def verdicts(self, since: int = 0) -> Iterator[Verdict]:
        """The log has ended. `since`: findings before this line do not count."""
        for one in self._sitting:
            one.finish()
            missing = sorted(one.needs - self._streams)
            findings = tuple(finding for finding in one.findings if finding.seq >= since)
            if missing:
                why = f"the log has no stream {' and no stream '.join(missing)}"
                yield Verdict(one.name, one.promise, Judgement.NOT_JUDGED, (), why)
            else:
                yield Verdict(one.name, one.promise, Judgement.BROKEN if findings else Judgement.KEPT, findings)


def judge(
    lines: Iterable[Line], judges: Sequence[Callable[[], Judge]] | None = None, *, group: str | None = None, since: int = 0,
    streams: frozenset[str] | None = None,
) -> list[Verdict]:
    """What each judge says of a log, all judges by default. `judges`, `group`, `streams`: as of Panel.

    `since`: findings before this line do not count (what came before is seen all the same).
    """
    panel = Panel(judges or ALL, group=group, streams=streams)
    for line in lines:
        panel.see(line)
    return list(panel.verdicts(since))


def _anew(one: Judge, kind: Callable[[], Judge]) -> Judge:
    """A snapshot was restored: groups, records and transactions are not those that were seen."""
    anew = kind()
    anew.findings += one.findings
    return anew
