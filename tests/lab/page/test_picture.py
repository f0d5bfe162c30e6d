"""A log folded into a picture: bands, lanes, owners, the sum of what was lost, and what is said of
each step."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from coordinator.lab.page.acting import ActionError
from coordinator.lab.page.engine import picture_of, play, request
from coordinator.lab.simulator.files import catalogue

from .marks import marks

SCENARIO = """
duration = "60s"
[topics]
orders = 6
[links]
delay = "5ms"
[[members]]
name = "app"
count = 3
topics = "orders"
assignor = "range"
start = "0s"
config = { "session.timeout.ms" = 10000, "heartbeat.interval.ms" = 3000 }
[[faults]]
action = "observe"
api = "Heartbeat"
"""


def lines_of(text: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text]


def picture(*actions: dict[str, Any], text: str = SCENARIO) -> dict[str, Any]:
    return picture_of(play(text, "test", 1, (), actions)).plain()


def gaps_ms(lines: list[dict[str, Any]]) -> int:
    """Milliseconds without an owner, from the members' own callbacks alone: the judge beside the
    picture."""
    owner: dict[tuple[str, int], set[str]] = {}
    since: dict[tuple[str, int], int] = {}
    lost = 0

    def gone(key: tuple[str, int], client: str, at_ms: int) -> None:
        if client in owner.get(key, set()):
            owner[key].discard(client)
            if not owner[key]:
                since[key] = at_ms

    for line in lines:
        if line["stream"] != "member":
            continue
        keys = [(row["topic"], row["partition"]) for row in line.get("partitions", ())]
        if line["type"] == "PartitionsAssigned":
            for key in keys:
                owner.setdefault(key, set()).add(line["client"])
                lost += line["at_ms"] - since.pop(key, line["at_ms"])
        elif line["type"] in ("PartitionsRevoked", "PartitionsLost"):
            for key in keys:
                gone(key, line["client"], line["at_ms"])
        elif line["type"] in ("MemberCrashed", "MemberClosed"):
            for key in owner:
                gone(key, line["client"], line["at_ms"])
    return lost + sum(lines[-1]["at_ms"] - begin for begin in since.values())


@pytest.mark.parametrize(
    "name", ["half_open_partition", "long_gc_pause", "one_crash_one_join", "rolling_deploy_dynamic"]
)
def test_what_was_lost_is_the_gaps_in_the_members_own_callbacks(name: str) -> None:
    lines = play(catalogue.text(name), name, 3, ("duration=5m",))
    drawn = picture_of(lines).plain()
    groups = drawn["groups"]
    assert sum(group["unowned_partition_ms"] for group in groups) == gaps_ms(lines_of(lines))


def test_a_member_that_stood_still_counts_as_long_as_it_did() -> None:
    """Everybody stops for one that does not poll: eager members wait from their revocation to their
    assignment."""
    joined = picture(
        {"kind": "stall", "member": "app-2", "at_ms": 19_000, "lasts_ms": 5_000},
        {"kind": "join", "at_ms": 20_000},
    )
    (group,) = joined["groups"]
    stopped = {
        lane["name"]: [row for row in lane["activity"] if row[2] == "stopped"]
        for lane in group["lanes"]
    }
    (span,) = stopped["app-1"]
    assert 19_000 < span[0] < 24_000 < span[1]
    white = [row for row in group["raster"][0]["spans"][1:] if not row[2]]
    assert sum(end - begin for begin, end, _, _ in white) == span[1] - span[0]


def test_what_nobody_works_on_is_lost_with_or_without_an_owner() -> None:
    """A frozen and a stalled member own their partitions and do nothing with them; partitions that
    a generation agreed to read wait for their first owner."""
    for kind in ("freeze", "stall"):
        (group,) = picture({"kind": kind, "member": "app-2", "at_ms": 20_000, "lasts_ms": 4_000})[
            "groups"
        ]
        held = [row for row in group["raster"] if any(span[3] for span in row["spans"])]
        assert len(held) == 2, kind
        assert group["still_partition_ms"] == 4_000 * len(held), kind
        waits = sum(row["spans"][0][1] - row["spans"][0][0] for row in group["raster"])
        began = next(begin for begin, _, state in group["states"] if state.startswith("Completing"))
        assert {row["spans"][0][0] for row in group["raster"]} == {began}
        assert group["unowned_partition_ms"] == 0 < waits
        assert group["lost_partition_ms"] == waits + group["still_partition_ms"], kind


def test_the_band_tells_states_and_generations() -> None:
    (group,) = picture()["groups"]
    assert [state for _, _, state in group["states"]] == [
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
    ]
    assert [number for _, _, number in group["numbers"]] == [0, 1]
    assert group["protocol"] == "classic"
    leader = [lane["name"] for lane in group["lanes"] if lane["leads"]]
    assert len(leader) == 1
    for before, after in pairwise(group["states"]):
        assert before[1] == after[0]


def test_a_deadline_is_over_when_the_phase_is() -> None:
    (group,) = picture()["groups"]
    kinds = [deadline["kind"] for deadline in group["deadlines"]]
    assert kinds == ["join", "join", "sync"]  # the initial delay ran twice, as members came in it
    assert all(deadline["until_ms"] <= deadline["due_ms"] for deadline in group["deadlines"])


def test_a_crash_leaves_the_lane_at_once_and_the_group_a_session_later() -> None:
    (group,) = picture({"kind": "kill", "member": "app-3", "at_ms": 20_000})["groups"]
    lane = next(lane for lane in group["lanes"] if lane["name"] == "app-3")
    assert lane["activity"][-1][1] == 20_000
    removed = [at for at, kind in marks(lane) if kind == "removed"]
    assert len(removed) == 1 and 20_000 + 7_000 <= removed[0] <= 20_000 + 10_000


def test_a_frozen_member_is_drawn_as_believing_after_its_removal() -> None:
    (group,) = picture({"kind": "freeze", "member": "app-3", "at_ms": 20_000, "lasts_ms": 20_000})[
        "groups"
    ]
    lane = next(lane for lane in group["lanes"] if lane["name"] == "app-3")
    assert (20_000, 40_000, "frozen") in lane["activity"]
    (belief,) = lane["belief"]
    assert belief[0] < 30_001 and belief[1] >= 40_000
    assert group["still_partition_ms"] > 0
    two = [row for each in group["raster"] for row in each["spans"] if len(row[2]) == 2]
    assert two, "somebody else got what it believes to own: two believers"


def test_a_member_that_says_nothing_is_inferred() -> None:
    lines = [line for line in play(SCENARIO, "test", 1) if '"stream":"member"' not in line]
    (group,) = picture_of(lines).plain()["groups"]
    assert len(group["lanes"]) == 3 and all(lane["inferred"] for lane in group["lanes"])
    assert all(row["spans"][-1][2] for row in group["raster"])


def test_every_step_is_said_in_a_sentence() -> None:
    drawn = picture(
        {"kind": "kill", "member": "app-1", "at_ms": 20_000}, {"kind": "join", "at_ms": 25_000}
    )
    assert len(drawn["steps"]) == drawn["step_count"] > 50
    said = {step["type"]: step["say"] for step in drawn["steps"]}
    assert all(
        step["say"].endswith((".", ")")) and step["say"][0] != " " for step in drawn["steps"]
    )
    assert "The coordinator assigns nothing; leader" in said["GenerationStarted"]
    assert "killed" in said["MemberCrashed"]
    stored = [dict(step["fields"]) for step in drawn["steps"] if step["type"] == "GenerationStored"]
    assert any("orders" in row.get("· assignment", "") for row in stored)


def test_long_logs_give_their_steps_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = picture()
    monkeypatch.setattr("coordinator.lab.page.picture.MOST_STEPS_AT_ONCE", 10)
    made = picture_of(play(SCENARIO, "test", 1))
    plain = made.plain()
    assert plain["steps"] == [] and len(plain["step_index"]) == plain["step_count"]
    assert made.steps(5, 12) == whole["steps"][5:12]


# -- the engine


def test_a_fork_without_an_action_is_the_same_log() -> None:
    assert play(SCENARIO, "test", 5) == play(SCENARIO, "test", 5, (), ())


@pytest.mark.parametrize(
    "action",
    [
        {"kind": "close", "member": "app-1"},
        {"kind": "kill", "member": "app-1", "down_ms": 2_000},
        {"kind": "freeze", "member": "app-2"},
        {"kind": "stall", "member": "app-2"},
        {"kind": "slow_assignor", "member": "app-1"},
        {"kind": "lose_answer", "member": "app-1"},
        {"kind": "cut", "member": "app-1"},
        {"kind": "join"},
        {"kind": "add_partitions"},
        {"kind": "commit", "member": "app-2"},
    ],
    ids=lambda action: action["kind"],
)
def test_a_fork_has_the_same_past(action: dict[str, Any]) -> None:
    at_ms = 20_000
    plain, forked = (
        play(SCENARIO, "test", 1),
        play(SCENARIO, "test", 1, (), [{**action, "at_ms": at_ms}]),
    )
    before = [line for line in lines_of(plain) if line["at_ms"] < at_ms]
    assert lines_of(forked)[: len(before)] == before
    assert forked != plain


def test_a_twin_of_a_static_member_fences_it() -> None:
    text = SCENARIO.replace('start = "0s"', 'start = "0s"\nstatic = true')
    drawn = picture({"kind": "twin", "member": "app-1", "at_ms": 20_000}, text=text)
    assert any("FENCED_INSTANCE_ID" in step["say"] for step in drawn["steps"])


def test_partitions_are_added_and_found_by_the_members() -> None:
    text = SCENARIO.replace(
        '"heartbeat.interval.ms" = 3000',
        '"heartbeat.interval.ms" = 3000, "metadata.max.age.ms" = 5000',
    )
    (group,) = picture({"kind": "add_partitions", "at_ms": 20_000, "more": 2}, text=text)["groups"]
    assert len(group["raster"]) == 8
    for row in group["raster"][6:]:  # they wait for an owner from the instant they are there
        assert row["spans"][0][::2] == (20_000, ())
        assert row["spans"][1][2] and 20_000 < row["spans"][1][0] < 40_000


def test_the_coordinator_moves_among_brokers() -> None:
    text = (
        SCENARIO
        + '[brokers]\ncount = 2\nconfig = { "offsets.topic.num.partitions" = 1, "default.replication.factor" = 2 }\n'
    )
    drawn = picture({"kind": "move_coordinator", "at_ms": 20_000, "to": 2}, text=text)
    assert {row[2] for row in drawn["groups"][0]["brokers"]} == {1, 2}


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ({"kind": "explode", "at_ms": 1}, "'explode' is no action"),
        ({"kind": "kill", "member": "app-9", "at_ms": 1}, "there is no member 'app-9'"),
        ({"kind": "kill", "member": "app-1", "at_ms": 10**9}, "from 0 to 60000"),
        ({"kind": "kill", "member": "app-1", "at_ms": "soon"}, "from 0 to 60000"),
        ({"kind": "freeze", "member": "app-1", "at_ms": 1, "lasts_ms": 0}, "more than 0"),
        ({"kind": "twin", "member": "app-1", "at_ms": 1}, "app-1 is dynamic"),
        ({"kind": "move_coordinator", "at_ms": 1}, "one broker"),
        ({"kind": "add_partitions", "at_ms": 1, "more": 0}, "from 1 to 100"),
        (
            {"kind": "lose_answer", "member": "app-1", "at_ms": 1, "api": "Heartbeet"},
            "did you mean Heartbeat",
        ),
        ({"kind": "reassign", "at_ms": 1}, "one broker"),
    ],
)
def test_an_action_that_cannot_be_says_what_would_be_right(
    action: dict[str, Any], told: str
) -> None:
    with pytest.raises(ActionError, match=told):
        play(SCENARIO, "test", 1, (), [action])


CLUSTER = SCENARIO + '[brokers]\ncount = 4\nconfig = { "default.replication.factor" = 2 }\n'


def test_a_reassigned_partition_shows_all_replicas_the_original_ones_and_the_target() -> None:
    drawn = picture(
        {"kind": "reassign", "at_ms": 20_000, "partition": 1, "replicas": [1, 2]}, text=CLUSTER
    )
    (moved,) = drawn["replicas"]
    assert (moved["name"], moved["partition"]) == ("orders-1", 1)
    spans = [span for span in moved["spans"] if span[1] > span[0]]
    before, after = spans[0], spans[-1]
    assert before[0] == 0 and before[1] == 20_000 and not before[2]["moving"]
    assert (after[2]["all"], after[2]["leader"], after[2]["moving"]) == (
        (1, 2),
        2,
        False,
    )  # the leader is a target: it stays
    begun = next(step for step in drawn["steps"] if step["type"] == "ReassignmentStarted")
    assert "RAR 1,2" in begun["say"]
    assert drawn["groups"][0]["numbers"] == picture(text=CLUSTER)["groups"][0]["numbers"], (
        "the group notices nothing"
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"partition": 6}, "partition 6: from 0 to 5"),
        ({"replicas": []}, r"replicas \[\]: different brokers from 1 to 4"),
        ({"replicas": [1, 1]}, "different brokers"),
        ({"replicas": [5]}, "from 1 to 4"),
        ({"replicas": ["1"]}, "different brokers"),
        ({"replicas": 3}, "different brokers"),
        ({"partition": True}, "partition True"),
    ],
)
def test_a_reassignment_that_cannot_be_says_what_would_be_right(
    fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(ActionError, match=told):
        play(CLUSTER, "test", 1, (), [{"kind": "reassign", "at_ms": 1, **fields}])


def test_a_partition_moves_by_default_to_a_broker_that_lacks_it() -> None:
    (moved,) = picture({"kind": "reassign", "at_ms": 20_000}, text=CLUSTER)["replicas"]
    before, after = moved["spans"][0][2]["all"], moved["spans"][-1][2]["all"]
    assert before == moved["spans"][-2][2]["original"], (
        "in the order that it had: the preferred leader first"
    )
    assert after[0] not in before and after[1:] == before[1:]


def test_a_member_that_is_gone_commits_nothing() -> None:
    actions = (
        {"kind": "kill", "member": "app-2", "at_ms": 20_000},
        {"kind": "commit", "member": "app-2", "at_ms": 21_000},
    )
    skipped = [step for step in picture(*actions)["steps"] if step["type"] == "FaultSkipped"]
    assert len(skipped) == 1 and "nothing to commit" in skipped[0]["say"]


def test_the_workers_door() -> None:
    played = json.loads(
        request(json.dumps({"op": "play", "scenario": SCENARIO, "seed": 1, "log": True}))
    )["ok"]
    opened = json.loads(request(json.dumps({"op": "open", "text": played["log"]})))["ok"]
    assert opened["picture"] == played["picture"]
    steps = json.loads(request(json.dumps({"op": "steps", "begin": 3, "end": 5})))["ok"]["steps"]
    assert steps == opened["picture"]["steps"][3:5]
    wrong = {"op": "play", "scenario": SCENARIO, "seed": 1, "settings": ["app.sount=3"]}
    assert "app.sount" in json.loads(request(json.dumps(wrong)))["error"]
    assert "not JSON" in json.loads(request(json.dumps({"op": "open", "text": "hello\n"})))["error"]
