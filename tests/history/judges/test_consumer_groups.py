"""Judges on consumer groups (KIP-848): a run's log keeps every promise, and each planted bug breaks
the one that it is about."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from coordinator.events import EventLog
from coordinator.history.judges import Judgement
from coordinator.history.judges.liveness import FewRebalances, StableWithin
from coordinator.lab.simulator.files.scenario import read_scenario
from coordinator.lab.simulator.run import run_scenario
from tests.history.judges.crafted import judge

Line = dict[str, Any]

SCENARIO = """
duration = "3m"
[topics]
t = 4
[[members]]
name = "app"
count = 2
topics = "t"
protocol = "consumer"
static = true
start = ["0s", "20s"]
config = {"auto.commit.interval.ms" = 2000}
[[churn]]
kind = "restart"
members = "app-1"
at = "60s"
"""


@pytest.fixture(scope="module")
def run() -> list[Line]:
    """Two static members that commit; one goes and comes back under another member id."""
    log = EventLog(seed=1)
    run_scenario(read_scenario(SCENARIO, "judged"), 1, log)
    return list(log.events())


def _broken(lines: list[Line]) -> list[str]:
    return [verdict.judge for verdict in judge(lines) if verdict.judgement is Judgement.BROKEN]


def _all(lines: list[Line], kind: str, **fields: Any) -> list[Line]:
    return [
        line
        for line in lines
        if line["type"] == kind and all(line.get(name) == value for name, value in fields.items())
    ]


def test_a_run_keeps_every_promise(run: list[Line]) -> None:
    assert [str(verdict) for verdict in judge(run) if verdict.judgement is Judgement.BROKEN] == []
    assert (
        _all(run, "ConsumerMemberReplaced")
        and _all(run, "OffsetsCommitted")
        and _all(run, "PartitionsRevoked")
    )


def _given_to_two(lines: list[Line]) -> None:
    """Somebody is given what another has, and has not given up (K8-REC-5)."""
    replaced = _all(lines, "ConsumerMemberReplaced")[0]["seq"]
    last = {
        line["member"]: line
        for line in _all(lines, "ConsumerMemberReconciled")
        if line["held"] and line["seq"] < replaced
    }
    first, second = sorted(last.values(), key=lambda line: int(line["seq"]))
    second["held"] = deepcopy(first["held"])


def _given_while_it_is_revoked(lines: list[Line]) -> None:
    """What is being revoked has its owner still."""
    at = next(
        i
        for i, line in enumerate(lines)
        if line["type"] == "ConsumerMemberReconciled" and line["revoking"]
    )
    early = next(
        line
        for line in lines[at:]
        if line["type"] == "ConsumerMemberReconciled" and line["member"] != lines[at]["member"]
    )
    lines.remove(early)
    early["held"] = deepcopy(lines[at]["revoking"])
    early["revoking"] = []
    lines.insert(at + 1, early)


def _told_early(lines: list[Line]) -> None:
    del lines[
        next(
            i
            for i, line in enumerate(lines)
            if line["type"] == "PartitionsRevoked" and line["partitions"]
        )
    ]


def _a_commit_of_the_future(lines: list[Line]) -> None:
    _requests_of_commits(lines)[-1]["generation"] = 99


def _a_commit_from_before_it_had_it(lines: list[Line]) -> None:
    _requests_of_commits(lines)[-1]["generation"] = 0


def _requests_of_commits(lines: list[Line]) -> list[Line]:
    causes = {line["cause"] for line in _all(lines, "OffsetsCommitted")}
    return [
        line for line in _all(lines, "RequestSeen", api="offset_commit") if line["seq"] in causes
    ]


def _a_commit_of_a_stranger(lines: list[Line]) -> None:
    _all(lines, "OffsetsCommitted")[-1]["member"] = "nobody"


def _anothers_partition(lines: list[Line]) -> None:
    _all(lines, "OffsetsCommitted")[-1]["offsets"][0]["topic"] = "u"


def _group_epoch_goes_back(lines: list[Line]) -> None:
    _all(lines, "GroupEpochBumped")[-1]["group_epoch"] = 1


def _member_epoch_goes_back(lines: list[Line]) -> None:
    first = _all(lines, "ConsumerMemberReconciled")[0]
    assert len(_all(lines, "ConsumerMemberReconciled", member=first["member"])) > 1
    first["member_epoch"] = 50


def _one_identity_of_two(lines: list[Line]) -> None:
    first, second = _all(lines, "ConsumerMemberSubscribed")[:2]
    second["group_instance_id"] = first["group_instance_id"]


@pytest.mark.parametrize(
    ("plant", "judges"),
    [
        (_given_to_two, {"single_owner"}),
        (_given_while_it_is_revoked, {"single_owner"}),
        (_told_early, {"revoked_before_assigned"}),
        (_a_commit_of_the_future, {"no_stale_commit"}),
        (_a_commit_from_before_it_had_it, {"no_stale_commit"}),
        (_a_commit_of_a_stranger, {"no_stale_commit"}),
        (_anothers_partition, {"commits_within_assignment"}),
        (_group_epoch_goes_back, {"generations_grow"}),
        (_member_epoch_goes_back, {"generations_grow"}),
        (_one_identity_of_two, {"static_identity"}),
    ],
)
def test_a_planted_bug_is_found(
    run: list[Line], plant: Callable[[list[Line]], None], judges: set[str]
) -> None:
    lines = deepcopy(run)
    plant(lines)
    assert judges <= set(_broken(lines)), _broken(lines)


def test_a_group_that_does_not_come_to_rest_is_found(run: list[Line]) -> None:
    """K8-REC-7: a member that is behind, or an epoch that is bumped when nothing was done."""
    [kept] = judge(run, [lambda: StableWithin(30_000)])
    assert kept.judgement is Judgement.KEPT, kept
    behind = deepcopy(run)
    _all(behind, "ConsumerMemberReconciled")[-1]["state"] = "unreleased partitions"
    bumped = deepcopy(run)
    bump = deepcopy(_all(bumped, "GroupEpochBumped")[-1])
    bumped[-1:-1] = [{**bump, "at_ms": bumped[-1]["at_ms"], "group_epoch": 70}]
    for lines in (behind, bumped):
        [broken] = judge(lines, [lambda: StableWithin(30_000)])
        assert broken.judgement is Judgement.BROKEN


def test_too_many_assignments_are_found(run: list[Line]) -> None:
    assignments = len(_all(run, "TargetAssigned"))
    kept, broken = judge(
        run, [lambda: FewRebalances(assignments), lambda: FewRebalances(assignments - 1)]
    )
    assert (kept.judgement, broken.judgement) == (Judgement.KEPT, Judgement.BROKEN)


def test_a_topic_that_was_deleted_and_is_made_again_is_another_one() -> None:
    """Who was given a partition of the first, and has not heard, has nothing of the second; within
    one topic nothing changes."""

    def had(seq: int, member: str, epoch: int, topic_id: str) -> Line:
        held = [{"topic": "t", "topic_id": topic_id, "partitions": [0], "epochs": [epoch]}]
        return {
            "seq": seq,
            "at_ms": seq,
            "stream": "group",
            "type": "ConsumerMemberReconciled",
            "cause": None,
            "group": "g",
            "member": member,
            "member_epoch": epoch,
            "previous_member_epoch": epoch - 1,
            "state": "stable",
            "held": held,
            "revoking": [],
        }

    deleted: Line = {
        "seq": 2,
        "at_ms": 2,
        "stream": "cluster",
        "type": "TopicDeleted",
        "cause": None,
        "topic": "t",
        "topic_id": "0a",
    }
    assert _broken([had(1, "m", 1, "0a"), deleted, had(3, "n", 2, "0b")]) == []
    assert _broken([had(1, "m", 1, "0a"), deleted, had(3, "n", 2, "0b"), had(4, "o", 3, "0b")]) == [
        "single_owner"
    ]
    assert _broken([had(1, "m", 1, "0a"), had(3, "n", 2, "0a")]) == ["single_owner"]
