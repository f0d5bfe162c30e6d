"""The questions about a log's costliest rebalance have the answers that the log gives."""

from __future__ import annotations

import json

import pytest

from coordinator.lab.page.engine import picture_of, request
from coordinator.lab.page.incident import incident
from coordinator.lab.page.lessons import load
from coordinator.lab.page.quiz import NothingToAskError, questions


def test_the_sample_is_an_incident_with_one_answer_each() -> None:
    """A deployment restarts billing-4 while billing-3 does not poll: an eager group waits for it."""
    json.loads(request(json.dumps({"op": "open", "text": incident()})))
    asked = json.loads(request(json.dumps({"op": "quiz", "group": "billing"})))["ok"]
    right = [each["options"][each["right"]] for each in asked["questions"]]
    assert right[0].startswith("the one to generation 4")
    assert "billing-4" in right[1] and "left" in right[1]
    assert right[2].startswith("billing-3")
    assert right[3].startswith("smaller batches")
    assert all(
        3 <= len(each["options"]) == len(set(each["options"])) for each in asked["questions"]
    )
    assert "lasted 18 s" in asked["questions"][2]["says"]


@pytest.mark.parametrize("slug", ["04_slowest_decides", "08_leader_leaves", "10_static_restart"])
def test_any_log_with_rebalances_can_be_asked_about(slug: str) -> None:
    for each in questions(picture_of(load(slug).lines).fold, "app"):
        assert each["says"] and 0 <= each["right"] < len(each["options"])


def test_a_log_without_a_costly_rebalance_says_so() -> None:
    fold = picture_of(load("13_no_barrier").lines).fold
    for group in ("app", "nobody"):
        with pytest.raises(NothingToAskError, match="nothing to ask"):
            questions(fold, group)
