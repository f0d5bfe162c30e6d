"""Group events as plain dictionaries and back."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.event_log import EventLog
from coordinator.event_log.codec import CodecError, from_plain, shapes, to_plain
from coordinator.groups import events as ev

EVENTS = get_args(ev.Event)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_every_event_comes_back_exactly(kind: type) -> None:
    @settings(max_examples=25, deadline=None, database=None)
    @given(st.from_type(kind))
    def check(event: Any) -> None:
        line = json.loads(json.dumps({"type": kind.__name__, **to_plain(event)}))
        again = from_plain(line)
        assert again == event
        assert type(again) is type(event)

    check()


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_lines_are_written_as_an_encoder_writes_plain_values(kind: type) -> None:
    """Fields are written by functions of their own: to the byte what the JSON encoder makes of
    `to_plain`."""

    @settings(max_examples=25, deadline=None, database=None)
    @given(st.from_type(kind), st.text())
    def check(event: Any, group: str) -> None:
        log = EventLog()
        log.group_event(group, 3, event, 5, None, 1)
        plain = to_plain(event)
        generation = plain.pop("generation", 3)
        places = {
            "group": group,
            "generation": generation,
            "member": plain.pop("member", None),
            "broker": 1,
        }
        line = {
            "seq": 1,
            "at_ms": 5,
            "run": "0",
            "stream": "group",
            "type": kind.__name__,
            "cause": None,
            **{place: value for place, value in places.items() if value is not None},
            "durable": shapes()[kind].durable,
            **plain,
        }
        assert log.lines[-1] == json.dumps(line, separators=(",", ":"))

    check()


def test_durable_are_the_events_that_kafka_writes() -> None:
    """PST-1"""
    assert {shape.type for shape in shapes().values() if shape.durable} == ev.DURABLE


def test_places_move_to_the_envelope_and_bytes_are_hex() -> None:
    event = ev.MemberRejoined("m", 1, 2, (("range", b"\x01\xff"),), True)
    assert to_plain(event) == {
        "member": "m",
        "session_timeout_ms": 1,
        "rebalance_timeout_ms": 2,
        "protocols": [{"name": "range", "metadata": "01ff"}],
        "changed": True,
    }
    assert "member" not in to_plain(ev.OffsetsCommitted("", ()))


def test_fields_of_a_later_version_are_passed_over_and_missing_defaults_are_filled_in() -> None:
    line = {
        "type": "MemberRemoved",
        "member": "m",
        "reason": "left",
        "leader": None,
        "shoe_size": 44,
    }
    assert from_plain(line) == ev.MemberRemoved("m", "left", None, None)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"type": "MemberFlewAway"}, "unknown group event 'MemberFlewAway'"),
        ({"type": "LeaderElected", "member": 3}, 'LeaderElected: "member": 3 is not a string'),
        ({"type": "MemberSynced", "member": "m", "parked": 1}, '"parked": 1 is not true or false'),
        ({"type": "MemberSynced", "member": "m"}, '"parked" is missing'),
        ({"type": "OffsetsRemoved", "reason": "", "partitions": 7}, '"partitions": 7 is no array'),
        ({"type": "OffsetsRemoved", "reason": "", "partitions": [["t", 1]]}, "is no object with"),
        ({"type": "OffsetsCommitted", "offsets": ["x"]}, "CommittedOffset: 'x' is no object"),
        (
            {"type": "OffsetsCommitted", "offsets": [{"topic": "t", "partition": True}]},
            '"offsets": CommittedOffset: "partition": True is not an integer',
        ),
        (
            {
                "type": "MemberRejoined",
                "member": "m",
                "session_timeout_ms": 1,
                "rebalance_timeout_ms": 1,
                "protocols": [{"name": "range", "metadata": "0g"}],
                "changed": False,
            },
            "'0g' is not a string of hex digits",
        ),
    ],
)
def test_what_is_no_event_is_refused_with_its_place(line: dict[str, Any], complaint: str) -> None:
    with pytest.raises(CodecError) as refused:
        from_plain(line)
    assert complaint in str(refused.value)


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False)
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, database=None)
@given(_PLAIN)
def test_plain_values_are_written_as_an_encoder_writes_them(value: Any) -> None:
    assert EventLog.value_text(value) == json.dumps(
        value, separators=(",", ":"), default=lambda found: found.hex()
    )


@settings(max_examples=100, deadline=None, database=None)
@given(
    st.dictionaries(
        st.sampled_from(["topic", "group", "member", "offset", "why", "partition", "count"]),
        st.none() | st.integers() | st.text(),
    )
)
def test_places_come_first_and_those_that_are_none_are_left_out(fields: dict[str, Any]) -> None:
    """The others follow as they are given."""
    log = EventLog()
    log.append("member", "Happened", at_ms=5, **fields)
    line = json.loads(log.lines[-1])
    places = [
        place
        for place in ("group", "member", "topic", "partition")
        if fields.get(place) is not None
    ]
    others = [key for key in fields if key in ("offset", "why", "count")]
    assert list(line)[-len([*places, *others]) or len(line) :] == [*places, *others]
    assert {key: fields[key] for key in (*places, *others)} == {
        key: line[key] for key in (*places, *others)
    }


def test_a_field_of_the_envelope_is_not_an_events_own() -> None:
    with pytest.raises(AssertionError, match="Happened: a field of the envelope"):
        EventLog().append("member", "Happened", at_ms=5, run="another")
