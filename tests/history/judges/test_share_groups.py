"""The judges of share groups pass an honest run, and each catches bugs that it alone catches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions import acknowledge, evolve, release
from coordinator.core.share_partitions.states import Deliveries, RecordState
from coordinator.events import EventLog
from coordinator.events import share_partitions as ev
from coordinator.events.reader import read_lines
from coordinator.history.judges import OF_SHARE_GROUPS
from coordinator.history.judges.of_shares import Spans, put_highest
from coordinator.history.judges.share_locks import LocksLast
from coordinator.history.judges.share_members import AcknowledgementsAreStored, ReleasedComeAgain
from coordinator.history.judges.sharing import DeliveriesAreCounted
from coordinator.history.world.accepted_lines import accepted
from coordinator.history.world.shares import deliveries as history
from coordinator.history.world.shares.deliveries import Delivery
from coordinator.server.shares import opening
from coordinator.server.shares.partitions import SharePartitions
from tests.frozen.stored import stored_log
from tests.history.judges.crafted import judge
from tests.lines import line_from
from tests.server.broker.shares import LOCK_MS, ShareDriver, initialize

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4


class Run:
    """A share group that reads two topics' records, with a log."""

    def __init__(self, **of_group: str) -> None:
        self.driver = ShareDriver(**of_group)
        self.log = EventLog(seed=1)
        self.driver.broker.log = self.log
        initialize(self.driver)
        self.driver.records(4, 4)
        self.a, self.b = self.driver.member("a"), self.driver.member("b")

    def leader_change(self) -> None:
        """What is in flight is forgotten."""
        partitions = self.driver.broker.services.shares.partitions
        partitions.close_where(lambda _: True, "another leads", self.driver.now, None)

    def wait(self, ms: int = LOCK_MS) -> None:
        """Time passes."""
        self.driver.pass_time(ms)

    def play(self) -> None:
        """A life with all that there is."""
        a, b = self.a, self.b
        a.fetch(0)
        b.fetch(0)
        b.said((0, 0, ACCEPT))
        a.said((0, 1, ACCEPT), (2, 2, RELEASE), (3, 3, REJECT))
        b.fetch()
        self.wait()
        b.fetch()
        self.wait(1_000)
        b.said((4, 4, RENEW), renew=True)
        b.said((2, 2, ACCEPT))
        self.wait(LOCK_MS + 2_000)
        b.said((4, 4, REJECT))
        a.fetch()
        a.said((6, 6, ACCEPT))
        self.leader_change()
        self.driver.records(3)
        for _ in range(6):
            a.fetch()
            self.wait()
            self.leader_change()

    def broken(self) -> set[str]:
        """The judges that find something."""
        found = judge(list(self.log.events()), OF_SHARE_GROUPS)
        return {of.judge for of in found if of.findings}


def test_an_honest_run() -> None:
    """SH-ACK-1, SH-SES-3, SH-SPSO-1: all promises are kept; of other logs nothing is said."""
    run = Run()
    run.play()
    kinds = {line["type"] for line in run.log.events()}
    assert {"RecordsAcquired", "RecordsAcknowledged", "RecordsReleased"} <= kinds
    assert run.broken() == set()
    names = {verdict.judge for verdict in judge(list(run.log.events()))}
    assert {of.name for of in OF_SHARE_GROUPS if "member" not in of.needs} < names
    assert not any(of.judge == "one_holder" for of in judge([]))


def test_offsets_that_are_set_excuse_what_comes_again() -> None:
    """SH-OFF-3"""
    run = Run()
    run.a.fetch(0)
    run.a.said((0, 7, ACCEPT))
    initialize(run.driver, start=2, epoch=1)
    run.driver.records(1)
    assert run.a.fetch() == {0: [(8, 8, 1)]}
    assert run.a.said((8, 8, ACCEPT)) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert run.a.fetch() == {0: [(2, 8, 1)]}
    assert run.broken() == set()


def test_a_former_leader_that_closes_late_ends_nothing() -> None:
    """SH-LD-1: who does not know for a while that another leads closes its own when it learns of
    it, while records of the other are in hand."""
    run = Run()
    run.a.fetch(0)
    run.a.said((0, 7, ACCEPT))
    lines = list(run.log.events())
    (at,) = [at for at, line in enumerate(lines) if line["type"] == "RecordsAcknowledged"]
    late = {**lines[at], "type": "SharePartitionClosed", "broker": 7}
    with_it = [*lines[:at], late, *lines[at:]]
    verdicts = judge(with_it, OF_SHARE_GROUPS)
    assert not any(of.findings for of in verdicts), verdicts
    told: list[Delivery] = []
    deliveries = history.Deliveries(told.append)
    for line in accepted(map(line_from, with_it)):
        deliveries.see(line)
    assert {of.outcome for of in told} == {"accepted"}
    late["broker"] = lines[at].get("broker")
    assert any(of.findings for of in judge(with_it, OF_SHARE_GROUPS)), "who leads closes"


def stored_records_are_not_loaded(patch: pytest.MonkeyPatch) -> None:
    opened = opening.opened
    patch.setattr(opening, "opened", lambda *args: opened(*args)._replace(records=()))


def accepted_records_are_not_noted(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(
        evolve._FOLDS, ev.RecordsAcquired, lambda partition, event: None
    )  # and so nobody holds them


def anybody_acknowledges(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(acknowledge, "_refuse", lambda *_, **__: None)


def the_limit_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Deliveries, "after_release", lambda self, count: RecordState.AVAILABLE)


def counts_are_lost_at_load(patch: pytest.MonkeyPatch) -> None:
    opened = opening.opened

    def forgetful(*args: Any) -> Any:
        event = opened(*args)
        return event._replace(records=tuple(of._replace(delivery_count=0) for of in event.records))

    patch.setattr(opening, "opened", forgetful)


def the_start_goes_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(release, "start_after", lambda *_: 0)


def locks_end_early(patch: pytest.MonkeyPatch) -> None:
    expire = release.expire
    patch.setattr(release, "expire", lambda of, now, limit: expire(of, now + 5_000, limit))


def renewals_are_not_noted(patch: pytest.MonkeyPatch) -> None:
    fold = evolve._FOLDS[ev.RecordsAcknowledged]

    def forgetful(partition: Any, event: Any) -> None:
        if event.deadline_ms is not None:  # the lock ends when it was to end before
            earlier = next(partition.runs.between(*event.records[0][:2])).condition
            event = event._replace(deadline_ms=earlier.deadline_ms)
        fold(partition, event)

    patch.setitem(evolve._FOLDS, ev.RecordsAcknowledged, forgetful)


def locks_never_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SharePartitions, "next_deadline", lambda self: None)


@pytest.mark.parametrize(
    ("bug", "judges"),
    [
        (stored_records_are_not_loaded, "done_stays_done"),
        (accepted_records_are_not_noted, "one_holder"),
        (anybody_acknowledges, "one_holder"),
        (the_limit_is_forgotten, "deliveries_are_counted"),
        (counts_are_lost_at_load, "deliveries_are_counted"),
        (the_start_goes_back, "nothing_before_start"),
        (locks_end_early, "locks_last"),
        (locks_never_end, "locks_last"),
        (renewals_are_not_noted, "locks_last"),
    ],
)
def test_a_bug_is_found(
    bug: Callable[[pytest.MonkeyPatch], None], judges: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each planted bug is seen by the judge of the promise that it breaks."""
    bug(monkeypatch)
    run = Run()
    run.play()
    assert judges in run.broken()


def test_a_renewed_lock_lasts_for_as_long_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """SH-ACK-2: where it is known how long that is, a millisecond less is seen."""
    meaning = acknowledge.acknowledge

    def shorter(*args: Any, renewed_until_ms: int, **words: Any) -> Any:
        return meaning(*args, renewed_until_ms=renewed_until_ms - 1, **words)

    for right, found in (
        (meaning, []),
        (shorter, [f"is to last {LOCK_MS - 1} ms, although {LOCK_MS} ms are set"]),
    ):
        monkeypatch.setattr(acknowledge, "acknowledge", right)
        run = Run()
        run.play()
        (verdict,) = judge(list(run.log.events()), [partial(LocksLast, LOCK_MS)])
        texts = [of.text for of in verdict.findings]
        assert len(texts) == len(found) and all(map(str.__contains__, texts, found)), texts


def test_a_former_share_leader_breaks_no_promise() -> None:
    """It gives out records and ends locks until it learns that another broker opened the share
    partition: nothing of that is stored."""
    lines = list(read_lines(stored_log("share_zone_lost").splitlines(keepends=True)))
    leaders = [line.broker for line in lines if line.kind is ev.RecordsAcquired]
    assert leaders != sorted(leaders, key=leaders.index), "two leaders act by turns"
    assert [of.judge for of in judge(lines, OF_SHARE_GROUPS) if of.findings] == []


def test_ranges() -> None:
    spans: Spans[int] = Spans()
    spans.put(0, 9, 1)
    spans.put(3, 4, 2)
    assert list(spans.within(2, 6)) == [(2, 2, 1), (3, 4, 2), (5, 6, 1)]
    spans.put(2, 5, None)
    assert list(spans.within(0, 100)) == [(0, 1, 1), (6, 9, 1)]
    spans.put(1, 20, 3)
    assert list(spans.within(0, 100)) == [(0, 0, 1), (1, 20, 3)]


def acknowledged_late() -> tuple[list[Any], int]:
    """The log of a member that acknowledges a second before its lock ends, and where it is told."""
    run = Run()
    run.a.fetch(0)
    run.wait(LOCK_MS - 1_000)
    run.a.said((0, 3, ACCEPT))
    lines = list(run.log.events())
    (at,) = [at for at, line in enumerate(lines) if line["type"] == "RecordsAcknowledged"]
    return lines, at


def test_a_lock_lasts_as_long_as_its_acknowledgement_waits_to_be_stored() -> None:
    """The leader answers when the share coordinator's record is replicated; the lock ends then."""
    lines, at = acknowledged_late()
    end = {"stream": "fault", "type": "SlowFollower", "broker": 3, "cause": None}
    slow = end | {"at_ms": lines[at - 1]["at_ms"], "delay_ms": 9_000, "bytes_per_second": None}
    pace = end | {"at_ms": lines[at]["at_ms"] + 8_000, "delay_ms": 0, "bytes_per_second": None}
    later = lines[at] | {"at_ms": pace["at_ms"]}

    def found(*told: Any) -> list[str]:
        (verdict,) = judge([*lines[:at], *told], [partial(LocksLast, LOCK_MS, 0)])
        return [of.text for of in verdict.findings]

    assert found(slow, pace, later) == []
    assert found(later), "without a slow follower it is too late"
    assert found(slow, pace, later | {"at_ms": later["at_ms"] + 1}), "its slowness is over"
    assert found(slow, slow | {"broker": 2, "delay_ms": 0}, later) == [], "another one's"
    loads = end | {"type": "SlowLoad", "at_ms": slow["at_ms"], "load_ms": 9_000}
    assert found(loads, later) == [], "what the share coordinator of a broker is asked waits, too"
    assert found(loads, pace, later) == [], "that of a follower is another slowness"
    assert found(loads, loads | {"load_ms": 0}, later), "its slowness is over"


def test_a_lock_lasts_until_a_write_that_failed_is_tried_again() -> None:
    """SH-LD-4: the share coordinator is back before the leader asks it once more, up to 8 s later."""
    lines, at = acknowledged_late()
    began = lines[at]["at_ms"]
    down = {"stream": "fault", "type": "StopBroker", "broker": 3, "cause": None, "how": "crash"}
    gone, back = down | {"at_ms": began}, down | {"type": "StartBroker", "at_ms": began + 2_000}
    waited = lines[at] | {"type": "AcknowledgementWaited", "at_ms": began + 9_000}
    end = {"stream": "fault", "type": "RunEnded", "cause": None}

    def found(*told: Any) -> list[str]:
        (verdict,) = judge([*lines[:at], *told], [partial(LocksLast, LOCK_MS, 0)])
        return [of.text for of in verdict.findings]

    stored = lines[at] | {"at_ms": began + 9_000}
    assert found(gone, back, waited, stored) == []
    assert found(gone, back, stored), "nothing says that it waited"
    assert found(gone, back, end | {"at_ms": began + 10_000}) == []
    assert found(gone, back, end | {"at_ms": began + 10_001}), "it has been tried again by then"


def test_a_write_that_comes_late_leaves_what_is_higher() -> None:
    """SH-LD-4: one that failed is tried again after a later one was taken."""
    spans = Spans[int]()
    put_highest(spans, 3, 5, 2)
    put_highest(spans, 0, 9, 1)
    put_highest(spans, 5, 6, 3)
    assert list(spans.within(0, 9)) == [(0, 2, 1), (3, 4, 2), (5, 6, 3), (7, 9, 1)]


def test_what_only_a_former_leader_had_counts_for_nothing() -> None:
    """Another leader counts from what its share coordinator has stored."""
    run = Run()
    run.a.fetch(0)
    run.wait()
    run.leader_change()
    run.b.fetch(0)
    lines = list(run.log.events())
    (of,) = [line for line in lines if line["type"] == "ShareStateUpdated"]
    again = [line for line in lines if line["type"] == "RecordsAcquired"][-1]

    def found(counted: int, *, stored: bool) -> bool:
        rows = [{**row, "delivery_count": counted} for row in again["records"]]
        told = [line | {"records": rows} if line is again else line for line in lines]
        kept = [line for line in told if stored or line is not of]
        opened = [
            line | {"records": []} if line["type"] == "SharePartitionOpened" else line
            for line in kept
        ]
        (verdict,) = judge(opened, [DeliveriesAreCounted])
        return bool(verdict.findings)

    assert found(1, stored=True)
    assert not found(2, stored=True)
    assert not found(1, stored=False)


def test_an_acknowledgement_may_be_stored_while_its_leader_moves() -> None:
    """Its share coordinator has it, and the next leader reads it there."""
    run = Run()
    run.a.fetch(0)
    run.a.said((0, 3, ACCEPT))
    lines = [line for line in run.log.events() if line["type"] != "RecordsAcknowledged"]
    (of,) = [line for line in lines if line["type"] == "ShareStateUpdated"]
    key = {name: of[name] for name in ("group", "topic", "partition", "at_ms")}
    said = [{"first_offset": 0, "last_offset": 3, "acknowledgement": "accept"}]
    told = {**key, "seq": of["seq"] + 100, "stream": "member", "type": "AcknowledgementsEnded"}
    told |= {"cause": None, "client": "c", "member": "a", "records": said, "failed": None}

    def found(*lines: Any) -> bool:
        (verdict,) = judge(lines, [AcknowledgementsAreStored])
        return bool(verdict.findings)

    assert not found(*lines, told)
    released = [{**row, "delivery_state": 0} for row in of["batches"]]
    assert found(*[line | {"batches": released} if line is of else line for line in lines], told)
    assert found(*[line for line in lines if line is not of], told)


TAKEN_BACK = [
    {"stream": "member", "type": "MemberStarted", "group": "g", "client": "worker-1"},
    {"stream": "data", "type": "ConnectionOpened", "peer": "1:1"},
    {"type": "ShareMemberSubscribed", "group": "g", "member": "m", "client_id": "worker-1"},
    {
        "stream": "share",
        "type": "RecordsAcquired",
        "group": "g",
        "topic": "t",
        "partition": 0,
        "member": "m",
        "records": [{"first_offset": 0, "last_offset": 3, "state": "Acquired"}],
        "deadline_ms": 30_000,
    },
]
"""A worker of our own is given records."""


def _released(reason: str, *before: Any) -> list[str]:
    release = {
        **TAKEN_BACK[-1],
        "type": "RecordsReleased",
        "at_ms": 20_000,
        "reason": reason,
        "records": [{"first_offset": 0, "last_offset": 3, "state": "Available"}],
    }
    (verdict,) = judge([*TAKEN_BACK, *before, release], [LocksLast])
    return [of.text for of in verdict.findings]


@pytest.mark.parametrize("reason", ["the session was closed", "the connection was lost"])
def test_a_leader_that_takes_records_back_is_not_believed_that_a_session_ended(
    reason: str,
) -> None:
    (found,) = _released(reason)
    assert (
        f'ended 10000 ms early, with the reason "{reason}", which nothing else in the log confirms'
        in found
    )
    told = {"group": "g", "client": "worker-1", "at_ms": 19_000}
    for ended in ("MemberClosing", "MemberCrashed", "MemberFailed"):
        assert _released(reason, {**told, "stream": "member", "type": ended}) == []
    assert _released(reason, {"type": "ShareMemberRemoved", "group": "g", "member": "m"}) == []
    closed = {"stream": "data", "type": "ConnectionClosed", "client": "worker-1"}
    assert _released(reason, {**closed, "at_ms": 19_000}) == []
    assert _released(reason, {**closed, "client": "worker-2", "at_ms": 19_000}) != []


def test_of_sessions_of_strangers_a_leader_is_believed() -> None:
    """Of a client that tells nothing of itself nobody knows whether it closed its session; a
    connection is known where connections are logged."""
    stranger = {**TAKEN_BACK[2], "client_id": "another"}
    assert _released("the session was closed", stranger) == []
    assert _released("the connection was lost", stranger) != []


def test_a_test_may_end_a_lock() -> None:
    assert _released("a test ended the lock") == []
    assert _released("a test ended its session") == []


def _at_work(*more: Any) -> list[str]:
    """What is said of records 0-3, given back at 30 s, until 300 s, with a bound of a minute."""
    of_one = {"group": "g", "topic": "t", "partition": 0}
    back = {
        **TAKEN_BACK[-1],
        "type": "RecordsReleased",
        "at_ms": 30_000,
        "reason": "the lock ended",
        "records": [{"first_offset": 0, "last_offset": 3, "state": "Available"}],
    }
    told = [{**of_one, "stream": "member", "client": "worker-1", **line} for line in more]
    end = {"stream": "fault", "type": "RunEnded", "at_ms": 300_000}
    lines = sorted([*TAKEN_BACK, back, *told, end], key=lambda line: line.get("at_ms", 0))
    (verdict,) = judge(lines, [partial(ReleasedComeAgain, 60_000)])
    return [of.text for of in verdict.findings]


def _polls(at_ms: int, offset: int) -> dict[str, Any]:
    records = [{"first_offset": offset, "last_offset": offset, "delivery_count": 1}]
    return {"type": "SharedRecordsPolled", "at_ms": at_ms, "records": records}


def _is_done(at_ms: int, offset: int, word: str = "accept") -> dict[str, Any]:
    records = [{"first_offset": offset, "last_offset": offset, "acknowledgement": word}]
    return {"type": "AcknowledgementsEnded", "at_ms": at_ms, "records": records}


def test_a_worker_that_is_busy_with_one_batch_takes_nothing() -> None:
    """The only worker of a group works for minutes on what it has: nobody is to blame that what was
    given back waits."""
    waits = ["offset 0 of t-0 of share group g was released, but has not been delivered since"]
    assert _at_work() == waits, "a worker that has nothing to do"
    assert _at_work(_polls(20_000, 9)) == []
    assert _at_work(_polls(20_000, 9), _is_done(299_000, 9)) == []
    assert _at_work(_polls(20_000, 9), _is_done(200_000, 9)) == waits
    assert _at_work(_polls(20_000, 9), _is_done(200_000, 9, "renew")) == []
    again = [_polls(at_ms, offset) for at_ms, offset in ((100_000, 10), (200_000, 11))]
    assert _at_work(_polls(20_000, 9), *again) == waits, "it is given others again and again"
    assert _at_work(_polls(20_000, 9), *again[:1]) == []
