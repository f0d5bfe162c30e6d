"""Wrappings, time stamps, patterns and what nobody understands."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from coordinator import clusters
from coordinator.clusters.lines.stamps import iso, stamp_at, zone_minutes
from coordinator.clusters.lines.wrappings import peel

from .kit import adds, client, java, member, read, rebalance, scala

BARE = scala(
    "10:00:00,000", f"Member {member('a')} in group g has failed, removing it from the group"
)
MODULES = [
    found.name for found in pkgutil.walk_packages(clusters.__path__, f"{clusters.__name__}.")
]
MS = 1_772_359_200_000


@pytest.mark.parametrize(
    ("text", "ms", "offset"),
    [
        ("[2026-03-01 10:00:00,123] INFO", 123, None),
        ("2026-03-01T10:00:00.123Z x", 123, 0),
        ("2026-03-01T12:00:00.123+02:00  INFO", 123, 120),
        ("2026-03-01 12:00:00.123 +0200 x", 123, 120),
        ("2026-03-01T10:00:00.123456789Z x", 123, 0),
        ("01-Mar-2026 10:00:00.123 x", 123, None),
        ("2026/03/01 10:00:00 x", 0, None),
        ("26/03/01 10:00:00 INFO x", 0, None),
        ("2026-03-01 10:00:00 UTC x", 0, 0),
        ("03/01/2026 10:00:00 AM x", 0, None),
        ("Mar 1, 2026, 10:00:00.123 AM x", 123, None),
        ("Mar 1, 2026 @ 10:00:00.123 x", 123, None),
    ],
)
def test_stamps(text: str, ms: int, offset: int | None) -> None:
    found = stamp_at(text)
    assert found is not None
    assert found[0] == (MS + ms, offset)


def test_a_time_that_is_none() -> None:
    assert stamp_at("2026-13-01 10:00:00 x") is None
    assert stamp_at("GET /2026") is None
    assert zone_minutes("+25:00") is None


def test_iso_claims_no_zone_and_no_day_that_the_text_does_not_say() -> None:
    assert iso(MS, None) == "2026-03-01T10:00:00.000"
    assert iso(MS, 0) == "2026-03-01T10:00:00.000Z"
    assert iso(MS, -210) == "2026-03-01T06:30:00.000-03:30"
    assert iso(36_000_000, None) == "T10:00:00.000"
    assert iso(None, None) is None


@pytest.mark.parametrize(
    "line",
    [
        BARE,
        BARE + "\r\n",
        f"\x1b[32m{BARE}\x1b[0m",
        f"> > {BARE}",
        f"[pod/kafka-0/kafka] {BARE}",
        f"kafka-0 {BARE}",
        f"kafka-1  | {BARE}",
        f"2026-03-01T10:00:00.200000000Z stdout F {BARE}",
        json.dumps({"log": BARE + "\n", "stream": "stdout", "time": "2026-03-01T10:00:00.2Z"}),
        json.dumps(
            {"@timestamp": "2026-03-01T10:00:00.000Z", "message": BARE.partition("] INFO ")[2]}
        ),
        json.dumps({"timestamp": MS, "message": BARE.partition("] INFO ")[2]}),
        json.dumps({"textPayload": BARE, "timestamp": "2026-03-01T10:00:00.1Z"}),
        json.dumps({"message": BARE, "timestamp": "2026-03-01T10:00:00.1Z"}) + ",",
        "2026-03-01T10:00:00.2Z "
        + json.dumps({"log": json.dumps({"message": BARE}) + "\n", "stream": "stdout"}),
        f"\tMar 1, 2026 @ 10:00:00.000\t{json.dumps({'msg': BARE})}",
        BARE + " [data-plane-kafka-request-handler-5]",
        f"**{BARE}**",
    ],
)
def test_wrappings_are_peeled(line: str) -> None:
    told = read(line, *rebalance("10:00:01,000", "10:00:02,000", 4, adds("b")))
    (each,) = told.groups["g"].rebalances
    assert each.member == "b"
    assert told.reports["paste"].understood == 3
    stamp = peel(line).stamp
    assert stamp is not None and stamp.ms == MS


def test_two_dialects_in_one_paste_are_told_apart() -> None:
    told = read(
        f"kafka-0 {BARE}",
        f"app-1 {client('10:00:00.500', 'a', '(Re-)joining group')}",
        "app-1 \tat java.lang.Thread.run(Thread.java:833)",
    )
    report = told.reports["paste"]
    assert report.dialect == "kafka-broker-scala + java-client"
    assert (report.lines, report.understood) == (3, 2)


@pytest.mark.parametrize(
    "reason",
    [
        "Adding new member a-1 with group instanceid None",
        "removing member a-1 on heartbeat expiration",
        "removing member a-1 on LeaveGroup",
        "Leader a-1 re-joining group during Stable; client reason: not provided",
        "Updating metadata for member a-1 during Stable; client reason: not provided",
        "Updating metadata for static member a-1 with instance id s-1; client reason: not provided",
        "Removing HashSet(a-1) on pending sync request expiration",
        "explicit `LeaveGroup` request for (a-1) members.",
    ],
)
def test_every_reason_of_a_broker_names_its_member(reason: str) -> None:
    (each,) = read(*rebalance("10:00:00,000", "10:00:01,000", 4, reason)).groups["g"].rebalances
    assert each.cause != "unknown"
    assert each.member_id == "a-1"


def test_the_instance_id_as_both_dialects_print_it() -> None:
    for instance in ("Some(web-1)", "web-1"):
        lines = rebalance("10:00:00,000", "10:00:01,000", 4, adds("x", instance=instance))
        assert read(*lines).groups["g"].rebalances[0].member == "web-1"
    for nobody in ("None", "null"):
        lines = rebalance("10:00:00,000", "10:00:01,000", 4, adds("x", instance=nobody))
        assert read(*lines).groups["g"].rebalances[0].member == "x"


def test_clients_of_python() -> None:
    told = read(
        "INFO:aiokafka.consumer.group_coordinator:Joined group 'g' (generation 3) with member_id "
        + member("aiokafka-0.8"),
        "2026-03-01 10:00:00,000 INFO kafka.coordinator Successfully joined group h <Generation 5 "
        f"(member_id: {member('app')}, protocol: range)>",
    )
    assert [each.generation for each in told.groups["g"].rebalances] == [3]
    assert [each.generation for each in told.groups["h"].rebalances] == [5]


def test_lines_of_java_4_are_another_dialect() -> None:
    told = read(
        java(
            "10:00:00,000",
            "[GroupId g] Member A joins the consumer group using the consumer protocol.",
        )
    )
    assert told.reports["paste"].dialect == "kafka-broker-java"


def test_hostile_lines_are_passed_over_and_counted() -> None:
    told = read("\x00\x01\x02\x1b]0;title\x07", "{" * 10_000, "[" * 10_000, "> " * 10_000, BARE)
    report = told.reports["paste"]
    assert report.lines - report.understood >= 4
    assert report.understood == 1


def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    found: list[tuple[str, re.Pattern[str]]] = []

    def collect(name: str, value: Any) -> None:
        if isinstance(value, re.Pattern):
            found.append((name, value))
        elif isinstance(value, tuple):
            for index, one in enumerate(value):
                collect(f"{name}[{index}]", one)

    for module in MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            collect(f"{module}.{name}", value)
    return found


def test_no_repetition_without_end_stands_in_another_one() -> None:
    def check(items: Any, within: bool, name: str) -> None:
        for kind, value in items:
            if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
                endless = value[1] is _constants.MAXREPEAT
                assert not (endless and within), name
                check(value[2], within or endless, name)
            elif kind is _constants.SUBPATTERN:
                check(value[3], within, name)
            elif kind is _constants.BRANCH:
                for branch in value[1]:
                    check(branch, within, name)

    assert len(_patterns()) > 50
    for name, pattern in _patterns():
        check(_parser.parse(pattern.pattern), False, name)


def _sample(pattern: re.Pattern[str]) -> str:
    """The shortest text that begins as the pattern does, about."""
    out: list[str] = []

    def add(items: Any) -> None:
        for kind, value in items:
            if kind is _constants.LITERAL:
                out.append(chr(value))
            elif kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
                for _ in range(max(value[0], 1)):
                    add(value[2])
            elif kind is _constants.SUBPATTERN:
                add(value[3])
            elif kind is _constants.BRANCH:
                add(value[1][0])
            elif kind is _constants.IN and value[0][0] is _constants.RANGE:
                out.append(chr(value[0][1][0]))
            elif kind is _constants.IN and value[0] == (
                _constants.CATEGORY,
                _constants.CATEGORY_DIGIT,
            ):
                out.append("1")
            elif kind in (_constants.ANY, _constants.IN, _constants.NOT_LITERAL):
                out.append("a")

    add(_parser.parse(pattern.pattern))
    return "".join(out)


def test_a_mebibyte_of_a_patterns_own_beginning_ends() -> None:
    """A pattern that went back and forth would not come back from this."""
    size = 1 << 20
    for _, pattern in _patterns():
        text = _sample(pattern)
        for begin in (text, text[: len(text) // 2 + 1], text[:-2] or "a"):
            pattern.match((begin * (size // len(begin) + 1))[:size])
            pattern.match(begin + "a" * size)
