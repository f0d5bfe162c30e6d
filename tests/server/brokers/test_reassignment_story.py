"""Reassignments told: what `explain` says of them, how far they came, what they wait for; and the
older controller's thirteen steps."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.cli import main
from coordinator.events import Line
from coordinator.events.line import LogError
from coordinator.history.explain.reassignments import Reassignments, as_plain, as_text
from coordinator.kit.cluster import SlowFollower, StartBroker, StopBroker
from coordinator.server.cluster.controller.reassignments import reassign
from coordinator.server.settings.broker_configs import BrokerConfigs, ConfigError
from coordinator.wire.messages.topics import DeleteTopicsRequest
from tests.server.brokers.desk import Cluster, produce

SMALL = {"default.replication.factor": "2"}


def filled(
    config: dict[str, str] | None = None, records: int = 30
) -> tuple[Cluster, list[int], int]:
    """A partition of two replicas with records in it; answers them, and the broker that holds
    none."""
    cluster = Cluster(["orders:1"], {**SMALL, **(config or {})})
    replicas = list(cluster.partition().replicas)
    client = cluster.client(cluster.partition().leader)
    for _ in range(records):
        client.send(produce(b"x" * 10_000), 9)
    assert len(client.answers()) == records
    return cluster, replicas, next(node for node in (1, 2, 3) if node not in replicas)


def move(cluster: Cluster, target: list[int] | None) -> None:
    reassign(cluster.runtime.controller, "orders", 0, target, cluster.now)
    cluster.settle()


def told(cluster: Cluster) -> Reassignments:
    found = Reassignments()
    for _ in found.follow(cluster.log.read()):
        pass
    return found


def texts(cluster: Cluster) -> list[str]:
    (one,) = told(cluster).all
    return [step.text for step in one.steps]


def test_a_reassignment_is_told_from_its_start_to_its_end() -> None:
    """REASN-1, REASN-2: in the controller's words, with progress at most once a second."""
    cluster, (leader, other), new = filled()
    cluster.do(SlowFollower(new, delay_ms=10, bytes_per_second=50_000))
    move(cluster, [new, other])
    cluster.pass_time(20_000)
    said = texts(cluster)
    assert said[0] == (
        f"AR {new},{other},{leader}, OAR {leader},{other}, RAR {new},{other}; adding {new} (NewReplica), removing {leader}"
    )
    assert f"broker {new} is in sync (OnlineReplica)" in said
    assert f"broker {new} leads, for {leader} is not among the targets" in said
    assert (
        said[-1]
        == f"completed: AR is {new},{other}; {leader} is gone (OfflineReplica, NonExistentReplica)"
    )
    progress = cluster.logged("ReassignmentProgressed")
    assert len(progress) >= 4
    instants = [int(line["at_ms"]) for line in progress]  # type: ignore[call-overload]
    assert all(later - earlier >= 1_000 for earlier, later in pairwise(instants)), instants
    ends = [row["log_end"] for line in progress for row in line["replicas"]]  # type: ignore[attr-defined]
    assert ends == sorted(ends) and ends[-1] > 0
    (one,) = told(cluster).all
    assert (one.outcome, one.original, one.target) == ("completed", [leader, other], [new, other])
    assert one.ended_ms is not None


def test_what_it_waits_for() -> None:
    cluster, (leader, other), new = filled()
    cluster.do(StopBroker(new))
    move(cluster, [leader, new])
    found = told(cluster)
    (one,) = found.all
    (wait,) = found.waits_for(one)
    assert wait.startswith(f"broker {new}, which is fenced")
    cluster.do(SlowFollower(new, delay_ms=10, bytes_per_second=20_000))
    cluster.do(StartBroker(new))
    cluster.pass_time(5_000)
    found = told(cluster)
    (wait,) = found.waits_for(found.all[0])
    assert wait.startswith(f"broker {new} to catch up: it has ") and wait.endswith(" of 30 records")
    assert f"broker {new} is back" in texts(cluster)
    text = list(as_text(found))
    assert text[-1] == f"  it waits for {wait}"
    assert (
        f"orders-0 from {other},{leader} to {leader},{new}: in progress" in text[1]
        or "in progress" in text[1]
    )
    (plain,) = as_plain(found)
    assert (plain["outcome"], plain["waits_for"]) == ("in progress", [wait])
    json.dumps(plain)


def test_replaced_cancelled_and_deleted() -> None:
    """REASN-3, REASN-4"""
    cluster, (leader, other), new = filled()
    cluster.do(StopBroker(new))
    move(cluster, [leader, new])
    move(cluster, [other, new])
    assert any("replaced by another target" in text for text in texts(cluster))
    move(cluster, None)
    (one,) = told(cluster).all
    assert one.outcome == "cancelled"
    move(cluster, [leader, new])
    asked: Any = cluster.client(leader).ask(
        DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1_000), 5
    )
    assert asked.responses[0].error_code == 0
    assert [one.outcome for one in told(cluster).all] == ["cancelled", "topic deleted"]


def test_one_that_never_ends_by_itself() -> None:
    """A broker that is both added and removed can never be in the next ISR (seen on 4.4.0)."""
    cluster, (leader, other), new = filled()
    cluster.do(StopBroker(new))
    move(cluster, [other, new])
    move(cluster, [other, leader])
    found = told(cluster)
    assert any("both added and removed" in wait for wait in found.waits_for(found.all[0]))


def test_explain_prints_them(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cluster, (leader, _), new = filled()
    move(cluster, [leader, new])
    cluster.pass_time(5_000)
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in cluster.log.events()))
    assert main(["explain", str(path)]) == 0
    assert "reassignment of orders-0 from " in capsys.readouterr().out
    assert main(["explain", str(path), "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["reassignments"]
    assert one["outcome"] == "completed"


def test_a_line_that_lacks_something() -> None:
    with pytest.raises(LogError, match="ReassignmentStarted"):
        list(
            Reassignments().follow(
                [
                    Line.of(
                        {
                            "seq": 7,
                            "at_ms": 0,
                            "run": "r",
                            "stream": "cluster",
                            "type": "ReassignmentStarted",
                            "topic": "t",
                            "partition": 0,
                            "partition_epoch": 1,
                        }
                    )
                ]
            )
        )


# -- the older controller
# -------------------------------------------------------------------------------------------------

OLDER = {"reassignment.controller": "zookeeper"}


def test_thirteen_steps() -> None:
    cluster, (leader, other), new = filled(OLDER)
    epoch = cluster.partition().leader_epoch
    cluster.do(StopBroker(new))
    move(cluster, [new, other])
    assert [line["step"] for line in cluster.logged("ReassignmentStep")] == [1, 2, 3, 4]
    cluster.do(StartBroker(new))
    cluster.pass_time(5_000)
    steps = cluster.logged("ReassignmentStep")
    assert [line["step"] for line in steps] == list(range(1, 14))
    assert [str(line["text"]).split(":")[0] for line in steps if line["step"] in (3, 5, 8)] == [
        "start the new replicas in RAR - OAR",
        "move all replicas in RAR to OnlineReplica",
        "move the replicas in OAR - RAR to OfflineReplica",
    ]
    partition = cluster.partition()
    assert (partition.replicas, partition.leader, sorted(partition.isr)) == (
        [new, other],
        new,
        sorted([new, other]),
    )
    assert partition.leader_epoch > epoch
    assert not partition.reassigning
    kinds = [
        line["type"]
        for line in cluster.log.events()
        if line.get("topic") == "orders" and "partition_epoch" in line
    ]
    assert kinds[-3:] == ["LeaderElected", "IsrShrunk", "ReassignmentCompleted"]
    said = texts(cluster)
    assert sum(text.startswith("step ") for text in said) == 13
    assert cluster.partition(at=leader).log.log_end_offset == 0, (
        "the replica that is gone holds nothing"
    )


def test_the_leader_epoch_rises_also_if_the_leader_stays() -> None:
    cluster, (leader, _), new = filled(OLDER)
    epoch = cluster.partition().leader_epoch
    move(cluster, [leader, new])
    cluster.pass_time(5_000)
    assert (cluster.partition().leader, cluster.partition().leader_epoch > epoch) == (leader, True)
    client = cluster.client(leader)
    client.send(produce(b"after"), 9)
    assert len(client.answers()) == 1


@pytest.mark.parametrize("how", ["completed", "cancelled"])
def test_a_topic_with_a_running_reassignment_is_not_eligible_for_deletion(how: str) -> None:
    cluster, (leader, _), new = filled(OLDER)
    cluster.do(StopBroker(new))
    move(cluster, [leader, new])
    asked: Any = cluster.client(leader).ask(
        DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1_000), 5
    )
    assert asked.responses[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert "orders" in cluster.truth.topics
    assert [line["topic"] for line in cluster.logged("DeletionPostponed")] == ["orders"]
    if how == "completed":
        cluster.do(StartBroker(new))
        cluster.pass_time(5_000)
    else:
        move(cluster, None)
    assert "orders" not in cluster.truth.topics
    assert [line["topic"] for line in cluster.logged("TopicDeleted")] == ["orders"]


def test_todays_controller_deletes_at_once() -> None:
    cluster, (leader, _), new = filled()
    cluster.do(StopBroker(new))
    move(cluster, [leader, new])
    asked: Any = cluster.client(leader).ask(
        DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1_000), 5
    )
    assert asked.responses[0].error_code == 0
    assert cluster.logged("ReassignmentStep") == []


def test_only_two_controllers_are_known() -> None:
    with pytest.raises(
        ConfigError,
        match=r"reassignment\.controller=raft: give kraft, as Kafka 4\.4\.0 does it, or zookeeper",
    ):
        BrokerConfigs({"reassignment.controller": "raft"})
