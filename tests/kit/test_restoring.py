"""Snapshots of a whole emulator, and going back to them; the log's judge compares each restored
state with a replay of its log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.kit import topics
from coordinator.kit.client_requests import Steps, without_waiting
from coordinator.kit.group.handle import GroupHandle
from coordinator.kit.in_process_requests import ControlError, ask
from coordinator.kit.restoring.snapshot import Snapshot
from coordinator.kit.views.group_snapshots import GroupSnapshot
from coordinator.server import log_cleaning
from coordinator.server.log_cleaning import LogCleaning
from coordinator.server.storage import compaction
from coordinator.server.storage.record_codec import Record
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from coordinator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

_FAST = {"heartbeat.interval.ms": "50"}


@pytest.fixture(params=[1, 3], ids=["one broker", "three brokers"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    settings = {
        "default.replication.factor": min(request.param, 2),
        "offsets.topic.num.partitions": 4,
        "group.consumer.min.heartbeat.interval.ms": 50,
        "group.consumer.heartbeat.interval.ms": 50,
    }
    with Emulator(
        {"orders": 3}, settings, remember=50_000, seed=5, brokers=request.param
    ) as running:
        yield running


def commit(kafka: Emulator, group: str, offset: int, metadata: str = "") -> None:
    """Commit an offset of orders-0 without being a member."""
    row = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=metadata
    )
    request = OffsetCommitRequest(
        group_id=group, topics=[OffsetCommitRequestTopic(name="orders", partitions=[row])]
    )
    session = kafka._session

    def send() -> OffsetCommitResponse:
        return ask(session.serving(group), request, OffsetCommitResponse, session.now(), version=8)

    assert on(kafka, send).topics[0].partitions[0].error_code == 0


def on(kafka: Emulator, function: Any) -> Any:
    return kafka.run(function)


def restored_group(kafka: Emulator, snapshot: Snapshot, group: GroupHandle) -> GroupSnapshot:
    """Go back to a snapshot; the group before any member that lives can say a word."""

    def restore() -> GroupSnapshot:
        kafka.restore(snapshot)
        return group.snapshot()

    return kafka.run(restore)


def values(kafka: Emulator, topic: str = "orders", **how: Any) -> list[bytes | None]:
    return [record.value for record in kafka.records(topic, **how)]


class TestTopicsAndRecords:
    def test_they_are_as_they_were(self, kafka: Emulator) -> None:
        kafka.create_topic("kept", 2, config={"max.message.bytes": 1000})
        written = kafka.produce(
            "orders", ["a", "b", "c"], keys=["k", None, "k"], headers={"h": b"v"}, timestamp_ms=77
        )
        before = kafka.records("orders")
        ids = kafka.run(
            lambda: {
                name: topic.id for name, topic in kafka._session.any_broker().cluster.topics.items()
            }
        )
        snapshot = kafka.snapshot()
        assert repr(snapshot) == "<Snapshot of orders:3, kept:2; 3 records; groups: none>"
        kafka.produce("orders", ["later"] * 5)
        kafka.truncate("orders", written[0].partition)
        kafka.delete_topic("kept")
        kafka.grow_topic("orders", 5)
        kafka.create_topic("new")
        kafka.restore(snapshot)
        assert kafka.topics() == {"orders": 3, "kept": 2}
        assert kafka.records("orders") == before
        after = kafka.run(lambda: kafka._session.any_broker().cluster.topics)
        assert {name: topic.id for name, topic in after.items()} == ids
        assert after["kept"].configs == {"max.message.bytes": "1000"}
        with pytest.raises(ControlError, match="MESSAGE_TOO_LARGE"):
            kafka.produce("kept", ["x" * 2000])

    def test_it_can_be_restored_any_number_of_times(self, kafka: Emulator) -> None:
        kafka.produce("orders", ["a"], partition=0)
        snapshot = kafka.snapshot()
        for _ in range(3):
            kafka.produce("orders", ["b"], partition=0)
            assert values(kafka) == [b"a", b"b"]
            kafka.restore(snapshot)
            assert values(kafka) == [b"a"]

    def test_where_a_partition_begins_is_part_of_it(self, kafka: Emulator) -> None:
        kafka.produce("orders", ["a"], partition=0)
        kafka.produce("orders", ["b"], partition=0)
        kafka.truncate("orders", 0, before=1)
        snapshot = kafka.snapshot()
        kafka.delete_topic("orders")
        kafka.restore(snapshot)
        assert [(record.offset, record.value) for record in kafka.records("orders", 0)] == [
            (1, b"b")
        ]
        assert kafka.produce("orders", ["c"], partition=0)[0].offset == 2

    def test_another_emulator_with_the_same_brokers_takes_it(self, kafka: Emulator) -> None:
        kafka.produce("orders", ["a"], partition=0, transactional_id="t")
        commit(kafka, "billing", 1, "by hand")
        snapshot = kafka.snapshot()
        with Emulator({"other": 1}, remember=10_000, seed=9, brokers=len(kafka.brokers)) as another:
            another.restore(snapshot)
            assert another.topics() == {"orders": 3}
            assert values(another, committed=True) == [b"a"]
            assert (
                another.group("billing").committed["orders", 0][:3:2]
                == kafka.group("billing").committed["orders", 0][:3:2]
            )
            another.produce("orders", ["b"], partition=0, transactional_id="t")
            another.produce("orders", ["c"], partition=0, transactional_id="another")
            assert values(another, committed=True) == [b"a", b"b", b"c"]


class TestGroups:
    @pytest.mark.parametrize("protocol", ["classic", "consumer"])
    def test_members_assignments_and_offsets_are_as_they_were_and_members_go_on(
        self, kafka: Emulator, protocol: str
    ) -> None:
        config = _FAST if protocol == "classic" else {}
        kafka.produce("orders", ["a"] * 4, partition=0)
        with kafka.peer("billing", ["orders"], config=config, protocol=protocol) as peer:
            group = kafka.group("billing")
            before = group.wait(state="Stable", members=1, assigned="all")
            commit(kafka, "audit", 3, "as far as page 3")
            snapshot = kafka.snapshot()
            commit(kafka, "audit", 4)
            with kafka.peer("billing", ["orders"], config=config, protocol=protocol):
                group.wait(state="Stable", members=2, assigned="all")
                restored = restored_group(kafka, snapshot, group)
                assert (restored.state, restored.generation) == ("Stable", before.generation)
                assert restored.assigned() == {
                    ("orders", index): [peer.member_id] for index in range(3)
                }
                found = kafka.group("audit").committed["orders", 0]
                assert (found.offset, found.metadata) == (3, "as far as page 3")
                group.wait(
                    state="Stable", members=2, assigned="all"
                )  # who is not known any more joins anew
            group.wait(state="Stable", members=1, assigned="all")

    def test_groups_that_came_later_are_gone(self, kafka: Emulator) -> None:
        snapshot = kafka.snapshot()
        commit(kafka, "later", 1)
        kafka.restore(snapshot)
        assert kafka.groups() == []

    def test_a_group_in_the_midst_of_a_rebalance_is_in_its_last_stable_generation(
        self, kafka: Emulator
    ) -> None:
        with kafka.peer("billing", ["orders"], config=_FAST):
            group = kafka.group("billing")
            stable = group.wait(state="Stable", members=1, assigned="all")
            held = kafka.hold("SyncGroup", group="billing")
            group.rebalance("to be seen in flight")
            group.wait(state="CompletingRebalance")
            snapshot = kafka.snapshot()
            held.remove()
            group.wait(state="Stable", generation_above=stable.generation)
            restored = restored_group(kafka, snapshot, group)
            assert (restored.state, restored.generation) == ("Stable", stable.generation)
            group.wait(state="Stable", members=1, acted=False)

    def test_explain_tells_of_it_and_verify_finds_nothing_wrong(self, kafka: Emulator) -> None:
        with kafka.peer("billing", ["orders"], config=_FAST):
            group = kafka.group("billing")
            group.wait(state="Stable", members=1, assigned="all")
            snapshot = kafka.snapshot()
            with kafka.peer("billing", ["orders"], config=_FAST):
                group.wait(state="Stable", members=2, assigned="all", acted=True)
                kafka.restore(snapshot)
                group.wait(state="Stable", members=2, assigned="all")
        group.verify().single_owner().no_stale_commit().revoked_before_assigned()
        told = kafka.explain("billing")
        assert "The group was deleted (a snapshot is restored)." in told
        assert " loaded the group as Stable" in told
        assert " for -" not in told
        (line,) = kafka.events("SnapshotRestored")
        assert (line["topics"], line["groups"]) == (["orders"], ["billing"])


class TestTransactions:
    def test_one_that_is_open_can_be_ended_after_each_restore(self, kafka: Emulator) -> None:
        session = kafka._session

        def write() -> Steps[topics.Producer]:
            producer = yield from topics.begun(session, "t")
            record = Record(0, session.any_broker().epoch_ms, None, b"open", ())
            yield from topics.append(session, "orders", 0, [record], producer=producer)
            return producer

        producer = kafka.run(lambda: without_waiting(write()))
        snapshot = kafka.snapshot()
        for commits, seen in ((True, [b"open"]), (False, []), (True, [b"open"])):
            assert values(kafka, committed=True) == []
            kafka.run(
                lambda commits=commits: without_waiting(
                    topics.ended(session, producer, commit=commits)
                )
            )
            kafka.run(lambda: None)
            assert values(kafka, committed=True) == seen
            kafka.restore(snapshot)
        assert (
            kafka.run(
                lambda: (
                    session.leader_of("orders", 0)
                    .cluster.topics["orders"]
                    .partitions[0]
                    .log.last_stable_offset
                )
            )
            == 0
        )

    def test_offsets_in_an_open_transaction_come_to_count_when_it_is_committed(
        self, kafka: Emulator
    ) -> None:
        session = kafka._session
        producer = kafka.run(lambda: without_waiting(topics.begun(session, "t")))
        kafka.run(lambda: add_offsets(kafka, producer, 7))
        snapshot = kafka.snapshot()
        for _ in range(2):
            kafka.run(lambda: without_waiting(topics.ended(session, producer, commit=True)))
            kafka.run(lambda: None)
            assert kafka.group("billing").committed["orders", 0].offset == 7
            kafka.restore(snapshot)
            assert kafka.group("billing").committed == {}

    def test_epochs_go_back_and_producers_go_on(self, kafka: Emulator) -> None:
        kafka.produce("orders", ["a"], partition=0, transactional_id="t")
        snapshot = kafka.snapshot()
        for _ in range(3):
            kafka.produce("orders", ["b"], partition=0, transactional_id="t")
            kafka.produce("orders", ["b"], partition=0, transactional_id="later")
        kafka.restore(snapshot)
        kafka.produce("orders", ["c"], partition=0, transactional_id="t")
        kafka.produce("orders", ["gone"], partition=0, transactional_id="t", abort=True)
        assert values(kafka, committed=True) == [b"a", b"c"]

    def test_sequence_numbers_go_back_too(self, kafka: Emulator) -> None:
        def last() -> dict[int, int]:
            log = kafka._session.leader_of("orders", 0).cluster.topics["orders"].partitions[0].log
            return {
                producer_id: state.last_sequence
                for producer_id, state in log.producers.states.items()
            }

        kafka.produce("orders", ["a"] * 3, partition=0, transactional_id="t")
        before = kafka.run(last)
        snapshot = kafka.snapshot()
        kafka.produce("orders", ["b"], partition=0, transactional_id="other")
        kafka.restore(snapshot)
        assert kafka.run(last) == before


class TestWhatCannotBe:
    def test_is_refused_before_anything_has_changed(self, kafka: Emulator) -> None:
        kafka.produce("orders", ["a"], partition=0)
        with pytest.raises(
            ControlError, match=r"'1' is no snapshot: give what `snapshot\(\)` answered"
        ):
            kafka.restore("1")  # type: ignore[arg-type]
        with Emulator({"orders": 3}, brokers=2) as other:
            foreign = other.snapshot()
        with pytest.raises(
            ControlError, match=r"the snapshot is of brokers 1, 2; here are .*: it needs the same"
        ):
            kafka.restore(foreign)
        assert values(kafka) == [b"a"]

    def test_while_a_broker_is_down_there_is_none(self) -> None:
        with Emulator({"orders": 3}, remember=10_000, brokers=3) as kafka:
            snapshot = kafka.snapshot()
            with kafka.stop_broker(2, how="crash"):
                with pytest.raises(
                    ControlError,
                    match="no snapshot can be taken while a broker is stopped or cut off: 2;",
                ):
                    kafka.snapshot()
                with pytest.raises(
                    ControlError,
                    match="no snapshot can be restored while a broker is stopped or cut off: 2;",
                ):
                    kafka.restore(snapshot)


def test_leader_epochs_never_go_back() -> None:
    """Clients do not believe metadata with an older leader epoch of the same topic."""
    with Emulator(
        {"orders": 1}, {"default.replication.factor": 2}, remember=10_000, brokers=2, seed=1
    ) as kafka:

        def partition() -> Any:
            return kafka.run(
                lambda: kafka._session.any_broker().cluster.topics["orders"].partitions[0]
            )

        kafka.produce("orders", ["a"])
        snapshot = kafka.snapshot()
        first = partition().leader
        kafka.move_leader("orders", 0, to=3 - first)
        kafka.produce("orders", ["b"])
        epoch = partition().leader_epoch
        kafka.restore(snapshot)
        assert partition().leader_epoch > epoch
        assert values(kafka) == [b"a"]
        kafka.move_leader("orders", 0, to=3 - partition().leader)
        kafka.produce("orders", ["c"])
        assert values(kafka) == [b"a", b"c"]


def test_the_same_run_gives_the_same_log() -> None:
    def lines() -> list[tuple[Any, ...]]:
        with Emulator({"orders": 2}, remember=10_000, seed=3) as kafka:
            kafka.produce("orders", ["a"], transactional_id="t")
            commit(kafka, "billing", 1)
            snapshot: Snapshot = kafka.snapshot()
            kafka.produce("orders", ["b"], transactional_id="t")
            kafka.restore(snapshot)
            return [
                (line["stream"], line["type"], line.get("group"), line.get("topic"))
                for line in kafka.events()
            ]

    assert lines() == lines()


def add_offsets(kafka: Emulator, producer: topics.Producer, offset: int) -> None:
    """Commit an offset of orders-0 within a transaction."""
    session, (name, producer_id, epoch) = kafka._session, producer
    begun = AddOffsetsToTxnRequest(
        transactional_id=name, producer_id=producer_id, producer_epoch=epoch, group_id="billing"
    )
    assert (
        ask(session.coordinating(name), begun, AddOffsetsToTxnResponse, session.now()).error_code
        == ErrorCode.NONE
    )
    row = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    request = TxnOffsetCommitRequest(
        transactional_id=name,
        group_id="billing",
        producer_id=producer_id,
        producer_epoch=epoch,
        topics=[TxnOffsetCommitRequestTopic(name="orders", partitions=[row])],
    )
    answer = ask(
        session.serving("billing"), request, TxnOffsetCommitResponse, session.now(), version=3
    )
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE


def test_a_compaction_under_way_ends_with_the_log_that_it_cleans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A snapshot that is taken meanwhile has every record, and so has the restored log, which a clean
    compacts from its beginning: once, as the event log says."""
    monkeypatch.setattr(log_cleaning, "_STEPS_AT_ONCE", 1)
    monkeypatch.setattr(compaction, "_RECORDS_A_STEP", 5)
    go_on = LogCleaning._go_on
    monkeypatch.setattr(LogCleaning, "_go_on", lambda *_: None)  # in this test's own time

    with Emulator(remember=10_000) as one:

        def finish() -> None:
            cleaning = one.broker.services.cleaning
            while cleaning._compacting:
                go_on(cleaning, one.server.now())

        def held() -> dict[object, object]:
            return {record.key: record.value for record in one.records("orders", partition=0)}

        small = {"cleanup.policy": "compact", "internal.segment.bytes": 2_000}
        one.create_topic("orders", 1, config=small | {"min.cleanable.dirty.ratio": 0.01})
        values = [f"v{number}" for number in range(200)]
        for number, value in enumerate(values):
            one.produce("orders", [value], keys=[f"k{number % 7}"], partition=0)
        latest = held()
        one.clean("orders")
        one.run(lambda: go_on(one.broker.services.cleaning, one.server.now()))
        assert one.run(lambda: bool(one.broker.services.cleaning._compacting))
        one.restore(one.snapshot())
        one.run(finish)
        assert len(one.records("orders", partition=0)) == len(values)
        one.clean("orders")
        one.run(finish)
        assert held() == latest
        (cleaned,) = one.events("LogCompacted")
        assert cleaned["removed"] == len(values) - len(one.records("orders", partition=0))
