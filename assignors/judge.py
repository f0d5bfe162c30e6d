"""The judge of plans: is an assignment valid, balanced, sticky, and safe under the cooperative
protocol?

Independent of the assignors: it reads partitions, subscriptions and the assignment, and imports
nothing that assigns. Owns four questions:

* valid: each partition of a subscribed topic is assigned exactly once, to a member that
subscribes to its
  topic, and nothing else is assigned;
* balanced: as Kafka's own isBalanced says (STK-22), with its score, the sum of pairwise
differences
  (STK-24);
* sticky: how many partitions moved, and the least number that had to move (`least_moves` says
where that
  is exact);
* safe: no member gets a partition that another member still claims and has not revoked (KIP-429,
  STK-27).

Does not judge how a plan was found, nor the order of its lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import NamedTuple, Protocol, runtime_checkable

from assignors.least_moves import LeastMoves, least_moves
from assignors.ownership import Ownership, Partition, Subscriber, ownership


@runtime_checkable
class Assigned(Protocol):
    """One member's part of a plan, as the judge reads it; every Assignment has these attributes."""

    @property
    def partitions(self) -> Iterable[Partition]:
        """Return the member's partitions."""


class Fault(Enum):
    """A fault of one partition, or of one name, in a plan."""

    UNASSIGNED = "is given to nobody"
    TWICE = "is given more than once"
    NOT_SUBSCRIBED = "is given to a member that does not subscribe to its topic"
    NO_SUCH_PARTITION = "does not exist"
    NO_SUCH_MEMBER = "is given to a member that is not in the group"
    NO_ANSWER = "is left out of the plan"

    def __str__(self) -> str:
        return self.value


class Finding(NamedTuple):
    """A fault and its place. `partition` is None if the fault is a member's."""

    fault: Fault
    partition: Partition | None
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = f"member {self.members[0]}" if self.partition is None else named(self.partition)
        who = f" ({', '.join(self.members)})" if self.partition is not None and self.members else ""
        return f"{what} {self.fault}{who}"


class Imbalance(NamedTuple):
    """Evidence that a plan is not balanced: `member` could take `partition` from `owner`, which has
    at least two partitions more.
    """

    member: str
    partition: Partition
    owner: str

    def __str__(self) -> str:
        return f"{self.member} could take {named(self.partition)} from {self.owner}, which has at least two partitions more"


class Move(NamedTuple):
    """A partition that had an owner, and now has another one or none."""

    partition: Partition
    before: str
    after: str | None

    def __str__(self) -> str:
        return f"{named(self.partition)}: {self.before} -> {self.after or 'nobody'}"


class Unsafe(NamedTuple):
    """A partition that is assigned to `member` while `holders` claim it and have not been asked to
    revoke it.
    """

    partition: Partition
    member: str
    holders: tuple[str, ...]

    def __str__(self) -> str:
        return f"{named(self.partition)} is given to {self.member} while {', '.join(self.holders)} still holds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judge's findings.

    `withheld`: partitions that are not assigned because their owner must revoke them first; they
    are faults unless the plan is cooperative. `unsafe` is filled for every protocol: under the
    eager one every partition was revoked before, so it may be ignored.
    """

    findings: tuple[Finding, ...]
    imbalance: Imbalance | None
    balance_score: int
    moves: tuple[Move, ...]
    least: LeastMoves
    unsafe: tuple[Unsafe, ...]
    withheld: tuple[Partition, ...]

    @property
    def is_valid(self) -> bool:
        """True if each partition is assigned once, to a subscriber, and nothing else is assigned."""
        return not self.findings

    @property
    def is_balanced(self) -> bool:
        """True if Kafka's isBalanced is true for all members (STK-22)."""
        return self.imbalance is None

    @property
    def is_sticky(self) -> bool:
        """True if no more partitions moved than had to. Where the least number is only a lower
        bound, it may be False for a plan that is sticky.
        """
        return len(self.moves) <= self.least.moves

    @property
    def is_safe(self) -> bool:
        """True if no partition is assigned before it is revoked."""
        return not self.unsafe

    def __str__(self) -> str:
        valid = "valid" if self.is_valid else "not valid: " + "; ".join(map(str, self.findings))
        balance = "balanced" if self.imbalance is None else f"not balanced: {self.imbalance}"
        least = f"{'' if self.least.exact else 'at least '}{self.least.moves} had to"
        safe = "safe" if self.is_safe else "not safe: " + "; ".join(map(str, self.unsafe))
        withheld = f", {len(self.withheld)} withheld until revoked" if self.withheld else ""
        return f"{valid}\n{balance} (score {self.balance_score})\n{len(self.moves)} moved, {least}\n{safe}{withheld}"


def named(partition: Partition) -> str:
    """Return a partition as people write it, such as orders-3."""
    return f"{partition[0]}-{partition[1]}"


def verdict(
    partitions: Mapping[str, int],
    members: Mapping[str, Subscriber],
    assignment: Mapping[str, Assigned | Iterable[Partition]],
    *,
    previous: Mapping[str, Iterable[Partition]] | None = None,
    cooperative: bool = False,
) -> Verdict:
    """Judge an assignment, from the number of `partitions` of each existing topic and the
    `members`' subscriptions.

    `previous` gives the former owners, and may name members that are gone; by default the
    members' own claims are used (`owned_partitions` and `generation`). `cooperative`: partitions
    that must first be revoked may be left unassigned.
    """
    given = {member: partitions_of(part) for member, part in assignment.items()}
    had = ownership(members, previous)
    taken: dict[Partition, list[str]] = {}
    for member, part in given.items():
        for partition in part:
            taken.setdefault(partition, []).append(member)
    free = [p for p in _subscribed(partitions, members) if p not in taken]
    withheld = tuple(p for p in free if cooperative and (p in had.owners or p in had.disputed))
    findings = [
        *_misgiven(partitions, members, taken),
        *(Finding(Fault.UNASSIGNED, p) for p in free if p not in withheld),
    ]
    findings += (
        Finding(Fault.NO_ANSWER, None, (member,)) for member in members if member not in given
    )
    return Verdict(
        findings=tuple(findings),
        imbalance=_imbalance(members, given),
        balance_score=balance_score(map(len, given.values())),
        moves=_moves(partitions, had, taken),
        least=least_moves(
            partitions,
            {member: frozenset(said.topics) for member, said in members.items()},
            had.owners,
        ),
        unsafe=_unsafe(members, had, taken),
        withheld=withheld,
    )


def partitions_of(part: Assigned | Iterable[Partition]) -> list[Partition]:
    """Return the partitions of one member's part of a plan, whether it is an Assignment or a plain
    list.
    """
    listed: Iterable[Partition] = part.partitions if isinstance(part, Assigned) else part
    return [(topic, number) for topic, number in listed]


def balance_score(counts: Iterable[int]) -> int:
    """Return the sum of the differences between all pairs of counts (STK-24): 0 is perfect."""
    ordered = sorted(counts)
    last = len(ordered) - 1
    return sum((2 * position - last) * count for position, count in enumerate(ordered))


def _subscribed(
    partitions: Mapping[str, int], members: Mapping[str, Subscriber]
) -> Iterable[Partition]:
    """Return every partition that must be assigned."""
    topics = sorted(
        set(chain.from_iterable(said.topics for said in members.values())) & partitions.keys()
    )
    return ((topic, number) for topic in topics for number in range(partitions[topic]))


def _misgiven(
    partitions: Mapping[str, int],
    members: Mapping[str, Subscriber],
    taken: Mapping[Partition, list[str]],
) -> Iterable[Finding]:
    topics_of = {member: frozenset(said.topics) for member, said in members.items()}
    for partition, takers in taken.items():
        topic, number = partition
        strangers = tuple(taker for taker in takers if taker not in members)
        if strangers:
            yield Finding(Fault.NO_SUCH_MEMBER, partition, strangers)
        if not 0 <= number < partitions.get(topic, 0):
            yield Finding(Fault.NO_SUCH_PARTITION, partition, tuple(takers))
        unasked = tuple(
            taker for taker in takers if taker in topics_of and topic not in topics_of[taker]
        )
        if unasked:
            yield Finding(Fault.NOT_SUBSCRIBED, partition, unasked)
        if len(takers) > 1:
            yield Finding(Fault.TWICE, partition, tuple(takers))


def _imbalance(
    members: Mapping[str, Subscriber], given: Mapping[str, list[Partition]]
) -> Imbalance | None:
    """Return the first case in which the subscriber of a topic with the fewest partitions could
    take one from its owner (STK-22).
    """
    poorest: dict[str, str] = {}
    for member in sorted(members, key=lambda member: (len(given.get(member, ())), member)):
        for topic in members[member].topics:
            poorest.setdefault(topic, member)
    for owner, part in given.items():
        for partition in part:
            relieved_by = poorest.get(partition[0])
            if relieved_by is not None and len(given.get(relieved_by, ())) + 1 < len(part):
                return Imbalance(relieved_by, partition, owner)
    return None


def _moves(
    partitions: Mapping[str, int], had: Ownership, taken: Mapping[Partition, list[str]]
) -> tuple[Move, ...]:
    moves = []
    for partition, before in sorted(had.owners.items()):
        if partition[1] < partitions.get(partition[0], 0):
            after = taken.get(partition, [])
            if before not in after:
                moves.append(Move(partition, before, after[0] if after else None))
    return tuple(moves)


def _unsafe(
    members: Mapping[str, Subscriber], had: Ownership, taken: Mapping[Partition, list[str]]
) -> tuple[Unsafe, ...]:
    """Return the partitions that are assigned to one member while another, still in the group, owns
    or claims them.
    """
    found = []
    for partition, takers in taken.items():
        claimants = had.disputed.get(partition) or (
            (had.owners[partition],) if partition in had.owners else ()
        )
        for taker in takers:
            holders = tuple(
                claimant for claimant in claimants if claimant != taker and claimant in members
            )
            if holders:
                found.append(Unsafe(partition, taker, holders))
    return tuple(found)
