"""Kafka's own tools on three brokers: what they say of the emulator's is what they said of three
real ones.

The record (integration_tests/golden/cluster/tools.txt) is of three plain Java brokers. Skipped
where the tools cannot be run.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from integration_tests.cluster.hosts import emulated_cluster
from integration_tests.cluster.tool_stories import REASSIGN, moves, throttles
from integration_tests.cluster.tools import KEPT, OwnDesk, told
from tools.kafka_jars import NoJavaError


def test_tools_say_the_same_of_three_brokers() -> None:
    try:
        with emulated_cluster() as hosts:
            found = told(hosts)
    except NoJavaError as reason:
        pytest.skip(f"no Java for Kafka's tools: {reason}")
    assert found == KEPT.read_text(encoding="utf-8").splitlines()


class Said(NamedTuple):
    """A command, what it printed, and its exit status."""

    command: str
    lines: list[str]
    status: int


def blocks(transcript: list[str]) -> list[Said]:
    found: list[Said] = []
    for line in transcript:
        if line.startswith("$ "):
            found.append(Said(line, [], 0))
        elif line.startswith("= "):
            found[-1] = found[-1]._replace(status=int(line[2:]))
        elif not line.startswith("! "):
            # which directory a replica is in, and moves between directories, are for Kafka's tool
            # alone
            line = line.replace('"DIRECTORY"', '"any"').removeprefix(
                "None of the specified partition moves are active."
            )
            found[-1].lines.extend([line] if line else [])
    return found


def test_our_own_tool_reassigns_as_kafkas_does() -> None:
    """REASN-7 to REASN-10: `coordinator reassign` in the place of Kafka's tool, which refuses less:
    only what ours takes is compared."""
    try:
        with emulated_cluster() as hosts:
            ours = blocks(told(hosts, OwnDesk, (moves, throttles)))
    except NoJavaError as reason:
        pytest.skip(f"no Java for Kafka's tools: {reason}")
    kafka = blocks(KEPT.read_text(encoding="utf-8").splitlines())[: len(ours)]
    assert [each.command for each in ours] == [each.command for each in kafka]
    pairs = list(zip(ours, kafka, strict=True))
    taken_by_us = [
        mine.command
        for mine, theirs in pairs
        if REASSIGN in mine.command and mine.status == 0 != theirs.status
    ]
    assert taken_by_us == [], "Kafka's tool refuses it"
    taken = [
        (mine, theirs)
        for mine, theirs in pairs
        if REASSIGN not in mine.command or (mine.status != 2 and theirs.status == 0)
    ]
    assert [mine[:2] for mine, _ in taken] == [theirs[:2] for _, theirs in taken]
    assert sum(REASSIGN in mine.command for mine, _ in taken) > 15
