"""A rolling upgrade: what three real brokers did (integration_tests/golden/upgrade) is what the
emulator's three do.

SEVERAL_BROKERS=kafka tells the story of plain Java brokers of both releases instead, which shows
whether the record is stale.
"""

from __future__ import annotations

import os

import pytest

from integration_tests.upgrade.hosts import emulated_hosts, real_hosts
from integration_tests.upgrade.record import HOME, UPGRADES, load, place
from integration_tests.upgrade.story import told

WHO = os.environ.get("SEVERAL_BROKERS", "") or "emulator"
KINDS = {"emulator": emulated_hosts, "kafka": real_hosts}


@pytest.mark.parametrize(("old", "new"), UPGRADES)
def test_an_upgrade_goes_as_kafkas_did(old: str, new: str) -> None:
    """UPG-1 to UPG-4."""
    if WHO not in KINDS:
        pytest.fail(f"SEVERAL_BROKERS={WHO}: give one of {', '.join(KINDS)}", pytrace=False)
    with KINDS[WHO](old) as hosts:
        assert told(hosts, old, new) == load(old, new)


def test_every_record_is_of_an_upgrade_that_is_played() -> None:
    assert {place(old, new) for old, new in UPGRADES} == set(HOME.iterdir())
