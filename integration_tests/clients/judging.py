"""Plays a story once and judges it by the record of a real broker.

A story is played once: what chance may change is no part of the normal form that is compared
(`normal`), and what is left is determined, on a busy machine too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import Expected, find
from integration_tests.clients.perform import Part, played_on
from integration_tests.clients.stage import Transcript


class Verdict(NamedTuple):
    """What a story came to: its differences, whether its rounds were never seen on Kafka, and the
    transcript."""

    differences: list[str]
    rounds: bool
    transcript: Transcript


def judged(part: Part, address: str, agents: Agents, expected: dict[str, Expected]) -> Verdict:
    """Play a part and compare it with what is expected."""
    transcript = played_on(address, agents)(part)
    found = find(expected, transcript)
    return Verdict(found.differences, found.rounds, transcript)


def summary(target: str, verdicts: Iterable[Verdict], took_s: float) -> str:
    """A line for people."""
    verdicts = list(verdicts)
    differ, rounds = sum(bool(v.differences) for v in verdicts), sum(v.rounds for v in verdicts)
    return (
        f"clients on {target}: {len(verdicts)} stories in {took_s:.0f} s, {differ} differ from Kafka's record; "
        f"{rounds} agree in rounds that were not recorded"
    )
