"""The quick look at a text finds every number that is out of bounds, and does not take hexadecimal
texts for numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator.events import strict_json
from coordinator.events.strict_json import loads

NINES = "9" * 19
TOO_LARGE = (
    "9223372036854775808",
    "-9223372036854775809",
    "9" * 20,
    "1" + "0" * 19,
    "-" + NINES,
    "1e999",
    "1E999",
    "1e+999",
    "-1.5e400",
    "1.25E+0400",
    "1" + "0" * 400 + ".5",
    "9" * 5000,
    "NaN",
    "Infinity",
    "-Infinity",
)
WITHIN = (
    "9223372036854775807",
    "-9223372036854775808",
    "8999999999999999999",
    "1" * 19,
    "1e300",
    "1e-400",
    "0." + "1" * 40,
    "1e0001",
    "0",
    "-0.0",
)
PLACES = (
    "%s",
    '{"a":%s}',
    '{"a": %s }',
    "[%s]",
    "[0,%s]",
    "[0, %s]",
    "[\r%s]",
    '{"a":[{"b":[1,\t%s]}]}',
    '{"a":"' + "0" * 40 + '","b":%s}',
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", TOO_LARGE)
def test_what_is_out_of_bounds_is_refused(number: str, place: str) -> None:
    with pytest.raises(ValueError):
        loads(place % number)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", WITHIN)
def test_what_is_within_them_is_read(number: str, place: str) -> None:
    assert loads(place % number) == json.loads(place % number)


@pytest.mark.parametrize(
    "text",
    ["0" * 64, "ab" + NINES * 3, "1e999", "-1e-999", "12e+123", "\ud800" + NINES, "é" + "9" * 30],
)
def test_a_text_of_digits_is_no_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not even read number by number, which takes several times as long: logs are full of
    such texts."""

    def no(text: str) -> Any:
        raise AssertionError(text)

    monkeypatch.setattr(strict_json, "_strictly", no)
    assert loads(json.dumps({"a": text, "b": [text]}, ensure_ascii=False)) == {
        "a": text,
        "b": [text],
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":1}x',
        '{"a":1}\n{}',
        "{}{}",
        '{"a"}',
        "{'a':1}",
        '{"a":1,}',
        '{"a":"\n"}',
    ],
)
def test_what_is_no_json_is_refused_in_the_words_of_json(text: str) -> None:
    with pytest.raises(ValueError) as theirs:
        json.loads(text)
    with pytest.raises(ValueError) as ours:
        loads(text)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    "text", ['{"a":1}', '{"a":1}\n', '{"a":1}\r\n', ' {"a":1} ', '{"a":1}\n\n', "[1]", '"a"']
)
def test_space_around_it_does_not_matter(text: str) -> None:
    assert loads(text) == json.loads(text)
