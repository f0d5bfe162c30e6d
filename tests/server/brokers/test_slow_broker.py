"""A broker whose every answer is late: its requests are handled as they come, faults still act, and
others are as fast as they were."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.kit.cluster import SlowBroker, StartBroker, StopBroker
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.interceptors import Answer, Drop, Handle, Hold, Interceptor, Late
from coordinator.wire.messages.produce import ProduceResponse
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_replication import fetch

LATE_MS = 400


def test_what_came_is_done_at_once_and_answered_late() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    assert cluster.do(SlowBroker(leader, LATE_MS)) == SlowBroker(leader, 0)
    client = cluster.client(leader)
    client.send(produce(), 9)
    cluster.pass_time(LATE_MS - 1)
    assert cluster.partition(at=leader).log.log_end_offset == 1
    assert client.answers() == []
    cluster.pass_time(1)
    assert len(client.answers()) == 1
    client.send(produce(acks=0), 9)
    client.asked.pop()  # it is not answered
    client.send(fetch(wait_ms=0), 12)
    cluster.pass_time(LATE_MS)
    assert len(client.answers()) == 1, "who waits for no answer (acks=0) waits for nothing"


def test_a_parked_request_is_late_from_when_it_would_have_been_answered() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    cluster.do(SlowBroker(leader, LATE_MS))
    reader = cluster.client(leader)
    reader.send(fetch(wait_ms=500), 12)
    cluster.pass_time(500 + LATE_MS - 1)
    assert reader.answers() == []
    cluster.pass_time(1)
    assert len(reader.answers()) == 1


def test_it_is_that_broker_alone_also_when_it_was_started_anew_until_it_is_undone() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    other = leader % 3 + 1
    undo = cluster.do(SlowBroker(other, LATE_MS))
    assert undo is not None
    fast = cluster.client(leader)
    fast.send(fetch(wait_ms=0), 12)
    assert len(fast.answers()) == 1
    cluster.do(StopBroker(other))
    cluster.do(StartBroker(other))
    cluster.pass_time(3_000)
    slow = cluster.client(other)
    slow.send(fetch(wait_ms=0), 12)
    assert slow.answers() == []
    cluster.pass_time(LATE_MS)
    assert len(slow.answers()) == 1
    assert cluster.do(undo) == SlowBroker(other, LATE_MS)
    slow.send(fetch(wait_ms=0), 12)
    assert len(slow.answers()) == 1
    assert cluster.runtime.brokers[other].interceptors == [], "then it costs nothing"


@pytest.mark.parametrize(
    ("fault", "answered_after_ms"),
    [
        (lambda call: Answer(ProduceResponse(responses=[])), LATE_MS),
        (lambda call: Hold(100), 100 + LATE_MS),
        (lambda call: Handle(call.message, lambda answer: Late(50, answer)), 50 + LATE_MS),
        (lambda call: Handle(call.message, lambda answer: answer), LATE_MS),
        (lambda call: Drop(), None),
        (lambda call: Handle(call.message, lambda answer: Drop()), None),
    ],
)
def test_faults_of_requests_still_act(fault: Interceptor, answered_after_ms: int | None) -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    cluster.do(SlowBroker(leader, LATE_MS))
    cluster.runtime.brokers[leader].interceptors.append(fault)
    client = cluster.client(leader)
    client.send(produce(), 9)
    if answered_after_ms is None:
        cluster.pass_time(10_000)
        assert client.answers() == []
    else:
        cluster.pass_time(answered_after_ms - 1)
        assert client.answers() == []
        cluster.pass_time(1)
        assert len(client.answers()) == 1


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (SlowBroker(9, 5), "there is no broker 9: the brokers are 1, 2, 3"),
        (SlowBroker(1, -1), "by_ms=-1: a length of time is not negative"),
    ],
)
def test_what_cannot_be_changes_nothing(verb: SlowBroker, why: str) -> None:
    cluster = Cluster()
    with pytest.raises(ClusterError, match=why):
        cluster.do(verb)
    assert cluster.logged("SlowBroker") == []


def test_the_kit_has_it_and_a_peer_goes_on() -> None:
    with Emulator({"orders": 1}, brokers=2, remember=1000, seed=3) as kafka:
        with kafka.slow_broker(1, 50) as slow, kafka.slow_broker(2, 50):
            with kafka.group("g").peer(["orders"]) as peer:
                peer.wait_stable()
        assert slow.inverse is None
        rows = kafka.events("SlowBroker")
        assert [(row["broker"], row["by_ms"]) for row in rows] == [(1, 50), (2, 50), (2, 0), (1, 0)]
