"""Random lives of a cluster of three, lived on real brokers and on the emulator's, and compared
step by step.

    python -m integration_tests.cluster.lives [--seed N] [--count N] [--record]

Brokers stop, crash and return, leaders and coordinators move, partitions are reassigned; between
these, records are produced, groups of both protocols are joined, and offsets are committed. Each
step is awaited until its outcome is determined: the first replica in sync leads, and what was
acknowledged is there wherever it is asked for. At most one broker is down at a time, so nothing
that was acknowledged may be lost. A seed gives the same life everywhere; what differs is printed,
and makes the exit status 1. A life that real brokers do not repeat says nothing, as one of them may
lose its leaderships for want of processor time: it is told, and not counted.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from integration_tests.cluster.hosts import Hosts, emulated_cluster, real_cluster
from integration_tests.cluster.registry import Story, play_story
from integration_tests.cluster.scenarios.consumers import Consumer
from integration_tests.cluster.stage import (
    BROKERS,
    INTERNAL_PARTITIONS,
    OFFSETS,
    Cluster,
    coordinator_partition,
    lay_out,
)
from integration_tests.wire.compare import difference, line, told
from integration_tests.wire.people import protocols
from integration_tests.wire.raw import Plain
from integration_tests.wire.record import Recorded, save
from integration_tests.wire.recorder import complete

HOME: Final = Path(__file__).resolve().parents[1] / "golden" / "cluster_lives"
STEPS: Final = 14
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")
"""A mark has letters only."""
_SESSION_MS: Final = 900_000
"""No member's session ends while a broker is slow to start."""
_GROUP_ID_NOT_FOUND: Final = 69


class Life:
    """One life, drawn from a seed. It remembers what was acknowledged, and asks for it."""

    def __init__(self, c: Cluster, seed: int) -> None:
        self.c = c
        self.random = Random(seed)
        self.down = 0
        self.replicas: dict[tuple[str, int], list[int]] = {}
        self.ends: dict[tuple[str, int], int] = {}
        self.committed: dict[str, int] = {}
        self.members: dict[str, Plain] = {}
        self.consumers: dict[str, Consumer] = {}
        self.offset = 0
        self.steps = STEPS

    def live(self) -> None:
        """All of it."""
        layouts = {"wide": [[1, 2, 3], [2, 3, 1]], "narrow": [[3, 1], [1, 2]]}
        for label, replicas in layouts.items():
            name = self.c.topic(label, *replicas)
            self.c.s.names.topic_id(self.c.topic_id(name))
            for index, nodes in enumerate(replicas):
                self.replicas[name, index] = nodes
                self.ends[name, index] = 0
        for broker in BROKERS:
            self.committed[self.c.name(f"offsets{broker}", broker)] = -1
        for _ in range(self.steps):
            self.random.choice(self._possible())()
        if self.down:
            self._comes_back()
        for group in self.committed:
            self._reads(group)
        for topic, index in self.replicas:
            self._reads_end(topic, index)

    def _possible(self) -> list[Callable[[], None]]:
        brokers = [self._comes_back] if self.down else [self._goes]
        moves = [self._leads, self._coordinates, self._moves]
        return [
            *brokers,
            *brokers,
            *moves,
            self._produces,
            self._commits,
            self._commits,
            self._classic,
            self._consumer,
        ]

    # -- brokers, leaders and replicas

    def _goes(self) -> None:
        self.down = self.random.choice(BROKERS)
        self.random.choice((self.c.crash, self.c.stop))(self.down)
        for topic, index in self.replicas:
            self._show(topic, index)
        for index in range(INTERNAL_PARTITIONS):
            self.c.until(OFFSETS, index, isr_nodes=set(BROKERS) - {self.down})

    def _comes_back(self) -> None:
        self.c.start(self.down)
        self.down = 0
        for topic, index in self.replicas:
            self._show(topic, index)
        for index in range(INTERNAL_PARTITIONS):
            self.c.until(OFFSETS, index, isr_nodes=set(BROKERS))

    def _show(self, topic: str, index: int) -> None:
        """A partition, once all its replicas that are alive are in sync. Of a partition whose last
        replica is gone the ISR stays."""
        alive = set(self.replicas[topic, index]) - {self.down}
        if alive:
            self.c.until(topic, index, isr_nodes=alive)
        self.c.show(topic, index=index)

    def _leads(self) -> None:
        topic, index = self.random.choice(list(self.replicas))
        to = self.random.choice([node for node in self.replicas[topic, index] if node != self.down])
        self.replicas[topic, index] = [
            to,
            *(node for node in self.replicas[topic, index] if node != to),
        ]
        self.c.lead(topic, index, to)
        self.c.show(topic, index=index)

    def _coordinates(self) -> None:
        """The internal topic's epochs are not shown: they are those of all lives that the cluster
        has had."""
        index, to = (
            self.random.randrange(INTERNAL_PARTITIONS),
            self.random.choice([node for node in BROKERS if node != self.down]),
        )
        self.c.lead(OFFSETS, index, to)
        self.c.s.steps.append({"coordinates": [index, to]})

    def _moves(self) -> None:
        topic, index = self.random.choice(list(self.replicas))
        alive = [node for node in BROKERS if node != self.down]
        target = self.random.sample(alive, self.random.randint(1, len(alive)))
        self.replicas[topic, index] = target
        entry = {"partition_index": index, "replicas": target}
        link = self.c.at(self.random.choice(alive))
        link.ask(
            "AlterPartitionReassignments",
            0,
            topics=[{"name": topic, "partitions": [entry]}],
            timeout_ms=10_000,
        )
        self.c.until(topic, index, replica_nodes=target, isr_nodes=set(target))
        self.c.show(topic, index=index)

    # -- records

    def _leader(self, topic: str, index: int) -> int:
        """Who leads a partition and serves it; 0: nobody."""
        leader = 0

        def served() -> bool:
            nonlocal leader
            leader = int(self.c.partition(topic, index)["leader_id"])
            if leader == -1:
                return all(node == self.down for node in self.replicas[topic, index])
            entry = {"partition_index": index, "timestamp": -1}
            answer = self.c.quietly(
                "ListOffsets",
                7,
                leader,
                replica_id=-1,
                topics=[{"name": topic, "partitions": [entry]}],
            )
            found = answer["topics"][0]["partitions"][0]
            return not found["error_code"] and found["offset"] == self.ends[topic, index]

        self.c.s.until(
            served,
            f"{self.c.s.names.text(topic)}-{index} never had its {self.ends[topic, index]} records",
        )
        return max(leader, 0)

    def _produces(self) -> None:
        topic, index = self.random.choice(list(self.replicas))
        leader = self._leader(topic, index)
        if leader:
            self.c.produce(topic, b"value", broker=leader, index=index)
            self.ends[topic, index] += 1

    def _reads_end(self, topic: str, index: int) -> None:
        self.c.s.say(f"{self.c.s.names.text(topic)}-{index} is led by", self._leader(topic, index))

    # -- groups

    def _coordinator(self, group: str) -> int:
        """Who coordinates a group, and serves it."""
        found = 0

        def served() -> bool:
            nonlocal found
            found = int(self.c.partition(OFFSETS, coordinator_partition(group))["leader_id"])
            if found not in self.c.alive:
                return False
            row = self.c.quietly("DescribeGroups", 6, found, groups=[group])["groups"][0]
            return row["error_code"] in (0, _GROUP_ID_NOT_FOUND)

        self.c.s.until(served, f"nobody coordinates {self.c.s.names.text(group)}")
        return found

    def _commits(self) -> None:
        group = self.random.choice(list(self.committed))
        self.offset += 1
        topics = [
            {
                "name": next(iter(self.replicas))[0],
                "partitions": [{"partition_index": 0, "committed_offset": self.offset}],
            }
        ]
        link = self.c.at(self._coordinator(group))
        link.ask(
            "OffsetCommit",
            9,
            group_id=group,
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=topics,
        )
        self.committed[group] = self.offset

    def _reads(self, group: str) -> None:
        """What was committed last is there, once its coordinator knows that it is replicated."""
        coordinator = self._coordinator(group)
        topics = [{"name": next(iter(self.replicas))[0], "partition_indexes": [0]}]

        def there() -> bool:
            answer = self.c.quietly(
                "OffsetFetch", 9, coordinator, groups=[{"group_id": group, "topics": topics}]
            )
            return bool(
                answer["groups"][0]["topics"][0]["partitions"][0]["committed_offset"]
                == self.committed[group]
            )

        self.c.s.until(
            there, f"{self.c.s.names.text(group)} never had offset {self.committed[group]}"
        )
        self.c.s.say(f"{self.c.s.names.text(group)} at {coordinator}", self.committed[group])

    def _classic(self) -> None:
        """The only member of a classic group joins, or goes on at whoever coordinates it now."""
        group = self.c.name("classic", self.random.choice(BROKERS))
        link = self.c.at(self._coordinator(group))
        if group in self.members:
            link.ask("Heartbeat", 4, **self.members[group])
            return
        join: Plain = {
            "group_id": group,
            "session_timeout_ms": _SESSION_MS,
            "rebalance_timeout_ms": _SESSION_MS,
            "protocol_type": "consumer",
            "protocols": protocols("range"),
        }
        told_id = link.ask("JoinGroup", 9, **join, member_id="")["member_id"]
        joined = link.ask("JoinGroup", 9, **join, member_id=told_id)
        member: Plain = {
            "group_id": group,
            "generation_id": joined["generation_id"],
            "member_id": told_id,
        }
        given = [{"member_id": told_id, "assignment": "0a"}]
        link.ask(
            "SyncGroup",
            5,
            **member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=given,
        )
        self.members[group] = member

    def _consumer(self) -> None:
        """A member of a consumer group joins, or goes on."""
        group = self.c.name("consumers", self.random.choice(BROKERS))
        coordinator = self._coordinator(group)
        if group in self.consumers:
            self.consumers[group].beat(coordinator)
            return
        consumer = self.consumers[group] = Consumer(self.c, f"of-{len(self.consumers)}", group)
        consumer.join(coordinator, next(iter(self.replicas))[0])
        consumer.ack(coordinator)


def life(seed: int) -> Story:
    """The story of a seed."""
    return partial(_live, seed)


def _live(seed: int, c: Cluster) -> None:
    Life(c, seed).live()


def name_of(seed: int, kind: str = "lives") -> str:
    """What a life is called in a record."""
    return f"{kind}.seed_{seed}"


def compare(
    real: Hosts,
    ours: Hosts,
    seeds: range,
    home: Path | None = None,
    *,
    kind: str = "lives",
    story: Callable[[int], Story] = life,
) -> int:
    """Live these on both and print where they part; how many do. `home`: keep those that real
    brokers lived to their end, and repeat.

    `story`: what a seed's life is; `kind`: what such lives are called.
    """
    for hosts in (real, ours):
        lay_out(hosts.bootstrap_servers.split(","))
    parted = unsure = 0
    kept: dict[str, Recorded] = {}
    for seed in seeds:
        nonce, again = (
            Random(f"life {seed} {time}").randbytes(3).hex().translate(_LETTERS) for time in (1, 2)
        )
        name = name_of(seed, kind)
        steps, here = (play_story(name, story(seed), hosts, nonce) for hosts in (real, ours))
        found = difference(steps, here)
        unlike: str | None = None if complete(steps) else f"it did not end: {line(steps[-1])}"
        if unlike is None and (found or home is not None):
            parts = difference(steps, play_story(name, story(seed), real, again))
            unlike = told(parts, "once", "again") if parts else None
        if unlike is not None:
            unsure += 1
            print(
                f"seed {seed}: not repeated by Kafka; {unlike}"
                + (f"\n{told(found, 'Kafka', 'we')}" if found else ""),
                flush=True,
            )
            continue
        if home is not None:
            kept[name] = Recorded(nonce, steps)
            save(kept, home)
        parted += found is not None
        print(
            f"seed {seed}: "
            + (
                f"differs\n{told(found, 'Kafka', 'we')}"
                if found
                else f"{len(steps)} steps, the same"
            ),
            flush=True,
        )
    print(f"{len(seeds)} lives: {parted} differ, {unsure} that Kafka did not repeat")
    return parted


def main(
    arguments: list[str] | None = None,
    *,
    module: str = "lives",
    description: str | None = __doc__,
    story: Callable[[int], Story] = life,
) -> int:
    """The command. `module`: which one is run, and what its lives are called; `story`: what a
    seed's life is."""
    parser = argparse.ArgumentParser(
        prog=f"python -m integration_tests.cluster.{module}", description=description
    )
    parser.add_argument("--seed", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--count", type=int, default=30, help="how many lives (30)")
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep what the real brokers did, in place of what was kept",
    )
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error(f"--count {options.count}: live at least one life")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # the Java processes end with this one
    with real_cluster() as real, emulated_cluster() as ours:
        seeds = range(options.seed, options.seed + options.count)
        return (
            1
            if compare(
                real, ours, seeds, HOME if options.record else None, kind=module, story=story
            )
            else 0
        )


if __name__ == "__main__":
    sys.exit(main())
