"""The fold of a run: rows of every table are as declared, and say what the log says, by other roads
than the fold's own."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from coordinator.events.faults import MemberResumed
from coordinator.events.line import Line
from coordinator.events.reader import read_lines
from coordinator.history.explain.output import as_plain, timeline_of
from coordinator.history.judges import judge
from coordinator.lab.pipeline.schemas import TABLES, documentation
from coordinator.lab.pipeline.without_spark import Tables
from coordinator.lab.simulator.comparing.measures import measure
from tests.lines import whole

from .kit import GOLDEN, SHORT, folded, rows, simulated

PYTHON = {"string": str, "int": int, "bool": bool, "texts": list, "ints": list}


def assert_as_declared(tables: Tables) -> None:
    for name, found in tables.items():
        for row in found:
            assert len(row) == len(TABLES[name].columns), name
            for column, value in zip(TABLES[name].columns, row, strict=True):
                assert (value is None and column.nullable) or type(value) is PYTHON[column.type], (
                    name,
                    column.name,
                    value,
                )


def lines_of(text: str) -> list[Line]:
    return list(read_lines(text.splitlines(keepends=True)))


@pytest.mark.parametrize("name", sorted(SHORT))
def test_a_simulated_run(name: str) -> None:
    text = simulated(name)
    tables, counts = folded(text)
    assert_as_declared(tables)
    lines = lines_of(text)
    assert counts == (len(lines), len(lines), 0, 0, 0, 1)
    assert [row["seq"] for row in rows(tables, "events")] == [line.seq for line in lines]
    (run,) = rows(tables, "runs")
    assert (run["run_id"], run["seed"], run["end_ms"], run["complete"]) == (
        "log#1",
        "1",
        lines[-1].at_ms,
        True,
    )
    measures = measure(lines)
    rebalances = rows(tables, "rebalances")
    assert len(rows(tables, "generations")) == measures.rebalances
    assert run["rebalances"] == len(rebalances)
    verdicts = {row["judge"]: row["judgement"] for row in rows(tables, "verdicts")}
    assert {each.judge: str(each.judgement) for each in judge(lines)} == verdicts


@pytest.mark.parametrize("name", sorted(SHORT))
def test_rebalances_are_those_of_explain(name: str) -> None:
    text = simulated(name)
    tables, _ = folded(text)
    timeline = timeline_of(lines_of(text))
    for group in as_plain(timeline, timeline.groups.values())["groups"]:
        for told, row in zip(
            group["rebalances"], rows(tables, "rebalances", group_id=group["group"]), strict=True
        ):
            for key in (
                "seq",
                "generation",
                "outcome",
                "why",
                "started_ms",
                "join_phase_ms",
                "sync_phase_ms",
                "unowned_partition_ms",
            ):
                assert told[key] == row[key], key
            assert len(told["members"]) == row["members"]
            assert (
                sum(
                    len(numbers)
                    for share in told["assignments"]
                    for numbers in share["added"].values()
                )
                == row["added"]
            )
            if row["duration_ms"] is not None:
                assert row["duration_ms"] == row["join_phase_ms"] + row["sync_phase_ms"]


@pytest.mark.parametrize("name", sorted(SHORT))
def test_intervals_of_ownership_do_not_overlap_in_a_view(name: str) -> None:
    tables, _ = folded(simulated(name))
    for view in ("coordinator", "member"):
        by_partition: dict[Any, list[dict[str, Any]]] = {}
        for row in rows(tables, "ownership", view=view):
            by_partition.setdefault((row["group_id"], row["topic"], row["partition"]), []).append(
                row
            )
        assert len(by_partition) == 12
        for intervals in by_partition.values():
            intervals.sort(key=lambda row: row["from_seq"])
            for row, later in pairwise(intervals):
                assert row["to_seq"] is not None and row["to_seq"] <= later["from_seq"]
                assert row["from_ms"] <= row["to_ms"] <= later["from_ms"]


def test_who_stood_still_has_its_partitions_by_its_own_word_until_it_hears() -> None:
    """Two rows of one partition overlap in view `listener`: the next owner's, and that of a member
    that does not know yet."""
    text = simulated("long_gc_pause")
    tables, _ = folded(text)
    resumed = [line.at_ms for line in lines_of(text) if line.kind is MemberResumed]
    by_partition: dict[Any, list[dict[str, Any]]] = {}
    for row in rows(tables, "ownership", view="listener"):
        by_partition.setdefault((row["topic"], row["partition"]), []).append(row)
    late = [
        (row, later)
        for intervals in by_partition.values()
        for row in intervals
        for later in intervals
        if row["member_id"] != later["member_id"]
        and row["from_ms"] < later["from_ms"] < (row["to_ms"] or 0)
    ]
    assert late, "a zombie"
    for row, later in late:
        assert row["ended_by"] == "PartitionsLost"
        assert any(0 <= row["to_ms"] - at <= 5_000 for at in resumed), "it heard when it went on"
        assert row["to_ms"] - later["from_ms"] > 1_000
    as_told = {
        (row["partition"], row["from_seq"]): row for row in rows(tables, "ownership", view="member")
    }
    for row, later in late:
        assert as_told[row["partition"], row["from_seq"]]["to_ms"] == later["from_ms"]


def test_the_time_without_an_owner_is_the_simulators_measure() -> None:
    """Gaps between the intervals of the members' own word, and what nobody has at the end."""
    text = simulated("rolling_deploy_dynamic")
    tables, _ = folded(text)
    lines = lines_of(text)
    end_ms, gone = lines[-1].at_ms, 0
    by_partition: dict[Any, list[dict[str, Any]]] = {}
    for row in rows(tables, "ownership", view="member"):
        by_partition.setdefault((row["group_id"], row["topic"], row["partition"]), []).append(row)
    for intervals in by_partition.values():
        intervals.sort(key=lambda row: row["from_seq"])
        gone += sum(later["from_ms"] - row["to_ms"] for row, later in pairwise(intervals))
        gone += 0 if intervals[-1]["to_ms"] is None else end_ms - intervals[-1]["to_ms"]
    assert gone / 1000 == pytest.approx(measure(lines).unavailable_partition_s)
    assert gone > 0


def test_requests_have_their_answers() -> None:
    text = simulated("crash_loop")
    tables, _ = folded(text)
    lines = {line["seq"]: line for line in map(json.loads, text.splitlines())}
    found = rows(tables, "requests")
    answers = [
        line for line in lines.values() if line["type"] in ("RequestAnswered", "RequestRefused")
    ]
    assert sum(row["outcome"] != "open" for row in found) == len(answers)
    for row in found:
        if row["answered_seq"] is not None and row["answered_seq"] != row["seq"]:
            assert lines[row["answered_seq"]]["cause"] == row["seq"]
            assert row["answered_ms"] - row["at_ms"] == row["waited_ms"]
    commits = [line for line in lines.values() if line["type"] == "OffsetsCommitted"]
    assert len(rows(tables, "commits")) == sum(len(line["offsets"]) for line in commits)
    assert sum(row["commits"] for row in rows(tables, "members")) == len(commits)


def test_members_come_and_go() -> None:
    tables, _ = folded(simulated("crash_loop"))
    expired = rows(tables, "members", reason="session expired")
    assert expired and all(
        row["client_id"] == "app-4" and row["left_ms"] > row["joined_ms"] for row in expired
    )
    assert len(rows(tables, "members", left_ms=None)) == 4
    assert sum(row["expired"] for row in rows(tables, "rebalances")) == len(expired)


def test_epochs_of_consumer_groups() -> None:
    """The golden log of KIP-848: every bumped epoch is a row; an epoch is settled after its target
    was made."""
    tables, counts = folded((GOLDEN / "consumer_story.jsonl").read_text())
    assert counts.quarantined == 0
    assert_as_declared(tables)
    bumped = [row for row in rows(tables, "events") if row["type"] == "GroupEpochBumped"]
    epochs = rows(tables, "epochs")
    assert sorted(row["seq"] for row in epochs) == [row["seq"] for row in bumped]
    assert any(row["settled_ms"] is not None for row in epochs)
    for row in epochs:
        assert (row["assignor"] is None) or row["assigned_ms"] is not None
        if row["settled_ms"] is not None:
            assert row["started_ms"] <= row["assigned_ms"] <= row["settled_ms"]
    assert {row["protocol"] for row in rows(tables, "members")} == {"classic", "consumer"}


def test_the_golden_story_of_the_classic_protocol() -> None:
    """Transactions included; `long_story` has every type of event but those of consumer groups."""
    tables, counts = folded((GOLDEN / "long_story.jsonl").read_text())
    assert counts.quarantined == 0
    assert_as_declared(tables)
    prepared = [row for row in rows(tables, "events") if row["type"] == "TransactionPrepared"]
    assert len(
        [row for row in rows(tables, "transactions") if row["prepared_seq"] is not None]
    ) == len(prepared)


def line(seq: int, stream: str, kind: str, **fields: Any) -> str:
    of = {"seq": seq, "at_ms": seq * 10, "run": "r", "stream": stream, "type": kind}
    return json.dumps(whole({**of, **fields})) + "\n"


HEADER = line(0, "run", "RunStarted", format=1, product="p", seed=1, epoch_ms=0, config={})


def test_transactions_and_reassignments() -> None:
    moving = {"topic": "t", "partition": 0, "adding": [4], "removing": [1], "reason": "asked"}
    tables, counts = folded(
        HEADER
        + "".join(
            [
                line(
                    1,
                    "transaction",
                    "PartitionsEnlisted",
                    transactional_id="x",
                    partitions=[{"topic": "t", "partition": 0}],
                    started_ms=10,
                ),
                line(2, "cluster", "ReassignmentStarted", **moving),
                line(
                    3,
                    "transaction",
                    "TransactionPrepared",
                    transactional_id="x",
                    committed=True,
                    reason="EndTxn",
                    producer_id=7,
                    producer_epoch=1,
                    started_ms=10,
                ),
                line(
                    4,
                    "transaction",
                    "TransactionCompleted",
                    transactional_id="x",
                    committed=True,
                    producer_id=7,
                    producer_epoch=1,
                ),
                line(
                    5,
                    "cluster",
                    "ReassignmentCompleted",
                    **{**moving, "adding": [], "removing": []},
                ),
                line(6, "cluster", "ReassignmentStarted", **moving),
                line(7, "fault", "PauseMember", client="app-1", group="g"),
                line(
                    8,
                    "transaction",
                    "PartitionsEnlisted",
                    transactional_id="y",
                    partitions=[],
                    started_ms=80,
                ),
            ]
        )
    )
    assert counts.quarantined == 0
    assert_as_declared(tables)
    done, going = rows(tables, "transactions")
    assert (
        done["begun_ms"],
        done["prepared_seq"],
        done["completed_ms"],
        done["partitions"],
        done["committed"],
    ) == (10, 3, 40, 1, True)
    assert (going["transactional_id"], going["completed_ms"], going["committed"]) == (
        "y",
        None,
        None,
    )
    finished, running = rows(tables, "reassignments")
    assert (
        finished["outcome"],
        finished["started_ms"],
        finished["ended_ms"],
        finished["adding"],
    ) == ("completed", 20, 50, [4])
    assert (running["outcome"], running["started_ms"], running["ended_ms"]) == ("running", 60, None)
    (fault,) = rows(tables, "faults")
    assert (fault["type"], fault["client"]) == ("PauseMember", "app-1")


def test_a_judge_finds_a_planted_bug() -> None:
    """Two members are given one partition in a stored generation: table `findings` names the line,
    as the judge itself does."""
    text = simulated("one_crash_one_join")
    broken = []
    for each in text.splitlines():
        event = json.loads(each)
        if event["type"] == "GenerationStored":
            for member in event["members"]:
                member["assignment"] = event["members"][0]["assignment"]
        broken.append(json.dumps(event) + "\n")
    tables, _ = folded("".join(broken))
    verdict = {str(each.judge): each for each in judge(lines_of("".join(broken)))}
    assert str(verdict["single_owner"].judgement) == "broken"
    for name, each in verdict.items():
        assert [(row["seq"], row["text"]) for row in rows(tables, "findings", judge=name)] == [
            (f.seq, f.text) for f in each.findings
        ]


def test_the_documentation_is_what_is_declared(project_root: Path) -> None:
    assert (project_root / "docs" / "tables.md").read_text() == documentation(), (
        "python -m coordinator.lab.pipeline.schemas writes it"
    )


def test_the_causes_of_a_rebalance_end_at_what_was_done_to_who_was_removed() -> None:
    text = simulated("one_crash_one_join")
    tables, _ = folded(text)
    crashed = next(
        line for line in map(json.loads, text.splitlines()) if line["type"] == "MemberCrashed"
    )
    (expired,) = [
        row for row in rows(tables, "rebalances") if row["trigger_reason"] == "session expired"
    ]
    assert expired["causes"][0].split()[1] == "MemberRemoved"
    assert expired["causes"][-1] == f"{crashed['seq']} MemberCrashed {crashed['client']}"


def test_the_first_join_of_a_group_is_counted_apart() -> None:
    tables, _ = folded(simulated("one_crash_one_join"))
    (metrics,) = rows(tables, "metrics")
    initial = [row for row in rows(tables, "rebalances") if row["initial_delay_ms"] is not None]
    later = [row for row in rows(tables, "rebalances") if row["initial_delay_ms"] is None]
    assert len(initial) == metrics["first_joins"] == 1
    assert sum(row["duration_ms"] for row in initial) == metrics["first_join_ms"]
    assert max(row["duration_ms"] or 0 for row in later) == metrics["longest_later_ms"] > 0
