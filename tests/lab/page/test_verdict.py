"""The verdict above a picture: rebalances by what they cost."""

from __future__ import annotations

from typing import Any

from coordinator.events.reader import read_lines
from coordinator.lab.page.picture import Picture
from tests.frozen.stored import LOGS


def _verdicts(name: str) -> list[dict[str, Any]]:
    text = (LOGS / f"{name}.jsonl").read_text().splitlines(keepends=True)
    return [group["verdict"] for group in Picture(read_lines(text)).plain()["groups"]]


def test_a_killed_process_is_the_costliest_and_counts_from_its_death() -> None:
    """A process with one partition is killed at 15 s; its session ends at 22.165 s, and another
    member has it at 24.184 s."""
    (verdict,) = _verdicts("classic")
    worst, *others = verdict["rebalances"]
    assert verdict["count"] == 1 + len(others)
    assert worst["cause"] == "a member expired"
    assert worst["at_ms"] == 22_165
    assert worst["lost_ms"] >= 24_184 - 15_000
    assert worst["lost_ms"] > max(each["lost_ms"] for each in others)


def test_what_was_lost_is_claimed_once() -> None:
    for name in ("classic", "consumer", "cooperative", "static"):
        text = (LOGS / f"{name}.jsonl").read_text().splitlines(keepends=True)
        for group in Picture(read_lines(text)).plain()["groups"]:
            costs = [each["lost_ms"] for each in group["verdict"]["rebalances"]]
            assert min(costs) >= 0 and sum(costs) <= group["lost_partition_ms"]
            least = [each["least_ms"] for each in group["verdict"]["rebalances"]]
            assert sum(least) <= group["lost_partition_ms"] - group["silent_partition_ms"]
            assert all(low <= high for low, high in zip(least, costs, strict=True))


def test_epochs_of_a_consumer_group_are_told_with_their_members() -> None:
    (verdict,) = _verdicts("consumer")
    causes = {each["cause"] for each in verdict["rebalances"]}
    assert causes == {"a member left", "a member joined, or changed its subscription"}
    assert all(each["lanes"] for each in verdict["rebalances"])
