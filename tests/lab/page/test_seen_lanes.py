"""The picture of a group of another cluster: what its logs tell, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coordinator.lab.page.cluster_logs import told

STORIES = Path(__file__).parents[2] / "clusters" / "stories"


def drawn(story: str, *names: str) -> tuple[dict[str, Any], int]:
    paths = [path for path in sorted((STORIES / story).iterdir()) if path.suffix != ".json"]
    files = [
        {"name": path.name, "text": path.read_text()}
        for path in paths
        if not names or path.name in names
    ]
    picture = told(files)["picture"]
    (group,) = picture["groups"]
    return group, picture["end_ms"]


def lanes(group: dict[str, Any]) -> dict[str, list[Any]]:
    return {lane["label"]: lane["activity"] for lane in group["lanes"]}


def test_generations_and_join_phases_are_drawn_and_the_rest_is_not_known() -> None:
    group, end_ms = drawn("join-leave-expire-scala")
    assert group["protocol"] == "classic"
    assert [number for _, _, number in group["numbers"]] == [1, 2, 3, 4, 5]
    assert {state for _, _, state in group["states"]} == {"PreparingRebalance", "not known"}
    assert group["states"][0] == (0, 3001, "PreparingRebalance")
    assert group["states"][-1][1] == end_ms
    assert not group["raster"], "no line tells who owned which partition"


def test_a_lane_begins_and_ends_with_the_member() -> None:
    group, end_ms = drawn("join-leave-expire-scala")
    assert lanes(group) == {
        "orders-1": [(0, end_ms, "unknown")],
        "orders-2": [(7118, 14947, "unknown")],
        "orders-3": [(20558, 33105, "unknown")],
    }
    marks = {lane["label"]: lane["marks"]["kinds"] for lane in group["lanes"]}
    assert marks["orders-2"][-1] == "left"
    assert marks["orders-3"][-1] == "removed"


def test_the_member_for_which_a_rebalance_waited_is_marked() -> None:
    group, _ = drawn("slow-but-in-time-java")
    begin, end, does = lanes(group)["cs-2"][1]
    assert does == "awaited"
    assert end - begin == 16370
    alone, _ = drawn("slow-but-in-time-java", "server.log")
    assert {does for rows in lanes(alone).values() for _, _, does in rows} == {"unknown"}


def test_epochs_have_no_state() -> None:
    group, _ = drawn("kip848-missed-max-poll")
    assert group["protocol"] == "consumer"
    assert {state for _, _, state in group["states"]} == {"not known"}


def test_a_described_state_is_true_at_its_instant_only() -> None:
    group, _ = drawn("describes-stable-rebalancing-empty")
    assert [
        (end - begin, state) for begin, end, state in group["states"] if state != "not known"
    ] == [(1, "rebalancing"), (1, "PreparingRebalance"), (1, "Empty")]


def test_the_verdict_lists_the_rebalances_without_a_cost() -> None:
    group, _ = drawn("join-leave-expire-scala")
    verdict = group["verdict"]
    assert verdict["count"] == 5
    assert [row["number"] for row in verdict["rebalances"]] == [1, 2, 3, 4, 5]
    assert {row["lost_ms"] for row in verdict["rebalances"]} == {None}
    assert verdict["rebalances"][4]["because"] == (
        "the session of orders-3 ended without a heartbeat"
    )


def test_lines_without_a_time_draw_nothing() -> None:
    text = (STORIES / "join-leave-expire-scala" / "server.log").read_text()
    bare = "\n".join(line.partition("] ")[2] for line in text.splitlines())
    picture = told([{"name": "paste", "text": bare}])["picture"]
    assert all(not group["states"] and not group["lanes"] for group in picture["groups"])
