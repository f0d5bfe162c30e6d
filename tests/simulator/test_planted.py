"""Bugs that are planted in brokers and clients are found by the first seeds of a swarm."""

from __future__ import annotations

import pytest

from tests.simulator.planted import BUGS, find

QUICK = {
    "records_are_skipped": "no_record_lost",
    "committed_offsets_are_not_seen": "duplicates_are_uncommitted",
    "every_third_commit_goes_back": "committed_offsets_grow",
    "two_members_are_given_the_same": "single_owner",
    "generations_stay": "generations_grow",
    "requests_are_answered_twice": "answered_once",
}
"""Those that show at once, and a judge that finds each. `python -m tests.simulator.planted` looks for all of them."""


@pytest.mark.unjudged
@pytest.mark.parametrize("name", QUICK)
def test_a_planted_bug_is_found_by_the_first_seeds(name: str) -> None:
    assert len(BUGS) >= 20
    found = find(name, range(1, 41))
    assert found is not None
    assert QUICK[name] in found.broken
