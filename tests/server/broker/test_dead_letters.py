"""Dead letters of share groups (KIP-1191) at one broker: which records have them, what they hold,
and what becomes of those that cannot be written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.core.share_partitions.acknowledge import Acknowledged
from coordinator.core.share_partitions.model import SharePartitionKey
from coordinator.core.share_partitions.states import Deliveries, RecordState
from coordinator.events import EventLog
from coordinator.history.explain.share_story import sentence
from coordinator.history.judges import OF_SHARE_GROUPS, judge
from coordinator.history.world.shares.records import ShareRecords
from coordinator.server.shares import dead_letters, letters
from coordinator.server.storage.record_codec import Record, build_batch, read_records
from coordinator.server.storage.records import HEADER_SIZE, parse_header
from tests.replayed_shares import ReplayedShares
from tests.server.broker.shares import LOCK_MS, Member, ShareDriver, initialize

ACCEPT, RELEASE, REJECT = 1, 2, 3
ENABLED = {"errors_deadletterqueue_group_enable": "true"}


class Run:
    """A group that reads t and has dlq.t for its dead letters."""

    def __init__(self, topic: bool = True, **of_group: str) -> None:
        named = {"errors.deadletterqueue.topic.name": "dlq.t", **of_group}
        self.driver = ShareDriver(**{key.replace(".", "_"): of for key, of in named.items()})
        configs = self.driver.broker.cluster.group_configs
        configs["g"] = {"share.auto.offset.reset": "earliest", **named}
        self.log = EventLog(seed=1)
        self.driver.broker.log = self.log
        if topic:
            self.driver.topic("dlq.t", **ENABLED)
        initialize(self.driver)
        self.a: Member = self.driver.member("a")

    def settle(self) -> None:
        """What is due now is done."""
        self.driver.pass_time(0)

    def rejects(self, first: int, last: int) -> None:
        """a rejects records, and nothing that is due is done yet."""
        served = self.driver.broker.services.shares.partitions
        (partition,) = served.open_ones.values()
        rejected = [Acknowledged(first, last, [REJECT])]
        said = self.driver.broker.services.shares.acknowledgements.acknowledge(
            partition, "a", rejected, self.driver.now, None
        )
        assert said is None

    def letters(self, topic: str = "dlq.t") -> list[Record]:
        """The records of a topic's only partition."""
        log = self.driver.broker.cluster.topics[topic].partitions[0].log
        data, found = log.read(0, 1 << 30) if log.log_end_offset else b"", list[Record]()
        while data:
            header = parse_header(data[:HEADER_SIZE])
            found += read_records(header, data[HEADER_SIZE : header.size])
            data = data[header.size :]
        return found

    def states(self) -> list[tuple[int, int, str]]:
        """What is in flight of t-0."""
        runs = self.driver.broker.services.shares.known(SharePartitionKey("g", "t", 0))
        return [(run.first, run.last, str(run.condition.state)) for run in runs]

    def lines(self, kind: str) -> list[dict[str, object]]:
        """The log's lines of one type."""
        return [line for line in self.log.events() if line["type"] == kind]

    def broken(self) -> set[str]:
        """The judges that find something."""
        return {of.judge for of in judge(list(self.log.read()), OF_SHARE_GROUPS) if of.findings}


def test_a_rejected_record_is_archived_once_its_letter_is_written() -> None:
    """SH-DLQ-1, SH-DLQ-2: until then it is on its way; the log, its replay and explain say so."""
    run = Run()
    run.driver.records(3)
    run.a.fetch(0)
    run.a.said((0, 0, ACCEPT), (1, 2, REJECT))
    (said,) = run.lines("RecordsAcknowledged")
    assert [of["state"] for of in said["records"]] == ["Acknowledged", "Archiving"]  # type: ignore[attr-defined]
    run.settle()
    assert run.states() == [(0, 0, "Acknowledged"), (1, 2, "Archived")]
    assert [(of.key, of.value, dict(of.headers)) for of in run.letters()] == [
        (
            None,
            None,
            {
                "__dlq.errors.topic": b"t",
                "__dlq.errors.partition": b"0",
                "__dlq.errors.offset": offset,
                "__dlq.errors.group": b"g",
                "__dlq.errors.delivery.count": b"1",
                "__dlq.errors.message": b"Offset rejected by client.",
            },
        )
        for offset in (b"1", b"2")
    ]
    (written,) = run.lines("DeadLettersWritten")
    assert (written["first_offset"], written["last_offset"], written["letter_offset"]) == (1, 2, 0)
    replayed = ReplayedShares(run.log.read())
    assert [of.snapshot() for of in replayed.open_ones[0].values()] == [
        of.snapshot() for of in run.driver.broker.services.shares.partitions.open_ones.values()
    ]
    known, told = ShareRecords(), list[str]()
    for line in run.log.read():
        known.see(line)
        told += [sentence(known, line)] if line.stream == "share" else []
    assert [of for of in told if of] == [
        "a rejected records 1 to 2 of t-0.",
        "records 1 to 2 of t-0 are delivered to no member: their dead letters are in dlq.t.",
    ]
    assert run.broken() == set()


def test_the_count_of_deliveries_and_the_last_reason_are_told() -> None:
    """SH-DLQ-1: by release, by the end of a lock."""
    run = Run(**{"share.delivery.count.limit": "2"})
    run.driver.records(2)
    run.a.fetch(0)
    run.a.said((0, 1, RELEASE))
    run.a.fetch()
    run.a.said((0, 0, RELEASE))
    run.driver.pass_time(LOCK_MS)
    assert [
        (dict(of.headers)["__dlq.errors.offset"], dict(of.headers)["__dlq.errors.delivery.count"])
        for of in run.letters()
    ] == [(b"0", b"2"), (b"1", b"2")]
    assert {dict(of.headers)["__dlq.errors.message"] for of in run.letters()} == {
        b"Offset delivery count exceeded the threshold."
    }
    assert run.broken() == set()


def test_there_are_none_below_share_version_2() -> None:
    run = Run()
    run.driver.broker.cluster.set_feature("share.version", 1)
    run.driver.records(1)
    run.a.fetch(0)
    run.a.said((0, 0, REJECT))
    assert run.states() == [(0, 0, "Archived")]
    run.settle()
    assert run.letters() == []


def test_records_are_copied_as_far_as_they_are_there() -> None:
    """SH-DLQ-3: what has left the log meanwhile, and what a marker is, has headers alone."""
    run = Run(**{"errors.deadletterqueue.copy.record.enable": "true"})
    run.driver.produce(build_batch([(b"k", b"one"), (None, b"two"), (b"k", None)], timestamp=1))
    run.a.fetch(0)
    run.a.said((0, 2, REJECT))
    run.settle()
    assert [(of.key, of.value) for of in run.letters()] == [
        (b"k", b"one"),
        (None, b"two"),
        (b"k", None),
    ]
    assert letters.originals(run.driver.t.partitions[0].log, 3, 4) == ({}, 4)


def test_records_that_are_not_read_at_once_are_copied_later() -> None:
    """SH-DLQ-3: no letter is written of a record before that was read, however large its headers."""
    run = Run(**{"errors.deadletterqueue.copy.record.enable": "true"})
    headers = (("h", b"x" * 500_000),)
    for value in (b"one", b"two", b"three"):
        run.driver.produce(build_batch([Record(0, 1_000_000, None, value, headers)]))
    for _ in range(3):
        run.a.fetch(0)
    run.a.said((0, 2, REJECT))
    run.settle()
    assert [of.value for of in run.letters()] == [b"one", b"two", b"three"]
    assert run.broken() == set()


def test_a_share_partition_that_is_closed_by_one_range_writes_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SH-DLQ-5: the next leader writes what is left."""
    run = Run()
    run.driver.records(3)
    run.a.fetch(0)
    served = run.driver.broker.services.shares.partitions
    for offset in (0, 2):
        run.rejects(offset, offset)
    monkeypatch.setattr(
        served, "store", lambda partition, *_: served.close(partition.key, "fenced", 0, None)
    )
    run.settle()
    assert [dict(of.headers)["__dlq.errors.offset"] for of in run.letters()] == [b"0"]
    assert [line["type"] for line in run.log.events()][-1] == "SharePartitionClosed"


def test_what_cannot_be_opened_has_headers_alone() -> None:
    """SH-DLQ-3: bytes that are not what their batch says."""
    run = Run(**{"errors.deadletterqueue.copy.record.enable": "true"})
    log = run.driver.t.partitions[0].log
    run.driver.records(1)
    head, body = log._pieces[:2]
    log._pieces[:2] = [head, body[:1] + b"\x01" + body[2:]]  # says gzip now
    run.a.fetch(0)
    run.a.said((0, 0, REJECT))
    run.settle()
    assert [of.value for of in run.letters()] == [None]


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("dlq.none", "there is no topic dlq.none"),
        ("t", "t does not take them"),
        ("letters", "letters does not begin with 'dlq.'"),
        ("dlq.small", "The request included a message larger than the max message size"),
    ],
)
def test_letters_that_cannot_be_written(topic: str, why: str) -> None:
    """SH-DLQ-4: the record is archived all the same, and the log says why."""
    run = Run(**{"errors.deadletterqueue.topic.name": topic})
    run.driver.topic("letters", **ENABLED)
    run.driver.topic("dlq.small", max_message_bytes="100", **ENABLED)
    run.driver.records(1)
    run.a.fetch(0)
    run.a.said((0, 0, REJECT))
    run.settle()
    assert run.states() == [(0, 0, "Archived")]
    (line,) = run.lines("RecordsArchived")
    assert str(line["reason"]).startswith(f"no dead letters were written: {why}")
    assert run.lines("DeadLettersWritten") == []
    assert run.broken() == set()


def test_a_topic_is_made_where_that_is_allowed() -> None:
    """SH-DLQ-4: errors.deadletterqueue.auto.create.topics.enable."""
    run = Run(topic=False)
    configs = run.driver.broker.configs
    configs.set("errors.deadletterqueue.auto.create.topics.enable", "true")
    run.driver.records(1)
    run.a.fetch(0)
    run.a.said((0, 0, REJECT))
    run.settle()
    assert len(run.letters()) == 1
    assert run.driver.broker.cluster.topics["dlq.t"].configs == {
        "errors.deadletterqueue.group.enable": "true",
        "message.timestamp.type": "CreateTime",
    }


def test_many_letters_are_written_batch_by_batch() -> None:
    """One turn of the driver writes one batch, no larger than the topic takes."""
    run = Run()
    run.driver.broker.cluster.topics["dlq.t"].configs["max.message.bytes"] = "700"
    run.driver.records(7)
    run.a.fetch(0)
    run.rejects(0, 6)
    broker = run.driver.broker
    for written in (3, 6, 7):
        assert broker.next_deadline() == run.driver.now
        broker.tick(run.driver.now)
        assert len(run.letters()) == written
    assert run.states() == [(0, 6, "Archived")]
    assert run.broken() == set()


def test_a_leader_that_begins_anew_writes_the_letters_that_it_finds_undone() -> None:
    """SH-DLQ-5: what the share coordinator has as Archiving."""
    run = Run()
    run.driver.records(2)
    run.a.fetch(0)
    run.rejects(0, 0)
    run.driver.broker.services.shares.partitions.close_where(
        lambda _: True, "another leads", 0, None
    )
    run.settle()
    assert run.letters() == []
    run.driver.member("b").fetch(0)
    run.settle()
    assert [dict(of.headers)["__dlq.errors.offset"] for of in run.letters()] == [b"0"]
    assert run.broken() == set()


def _archived_at_once(patch: pytest.MonkeyPatch) -> None:
    def write(self: dead_letters.DeadLetters, of: dead_letters._Letters, now: int) -> None:
        of.next_offset = of.records.last_offset + 1

    patch.setattr(dead_letters.DeadLetters, "_write", write)


def _twice(patch: pytest.MonkeyPatch) -> None:
    send = dead_letters.DeadLetters.send

    def doubled(self: dead_letters.DeadLetters, *args: object) -> None:
        send(self, *args)  # type: ignore[arg-type]
        send(self, *args)  # type: ignore[arg-type]

    patch.setattr(dead_letters.DeadLetters, "send", doubled)


def _never(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dead_letters.DeadLetters, "next_deadline", lambda self: None)
    patch.setattr(dead_letters.DeadLetters, "tick", lambda self, now: None)


def _of_accepted_ones(patch: pytest.MonkeyPatch) -> None:
    send = dead_letters.DeadLetters.send

    def everything(
        self: dead_letters.DeadLetters, of: object, records: list[object], *more: object
    ) -> None:
        told = [one._replace(state=str(RecordState.ARCHIVING)) for one in records]  # type: ignore[attr-defined]
        send(self, of, told, *more)  # type: ignore[arg-type]

    patch.setattr(dead_letters.DeadLetters, "send", everything)


@pytest.mark.parametrize("bug", [_archived_at_once, _twice, _never, _of_accepted_ones])
def test_a_bug_is_found(
    bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge of dead letters sees each planted bug."""
    bug(monkeypatch)
    run = Run()
    run.driver.records(2)
    run.a.fetch(0)
    run.a.said((0, 0, REJECT), (1, 1, ACCEPT))
    run.driver.pass_time(LOCK_MS)
    run.driver.records(1)
    run.a.fetch()
    run.a.said((2, 2, REJECT))
    run.settle()
    assert run.broken() == {"dead_letters_complete"}


def test_what_may_be_in_flight_is_looked_up_once() -> None:
    """Settings follow a group's configuration."""
    run = Run()
    shares = run.driver.broker.services.shares
    assert shares.settings.deliveries("g") == Deliveries(5, True)
    run.driver.broker.cluster.group_configs["g"] = {}
    assert shares.settings.deliveries("g") == Deliveries(5, False)
