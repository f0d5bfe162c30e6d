"""All judges on one log, in one pass over its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..history.consumer_groups import ConsumerGroups
from ..history.shares.records import ShareLeaders
from .assignments import AssignedWell
from .base import Judge, Judgement, KnowsConsumerGroups, Line, Verdict
from .commits import (
    CommitsStayWithinAssignment,
    CommitsStayWithinGeneration,
    CommittedOffsetsGrow,
    OffsetsOnlyGoBackWhenAsked,
)
from .expiry import OffsetsExpireInTime
from .fencing import EpochsFence, MemberEpochsFence
from .former_coordinators import ANSWERS, Coordinators
from .generations import GenerationsGrow, OneLeader, StaticIdentity
from .hearing import RebalancesAreHeardOf
from .listeners import ListenersAreTold
from .ownership import RevokedBeforeAssigned, SingleOwner
from .records import (
    AcknowledgedRecordsStay,
    DuplicatesAreUncommitted,
    IdempotentWritesOnce,
    NoRecordLostToTheGroup,
)
from .requests import AnsweredOnce
from .revoking import CommittedBeforeRevoked
from .sessions import SessionsEnd
from .sharing import OF_SHARE_GROUPS
from .timeouts import TimeoutsEnd
from .transactions import OnlyCommittedIsRead, PipelinesWriteOnce
from .unstable import UnstableOffsetsAreWithheld

ALL: tuple[type[Judge], ...] = (
    SingleOwner,
    RevokedBeforeAssigned,
    CommitsStayWithinGeneration,
    CommitsStayWithinAssignment,
    OffsetsOnlyGoBackWhenAsked,
    GenerationsGrow,
    OneLeader,
    StaticIdentity,
    AnsweredOnce,
    CommittedOffsetsGrow,
    NoRecordLostToTheGroup,
    DuplicatesAreUncommitted,
    AcknowledgedRecordsStay,
    IdempotentWritesOnce,
    OnlyCommittedIsRead,
    PipelinesWriteOnce,
    SessionsEnd,
    TimeoutsEnd,
    AssignedWell,
    ListenersAreTold,
    CommittedBeforeRevoked,
    UnstableOffsetsAreWithheld,
    EpochsFence,
    MemberEpochsFence,
)
"""Every judge that a log alone is enough for."""
OF_VIRTUAL_TIME: tuple[type[Judge], ...] = (RebalancesAreHeardOf, OffsetsExpireInTime)
"""Judges that have to be told how exact a run's instants are, and what brokers are set to."""


class Panel:
    """Judges of one log: `see` its lines in order, then take the `verdicts`. A judge is shown only
    lines of the types that it looks at.

    `judges`: what makes each, such as its class. `group`: of this group only. `streams`: those that
    the log has, for one that is known to have them although no line of theirs was written.
    """

    def __init__(
        self,
        judges: Sequence[Callable[[], Judge]] = ALL,
        *,
        group: str | None = None,
        streams: frozenset[str] | None = None,
    ) -> None:
        self._kinds = judges
        self._group = group
        self._streams = set(streams or ())
        self._coordinators = Coordinators()
        self._share_leaders = ShareLeaders()
        self._shown: dict[tuple[str, str], list[Callable[[Line], None]]] = {}
        """For each stream and type of lines, who looks at them."""
        self._at_ms = 0
        self._over = False
        self.gaps = 0
        """Places where lines are missing from the log."""
        self._found_whole: list[int] = []
        """How many findings each judge had when the first line was missing."""
        self._sit([kind() for kind in judges])

    def see(self, line: Line) -> None:
        """Look at the next line."""
        stream, kind = line["stream"], line["type"]
        if kind == "SnapshotRestored":
            self._share_leaders = ShareLeaders()
            self._sit(
                [
                    one if one.goes_on else _anew(one, anew)
                    for one, anew in zip(self._sitting, self._kinds, strict=True)
                ]
            )
        if stream == "group" or kind in ANSWERS:
            self._streams.add(stream)
            for counted in self._coordinators.sort_out(line):
                self._show(counted, counted["stream"], counted["type"])
        elif stream != "share" or self._share_leaders.counts(line):
            self._show(line, stream, kind)

    def gap(self) -> None:
        """Lines before the next one are missing: what is found from here on may have begun in
        them."""
        self.gaps += 1
        if self.gaps == 1:
            self._found_whole = [len(one.findings) for one in self._sitting]

    def _show(self, line: Line, stream: str, kind: str) -> None:
        shown = self._shown.get((stream, kind))
        if shown is None:
            shown = self._looking_at(stream, kind)
        if self._group is not None and line.get("group", self._group) != self._group:
            return
        at_ms = self._at_ms = line["at_ms"]
        for see in shown:
            see(line)
        for one in self._timed:
            if at_ms >= one.due_ms:
                one.passed(at_ms)

    def _looking_at(self, stream: str, kind: str) -> list[Callable[[Line], None]]:
        self._streams.add(stream)
        of_stream = [
            one
            for one in self._sitting
            if one.of_streams is None or stream in one.of_streams or kind in one.also
        ]
        found = self._shown[stream, kind] = [
            one.see for one in of_stream if one.looks_at is None or kind in one.looks_at
        ]
        return found

    def _sit(self, judges: list[Judge]) -> None:
        """These are the judges from now on. What consumer groups are, they see together."""
        self._sitting = judges
        self._timed = [one for one in judges if one.timed]
        self._shown.clear()
        together = ConsumerGroups()
        for one in judges:
            if isinstance(one, KnowsConsumerGroups):
                one.consumers = together

    def verdicts(self, since: int = 0, streams: frozenset[str] = frozenset()) -> Iterator[Verdict]:
        """The log has ended. `since`: findings before this line do not count. `streams`: as of
        Panel."""
        if not self._over:
            self._over = True
            for one in self._timed:
                one.passed(self._at_ms)
            for one in self._sitting:
                one.finish()
        for number, one in enumerate(self._sitting):
            found = one.findings[: self._found_whole[number]] if self.gaps else one.findings
            missing = sorted(one.needs - self._streams - streams)
            if missing and one.unasked:
                continue
            findings = tuple(finding for finding in found if finding.seq >= since)
            if not findings and len(one.findings) > len(found) and not missing:
                why = f"the beginning of what it found is not in this log ({self._gaps_told()})"
                yield Verdict(one.name, one.promise, Judgement.NOT_JUDGED, (), why)
            elif missing:
                why = f"the log has no stream {' and no stream '.join(missing)}"
                yield Verdict(one.name, one.promise, Judgement.NOT_JUDGED, (), why)
            else:
                yield Verdict(
                    one.name,
                    one.promise,
                    Judgement.BROKEN if findings else Judgement.KEPT,
                    findings,
                )

    def _gaps_told(self) -> str:
        return f"{self.gaps} gap{'' if self.gaps == 1 else 's'}"


def judge(
    lines: Iterable[Line],
    judges: Sequence[Callable[[], Judge]] | None = None,
    *,
    group: str | None = None,
    since: int = 0,
    streams: frozenset[str] | None = None,
) -> list[Verdict]:
    """The verdicts of judges on a log; by default all judges, and those of share groups if the log
    has any. `judges`, `group`, `streams`: as of Panel.

    `since`: findings before this line do not count (what came before is seen all the same).
    """
    panel = Panel(judges or (*ALL, *OF_SHARE_GROUPS), group=group, streams=streams)
    for line in lines:
        panel.see(line)
    return list(panel.verdicts(since))


def _anew(one: Judge, kind: Callable[[], Judge]) -> Judge:
    """A snapshot was restored: groups, records and transactions are not those that were seen."""
    anew = kind()
    anew.findings += one.findings
    return anew
