"""All judges on one log, in one pass over its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


def judge(
    lines: Iterable[Line], judges: Sequence[Callable[[], Judge]] | None = None, *, group: str | None = None, since: int = 0,
    streams: frozenset[str] | None = None,
) -> list[Verdict]:
    """What each judge says of a log, all judges by default. `judges`: what makes each, such as its class.

    `group`: of this group only. `since`: findings before this line do not count (what came before is seen all the same).
    `streams`: those that the log has, for one that is known to have them although no line of theirs was written.
    """
    kinds: Sequence[Callable[[], Judge]] = judges or ALL
    sitting = [kind() for kind in kinds]
    seen = set(streams or ())
    coordinators = Coordinators()
    for line in lines:
        seen.add(line["stream"])
        if line["type"] == "SnapshotRestored":
            sitting = [one if one.goes_on else _anew(one, kind) for one, kind in zip(sitting, kinds, strict=True)]
        for counted in coordinators.sort_out(line):
            if group is not None and counted.get("group", group) != group:
                continue
            for one in sitting:
                one.see(counted)
    verdicts = []
    for one in sitting:
        one.finish()
        missing = sorted(one.needs - seen)
        findings = tuple(finding for finding in one.findings if finding.seq >= since)
        if missing:
            why = f"the log has no stream {' and no stream '.join(missing)}"
            verdicts.append(Verdict(one.name, one.promise, Judgement.NOT_JUDGED, (), why))
        else:
            verdicts.append(Verdict(one.name, one.promise, Judgement.BROKEN if findings else Judgement.KEPT, findings))
    return verdicts


def _anew(one: Judge, kind: Callable[[], Judge]) -> Judge:
    """A snapshot was restored: groups, records and transactions are not those that were seen."""
    anew = kind()
    anew.findings += one.findings
    return anew
