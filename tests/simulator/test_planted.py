"""Bugs that are planted in brokers and clients are found by the first seeds of a swarm."""

from __future__ import annotations

import pytest

from coordinator.simulator.swarm.one_seed import run_text
from tests.simulator.planted import BUGS, SCENARIOS, find

pytestmark = pytest.mark.unmeasured

QUICK = {
    "records_are_skipped": "no_record_lost",
    "committed_offsets_are_not_seen": "duplicates_are_uncommitted",
    "every_third_commit_goes_back": "committed_offsets_grow",
    "two_members_are_given_the_same": "single_owner",
    "generations_stay": "generations_grow",
    "requests_are_answered_twice": "answered_once",
    "commits_are_acknowledged_and_forgotten": "answered_once",
    "commits_are_refused_and_take_place": "answered_once",
    "static_members_come_back_to_nothing": "stable_within",
    "markers_are_written_twice": "read_committed",
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
    "every_third_acknowledgement_is_forgotten": "acknowledgements_are_stored",
    "released_records_stay_away": "released_come_again",
    "moved_partitions_stay_in_their_sessions": "refusals_end",
    "dead_letters_are_written_twice": "dead_letters_complete",
    "decisions_outlive_the_acls": "acls_decide",
}
"""Those that show at once, and a judge that finds each. `python -m tests.simulator.planted` looks
for all of them."""

FOUND_BY = {
    "generations_stay": 5,
    "markers_are_written_twice": 3,
    "commits_take_the_offsets_of_another_group": 3,
    "long_sessions_end_early": 5,
    "rebalance_timeouts_are_doubled": 16,
    "offsets_of_empty_groups_expire_from_their_commit": 5,
    "offsets_expire_half_a_minute_late": 5,
    "sticky_gives_everything_to_one_member": 8,
    "nothing_is_committed_before_a_revocation": 35,
    "locks_are_half_as_long": 2,
    "every_third_acknowledgement_is_forgotten": 2,
    "released_records_stay_away": 2,
    "dead_letters_are_written_twice": 2,
    "decisions_outlive_the_acls": 13,
}
"""The seed that finds each of them, where it is not the first: it is tried before the other seeds."""
_SEEDS = range(1, 41)


@pytest.mark.parametrize("text", dict.fromkeys(SCENARIOS.values()))
def test_without_its_bug_a_scenario_keeps_every_promise(text: str) -> None:
    result = run_text(text, 1)
    assert (result.broken, result.failure) == ((), "")


@pytest.mark.unjudged
@pytest.mark.parametrize("name", QUICK)
def test_a_planted_bug_is_found_by_the_first_seeds(name: str) -> None:
    assert len(BUGS) >= 20
    found = find(name, sorted(_SEEDS, key=lambda seed: seed != FOUND_BY.get(name, 1)))
    assert found is not None
    assert QUICK[name] in found.broken
