"""One log, one number: every output says the same of what it counts.

Compared are the plain counts of `tests/recount.py` with `ab`, tables, `group.rebalances`,
`verify()`, /metrics, `explain --format json` and the page, each on the numbers that it has, for
every shipped scenario as it is and switched to the consumer protocol (`tests/shipped.py` says which
cannot be). One seed in tests/test_shipped.py, two more by `make fuzz`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

import pytest

from coordinator.events.groups import GenerationStarted, GroupEmptied, RebalanceStarted
from coordinator.history.explain.output import as_plain, rebalances_of, timeline_of
from coordinator.kit.http.metrics import Counts, LostTimes
from coordinator.kit.verifying.verification import Verification
from coordinator.lab.page.picture import Picture
from coordinator.lab.pipeline.schemas import TABLES
from coordinator.lab.simulator.comparing.measures import measure
from tests.frozen.outputs import Lines, explain_json
from tests.recount import Recount, lost_ms
from tests.shipped import SCENARIOS, log_text

pytestmark = pytest.mark.unmeasured

Numbers = dict[str, float]


def recounted(log: Lines) -> Numbers:
    """Every number that is compared."""
    count = Recount(line.plain for line in log.lines).finish()
    lost = lost_ms([line.plain for line in log.lines])
    return {
        "ms lost, at least": lost,
        "ms lost, at most": lost,
        "rebalances": count.rebalances,
        "epochs": sum(line.name == "GroupEpochBumped" for line in log.lines),
        "completed rebalances": count.completed,
        "ms until Stable": sum(count.rebalancing_ms),
        "moved": count.moved,
        "moved_between_processes": count.moved_between_processes,
        "ms without an owner": count.unavailable_ms,
        "committed offsets": count.commits,
        "refused commits": count.refused_commits,
        "expired members": count.expired,
        "members at the end": sum(len(each.members) for each in count.groups.values()),
    }


def of_ab(log: Lines) -> Numbers:
    found = measure(log.lines)
    return {
        "rebalances": found.rebalances,
        "moved": found.moved,
        "moved_between_processes": found.moved_between_processes,
        "ms without an owner": round(found.unavailable_partition_s * 1000),
    }


def _rows(log: Lines, name: str) -> list[dict[str, Any]]:
    return [dict(zip(TABLES[name].names(), row, strict=True)) for row in log.tables[name]]


def of_tables(log: Lines) -> Numbers:
    rebalances, epochs = _rows(log, "rebalances"), _rows(log, "epochs")
    both = [*rebalances, *epochs]
    lengths = [row["duration_ms"] for row in rebalances if row["duration_ms"] is not None]
    return {
        "rebalances": len(both),
        "epochs": len(epochs),
        "completed rebalances": len(lengths),
        "ms until Stable": sum(lengths),
        "moved": sum(row["moved"] for row in both),
        "moved_between_processes": sum(row["moved_between_processes"] for row in both),
        "committed offsets": len(log.tables["commits"]),
        "expired members": sum(row["reason"] == "session expired" for row in _rows(log, "members")),
        "members at the end": sum(row["left_seq"] is None for row in _rows(log, "members")),
    }


def of_runs(log: Lines) -> Numbers:
    [run] = _rows(log, "runs")
    return {
        "rebalances": run["rebalances"],
        "completed rebalances": run["completed_rebalances"],
    }


def of_table_metrics(log: Lines) -> Numbers:
    [metrics] = _rows(log, "metrics")
    return {
        "rebalances": metrics["rebalances"],
        "epochs": metrics["epochs"],
        "completed rebalances": metrics["stable"],
        "ms until Stable": metrics["rebalancing_ms"],
        "moved": metrics["moved"],
        "moved_between_processes": metrics["moved_between_processes"],
        "ms without an owner": metrics["unavailable_partition_ms"],
        "ms lost, at least": metrics["lost_at_least_ms"],
        "ms lost, at most": metrics["lost_at_most_ms"],
        "committed offsets": metrics["commits"],
        "refused commits": metrics["refused_commits"],
    }


def of_group_rebalances(log: Lines) -> Numbers:
    timeline = timeline_of(iter(log.lines))
    told = as_plain(timeline, timeline.groups.values())
    views = timeline.groups.values()
    return {
        **_of_rebalances(row for name in timeline.groups for row in rebalances_of(told, name)),
        "members at the end": sum(
            len((view.consumer or view.share or view).members) for view in views
        ),
    }


def of_explain(log: Lines) -> Numbers:
    told = json.loads(explain_json(log))
    return {
        "ms lost, at least": sum(group["lost_at_least_ms"] for group in told["groups"]),
        "ms lost, at most": sum(group["lost_at_most_ms"] for group in told["groups"]),
        **_of_rebalances(row for group in told["groups"] for row in group["rebalances"]),
    }


def _of_rebalances(rows: Iterable[Mapping[str, Any]]) -> Numbers:
    every = list(rows)
    stable = [row for row in every if row["sync_phase_ms"] is not None]
    return {
        "rebalances": len(every),
        "completed rebalances": len(stable),
        "ms until Stable": sum(row["stable_ms"] - row["started_ms"] for row in stable),
    }


def of_verify(log: Lines) -> Numbers:
    """The number of each group for which it does not fail."""
    groups = {line.group or "" for line in log.lines if line.stream == "group"}
    found = 0
    for name in groups:
        verified = Verification.of_log(name, log.lines)
        most = len(log.lines)
        found += next(number for number in range(most) if _holds(verified, number))
    return {"rebalances": found}


def _holds(verified: Verification, number: int) -> bool:
    try:
        verified.rebalances(at_most=number)
    except AssertionError:
        return False
    return True


def of_metrics(log: Lines) -> Numbers:
    counts, lost = Counts(), LostTimes()
    for line in log.lines:
        counts.see(line)
    for text in log.text.splitlines():
        lost.follow(text)
    by_group = lost.by_group(log.lines[-1].at_ms).values()
    return {
        "ms lost, at least": sum(each.least_ms for each in by_group),
        "ms lost, at most": sum(each.most_ms for each in by_group),
        "epochs": counts.values["consumer_group_rebalance_count"],
        "completed rebalances": counts.values["group_completed_rebalance_count"],
        "committed offsets": counts.values["offset_commit_count"],
    }


def of_page(log: Lines) -> Numbers:
    drawn = Picture(log.lines).plain()
    states = [[state for _, _, state in group["states"]] for group in drawn["groups"]]
    prepared = sum(each.count("PreparingRebalance") for each in states)
    found = {
        "completed rebalances": sum(
            pair == ("CompletingRebalance", "Stable") for each in states for pair in pairwise(each)
        ),
        "ms lost, at least": sum(
            group["lost_partition_ms"] - group["silent_partition_ms"] for group in drawn["groups"]
        ),
        "ms lost, at most": sum(group["lost_partition_ms"] for group in drawn["groups"]),
    }
    protocols = {group["protocol"] for group in drawn["groups"]}
    if "share" not in protocols:  # the plain counts of owners are of those that have one at a time
        found["ms without an owner"] = sum(
            group["unowned_partition_ms"] for group in drawn["groups"]
        )
    if protocols == {"classic"}:
        found["rebalances"] = prepared + _ended_at_once(log)
    elif not prepared and protocols != {"share"}:  # whose epochs no output counts
        epochs = [{number for _, _, number in group["numbers"]} for group in drawn["groups"]]
        found["epochs"] = found["rebalances"] = sum(map(len, epochs))
    return found


def _ended_at_once(log: Lines) -> int:
    """Rebalances that end in the millisecond in which they begin, as where the last member expires: a
    picture has no room for them."""
    begun: dict[str, int] = {}
    ended = 0
    for line in log.lines:
        group = line.group or ""
        if line.kind is RebalanceStarted:
            begun[group] = line.at_ms
        elif line.kind in (GenerationStarted, GroupEmptied):
            ended += begun.pop(group, None) == line.at_ms
    return ended


OUTPUTS: Final[dict[str, Callable[[Lines], Numbers]]] = {
    "ab": of_ab,
    "tables": of_tables,
    "table runs": of_runs,
    "table metrics": of_table_metrics,
    "group.rebalances": of_group_rebalances,
    "verify()": of_verify,
    "/metrics": of_metrics,
    "explain": of_explain,
    "page": of_page,
}


def disagreements(log: Lines, planted: Mapping[str, Lines] | None = None) -> list[str]:
    """What outputs say otherwise. `planted`: the log that one output is shown instead."""
    expected, found = recounted(log), []
    for name, numbers in OUTPUTS.items():
        told = numbers((planted or {}).get(name, log))
        found += [
            f"{name}: {value:g} {number}, not {expected[number]:g}"
            for number, value in told.items()
            if value != expected[number]
        ]
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("run", SCENARIOS)
def test_outputs_say_the_same_of_other_seeds(run: str, seed: int) -> None:
    assert disagreements(Lines(log_text(run, seed))) == []


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_output_that_misses_a_line_is_found(output: str) -> None:
    """Each output is shown a log without one line that begins or completes a rebalance."""
    text = log_text("crash_loop")
    missed = '"type":"GenerationStarted"' if output == "/metrics" else '"type":"RebalanceStarted"'
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if missed in line)
    told = disagreements(
        Lines(text), planted={output: Lines("".join(lines[:at] + lines[at + 1 :]))}
    )
    assert told
    assert all(each.startswith(f"{output}: ") for each in told)


def test_every_number_is_told_by_two_outputs() -> None:
    log = Lines(log_text("crash_loop"))
    told = [number for numbers in OUTPUTS.values() for number in numbers(log)]
    alone = {number for number in told if told.count(number) == 1}
    assert alone <= {"refused commits", "expired members"}, "compared with the plain counts only"
