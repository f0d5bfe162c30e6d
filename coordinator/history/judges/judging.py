"""Runs all judges on one log, in one pass over its lines. `ALL` lists them; a new judge is added
there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from coordinator.base.contradictions import UNFIT
from coordinator.events.faults import SnapshotRestored
from coordinator.events.line import LogError
from coordinator.events.vocabulary import Unknown

from ..world.accepted_lines import AcceptedLines
from ..world.groups.consumer_groups import ConsumerGroups
from .assignments import AssignedWell
from .base import Judge, Judgement, KnowsConsumerGroups, Line, Verdict
from .cleaned_logs import LogsAreCleanedAsConfigured
from .commits import (
    CommitsStayWithinAssignment,
    CommitsStayWithinGeneration,
    CommittedOffsetsGrow,
    OffsetsOnlyGoBackWhenAsked,
)
from .consumer_members import ChangesBumpEpochs, StaticMembersMayReturn
from .expiry import OffsetsExpireInTime
from .fencing import EpochsFence, MemberEpochsFence
from .generations import GenerationsGrow, OneLeader, StaticIdentity
from .hearing import RebalancesAreHeardOf
from .listeners import ListenersAreTold
from .ownership import RevokedBeforeAssigned, SingleOwner
from .reasons import ReasonsHold
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
from .transactions import OnlyCommittedIsRead, PipelinesWriteOnce, TransactionsAreMarked
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
    TransactionsAreMarked,
    PipelinesWriteOnce,
    SessionsEnd,
    TimeoutsEnd,
    AssignedWell,
    ListenersAreTold,
    CommittedBeforeRevoked,
    UnstableOffsetsAreWithheld,
    EpochsFence,
    MemberEpochsFence,
    ChangesBumpEpochs,
    StaticMembersMayReturn,
    LogsAreCleanedAsConfigured,
)
"""Every judge that needs nothing but a log."""
OF_VIRTUAL_TIME: tuple[type[Judge], ...] = (RebalancesAreHeardOf, OffsetsExpireInTime, ReasonsHold)
"""Judges that need a tolerance or the brokers' settings, and a run in which nobody acts by hand."""


class Panel:
    """Judges of one log: call `see` for each line in order, then `verdicts`.

    `judges`: functions that make a judge, such as its class. `group`: judge this group only.
    `streams`: the streams that the log has, if they are known although some of them have no
    line.
    """

    def __init__(
        self,
        judges: Sequence[Callable[[], Judge]] = ALL,
        *,
        group: str | None = None,
        streams: frozenset[str] | None = None,
    ) -> None:
        self._kinds = judges
        self._streams = set(streams or ())
        self._accepted = AcceptedLines(group=group)
        self._shown: dict[type[Any], list[Callable[[Line, Any], None]]] = {}
        """For each class of events the handlers of all judges."""
        self._at_ms = 0
        self._last: Line | None = None
        self._over = False
        self.gaps = 0
        """Number of places where lines are missing."""
        self._found_whole: list[int] = []
        """The number of findings that each judge had when the first missing line was noticed."""
        self._sit([kind() for kind in judges])

    def see(self, line: Line) -> None:
        """Look at the next line of the log, if it counts."""
        self._streams.add(line.stream)
        for accepted in self._accepted.see(line):
            self.show(accepted)

    def gap(self) -> None:
        """Note that lines are missing before the next one: what is found from here on may have
        begun in them."""
        self.gaps += 1
        if self.gaps == 1:
            self._found_whole = [len(one.findings) for one in self._sitting]

    def show(self, line: Line) -> None:
        """Look at a line that counts, as AcceptedLines gives it. For whoever shows the same lines to
        other folds, too."""
        if line.kind is SnapshotRestored:
            self._begin_anew()
        shown = self._shown.get(line.kind)
        if shown is None:
            shown = self._looking_at(line.kind, line.stream)
        self._last = line
        at_ms = self._at_ms = line.at_ms
        try:
            if shown:
                event = line.event
                for look in shown:
                    look(line, event)
            for one in self._timed:
                if at_ms >= one.due_ms:
                    one.passed(at_ms)
        except LogError:
            raise
        except UNFIT as error:
            raise line.contradicts(error, _who_failed(error)) from error

    def _looking_at(self, kind: type[Any], stream: str) -> list[Callable[[Line, Any], None]]:
        self._streams.add(stream)
        if kind is Unknown:  # of any stream
            return []
        looking = [one.looking_at(kind) for one in self._sitting]
        found = self._shown[kind] = [look for look in looking if look is not None]
        return found

    def _begin_anew(self) -> None:
        """Make the judges anew that do not go on across a restored snapshot."""
        self._sit(
            [
                one if one.goes_on else _anew(one, anew)
                for one, anew in zip(self._sitting, self._kinds, strict=True)
            ]
        )

    def _sit(self, judges: list[Judge]) -> None:
        """Use these judges from now on. Those that need consumer groups share one fold of them."""
        self._sitting = judges
        self._timed = [one for one in judges if one.timed]
        self._shown.clear()
        together = ConsumerGroups()
        for one in judges:
            if isinstance(one, KnowsConsumerGroups):
                one.consumers = together

    def verdicts(self, since: int = 0, streams: frozenset[str] = frozenset()) -> Iterator[Verdict]:
        """Yield the verdicts at the end of the log. `since`: findings before this line do not
        count. `streams`: see Panel."""
        if not self._over:
            self._over = True
            self._end()
        for number, one in enumerate(self._sitting):
            found = one.findings[: self._found_whole[number]] if self.gaps else one.findings
            missing = sorted(one.needs - self._streams - streams)
            if one.unasked and (missing or one.idle):
                continue
            findings = tuple(finding for finding in found if finding.seq >= since)
            if not findings and len(one.findings) > len(found) and not missing:
                why = f"its findings depend on lines that are missing in this log ({self._gaps_told()})"
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

    def _end(self) -> None:
        try:
            for one in self._timed:
                one.passed(self._at_ms)
            for one in self._sitting:
                one.finish()
        except UNFIT as error:
            if self._last is None:
                raise
            raise self._last.contradicts(error, _who_failed(error)) from error

    def _gaps_told(self) -> str:
        return f"{self.gaps} gap{'' if self.gaps == 1 else 's'}"


def judge(
    lines: Iterable[Line | dict[str, Any]],
    judges: Sequence[Callable[[], Judge]] | None = None,
    *,
    group: str | None = None,
    since: int = 0,
    streams: frozenset[str] | None = None,
) -> list[Verdict]:
    """Return the verdicts of judges on a log; by default of all judges, and of those of share
    groups if the log has any.

    `lines`: of a log, or as the testing kit's `events()` returns them. `judges`, `group`,
    `streams`: see Panel. `since`: findings before this line do not count, but the lines are
    read. Raises LogError for an invalid line.
    """
    panel = Panel(judges or (*ALL, *OF_SHARE_GROUPS), group=group, streams=streams)
    for line in lines:
        panel.see(line if isinstance(line, Line) else Line.of(line))
    return list(panel.verdicts(since))


def _who_failed(error: Exception) -> str:
    """Return the name of the judge that raised this error."""
    trace, found = error.__traceback__, "a judge"
    while trace is not None:
        of = trace.tb_frame.f_locals.get("self")
        found = of.name if isinstance(of, Judge) else found
        trace = trace.tb_next
    return found


def _anew(one: Judge, kind: Callable[[], Judge]) -> Judge:
    """Return a new judge after a snapshot was restored, with the findings of the old one: the
    groups, records and transactions that it saw are gone."""
    anew = kind()
    anew.findings += one.findings
    return anew
