"""Consumers of an unmodified client library that are killed or paused: the time that their group
loses, as the log has it, beside the truth."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL, SIGSTOP
from typing import Any, NamedTuple

import pytest

from coordinator import Emulator
from coordinator.events.files import read
from coordinator.history.explain.output import as_plain, timeline_of
from coordinator.history.world.lost_time.partitions import PERHAPS, Lost
from coordinator.history.world.timeline import Timeline
from coordinator.kit.http.metrics import Metrics
from coordinator.lab.page.picture import Picture
from coordinator.lab.pipeline.fold.pieces import fold_texts
from coordinator.lab.pipeline.schemas import TABLES

PARTITIONS = 6
SESSION_MS = 6000
_CONSUMER = Path(__file__).with_name("clients") / "plain_consumer.py"
_CONFIG = {
    "group.initial.rebalance.delay.ms": 1000,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.min.heartbeat.interval.ms": 1000,
    "group.consumer.heartbeat.interval.ms": 1000,
}


class Ended(NamedTuple):
    """A run: its log, the instants at which the members ended and at which the run did, and what
    /metrics told at that one."""

    log: Path
    stopped_ms: int
    end_ms: int
    metrics: str

    @property
    def truth_ms(self) -> int:
        """Nobody worked on any partition any more."""
        return PARTITIONS * (self.end_ms - self.stopped_ms)

    def timeline(self) -> Timeline:
        return timeline_of(read(self.log))

    def lost(self) -> Lost:
        """What was lost from the instant at which the members ended."""
        timeline = self.timeline()
        least_ms = most_ms = 0
        for _, span in timeline.lost_time.groups["billing"].partitions.lost(self.end_ms):
            length_ms = span.end - max(span.begin, self.stopped_ms)
            if length_ms > 0:
                most_ms += length_ms
                least_ms += 0 if span.lost == PERHAPS else length_ms
        return Lost(least_ms, most_ms)


@contextmanager
def _consumers(kafka: Emulator, protocol: str) -> Iterator[list[subprocess.Popen[str]]]:
    command = [sys.executable, str(_CONSUMER), kafka.bootstrap_servers, protocol, str(SESSION_MS)]
    there: list[subprocess.Popen[str]] = []
    nowhere = subprocess.DEVNULL
    try:
        there.extend(
            subprocess.Popen([*command, f"app-{number}"], stdout=nowhere, stdin=nowhere, text=True)
            for number in range(3)
        )
        yield there
    finally:
        for process in there:
            process.kill()
            process.wait()


def _run(folder: Path, protocol: str, signal: int) -> Ended:
    log = folder / "run.jsonl"
    with Emulator(log=log, config=_CONFIG) as kafka:
        kafka.create_topic("orders", PARTITIONS)
        metrics = Metrics(kafka)
        with _consumers(kafka, protocol) as processes:
            kafka.group("billing").wait(
                state="Stable", members=3, assigned="all", heard=True, timeout=60
            )
            for process in processes:
                os.kill(process.pid, signal)
            stopped_ms = kafka.server.now()
            removed = "MemberRemoved" if protocol == "classic" else "ConsumerMemberRemoved"
            kafka.wait_for(removed, group="billing", count=3, timeout=60)
            told = metrics.exposition()
            end_ms = kafka.server.now()
    return Ended(log, stopped_ms, end_ms, told)


@pytest.fixture(scope="module", params=["classic", "consumer"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_three_killed_consumers_are_lost_from_their_death(protocol: str, tmp_path: Path) -> None:
    run = _run(tmp_path, protocol, SIGKILL)
    lost = run.lost()
    assert lost.least_ms == lost.most_ms, "their connections closed: nothing is uncertain"
    assert abs(lost.most_ms - run.truth_ms) <= PARTITIONS * 100
    _agree(run)


def test_the_truth_of_three_paused_consumers_lies_between_both_bounds(
    protocol: str, tmp_path: Path
) -> None:
    run = _run(tmp_path, protocol, SIGSTOP)
    lost = run.lost()
    assert lost.least_ms < run.truth_ms < lost.most_ms + PARTITIONS * 100
    _agree(run)


def _agree(run: Ended) -> None:
    """All outputs tell the same of the same log."""
    timeline = run.timeline()
    end_ms = timeline.end_ms
    lost = timeline.lost_time.of("billing", end_ms)
    (told,) = as_plain(timeline, timeline.groups.values())["groups"]
    assert (told["lost_at_least_ms"], told["lost_at_most_ms"]) == lost
    (drawn,) = Picture(read(run.log)).plain()["groups"]
    silent_ms = drawn["silent_partition_ms"]
    assert (drawn["lost_partition_ms"] - silent_ms, drawn["lost_partition_ms"]) == lost
    rows: list[tuple[Any, ...]] = []
    texts = run.log.read_text().splitlines(keepends=True)
    fold_texts(texts, "log", lambda name, row: rows.append(row) if name == "metrics" else None)
    (row,) = (dict(zip(TABLES["metrics"].names(), each, strict=True)) for each in rows)
    assert (row["lost_at_least_ms"], row["lost_at_most_ms"]) == lost
    found = dict(re.findall(r'seconds\{group="billing",bound="(\w+)"\} ([\d.]+)', run.metrics))
    later_ms = PARTITIONS * (end_ms - run.end_ms)  # the log ends a little later: nobody worked
    for bound, ms in zip(("at_least", "at_most"), lost, strict=True):
        assert abs(float(found[bound]) * 1000 + later_ms - ms) <= PARTITIONS * 20
