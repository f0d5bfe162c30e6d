"""The judges of records pass a run with a pipeline, aborted transactions and a crash, and each
catches a bug that it alone catches."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.history.judges import Judgement
from coordinator.history.judges.fencing import EpochsFence
from coordinator.history.judges.intervals import Offsets
from coordinator.history.judges.transactions import PipelinesWriteOnce
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.members import offsets
from coordinator.members.applications.consuming import Application
from coordinator.members.classic import member
from coordinator.members.consuming.fetching import Fetcher
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest
from tests.history.judges.crafted import judge

pytestmark = pytest.mark.unmeasured

Line = dict[str, Any]

SCENARIO = """
duration = "70s"
[topics]
orders = 2
invoices = 1
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
config = { "session.timeout.ms" = 10000, "auto.commit.interval.ms" = 2000 }
[[members]]
name = "pipe"
group = "pipe"
count = 2
topics = "orders"
commit = "transaction"
output = "invoices"
config = { "session.timeout.ms" = 10000 }
[[members]]
name = "reader"
group = "reader"
topics = "invoices"
consumes = true
commit = "batch"
config = { "isolation.level" = "read_committed" }
[[producers]]
name = "shop"
topics = "orders"
rate = 4
stop = "50s"
[[producers]]
name = "bank"
topics = ["orders", "invoices"]
rate = 4
transactional = true
abort_every = 2
stop = "50s"
[[churn]]
kind = "restart"
members = "app-1"
at = "20s"
how = "crash"
[[churn]]
kind = "restart"
members = "pipe-1"
at = "25s"
how = "crash"
"""


def lines_of(seed: int = 1, text: str = SCENARIO) -> list[Line]:
    log = EventLog(seed=seed)
    run_scenario(read_scenario(text, "records"), seed, log)
    return list(log.events())


@pytest.fixture(scope="module")
def run() -> list[Line]:
    return lines_of()


def broken(lines: list[Line]) -> list[str]:
    return [verdict.judge for verdict in judge(lines) if verdict.judgement is Judgement.BROKEN]


def of(lines: list[Line], kind: str, **fields: Any) -> list[Line]:
    return [
        line
        for line in lines
        if line["type"] == kind and all(line.get(name) == value for name, value in fields.items())
    ]


def test_a_run_that_is_right_keeps_every_promise(run: list[Line]) -> None:
    assert [
        str(each)
        for each in verdicts(read_scenario(SCENARIO, "records"), run)
        if each.judgement is not Judgement.KEPT
    ] == []
    assert len(of(run, "TransactionEnded", committed=False, client="bank-1")) > 5
    assert [line for line in of(run, "RecordsPolled", client="app-1") if line["at_ms"] > 25_000]


def _never_given(lines: list[Line]) -> None:
    polled = of(lines, "RecordsPolled", group="app")[10]
    lines.remove(polled)


def _given_again(lines: list[Line]) -> None:
    polled = of(lines, "RecordsPolled", group="app")[10]
    lines.insert(lines.index(polled) + 1, deepcopy(polled))


def _written_over(lines: list[Line]) -> None:
    appended = next(
        line for line in of(lines, "RecordsAppended", topic="orders", client="shop-1")[20:]
    )
    again = deepcopy(appended)
    delivered = next(
        line
        for line in lines[lines.index(appended) :]
        if line["type"] == "RecordsDelivered" and line["client"] == "shop-1"
    )
    lines.insert(lines.index(delivered) + 1, again)


def _aborted_was_read(lines: list[Line]) -> None:
    bank = of(lines, "RecordsAppended", topic="invoices", client="bank-1")[0]["producer_id"]
    of(lines, "MarkerWritten", topic="invoices", producer_id=bank, committed=True)[2][
        "committed"
    ] = False


def _written_twice(lines: list[Line]) -> None:
    first, second, *_ = of(lines, "RecordsSent", client="pipe-1")
    second["sources"] = second["sources"] + first["sources"][:1]


def _sent_again(lines: list[Line]) -> None:
    first, second = of(lines, "RecordsAppended", client="shop-1", topic="orders", partition=0)[3:5]
    second["sequence"] = first["sequence"]


def _went_back(lines: list[Line]) -> None:
    before, later = of(lines, "OffsetsCommitted", group="reader")[3:5]
    later["offsets"][0]["offset"] = before["offsets"][0]["offset"] - 1


def _not_committed(lines: list[Line]) -> None:
    """An application finishes something after its member's last commit and before its revocation."""
    at, revoked = next(
        (i, line)
        for i, line in enumerate(lines)
        if line["type"] == "PartitionsRevoked" and line["client"] == "app-2" and line["partitions"]
    )
    where = revoked["partitions"][0]
    done = of(lines[:at], "RecordsProcessed", client="app-2", **where)[-1]
    lines.insert(at, done | {"seq": revoked["seq"], "at_ms": revoked["at_ms"]})


def _told_while_it_is_open(lines: list[Line]) -> None:
    """An OffsetFetch of a pipeline is answered while somebody has an offset of it pending."""
    asked = next(
        line for line in of(lines, "RequestSeen", api="offset_fetch") if line["group"] == "pipe"
    )
    client = asked["client"]
    given = [line for line in of(lines, "PartitionsAssigned", client=client) if line["partitions"]]
    at = lines.index(asked)
    where = given[0]["partitions"][0]
    row = where | {"offset": 1, "leader_epoch": 0, "metadata": "", "expire_ms": None}
    pending = asked | {"stream": "group", "type": "OffsetsPending", "cause": None, "member": ""}
    lines.insert(at, pending | {"producer_id": 77, "offsets": [row]})
    ended = {"producer_id": 77, "committed": False, "partitions": [], "type": "PendingOffsetsEnded"}
    lines.insert(at + 3, pending | ended)


def _the_same_epoch(lines: list[Line]) -> None:
    first = of(lines, "ProducerInitialized")[0]
    later = [line for line in of(lines, "ProducerInitialized") if line is not first][-1]
    lines.insert(lines.index(later), first | {"at_ms": later["at_ms"], "seq": later["seq"]})


PLANTED: dict[str, Callable[[list[Line]], None]] = {
    "no_record_lost": _never_given,
    "duplicates_are_uncommitted": _given_again,
    "acknowledged_records_stay": _written_over,
    "read_committed": _aborted_was_read,
    "exactly_once": _written_twice,
    "committed_offsets_grow": _went_back,
    "idempotent_writes_once": _sent_again,
    "committed_before_revoked": _not_committed,
    "unstable_offsets_withheld": _told_while_it_is_open,
    "epochs_fence": _the_same_epoch,
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught_by_its_judge_alone(name: str, run: list[Line]) -> None:
    lines = deepcopy(run)
    PLANTED[name](lines)
    assert broken(lines) == [name]


# -- bugs in the clients themselves


def _positions_run_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetched record counts as consumed before the application was given it."""
    poll = Fetcher.poll

    def drops_one(self: Fetcher) -> Any:
        polled = poll(self)
        return [each._replace(records=each.records[1:]) for each in polled if len(each.records) > 1]

    monkeypatch.setattr(Fetcher, "poll", drops_one)


def _commits_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each assignment begins at the start of the log."""

    def forgets(membership: Any, sent: Any, response: Any, now: int) -> None:
        for row in (row for topic in response.groups[0].topics for row in topic.partitions):
            row.committed_offset = -1
        offsets.on_offsets(membership, sent, response, now)

    monkeypatch.setitem(member.Member.ANSWERS, OffsetFetchRequest, forgets)


def _aborted_are_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Fetcher._take

    def takes_all(self: Fetcher, partition: Any, reading: Any, row: Any) -> None:
        row.aborted_transactions = []
        take(self, partition, reading, row)

    monkeypatch.setattr(Fetcher, "_take", takes_all)


def _not_all_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline writes for the last record of each batch only, and commits that it has read them
    all."""
    write = Application._write

    def careless(self: Application, now: int) -> None:
        batch, self._batch = (
            self._batch,
            [each._replace(records=each.records[-1:]) for each in self._batch],
        )
        write(self, now)
        self._batch = batch

    monkeypatch.setattr(Application, "_write", careless)


@pytest.mark.parametrize(
    ("bug", "judges"),
    [
        (_positions_run_ahead, {"no_record_lost", "exactly_once"}),
        (
            _commits_are_not_looked_up,
            {"duplicates_are_uncommitted", "exactly_once", "committed_offsets_grow"},
        ),
        (_aborted_are_not_skipped, {"read_committed", "exactly_once"}),
        (_not_all_is_written, {"exactly_once"}),
    ],
)
def test_a_bug_in_a_client_is_found(
    bug: Callable[[pytest.MonkeyPatch], None], judges: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    found = set(broken(lines_of()))
    assert found
    assert found <= judges


# -- what is allowed


def _line(seq: int, kind: str, stream: str, **fields: Any) -> Line:
    return {
        "seq": seq,
        "at_ms": seq,
        "run": "1",
        "stream": stream,
        "type": kind,
        "cause": None,
    } | fields


def _commit(seq: int, offset: int, peer: str, member: str = "m") -> list[Line]:
    seen = _line(
        seq,
        "RequestSeen",
        "wire",
        group="g",
        member=member,
        api="offset_commit",
        peer=peer,
        generation=1,
    )
    rows = [{"topic": "t", "partition": 0, "offset": offset}]
    committed = _line(
        seq + 1, "OffsetsCommitted", "group", group="g", member=member, generation=1, offsets=rows
    )
    answered = _line(
        seq + 2, "RequestAnswered", "wire", group="g", member=member, api="offset_commit"
    )
    return [seen, committed | {"cause": seq}, answered | {"cause": seq}]


def test_a_commit_that_was_held_up_on_another_connection_may_go_back() -> None:
    held_up = [*_commit(1, 20, "10.0.0.1:2"), *_commit(4, 10, "10.0.0.1:1")]
    assert "committed_offsets_grow" not in broken(held_up)
    assert "committed_offsets_grow" in broken(
        [*_commit(1, 20, "10.0.0.1:1"), *_commit(4, 10, "10.0.0.1:1")]
    )


def _polled(seq: int, first: int, last: int, isolation: str = "read_uncommitted") -> Line:
    where = {"group": "g", "member": "m", "client": "c", "topic": "t", "partition": 0}
    return _line(
        seq, "RecordsPolled", "member", **where, ranges=[[first, last]], isolation=isolation
    )


def _appended(seq: int, first: int, last: int, producer: int = -1) -> Line:
    return _line(
        seq,
        "RecordsAppended",
        "data",
        topic="t",
        partition=0,
        offset=first,
        last_offset=last,
        producer_id=producer,
        producer_epoch=0,
        sequence=0,
        transactional=producer >= 0,
    )


def _marker(seq: int, offset: int, committed: bool) -> Line:
    return _line(
        seq,
        "MarkerWritten",
        "data",
        topic="t",
        partition=0,
        offset=offset,
        producer_id=7,
        producer_epoch=0,
        committed=committed,
    )


def test_aborted_records_are_passed_by_readers_of_committed_ones_and_given_to_others() -> None:
    log = [_appended(1, 0, 4, 7), _marker(2, 5, False), _appended(3, 6, 9)]
    committed = [*log, _polled(4, 6, 9, "read_committed"), *_commit(5, 10, "p")]
    assert "no_record_lost" not in broken(committed)
    assert "read_committed" not in broken(
        [*log, _polled(4, 0, 4), _polled(5, 6, 9), *_commit(6, 10, "p")]
    )
    assert "read_committed" in broken([*log, _polled(4, 0, 4, "read_committed")])


def test_a_group_that_was_served_aborted_records_only_has_lost_none() -> None:
    """Nobody polled any, so what its readers ask for stands in what they were served."""
    where = {"group": "g", "client": "c"}
    began = [_line(1, "MemberStarted", "member", **where)]
    reset = _line(
        2,
        "PositionReset",
        "member",
        **where,
        member="m",
        topic="t",
        partition=0,
        offset=0,
        why="no offset is committed",
    )

    def served(isolation: str) -> list[Line]:
        row = {
            "topic": "t",
            "partition": 0,
            "offset": 0,
            "last_offset": 5,
            "isolation": isolation,
            "client": "c",
            "peer": "p",
        }
        return [
            *began,
            reset,
            _appended(3, 0, 4, 7),
            _marker(4, 5, False),
            _line(5, "RecordsServed", "data", **row),
            *_commit(6, 6, "p"),
        ]

    assert "no_record_lost" not in broken(served("read_committed"))
    assert "no_record_lost" in broken(served("read_uncommitted"))


def test_what_auto_offset_reset_passes_is_not_lost() -> None:
    log = [_appended(1, 0, 9)]
    where = {"group": "g", "member": "m", "client": "c", "topic": "t", "partition": 0}
    reset = _line(3, "PositionReset", "member", **where, offset=8, why="offset 3 is out of range")
    assert "no_record_lost" not in broken(
        [*log, _polled(2, 0, 2), reset, _polled(4, 8, 9), *_commit(5, 10, "p")]
    )
    assert "no_record_lost" in broken(
        [*log, _polled(2, 0, 2), _polled(4, 8, 9), *_commit(5, 10, "p")]
    )


def test_uncommitted_work_is_given_again_to_the_next_owner() -> None:
    def assigned(seq: int, client: str) -> Line:
        rows = [{"topic": "t", "partition": 0}]
        return _line(
            seq,
            "PartitionsAssigned",
            "member",
            group="g",
            member=client,
            client=client,
            partitions=rows,
        )

    log = [assigned(1, "c"), _polled(2, 0, 9), *_commit(3, 5, "p"), assigned(6, "d")]
    assert "duplicates_are_uncommitted" not in broken([*log, _polled(7, 5, 9) | {"client": "d"}])
    assert "duplicates_are_uncommitted" in broken([*log, _polled(7, 4, 9) | {"client": "d"}])


def test_who_looked_before_there_was_a_commit_is_told_of_none() -> None:
    """An application that waits may say late what it was told when it was assigned the partition;
    what was committed then is to be told."""
    where = {"group": "g", "member": "c", "client": "c"}
    assigned = _line(
        10, "PartitionsAssigned", "member", **where, partitions=[{"topic": "t", "partition": 0}]
    )
    reset = _line(
        20,
        "PositionReset",
        "member",
        **where,
        topic="t",
        partition=0,
        offset=0,
        why="no offset is committed",
    )
    commit = _commit(12, 5, "p", "d")
    assert "duplicates_are_uncommitted" not in broken([assigned, *commit, reset])
    assert "duplicates_are_uncommitted" in broken(
        [*_commit(1, 5, "p", "d"), assigned, *commit, reset]
    )


def test_an_unclean_leader_may_lose_what_was_acknowledged() -> None:
    delivered = _line(
        2,
        "RecordsDelivered",
        "member",
        client="p",
        topic="t",
        partition=0,
        offset=0,
        count=5,
        acks="all",
        failed=None,
    )
    elected = _line(
        3,
        "LeaderElected",
        "cluster",
        topic="t",
        partition=0,
        reason="unclean leader election was enabled",
    )
    assert "acknowledged_records_stay" in broken(
        [_appended(1, 0, 4), delivered, _appended(4, 3, 5)]
    )
    assert "acknowledged_records_stay" not in broken(
        [_appended(1, 0, 4), delivered, elected, _appended(4, 3, 5)]
    )


def test_a_leader_that_was_in_sync_loses_nothing_whatever_its_election_is_called() -> None:
    delivered = _line(
        2,
        "RecordsDelivered",
        "member",
        client="p",
        topic="t",
        partition=0,
        offset=0,
        count=5,
        acks="all",
        failed=None,
    )
    created = _line(1, "TopicCreated", "cluster", topic="t", replicas=[[1, 2]])
    elected = _line(
        3,
        "LeaderElected",
        "cluster",
        topic="t",
        partition=0,
        leader_id=2,
        isr=[2],
        reason="broker 1 had an unclean shutdown",
    )
    log = [_appended(1, 0, 4), delivered, elected, _appended(4, 3, 5) | {"broker": 2}]
    assert "acknowledged_records_stay" in broken([created, *log])
    shrunk = _line(2, "IsrShrunk", "cluster", topic="t", partition=0, leader_id=1, isr=[1])
    assert "acknowledged_records_stay" not in broken([created, shrunk, *log])


def test_what_an_unclean_leader_has_stays() -> None:
    """It may begin behind what was acknowledged once; what it kept, and what is acknowledged later,
    is not to be lost."""
    first = _line(
        2,
        "RecordsDelivered",
        "member",
        client="p",
        topic="t",
        partition=0,
        offset=0,
        count=5,
        acks="all",
        failed=None,
    )
    elected = _line(
        3,
        "LeaderElected",
        "cluster",
        topic="t",
        partition=0,
        reason="unclean leader election was enabled",
    )
    log = [_appended(1, 0, 4), first, elected, _appended(4, 3, 5)]
    assert "acknowledged_records_stay" not in broken([*log, _appended(5, 6, 6)])
    assert "acknowledged_records_stay" in broken([*log, _appended(5, 2, 2)])
    later = _line(
        5,
        "RecordsDelivered",
        "member",
        client="p",
        topic="t",
        partition=0,
        offset=3,
        count=3,
        acks="all",
        failed=None,
    )
    assert "acknowledged_records_stay" in broken([*log, later, _appended(6, 4, 4)])


def test_sets_of_offsets() -> None:
    found = Offsets()
    for first, last in ((5, 9), (0, 1), (3, 4), (20, 20)):
        found.add(first, last)
    assert [
        found.missing(0, 1),
        found.missing(0, 3),
        found.missing(3, 9),
        found.missing(3, 10),
    ] == [None, 2, None, 10]
    assert [found.overlaps(2, 2), found.overlaps(10, 30), found.overlaps(21, 30)] == [
        None,
        20,
        None,
    ]
    found.cut(4)
    assert [found.missing(3, 3), found.missing(4, 4), found.overlaps(4, 99)] == [None, 4, None]


def test_a_batch_that_a_former_leader_lost_is_not_written_twice_when_its_producer_sends_it_again() -> (
    None
):
    """KIP-98: the same sequence at the new leader takes the place of what was not replicated, in
    one transaction."""
    sent = _line(
        1,
        "RecordsSent",
        "member",
        group="g",
        topic="out",
        partition=0,
        client="p-1",
        producer_id=7,
        producer_epoch=0,
        sequence=0,
        count=1,
        sources=[["t", 0, 0]],
    )
    row = {
        "topic": "out",
        "partition": 0,
        "producer_id": 7,
        "producer_epoch": 0,
        "transactional": True,
        "acks": -1,
        "client": "p-1",
    }
    lost = _line(2, "RecordsAppended", "data", broker=3, offset=0, last_offset=0, sequence=0, **row)
    again = lost | {"seq": 3, "broker": 1}
    marker = _line(
        5,
        "MarkerWritten",
        "data",
        broker=1,
        topic="out",
        partition=0,
        producer_id=7,
        committed=True,
        offset=1,
    )
    streams = frozenset({"group", "member", "data", "transaction"})

    def judged(*lines: Line) -> Judgement:
        return judge(lines, [PipelinesWriteOnce], streams=streams)[0].judgement

    assert judged(sent, lost, again, marker) is Judgement.KEPT
    assert (
        judged(sent, lost, again | {"offset": 1, "last_offset": 1}, marker | {"offset": 2})
        is Judgement.BROKEN
    )


def _written(seq: int, offset: int, broker: int, sequence: int, **more: Any) -> Line:
    row = {
        "topic": "t",
        "partition": 0,
        "producer_id": 7,
        "producer_epoch": 0,
        "transactional": False,
        "acks": -1,
        "client": "p-1",
    }
    return _line(
        seq,
        "RecordsAppended",
        "data",
        broker=broker,
        offset=offset,
        last_offset=offset,
        sequence=sequence,
        **row | more,
    )


_ELECTED = _line(
    3,
    "LeaderElected",
    "cluster",
    topic="t",
    partition=0,
    leader_id=1,
    reason="broker 3 sent no heartbeat for 9000 ms",
)


def test_what_a_marker_replaced_may_be_written_again() -> None:
    """KIP-98: a batch that only the former leader had goes when its successor writes there, be it a
    marker; its producer sends it again."""
    marker = _line(
        4,
        "MarkerWritten",
        "data",
        broker=1,
        topic="t",
        partition=0,
        producer_id=8,
        committed=False,
        offset=1,
    )
    first, lost, again = _written(1, 0, 3, 0), _written(2, 1, 3, 1), _written(6, 2, 1, 1)
    assert "idempotent_writes_once" not in broken([first, lost, _ELECTED, marker, again])
    assert "idempotent_writes_once" not in broken(
        [first, lost, _ELECTED, _written(4, 1, 1, 5, producer_id=8), again]
    )
    twice = [first, lost, _ELECTED, marker | {"offset": 2}, again | {"offset": 3, "last_offset": 3}]
    assert "idempotent_writes_once" in broken(twice)
    given = _line(
        8,
        "RecordsPolled",
        "member",
        group="g",
        member="m",
        client="m-1",
        topic="t",
        partition=0,
        ranges=[[0, 0], [2, 2]],
        isolation="read_uncommitted",
    )
    commit = _line(
        9,
        "OffsetsCommitted",
        "group",
        group="g",
        member="m",
        offsets=[{"topic": "t", "partition": 0, "offset": 3}],
    )
    assert "no_record_lost" not in broken([first, lost, _ELECTED, marker, again, given, commit])
    assert "no_record_lost" in broken([*twice, given, commit])


def test_what_a_former_leader_writes_replaces_nothing() -> None:
    """It believes that it leads, and writes where its successor has written, and had it
    acknowledged: that is cut off later."""
    delivered = _line(
        5,
        "RecordsDelivered",
        "member",
        client="p-2",
        topic="t",
        partition=0,
        offset=1,
        count=1,
        acks="all",
        failed=None,
    )
    log = [_written(1, 0, 3, 0), _ELECTED, _written(4, 1, 1, 0, producer_id=8), delivered]
    assert "acknowledged_records_stay" not in broken([*log, _written(6, 1, 3, 1)])
    assert "acknowledged_records_stay" in broken([*log, _written(6, 1, 1, 1)])
    marker = _line(
        6,
        "MarkerWritten",
        "data",
        broker=1,
        topic="t",
        partition=0,
        producer_id=9,
        committed=False,
        offset=1,
    )
    assert "acknowledged_records_stay" in broken([*log, marker])
    assert "acknowledged_records_stay" not in broken([*log, marker | {"broker": 3}])
    again = _written(7, 2, 1, 0, producer_id=8)
    assert "idempotent_writes_once" in broken(
        [*log, _written(6, 1, 3, 1), again]
    )  # its own is there still


def test_a_commit_that_was_refused_because_it_was_not_replicated_in_time_is_no_committed_offset_yet() -> (
    None
):
    """The next owner may be told the offset before it, and be given its records again."""
    row = [{"topic": "t", "partition": 0}]
    assigned = _line(
        10, "PartitionsAssigned", "member", group="g", member="n", client="n-1", partitions=row
    )
    polled = _line(
        11,
        "RecordsPolled",
        "member",
        group="g",
        member="n",
        client="n-1",
        topic="t",
        partition=0,
        ranges=[[10, 19]],
        isolation="read_uncommitted",
    )
    seen, written, answered = _commit(4, 20, "10.0.0.1:1")
    refused = answered | {"type": "RequestRefused", "errors": ["COORDINATOR_NOT_AVAILABLE"]}
    before = _commit(1, 10, "10.0.0.1:1")
    assert "duplicates_are_uncommitted" not in broken(
        [*before, seen, written, refused, assigned, polled]
    )
    assert "duplicates_are_uncommitted" in broken(
        [*before, seen, written, answered, assigned, polled]
    )


def test_an_epoch_that_was_not_replicated_may_be_told_again() -> None:
    """Kafka takes it back; whoever asked was refused, and asks again."""

    def told(*epochs: tuple[int, int | None]) -> list[str]:
        lines = [
            {
                "seq": seq,
                "at_ms": seq,
                "stream": "transaction",
                "type": "ProducerInitialized",
                "cause": cause,
                "transactional_id": "t",
                "producer_id": 7,
                "producer_epoch": epoch,
                "last_producer_epoch": -1,
            }
            for seq, (epoch, cause) in enumerate(epochs, 1)
        ]
        (verdict,) = judge(lines, [EpochsFence])
        return [finding.text for finding in verdict.findings]

    assert told((0, 5), (1, 5), (0, None), (1, 5)) == []
    assert len(told((0, 5), (1, 5), (1, 5))) == len(told((0, 5), (1, 5), (0, 5))) == 1
    assert len(told((0, None), (0, None))) == 1, "no log of requests"
