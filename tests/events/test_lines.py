"""Events of every type as lines of a log and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.events import EventLog, Line, LogError
from coordinator.events import groups as ev
from coordinator.events.cluster import BrokerRegistered, TopicCreated
from coordinator.events.line import line_of
from coordinator.events.reader import read_lines
from coordinator.events.run import RunStarted
from coordinator.events.values import value_text
from coordinator.events.vocabulary import TYPES, EventType, type_of

TEXTS = st.dictionaries(st.text(), st.text())
OF_CLASS: dict[type, st.SearchStrategy[Any]] = {
    BrokerRegistered: st.builds(
        BrokerRegistered,
        endpoints=st.dictionaries(
            st.text(), st.tuples(st.text(), st.integers(0, 65535)), max_size=3
        ),
    ),
    TopicCreated: st.builds(TopicCreated, configs=TEXTS),
}
"""Classes with mappings, which Hypothesis draws as odd classes of mappings otherwise."""
LOGGED = [of for of in TYPES.values() if of.kind is not RunStarted]


def events_of(of: EventType) -> st.SearchStrategy[Any]:
    return OF_CLASS[of.kind] if of.kind in OF_CLASS else st.from_type(of.kind)


def read_back(line: Line) -> Line:
    """The line that a reader makes of another one's text."""
    return Line.of(json.loads(line.text))


@pytest.mark.parametrize("of", LOGGED, ids=lambda of: f"{of.stream}-{of.name}")
def test_every_event_comes_back_exactly(of: EventType) -> None:
    @settings(max_examples=25, deadline=None, database=None)
    @given(events_of(of))
    def check(event: Any) -> None:
        line = line_of(event, seq=7, group="g", generation=3)
        again = read_back(line)
        assert again.event == event
        assert type(again.event) is type(event)
        assert again.type is type_of(event)
        assert again == line
        assert again.text == line.text
        assert again.extra == {}

    check()


@pytest.mark.parametrize("of", LOGGED, ids=lambda of: f"{of.stream}-{of.name}")
def test_places_of_a_line_are_known_before_its_text(of: EventType) -> None:
    """A reader of the text and who hears the line when it is written see the same places."""

    @settings(max_examples=10, deadline=None, database=None)
    @given(events_of(of))
    def check(event: Any) -> None:
        line = line_of(event, group="g", generation=3, member="m", broker=1, topic="t")
        again = read_back(line)
        for place in ("group", "generation", "member", "broker", "topic", "partition"):
            assert getattr(again, place) == getattr(line, place), place

    check()


def test_durable_are_the_events_that_kafka_writes() -> None:
    """PST-1"""
    assert {of.kind for of in TYPES.values() if of.stream == "group" and of.durable} == ev.DURABLE


def test_a_line_begins_with_its_envelope_and_places_and_has_bytes_in_hex() -> None:
    event = ev.MemberRejoined("m", 1, 2, (("range", b"\x01\xff"),), True)
    line = line_of(event, seq=4, at_ms=5, run="r", cause=3, group="g", generation=2)
    assert line.text == (
        '{"seq":4,"at_ms":5,"run":"r","stream":"group","type":"MemberRejoined","cause":3,'
        '"group":"g","generation":2,"member":"m","durable":false,"session_timeout_ms":1,'
        '"rebalance_timeout_ms":2,"protocols":[{"name":"range","metadata":"01ff"}],"changed":true}'
    )


def test_a_member_that_nobody_is_stands_in_no_line() -> None:
    assert "member" not in line_of(ev.OffsetsCommitted("", ())).plain


def group_line(name: str, **fields: Any) -> Line:
    envelope = {"seq": 2, "at_ms": 0, "run": "r", "stream": "group", "cause": None}
    header = (
        '{"seq":0,"at_ms":0,"run":"r","stream":"run","type":"RunStarted","cause":null,"format":1}'
    )
    text = json.dumps({**envelope, "type": name, **fields})
    return list(read_lines([header + "\n", text + "\n"]))[1]


def test_fields_of_a_later_version_are_kept_aside_and_missing_defaults_are_filled_in() -> None:
    line = group_line("MemberRemoved", member="m", reason="left", leader=None, shoe_size=44)
    assert line.event == ev.MemberRemoved("m", "left", None, None)
    assert line.extra == {"shoe_size": 44}


def test_a_type_of_a_later_version_is_read_with_its_fields() -> None:
    line = group_line("MemberFlewAway", member="m", wings=2)
    assert (line.name, line.stream, line.member) == ("MemberFlewAway", "group", "m")
    assert line.extra == {"wings": 2}
    assert line.event == (line.stream, line.name)


@pytest.mark.parametrize(
    ("name", "fields", "complaint"),
    [
        ("MemberSynced", {"member": "m"}, '"parked" is missing'),
        (
            "OffsetsRemoved",
            {"reason": "", "partitions": 7},
            '"partitions": 7 where an array of objects should be',
        ),
        (
            "OffsetsRemoved",
            {"reason": "", "partitions": [["t", 1]]},
            "an array of 2 is not an object",
        ),
        ("OffsetsCommitted", {"offsets": ["x"]}, "'x' is not an object"),
        (
            "OffsetsCommitted",
            {"offsets": [{"topic": "t", "partition": True}]},
            '"offsets": True is not an integer',
        ),
        (
            "MemberRejoined",
            {
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
def test_what_is_no_event_is_refused_with_its_place(
    name: str, fields: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(LogError) as refused:
        _ = group_line(name, **fields).event
    assert str(refused.value).startswith("log, line 2: ")
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
    assert value_text(value) == json.dumps(
        value, separators=(",", ":"), default=lambda found: found.hex()
    )


def test_who_hears_a_line_when_it_is_written_gets_what_a_reader_gets() -> None:
    log, heard = EventLog(), []
    log.heard = heard.append
    log.group_event("g", 0, ev.GroupCreated("join"), 5, None, 1)
    log.append(ev.LeaderElected("m"), at_ms=6, group="g", generation=1)
    assert heard == list(log.read())[1:]
    assert [line.event for line in heard] == [ev.GroupCreated("join"), ev.LeaderElected("m")]
