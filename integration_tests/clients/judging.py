"""Plays a story and judges it by the record of a real broker; one that differs is given two more chances.

Client libraries race with themselves (kafka-python's joins, the rounds of a cooperative rebalance), on any broker and the
more the busier the machine. What differs three times is a difference; how often a story was played is told, not hidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from integration_tests.clients.agents_running import Agents
from integration_tests.clients.compare import Expected, find
from integration_tests.clients.perform import Part
from integration_tests.clients.stage import Transcript, play
from integration_tests.clients.stories import STORIES
from integration_tests.clients.variants import VARIANTS

MOST_PLAYS: Final = 3


class Verdict(NamedTuple):
    """What a story came to."""

    differences: list[str]
    raced: bool
    plays: int
    transcript: Transcript


def judged(part: Part, address: str, agents: Agents, expected: dict[str, Expected], most_plays: int = MOST_PLAYS) -> Verdict:
    """Play until it agrees, `most_plays` times at most."""
    variant = VARIANTS[part[0]]
    verdict = Verdict(["it was never played"], False, 0, {})
    for plays in range(1, most_plays + 1):
        transcript = play(STORIES[part[1]].play, variant, address, agents)
        found = find(expected, transcript, may_race=variant.races)
        verdict = Verdict(found.differences, found.raced, plays, transcript)
        if not found.differences:
            break
    return verdict


def summary(target: str, verdicts: Iterable[Verdict], took_s: float) -> str:
    """A line for people."""
    verdicts = list(verdicts)
    differ, again, raced = sum(bool(v.differences) for v in verdicts), sum(v.plays > 1 for v in verdicts), sum(v.raced for v in verdicts)
    return (
        f"clients on {target}: {len(verdicts)} stories in {took_s:.0f} s, {differ} differ from Kafka's record; "
        f"{again} played again, {raced} agree but for a race of clients"
    )
