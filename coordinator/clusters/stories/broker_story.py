"""A group's generations and epochs from the broker's lines.

A rebalance has a trigger (the reason of "Preparing to rebalance") and may have a brake: members
that did not join again and were removed at its end, or whose session ended meanwhile.
"""

from __future__ import annotations

from ..facts import (
    BecameEmpty,
    EpochBumped,
    Expired,
    Fact,
    Joined,
    Left,
    MemberFenced,
    MetadataChanged,
    NotRejoined,
    Prepared,
    Replaced,
    Seen,
    Stabilized,
    SubscriptionChanged,
    TargetComputed,
)
from .people import People
from .reasons import Told, poll_expired, told
from .story import FOLLOWS, LIKELY, SHOWN, Rebalance

_ONE_REQUEST_MS = 10
"""A broker logs what a member asks for and the epoch that it begins while it handles one request: what
lies further apart may miss lines in between."""

_AT_THE_END_MS = 1_000


class BrokerStory:
    """Folds a group's facts, in the order of time."""

    def __init__(
        self, people: People, *, kind: str | None, before: BrokerStory | None = None
    ) -> None:
        """`kind`: the group's protocol. `before`: the story from another coordinator of the group; members that it knew stay
        known."""
        self.people = people
        self.kind = kind
        self.share = kind == "share"
        self.rebalances: list[Rebalance] = []
        self.trigger: tuple[Seen, Told] | None = None
        self.recent: list[Seen] = []
        self.gone: set[str] = set()
        self.alive: dict[str, set[str]] = {}
        self.shared: set[str] = set()
        self.joined: set[str] = set()
        self.generation: int | None = None
        self.epoch: int | None = None
        self.present: set[str] | None = None
        self.hash: str | None = None
        if before is not None:
            self.gone, self.alive, self.shared = before.gone, before.alive, before.shared
            self.joined = before.joined

    def see(self, each: Seen) -> None:
        """Take the next fact."""
        fact = each.fact
        match fact:
            case Prepared():
                self.trigger = (each, told(fact.reason))
            case Stabilized(_, generation, members):
                self._generation(each, generation, members, empty=False)
            case BecameEmpty(_, generation):
                self._generation(each, generation, 0, empty=True)
            case EpochBumped(_, epoch, metadata_hash):
                self._epochs(each, epoch, metadata_hash)
            case TargetComputed(_, epoch):
                if self.share and (self.epoch is None or epoch > self.epoch):
                    self._epochs(each, epoch, None)
            case (
                Expired()
                | Left()
                | NotRejoined()
                | Replaced()
                | Joined()
                | MemberFenced()
                | SubscriptionChanged()
                | MetadataChanged()
            ):
                if isinstance(fact, Left) and self._left_at_the_end(each, fact):
                    self._went(fact.member)
                elif not self._joins_again(fact):
                    self.recent.append(each)
                self._alive(fact)
            case _:
                pass

    def _left_at_the_end(self, each: Seen, left: Left) -> bool:
        """Return True if a member left that a join phase still waited for: the phase is over then.
        The Scala coordinator logs the leave behind the new generation."""
        last = self.rebalances[-1] if self.rebalances else None
        if self.trigger is not None or last is None or last.began is None or last.empty:
            return False
        if last.member_id == left.member or (each.at or 0) - (last.at or 0) > _AT_THE_END_MS:
            return False
        self._waited_for(last, left.member, each)
        return True

    def _waited_for(self, rebalance: Rebalance, member: str, each: Seen) -> None:
        if (rebalance.join_phase_ms or 0) >= _AT_THE_END_MS and not rebalance.after_empty:
            rebalance.held_up_by = rebalance.held_up_by or self.people.name(member) or member
            rebalance.evidence.append(each.evidence)

    def _joins_again(self, fact: Fact) -> bool:
        """Return True for a member of the classic protocol in a group that was converted: it joins
        again with the id that it had, and begins no epoch."""
        return (
            isinstance(fact, Joined) and fact.protocol == "classic" and fact.member in self.joined
        )

    def _alive(self, fact: Fact) -> None:
        """Note names that several live members share: which of them returns cannot be known."""
        if isinstance(fact, Joined):
            self.joined.add(fact.member)
            name = self.people.name(fact.member) or fact.member
            members = self.alive.setdefault(name, set())
            members.add(fact.member)
            if len(members) > 1:
                self.shared.add(name)
        elif isinstance(fact, Replaced):
            members = self.alive.setdefault(fact.instance, set())
            members.discard(fact.former)
            members |= {fact.member} if fact.member else set()
        elif isinstance(fact, Left | Expired | MemberFenced):
            self.alive.get(self.people.name(fact.member) or "", set()).discard(fact.member)
        elif isinstance(fact, NotRejoined):
            for member in fact.members:
                self.alive.get(self.people.name(member) or "", set()).discard(member)

    # -- the classic protocol

    def _generation(self, each: Seen, generation: int, members: int | None, *, empty: bool) -> None:
        recent, trigger = self.recent, self.trigger
        self.recent, self.trigger = [], None
        lost = self.generation is not None and generation != self.generation + 1
        self.generation = generation
        before = self.rebalances[-1] if self.rebalances else None
        if trigger is not None:
            begun = trigger[0].fact
            if isinstance(begun, Prepared) and begun.old_generation + 1 != generation:
                trigger, lost = None, True  # lines in between are missing
        rebalance = Rebalance(generation, each.at, members=members, empty=empty)
        self.rebalances.append(rebalance)
        rebalance.after_empty = generation == 1 or (before is not None and before.empty)
        if trigger is not None:
            seen, about = trigger
            rebalance.began = seen.at
            rebalance.evidence.append(seen.evidence)
            self._explain(rebalance, seen, about, recent)
            self._brakes(rebalance, seen, about, recent)
        elif empty and not lost:
            self._emptied(rebalance, recent)
        elif not lost:
            self._without_trigger(rebalance, recent)
        rebalance.evidence.append(each.evidence)
        if rebalance.cause in ("expired", "left", "poll-timeout") and rebalance.member_id:
            self._went(rebalance.member_id)
        for one in recent:
            if isinstance(one.fact, Expired | Left):
                self._went(one.fact.member)
            elif isinstance(one.fact, NotRejoined):
                for member in one.fact.members:
                    self._went(member)
        for one in recent:
            if isinstance(one.fact, Joined):
                self.gone.discard(self.people.name(one.fact.member) or "")

    def _explain(self, rebalance: Rebalance, seen: Seen, about: Told, recent: list[Seen]) -> None:
        people = self.people
        rebalance.cause, rebalance.certainty = about.cause, about.certainty
        rebalance.member_id, rebalance.member = about.member, people.name(about.member)
        rebalance.reason = seen.fact.reason if isinstance(seen.fact, Prepared) else ""
        if about.cause in ("left", "poll-timeout"):
            for one in recent:
                if isinstance(one.fact, Left) and one.fact.member == about.member:
                    rebalance.evidence.append(one.evidence)
                    if poll_expired(one.fact.client_reason):
                        rebalance.cause = "poll-timeout"
        elif about.cause == "expired":
            for one in recent:
                if isinstance(one.fact, Expired) and one.fact.member == about.member:
                    rebalance.evidence.append(one.evidence)
        elif about.cause == "joined":
            name = rebalance.member or ""
            assert isinstance(seen.fact, Prepared)
            if seen.fact.old_generation == 0:
                rebalance.cause = "first-join"
            elif name in self.gone or (name in self.shared and people.alone(name)):
                rebalance.returns = None if name in self.shared and not people.alone(name) else True
                if about.instance:
                    rebalance.cause, rebalance.certainty = "static-restart", FOLLOWS
        elif about.cause == "static-restart":
            rebalance.returns = True

    def _brakes(self, rebalance: Rebalance, seen: Seen, about: Told, recent: list[Seen]) -> None:
        for one in recent:
            members: tuple[str, ...] = ()
            if isinstance(one.fact, NotRejoined):
                members = one.fact.members
            elif isinstance(one.fact, Expired) and one.fact.member != about.member:
                if (one.at or 0, one.evidence.line) > (seen.at or 0, seen.evidence.line):
                    members = (one.fact.member,)
            elif isinstance(one.fact, Left) and one.fact.member != about.member:
                if (rebalance.at or 0) - (one.at or 0) <= _AT_THE_END_MS:
                    self._waited_for(rebalance, one.fact.member, one)
            for member in members:
                name = self.people.name(member) or member
                if name not in rebalance.removed:
                    rebalance.removed.append(name)
                rebalance.held_up_by = rebalance.held_up_by or name
                rebalance.evidence.append(one.evidence)
        if rebalance.cause == "joined" and rebalance.member in rebalance.removed:
            rebalance.returns = True  # it is its own predecessor that the others waited for

    def _emptied(self, rebalance: Rebalance, recent: list[Seen]) -> None:
        for one in recent:
            if isinstance(one.fact, Left | Expired):
                rebalance.cause = "expired" if isinstance(one.fact, Expired) else "left"
                if isinstance(one.fact, Left) and poll_expired(one.fact.client_reason):
                    rebalance.cause = "poll-timeout"
                rebalance.member_id = one.fact.member
                rebalance.member = self.people.name(one.fact.member)
                rebalance.certainty = FOLLOWS
                rebalance.evidence.append(one.evidence)
                return

    def _without_trigger(self, rebalance: Rebalance, recent: list[Seen]) -> None:
        """Find the cause of a rebalance whose first line is missing: if only one event happened
        since the last one, that is the cause."""
        happened = [one for one in recent if isinstance(one.fact, Left | Expired | Joined)]
        if len(happened) != 1:
            return
        if isinstance(happened[0].fact, Left | Expired):
            self._emptied(rebalance, happened)
            rebalance.certainty = LIKELY
            return
        fact = happened[0].fact
        assert isinstance(fact, Joined)
        rebalance.cause = "first-join" if rebalance.generation == 1 else "joined"
        rebalance.member_id, rebalance.member = fact.member, self.people.name(fact.member)
        rebalance.certainty = LIKELY
        rebalance.evidence.append(happened[0].evidence)

    def _went(self, member: str) -> None:
        self.gone.add(self.people.name(member) or member)

    # -- groups with an epoch

    def _epochs(self, each: Seen, epoch: int, metadata_hash: str | None) -> None:
        recent, self.recent = self.recent, []
        first = self.epoch is None
        causes = [one for one in recent if not isinstance(one.fact, MetadataChanged)]
        distinct = _one_each(causes)
        if self.epoch is not None:
            missing = epoch - self.epoch - 1
            for number in range(missing):
                if missing < len(distinct) or (missing and len(distinct) > 1):
                    one = distinct.pop(0)
                    hidden = Rebalance(self.epoch + 1 + number, one.at, certainty=FOLLOWS)
                    self._explain_epoch(hidden, one, first=False)
                    classic = isinstance(one.fact, Joined) and one.fact.protocol == "classic"
                    hidden.certainty = LIKELY if classic else FOLLOWS
                    self.rebalances.append(hidden)
        rebalance = Rebalance(epoch, each.at)
        if distinct:
            near = [one for one in distinct if (each.at or 0) - (one.at or 0) <= _ONE_REQUEST_MS]
            distinct = near[-1:] or distinct  # what lies before it began no epoch
            begins = first and (epoch == 1 or (epoch == 2 and (self.share or bool(metadata_hash))))
            self._explain_epoch(rebalance, distinct[0], first=begins)
            late = (each.at or 0) - (distinct[0].at or 0) > _ONE_REQUEST_MS
            at_once = not self.share or isinstance(distinct[0].fact, Joined | SubscriptionChanged)
            if late and at_once:
                rebalance.certainty = LIKELY
            if begins:
                self.present = set()
        elif first:
            pass  # what came before may be cut off: a member that leaves changes the metadata, too
        elif any(isinstance(one.fact, MetadataChanged) for one in recent):
            rebalance.cause, rebalance.certainty = "topic-grew", self._of_metadata()
            rebalance.evidence.extend(one.evidence for one in recent)
        elif metadata_hash and self.hash and metadata_hash != self.hash:
            rebalance.cause, rebalance.certainty = "topic-grew", self._of_metadata()
        rebalance.evidence.append(each.evidence)
        self.rebalances.append(rebalance)
        self.epoch = epoch
        self.hash = metadata_hash or self.hash
        self._members(causes, rebalance)

    def _of_metadata(self) -> str:
        """Return how sure it is that a topic changed if the metadata of the subscribed topics did: of
        a consumer that subscribes to other topics brokers have no line at INFO, of others they
        have."""
        return FOLLOWS if self.kind in ("share", "streams") else LIKELY

    def _members(self, causes: list[Seen], rebalance: Rebalance) -> None:
        for one in causes:
            fact = one.fact
            if isinstance(fact, Joined):
                self.gone.discard(self.people.name(fact.member) or "")
                if self.present is not None:
                    self.present.add(fact.member)
            elif isinstance(fact, Replaced) and self.present is not None:
                self.present.discard(fact.former)
                self.present.add(fact.member or fact.former)
            elif isinstance(fact, Left | MemberFenced):
                self._went(fact.member)
                if self.present is not None:
                    self.present.discard(fact.member)
        if self.present is not None:
            rebalance.members = len(self.present)
            rebalance.empty = not self.present

    def _explain_epoch(self, rebalance: Rebalance, one: Seen, *, first: bool) -> None:
        fact = one.fact
        member: str | None = None
        cause, certainty = "unknown", SHOWN
        if isinstance(fact, Joined):
            member = fact.member
            cause = "first-join" if first else "joined"
            name = self.people.name(member)
            again = name in self.shared and self.people.alone(name or "")
            if name in self.gone or again:
                rebalance.returns = None if name in self.shared and not again else True
                if fact.instance:
                    cause, certainty = "static-restart", FOLLOWS
        elif isinstance(fact, Left):
            member, cause = fact.member, "left"
            if poll_expired(fact.client_reason):
                cause = "poll-timeout"
        elif isinstance(fact, MemberFenced):
            member = fact.member
            cause = "expired" if "session expired" in fact.why else "member-fenced"
        elif isinstance(fact, SubscriptionChanged):
            member, cause = fact.member, "subscription-changed"
            if member not in self.joined:
                certainty = LIKELY  # a member that joins subscribes, too
        elif isinstance(fact, Replaced):
            member, cause, certainty = fact.member, "static-restart", LIKELY
        elif isinstance(fact, Expired):
            member, cause = fact.member, "expired"
        rebalance.cause, rebalance.certainty = cause, certainty
        rebalance.member_id, rebalance.member = member, self.people.name(member)
        rebalance.evidence.append(one.evidence)


def _one_each(causes: list[Seen]) -> list[Seen]:
    """Return the facts that can each begin an epoch. The subscription of a member that joins is
    not a second one."""
    found: list[Seen] = []
    joined: set[str] = set()
    for one in causes:
        fact = one.fact
        if isinstance(fact, Joined):
            joined.add(fact.member)
        elif isinstance(fact, SubscriptionChanged) and fact.member in joined:
            continue
        found.append(one)
    return found
