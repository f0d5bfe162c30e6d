"""What the shipped scenarios of churn and of records teach is what happens in them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.lab.simulator.kit import Line, kinds, lines_of


def polled(lines: list[Line], **fields: object) -> list[tuple[str, int, int]]:
    """Partition and offset of each record that was given to an application, in order."""
    return [
        (line["topic"], line["partition"], offset)
        for line in kinds(lines, "RecordsPolled", **fields)
        for first, last in line["ranges"]
        for offset in range(first, last + 1)
    ]


def test_work_that_takes_too_long_is_done_again_by_others() -> None:
    lines = lines_of("slow_records")
    assert len(kinds(lines, "MemberRemoved", reason="left")) > 4
    first = polled(lines).count(("orders", 0, 0))
    assert first > 2
    fewer = lines_of("slow_records", 1, "members.app.config.max.poll.records=10")
    assert not kinds(fewer, "MemberRemoved")
    assert polled(fewer).count(("orders", 0, 0)) == 1


def test_after_a_crash_only_what_was_not_committed_comes_again() -> None:
    lines = lines_of("commit_crash")
    crashes = kinds(lines, "MemberCrashed", client="app-1")
    assert len(crashes) == 2
    commits = [
        line["at_ms"]
        for line in kinds(lines, "OffsetsCommitted")
        if line["member"].startswith("app-1-")
    ]
    assert (
        len([at for at in commits if at <= crashes[0]["at_ms"]]) == 5
    )  # it was killed at its fifth
    again = len(polled(lines)) - len(set(polled(lines)))
    assert (
        0 < again < 100
    )  # 5 s of auto.commit.interval.ms at 8 records a second, twice, and what had been fetched


def test_a_pipeline_counts_each_record_once() -> None:
    lines = lines_of("exactly_once_pipeline")
    orders = sum(
        line["last_offset"] - line["offset"] + 1
        for line in kinds(lines, "RecordsAppended", topic="orders")
    )
    assert len(polled(lines, group="reader")) == len(set(polled(lines, group="reader"))) == orders
    assert len(kinds(lines, "MemberCrashed")) == 2


def test_an_assignor_is_changed_by_two_bounces() -> None:
    lines = lines_of("assignor_switch")
    chosen = [line["protocol_name"] for line in kinds(lines, "GenerationStored")]
    assert chosen == sorted(chosen, reverse=True)  # range, then cooperative-sticky, and never back
    assert set(chosen) == {"range", "cooperative-sticky"}
    assert not [
        line
        for line in kinds(lines, "RequestRefused")
        if "INCONSISTENT_GROUP_PROTOCOL" in line["errors"]
    ]


def test_a_surge_keeps_the_capacity_and_changes_the_names() -> None:
    lines = lines_of("rolling_surge")
    sizes = [
        len(line["members"]) for line in kinds(lines, "GenerationStored") if line["at_ms"] > 60_000
    ]
    assert min(sizes) == 4
    assert max(sizes) == 5
    assert {line["client"] for line in kinds(lines, "MemberStarted")} == {
        f"app-{number}" for number in range(1, 9)
    }


def test_waves_go_up_and_down() -> None:
    sizes = [
        len(line["members"]) for line in kinds(lines_of("autoscaling_waves"), "GenerationStored")
    ]
    assert max(sizes) == 6
    assert sizes[-1] == 2
    assert sum(size == 6 and before < 6 for before, size in pairwise(sizes)) == 3


def test_each_client_speaks_its_own_versions() -> None:
    joins = {
        line["client"]: line["version"]
        for line in kinds(lines_of("mixed_versions"), "RequestSeen", api="join_group")
    }
    assert joins == {"ancient-1": 2, "old-1": 4, "new-1": 9}


def test_one_bounce_takes_a_group_to_the_new_protocol() -> None:
    lines = lines_of("migration_to_consumer")
    assert len(kinds(lines, "ConsumerGroupUpgraded")) == 1
    assert {error for line in kinds(lines, "RequestRefused") for error in line["errors"]} == {
        "MEMBER_ID_REQUIRED",
        "REBALANCE_IN_PROGRESS",
    }
    appended = sum(
        line["last_offset"] - line["offset"] + 1 for line in kinds(lines, "RecordsAppended")
    )
    assert len(set(polled(lines))) == appended
    last_join = max(line["at_ms"] for line in kinds(lines, "RequestSeen", api="join_group"))
    assert (
        last_join < 120_000
    )  # the third member came back at 105 s; nobody joins in the classic way any more


def test_static_members_may_flap() -> None:
    dynamic, static = lines_of("flapping_member"), lines_of("flapping_member_static")
    assert [line["at_ms"] for line in kinds(dynamic, "MemberStarted")] == [
        line["at_ms"] for line in kinds(static, "MemberStarted")
    ]
    assert len(kinds(dynamic, "GenerationStarted")) > 25
    assert len(kinds(static, "GenerationStarted")) == 1


def test_a_rebalance_waits_for_who_vanished_in_it() -> None:
    lines = lines_of("cut_in_join_phase")
    [cut] = kinds(lines, "CutMember")
    begun = [line["at_ms"] for line in kinds(lines, "RebalanceStarted")]
    assert cut["at_ms"] == begun[1]
    stored = next(
        line["at_ms"] for line in kinds(lines, "GenerationStored") if line["at_ms"] > cut["at_ms"]
    )
    assert 25_000 <= stored - cut["at_ms"] <= 31_000  # the session that is left when the cut begins
    [healed] = kinds(lines, "MemberHealed")
    assert 50_000 <= healed["at_ms"] - cut["at_ms"] <= 60_000


@pytest.mark.parametrize("client", ["app-1", "app-2"])
def test_what_is_acknowledged_by_all_survives_a_crash(client: str) -> None:
    lines = lines_of("broker_crash_acks")
    delivered = sum(line["count"] for line in kinds(lines, "RecordsDelivered", failed=None))
    appended = sum(
        line["last_offset"] - line["offset"] + 1 for line in kinds(lines, "RecordsAppended")
    )
    assert not [line for line in kinds(lines, "RecordsDelivered") if line["failed"]]
    assert len(polled(lines)) == len(set(polled(lines))) == delivered == appended
    assert polled(lines, client=client)
