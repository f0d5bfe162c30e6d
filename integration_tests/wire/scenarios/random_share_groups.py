"""Random lives of share groups (KIP-932): seeded sequences of what members, administrators and
members of other kinds of groups ask, right and wrong.

The seed alone decides what is done, together with what was answered. Which partitions a member is
given is a matter of hashes, to which the random ids of topics belong (SH-ASN-2), so only how many
they are is compared. The topics' state is initialised before the life begins, and all timeouts are
long, so time plays no part.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.consumers import Consumer, topics
from integration_tests.wire.people import Member
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.share_groups import describe_counts
from integration_tests.wire.scenarios.share_offsets import ALTER, DELETE, DESCRIBE
from integration_tests.wire.share_members import ShareMember
from integration_tests.wire.sharing import PROFILE

SEEDS = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11)
STEPS = 40
SIZES = (5, 3)


class Play:
    """A share group, up to three members, and a source of randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.group = s.name("g")
        self.topics = topics(s, *SIZES)
        self.members = [
            ShareMember(s, label, self.group) for label in self.rng.choice(("ab", "abc"))
        ]
        self.admin = s.connect("admin")
        self.consumer = Consumer(s, "k", self.group)
        self.classic = Member(s, "m", self.group)
        self.classic.member_id = "member-m"
        first = self.members[0]
        first.join(*self.topics)
        first.until(sum(SIZES))
        if self.rng.random() < 0.5:
            first.leave()

    def run(self) -> None:
        """Do so many random things, then look at the group."""
        kinds: list[tuple[int, Callable[[ShareMember], object]]] = [
            (34, self.proper),
            (8, self.wrong_epoch),
            (6, self.join),
            (8, self.subscribe),
            (6, self.leave),
            (3, self.stranger),
            (8, self.look),
            (4, self.remove),
            (2, self.delete),
            (4, self.other_kinds),
            (5, self.offsets),
            (2, self.alter),
            (1, self.forget),
        ]
        weights = [weight for weight, _ in kinds]
        for _ in range(STEPS):
            self.rng.choices(kinds, weights)[0][1](self.rng.choice(self.members))
        self.look(self.members[0])
        self.offsets(self.members[0])

    # -- members

    def proper(self, a: ShareMember) -> None:
        """What a proper client would do now."""
        answer = a.counted() if a.epoch > 0 else self.join(a)
        if answer and answer["error_code"]:
            a.epoch = 0

    def join(self, a: ShareMember) -> dict[str, object]:
        """Join, mostly to all topics."""
        a.epoch = 0
        return a.counted(
            subscribed_topic_names=self.topics if self.rng.random() < 0.7 else self.some()
        )

    def some(self) -> list[str]:
        """One of the topics or both, perhaps one that is not there."""
        chosen = self.rng.choice((self.topics, self.topics[:1], self.topics[1:]))
        return [*chosen, self.s.name("nowhere")] if self.rng.random() < 0.2 else list(chosen)

    def wrong_epoch(self, a: ShareMember) -> None:
        """A heartbeat of another epoch."""
        a.counted(member_epoch=max(a.epoch + self.rng.choice((-2, -1, -1, 1)), 1))

    def subscribe(self, a: ShareMember) -> None:
        """Another subscription; sometimes none, or null."""
        names = None if self.rng.random() < 0.1 else self.some()
        a.counted(subscribed_topic_names=[] if self.rng.random() < 0.1 else names)

    def leave(self, a: ShareMember) -> None:
        """Leave."""
        a.leave()
        if self.rng.random() < 0.8:
            a.epoch = 0

    def stranger(self, a: ShareMember) -> None:
        """Heartbeats in the name of nobody."""
        epoch = self.rng.choice((-1, 1, 3))
        a.beat(member_id="nobody", member_epoch=epoch)

    def other_kinds(self, _: ShareMember) -> None:
        """Members of other kinds of groups ask for the group."""
        if self.rng.random() < 0.5:
            self.consumer.beat(
                member_epoch=0, rebalance_timeout_ms=60_000, subscribed_topic_names=self.topics
            )
        elif self.rng.random() < 0.5:
            self.consumer.commit(self.topics[0], 1, epoch=self.rng.choice((-1, 0, 1)))
        else:
            self.classic.heartbeat(generation_id=1)

    # -- administrators

    def look(self, a: ShareMember) -> None:
        """What an admin sees."""
        describe_counts(self.s, a)
        self.admin.ask("ListGroups", 5, only="groups")
        if self.rng.random() < 0.3:
            self.admin.ask("DescribeGroups", 6, groups=[self.group])

    def remove(self, a: ShareMember) -> None:
        """LeaveGroup is of other kinds of groups."""
        named = [{"member_id": a.member_id, "group_instance_id": None}]
        self.admin.ask("LeaveGroup", 5, group_id=self.group, members=named)

    def delete(self, _: ShareMember) -> None:
        """Delete the group, if that can be."""
        self.admin.ask("DeleteGroups", 3, groups_names=[self.group])

    def offsets(self, _: ShareMember) -> None:
        """Where the group is."""
        indexes = self.rng.sample(range(min(SIZES)), 2)
        named = [{"topic_name": self.rng.choice(self.topics), "partitions": indexes}]
        self.admin.ask(DESCRIBE, 1, groups=[{"group_id": self.group, "topics": named}])

    def alter(self, _: ShareMember) -> None:
        """Set where it is, if nobody is there."""
        rows = [
            {"partition_index": index, "start_offset": self.rng.randrange(5)} for index in (0, 2)
        ]
        of = [{"topic_name": self.rng.choice(self.topics), "partitions": rows}]
        self.admin.ask(ALTER, 0, shuffled="responses", group_id=self.group, topics=of)

    def forget(self, _: ShareMember) -> None:
        """Forget a topic."""
        of = [{"topic_name": self.rng.choice(self.topics)}]
        self.admin.ask(DELETE, 0, shuffled="responses", group_id=self.group, topics=of)


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario(PROFILE, since="4.3")(episode(_seed))
