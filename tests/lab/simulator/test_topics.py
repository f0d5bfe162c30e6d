"""Topics that are made, grow and are deleted in the midst of a scenario."""

from __future__ import annotations

from typing import Any

from coordinator.events import EventLog
from coordinator.events.line import lines_of as typed
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts

BASE = """
duration = "5m"
[topics]
orders = 4
payments = 2
[brokers]
count = 3
config = { "auto.create.topics.enable" = false }
[[members]]
name = "app"
count = 3
topics = ["orders", "payments", "returns"]
assignor = "cooperative-sticky"
consumes = true
config = { "metadata.max.age.ms" = 20000, "enable.auto.commit" = false }
commit = "none"
[[producers]]
name = "shop"
topics = ["orders", "payments"]
rate = 2
[[faults]]
verb = "CreateTopic"
topic = "returns"
partitions = 3
replication = 3
at = "1m"
"""


def run(text: str) -> list[dict[str, Any]]:
    scenario, log = read_scenario(BASE + text, "mine.toml"), EventLog(seed=1)
    run_scenario(scenario, 1, log)
    lines = list(log.events())
    assert [
        str(each)
        for each in verdicts(scenario, typed(lines))
        if each.judgement is not Judgement.KEPT
    ] == []
    return lines


def held(lines: list[dict[str, Any]], topic: str) -> set[int]:
    """The partitions of a topic that members hold at the end."""
    owned: dict[int, str] = {}
    for line in lines:
        if line["type"] in ("PartitionsAssigned", "PartitionsRevoked", "PartitionsLost"):
            for row in line["partitions"]:
                if row["topic"] != topic:
                    continue
                if line["type"] == "PartitionsAssigned":
                    owned[row["partition"]] = line["client"]
                else:
                    owned.pop(row["partition"], None)
    return set(owned)


def test_a_topic_that_is_made_later_is_assigned() -> None:
    """CLI-19: its leader sees it at its next look at the metadata, and assigns anew."""
    lines = run("")
    assert held(lines, "returns") == {0, 1, 2}
    made = next(line for line in lines if line["type"] == "CreateTopic")
    assert (
        made["stream"],
        made["at_ms"],
        made["topic"],
        made["partitions"],
        made["replication"],
    ) == ("fault", 60_000, "returns", 3, 3)
    assigned = [
        line["at_ms"]
        for line in lines
        if line["type"] == "GenerationStored" and line["at_ms"] > 60_000
    ]
    assert assigned[0] <= 60_000 + 20_000 + 5_000


def test_partitions_that_are_added_are_assigned() -> None:
    lines = run(
        '[[faults]]\nverb = "CreatePartitions"\ntopic = "orders"\npartitions = 9\nat = "2m"\n'
    )
    assert held(lines, "orders") == set(range(9))


def test_a_topic_that_is_deleted_and_made_again_is_another_one() -> None:
    """What was acknowledged in the first is gone with it: no judge minds that its offsets are
    written anew."""
    lines = run('[[faults]]\nverb = "DeleteTopic"\ntopic = "payments"\nat = "2m"\nlasts = "30s"\n')
    of_it = [
        line
        for line in lines
        if line.get("topic") == "payments" and line["type"] == "RecordsAppended"
    ]
    assert {(False, 0), (True, 0)} <= {(line["at_ms"] > 120_000, line["offset"]) for line in of_it}
    made = [
        line for line in lines if line["type"] == "TopicCreated" and line["topic"] == "payments"
    ]
    assert [len(line["replicas"]) for line in made] == [2, 2]
    assert held(lines, "payments") == {0, 1}
