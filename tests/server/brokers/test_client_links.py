"""Links between clients and brokers that are cut: nothing passes until they are whole, and nothing
is lost but by hanging up."""

from __future__ import annotations

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.kit.cluster import (
    CutClient,
    HealClient,
    StartBroker,
    StopBroker,
    Verb,
    from_plain,
    to_plain,
)
from coordinator.server.cluster_runtime import ClusterError
from coordinator.server.interceptors import Verdict
from coordinator.server.requests.call import Call
from coordinator.wire.messages.produce import ProduceResponse
from tests.server.broker.driver import Client
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_replication import fetch

CLIENT = "test"


def errors(client: Client) -> list[int]:
    return [
        row.error_code
        for answer in client.answers()
        if isinstance(answer, ProduceResponse)
        for topic in answer.responses
        for row in topic.partition_responses
    ]


def test_requests_wait_for_the_link_and_are_handled_then() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    client = cluster.client(leader)
    undo = cluster.do(CutClient(CLIENT, leader))
    client.send(produce(), 9)
    client.send(produce(), 9)
    cluster.pass_time(60_000)
    assert client.answers() == []
    assert client.closed is None
    assert cluster.partition(at=leader).log.log_end_offset == 0, "nothing came through"
    assert undo == HealClient(CLIENT, leader)
    cluster.do(undo)
    assert errors(client) == [ErrorCode.NONE] * 2
    assert cluster.runtime.brokers[leader].interceptors == [], "a whole link costs nothing"


def test_an_answer_that_is_ready_waits_for_the_link() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    reader, writer = cluster.client(leader), cluster.client(leader)
    reader.send(fetch(wait_ms=500), 12)
    cluster.do(CutClient(CLIENT, leader))
    writer.feed(writer.frame(produce(), 9, "another"))
    assert errors(writer) == [ErrorCode.NONE], "others are not cut off"
    cluster.pass_time(1_000)
    assert reader.answers() == []
    cluster.do(HealClient(CLIENT, leader))
    assert len(reader.answers()) == 1


def test_who_hangs_up_meanwhile_is_not_served() -> None:
    cluster = Cluster()
    leader = cluster.partition().leader
    client = cluster.client(leader)
    cluster.do(CutClient(CLIENT, leader))
    client.send(produce(), 9)
    client.connection.lost()
    cluster.do(HealClient(CLIENT, leader))
    assert client.answers() == []
    assert cluster.partition(at=leader).log.log_end_offset == 0


def test_only_the_named_broker_is_out_of_reach() -> None:
    cluster = Cluster()
    first, second = (cluster.partition(index).leader for index in (0, 1))
    assert first != second
    cluster.do(CutClient(CLIENT, first))
    client = cluster.client(second)
    client.send(produce(index=1), 9)
    assert errors(client) == [ErrorCode.NONE]


@pytest.mark.parametrize("how", ["crash", "pause"])
def test_a_link_stays_cut_while_its_broker_is_gone(how: str) -> None:
    cluster = Cluster()
    cluster.do(CutClient(CLIENT, 2))
    cluster.do(StopBroker(2, how=how))  # type: ignore[arg-type]
    cluster.do(StartBroker(2))
    cluster.pass_time(5_000)
    client = cluster.client(2)
    client.send(fetch(), 12)
    assert client.answers() == []
    cluster.do(HealClient(CLIENT, 2))
    assert len(client.answers()) == 1


def test_a_paused_broker_answers_when_it_goes_on() -> None:
    cluster = Cluster()
    client = cluster.client(2)
    cluster.do(CutClient(CLIENT, 2))
    client.send(fetch(), 12)
    cluster.do(StopBroker(2, how="pause"))
    cluster.do(HealClient(CLIENT, 2))
    assert client.answers() == []
    cluster.do(StartBroker(2))
    assert len(client.answers()) == 1


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (
            HealClient(CLIENT, 1),
            "the link between client 'test' and broker 1 is not cut: no client is cut off from it",
        ),
        (
            CutClient(CLIENT, 2),
            "the link between client 'test' and broker 2 is cut: cut off from it are test",
        ),
        (CutClient(CLIENT, 4), "there is no broker 4: the brokers are 1, 2, 3"),
        (CutClient("", 1), "a client is known by its client id, which is not empty"),
    ],
)
def test_what_cannot_be_done_to_a_link(verb: Verb, why: str) -> None:
    cluster = Cluster()
    cluster.do(CutClient(CLIENT, 2))
    lines = len(list(cluster.log.events()))
    with pytest.raises(ClusterError) as refused:
        cluster.do(verb)
    assert str(refused.value) == why
    assert len(list(cluster.log.events())) == lines


def test_verbs_are_plain_values_too() -> None:
    verb = CutClient("app", 3)
    assert to_plain(verb) == {"verb": "CutClient", "client_id": "app", "broker": 3}
    assert from_plain(to_plain(verb)) == verb


def test_a_call_names_its_broker() -> None:
    cluster = Cluster()
    asked: list[int] = []

    def listen(call: Call) -> Verdict:
        asked.append(call.broker)
        return None

    for node, broker in cluster.runtime.brokers.items():
        broker.interceptors.append(listen)
        cluster.client(node).ask(fetch(), 12)
    assert asked == [1, 2, 3]


def test_an_emulators_links_end_with_their_block() -> None:
    with Emulator(brokers=3, remember=1_000) as kafka:
        with kafka.cut_client("app", 2) as cut, kafka.cut_link(1, 3):
            assert cut.inverse == HealClient("app", 2)
        told = [line["type"] for line in kafka.events(stream="fault")]
    assert told == ["CutClient", "CutLink", "HealLink", "HealClient"]
