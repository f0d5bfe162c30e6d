"""The judge of the clean-up of logs: brokers are held to their settings, and mistakes are found."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.events.line import lines_of
from coordinator.history.judges.base import Judgement
from coordinator.history.judges.cleaned_logs import LogsAreCleanedAsConfigured
from coordinator.history.judges.judging import judge
from coordinator.kit import topics
from coordinator.kit.cluster import CleanLogs, JumpClock
from coordinator.server import log_cleaning
from coordinator.server.storage import compaction
from coordinator.server.storage.partition_log import PartitionLog
from tests.server.brokers.desk import Cluster, produce
from tests.server.brokers.test_log_cleaning import EVERY_MS, FIRST_MS, WEEK_MS, desk, write


def configure(cluster: Cluster, **configs: str) -> None:
    """Set configurations of orders, as a client does."""
    named = {name.replace("_", "."): value for name, value in configs.items()}
    topics.configure(cluster.runtime.brokers[1], cluster.now, "orders", named)
    cluster.settle()


def life(**config: str) -> Cluster:
    """Brokers that clean by age, by size, after a jump of a clock, and a log that is compacted."""
    cluster = desk(1, **config)
    cluster.log.data = True
    configure(cluster, internal_segment_bytes=str(2 * 69), retention_ms="100000")
    write(cluster, 5)
    cluster.pass_time(1_000)
    cluster.do(CleanLogs())
    cluster.pass_time(FIRST_MS)
    configure(
        cluster,
        internal_segment_bytes=str(2 * 69), retention_ms="-1", retention_bytes=str(3 * 69),
    )  # fmt: skip
    cluster.pass_time(EVERY_MS)
    configure(cluster, internal_segment_bytes=str(2 * 69), retention_ms=str(WEEK_MS))
    write(cluster, 3)
    cluster.pass_time(EVERY_MS)
    cluster.do(JumpClock(1, WEEK_MS))
    cluster.pass_time(EVERY_MS)
    return cluster


def found(cluster: Cluster) -> list[str]:
    """What the judge says of a run."""
    verdicts = judge(lines_of(cluster.log.events()), [LogsAreCleanedAsConfigured])
    return [finding.text for verdict in verdicts for finding in verdict.findings]


def test_the_brokers_keep_to_their_settings() -> None:
    cluster = life()
    assert [line["reason"] for line in cluster.logged("SegmentsDeleted")] == [
        "retention.bytes",
        "retention.bytes",
        "retention.ms",
    ]
    assert found(cluster) == []


def test_a_log_in_which_nothing_was_cleaned_is_not_spoken_of() -> None:
    cluster = desk(1)
    write(cluster)
    assert judge(lines_of(cluster.log.events()), [LogsAreCleanedAsConfigured]) == []
    (verdict,) = judge(lines_of(life().log.events()), [LogsAreCleanedAsConfigured])
    assert verdict.judgement is Judgement.KEPT


def _wrong_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = log_cleaning.delete_old_segments

    def wrong(log: Any, rules: Any, now_ms: int) -> Any:
        return honest(log, rules, now_ms + WEEK_MS)

    monkeypatch.setattr(log_cleaning, "delete_old_segments", wrong)


def _part_of_a_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = PartitionLog.delete_segments

    def wrong(self: PartitionLog, count: int) -> None:
        honest(self, count)
        if self.log_end_offset > self.log_start_offset + 1:
            self.log_start_offset += 1

    monkeypatch.setattr(PartitionLog, "delete_segments", wrong)


def _another_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = log_cleaning.retention
    monkeypatch.setattr(
        log_cleaning, "retention", lambda topic: honest(topic)._replace(retention_ms=10)
    )


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (_wrong_clock, "ms old, although retention.ms is"),
        (_part_of_a_segment, "within a segment"),
        (_another_setting, "was cleaned with retention.ms=10"),
    ],
)
def test_mistakes_are_found(plant: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(said in text for text in found(life()))


def compacted() -> Cluster:
    """A broker that compacts a log of one key, whose active segment has records of it, too."""
    cluster = desk(1)
    cluster.log.data = True
    configure(
        cluster,
        internal_segment_bytes=str(2 * 69), cleanup_policy="compact", min_cleanable_dirty_ratio="0",
    )  # fmt: skip
    client = cluster.client(cluster.partition().leader)
    for _ in range(5):
        client.send(produce(key=b"k"), 9)
    cluster.do(CleanLogs())
    cluster.pass_time(FIRST_MS)
    return cluster


def test_an_active_segment_that_was_compacted_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = compaction._bounds

    def active_too(log: PartitionLog, closed: Any, rules: Any, now_ms: int) -> Any:
        first, end, count = honest(log, closed, rules, now_ms)
        return first, log.log_end_offset if count == len(closed) else end, count

    right = compacted()
    (line,) = right.logged("LogCompacted")
    assert line["removed"] > 0 and found(right) == []
    monkeypatch.setattr(compaction, "_bounds", active_too)
    assert found(compacted()) == [
        "orders-0 was compacted up to 5, although its active segment begins at 4"
    ]
