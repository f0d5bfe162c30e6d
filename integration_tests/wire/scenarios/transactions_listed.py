"""Transactions that are listed, described, ended by the coordinator's clean-up, or by markers
written by hand."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import Producer, batch
from integration_tests.wire.people import topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill
from integration_tests.wire.scenarios.produce import producer, request
from integration_tests.wire.scenarios.transactions import read
from integration_tests.wire.transacting import Transactor, await_transactions, now_ms, state_of


@scenario("cleanup", lasts_s=2)
def a_transaction_that_takes_too_long(s: Session) -> None:
    """Its timeout passed, so the coordinator aborts it at its next look; the producer is told 47
    and 90."""
    await_transactions(s, s.name("tx"))
    tx, name = Transactor(s, s.connect()), topic(s, "t")
    tx.init(5, timeout_ms=100)
    tx.produce(name, b"a")
    s.until(
        lambda: state_of(s, tx.name)["transaction_state"] == "CompleteAbort",
        "the transaction was never aborted",
    )
    tx.link = s.connect("b")  # in this profile a connection that is silent for long is closed
    tx.describe()
    tx.produce(name, b"b")
    tx.end(commit=True)
    tx.init(5, producer_id=tx.producer_id, producer_epoch=0)
    tx.init(5)
    read(tx.link, name)


@scenario("cleanup", lasts_s=5)
def an_id_that_nobody_uses(s: Session) -> None:
    """It is forgotten after transactional.id.expiration.ms: its producer is unknown (49), and who
    comes next gets another id."""
    await_transactions(s, s.name("tx"))
    tx, name = Transactor(s, s.connect()), topic(s, "t")
    tx.init(5)
    tx.produce(name, b"a")
    tx.end(commit=True)
    s.until(lambda: bool(state_of(s, tx.name)["error_code"]), "the id was never forgotten")
    tx.link = s.connect("b")
    tx.describe()
    tx.add((name, [0]))
    tx.end(commit=True)
    tx.produce(name, b"b")
    tx.init(5, producer_id=tx.producer_id, producer_epoch=tx.epoch)
    tx.init(5)


@scenario()
def listing_and_describing(s: Session) -> None:
    """ListTransactions and DescribeTransactions in their versions, with filters; unknown ids,
    unknown states."""
    a = s.connect()
    one, two, name = Transactor(s, a, "one"), Transactor(s, a, "two"), topic(s, "t", 3)
    one.init(5)
    two.init(5)
    two.produce(name, b"a", partition=2)
    two.produce(name, b"a", partition=0)
    mine: Plain = {"state_filters": [], "producer_id_filters": []}
    for version in range(3):
        a.ask("ListTransactions", version, only="transaction_states", **mine)
        a.ask(
            "ListTransactions",
            version,
            only="transaction_states",
            **(mine | {"state_filters": ["Ongoing"]}),
        )
        a.ask(
            "ListTransactions",
            version,
            only="transaction_states",
            **(mine | {"state_filters": ["Empty", "Nonsense", "ongoing"]}),
        )
        a.ask(
            "ListTransactions",
            version,
            only="transaction_states",
            **(mine | {"producer_id_filters": [one.producer_id]}),
        )
    for duration in (-1, 0, 3_600_000):
        a.ask("ListTransactions", 1, only="transaction_states", duration_filter=duration, **mine)
    for pattern in (one.name, "o.e-.*", "one", "", None, "[", f".*-{s.nonce}"):
        a.ask(
            "ListTransactions",
            2,
            only="transaction_states",
            transactional_id_pattern=pattern,
            **mine,
        )
    a.ask(
        "DescribeTransactions",
        0,
        shuffled="transaction_states",
        transactional_ids=[one.name, two.name, s.name("nobody"), "", one.name],
    )
    a.ask("DescribeTransactions", 0, transactional_ids=[])


@scenario()
def describing_producers(s: Session) -> None:
    """DescribeProducers: idle, idempotent, in a transaction, after it; unknown partitions."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    asked = [
        {"name": name, "partition_indexes": [0, 1, 7]},
        {"name": s.name("nope"), "partition_indexes": [0]},
    ]
    a.ask("DescribeProducers", 0, topics=asked)
    me = producer(s)
    fill(
        s, name, batch(b"x", b"y", producer=Producer(me, 0, 0), timestamp_ms=now_ms()), partition=1
    )
    tx.init(5)
    tx.produce(name, b"a", b"b")
    a.ask("DescribeProducers", 0, topics=asked)
    tx.end(commit=True)
    a.ask("DescribeProducers", 0, topics=asked)
    tx.produce(name, b"c")
    a.ask("DescribeProducers", 0, topics=asked[:1])


@scenario()
def markers_by_hand(s: Session) -> None:
    """WriteTxnMarkers, as an administrator aborts a hanging transaction: epochs (47), unknown
    partitions (3)."""
    a = s.connect()
    tx, name = Transactor(s, a), topic(s, "t", 2)
    tx.init(5)
    tx.init(5)
    tx.produce(name, b"a")

    def marker(version: int, partitions: list[int], **other: Any) -> None:
        fields: Plain = {
            "producer_id": tx.producer_id,
            "producer_epoch": 1,
            "transaction_result": False,
            "coordinator_epoch": 0,
            "transaction_version": 0,
            "topics": [{"name": name, "partition_indexes": partitions}],
        }
        a.ask("WriteTxnMarkers", version, shuffled="markers", markers=[fields | other])

    marker(1, [0], producer_epoch=0)
    marker(2, [0], producer_epoch=1, transaction_version=2)
    marker(1, [7])
    marker(1, [1])
    marker(1, [0, 7])
    read(a, name)
    marker(1, [0])
    marker(1, [0], transaction_result=True, producer_epoch=2)
    marker(1, [0], coordinator_epoch=-1)
    a.ask("WriteTxnMarkers", 1, markers=[])
    read(a, name)
    a.ask("DescribeProducers", 0, topics=[{"name": name, "partition_indexes": [0, 1]}])
    tx.describe()


@scenario(since="4.3")
def markers_of_transaction_versions_below_zero(s: Session) -> None:
    """-1 fails for a producer, once its epochs are looked at; -2 and below mean what 0 means."""
    a, name = s.connect(), topic(s, "t", 2)
    for producer_id in (-2, 987654321):
        for producer_epoch, coordinator_epoch, version in (
            (0, 0, -1),
            (5, 0, -128),
            (0, -1, -2),
            (0, 0, 0),
            (0, 0, -1),
        ):
            marker = {
                "producer_id": producer_id,
                "producer_epoch": producer_epoch,
                "transaction_result": True,
                "coordinator_epoch": coordinator_epoch,
                "transaction_version": version,
                "topics": [{"name": name, "partition_indexes": [0]}],
            }
            a.ask("WriteTxnMarkers", 2, markers=[marker])
    read(a, name)


@scenario(since="4.3")
def markers_below_every_epoch(s: Session) -> None:
    """A producer that nothing is known of has epochs of -1: a marker below is refused (47, 52). One
    that names a topic twice and cannot be (-1) has it once in its answer."""
    a, name = s.connect(), topic(s, "t", 2)
    for producer_id, producer_epoch, coordinator_epoch, parts in (
        (987654321, -2, 0, [[0]]),
        (987654321, 0, -2, [[0]]),
        (-2, -2, -2, [[0]]),
        (987654321, -1, 0, [[0], [1]]),
        (987654321, 0, -1, [[0], [1]]),
    ):
        marker = {
            "producer_id": producer_id,
            "producer_epoch": producer_epoch,
            "transaction_result": True,
            "coordinator_epoch": coordinator_epoch,
            "topics": [{"name": name, "partition_indexes": indexes} for indexes in parts],
        }
        a.ask("WriteTxnMarkers", 1, shuffled="markers", markers=[marker])
    read(a, name)


@scenario(since="4.3")
def markers_without_a_version_below_every_epoch(s: Session) -> None:
    """-1 for a producer that nothing is known of, 47 for one whose epoch is higher."""
    a, name = s.connect(), topic(s, "t")
    for producer_epoch, version in ((-2, -1), (5, -1), (5, 0), (-2, -1), (4, -1)):
        marker = {
            "producer_id": 987654321,
            "producer_epoch": producer_epoch,
            "transaction_result": False,
            "coordinator_epoch": 0,
            "transaction_version": version,
            "topics": [{"name": name, "partition_indexes": [0]}],
        }
        a.ask("WriteTxnMarkers", 2, markers=[marker])


@scenario(since="4.3")
def patterns_are_read_first(s: Session) -> None:
    """A pattern that is none (128) is told also where no transaction is in the states asked for."""
    a = s.connect()
    for states in ([""], ["nope"], ["Empty", "nope"]):
        for pattern in ("(", "\\", None, ""):
            a.ask(
                "ListTransactions",
                2,
                only="transaction_states",
                state_filters=states,
                producer_id_filters=[],
                duration_filter=-1,
                transactional_id_pattern=pattern,
            )


@scenario(since="4.3")
def one_transaction_twice(s: Session) -> None:
    """AddPartitionsToTxn v4-5: the topics of the last are asked about for each of the two; where they
    are added, the answers have the rows of the first."""
    a, name = s.connect(), topic(s, "t", 3)
    tx = Transactor(s, a)
    tx.init(5)

    def ask(version: int, *entries: tuple[bool, list[int]], epoch: int = 0) -> None:
        a.ask(
            "AddPartitionsToTxn",
            version,
            transactions=[
                {
                    "transactional_id": tx.name,
                    "producer_id": tx.producer_id,
                    "producer_epoch": epoch,
                    "verify_only": verify_only,
                    "topics": [{"name": name, "partitions": partitions}] if partitions else [],
                }
                for verify_only, partitions in entries
            ],
        )

    ask(4, (False, [0]), (False, [1]))
    tx.describe()
    ask(5, (True, [0]), (True, [1]))
    ask(4, (False, [0]), (False, []))
    ask(4, (False, [0]), (False, [2]), epoch=7)
    ask(5, (False, [2]), (True, [7]))
    tx.describe()


@scenario()
def where_transactions_are_kept(s: Session) -> None:
    """FindCoordinator of type 1 and the topic it makes; the cluster's features."""
    a = s.connect()
    Transactor(s, a)
    for version in range(7):
        asked: Plain = (
            {"coordinator_keys": [s.name("tx"), ""]} if version >= 4 else {"key": s.name("tx")}
        )
        a.ask("FindCoordinator", version, **(asked | ({"key_type": 1} if version else {})))
    found = a.ask_quietly(
        "Metadata", 12, topics=[{"name": "__transaction_state"}], allow_auto_topic_creation=False
    )["topics"][0]
    s.say("topic", {"error": found["error_code"], "internal": found["is_internal"]})
    shown = a.ask_quietly(
        "DescribeConfigs",
        4,
        include_synonyms=False,
        include_documentation=False,
        resources=[
            {"resource_type": 2, "resource_name": "__transaction_state", "configuration_keys": None}
        ],
    )["results"][0]["configs"]
    s.say(
        "configs",
        sorted(
            f"{config['name']}={config['value']}"
            for config in shown
            if config["config_source"] == 1 and config["name"] != "min.insync.replicas"
        ),
    )
    features = a.ask_quietly(
        "ApiVersions", 4, client_software_name="raw", client_software_version="1"
    )
    s.say(
        "transaction.version",
        [f for f in features["finalized_features"] if f["name"] == "transaction.version"],
    )
    a.ask("Produce", 12, **request("__transaction_state", batch(b"x", key=b"k")))
