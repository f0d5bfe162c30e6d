"""The testing kit on a running emulator, with its own peers as members."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator import Emulator
from coordinator.base.installing import see_agents
from coordinator.kit.faults import FaultError, from_plain, to_plain
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.views.group_snapshots import from_plain as group_from_plain
from coordinator.kit.views.group_snapshots import to_plain as group_to_plain
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.kit.waits.expectations import ExpectationError, GroupExpectation
from coordinator.members.partitioners.murmur2 import partition_for_key

_FAST = {"heartbeat.interval.ms": "50"}


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator({"orders": 4}, remember=10_000, seed=5) as running:
        yield running


class TestTopics:
    def test_make_grow_delete(self, emulator: Emulator) -> None:
        emulator.create_topic("t", 2, config={"max.message.bytes": 1000})
        emulator.grow_topic("t", 3)
        assert emulator.end_offsets("t") == {0: 0, 1: 0, 2: 0}
        emulator.delete_topic("t")
        with pytest.raises(ControlError, match="there is no topic 't'; there are: orders"):
            emulator.end_offsets("t")

    def test_refusals_are_kafkas(self, emulator: Emulator) -> None:
        with pytest.raises(ControlError, match=r"Topic 'orders' already exists"):
            emulator.create_topic("orders")
        with pytest.raises(ControlError, match="has no partition 9: it has 0 to 3"):
            emulator.produce("orders", [b"x"], partition=9)
        with pytest.raises(ControlError, match="values come as a list"):
            emulator.produce("orders", b"x")
        with pytest.raises(ControlError, match="keys: 1 for 2 values"):
            emulator.produce("orders", [b"x", b"y"], keys=[b"k"])
        with pytest.raises(ControlError, match="keys come as a list, not as 7"):
            emulator.produce("orders", ["a"], keys=7)  # type: ignore[arg-type]
        with pytest.raises(ControlError, match=r"name: \['orders'\]; a text is meant"):
            emulator.produce(["orders"], ["a"])  # type: ignore[arg-type]

    def test_records_are_read_as_they_were_written(self, emulator: Emulator) -> None:
        (written,) = emulator.produce(
            "orders", ["coffee"], partition=1, keys=["k"], headers={"h": b"v"}, timestamp_ms=77
        )
        assert written == ("orders", 1, 0)
        (row,) = emulator.records("orders")
        assert row == ("orders", 1, 0, 77, b"k", b"coffee", (("h", b"v"),))

    def test_keys_go_where_javas_producer_puts_them_and_others_go_round(
        self, emulator: Emulator
    ) -> None:
        assert {
            row.partition for row in emulator.produce("orders", ["x"] * 3, keys=["same"] * 3)
        } == {partition_for_key(b"same", 4)}
        assert [row.partition for row in emulator.produce("orders", ["x"] * 5)] == [0, 1, 2, 3, 0]

    def test_transactions_are_whole_or_not_there(self, emulator: Emulator) -> None:
        emulator.produce("orders", ["kept"], partition=0, transactional_id="t")
        emulator.produce("orders", ["gone"], partition=0, transactional_id="t", abort=True)
        emulator.produce("orders", ["kept too"], partition=0, transactional_id="t")
        assert [row.value for row in emulator.records("orders", 0)] == [
            b"kept",
            b"gone",
            b"kept too",
        ]
        assert [row.value for row in emulator.records("orders", 0, committed=True)] == [
            b"kept",
            b"kept too",
        ]

    def test_truncation_moves_the_log_start(self, emulator: Emulator) -> None:
        emulator.produce("orders", ["a", "b", "c"], partition=0)
        assert emulator.truncate("orders", 0, 2) == 2
        assert [row.value for row in emulator.records("orders", 0)] == [b"c"]


class TestGroups:
    def test_waiting_for_members_and_their_partitions(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        assert group.state == "Dead"
        with emulator.peer("g", topics=["orders"]) as one:
            seen = group.wait(state="stable", members=1, assigned="all", acted=True)
            assert seen.member(one.member_id).assignment == tuple(
                ("orders", index) for index in range(4)
            )
            with emulator.peer("g", topics=["orders"]) as two:
                seen = group.wait(
                    members=2, assigned="all", acted=True, generation_above=seen.generation
                )
                assert sorted(seen.assigned()) == [("orders", index) for index in range(4)]
                assert group.member(two.client_id).connected
        assert group.wait(state="Empty").members == ()

    def test_a_time_out_says_what_is_missing_and_what_was_seen(self, emulator: Emulator) -> None:
        with emulator.peer("g", topics=["orders"]) as peer:
            peer.wait_stable()
            said = r"it has 1 member, not 2.*\nSeen: group 'g' is Stable in generation 1 with 1 member: "
            with pytest.raises(WaitTimeoutError, match=said) as told:
                emulator.group("g").wait(members=2, timeout=0.05)
            assert str(told.value).endswith(f"\n({see_agents()})")

    def test_impossible_waits_are_refused_at_once(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with pytest.raises(ExpectationError, match="wait for what"):
            group.wait()
        with pytest.raises(ExpectationError, match="did you mean stable, Stable"):
            group.wait(state="Stabel")
        with pytest.raises(ExpectationError, match="Empty has no members"):
            group.wait(state="Empty", members=2)

    def test_a_removed_member_learns_of_it_and_joins_again(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with emulator.peer("g", topics=["orders"], config={"heartbeat.interval.ms": "50"}) as peer:
            before = group.wait(state="Stable", members=1)
            group.remove(peer.client_id)
            after = group.wait(state="Stable", members=1, generation_above=before.generation)
            assert after.members[0].member_id != before.members[0].member_id
            with pytest.raises(
                LookupError, match="no member 'nobody' in group 'g'; its members: consumer-g-1"
            ):
                group.remove("nobody")

    def test_offsets_and_lag(self, emulator: Emulator) -> None:
        emulator.produce("orders", ["a", "b", "c"], partition=2)
        group = emulator.group("g")
        group.commit({("orders", 2): 1})
        assert group.committed["orders", 2].offset == 1
        assert group.lag["orders", 2] == 2
        assert group.wait(committed={("orders", 2): 1}, lag=2).state == "Empty"
        group.delete()
        assert group.state == "Dead"

    def test_a_snapshot_survives_json(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        group.commit({("orders", 2): 1})
        with emulator.peer("g", topics=["orders"]) as peer:
            peer.wait_stable()
            seen = group.snapshot()
        assert group_from_plain(group_to_plain(seen)) == seen


class TestTime:
    def test_a_silent_member_expires_and_a_living_one_is_spared(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with (
            group.peer(["orders"], config=_FAST) as lives,
            group.peer(["orders"], config=_FAST) as freezes,
        ):
            group.wait(state="Stable", members=2, assigned="all", acted=True)
            freezes.pause()
            fell = emulator.advance(seconds=45)
            assert [line["detail"] for line in fell if line["type"] == "MemberRemoved"] == [
                "45000 ms"
            ]
            seen = group.wait(members=1, assigned="all", acted=True)
            assert seen.members[0].member_id == lives.member_id
            freezes.resume()
            group.wait(members=2, assigned="all", acted=True, generation_above=seen.generation)
        group.verify().no_stale_commit()

    def test_members_are_silent_on_request(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with group.peer(["orders"], config=_FAST) as peer:
            group.wait(state="Stable", members=1)
            generation = group.generation
            assert emulator.advance(seconds=100) == []
            assert group.generation == generation
            emulator.advance(seconds=45, silent=[peer.client_id], grace=0.01)
            group.wait(state="Stable", members=1, generation_above=generation)

    def test_offsets_expire_and_record_timestamps_move_along(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        group.commit({("orders", 0): 1})
        before = emulator.produce("orders", ["a"], partition=1)
        (first,) = emulator.records("orders", 1)
        emulator.advance(seconds=8 * 24 * 3600)
        after = emulator.produce("orders", ["b"], partition=1)
        assert group.state == "Dead"
        assert (before[0].offset, after[0].offset) == (0, 1)
        (second,) = emulator.records("orders", 1)  # the first is older than retention.ms
        assert second.timestamp_ms - first.timestamp_ms >= 8 * 24 * 3600 * 1000


class TestActing:
    def test_a_member_expires_on_request(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with group.peer(["orders"], config=_FAST) as peer:
            before = group.wait(state="Stable", members=1)
            group.expire(peer.client_id)
            after = group.wait(state="Stable", members=1, generation_above=before.generation)
            assert after.members[0].member_id != before.members[0].member_id

    def test_a_rebalance_on_request(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with pytest.raises(ControlError, match="there is no group 'g'; there are: none"):
            group.rebalance()
        with group.peer(["orders"], config=_FAST):
            before = group.wait(state="Stable", members=1)
            group.rebalance("to see what happens")
            after = group.wait(state="Stable", members=1, generation_above=before.generation)
            assert after.members[0].member_id == before.members[0].member_id
        assert "to see what happens" in emulator.explain("g")

    def test_a_static_member_is_fenced(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        with group.peer(
            ["orders"], config={**_FAST, "group.instance.id": "i"}, keep_going=True
        ) as peer:
            group.wait(state="Stable", members=1)
            fenced = peer.member_id
            group.fence("i")
            refused = emulator.observe("Heartbeat", group="g")
            refused.wait_hit()
            assert fenced not in [member.member_id for member in group.members]
        with (
            emulator.peer("h", ["orders"]) as dynamic,
            pytest.raises(ControlError, match="dynamic member"),
        ):
            emulator.group("h").fence(dynamic.wait_stable().client_id)


class TestFaults:
    def test_a_commit_fails_once_and_the_fault_counts_it(self, emulator: Emulator) -> None:
        with emulator.peer("g", topics=["orders"]) as peer:
            peer.wait_stable()
            fault = emulator.fail(
                "OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", group="g", times=1
            )
            assert emulator.missed_faults() == [str(fault.fault)]
            peer.seek("orders", 0, 0)
            peer.wait_commit()
            fault.wait_hit()
        assert fault.hits == 1
        assert emulator.missed_faults() == []
        (line,) = emulator.events("FaultInjected", group="g")
        assert (
            line["fault"]
            == "OffsetCommit of group g: fail with COORDINATOR_LOAD_IN_PROGRESS, 1 time"
        )

    def test_a_held_join_goes_on_when_released(self, emulator: Emulator) -> None:
        with emulator.hold("JoinGroup", group="g", times=1) as held:
            with emulator.peer("g", topics=["orders"]) as peer:
                held.wait_hit()
                assert emulator.group("g").state == "Dead"
                assert held.release() == 1
                peer.wait_stable()

    def test_a_group_selects_fetches_by_the_client_ids_of_its_members(
        self, emulator: Emulator
    ) -> None:
        seen = emulator.observe("Metadata", group="g")
        with emulator.peer("g", topics=["orders"]) as peer:
            peer.wait_stable()
        assert seen.hits == 0, "the peers' shared connection has a client id of its own"

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (
                lambda k: k.fail("OffsetComit", 27),
                "'OffsetComit' is no API: did you mean OffsetCommit",
            ),
            (
                lambda k: k.fail("Fetch", "REBALANCE"),
                "'REBALANCE' is no error of Kafka: did you mean REBALANCE_IN_PROGRESS",
            ),
            (lambda k: k.fail("Fetch", 9999), "9999 is no error code of Kafka"),
            (
                lambda k: k.hold("Fetch", grup="g"),
                "'grup' is no key of a fault that does hold: did you mean group",
            ),
            (lambda k: k.hold("Fetch", phase="sleeping"), "'sleeping' is no phase of a group"),
            (lambda k: k.hold("Fetch", times=0), "times: 0; at least 1"),
            (lambda k: k.hold("Fetch", partition=1), "partition 1: of which topic"),
            (lambda k: k.hold("Fetch", broker=7), "broker 7: there is none; there are: 1"),
            (lambda k: k.delay("Fetch", seconds=-1), "seconds: -1"),
            (lambda k: k.hold("Fetch", probability=2), "probability: 2"),
        ],
    )
    def test_a_fault_that_cannot_be_says_what_would_be_right(
        self, emulator: Emulator, call: object, said: str
    ) -> None:
        with pytest.raises(FaultError, match=said.replace("(", r"\(")):
            call(emulator)  # type: ignore[operator]
        assert not emulator.missed_faults(), "nothing is half done"


@pytest.mark.parametrize(
    "plain",
    [
        {
            "action": "fail",
            "error": "REBALANCE_IN_PROGRESS",
            "api": "OffsetCommit",
            "group": "b",
            "times": 1,
            "nth": 2,
        },
        {
            "action": "delay",
            "duration_ms": 50,
            "answer": True,
            "api": "Fetch",
            "topic": "t",
            "partition": 0,
        },
        {"action": "hold", "phase": "Stable", "probability": 0.5, "name": "n", "may_miss": True},
        {"action": "disconnect", "after": True, "broker": 1},
    ],
)
def test_faults_survive_json(plain: dict[str, object]) -> None:
    assert to_plain(from_plain(plain)) == plain


def test_partitions_of_members_are_compared_by_name() -> None:
    from coordinator.kit.views.group_snapshots import GroupSnapshot, MemberSnapshot

    member = MemberSnapshot("c-1234", "c", "/127.0.0.1", None, ("t",), (("t", 0), ("t", 1)), 0)
    group = GroupSnapshot("g", "Stable", members=(member,))
    assert GroupExpectation(assigned={"c": ["t-0", ("t", 1)]}).unmet(group, lambda topic: 2) == ()
    assert GroupExpectation(assigned={"c": ["t-0"]}).unmet(group, lambda topic: 2) == (
        "c-1234 owns t 0-1, not t 0",
    )
    assert GroupExpectation(assigned="all").unmet(group, lambda topic: 4) == (
        "no member owns t 2-3",
    )


class TestVerification:
    @pytest.mark.parametrize("error", ["ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH"])
    def test_what_a_fault_refused_is_no_stale_commit(self, emulator: Emulator, error: str) -> None:
        by_hand = {"enable.auto.commit": False}
        with (
            emulator.peer("g", topics=["orders"], config=by_hand, keep_going=True) as peer,
            emulator.fail("OffsetCommit", error, group="g", times=1, any_error=True) as refused,
        ):
            peer.wait_stable()
            peer.seek("orders", 0, 1)
            with pytest.raises(Exception, match=error):
                peer.wait_commit()
            assert refused.hits == 1
            emulator.group("g").verify().no_stale_commit()

    def test_promises_and_counts(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        fast = {"heartbeat.interval.ms": 50}
        with emulator.peer("g", topics=["orders"], config=fast) as peer:
            peer.wait_stable()
            mark = emulator.mark()
            with emulator.peer("g", topics=["orders"], config=fast) as other:
                other.wait_stable()
                group.wait(members=2, assigned="all")
            group.wait(members=1, assigned="all")
        verified = (
            group.verify().single_owner().revoked_before_assigned().no_stale_commit().left_cleanly()
        )
        verified.rebalances(since=mark, at_least=2, at_most=3)
        with pytest.raises(
            AssertionError, match=r"rebalanced \d times, not 0\n  line \d+, at \d+ ms: "
        ):
            verified.rebalances(0)
        assert "group g" in emulator.explain("g")

    def test_a_member_that_died_did_not_leave_cleanly(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        peer = emulator.peer(
            "g",
            topics=["orders"],
            config={"session.timeout.ms": "6000", "heartbeat.interval.ms": "100"},
        )
        peer.wait_stable()
        name = peer.client_id
        peer.crash()
        group.remove(name)
        group.verify().left_cleanly()
        with pytest.raises(
            AssertionError,
            match="'somebody' did not leave group 'g'; members that left: consumer-g-1",
        ):
            group.verify().left_cleanly("somebody")

    def test_committed_gaps_and_doubles(self, emulator: Emulator) -> None:
        group = emulator.group("g")
        emulator.produce("orders", ["a", "b", "c"], partition=0)
        group.commit({("orders", 0): 3})
        verified = (
            group.verify()
            .committed({("orders", 0): 3})
            .no_gaps([("orders", 0, offset) for offset in range(3)])
        )
        with pytest.raises(AssertionError, match="orders-0: 3 is committed for group 'g', not 4"):
            verified.committed({("orders", 0): 4})
        with pytest.raises(AssertionError, match="never processed: 1"):
            verified.no_gaps([("orders", 0, 0), ("orders", 0, 2)])
        with pytest.raises(AssertionError, match="processed more than once: orders-0 offset 1"):
            verified.exactly_once(
                [("orders", 0, 0), ("orders", 0, 1), ("orders", 0, 1), ("orders", 0, 2)]
            )


def test_an_emulator_is_emptied_between_two_tests(emulator: Emulator) -> None:
    emulator.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")
    emulator.group("g").commit({("orders", 0): 1})
    emulator.create_topic("more")
    emulator.reset()
    assert emulator.groups() == []
    assert emulator.missed_faults() == []
    with pytest.raises(ControlError, match="there are: none"):
        emulator.end_offsets("orders")
