"""Recorded logs of real brokers and clients: each generation's cause is right, nobody is accused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.clusters.diagnosis import Diagnosis, diagnose
from coordinator.clusters.lines.stamps import iso

STORIES = Path(__file__).with_name("stories")


def told(story: str, *files: str) -> Diagnosis:
    place = STORIES / story
    paths = [place / file for file in files] or [
        path for path in sorted(place.iterdir()) if path.name != "expected.json"
    ]
    return diagnose(map(str, paths))


def expected(story: str) -> dict[str, Any]:
    groups: dict[str, Any] = json.loads((STORIES / story / "expected.json").read_text())["groups"]
    return groups


@pytest.mark.parametrize("story", sorted(path.name for path in STORIES.iterdir()))
def test_every_generation_has_its_cause(story: str) -> None:
    found = told(story)
    for group, right in expected(story).items():
        assert found.groups[group].protocol == right["protocol"]
        rebalances = found.groups[group].rebalances
        assert [each.generation for each in rebalances] == [
            each["generation"] for each in right["generations"]
        ]
        for each, truth in zip(rebalances, right["generations"], strict=True):
            assert each.cause in (truth["cause"], *truth.get("also", []))
            assert each.member in (truth["member"], truth["member_id"])
            assert str(iso(each.at, 0))[:19] == truth["at"][:19]
            assert (
                bool(each.returns) == truth.get("returns", False)
                or each.returns is None
                or (each.cause == "static-restart")
            )
            assert each.evidence


@pytest.mark.parametrize("story", sorted(path.name for path in STORIES.iterdir()))
def test_nobody_else_is_accused(story: str) -> None:
    for group, right in expected(story).items():
        findings = told(story).groups[group].findings
        assert {finding.member for finding in findings} == {right["worst_member"]} - {None}
        assert {finding.setting for finding in findings} - {None} == {right["setting"]} - {None}


def test_what_a_client_alone_cannot_know_is_unknown() -> None:
    """The leader of librdkafka lists the members: who came is known, why one is gone is not."""
    story = told("join-leave-expire-scala", "orders-1.log").groups["orders"]
    assert [each.cause for each in story.rebalances] == [
        "first-join",
        "joined",
        "unknown",
        "joined",
        "unknown",
    ]
    assert [each.member for each in story.rebalances if each.cause == "joined"] == [
        "orders-2",
        "orders-3",
    ]
    assert not story.findings
    assert any("orders-3 left or fell silent" in sentence for sentence in story.not_known)


def test_a_client_that_did_not_poll_knows_it() -> None:
    story = told("missed-max-poll-java", "inv-app-1.log").groups["invoices"]
    assert [(each.generation, each.cause) for each in story.rebalances] == [
        (1, "first-join"),
        (3, "joined"),
    ]
    assert story.rebalances[0].member is None, "this client does not know who was first"
    finding = story.findings[0]
    assert [each.id for each in story.findings] == ["max-poll-exceeded", "commits-refused"]
    assert "it is 10000 ms here" in finding.sentence
    assert any("generation 2" in sentence for sentence in story.not_known)


def test_describes_are_states_and_blame_nobody() -> None:
    story = told("describes-stable-rebalancing-empty").groups["warehouse"]
    assert [state.described.state for state in story.states] == [
        None,
        "rebalancing",
        "PreparingRebalance",
        "Empty",
    ]
    assert story.states[2].described.members == 3
    assert story.states[3].described.lag == 15
    assert not story.rebalances and not story.findings
    assert any("left or their sessions ended" in sentence for sentence in story.not_known)
