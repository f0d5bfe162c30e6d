"""Bugs that are planted in brokers and clients are found, each by its judge, in the first scenarios of a swarm."""

from __future__ import annotations

import pytest

from coordinator.lab.simulator.swarm.one_seed import run_text
from tests.lab.simulator.planted import SCENARIOS, find

pytestmark = pytest.mark.unmeasured

FOUND_BY = {
    "records_are_skipped": "no_record_lost",
    "committed_offsets_are_not_seen": "duplicates_are_uncommitted",
    "every_third_commit_goes_back": "committed_offsets_grow",
    "two_members_are_given_the_same": "single_owner",
    "generations_stay": "generations_grow",
    "requests_are_answered_twice": "answered_once",
    "commits_are_acknowledged_and_forgotten": "answered_once",
    "commits_are_refused_and_take_place": "answered_once",
    "static_members_come_back_to_nothing": "stable_within",
    "static_members_that_leave_for_a_while_are_removed": "static_members_may_return",
    "members_that_expire_bump_no_epoch": "changes_bump_epochs",
    "markers_are_written_twice": "read_committed",
    "who_takes_over_loses_a_marker": "every_partition_is_marked",
    "who_takes_over_marks_the_first_partition_only": "every_partition_is_marked",
    "commits_take_the_offsets_of_another_group": "offsets_never_go_back_unasked",
    "join_phases_are_extended_for_ever": "timeouts_end",
    "acknowledgements_do_not_wait_for_replicas": "acknowledged_records_stay",
    "topics_that_grow_are_not_seen": "stable_within",
    "stale_transactional_commits_are_taken": "no_stale_commit",
    "long_sessions_end_early": "sessions_end",
    "share_sessions_end_early": "sessions_end",
    "share_sessions_end_late": "sessions_end",
    "share_sessions_never_end": "sessions_end",
    "rebalance_timeouts_are_doubled": "timeouts_end",
    "offsets_of_empty_groups_expire_from_their_commit": "offsets_expire_in_time",
    "offsets_expire_half_a_minute_late": "offsets_expire_in_time",
    "heartbeats_of_old_generations_are_accepted": "rebalances_are_heard_of",
    "sticky_gives_everything_to_one_member": "assigned_well",
    "leaders_are_shown_one_member_less": "assigned_well",
    "listeners_are_told_revoked_instead_of_lost": "listeners_are_told",
    "nothing_is_committed_before_a_revocation": "committed_before_revoked",
    "locks_are_half_as_long": "locks_last",
    "locks_end_early_as_if_sessions_were_closed": "locks_last",
    "every_third_acknowledgement_is_forgotten": "acknowledgements_are_stored",
    "released_records_stay_away": "released_come_again",
    "moved_partitions_stay_in_their_sessions": "refusals_end",
    "dead_letters_are_written_twice": "dead_letters_complete",
    "decisions_outlive_the_acls": "acls_decide",
    "sessions_of_the_well_end": "sessions_end",
    "consumer_sessions_of_the_well_end": "sessions_end",
    "share_sessions_of_the_well_end": "sessions_end",
    "sessions_end_early_as_if_members_left": "reasons_hold",
    "sessions_end_early_as_if_by_hand": "sessions_end",
    "sessions_end_early_as_if_nobody_had_synced": "timeouts_end",
    "sessions_end_early_as_if_the_group_were_full": "reasons_hold",
    "consumer_sessions_end_early_as_if_members_left": "reasons_hold",
    "consumer_sessions_end_early_as_if_nothing_was_revoked": "timeouts_end",
    "consumer_sessions_end_early_as_if_nobody_had_joined": "timeouts_end",
    "share_sessions_end_early_as_if_members_left": "reasons_hold",
    "who_has_rejoined_is_removed_as_if_not": "timeouts_end",
    "commits_are_decided_as_abortions": "reasons_hold",
    "transactions_are_aborted_as_if_a_producer_began": "reasons_hold",
    "offsets_of_aborted_transactions_count": "reasons_hold",
    "offsets_go_as_if_somebody_had_deleted_them": "reasons_hold",
    "groups_go_as_if_somebody_had_deleted_them": "reasons_hold",
    "groups_go_as_if_they_had_no_offsets": "reasons_hold",
    "locks_end_early_as_if_by_hand": "locks_last",
    "share_partitions_are_closed_as_if_they_had_moved": "locks_last",
    "share_partitions_are_closed_as_if_nobody_read": "locks_last",
    "states_are_lost_by_snapshots": "done_stays_done",
    "records_are_archived_as_if_they_were_aborted": "archived_for_a_reason",
    "records_are_archived_as_if_they_had_left_the_log": "archived_for_a_reason",
    "dead_letters_are_lost_as_if_there_were_no_topic": "dead_letters_complete",
}
"""Planted bugs, and a judge that finds each. `python -m tests.lab.simulator.planted` looks for every
planted bug, by whichever judge."""

RARE = {
    "generations_stay",
    "markers_are_written_twice",
    "commits_take_the_offsets_of_another_group",
    "long_sessions_end_early",
    "rebalance_timeouts_are_doubled",
    "offsets_of_empty_groups_expire_from_their_commit",
    "offsets_expire_half_a_minute_late",
    "sticky_gives_everything_to_one_member",
    "nothing_is_committed_before_a_revocation",
    "locks_are_half_as_long",
    "every_third_acknowledgement_is_forgotten",
    "released_records_stay_away",
    "dead_letters_are_written_twice",
    "decisions_outlive_the_acls",
}
"""Those that few scenarios of a swarm show: `make fuzz` looks for them."""
ALIKE = {
    "share_sessions_of_the_well_end",
    "sessions_end_early_as_if_the_group_were_full",
    "consumer_sessions_end_early_as_if_nobody_had_joined",
    "share_sessions_end_early_as_if_members_left",
    "groups_go_as_if_they_had_no_offsets",
    "share_partitions_are_closed_as_if_they_had_moved",
    "records_are_archived_as_if_they_had_left_the_log",
}
"""Those of a kind that another one stands for."""
_SEEDS = range(1, 41)


@pytest.mark.parametrize("text", dict.fromkeys(SCENARIOS.values()))
def test_without_its_bug_a_scenario_keeps_every_promise(text: str) -> None:
    result = run_text(text, 1)
    assert (result.broken, result.failure) == ((), "")


def test_another_coordinator_ends_transactions_whose_markers_were_held() -> None:
    result = run_text(SCENARIOS["who_takes_over_loses_a_marker"], 1)
    assert result.reached["sometimes another coordinator ended a transaction"]


@pytest.mark.unjudged
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if name in RARE | ALIKE else [])
        for name in FOUND_BY
    ],
)
def test_a_planted_bug_is_found_by_its_judge(name: str) -> None:
    found = find(name, _SEEDS, FOUND_BY[name])
    assert found is not None
    assert FOUND_BY[name] in found.broken
