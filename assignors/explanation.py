"""Explanation of an assignment: the reason for each partition's new owner, in sentences for a
reader who sees a rebalance for the first time.

Reads the same input as the judge: partitions, subscriptions and the assignment. It does not know
which assignor made it, so it gives the reason that the input shows: the former owner left, no
longer subscribes, had too much, or its claim was stale; or it says that no such reason is
visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from assignors.judge import Assigned, named, partitions_of
from assignors.ownership import Partition, Subscriber, ownership

Plan = Mapping[str, Assigned | Iterable[Partition]]
Previous = Mapping[str, Iterable[Partition]] | None


def explain(
    partitions: Mapping[str, int],
    members: Mapping[str, Subscriber],
    assignment: Plan,
    *,
    partition: Partition | None = None,
    previous: Previous = None,
) -> str:
    """Return one line for `partition`; without it, a line for every partition whose owner changed,
    and a last line for the others.

    `previous` is as for `verdict`.
    """
    story = _Story(partitions, members, assignment, previous)
    if partition is not None:
        return story.line((partition[0], partition[1]))
    everything = story.all_partitions()
    changed = [p for p in sorted({*everything, *story.had.owners}) if not story.stays(p)]
    lines = [story.line(p) for p in changed]
    lines += (
        f"{member} is in the group and got nothing: {story.why_nothing(member)}."
        for member in members
        if not story.given[member]
    )
    stayed = sum(map(story.stays, everything))
    return "\n".join([*lines, f"{stayed} of {len(everything)} partitions stayed where they were."])


class _Story:
    """The former owners, the new owners, and the counts that the sentences mention."""

    def __init__(
        self,
        partitions: Mapping[str, int],
        members: Mapping[str, Subscriber],
        assignment: Plan,
        previous: Previous,
    ) -> None:
        self.partitions = partitions
        self.members = members
        self.had = ownership(members, previous)
        self.given = {member: partitions_of(assignment.get(member, ())) for member in members}
        self.now = {p: member for member, part in self.given.items() for p in part}
        self.newcomers = {
            m
            for m, said in members.items()
            if (said.generation is None if previous is None else m not in previous)
        }
        self.had_count = Counter(self.had.owners.values())
        self.topics_of = {member: frozenset(said.topics) for member, said in members.items()}
        self.wanted = [
            topic
            for topic in sorted(partitions)
            if any(topic in topics for topics in self.topics_of.values())
        ]
        self.total = sum(partitions[topic] for topic in self.wanted)
        self.equal = len({topics & set(self.wanted) for topics in self.topics_of.values()}) == 1

    def all_partitions(self) -> list[Partition]:
        """Return all partitions of the subscribed topics."""
        return [
            (topic, number) for topic in self.wanted for number in range(self.partitions[topic])
        ]

    def stays(self, partition: Partition) -> bool:
        return partition in self.now and self.now[partition] == self.had.owners.get(partition)

    def line(self, partition: Partition) -> str:
        """Return the sentence about one partition: its owner, and why."""
        before, after, name = (
            self.had.owners.get(partition),
            self.now.get(partition),
            named(partition),
        )
        if not 0 <= partition[1] < self.partitions.get(partition[0], 0):
            return f"{name} does not exist" + (f" any more; {before} had it." if before else ".")
        if before is not None and before == after:
            return f"{name} stayed with {before}: {self._why_kept(before)}."
        if after is None:
            return f"{name} is given to nobody: {self._why_nobody(partition)}."
        if before is None:
            return f"{name} went to {after}: {self._why_free(partition)}, and {after} {self._share(after)}."
        return (
            f"{name} moved from {before} to {after}: {self._why_moved(partition, before, after)}."
        )

    def _why_kept(self, member: str) -> str:
        return f"{member} had it, and {self._share(member)}"

    def _why_nobody(self, partition: Partition) -> str:
        holder = self.had.owners.get(partition)
        if not any(partition[0] in topics for topics in self.topics_of.values()):
            return f"no member subscribes to {partition[0]}"
        if partition in self.had.disputed:
            return f"{_listed(self.had.disputed[partition])} both claim it, so both must give it up first; the next round gives it away"
        if holder in self.members:
            return f"{holder} still holds it and must revoke it first; when it has, the next round gives it away"
        return "the plan has forgotten it"

    def _why_free(self, partition: Partition) -> str:
        if partition in self.had.disputed:
            return f"{_listed(self.had.disputed[partition])} claimed it in the same generation, so it counted as nobody's"
        return "nobody had it"

    def _why_moved(self, partition: Partition, before: str, after: str) -> str:
        if before not in self.members:
            return f"{before} is no longer in the group, and {after} {self._share(after)}"
        if partition[0] not in self.topics_of[before]:
            return (
                f"{before} no longer subscribes to {partition[0]}, and {after} {self._share(after)}"
            )
        return self._evened_out(before, after)

    def _evened_out(self, before: str, after: str) -> str:
        """Return the reason when the former owner is still a member and still subscribes: the new
        owner had too few partitions, or the move was unnecessary.
        """
        had, had_other, gets = (
            self.had_count[before],
            self.had_count[after],
            len(self.given[before]),
        )
        if gets >= had or had_other >= had:
            why = "an assignor without memory, such as range, does not look at that"
            return f"no need is to be seen: {before} had {had} and now has {gets}, {after} had {had_other}; {why}"
        joined = f"{after} {'joined and ' if after in self.newcomers else ''}had {had_other} of {self.total}"
        kept = sum(p in self.given[before] for p in self.had.held_by(before))
        plan = f"now {before} has {gets} and {after} has {len(self.given[after])}"
        if self.equal:
            plan = f"a balanced plan gives {self._each()}"
        return f"{joined}; {plan}; {before} kept {kept} of its {had}"

    def _each(self) -> str:
        quota, extras = divmod(self.total, len(self.members))
        if not extras:
            return f"each {quota}"
        return f"each {quota} or {quota + 1}"

    def _share(self, member: str) -> str:
        return f"now has {len(self.given[member])} of {self.total}"

    def why_nothing(self, member: str) -> str:
        """Return why a member has no partitions."""
        readable = sum(
            self.partitions[topic] for topic in self.wanted if topic in self.topics_of[member]
        )
        if not readable:
            return (
                "none of the topics it subscribes to exists"
                if self.topics_of[member]
                else "it subscribes to nothing"
            )
        if readable < len(self.members):
            return f"{readable} partition{'s do' if readable > 1 else ' does'} not go round among {len(self.members)} members"
        return "what it could get must be revoked by others first, or went to members that had less choice"


def _listed(members: tuple[str, ...]) -> str:
    return " and ".join(members)
