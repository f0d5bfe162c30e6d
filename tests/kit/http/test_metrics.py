"""Kafka's counters, from the lines of a log."""

from __future__ import annotations

from coordinator import Emulator
from coordinator.events.groups import OffsetsCommitted, OffsetsPending
from coordinator.kit.http.metrics import Counts, Metrics
from tests.kit.http.sharing import Sharer
from tests.lines import line_from
from tests.shipped import lines_of, log_text


def counted(run: str) -> dict[str, int]:
    counts = Counts()
    for line in lines_of(log_text(run)):
        counts.see(line)
    return dict(counts.values)


def test_a_static_member_that_is_started_again_completes_no_rebalance() -> None:
    """Six static members are replaced in a Stable group: their new generation records complete
    nothing (STA-8)."""
    assert counted("rolling_deploy_static")["group_completed_rebalance_count"] == 1


def test_offsets_of_transactions_are_committed_offsets() -> None:
    lines = lines_of(log_text("exactly_once_pipeline"))
    kinds = (OffsetsCommitted, OffsetsPending)
    offsets = sum(len(line.event.offsets) for line in lines if line.kind in kinds)
    assert counted("exactly_once_pipeline")["offset_commit_count"] == offsets


def test_groups_that_were_completing_when_counting_began_are_known() -> None:
    stored = line_from({"type": "GenerationStored", "group": "g"})
    late, early = Counts(), Counts(["g"])
    for counts in (late, early):
        counts.see(stored)
        counts.see(stored)
    assert late.values["group_completed_rebalance_count"] == 0
    assert early.values["group_completed_rebalance_count"] == 1


def test_share_groups_have_a_protocol_states_and_epochs_of_their_own() -> None:
    with Emulator(remember=1_000, config={"group.share.assignment.interval.ms": 0}) as kafka:
        kafka.create_topic("jobs", 1)
        metrics = Metrics(kafka)
        member = Sharer(kafka.bootstrap_servers, "workers", "worker", "jobs")
        member.join()
        told = metrics.exposition()
        member.leave()
        metrics.close()
    for line in (
        'group_count{protocol="classic"} 0',
        'group_count{protocol="share"} 1',
        'share_group_count{state="stable"} 1',
        "share_group_rebalance_count 2",
    ):
        assert f"kafka_server_group_coordinator_metrics_{line}\n" in told
