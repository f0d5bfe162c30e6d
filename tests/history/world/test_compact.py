"""Lines as they are kept: the same, with equal texts and names shared."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from coordinator.events import Line
from coordinator.events.reader import read_lines
from coordinator.events.wire import RequestSeen
from coordinator.history.world import compact as module
from coordinator.history.world.compact import compact
from tests.shipped import log_text


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Those of a run."""
    return log_text("rolling_deploy_static").splitlines(keepends=True)


def compacted(line: Line) -> Line:
    """An equal line, compacted; the line itself stays."""
    kept = Line.of(line.plain)
    compact(kept)
    return kept


def odd(name: str, **fields: Any) -> Line:
    """A line of a type that this version does not know."""
    envelope = {"seq": 1, "at_ms": 0, "run": "r", "stream": "group", "cause": None}
    return Line.of({**envelope, "type": name, **fields})


def test_a_line_stays_as_it_is_and_shares_its_texts(lines: list[str]) -> None:
    seen: dict[str, str] = {}
    for line in read_lines(lines, "log"):
        kept = compacted(line)
        plain = kept.plain
        assert type(plain) is dict and kept == line and list(plain) == list(line.plain)
        texts = [*plain, *(value for value in plain.values() if isinstance(value, str))]
        texts += [key for row in plain.get("protocols", ()) for key in row]
        for text in texts:
            assert len(text) > 120 or seen.setdefault(text, text) is text
    assert len(seen) > 50


def test_lines_of_one_type_share_their_names(
    lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as they have few names in all: lines that other tests read may have had more."""
    monkeypatch.setattr(module, "_TYPES", {})
    requests = [line for line in read_lines(lines, "log") if line.kind is RequestSeen]
    kept = [compacted(line) for line in requests]
    assert all(sys.getsizeof(each.plain) < sys.getsizeof(dict(each.plain)) for each in kept[-5:])


@pytest.mark.parametrize("name", ["__class__", "__dict__", "_x", ""])
def test_any_name_may_stand_in_a_line(name: str) -> None:
    line = odd("Odd", **{name: "a", "rows": [{name: 1}]})
    assert compacted(line) == line


def test_a_log_of_many_types_and_many_names_is_kept_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_TYPES", {})
    for number in range(600):
        line = odd(f"Kind{number}")
        assert compacted(line) == line
    assert len(module._TYPES) == 500
    wide = odd("Kind1", **{f"field{number}": number for number in range(1000)})
    assert compacted(wide) == wide and list(compacted(wide).plain) == list(wide.plain)
