"""Random lives of three brokers: whatever is stopped, cut and moved, nothing that was acknowledged
is lost, and all agree in the end.

Records with acks=all and min.insync.replicas=2, commits with increasing offsets. Brokers shut down,
crash, freeze and come back, links are cut, followers slow, leaders and coordinators moved,
partitions reassigned. Then everything heals, and the judges look.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from coordinator.core import group_coordinator
from coordinator.core.shards import partitions
from coordinator.kit.cluster import (
    CutLink,
    FenceBroker,
    HealLink,
    MoveCoordinator,
    MoveLeader,
    SlowFollower,
    StartBroker,
    StopBroker,
    UnfenceBroker,
    Verb,
)
from coordinator.server.cluster import Partition
from coordinator.server.cluster.controller.reassignments import reassign
from coordinator.server.cluster.network import HostState
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.storage.record_codec import read_records
from coordinator.server.storage.records import HEADER_SIZE, parse_header
from coordinator.wire.messages.produce import ProduceResponse
from tests.server.broker.driver import Client
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_coordinators import codes, commit, committed, coordinator_of

pytestmark = pytest.mark.unmeasured

NODES = (1, 2, 3)
STEPS = 60


class Life:
    def __init__(self, seed: int, *, unclean: bool = False) -> None:
        self.random = Random(seed)
        self.cluster = Cluster(
            config={
                "leader.imbalance.check.interval.seconds": "20",
                "unclean.leader.election.enable": str(unclean).lower(),
            }
        )
        for configs in self.cluster.runtime.configs.values():
            configs.replace_dynamic(
                {"min.insync.replicas": "1" if unclean else "2"}, for_all_brokers=True
            )
        self.sent = 0
        self.asked: list[tuple[Client, int, str]] = []
        self.acknowledged: dict[str, list[int]] = {"record": [], "commit": []}

    def step(self) -> None:
        choice = self.random.random()
        if choice < 0.45:
            self.ask()
        elif choice < 0.75:
            try:
                self.cluster.do(self.verb())
            except ClusterError:
                # stop what is stopped, move to whom is out of sync: refused, and nothing has
                # changed
                pass
        elif choice < 0.8:
            target = self.random.sample(NODES, self.random.randrange(2, 4))
            if self.cluster.runtime.controller.active:
                reassign(
                    self.cluster.runtime.controller,
                    "orders",
                    0,
                    self.random.choice([target, target, None]),
                    self.cluster.now,
                )
        else:
            self.cluster.pass_time(self.random.choice((1, 50, 500, 3_000)))
        self.collect()

    def ask(self) -> None:
        """A record or a commit, at a broker that a client would choose, or at any."""
        node = self.random.choice(NODES)
        if self.cluster.runtime.network.hosts[node] is not HostState.RUNNING:
            return
        client = self.cluster.client(node)
        self.sent += 1
        kind = self.random.choice(("record", "commit"))
        self.asked.append((client, self.sent, kind))
        client.send(
            produce(b"%d" % self.sent, timeout_ms=1_000) if kind == "record" else commit(self.sent),
            9 if kind == "record" else 7,
        )

    def collect(self) -> None:
        """Note what was acknowledged."""
        waiting = []
        for client, number, kind in self.asked:
            answers: list[Any] = list(client.answers())
            if not answers:
                waiting.append((client, number, kind))
                continue
            (answer,) = answers
            rows = (
                answer.responses[0].partition_responses
                if isinstance(answer, ProduceResponse)
                else answer.topics[0].partitions
            )
            if rows[0].error_code == 0:
                self.acknowledged[kind].append(number)
        self.asked = waiting

    def verb(self) -> Verb:
        random = self.random
        one, other = random.sample(NODES, 2)
        return random.choice(
            (
                StopBroker(one, how=random.choice(("controlled", "crash", "pause"))),
                StartBroker(one),
                StartBroker(other),
                CutLink(one, other),
                HealLink(one, other),
                MoveLeader("orders", random.randrange(2), to=one),
                MoveCoordinator("g", to=one),
                FenceBroker(one),
                UnfenceBroker(one),
                SlowFollower(
                    one,
                    delay_ms=random.choice((0, 30)),
                    bytes_per_second=random.choice((None, 10_000)),
                ),
            )
        )

    def heal(self) -> None:
        """Undo whatever is done, and give the cluster time."""
        for one, other in ((1, 2), (1, 3), (2, 3)):
            self.attempt(HealLink(one, other))
        for node in NODES:
            self.attempt(StartBroker(node))
            self.attempt(UnfenceBroker(node))
            self.attempt(SlowFollower(node))
        self.cluster.pass_time(60_000)
        self.collect()

    def attempt(self, verb: Verb) -> None:
        try:
            self.cluster.do(verb)
        except ClusterError:
            pass

    def judge(self) -> None:
        cluster = self.cluster
        assert cluster.runtime.controller.active
        assert not self.asked or all(client.closed is None for client, _, _ in self.asked)
        for topic in cluster.truth.topics.values():
            for truth in topic.partitions:
                self.judge_partition(truth)
        log = cluster.partition(0, at=cluster.partition(0).leader).log
        held = records(log)
        assert sorted(set(self.acknowledged["record"]) - set(held)) == [], "acknowledged and lost"
        assert len(held) == len(set(held)), "nothing twice"
        last = max(self.acknowledged["commit"], default=-1)
        index = cluster.runtime.brokers[1].coordinator.partition_for("g")
        assert committed(cluster, cluster.partition(index, "__consumer_offsets").leader) >= last

    def judge_partition(self, truth: Partition) -> None:
        assert truth.leader != -1
        assert sorted(truth.isr) == sorted(truth.replicas)
        logs = []
        for node in NODES:
            own = self.cluster.partition(truth.index, truth.topic, at=node)
            for name in Partition.__slots__:
                assert name == "log" or getattr(own, name) == getattr(truth, name), (node, name)
            if node in truth.replicas:
                logs.append(own.log)
        assert len({(log.log_end_offset, log.high_watermark) for log in logs}) == 1
        assert len({b"".join(log._pieces) for log in logs}) == 1


def records(log: Any) -> list[int]:
    numbers = []
    for i in range(0, len(log._pieces), 2):
        data = log._pieces[i] + log._pieces[i + 1]
        numbers += [
            int(record.value)
            for record in read_records(parse_header(data), data[HEADER_SIZE:])
            if record.value is not None
        ]
    return numbers


@pytest.mark.parametrize("seed", [*range(160), 2041])
def test_nothing_that_was_acknowledged_is_lost(seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    life.heal()
    life.judge()


@pytest.mark.parametrize("how", ["controlled", "crash"])
def test_a_broker_that_stops_unloads_its_groups_in_slices(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others wait for one slice at a time; the next process of the broker begins when the unload is
    done."""
    monkeypatch.setattr(partitions, "SLICE", 10)
    monkeypatch.setattr(group_coordinator, "SLICE", 10)
    cluster = Cluster(config={"offsets.topic.num.partitions": "1"})
    node = coordinator_of(cluster)
    client = cluster.client(node)
    for number in range(40):
        client.send(commit(5, group=f"g{number}"), 8)
    if how == "crash":
        cluster.hosts.crash(node, cluster.now)
    else:
        cluster.hosts.shut_down(node, cluster.now)
    counts = [len(cluster.logged("GroupUnloaded"))]
    while (due := cluster.runtime.next_deadline()) is not None and due <= cluster.now:
        cluster.runtime.tick(cluster.now)
        counts.append(len(cluster.logged("GroupUnloaded")))
    assert counts[0] < 40
    assert max(after - before for before, after in pairwise(counts)) <= 5
    assert counts[-1] == 40


def test_a_broker_that_starts_again_at_once_has_unloaded_its_groups_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What its next process loads is not unloaded by the one before."""
    monkeypatch.setattr(partitions, "SLICE", 10)
    monkeypatch.setattr(group_coordinator, "SLICE", 10)
    cluster = Cluster(config={"offsets.topic.num.partitions": "1"})
    node = coordinator_of(cluster)
    client = cluster.client(node)
    for number in range(20):
        client.send(commit(5, group=f"g{number}"), 8)
    cluster.hosts.crash(node, cluster.now)
    assert len(cluster.logged("GroupUnloaded")) < 20
    cluster.hosts.start(node, cluster.now)
    assert len(cluster.logged("GroupUnloaded")) == 20
    cluster.pass_time(10_000)
    assert len(cluster.logged("GroupUnloaded")) == 20
    assert committed(cluster, coordinator_of(cluster)) == -1
    asked = cluster.client(coordinator_of(cluster))
    asked.send(commit(6, group="g7"), 8)
    assert codes(asked) == [0]
