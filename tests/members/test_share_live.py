"""Share consumers of ours on real sockets: `kafka.share_peer`, and `coordinator peers --protocol share`."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from coordinator import Emulator
from coordinator.cli import main
from coordinator.members import MemberConfigError
from coordinator.members.share.member import ShareState

PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""
CONFIG = {
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
}


def workers(kafka: Emulator, partitions: int = 2, **settings: str) -> object:
    """Topic jobs, and the group that reads it from the start."""
    kafka.create_topic("jobs", partitions, replication=len(kafka.brokers))
    share = kafka.share_group("workers")
    named = {key.replace("_", "."): value for key, value in settings.items()}
    share.configure({"share.auto.offset.reset": "earliest", **named})
    return share


def until(condition: Callable[[], bool]) -> None:
    """Wait for what a peer knows: later than the broker, which has answered it by then."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("brokers", [1, 3])
def test_peers_share_the_work(brokers: int) -> None:
    """SH-HB-2, SH-ASN-1: each record is done with once, whoever leads its partition."""
    with Emulator(config=CONFIG, brokers=brokers, remember=100_000) as kafka:
        share = workers(kafka, 4)
        with (
            kafka.share_peer("workers", ["jobs"]) as a,
            kafka.share_peer("workers", ["jobs"], config={"client.id": "b"}) as b,
        ):
            share.wait(members=2)  # type: ignore[attr-defined]
            kafka.produce("jobs", [str(n) for n in range(40)])
            share.wait(acknowledged=40, lag=0)  # type: ignore[attr-defined]
            assert a.state is b.state is ShareState.STABLE
            assert len(a.assigned) + len(b.assigned) >= 4 and b.client_id == "b"
            done = [(of.topic, of.partition, of.offset) for of in (*a.done, *b.done)]
            assert len(done) == len(set(done)) == 40
        share.wait(members=0)  # type: ignore[attr-defined]
        share.verify().done_stays_done().one_holder().deliveries_are_counted()  # type: ignore[attr-defined]


def test_records_in_the_hand_of_a_peer_that_crashes_come_to_another() -> None:
    """SH-SES-3: its connections are gone, and with them its sessions."""
    with Emulator(config=CONFIG, remember=100_000) as kafka:
        share = workers(kafka, 1)
        kafka.produce("jobs", ["x"])
        slow = kafka.share_peer("workers", ["jobs"], processing_ms=3_600_000)
        share.wait(acquired=1)  # type: ignore[attr-defined]
        until(lambda: slow.in_hand == [("jobs", 0, 0)])  # the answer is on its way to it
        slow.crash()
        assert slow.ended
        with kafka.share_peer("workers", ["jobs"]) as quick:
            share.wait(acknowledged=1)  # type: ignore[attr-defined]
            ((topic, _, offset, count, word, value),) = quick.done
            assert (topic, offset, count, word, value) == ("jobs", 0, 2, "accept", b"x")


def test_a_leader_that_crashes_is_looked_for() -> None:
    """The partition's next leader is found, and the work goes on there."""
    with Emulator(config=CONFIG, brokers=3, remember=100_000) as kafka:
        share = workers(kafka, 1)
        with kafka.share_peer("workers", ["jobs"]) as peer:
            kafka.produce("jobs", ["x"])
            share.wait(acknowledged=1)  # type: ignore[attr-defined]
            leader = kafka.brokers[1].cluster.topics["jobs"].partitions[0].leader
            kafka.stop_broker(leader, how="crash")
            mark = kafka.mark()
            kafka.produce("jobs", ["y"], timeout=30)
            kafka.wait_for("RecordsAcknowledged", group="workers", since=mark)
            assert [of.value for of in peer.done][-1] == b"y"


def test_a_peer_that_is_slower_than_its_lock() -> None:
    """SH-ACK-4: its member goes on, what it holds is anybody's after 30 s."""
    with Emulator(config=CONFIG, remember=100_000) as kafka:
        share = workers(kafka, 1)
        kafka.produce("jobs", ["x"])
        with kafka.share_peer("workers", ["jobs"], processing_ms=3_600_000):
            share.wait(acquired=1)  # type: ignore[attr-defined]
            kafka.advance(seconds=30)
            share.wait(available=1, members=1)  # type: ignore[attr-defined]
            with kafka.share_peer("workers", ["jobs"]) as quick:
                share.wait(acknowledged=1)  # type: ignore[attr-defined]
                assert [of.delivery_count for of in quick.done] == [2]
        share.verify().locks_last()  # type: ignore[attr-defined]


def test_a_peer_that_renews_its_locks() -> None:
    """SH-ACK-2: however long it works, the record is its own; its lock lasts 30 s from the latest
    renewal."""
    with Emulator(config=CONFIG, remember=100_000) as kafka:
        share = workers(kafka, 1)
        kafka.produce("jobs", ["x"])
        with kafka.share_peer("workers", ["jobs"], processing_ms=3_600_000, renew_ms=20) as slow:
            kafka.wait_for("RecordsAcknowledged", group="workers", since=0)
            for renewed in (1, 2, 3):
                kafka.advance(seconds=20)
                mark = kafka.mark()
                told = kafka.wait_for("RecordsAcknowledged", group="workers", since=mark)[-1]
                assert told["deadline_ms"] - told["at_ms"] == 30_000
                assert slow.renewed >= renewed and slow.in_hand == [("jobs", 0, 0)]
            assert share.record("jobs", 0, 0).delivery_count == 1  # type: ignore[attr-defined]
        share.verify().locks_last().one_holder()  # type: ignore[attr-defined]


def test_what_is_rejected_has_its_dead_letter() -> None:
    """SH-DLQ-1."""
    settings = {"errors.deadletterqueue.topic.name": "dlq.jobs"}
    with Emulator(config=CONFIG, remember=100_000) as kafka:
        share = workers(kafka, 1)
        share.configure(settings)  # type: ignore[attr-defined]
        kafka.create_topic("dlq.jobs", 1, config={"errors.deadletterqueue.group.enable": "true"})
        kafka.produce("jobs", ["x", "y"])
        with kafka.share_peer("workers", ["jobs"], reject=1.0) as a:
            share.wait(archived=2, lag=0)  # type: ignore[attr-defined]
            assert [of.word for of in a.done] == ["reject", "reject"]
        assert len(kafka.records("dlq.jobs")) == 2
        share.verify().dead_letters_complete()  # type: ignore[attr-defined]


def test_a_paused_peer_loses_its_membership_and_comes_back() -> None:
    """SH-HB-4, SH-EP-1."""
    with Emulator(config=CONFIG) as kafka:
        share = workers(kafka)
        with kafka.share_peer("workers", ["jobs"]) as a:
            share.wait(members=1)  # type: ignore[attr-defined]
            a.pause()
            kafka.advance(seconds=60, silent=[a.client_id])
            share.wait(members=0)  # type: ignore[attr-defined]
            a.resume()
            share.wait(members=1)  # type: ignore[attr-defined]


def test_from_a_loop() -> None:
    async def story(kafka: Emulator) -> None:
        async with kafka.share_peer("workers", ["jobs"]) as peer:
            await asyncio.to_thread(kafka.share_group("workers").wait, members=1)
            await asyncio.to_thread(until, lambda: peer.state is ShareState.STABLE)
        assert peer.ended

    with Emulator({"jobs": 1}, config=CONFIG) as kafka:
        asyncio.run(story(kafka))


def test_a_user_of_its_own() -> None:
    """It logs in, and needs its rights."""
    with Emulator(
        {"jobs": 1},
        config=CONFIG,
        security="SASL_PLAINTEXT",
        users={"worker": "secret"},
        acls=["User:worker may Read group workers", "User:worker may Read topic jobs"],
    ) as kafka:
        share = kafka.share_group("workers")
        share.configure({"share.auto.offset.reset": "earliest"})
        kafka.produce("jobs", ["x"])
        with kafka.share_peer("workers", ["jobs"], user="worker") as peer:
            share.wait(acknowledged=1)
            assert [of.value for of in peer.done] == [b"x"]


def test_what_cannot_be_is_refused_at_once() -> None:
    with Emulator({"jobs": 1}) as kafka:
        for words, why in (
            ({"topics": []}, "give one name at least"),
            ({"topics": ["jobs"], "reject": 2.0}, "a probability"),
            ({"topics": ["jobs"], "config": {"max.poll": 1}}, "no setting of a share consumer"),
        ):
            with pytest.raises(MemberConfigError, match=why):
                kafka.share_peer("workers", **words)  # type: ignore[arg-type]


class TestCommand:
    PEERS = (sys.executable, "-m", "coordinator", "peers", "--protocol", "share")

    def test_members_work_until_their_time_is_over(self) -> None:
        with Emulator(config=CONFIG) as kafka:
            share = workers(kafka)
            kafka.produce("jobs", ["x", "y", "z"])
            options = ["--bootstrap", kafka.bootstrap_servers, "--group", "workers"]
            with subprocess.Popen(
                [*self.PEERS, *options, "--topics", "jobs", "-n", "2"],
                stdout=subprocess.PIPE,
                text=True,
            ) as process:
                share.wait(acknowledged=3, members=2)  # type: ignore[attr-defined]
                assert process.stdout is not None
                for line in process.stdout:
                    if re.search("2 of 2 in the group, .* 3 accepted, 0 released", line):
                        break
                process.terminate()
                rest = process.stdout.read()
            assert process.returncode == 0
            assert "leaving: 2 members" in rest
            share.wait(members=0)  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (["--topics", "jobs", "--static"], "--static: share groups have no static members"),
            (["--pattern", "j.*"], "--pattern: share groups subscribe to topics by name"),
            (["--topics", "jobs", "--assignor", "range"], "--assignor: the coordinator assigns"),
            (["--topics", "jobs", "--reject", "2"], "reject=2.0: a probability"),
            (
                ["--topics", "jobs", "--renew", "-1"],
                "renew_ms=-1: whole milliseconds up to 2147483647, or 0 for never",
            ),
            (["--topics", "jobs", "--config", "x"], "write NAME=VALUE"),
            (["--topics", "jobs", "--config", "group.id=x"], "there is --group for this"),
            ([], "give --topics jobs,mails"),
        ],
    )
    def test_wrong_options(
        self, options: list[str], why: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        base = ["peers", "--protocol", "share", "--bootstrap", "127.0.0.1:1", "--group", "g"]
        with pytest.raises(SystemExit) as ended:
            sys.exit(main([*base, *options]))
        assert ended.value.code == 2
        assert why in capsys.readouterr().err

    def test_options_of_share_groups_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = ["peers", "--bootstrap", "127.0.0.1:1", "--group", "g", "--topics", "t"]
        with pytest.raises(SystemExit):
            sys.exit(main([*options, "--reject", "0.5"]))
        assert "only with --protocol share" in capsys.readouterr().err
