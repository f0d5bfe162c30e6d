"""What the lesson of a shipped scenario says is what happens. That each keeps what it promises is
shown in tests/test_shipped.py."""

from __future__ import annotations

from tests.lab.simulator.kit import Line, kinds, lines_of


def test_a_crash_costs_the_session_timeout() -> None:
    lines = lines_of("one_crash_one_join")
    [crash] = kinds(lines, "MemberCrashed")
    [removed] = kinds(lines, "MemberRemoved")
    assert removed["reason"] == "session expired"
    assert (
        42_000 <= removed["at_ms"] - crash["at_ms"] <= 45_100
    )  # 45 s from its last heartbeat on (HB-7)


def test_static_members_are_deployed_without_a_rebalance_and_dynamic_ones_are_not() -> None:
    static, dynamic = lines_of("rolling_deploy_static"), lines_of("rolling_deploy_dynamic")
    assert len(kinds(static, "MemberReplaced")) == 6
    assert len(kinds(static, "GenerationStarted")) == 1
    assert len(kinds(dynamic, "GenerationStarted")) >= 12


def test_a_slow_consumer_leaves_of_its_own_accord() -> None:
    lines = lines_of("slow_consumer")
    [left] = kinds(lines, "MemberRemoved")
    [stalled] = kinds(lines, "ApplicationStalled")
    assert left["reason"] == "left"
    assert 55_000 <= left["at_ms"] - stalled["at_ms"] <= 65_000  # max.poll.interval.ms (CLI-14)


def test_a_crash_loop_leaves_dead_ids_behind() -> None:
    expired = kinds(lines_of("crash_loop"), "MemberRemoved", reason="session expired")
    assert len(expired) >= 3


def test_a_group_survives_its_coordinator() -> None:
    lines = lines_of("coordinator_crash")
    assert kinds(lines, "GroupLoaded", group="app")
    assert len(kinds(lines, "GenerationStarted")) == 1
    assert len(kinds(lines, "StopBroker")) == len(kinds(lines, "StartBroker")) == 3


def test_a_member_that_is_cut_off_long_enough_is_removed_and_loses_its_partitions() -> None:
    lines = lines_of("half_open_partition")
    healed = [line["at_ms"] for line in kinds(lines, "MemberHealed")]
    lost = [line["at_ms"] for line in kinds(lines, "PartitionsLost")]
    assert len(healed) == 3
    assert not [at for at in lost if at < 300_000]  # the short cut costs nothing
    assert [at for at in lost if healed[1] <= at < healed[1] + 5_000]
    assert kinds(lines, "MemberRemoved", reason="session expired")


def test_a_paused_process_learns_of_its_removal_when_it_goes_on() -> None:
    lines = lines_of("long_gc_pause")
    [resumed] = kinds(lines, "MemberResumed")
    [removed] = kinds(lines, "MemberRemoved")
    assert removed["at_ms"] < resumed["at_ms"]
    assert [
        line
        for line in kinds(lines, "RequestRefused")
        if "UNKNOWN_MEMBER_ID" in line["errors"] and line["at_ms"] >= resumed["at_ms"]
    ]


def test_commits_that_fail_for_a_while_cost_no_rebalance() -> None:
    lines = lines_of("failing_commits")
    assert [
        line
        for line in kinds(lines, "RequestRefused", api="offset_commit")
        if "COORDINATOR_LOAD_IN_PROGRESS" in line["errors"]
    ]
    assert len(kinds(lines, "GenerationStarted")) == 1


def test_a_setting_changes_only_what_it_names() -> None:
    """Chance is keyed: under another assignor the same members come and go at the same instants."""

    def churn(lines: list[Line]) -> list[tuple[int, str]]:
        return [(line["at_ms"], line["client"]) for line in kinds(lines, "MemberStarted")]

    eager, cooperative = (
        lines_of("poisson_churn"),
        lines_of("poisson_churn", 1, "members.app.assignor=cooperative-sticky"),
    )
    assert churn(eager) == churn(cooperative)
    assert kinds(eager, "GenerationStored")[-1]["protocol_name"] == "range"
    assert kinds(cooperative, "GenerationStored")[-1]["protocol_name"] == "cooperative-sticky"
    assert churn(lines_of("poisson_churn", 2)) != churn(eager)
