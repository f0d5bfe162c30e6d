"""The log of several brokers gives back what was live, also after an unclean election; planted bugs
show that the judge finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.core.transactions.durable import DurableTransactions
from coordinator.events import EventLog
from coordinator.events.cluster import PartitionChanged
from coordinator.kit.cluster import MoveLeader, StartBroker, StopBroker
from coordinator.server.cluster_runtime.coordinators import Coordinators
from tests.log_judge import recording
from tests.server.brokers import test_transactions
from tests.server.brokers.desk import Cluster
from tests.server.brokers.test_coordinators import INDEX, OFFSETS, commit, committed, coordinator_of
from tests.server.brokers.test_lives import STEPS, Life

Plant = Callable[[pytest.MonkeyPatch], None]


def test_what_an_unclean_leader_had_not_is_told() -> None:
    """A commit that was acknowledged is lost, as in Kafka, and the log says which."""
    cluster = Cluster(
        config={
            "unclean.leader.election.enable": "true",
            "min.insync.replicas": "1",
            "transaction.state.log.min.isr": "1",
        }
    )
    node = coordinator_of(cluster)
    client = cluster.client(node)
    client.ask(commit(5), 7)
    others = [other for other in (1, 2, 3) if other != node]
    for other in others:
        cluster.do(StopBroker(other))
        cluster.pass_time(3_000)
    late = cluster.client(node)
    late.send(commit(9), 7)
    cluster.pass_time(6_000)
    cluster.do(StopBroker(node, how="crash"))
    for other in others:
        cluster.do(StartBroker(other))
    cluster.pass_time(10_000)
    assert cluster.partition(INDEX, OFFSETS).leader in others, cluster.partition(INDEX, OFFSETS)
    (lost,) = [line for line in cluster.logged("LogTruncated") if line["topic"] == OFFSETS]
    (written,) = [
        line for line in cluster.logged("OffsetsCommitted") if line["seq"] in lost["lost"]
    ]  # type: ignore[operator]
    assert written["broker"] == node
    assert committed(cluster, coordinator_of(cluster, others[0])) == 5
    cluster.do(StartBroker(node))
    cluster.pass_time(10_000)
    assert committed(cluster, coordinator_of(cluster)) == 5


@pytest.mark.parametrize("seed", range(40))
def test_lives_with_unclean_elections(seed: int) -> None:
    """What is acknowledged may be lost; the log says so, or the judge of the log finds it."""
    life = Life(1_000 + seed, unclean=True)
    for _ in range(STEPS):
        life.step()
    life.heal()


def nothing_is_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Coordinators, "_tell_lost", lambda *_: None)


def a_load_forgets_what_is_not_replicated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        DurableTransactions,
        "events",
        lambda self: (row for rows in self._ids.values() for row in rows[:1]),
    )


def a_leader_is_not_written_down(patch: pytest.MonkeyPatch) -> None:
    append = EventLog.append

    def forgetful(log: EventLog, event: Any, **places: Any) -> int:
        if isinstance(event, PartitionChanged) and event.partition == 0:
            return log.seq
        return append(log, event, **places)

    patch.setattr(EventLog, "append", forgetful)


def offsets_of_a_stale_leader() -> None:
    """A coordinator that is cut off goes on for a while; what it wrote is truncated before it leads
    again."""
    life = Life(31)
    for _ in range(STEPS):
        life.step()
    life.heal()


def a_moved_transaction() -> None:
    test_transactions.test_the_next_coordinator_ends_what_was_decided()


def moved_leaders() -> None:
    cluster = Cluster()
    for to in (2, 3, 1, 2, 3):
        if cluster.partition().leader != to:
            cluster.do(MoveLeader("orders", 0, to))


def judged(story: Callable[[], None], plant: Plant | None, patch: pytest.MonkeyPatch) -> bool:
    with recording() as recorder:
        if plant is not None:
            plant(patch)
        try:
            story()
            recorder.judge()
        except (AssertionError, LookupError):
            return False
    return True


@pytest.mark.unjudged
@pytest.mark.parametrize(
    ("story", "plant"),
    [
        (offsets_of_a_stale_leader, nothing_is_told),
        (a_moved_transaction, a_load_forgets_what_is_not_replicated),
        (moved_leaders, a_leader_is_not_written_down),
    ],
)
def test_the_judge_finds_a_planted_bug(
    story: Callable[[], None], plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        assert judged(story, None, patch)
    with monkeypatch.context() as patch:
        assert not judged(story, plant, patch)
