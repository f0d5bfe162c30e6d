"""`RemoteKit` has the kit's own API: the same tests pass here and at the other end of a control
port."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.kit.faults import FaultError
from coordinator.kit.group.handle import GroupHandle
from coordinator.kit.http.client import Client
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.http.remote.faults import RemoteFault
from coordinator.kit.http.remote.groups import RemoteGroup
from coordinator.kit.http.remote.journal import RemoteExchange, RemoteJournal
from coordinator.kit.http.remote.peers import RemotePeer
from coordinator.kit.http.remote.shares import RemoteShareGroup
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.journal import Exchange, Journal
from coordinator.kit.shares.handle import ShareGroupHandle
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.kit.waits.expectations import ExpectationError
from coordinator.members.live import PeerHandle
from coordinator.server.cluster_runtime import ClusterError

_FAST = {"heartbeat.interval.ms": 50}
_OF_ITS_LOOP = {
    "advancing",
    "awaited",
    "awaited_restart",
    "begin_wait_for",
    "fallen_due",
    "produce_when_ready",
    "timed_out",
    "when_ready",
}
"""For drivers on the emulator's own loop; `run` takes a function, which RemoteKit refuses."""


@pytest.fixture(params=["here", "far"])
def kit(request: pytest.FixtureRequest, kafka: Emulator, client: Client) -> Any:
    """The kit, in this process or over HTTP."""
    return kafka if request.param == "here" else RemoteKit(client.url)


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("here", "far", "left_out"),
    [
        (
            Emulator,
            RemoteKit,
            {
                *_OF_ITS_LOOP,
                "start",
                "stop",
                "server",
                "servers",
                "broker",
                "brokers",
                "coordinator",
                "endpoints",
                "event_log",
            },
        ),
        (GroupHandle, RemoteGroup, {"begin_wait", "timed_out"}),
        (ShareGroupHandle, RemoteShareGroup, {"begin_wait", "timed_out"}),
        (Journal, RemoteJournal, set()),
        (Exchange, RemoteExchange, set()),
        (
            PeerHandle,
            RemotePeer,
            {"stable", "commit", "left", "callbacks", "positions", "fault", "state"},
        ),
    ],
)
def test_nothing_of_the_kit_is_missing(here: type, far: type, left_out: set[str]) -> None:
    missing = public(here) - public(far) - left_out
    assert missing == set()
    for name in public(here) & public(far):
        one, other = getattr(here, name), getattr(far, name)
        if inspect.isfunction(one) and name not in ("run", "wait_commit", "faults", "peer"):
            assert list(inspect.signature(one).parameters) == list(
                inspect.signature(other).parameters
            ), name


class TestBoth:
    def test_topics_and_records(self, kit: Any) -> None:
        kit.create_topic("t", 2, config={"max.message.bytes": 1000})
        kit.grow_topic("t", 3)
        assert kit.topics()["t"] == 3
        keys = ["k", None, b"k"]
        written = kit.produce(
            "t", [b"\xff", "tea", None], partition=1, keys=keys, headers={"h": b"v"}, timestamp_ms=7
        )
        assert [row.offset for row in written] == [0, 1, 2]
        first, _, last = kit.records("t", 1)
        assert (first.value, first.key, first.headers, first.timestamp_ms) == (
            b"\xff",
            b"k",
            (("h", b"v"),),
            7,
        )
        assert (last.value, kit.end_offsets("t")) == (None, {0: 0, 1: 3, 2: 0})
        assert kit.truncate("t", 1, 2) == 2
        kit.produce("t", ["gone"], partition=0, transactional_id="x", abort=True)
        assert kit.records("t", 0, committed=True) == []
        kit.delete_topic("t")
        with pytest.raises(ControlError, match="there is no topic 't'"):
            kit.end_offsets("t")
        with pytest.raises(ControlError, match="Topic 'orders' already exists") as refused:
            kit.create_topic("orders")
        assert refused.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
        with pytest.raises(ControlError, match="values come as a list"):
            kit.produce("orders", "x")

    def test_requests_are_looked_at_and_counted(self, kit: Any) -> None:
        journal = kit.journal()
        journal.clear()
        with kit.peer(
            "g", topics=["orders"], config={**_FAST, "enable.auto.commit": False}
        ) as peer:
            peer.wait_stable()
            peer.seek("orders", 2, 7)
            peer.wait_commit()
        (commit,) = journal.verify(
            "OffsetCommit", group="g", topic="orders", partition=2, exactly=1
        )
        rows = {
            row.partition_index: row.committed_offset
            for topic in commit.request.topics
            for row in topic.partitions
        }
        assert rows[2] == 7
        assert {row.error_code for topic in commit.answer.topics for row in topic.partitions} == {0}
        assert (commit.api, commit.error) == ("OffsetCommit", None)
        assert "OffsetCommit" in str(commit)
        joins = journal.requests("JoinGroup", group="g")
        assert [join.error for join in joins] == ["MEMBER_ID_REQUIRED", None]
        assert [join.number for join in joins] == sorted(join.number for join in joins)
        assert all(join.answered_ms >= join.at_ms for join in joins)
        with pytest.raises(AssertionError, match="2 came, not at most 1"):
            journal.verify("JoinGroup", group="g", at_most=1)
        with pytest.raises(AssertionError, match="not with group other"):
            journal.verify("JoinGroup", group="other", at_least=1)
        with pytest.raises(ControlError, match="verify what"):
            journal.verify("JoinGroup")
        with pytest.raises(FaultError, match="'grupo' is no field of the journal: there are group"):
            journal.requests(grupo="g")
        with pytest.raises(ControlError, match="the journal is kept already, of 10000 requests"):
            kit.journal(most=7)
        assert (journal.dropped, journal.most) == (0, 10_000)
        journal.clear()
        assert journal.requests() == []

    def test_a_group_is_waited_for_acted_on_and_judged(self, kit: Any) -> None:
        group = kit.group("g")
        assert group.state == "Dead"
        assert kit.group("nobody's").rebalances == []
        mark = kit.mark()
        with (
            kit.peer("g", topics=["orders"], config=_FAST) as one,
            group.peer(["orders"], config=_FAST) as two,
        ):
            seen = group.wait(state="stable", members=2, assigned="all", acted=True, heard=True)
            assert all(member.heard for member in seen.members)
            assert seen.member(one.member_id).assignment == tuple(
                (tp.topic, tp.partition) for tp in one.owned
            )
            assert kit.groups() == ["g"]
            group.remove(two.client_id)
            seen = group.wait(state="Stable", members=2, generation_above=seen.generation)
            last = group.rebalances[-1]
            assert (last["generation"], last["outcome"]) == (seen.generation, "stable")
            assert two.client_id in last["because"]
            group.expire(one.client_id)
            seen = group.wait(state="Stable", members=2, generation_above=seen.generation)
            group.lose(one.client_id).wait_hit()
            seen = group.wait(state="Stable", members=2, assigned="all")
            group.rebalance("to see")
            group.wait(state="Stable", members=2, generation_above=seen.generation)
            two.pause()
            assert two.paused
            fell = kit.advance(seconds=45)
            assert "MemberRemoved" in [line["type"] for line in fell]
            kit.wait_for("MemberRemoved", group="g", since=mark, reason="session expired")
            two.resume()
        group.wait(state="Empty")
        group.verify(since=mark).single_owner().rebalances(at_least=4)
        with pytest.raises(AssertionError, match="rebalanced"):
            group.verify().rebalances(at_most=1)
        assert "to see" in kit.explain("g")
        assert kit.explain("g") == kit.explain()
        assert [row["group"] for row in kit.timeline(generation=1)["groups"]] == ["g"]
        group.commit({("orders", 1): 0})
        assert group.committed["orders", 1].offset == 0
        group.delete()
        assert not group.snapshot().exists

    def test_faults(self, kit: Any) -> None:
        with kit.hold("JoinGroup", group="g", times=1) as held:
            with kit.peer("g", topics=["orders"], config=_FAST) as peer:
                held.wait_hit()
                assert (held.hits, held.seen, held.held, held.in_force) == (1, 1, 1, True)
                assert [fault.number for fault in kit.faults()] == [held.number]
                assert held.release() == 1
                peer.wait_stable()
                failed = kit.fail("OffsetCommit", "GROUP_AUTHORIZATION_FAILED", group="g", times=1)
                assert kit.missed_faults() == [str(failed.fault)]
                peer.seek("orders", 0, 0)
                with pytest.raises(Exception, match="GROUP_AUTHORIZATION_FAILED"):
                    peer.wait_commit()
        assert not held.in_force
        kit.clear_faults()
        assert kit.faults() == []
        assert "GROUP_AUTHORIZATION_FAILED" in kit.story()

    def test_errors_are_the_kits(self, kit: Any) -> None:
        with pytest.raises(WaitTimeoutError, match="did not reach members=1 within 0 s"):
            kit.group("g").wait(members=1, timeout=0)
        with pytest.raises(ExpectationError, match="wait for what"):
            kit.group("g").wait()
        with pytest.raises(ExpectationError, match="did you mean stable"):
            kit.group("g").wait(state="Stabel")
        with pytest.raises(FaultError, match="did you mean OffsetCommit"):
            kit.hold("OffsetComit")
        with pytest.raises(ControlError, match="there is no group 'g'"):
            kit.group("g").rebalance()
        with kit.peer("g", ["orders"]) as peer:
            peer.wait_stable()
            with pytest.raises(LookupError, match="no member 'nobody'"):
                kit.group("g").expire("nobody")
        with pytest.raises(WaitTimeoutError, match="did not come within 0 s"):
            kit.wait_for("TopicCreated", topic="never", timeout=0)

    def test_names_that_there_are_not_are_refused_at_once(self, kit: Any) -> None:
        with pytest.raises(
            FaultError,
            match=r"topic 'ordres': there is none; there are: orders\. If it is to be made later",
        ):
            kit.fail("Fetch", "UNKNOWN_TOPIC_OR_PARTITION", topic="ordres")
        with pytest.raises(FaultError, match="partition 4: topic orders has 0 to 3"):
            kit.fail("OffsetCommit", "INVALID_GROUP_ID", topic="orders", partition=4)
        with pytest.raises(FaultError, match="may_miss: 1; true or false"):
            kit.observe("Fetch", may_miss=1)
        assert kit.faults() == []
        kit.observe("CreateTopics", topic="late")
        kit.observe("Produce", topic="late", missing_ok=True)
        with pytest.raises(
            ExpectationError, match="'MemberRemovd' is no type of line: did you mean MemberRemoved"
        ):
            kit.wait_for("MemberRemovd")
        with pytest.raises(
            ExpectationError, match="'MemberRemovd' is no type of line: did you mean MemberRemoved"
        ):
            kit.events("MemberRemovd")
        with pytest.raises(
            ExpectationError, match="there is no stream 'groups'; there are: run, group, "
        ):
            kit.events(stream="groups")
        with pytest.raises(
            ExpectationError, match="'reasons' is no field of a line: did you mean reason"
        ):
            kit.events("MemberRemoved", reasons="left")
        with pytest.raises(
            ExpectationError, match="'reasons' is no field of a line: did you mean reason"
        ):
            kit.wait_for("MemberRemoved", reasons="left")

    def test_a_clean_start_for_the_next_test(self, kit: Any) -> None:
        kit.group("g").commit({("orders", 0): 1})
        kit.unload_coordinator()
        kit.load_coordinator()
        kit.group("g").wait(committed={("orders", 0): 1})
        kit.reset()
        assert (kit.groups(), kit.topics()) == ([], {})

    def test_topics_that_are_kept_keep_their_records(self, kit: Any) -> None:
        kit.create_topic("others", 1)
        kit.produce("orders", ["a"], partition=0)
        with pytest.raises(ControlError, match="topics to keep come as a list: \\['orders'\\]"):
            kit.reset(keep_topics="orders")
        with pytest.raises(ControlError, match="there is no topic 'odrers'; there are: "):
            kit.reset(keep_topics=["odrers"])
        assert "others" in kit.topics()
        kit.reset(keep_topics=["orders"])
        assert (list(kit.topics()), kit.end_offsets("orders")[0]) == (["orders"], 1)

    def test_everything_is_as_it_was_after_a_restore(self, kit: Any) -> None:
        kit.produce("orders", ["a"], partition=0)
        kit.group("g").commit({("orders", 0): 1})
        snapshot = kit.snapshot()
        assert "orders:4; 1 record; groups: g>" in repr(snapshot)
        for _ in range(2):
            kit.delete_topic("orders")
            kit.restore(snapshot)
            assert [record.value for record in kit.records("orders")] == [b"a"]
            assert kit.group("g").committed["orders", 0].offset == 1
        with pytest.raises(ControlError, match="'1' is no snapshot"):
            kit.restore("1")


class TestFar:
    def test_a_snapshot_stays_with_its_emulator(self, client: Client) -> None:
        snapshot = RemoteKit(client.url).snapshot()
        with pytest.raises(
            ControlError,
            match="was taken at another emulator: over HTTP it can be restored only there",
        ):
            RemoteKit(client.url).restore(snapshot)
        kit = RemoteKit(client.url)
        forgotten = kit.snapshot()
        forgotten.forget()
        with pytest.raises(
            LookupError, match=f"there is no snapshot '{forgotten.number}'; there are: "
        ):
            kit.restore(forgotten)

    def test_what_takes_a_python_function_says_that_it_cannot_cross(self, client: Client) -> None:
        kit = RemoteKit(client.url)
        with pytest.raises(TypeError, match="cannot be called over HTTP"):
            kit.run(lambda: None)
        with pytest.raises(TypeError, match="cannot be given over HTTP"):
            kit.peer("g", ["orders"], listener=object())

    def test_a_peer_that_has_ended_is_left_as_it_is(self, client: Client) -> None:
        kit = RemoteKit(client.url)
        with kit.peer("g", ["orders"]) as peer:
            peer.wait_stable()
            peer.crash()
            assert peer.ended

    def test_a_move_that_is_not_under_way_cannot_be_cancelled(self) -> None:
        """None is a word of this verb: it has to arrive."""
        from coordinator.kit.http.serving import opened

        with Emulator({"orders": 1}, brokers=2, remember=1000) as kafka, opened(kafka) as port:
            with pytest.raises(ClusterError, match="orders"):
                RemoteKit(port.url).reassign_partition("orders", 0, None)
            assert kafka.events("ReassignmentStarted") == []

    def test_the_coordinator_of_a_group_is_told_everywhere(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from coordinator.cli import main
        from coordinator.kit.http.serving import opened

        with (
            Emulator({"orders": 1}, brokers=3, remember=1000, seed=3) as kafka,
            opened(kafka) as port,
        ):
            here, far = kafka.group("g"), RemoteKit(port.url).group("g")
            for to in (2, 3):
                if here.coordinator != to:
                    kafka.move_coordinator("g", to)
                assert here.coordinator == far.coordinator == to
                assert main(["ctl", "group", "coordinator", "g", "--control", port.url]) == 0
                assert capsys.readouterr().out == f"{to}\n"
            here.commit({("orders", 0): 0})
            assert here.state == "Empty"
            assert here.coordinator == far.coordinator == 3, "of a group that is there, too"
            for broker in (1, 2, 3):
                kafka.stop_broker(broker, "pause") if broker < 3 else kafka.stop_broker(3, "crash")
            kafka.start_broker(1)
            assert here.coordinator is None, "who leads its partition is not decided yet"

    def test_verbs_of_brokers_are_undone_at_the_end_of_a_block(self) -> None:
        from coordinator.kit.http.serving import opened

        with (
            Emulator({"orders": 1}, brokers=2, remember=1000, seed=3) as kafka,
            opened(kafka) as port,
        ):
            kit = RemoteKit(port.url)
            with kit.stop_broker(2, how="crash"):
                assert not kit.is_running(2)
            assert kit.is_running(2)
            with kit.jump_clock(2, 86_400_000) as jumped:
                clock_ms = kafka.brokers[2].epoch_ms
            assert jumped.inverse is None
            assert kafka.brokers[2].epoch_ms == clock_ms - 86_400_000
            assert kit.bootstrap_servers == kafka.bootstrap_servers

    def test_a_fault_is_told_as_at_home(self, client: Client) -> None:
        fault: RemoteFault = RemoteKit(client.url).observe("Fetch")
        assert str(fault) == "Fetch: observe: 0 hits of 0 requests"
        fault.remove()
