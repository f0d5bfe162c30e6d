"""Stories whose transcripts differ from Kafka's on purpose: docs/divergences.md has the reasons for users. Nothing else may differ."""

from __future__ import annotations

from integration_tests.tools.transcript import Divergence

DIVERGENCES: dict[str, Divergence] = {}
"""By story name."""
