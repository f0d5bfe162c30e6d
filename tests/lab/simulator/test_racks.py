"""A rack that goes and comes back: a leader with a rack of its own assigns anew when its metadata are
refreshed, and the log, a judge and `explain` say what has changed in them."""

from __future__ import annotations

from coordinator.events import EventLog
from coordinator.history.explain.output import as_text, timeline_of
from coordinator.history.judges import Judgement
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario, verdicts
from coordinator.members.cluster_view import what_changed

_OF = "the metadata of the group's topics have changed since they were assigned: orders has"
SCENARIO = """
duration = "15m"
[topics]
orders = 6
[brokers]
count = 3
zones = ["a", "b", "c"]
config = { "default.replication.factor" = 3 }
[[members]]
name = "app"
count = 2
topics = "orders"
assignor = "range"
zone = "a"
[[faults]]
verb = "StopBroker"
broker = 3
how = "crash"
at = "4m"
lasts = "3m"
[must]
stable_within = "60s"
"""


def _run(*settings: str) -> tuple[list[str], str]:
    """What the judges find, and the explanation."""
    scenario, log = read_scenario(SCENARIO, "racks.toml", settings), EventLog(seed=1)
    run_scenario(scenario, 1, log)
    found = [
        finding.text
        for verdict in verdicts(scenario, log.read())
        if verdict.judgement is Judgement.BROKEN
        for finding in verdict.findings
    ]
    timeline = timeline_of(log.read())
    return found, "\n".join(as_text(timeline, timeline.groups.values()))


def test_a_leader_says_which_rack_went_and_came() -> None:
    found, explained = _run()
    (text,) = found
    assert f'rejoined with changed metadata, saying "{_OF} replicas in rack c, too")' in text
    assert f'joined again with changed metadata (saying "{_OF} no replica in rack c any more")' in (
        explained
    )
    assert f'(saying "{_OF} replicas in rack c, too")' in explained


def test_metadata_that_are_refreshed_in_time_need_no_excuse() -> None:
    found, explained = _run('members.app.config={"metadata.max.age.ms" = 30000}')
    assert found == []
    assert f"{_OF} replicas in rack c, too" in explained


def test_changes_of_metadata_are_told_topic_by_topic() -> None:
    ab, a, b = frozenset("ab"), frozenset("a"), frozenset("b")
    orders = ("orders", ((0, ab), (1, a)))
    assert what_changed((orders,), (orders,)) == ""
    assert what_changed((), (orders,)) == "orders is there now"
    assert what_changed((orders,), ()) == "orders is gone"
    assert what_changed((orders,), (("orders", ((0, ab),)),)) == "orders has 1 partitions, not 2"
    other = ("orders", ((0, a), (1, ab)))
    assert what_changed((orders,), (other,)) == (
        "2 partitions of orders have replicas in other racks"
    )
    assert what_changed((("orders", ((0, a),)),), (("orders", ((0, b),)),)) == (
        "orders has replicas in rack b, too and has no replica in rack a any more"
    )
    many = tuple((f"t{number}", ()) for number in range(5))
    assert what_changed((), many) == (
        "t0 is there now; t1 is there now; t2 is there now; and 2 more"
    )
