"""Random lives of consumer groups and of mixed ones: seeded sequences of every request such a group
knows, right and wrong.

The seed alone decides what is done, together with what was answered; so two brokers that answer
alike are sent alike. Member ids are chosen, not minted, so that no order of random ids is felt; of
the ids of topics only one topic, or the assignor `range`, is independent. Time plays no part: all
timeouts are long.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, await_topic, protocols
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.consumer_migration import owning

SEEDS = range(1, 17)
STEPS = 60
POLL_MS = 250


class Play:
    """One group, its members of either protocol, and a source of randomness."""

    def __init__(self, s: Session, seed: int) -> None:
        self.s = s
        self.rng = random.Random(seed)
        self.group = s.name("g")
        self.two = self.rng.random() < 0.4
        self.topics = topics(s, 4, 3) if self.two else topics(s, self.rng.choice((1, 3, 5)))
        self.with_regex = self.rng.random() < 0.3
        self.admin = s.connect("admin")
        self.size = 4
        self.consumers = [
            Consumer(
                s, label, self.group, instance=f"i-{label}" if self.rng.random() < 0.3 else None
            )
            for label in self.rng.choice(("ab", "abc", "abcd"))
        ]
        self.classic = [self._classic(label) for label in self.rng.choice(("", "", "m", "mn"))]
        self.parked: set[str] = set()
        self.joined: set[str] = set()

    def _classic(self, label: str) -> Member:
        member = Member(
            self.s, label, self.group, protocols=protocols("range", metadata=owning(self.topics[0]))
        )
        member.member_id = f"member-{label}"
        return member

    def run(self) -> None:
        """Do so many random things."""
        kinds: list[tuple[int, Callable[[Consumer], object]]] = [
            (45, self.proper),
            (8, self.beat),
            (8, self.partial),
            (5, self.wrong_epoch),
            (5, self.join),
            (6, self.subscribe),
            (5, self.leave),
            (2, self.stranger),
            (5, self.commit),
            (3, self.fetch),
            (4, self.look),
            (2, self.remove),
            (1, self.delete),
            (1, self.grow),
            (2, self.takes_over),
            (2, self.says_all),
        ]
        weights = [weight for weight, _ in kinds]
        for _ in range(STEPS):
            if self.classic and self.rng.random() < 0.4:
                self.act_classic(self.rng.choice(self.classic))
            else:
                self.rng.choices(kinds, weights)[0][1](self.rng.choice(self.consumers))
            self.collect()
        self.look(self.consumers[0])

    def resolve(self) -> None:
        """Let regular expressions be resolved, which happens beside the requests."""
        if self.with_regex:
            self.s.wait(150)

    # -- members of the consumer protocol

    def proper(self, a: Consumer) -> None:
        """What a proper client would do now."""
        answer = a.ack() if a.epoch > 0 else self.join(a)
        if answer["error_code"]:
            a.epoch = 0
            a.given = {}

    def join(self, a: Consumer) -> Plain:
        """Join, mostly to all topics."""
        a.given = {}
        fields: Plain = {"server_assignor": "range"} if self.two else {}
        if not self.two and self.rng.random() < 0.3:
            fields["server_assignor"] = self.rng.choice(("range", "uniform"))
        answer = (
            a.join(*self.topics, **fields)
            if self.rng.random() < 0.8
            else a.join(*self.some(), **fields)
        )
        if answer["error_code"]:
            a.epoch = 0
        return answer

    def some(self) -> list[str]:
        """Some of the topics, and perhaps one that is not there."""
        chosen = [name for name in self.topics if self.rng.random() < 0.6]
        return [*chosen, self.s.name("nowhere")] if self.rng.random() < 0.2 else chosen

    def beat(self, a: Consumer) -> None:
        """A heartbeat that says nothing."""
        a.beat()

    def says_all(self, a: Consumer) -> None:
        """A heartbeat that says everything."""
        a.beat(
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=self.topics,
            topic_partitions=a.listed(),
        )

    def partial(self, a: Consumer) -> None:
        """A heartbeat that reports a part of what was given, or what was not."""
        owned = [
            {**of, "partitions": [p for p in of["partitions"] if self.rng.random() < 0.5]}
            for of in self.by_name(a)
        ]
        if self.rng.random() < 0.1:
            owned.append({"topic_id": "ab" * 16, "partitions": [0]})
        a.beat(topic_partitions=owned)

    def by_name(self, a: Consumer) -> list[Plain]:
        """What was given, in the order of the topics' names: that of the ids is chance."""
        return sorted(a.listed(), key=lambda of: self.s.names.topic_id(of["topic_id"]))

    def wrong_epoch(self, a: Consumer) -> None:
        """A heartbeat of another epoch."""
        fields: Plain = {"topic_partitions": a.listed()} if self.rng.random() < 0.5 else {}
        a.beat(member_epoch=max(a.epoch + self.rng.choice((-2, -1, -1, 1)), 1), **fields)

    def subscribe(self, a: Consumer) -> None:
        """Another subscription."""
        fields: Plain = {"subscribed_topic_names": self.some()}
        if self.with_regex and self.rng.random() < 0.6:
            fields = {
                "subscribed_topic_regex": self.rng.choice(
                    (f"t.-{self.s.nonce}", f"t0-{self.s.nonce}", "nothing", "")
                )
            }
            if self.rng.random() < 0.5:
                fields["subscribed_topic_names"] = self.some()
        if self.rng.random() < 0.5:
            fields["topic_partitions"] = a.listed()
        if not self.two and self.rng.random() < 0.2:
            fields["server_assignor"] = self.rng.choice(("range", "uniform"))
        if self.rng.random() < 0.1:
            fields["rack_id"] = self.rng.choice("xy")
        a.beat(**fields)
        self.resolve()

    def leave(self, a: Consumer) -> None:
        """Leave, for good or for a while."""
        a.leave(-2 if a.instance and self.rng.random() < 0.6 else -1)
        if self.rng.random() < 0.8:
            a.epoch = 0

    def takes_over(self, a: Consumer) -> None:
        """Come back under another id, or under the instance id of another member."""
        if self.rng.random() < 0.5:
            a.member_id = f"member-{a.link.name}{self.rng.randrange(3)}"
            a.epoch = 0
            self.join(a)
        else:
            a.beat(instance_id=self.rng.choice(("i-a", "i-b", "i-nobody")))

    def stranger(self, a: Consumer) -> None:
        """Requests in the name of nobody."""
        a.link.ask(
            "ConsumerGroupHeartbeat",
            1,
            group_id=self.group,
            member_id="nobody",
            member_epoch=self.rng.choice((-2, -1, 1, 3)),
            instance_id=self.rng.choice((None, "i-a", "i-nobody")),
        )

    def commit(self, a: Consumer) -> None:
        """Commit under the epoch, or an older one."""
        a.commit(
            self.rng.choice(self.topics),
            self.rng.choice((0, 0, 1)),
            epoch=a.epoch + self.rng.choice((0, 0, -1, 1)),
        )

    def fetch(self, a: Consumer) -> None:
        """Fetch offsets with the member's identity, or an administrator's."""
        a.fetch(
            self.topics[0],
            **self.rng.choice(
                ({}, {"member_epoch": a.epoch - 1}, {"member_id": None, "member_epoch": -1})
            ),
        )

    # -- members of the classic protocol

    def act_classic(self, m: Member) -> None:
        """What a classic member does: mostly what a proper client would."""
        if m.link.name in self.parked:
            return
        roll = self.rng.random()
        if m.link.name not in self.joined or roll < 0.12:
            self.join_classic(m)
        elif roll < 0.45:
            self.next_classic(m, m.heartbeat())
        elif roll < 0.75:
            self.sync_classic(m)
        elif roll < 0.85:
            m.commit(
                self.topics[0],
                1,
                generation_id_or_member_epoch=m.generation + self.rng.choice((0, 0, -1, 1)),
            )
        elif roll < 0.93:
            m.leave()
            self.joined.discard(m.link.name)
        else:
            m.heartbeat(generation_id=m.generation + 1)

    def join_classic(self, m: Member) -> None:
        """JoinGroup with an id of its own; not to an empty consumer group, which Kafka then forgets
        without writing it down."""
        found = self.s.stage().ask_quietly("ConsumerGroupDescribe", 1, group_ids=[self.group])[
            "groups"
        ][0]
        if found["group_state"] == "Empty":
            return
        owned = [p for p in range(3) if self.rng.random() < 0.3]
        m.send_join(protocols=protocols("range", metadata=owning(self.topics[0], *owned)))
        self.parked.add(m.link.name)

    def sync_classic(self, m: Member) -> None:
        """SyncGroup; a leader gives nobody anything."""
        m.send_sync({f"member-{of.link.name}": "" for of in self.classic} if m.leader else None)
        self.parked.add(m.link.name)

    def next_classic(self, m: Member, answer: Plain) -> None:
        """What an error means to a proper client."""
        if answer["error_code"]:
            self.joined.discard(m.link.name)

    def collect(self) -> None:
        """Take the answers that have come to parked requests."""
        for _ in range(2):
            for m in self.classic:
                if m.link.name in self.parked and m.link.poll(POLL_MS):
                    self.parked.discard(m.link.name)
                    answer = m.link.expect()
                    if "generation_id" in answer:
                        m.learn(answer)
                        if answer["error_code"] == 0:
                            self.joined.add(m.link.name)
                    else:
                        self.next_classic(m, answer)

    # -- administrators

    def look(self, _: Consumer) -> None:
        """What an admin sees."""
        describe(self.admin, self.group, self.rng.choice((0, 1)))
        self.admin.ask("DescribeGroups", self.rng.choice((5, 6)), groups=[self.group])
        self.admin.ask("ListGroups", 5, only="groups")

    def remove(self, a: Consumer) -> None:
        """Take members out."""
        named = [
            {"member_id": a.member_id, "group_instance_id": self.rng.choice((None, a.instance))}
        ]
        if self.rng.random() < 0.3:
            named.append({"member_id": "", "group_instance_id": "i-b"})
        self.admin.ask("LeaveGroup", 5, group_id=self.group, members=named)

    def delete(self, _: Consumer) -> None:
        """Delete the group or an offset, if that can be."""
        self.admin.ask("DeleteGroups", 2, groups_names=[self.group])
        wanted = [{"name": name, "partitions": [{"partition_index": 0}]} for name in self.topics]
        self.admin.ask("OffsetDelete", 0, group_id=self.group, topics=wanted)

    def grow(self, _: Consumer) -> None:
        """Give a topic another partition."""
        if self.two or self.size > 5:
            return
        self.size += 2
        stage, name = self.s.stage(), self.topics[0]
        stage.ask_quietly(
            "CreatePartitions",
            3,
            topics=[{"name": name, "count": self.size, "assignments": None}],
            timeout_ms=5_000,
            validate_only=False,
        )
        found = stage.ask_quietly(
            "Metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False
        )["topics"][0]
        await_topic(stage, name, max(len(found["partitions"]), self.size))
        self.s.wait(1_000)


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        Play(s, seed).run()

    play.__name__ = f"seed_{seed:03}"
    return play


for _seed in SEEDS:
    scenario("consumer")(episode(_seed))
