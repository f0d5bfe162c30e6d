"""Configuration values as Java reads texts. The answers of tests/vectors/config_texts.jsonl are a real
Kafka 4.4.0's to IncrementalAlterConfigs, each to a value that was only checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.server.settings.definitions import parse_whole, trim
from coordinator.server.settings.group_configs import duration_ms
from tests.server.broker.admin import Admin
from tests.server.broker.test_configs import GROUP, METRICS, SET, TOPIC, change

VECTORS = Path(__file__).parents[2] / "vectors" / "config_texts.jsonl"
RECORDED = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def test_values_are_taken_and_refused_as_by_kafka() -> None:
    admin = Admin("t:1")
    assert RECORDED
    for one in RECORDED:
        asked = (one["name"], SET, one["value"])
        told = change(admin, one["kind"], one["resource"], asked, validate_only=True)
        assert told == (one["code"], one["message"]), one


@pytest.mark.parametrize("digits", ["9", "0", "\u0669", "1_", "+", "٣"])
def test_long_numbers_are_read_in_linear_time(digits: str) -> None:
    assert parse_whole(digits * 100_000) == (0 if digits == "0" else None)


def test_numbers_of_other_scripts() -> None:
    assert parse_whole("\uff11\uff12") == 12
    assert parse_whole("-\u0663\u0660") == -30
    assert parse_whole("\U0001d7d9") is None  # two halves, of which neither is a digit
    assert parse_whole("\u00b2") is None
    assert trim("\x00 5\x1f\t") == "5"
    assert trim("\u00a05\u2003") == "\u00a05\u2003"


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("by_duration:PT1S", 1_000),
        ("by_duration:p1dt2h3m4.5s", 93_784_500),
        ("by_duration:PT1,0015S", 1_001),
        ("by_duration:P1DT-1H", 82_800_000),
        ("by_duration:-PT-1S", 1_000),
        ("by_duration:PT0S", 0),
        ("by_duration:PT-0.5S", None),
        ("by_duration:PT9223372036854775807S", 9_223_372_036_854_775_807_000),
        ("by_duration:PT9223372036854775808S", None),
        ("by_duration:PT" + "9" * 10_000 + "S", None),
        ("by_duration:P", None),
        ("by_duration:PT", None),
        ("by_duration:P1DT", None),
        ("BY_DURATION:PT1S", None),
        ("earliest", None),
    ],
)
def test_durations(text: str, ms: int | None) -> None:
    assert duration_ms(text) == ms


def test_what_is_stored_is_read_as_it_was_checked() -> None:
    """Settings of a group keep the texts that were given."""
    admin = Admin()
    settings = admin.broker.services.shares.settings
    assert (
        change(admin, GROUP, "g", ("share.record.lock.duration.ms", SET, "\x00\uff12\uff10000"))[0]
        == 0
    )
    assert settings("g").lock_duration_ms == 20_000
    assert (
        change(admin, GROUP, "g", ("share.auto.offset.reset", SET, "\x1fby_duration:PT1S "))[0] == 0
    )
    assert settings("g").auto_offset_reset == "by_duration:PT1S"


def test_the_pattern_of_a_selector_is_not_judged() -> None:
    admin = Admin()
    for taken in (
        "client_id=[a-z&&[^b]]++",
        "client_id=\\Q(\\E",
        "client_id=a==",
        "client_id=\\p{javaDigit}",
    ):
        assert change(admin, METRICS, "m", ("match", SET, taken)) == (0, None)
    assert change(admin, TOPIC, "nowhere", ("retention.ms", SET, "5"))[0] == 3
