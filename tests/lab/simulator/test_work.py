"""How long applications work on records, keys that are sent oftener than others, and records that no
application can stand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from assignors import TopicPartition
from coordinator.events import EventLog
from coordinator.lab.simulator.environment import EPOCH_MS
from coordinator.lab.simulator.files.reading import ScenarioError
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from coordinator.lab.simulator.work import Work, WorkPlan, at_quantile
from coordinator.members.applications.consuming import Fate
from coordinator.members.partitioners.murmur2 import partition_for_key
from coordinator.members.record_batches import ReadRecord

P = TopicPartition("orders", 0)
BASE = """
duration = "4m"
[topics]
orders = 4
[[producers]]
name = "shop"
topics = "orders"
rate = 20
batch = 5
stop = "3m"
{producer}
[[members]]
name = "app"
count = 2
topics = "orders"
consumes = true
commit = "batch"
{member}
"""


def run(member: str = "", producer: str = "", rest: str = "") -> list[dict[str, Any]]:
    text = BASE.format(member=member, producer=producer) + rest
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    run_scenario(read_scenario(text, "mine.toml"), 1, log)
    return list(log.events())


def record(offset: int, key: bytes | None = None) -> ReadRecord:
    return ReadRecord(offset, 0, key, b"")


def test_quantiles_have_straight_lines_between_them() -> None:
    quantiles = ((0, 0), (500, 10), (990, 500), (1000, 2000))
    end = 1 << 53
    assert [at_quantile(quantiles, end * share // 100) for share in (0, 25, 50)] == [0, 5, 10]
    assert at_quantile(quantiles, end * 99 // 100 + 1) == 500
    assert at_quantile(quantiles, end - 1) == 1999
    assert at_quantile(((0, 7), (1000, 7)), end // 3) == 7


def test_half_of_the_records_take_at_most_the_median() -> None:
    work = Work(1, WorkPlan(((0, 0), (500, 10), (990, 400), (1000, 400))))
    took = sorted(work.takes_ms(P, record(offset)) for offset in range(2000))
    assert 8 <= took[1000] <= 12
    assert 380 <= took[1990] <= 400


def test_a_record_takes_the_same_whoever_works_on_it_and_a_key_wherever_it_is() -> None:
    plan = WorkPlan(((0, 0), (1000, 5000)), per_key=True)
    first, second = Work(3, plan), Work(3, plan)
    assert first.takes_ms(P, record(1, b"a")) == second.takes_ms(P, record(99, b"a"))
    assert first.takes_ms(P, record(1, b"a")) != first.takes_ms(P, record(1, b"b"))
    assert first.takes_ms(P, record(1)) != first.takes_ms(P, record(2)), "without a key: each"


def test_a_slow_partition_and_poison() -> None:
    work = Work(1, WorkPlan(((0, 3),), slow_ms=((P, 40),), poison=10, fate=Fate.CRASHES))
    assert work.takes_ms(P, record(0)) == 43
    assert work.takes_ms(TopicPartition("orders", 1), record(0)) == 3
    assert [offset for offset in range(30) if work.fate(P, record(offset)) is not Fate.NONE] == [
        9,
        19,
        29,
    ]


def test_a_hot_key_makes_a_hot_partition() -> None:
    lines = run(producer="keys = 50\nhot_keys = 1\nhot_share = 80")
    sent: Counter[int] = Counter()
    for line in lines:
        if line["type"] == "RecordsSent":
            sent[line["partition"]] += line["count"]
    hot = partition_for_key(b"key-0", 4)
    assert sent.most_common(1)[0][0] == hot
    assert sent[hot] > 0.75 * sent.total()
    assert len(sent) == 4


def test_without_keys_partitions_take_turns() -> None:
    sent: Counter[int] = Counter()
    for line in run():
        if line["type"] == "RecordsSent":
            sent[line["partition"]] += line["count"]
    assert max(sent.values()) - min(sent.values()) <= 5


def died(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def test_who_meets_a_poison_record_dies_and_comes_back_later_each_time() -> None:
    lines = run('poison = 300\non_poison = "crashes"\nrestarts = ["5s", "20s"]')
    crashed = died(lines, "MemberCrashed")
    assert crashed
    assert all("the application crashes at orders-" in line["why"] for line in crashed)
    assert {line["why"].rpartition(" ")[2] for line in crashed} == {"299"}
    came = {
        name: [
            line["at_ms"]
            for line in lines
            if line["type"] == "MemberStarted" and line["client"] == name
        ][1:]
        for name in ("app-1", "app-2")
    }
    for name, starts in came.items():
        deaths = [line["at_ms"] for line in crashed if line["client"] == name]
        away = [start - death for death, start in zip(deaths, starts, strict=False)]
        assert away == [5000, 10_000, 20_000, 20_000][: len(away)]
    processed = [
        (line["topic"], line["partition"], first, last)
        for line in lines
        if line["type"] == "RecordsProcessed"
        for first, last in line["ranges"]
    ]
    assert all(not first <= 299 <= last for *_, first, last in processed), "nobody has done it"
    assert any(last == 298 for *_, last in processed), "what came before it was done"


def test_an_application_that_fails_leaves_and_one_that_hangs_is_taken_for_dead() -> None:
    failed = run('poison = 300\nrestarts = "10s"', rest='[must]\nmay_fail = "app"\n')
    assert died(failed, "MemberFailed")
    assert not died(failed, "MemberCrashed")
    hangs = run(
        'poison = 300\non_poison = "hangs"\nconfig = { "max.poll.interval.ms" = 50000 }',
    )
    gone = [line for line in hangs if line["type"] == "MemberRemoved"]
    assert {line["member"][:5] for line in gone} == {"app-1", "app-2"}, (
        "first one, then who has its partitions"
    )


def test_without_restarts_who_died_stays_away() -> None:
    lines = run('poison = 300\non_poison = "crashes"')
    assert len(died(lines, "MemberStarted")) == 2


@pytest.mark.parametrize(
    ("member", "producer", "said"),
    [
        (
            "processing = { p50 = '10ms', p99 = '5ms' }",
            "",
            "least, p50, p90, p99, most are to grow",
        ),
        ("processing = { p75 = '10ms' }", "", "or a table of some of least, p50, p90, p99, most"),
        ("processing = ['2s', '1s']", "", "two for the shortest and the longest"),
        (
            "processing = '1s'\nper = 'key'",
            "",
            "per needs a processing that is not the same for all",
        ),
        ("slow = { 'orders-4' = '1s' }", "", "slow: there is no partition orders-4"),
        ("slow = { 'orders-1' = 'long' }", "", "a table of durations"),
        ("on_poison = 'crashes'", "", "on_poison needs poison"),
        ("poison = 3\non_poison = 'explodes'", "", "one of fails, crashes, hangs"),
        ("", "keys = 3\nhot_keys = 4", "hot_keys = 4: at most keys, 3"),
        ("", "hot_share = 70", "hot_share needs hot_keys"),
        ("", "keys = 3\nhot_keys = 1\nhot_share = 101", "1 to 100 per cent"),
    ],
)
def test_what_a_file_may_not_say(member: str, producer: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_scenario(BASE.format(member=member, producer=producer), "mine.toml")


def test_a_batch_has_a_record() -> None:
    text = BASE.format(member="", producer="")
    with pytest.raises(ScenarioError, match="batch = 0: from 1 to 1000 records"):
        read_scenario(text, "mine.toml", ("producers.shop.batch=0",))


@pytest.mark.parametrize(("rate", "batch"), [(1, 1), (7, 1), (8, 2), (40, 10), (9000, 1000)])
def test_records_of_a_quarter_of_a_second_go_out_together(rate: int, batch: int) -> None:
    text = BASE.replace("batch = 5\n", "").format(member="", producer="")
    scenario = read_scenario(text, "mine.toml", (f"producers.shop.rate={rate}",))
    assert scenario.producers[0].batch == batch


def test_what_goes_out_together_is_a_line_at_each_step() -> None:
    """One batch, one fetch, one poll and one piece of work, with all of its records."""
    text = BASE.replace("batch = 5\n", "").format(member="", producer="")
    log = EventLog(seed=1, epoch_ms=EPOCH_MS)
    run_scenario(read_scenario(text, "mine.toml"), 1, log)
    lines = list(log.events())
    sent = [line["count"] for line in lines if line["type"] == "RecordsSent"]
    assert set(sent) == {5}
    for kind in ("RecordsPolled", "RecordsProcessed"):
        found = [line["ranges"] for line in lines if line["type"] == kind]
        assert sum(b - a + 1 for ranges in found for a, b in ranges) == sum(sent)
        assert len(found) <= len(sent)
