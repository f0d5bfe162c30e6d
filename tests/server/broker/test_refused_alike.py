"""What every broker refuses alike, whoever leads or coordinates, as Kafka 4.4.0 answered it
(cluster scenarios `who_asks`)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from coordinator.wire.messages import log_dirs, raft_voters, reassignments
from coordinator.wire.messages.transaction_views import TopicRequest
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.server.broker.admin import Admin
from tests.server.broker.test_transactions import TransactionDriver

OFFSETS = "__consumer_offsets"


def added(
    driver: TransactionDriver, *topics: tuple[str, list[int]], version: int = 3
) -> list[tuple[str, list[tuple[int, int]]]]:
    """AddPartitionsToTxn, and its rows."""
    rows = [AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in topics]
    if version < 4:
        results = driver.ask(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id="tx",
                v3_and_below_producer_id=driver.producer_id,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=rows,
            ),
            version,
        ).results_by_topic_v3_and_below
    else:
        one = AddPartitionsToTxnTransaction(
            transactional_id="tx", producer_id=driver.producer_id, producer_epoch=0, topics=rows
        )
        results = (
            driver.ask(AddPartitionsToTxnRequest(transactions=[one]), version)
            .results_by_transaction[0]
            .topic_results
        )
    return [
        (
            topic.name,
            [(row.partition_index, row.partition_error_code) for row in topic.results_by_partition],
        )
        for topic in results
    ]


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("name", [OFFSETS, "__transaction_state", "__share_group_state"])
def test_internal_topics_are_not_for_clients(name: str, version: int) -> None:
    driver = TransactionDriver()
    driver.init()
    assert added(driver, ("t", [0]), (name, [0, 99]), version=version) == [
        ("t", [(0, 55)]),
        (name, [(0, 29), (99, 29)]),
    ]
    assert driver.described().transaction_state == "Empty"


def test_brokers_may_add_internal_topics() -> None:
    driver = TransactionDriver()
    driver.init()
    assert added(driver, (OFFSETS, [0]), version=4) == [(OFFSETS, [(0, 0)])]


def test_the_coordinators_answer_has_the_rows_of_the_request() -> None:
    driver = TransactionDriver()
    driver.init()
    assert added(driver, ("nope", []), ("t", [0, 0]), ("t", [0])) == [
        ("nope", []),
        ("t", [(0, 0), (0, 0)]),
        ("t", [(0, 0)]),
    ]
    assert added(driver, ("nope", [0]), ("t", [0, 0]), ("t", [])) == [
        ("nope", [(0, 3)]),
        ("t", [(0, 55)]),
    ]


def marked(
    driver: TransactionDriver, *markers: tuple[int, int, int, list[int]]
) -> list[tuple[int, list[tuple[int, int]]]]:
    """WriteTxnMarkers for (producer, epoch, transaction version, partitions), and its rows."""
    answer: Any = driver.ask(
        WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=producer,
                    producer_epoch=epoch,
                    transaction_version=version,
                    topics=[WritableTxnMarkerTopic(name="t", partition_indexes=indexes)],
                )
                for producer, epoch, version, indexes in markers
            ]
        ),
        2,
    )
    return [
        (
            row.producer_id,
            [
                (part.partition_index, part.error_code)
                for topic in row.topics
                for part in topic.partitions
            ],
        )
        for row in answer.markers
    ]


@pytest.mark.parametrize("bad", [(-1, 0, 0), (5, -1, 0)])
def test_a_marker_that_cannot_be_fails_the_request(bad: tuple[int, int, int]) -> None:
    """Those before it are written; of a producer the last marker is told. It is unknown partitions
    that are told where none is here."""
    driver = TransactionDriver()
    assert marked(driver, (*bad, [8])) == [(bad[0], [(8, 3)])]
    assert marked(driver, (7, 0, 0, [0]), (*bad, [0, 8]), (9, 0, 0, [0])) == [
        (7, [(0, -1)]),
        (bad[0], [(0, -1), (8, -1)]),
        (9, [(0, -1)]),
    ]
    assert driver.t.partitions[0].log.log_end_offset == 1
    assert list(driver.t.partitions[0].log.producers.states) == [7]


def test_other_odd_markers() -> None:
    driver = TransactionDriver()
    assert marked(driver, (5, 0, -1, [0, 8])) == [(5, [(8, 3), (0, -1)])]
    marked(driver, (6, 3, 0, [1]))
    assert marked(driver, (6, 2, -1, [1]), (7, 0, -1, [1])) == [(6, [(1, 47)]), (7, [(1, -1)])], (
        "epochs come first"
    )
    assert marked(driver, (5, 0, 0, [])) == []
    assert marked(driver, (5, 0, 0, [0]), (5, 0, 0, [0, 8])) == [(5, [(0, 0), (8, 3)])]
    assert marked(driver, (-2, 0, 9, [0])) == [(-2, [(0, 0)])]
    assert list(driver.t.partitions[0].log.producers.states) == [5], (
        "of an id below 0 nothing is remembered"
    )


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("", 17, "Topic name is invalid: the empty string is not allowed"),
        ("..", 17, "Topic name is invalid: '..' is not allowed"),
        ("nope", 3, "This server does not host this topic-partition."),
    ],
)
def test_producers_of_topics_that_cannot_be(name: str, code: int, why: str) -> None:
    answer = Admin("a").ask(61, 0, topics=[TopicRequest(name=name, partition_indexes=[0])])
    row = answer.topics[0].partitions[0]
    assert (row.error_code, row.error_message) == (code, why)


def test_the_folder_of_a_copy_has_a_name_of_255_characters_at_most() -> None:
    topics = [
        log_dirs.AlterReplicaLogDirTopic(name="x" * length, partitions=[0, 10])
        for length in (212, 213, 214)
    ]
    answer = Admin("a").ask(34, 2, dirs=[log_dirs.AlterReplicaLogDir(path="/nope", topics=topics)])
    assert [[row.error_code for row in topic.partitions] for topic in answer.results] == [
        [57, 57],
        [57, 17],
        [17, 17],
    ]


DIRECTORY: Final = bytes(range(16))


def refused(admin: Admin, key: int, **fields: Any) -> tuple[int, str | None]:
    answer = admin.ask(key, 0, **fields)
    return answer.error_code, answer.error_message


def test_the_voters_are_what_they_are() -> None:
    admin = Admin("a")
    own = admin.broker.cluster.cluster_id
    assert refused(admin, 80, cluster_id="nope") == (
        104,
        f'The given id "nope" doesn\'t match the cluster id "{own}"',
    )
    without_id = {"voter_id": -1, "voter_directory_id": DIRECTORY}
    for key, word in ((80, "Add"), (81, "Remove")):
        nobody = (42, f"{word} voter request didn't include a valid voter")
        assert refused(admin, key, cluster_id=own, voter_id=4) == nobody
        assert refused(admin, key, cluster_id=None, **without_id) == nobody
    other = raft_voters.Listener(name="other", host="h", port=9)
    voter = {"voter_id": 4, "voter_directory_id": DIRECTORY}
    assert refused(admin, 80, cluster_id=own, listeners=[other], **voter) == (
        42,
        (
            "Add voter request didn't include the endpoint (Endpoints(endpoints={ListenerName(OTHER)=h/<unresolved>:9})) for the default "
            "listener ListenerName(CONTROLLER)"
        ),
    )
    fits = raft_voters.Listener(name="controller", host="h", port=9)
    assert refused(admin, 80, cluster_id=None, listeners=[fits], **voter) == (
        35,
        "Cluster doesn't support adding voter because the kraft.version feature is 0",
    )
    assert refused(admin, 81, cluster_id=None, **voter) == (
        35,
        "Cluster doesn't support removing voter because the kraft.version feature is 0",
    )


@pytest.mark.parametrize(
    ("names", "timeout_ms", "told"), [(["a"], 0, True), ([], 1_000, True), (["a"], 1_000, False)]
)
def test_whether_factors_may_change(names: list[str], timeout_ms: int, told: bool) -> None:
    """A reassignment that is refused whole, or is of no topics, tells the protocol's default."""
    topics = [reassignments.ReassignableTopic(name=name) for name in names]
    answer = Admin("a").ask(
        45, 1, topics=topics, timeout_ms=timeout_ms, allow_replication_factor_change=False
    )
    assert answer.allow_replication_factor_change is told
