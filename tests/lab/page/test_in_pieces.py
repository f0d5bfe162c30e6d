"""What is written piece by piece is the JSON of the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from coordinator.lab.page.in_pieces import Rows, text, whole


def value(rows: Any) -> dict[str, Any]:
    """`rows`: makes an array of some values."""
    return {
        "none": rows([]),
        "one": rows([7]),
        "many": rows(range(10_000)),
        "spans": rows((at, at + 1, 'é"\n') for at in range(5)),
        "objects": rows({"lanes": rows({"at": at, "of": {}} for at in range(3))} for _ in range(2)),
        "else": [{}, [], None, 1.5, "x"],
    }


def test_the_text_is_that_of_all_values() -> None:
    expected = json.dumps(value(list), separators=(",", ":"))
    pieces = [*text(value(Rows))]
    assert "".join(pieces) == expected and len(pieces) > 20
    assert max(map(len, pieces)) < len(expected) / 2, "a long array is not one piece"
    assert json.loads(json.dumps(whole(value(Rows)))) == json.loads(expected)


@pytest.mark.parametrize("plain", [{}, {"a": 1}, [], "x", None])
def test_values_without_rows_are_themselves(plain: object) -> None:
    assert whole(plain) == plain and json.loads("".join(text(plain))) == plain
