"""A share group in a test's hands, here and at the other end of a control port: looks, waits, verbs,
and what explain says of it. Its members send their requests by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from coordinator import Emulator
from coordinator.base.errors import ErrorCode
from coordinator.cli import main
from coordinator.kit.http.client import Client, Refused
from coordinator.kit.http.remote import RemoteKit
from coordinator.kit.in_process_requests import ControlError
from coordinator.kit.waiting import WaitTimeoutError
from coordinator.kit.waits.expectations import ExpectationError
from coordinator.testing.asynchronous import AsyncKafka
from tests.kit.http.sharing import Sharer

ACCEPT, RELEASE, REJECT = 1, 2, 3
PATIENCE_S = 120.0
"""For each thing that is awaited, on a busy machine."""


@pytest.fixture(params=["here", "far"])
def kit(request: pytest.FixtureRequest, kafka: Emulator, client: Client) -> Any:
    """The kit, in this process or over HTTP."""
    return kafka if request.param == "here" else RemoteKit(client.url)


@pytest.fixture
def share(kit: Any, kafka: Emulator) -> Any:
    """A share group that reads topic jobs, of one partition with three records, from the start."""
    kafka.create_topic("jobs", 1)
    share = kit.share_group("workers")
    share.configure({"share.auto.offset.reset": "earliest", "share.assignment.interval.ms": 0})
    kafka.produce("jobs", ["a", "b", "c"], partition=0)
    return share


@pytest.fixture
def worker(kafka: Emulator, share: Any) -> Iterator[Sharer]:
    """A member that holds all records."""
    worker = Sharer(kafka.bootstrap_servers, "workers", "worker-1", "jobs")
    worker.join()
    assert worker.fetch() == [(0, 2, 1)]
    yield worker
    worker.leave()


def test_records_are_looked_at(share: Any, worker: Sharer) -> None:
    seen = share.wait(members=1, acquired=3, delivery_count=1)
    assert (seen.available, seen.lag, seen.starts) == (0, 3, {"jobs-0": 0})
    record = share.record("jobs", 0, 1)
    assert (record.state, record.delivery_count, record.holder) == ("Acquired", 1, "worker-1")
    assert 0 < record.time_left_ms <= 30_000
    worker.acknowledge((0, 0, ACCEPT), (1, 1, REJECT))
    share.wait(acknowledged=1, archived=1, acquired=1, lag=1)
    assert [of.state for of in share.records("jobs", 0)] == ["Acknowledged", "Archived", "Acquired"]
    assert [of.offset for of in share.records("jobs", most=2)] == [0, 1]
    assert str(share.record("jobs", 0, 0)) == "jobs-0@0: Acknowledged, delivered 1 time"


def test_records_that_were_not_read_yet(kafka: Emulator, share: Any, worker: Sharer) -> None:
    kafka.produce("jobs", ["d"], partition=0)
    assert share.record("jobs", 0, 3).state == "Unread"
    with pytest.raises(ControlError, match="jobs-0 has no record 9: it has those from 0 to 3"):
        share.record("jobs", 0, 9)
    with pytest.raises(ControlError, match="nope"):
        share.record("nope", 0, 0)


def test_locks_end(kafka: Emulator, share: Any, worker: Sharer) -> None:
    assert share.expire_locks("jobs", 0, 1) == 1
    assert share.wait(available=1, acquired=2).most_deliveries == 1
    assert share.expire_locks() == 2
    with pytest.raises(ControlError, match="nothing is held at all"):
        share.expire_locks()
    with pytest.raises(ControlError, match="nothing is held of partition 1 of any topic: "):
        share.expire_locks(partition=1)
    with pytest.raises(ControlError, match="nothing is held at any topic, record 7: "):
        share.expire_locks(offset=7)
    assert worker.fetch() == [(0, 2, 2)]
    kafka.advance(seconds=30)
    share.wait(available=3)
    assert worker.acknowledge((0, 2, ACCEPT)) == ErrorCode.INVALID_RECORD_STATE
    told = kafka.explain("workers")
    assert "the lock of worker-1 on jobs-0 ended: record 1 can be delivered again." in told
    assert "worker-1 acquired records 0 to 2 of jobs-0 for the 2nd time" in told
    assert "because the lock of worker-1 had ended" in told


def test_what_a_member_holds_is_taken_back(share: Any, worker: Sharer) -> None:
    assert share.release("worker-1") == 3
    with pytest.raises(ControlError, match="worker-1 holds no record"):
        share.release("worker-1")
    assert worker.fetch() == [(0, 2, 2)]
    with pytest.raises(LookupError):
        share.release("nobody")


def test_a_session_ends(kafka: Emulator, share: Any, worker: Sharer) -> None:
    share.end_session("worker-1")
    share.wait(available=3)
    assert worker.acknowledge((0, 2, ACCEPT)) == ErrorCode.SHARE_SESSION_NOT_FOUND
    with pytest.raises(ControlError, match="has no share session"):
        share.end_session("worker-1")
    assert "worker-1 lost its records of jobs-0: a test ended its session" in kafka.explain(
        "workers"
    )


def test_a_partition_begins_anew(share: Any, worker: Sharer) -> None:
    worker.acknowledge((0, 2, ACCEPT))
    share.wait(acknowledged=3, lag=0)
    with pytest.raises(ControlError, match="offset: -5; a whole number from 0 to "):
        share.move_start("jobs", 0, -5)
    share.move_start("jobs", 0, 1)
    assert worker.fetch() == [(1, 2, 1)]
    with pytest.raises(ControlError, match="has not begun with orders-0"):
        share.move_start("orders", 0, 1)


def test_releases_and_what_is_given_up_are_explained(
    kafka: Emulator, share: Any, worker: Sharer
) -> None:
    share.configure({"share.delivery.count.limit": 2})
    worker.acknowledge((0, 0, REJECT), (1, 2, RELEASE))
    worker.fetch()
    worker.acknowledge((1, 1, RELEASE), (2, 2, ACCEPT))
    told = kafka.explain("workers")
    assert "worker-1 released records 1 to 2 and rejected record 0 of jobs-0." in told
    assert "for the 2nd time, because worker-1 released them." in told
    assert "worker-1 released record 1 of jobs-0; record 1 is archived after 2 deliveries." in told


def test_waits_that_cannot_be(share: Any) -> None:
    with pytest.raises(ExpectationError, match="wait for what"):
        share.wait()
    with pytest.raises(ExpectationError, match="acquired: -1; a whole number from 0 on"):
        share.wait(acquired=-1)
    with pytest.raises(ExpectationError, match="state: 'joining'"):
        share.wait(state="joining")
    with pytest.raises(WaitTimeoutError, match="0 records are acquired, not 1") as ended:
        share.wait(acquired=1, timeout=0.1)
    assert "share group 'workers' is" in str(ended.value)


def test_a_setting_that_kafka_refuses(share: Any) -> None:
    with pytest.raises(ControlError, match="Value must be at least 100"):
        share.configure({"share.partition.max.record.locks": 5})


def test_on_the_command_line(
    client: Client,
    share: Any,
    worker: Sharer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COORDINATOR_CONTROL", client.url)
    assert main(["ctl", "share", "records", "workers", "jobs", "0"]) == 0
    assert "Acquired" in capsys.readouterr().out
    assert main(["ctl", "share", "expire", "workers", "--topic", "jobs"]) == 0
    assert capsys.readouterr().out.strip() == "3"
    with pytest.raises(SystemExit) as refused:
        main(["ctl", "share", "record", "workers", "jobs", "0", "x"])
    assert refused.value.code == 2


async def test_asynchronous_tests_wait_too(kafka: Emulator, share: Any, worker: Sharer) -> None:
    group = AsyncKafka(kafka).share_group("workers")
    assert (await group.wait(acquired=3)).members == 1
    with pytest.raises(WaitTimeoutError):
        await group.wait(available=3, timeout=0.05)
    assert group.record("jobs", 0, 0).state == "Acquired"


def test_promises_are_judged(kit: Any, share: Any, worker: Sharer) -> None:
    share.configure({"share.delivery.count.limit": 8})
    worker.acknowledge((0, 0, ACCEPT), (1, 1, RELEASE))
    for _ in range(7):
        worker.fetch()
        share.expire_locks()
    share.verify().done_stays_done().one_holder().deliveries_are_counted()
    share.verify().nothing_before_start().locks_last().dead_letters_complete()
    with pytest.raises(AssertionError, match="nothing happened to a group 'nobodys'"):
        kit.share_group("nobodys").verify().one_holder()


def test_promises_are_judged_over_http(share: Any, worker: Sharer, client: Client) -> None:
    names = [
        "done_stays_done",
        "one_holder",
        "deliveries_are_counted",
        "nothing_before_start",
        "locks_last",
        "dead_letters_complete",
    ]
    worker.acknowledge((0, 1, ACCEPT))
    told = client.post("/groups/workers/verify", {"checks": [{"check": n} for n in names]})
    assert told["holds"]
    assert [row["check"] for row in told["checks"]] == names


def test_a_share_peer(kit: Any, share: Any) -> None:
    """Here and far: it works, dies with records in hand, and another one goes on."""
    slow = kit.share_peer(
        "workers", ["jobs"], processing_ms=3_600_000, config={"client.id": "slow"}
    )
    share.wait(acquired=3)
    end = time.monotonic() + PATIENCE_S
    while not slow.in_hand:  # the answer is on its way to it
        assert time.monotonic() < end
        time.sleep(0.01)
    assert slow.client_id == "slow" and slow.assigned == (("jobs", 0),)
    assert slow.in_hand == [("jobs", 0, offset) for offset in range(3)]
    slow.stall()
    slow.resume()
    slow.crash()
    assert slow.ended
    with kit.share_peer("workers", ["jobs"], processing_ms=3_600_000, renew_ms=5) as renewing:
        share.wait(acquired=3)
        kit.wait_for("RecordsAcknowledged", group="workers", since=kit.mark())
        assert len(renewing.in_hand) == 3
    with kit.share_peer("workers", ["jobs"], reject=1.0) as picky:
        share.wait(archived=3, lag=0)
        assert len(picky.done) == 3
        picky.pause()
        picky.resume()
    assert picky.ended
    picky.stop()  # one that has ended is left as it is


def test_share_peers_by_http(client: Client, share: Any) -> None:
    told = client.post("/share-peers", {"group": "workers", "topics": ["jobs"], "reject": 1})
    share.wait(archived=3)
    row = client.get(f"/share-peers/{told['client_id']}")
    number = told["peer_id"]
    assert row["peer_id"] == number and [of["word"] for of in row["done"]] == ["reject"] * 3
    assert client.get("/share-peers") == {"share_peers": [row]}
    client.post(f"/share-peers/{number}/stop", {})
    assert client.get("/share-peers") == {"share_peers": []}
    with pytest.raises(Refused, match="there are: none"):
        client.get(f"/share-peers/{number}")
    with pytest.raises(Refused, match="a probability"):
        client.post("/share-peers", {"group": "workers", "topics": ["jobs"], "reject": 2})
