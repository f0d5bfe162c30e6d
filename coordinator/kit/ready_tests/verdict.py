"""The verdict on a consumer application: all findings, the most important one first, and the reason
why something that a test waited for did not come.

Decides which judgements are made and in which order: the application's identity at its brokers,
premature commits, work on partitions of others, repetitions, gaps, and last what follows from
these. The judgements are in `findings`, `losses` and `identities`; `under_test` collects the
evidence.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..views.group_snapshots import GroupSnapshot, MemberSnapshot, TopicPartition, partitions_text
from . import explained, findings, identities, losses, repeats
from .findings import CommitSeen, Finding, Line, Processed
from .holders import Holders, Written
from .late_joins import late_joins, left_for_its_poll
from .losses import Handover, OthersCommit
from .refused_heartbeats import goes_on, sits

RESTLESS = 8
"""Number of rebalances that are tolerated during a wait; kafka-python needs several when it
learns of its topic."""
LEAVES = 3
"""Number of times that members may leave or expire while the application runs; each disturbance
allows twice as many more, because each of several consumers may."""


@dataclass(kw_only=True, slots=True, frozen=True)
class Repeats:
    """Numbers of records that may be processed again. `clean`: for each disturbance that leaves
    the application time to commit. `death`: for each death; None: the records that were fetched
    and not committed then, by the event log. `any`: if it is set, for each disturbance of any
    kind, and the other two do not count."""

    clean: int = 0
    death: int | None = None
    any: int | None = None


@dataclass(kw_only=True, slots=True)
class Told:
    """A test's notes about an application besides its records and commits. `starts`: marks of
    the log from before each start. `stops`: marks from when it was stopped or killed. `written`:
    ends of partitions when records were about to be written. `noted`: findings of the test
    itself. `peers`: member ids of the test's own members. `dead`: member ids of killed
    processes. `removed`: members that the test removed. `killed`: marks from when it was killed.
    `by_itself`: when the test made it fail by itself, from and to."""

    disturbances: int = 0
    starts: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    noted: list[Finding] = field(default_factory=list)
    handovers: list[Handover] = field(default_factory=list)
    others: list[OthersCommit] = field(default_factory=list)
    others_processed: list[Processed] = field(default_factory=list)
    peers: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    killed: list[int] = field(default_factory=list)
    by_itself: list[tuple[int, int]] = field(default_factory=list)

    def running(self) -> list[tuple[int, int]]:
        """Return the first and last line of the log for each start."""
        return [
            (start, min((stop for stop in self.stops if stop >= start), default=sys.maxsize))
            for start in self.starts
        ]

    def not_its_own_doing(self) -> set[str]:
        """Return the members whose leaving says nothing about the application: peers, and
        members that the test removed or let die."""
        return self.peers | self.removed | self.dead

    def undisturbed(self) -> list[tuple[int, int]]:
        """Return the same as `running`, without the time in which the test made the application
        fail."""
        spans = self.running()
        for begun, over in self.by_itself:
            spans = [
                part
                for first, end in spans
                for part in ((first, min(end, begun)), (max(first, over), end))
                if part[0] < part[1]
            ]
        return spans


@dataclass(kw_only=True, slots=True)
class Evidence:
    """The facts known of an application at one moment. `processed` is None if it does not
    report. `keys`: of records, if it keeps the order of each key."""

    group: str
    lines: Sequence[Line]
    commits: Sequence[CommitSeen]
    committed: Mapping[TopicPartition, int]
    processed: Sequence[Processed] | None
    records: Mapping[TopicPartition, Sequence[int]]
    ends: Mapping[TopicPartition, int]
    told: Told
    transactional_id: str | None = None
    keeps_offsets: bool = False
    repeats: Repeats = Repeats()
    commits_late: bool = False
    asked_first: Mapping[TopicPartition, int] = field(default_factory=dict)
    keys: Mapping[Processed, bytes] = field(default_factory=dict)
    effects: Sequence[Hashable] = ()

    @property
    def several(self) -> bool:
        """Return True if the application has several consumers at a time. It does not report which of
        them processed a record."""
        return (
            identities.consumers_at_once(
                self.lines, self.group, self.told.peers, self.told.running()
            )
            > 1
        )

    def holders(self) -> Holders:
        """Return which of the application's consumers owned which partition, and when."""
        told = self.told
        return Holders(
            self.lines,
            self.group,
            peers=told.peers,
            removed=told.removed,
            starts=told.starts,
            written=told.written,
            asked_first=self.asked_first,
        )

    def left_for_its_poll(
        self,
        running: Iterable[tuple[int, int]],
        connected: Collection[str] = (),
        *,
        wrong: bool = False,
    ) -> list[Finding]:
        """Return `late_joins.left_for_its_poll` for this evidence."""
        told, others = self.told, self.told.not_its_own_doing()
        known = self.commits, told.written
        return left_for_its_poll(
            self.lines, self.group, others, running, connected, *known, wrong=wrong
        )

    @property
    def own_records(self) -> dict[TopicPartition, list[int]]:
        """The records that the application must process: all except those that another member
        committed."""
        others = set(self.told.others_processed)
        return {
            place: [at for at in offsets if (*place, at) not in others]
            for place, offsets in self.records.items()
        }


def all_findings(seen: Evidence) -> list[Finding]:
    """Return all findings so far, the most telling first."""
    lines, told = seen.lines, seen.told
    found = identities.shared_instance(
        lines,
        seen.group,
        len(told.starts) - 1 + told.disturbances,
        told.undisturbed(),
        told.not_its_own_doing(),
    )
    found += seen.left_for_its_poll(told.undisturbed())
    found += identities.falls_out(
        lines, seen.group, told.peers | told.removed, told.running(), LEAVES + 2 * told.disturbances
    )
    found += late_joins(lines, seen.group, told.not_its_own_doing())
    found += identities.other_instance(lines, seen.group, told.starts, told.peers)
    if seen.transactional_id is not None:
        found += identities.other_transactional_id(lines, seen.transactional_id)
    holders = seen.holders() if seen.several else None
    by_itself = holders.went_back_by_itself if holders is not None else lambda *_: False
    lost = losses.after_losing(lines, seen.group, told.peers, told.dead, by_itself)
    stale = [finding for finding in lost if finding.name == findings.AFTER_LOSING]
    back = [finding for finding in lost if finding not in stale]
    if seen.processed is None:
        found += told.noted + lost
    else:
        early = (
            []
            if seen.transactional_id
            else findings.ahead(seen.processed, seen.commits, seen.own_records)
        )
        early += [] if seen.transactional_id else findings.beyond(seen.commits, seen.ends)
        if any(finding.name == findings.NOT_COMMITTED for finding in told.noted):
            found += early + back  # what it takes back at its stop was committed
        found += early + told.noted + stale + _of_processing(seen, seen.processed, early, holders)
        found += back
        found += _repeated(seen, seen.processed)
        others = set(told.others_processed)
        found += findings.order((row for row in seen.processed if row not in others), seen.keys)
    found += findings.repeated_effects(seen.effects)
    found += findings.restless(lines, seen.group, 0, RESTLESS * (2 + told.disturbances))
    if found:
        found = seen.left_for_its_poll(told.undisturbed(), wrong=True) + found
    return [*dict.fromkeys(found)]


def _of_processing(
    seen: Evidence,
    processed: Sequence[Processed],
    early: Sequence[Finding],
    holders: Holders | None,
) -> list[Finding]:
    found = (
        findings.exactly_once(processed, seen.records, seen.commits, seen.lines)
        if seen.transactional_id
        else []
    )
    found += [] if early else findings.gaps(processed, seen.committed, seen.own_records)
    if seen.keeps_offsets:
        found += findings.gaps(
            processed, findings.reached(processed), seen.own_records, "processed up to"
        )
    found += identities.without_membership(seen.commits, seen.lines, ever=False)
    found += losses.foreign(processed, seen.told.handovers)
    found += losses.began_below(processed, seen.told.others)
    return found + repeats.processed_again(processed, seen.commits, seen.lines, holders)


def _repeated(seen: Evidence, processed: Sequence[Processed]) -> list[Finding]:
    told, most = seen.told, seen.repeats
    if most.any is not None:
        return findings.duplicates(processed, most.any * told.disturbances)
    if len(set(processed)) == len(processed):
        return []
    known = explained.Broken(
        told.peers,
        told.removed | told.dead,
        told.killed,
        told.starts,
        told.by_itself,
        seen.commits_late,
    )
    holders = seen.holders()
    return explained.unexplained(
        processed,
        seen.commits,
        seen.lines,
        explained.breaks(seen.lines, seen.group, known),
        told.written,
        clean=most.clean * told.disturbances,
        death=most.death,
        by_itself=lambda place: holders.went_back_by_itself(place, None),
    )


def reservations(seen: Evidence) -> str:
    """Return the points about processing that were not judged, and why; "" if all were."""
    if seen.processed is None or not seen.several:
        return ""
    in_hand = repeats.processed_again(
        seen.processed, seen.commits, seen.lines, seen.holders(), in_hand=True
    )
    if not in_hand:
        return ""
    why = "another of its consumers may have had them in hand, or its library gone back by itself (KIP-848: docs/testing_ready.md)"
    return (
        f"some records that came again after their commit are not judged: {why}; {in_hand[0].text}"
    )


def why_not(
    seen: Evidence,
    group: GroupSnapshot,
    members: Sequence[MemberSnapshot],
    mark: int,
    connected: Collection[str],
    *,
    offsets: bool,
    acted: bool,
    still: bool,
) -> list[Finding]:
    """Return findings that explain why something since `mark` did not come. `members`: the
    application's own. `offsets`: it was a commit. `acted`: it was that the application reads.
    `still`: it has processed nothing for a while. `connected`: addresses of all clients."""
    own = {member.member_id for member in members}
    found = goes_on(seen.lines, seen.group, own, connected)
    found += [] if found else sits(seen.lines, seen.group, own, connected)
    found += findings.restless(seen.lines, seen.group, mark, RESTLESS)
    left = seen.left_for_its_poll(seen.told.undisturbed(), connected, wrong=True)
    found += left
    if not members and not left:
        found += identities.without_members(seen.commits, seen.lines, seen.group, seen.told.peers)
    if seen.transactional_id is not None:
        found += findings.left_open(seen.lines, seen.transactional_id)
    if offsets and seen.processed is not None and members:
        done = [*seen.processed, *seen.told.others_processed]
        owned = {place for member in members for place in member.assignment or ()}
        found += findings.unfinished(done, seen.committed, seen.records, owned)
        if still and not found:
            found += findings.kept_back(
                done, {place: at for place, at in seen.records.items() if place in owned}
            )
    if (acted or (offsets and not found)) and group.state == "Stable":
        found += silent(members)
    return found


def silent(members: Sequence[MemberSnapshot]) -> list[Finding]:
    """Return findings about members that have not read their partitions."""
    return [
        Finding(
            findings.STOPS_READING,
            f"{member.name} was given {partitions_text(member.assignment)}, and has neither fetched nor committed all of that since: "
            "some of it is paused, or the application does not poll, or its listener does not return, or its library has lost a join "
            "(kafka-python 3.0.12: docs/testing.md, settings)",
        )
        for member in members
        if member.assignment and not member.acted and member.waits_for is None
    ]
