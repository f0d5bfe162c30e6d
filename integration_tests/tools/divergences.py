"""Stories whose transcripts differ from Kafka's on purpose: docs/divergences.md has the reasons for
users. Nothing else may differ."""

from __future__ import annotations

from integration_tests.tools.transcript import Divergence


def _feature(name: str, highest: int, level: int) -> str:
    return f"Feature: {name}  SupportedMinVersion: 0  SupportedMaxVersion: {highest}  FinalizedVersionLevel: {level}  Epoch: <n>"


DIVERGENCES: dict[str, Divergence] = {
    "cluster.features": Divergence(
        "in force is what is served",
        {
            _feature(name, highest, highest): _feature(name, highest, 0)
            for name, highest in (("streams.version", 1),)
        },
    ),
}
"""By story name."""
