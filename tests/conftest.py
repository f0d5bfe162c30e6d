"""Shared by all tests. Kept nearly empty: what one room needs stands in that room's own folder."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent
