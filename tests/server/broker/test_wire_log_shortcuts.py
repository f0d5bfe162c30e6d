"""Errors and places of lines about requests are found by short ways; here each is held to the long
way that finds them in any message."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator.server.connections import wire_log
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.schema import Request, Response

CODES = st.sampled_from([0, 0, 3, 16, 25, 27, 79, 12_345])
NAMES = st.sampled_from(["", "billing", 'a "name"\u2028', "group-\U0001f600"])


@cache
def _with_errors() -> list[type[Response]]:
    return [each for key in API_KEYS if hasattr(each := response_type(key), "error_code")]


@cache
def _with_places() -> list[type[Request]]:
    return [
        kind
        for key in API_KEYS
        if any(hasattr(kind := request_type(key), name) for name in ("group_id", "member_id"))
        and not wire_log._FIELDS[kind].inner
    ]


@given(st.data(), CODES, st.sampled_from([0, 3]))
def test_the_errors_of_an_answer_are_those_that_its_slices_find(
    data: st.DataObject, code: int, depth: int
) -> None:
    answer: Any = data.draw(st.sampled_from(_with_errors()))()
    answer.error_code = code
    long_way = [each for each in dict.fromkeys(wire_log._errors(answer, depth)) if each]
    assert wire_log._errors_of(answer, depth) == long_way


@given(st.data(), NAMES, NAMES, st.integers(-1, 1 << 31))
def test_the_places_of_a_request_are_those_that_are_found_in_any_message(
    data: st.DataObject, group: str, member: str, generation: int
) -> None:
    kind = data.draw(st.sampled_from(_with_places()))
    message = kind()
    for field, value in (
        ("group_id", group),
        ("member_id", member),
        ("generation_id", generation),
        ("generation_id_or_member_epoch", generation),
    ):
        if hasattr(kind, field):
            setattr(message, field, value)
    long_way = wire_log._places(message)
    assert wire_log._places_of(message) == (
        long_way.get("group"),
        long_way.get("generation"),
        long_way.get("member"),
    )
