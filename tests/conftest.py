"""Shared by all tests. Kept nearly empty: what one room needs stands in that room's own folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("machines are noisy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("machines are noisy")


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def plain_environment() -> dict[str, str]:
    """For a child process that counts its imports: coverage does not start in it and bring its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
