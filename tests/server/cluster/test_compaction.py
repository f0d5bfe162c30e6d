"""Compaction of a log against a judge that looks at every record (CMP-1 to CMP-9), and mistakes that
the judge finds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from coordinator.server.storage import compaction as code
from coordinator.server.storage import partition_log
from coordinator.server.storage.append_checks import LogConfig
from coordinator.server.storage.compaction import (
    BY_LAG,
    BY_RATIO,
    Compacted,
    Compaction,
    Dirty,
    cleanable,
    compact,
    next_compaction_ms,
)
from coordinator.server.storage.encoders import compress
from coordinator.server.storage.partition_log import Marker, PartitionLog, StoredBatch
from coordinator.server.storage.record_codec import Record, build_batch
from coordinator.server.storage.records import TRANSACTIONAL, sole_batch
from coordinator.server.storage.replica_log import ReplicaLog
from tests.server.cluster.compaction_judge import batches, faults

NOW = 1_000_000
TWO = LogConfig(compacted=True, segment_bytes=150)
RULES = Compaction(min_dirty_ratio=0.0, delete_retention_ms=1_000, segment_bytes=150)


def put(
    log: PartitionLog,
    *rows: str,
    config: LogConfig = TWO,
    now_ms: int = NOW,
    codec: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    epoch: int = 0,
) -> None:
    """One batch: `k=v` for a record, `k` for a tombstone."""
    records = []
    for at, row in enumerate(rows):
        key, sign, value = row.partition("=")
        records.append(Record(at, now_ms, key.encode(), value.encode() if sign else None))
    data = build_batch(
        records,
        timestamp=now_ms,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
        attributes=codec | (TRANSACTIONAL if transactional else 0),
        compress=None if not codec else lambda plain: compress(codec, plain) or b"",
    )
    log.append(data, sole_batch(data, 12), config, leader_epoch=epoch, now_ms=now_ms)


def steps_of(log: PartitionLog, rules: Compaction = RULES, now_ms: int = NOW) -> Iterator[None]:
    """A compaction, step by step."""
    dirty = cleanable(log, rules, now_ms)
    assert dirty is not None
    return compact(log, dirty, rules, now_ms, compress)


def run(log: PartitionLog, rules: Compaction = RULES, now_ms: int = NOW) -> Compacted | None:
    """Compact a log; None if there is nothing to do."""
    dirty = cleanable(log, rules, now_ms)
    if dirty is None:
        return None
    work = compact(log, dirty, rules, now_ms, compress)
    while True:
        try:
            next(work)
        except StopIteration as ended:
            done: Compacted | None = ended.value
            return done


def shown(log: PartitionLog) -> list[tuple[int, str, str | None]]:
    """Offset, key and value of what is there."""
    return [
        (
            record.offset,
            (record.key or b"").decode(),
            None if record.value is None else record.value.decode(),
        )
        for each in batches(log)
        if not each.control
        for record in each.records
    ]


class TestWhen:
    """CMP-1 and CMP-2: what is cleanable, and by which setting."""

    def test_never_the_active_segment(self) -> None:
        log = PartitionLog()
        put(log, "a=1")
        put(log, "a=2")
        assert cleanable(log, RULES, NOW) is None
        put(log, "a=3")
        assert cleanable(log, RULES, NOW) == Dirty(0, 2, 1, BY_RATIO)

    def test_the_dirty_share_is_above_the_ratio(self) -> None:
        log = PartitionLog()
        for at in range(3):
            put(log, f"k{at}=1")
        assert run(log) is not None
        put(log, "k3=1")
        put(log, "k4=1")
        assert cleanable(log, RULES._replace(min_dirty_ratio=0.5), NOW) is None
        assert cleanable(log, RULES._replace(min_dirty_ratio=0.49), NOW) is not None

    def test_whatever_the_ratio_is_once_it_waited_too_long(self) -> None:
        log = PartitionLog()
        for _ in range(3):
            put(log, "a=1")
        rules = RULES._replace(min_dirty_ratio=1.0, max_lag_ms=500)
        assert cleanable(log, rules, NOW + 500) is None
        assert next_compaction_ms(log, rules, NOW) == NOW + 501
        assert cleanable(log, rules, NOW + 501) == Dirty(0, 2, 1, BY_LAG)

    def test_not_what_is_too_young(self) -> None:
        log = PartitionLog()
        put(log, "a=1")
        put(log, "a=1")
        put(log, "a=2", now_ms=NOW + 100)
        put(log, "a=2", now_ms=NOW + 100)
        put(log, "a=3", now_ms=NOW + 100)
        rules = RULES._replace(min_lag_ms=50)
        assert cleanable(log, rules, NOW + 49) is None
        assert next_compaction_ms(log, rules, NOW + 49) == NOW + 50
        assert cleanable(log, rules, NOW + 120) == Dirty(0, 2, 1, BY_RATIO)
        assert cleanable(log, rules, NOW + 150) == Dirty(0, 4, 2, BY_RATIO)

    def test_not_from_an_open_transaction_on(self) -> None:
        log = PartitionLog()
        put(log, "a=1")
        put(log, "a=2")
        put(log, "t=1", producer=(7, 0, 0), transactional=True)
        put(log, "a=3")
        put(log, "a=4")
        assert cleanable(log, RULES, NOW) == Dirty(0, 2, 1, BY_RATIO)
        log.append_marker(Marker(7, 0, True), leader_epoch=0, now_ms=NOW, config=TWO)
        assert cleanable(log, RULES, NOW) == Dirty(0, 4, 2, BY_RATIO)


class TestWhat:
    """CMP-3 to CMP-9: single cases, each with its result."""

    def test_the_last_record_of_a_key(self) -> None:
        log = PartitionLog()
        for row in ("a=1", "b=1", "a=2", "c=1", "a=3"):
            put(log, row)
        assert run(log) == Compacted(BY_RATIO, 0, 4, 1, 4 * 70, 3 * 70)
        assert shown(log) == [(1, "b", "1"), (2, "a", "2"), (3, "c", "1"), (4, "a", "3")]
        assert (log.log_start_offset, log.log_end_offset) == (0, 5)
        assert run(log) is None

    def test_a_tombstone_goes_when_its_time_is_over_and_it_is_cleaned_again(self) -> None:
        log = PartitionLog()
        for row in ("a=1", "a", "b=1"):
            put(log, row)
        run(log)
        assert shown(log) == [(1, "a", None), (2, "b", "1")]
        for now_ms, there in ((NOW + 999, True), (NOW + 1_000, False)):
            put(log, "c=1")
            put(log, "c=2")
            run(log, now_ms=now_ms)
            assert ((1, "a", None) in shown(log)) == there

    def test_a_marker_goes_when_its_time_is_over_and_it_is_cleaned_again(self) -> None:
        log = PartitionLog()
        put(log, "t=1", producer=(7, 0, 0), transactional=True)
        log.append_marker(Marker(7, 0, True), leader_epoch=0, now_ms=NOW, config=TWO)
        put(log, "t=2", producer=(7, 0, 1), transactional=True)
        log.append_marker(Marker(7, 0, True), leader_epoch=0, now_ms=NOW, config=TWO)
        for now_ms, there in ((NOW, True), (NOW, True), (NOW + 999, True), (NOW + 1_000, False)):
            put(log, "c=1")
            put(log, "c=2")
            run(log, now_ms=now_ms)
            markers = [each.header.base_offset for each in batches(log) if each.control]
            assert (1 in markers) == there

    def test_the_last_batch_before_the_high_watermark_stays_empty(self) -> None:
        log = PartitionLog()
        for row in ("a=1", "b=1", "c"):
            put(log, row)
        log._begin_segment(3, "retention")  # as retention does when all of a log is too old
        run(log)
        assert [each[0] for each in shown(log)] == [0, 1, 2]
        log.cleaned_to = 0  # as on a broker that has forgotten what it cleaned
        run(log, now_ms=NOW + 1_000)
        assert [each[0] for each in shown(log)] == [0, 1]
        assert [each.header.last_offset for each in batches(log)] == [0, 1, 2]

    def test_a_batch_keeps_its_codec(self) -> None:
        for codec in (0, 1, 2, 3, 4):
            log = PartitionLog()
            if codec > 1:
                pytest.importorskip("cramjam")
            wide = TWO._replace(segment_bytes=400)
            put(log, *(f"k{at % 5}={at}" for at in range(20)), codec=codec, config=wide)
            put(log, "z=1")
            put(log, "z=2")
            run(log)
            first = batches(log)[0]
            assert (first.header.codec, len(first.records)) == (codec, 5)

    def test_what_cannot_be_opened_stays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = PartitionLog()
        pytest.importorskip("cramjam")
        put(log, "a=1", "a=2", codec=4)
        put(log, "a=3")
        put(log, "a=4")
        before = log.read(0, 1 << 20)
        monkeypatch.setattr(code, "decompress", lambda *_: None)
        run(log)
        assert log.read(0, 1 << 20)[: len(before)].startswith(before[:60])

    def test_no_step_grows_with_the_log(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neither the first, which begins to read, nor the last, which lets go of what went."""
        read = [0]

        def counted(*given: Any) -> StoredBatch:
            read[-1] += 1
            return StoredBatch(*given)

        monkeypatch.setattr(partition_log, "StoredBatch", counted)
        most, steps = [], []
        for size in (2_000, 8_000):
            log = PartitionLog()
            for number in range(size):
                put(log, f"{number % 100}=1")
            read[:] = [0]
            for at, _ in enumerate(steps_of(log), 1):
                read.insert(at, 0)
            most.append(max(read))
            steps.append(len(read))
        assert most[0] == most[1]
        assert steps[1] > 3 * steps[0]

    def test_what_went_is_dropped_in_steps(self) -> None:
        log = PartitionLog()
        for number in range(2_000):
            put(log, f"{number % 10}=1")
        replaced = log.replace_segments(1, log.rewrite([0]), [])
        assert [len(each) > 1_000 for each in replaced] == [True] * 4
        assert log.log_start_offset == 0 and shown(log)[0][0] == 2

    def test_appends_meanwhile_do_no_harm(self) -> None:
        log = PartitionLog()
        for at in range(3_000):
            put(log, f"k{at % 10}={at}")
        work = steps_of(log)
        for at in range(50):
            next(work, None)
            put(log, f"k{at % 10}=new{at}")
        for _ in work:
            pass
        values = {key: value for _, key, value in shown(log)}
        assert values == {f"k{at}": f"new{40 + at}" for at in range(10)}

    @pytest.mark.parametrize("how", ["delete_records", "delete_segments", "truncate"])
    def test_a_log_that_lost_something_meanwhile_is_left_as_it_is(self, how: str) -> None:
        log = ReplicaLog()
        for at in range(3_000):
            put(log, f"k{at % 10}={at}")
        log.committed = log.log_end_offset
        work = steps_of(log)
        next(work)
        getattr(log, how)({"delete_records": 7, "delete_segments": 2, "truncate": 2_500}[how])
        held = shown(log)
        for _ in work:
            pass
        assert shown(log) == held
        assert run(log) is not None

    def test_a_follower_copies_what_is_left(self) -> None:
        leader, follower = ReplicaLog(), ReplicaLog()
        for row in ("a=1", "b=1", "a=2", "a=3", "b=2", "a=4"):
            put(leader, row)
        leader.committed = leader.log_end_offset
        run(leader)
        follower.follow(leader)
        assert shown(follower) == shown(leader)
        assert follower.log_end_offset == 6
        assert [each[:2] for each in follower.segments()][-1] == leader.segments()[-1][:2]


class Life:
    """A log that many write to, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.log = PartitionLog()
        self.now = NOW
        self.sequences = dict.fromkeys(range(1, 4), 0)
        self.open: set[int] = set()

    def act(self) -> None:
        """Write something."""
        random = self.random
        self.now += random.randint(0, 300)
        rows = [
            random.choice("abcdefgh")
            + ("" if random.random() < 0.2 else f"={random.randint(0, 99)}")
            for _ in range(random.randint(1, 4))
        ]
        producer = random.randint(0, 3)
        codec = random.choice((0, 0, 1))
        if not producer:
            put(self.log, *rows, now_ms=self.now, codec=codec)
            return
        transactional = producer > 1
        if transactional and producer in self.open and random.random() < 0.4:
            self.open.discard(producer)
            marker = Marker(producer, 0, random.random() < 0.5)
            self.log.append_marker(marker, leader_epoch=0, now_ms=self.now, config=TWO)
            return
        given = (producer, 0, self.sequences[producer])
        put(
            self.log, *rows, now_ms=self.now, producer=given, transactional=transactional,
            codec=codec,
        )  # fmt: skip
        self.sequences[producer] += len(rows)
        if transactional:
            self.open.add(producer)

    def clean(self) -> list[str]:
        """Compact, and judge it."""
        log = self.log
        before = batches(log)
        last = {
            producer: state.last_offset
            for producer, state in log.producers.states.items()
            if state.last_offset is not None
        }
        done = run(log, now_ms=self.now)
        if done is None:
            return []
        return faults(
            before,
            batches(log),
            end=done.end_offset,
            now_ms=self.now,
            delete_retention_ms=RULES.delete_retention_ms,
            producers=last,
        )


def lives(seeds: range) -> list[str]:
    """Everything that is wrong in some lives."""
    found = []
    for seed in seeds:
        life = Life(seed)
        for number in range(120):
            life.act()
            if number % 15 == 14:
                found += life.clean()
    return found


def test_random_lives() -> None:
    assert lives(range(60)) == []


def _without(name: str, result: Any) -> Any:
    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(code._Cleaner, name, result)

    return plant


def _active_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of what is cleaned lies in the active segment."""
    honest = code._bounds

    def wrong(log: PartitionLog, closed: Any, rules: Any, now_ms: int) -> Any:
        first, end, count = honest(log, closed, rules, now_ms)
        return (first, log.log_end_offset, count) if count == len(closed) else (first, end, count)

    monkeypatch.setattr(code, "_bounds", wrong)


def _keeps_tombstones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        code._Cleaner,
        "_stays",
        lambda self, record, horizon: record.offset >= self._by_key.last.get(record.key, -1),
    )


def _markers_go_early(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = code._Cleaner.cleaned

    def wrong(self: Any, batch: Any, header: Any, transactions: Any) -> Any:
        left = honest(self, batch, header, transactions)
        return None if header.attributes & 0x20 and header.producer_id == 2 else left

    monkeypatch.setattr(code._Cleaner, "cleaned", wrong)


def _aborted_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code._Transactions, "discards", lambda *_: False)


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        pytest.param(_active_too, "", id="the active segment"),
        pytest.param(
            _without("_must_stay", lambda *_: False), "the last batch of producer", id="empty batch"
        ),
        pytest.param(_keeps_tombstones, "was kept", id="tombstone"),
        pytest.param(_markers_go_early, "went early", id="marker"),
        pytest.param(_aborted_stay, "was kept", id="aborted"),
    ],
)
def test_the_judge_finds_mistakes(plant: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    if said:
        assert any(said in fault for fault in lives(range(10)))
        return
    log = PartitionLog()
    for row in ("a=1", "b=1", "a=2"):
        put(log, row)
    done = run(log)
    assert done is not None and done.end_offset > log.active_offset
