"""Lines as they are kept: the same, with equal texts and names shared."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from coordinator.event_log.reader import read_lines
from coordinator.history import compact as module
from coordinator.history.compact import compact
from tests.shipped import log_text


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Those of a run."""
    return log_text("rolling_deploy_static").splitlines(keepends=True)


def test_a_line_stays_as_it_is_and_shares_its_texts(lines: list[str]) -> None:
    seen: dict[str, str] = {}
    for line in read_lines(lines, "log"):
        kept = compact(line)
        assert type(kept) is dict and kept == line and list(kept) == list(line)
        texts = [*kept, *(value for value in kept.values() if isinstance(value, str))]
        texts += [key for row in kept.get("protocols", ()) for key in row]
        for text in texts:
            assert len(text) > 120 or seen.setdefault(text, text) is text
    assert len(seen) > 50


def test_lines_of_one_type_share_their_names(
    lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as they have few names in all: lines that other tests read may have had more."""
    monkeypatch.setattr(module, "_TYPES", {})
    requests = [line for line in read_lines(lines, "log") if line["type"] == "RequestSeen"]
    kept = [compact(line) for line in requests]
    assert all(sys.getsizeof(each) < sys.getsizeof(dict(each)) for each in kept[-5:])


@pytest.mark.parametrize("name", ["__class__", "__dict__", "_x", ""])
def test_any_name_may_stand_in_a_line(name: str) -> None:
    line: dict[str, Any] = {"seq": 1, "type": "Odd", name: "a", "rows": [{name: 1}]}
    assert compact(line) == line


def test_a_log_of_many_types_and_many_names_is_kept_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_TYPES", {})
    for number in range(600):
        line = {"seq": number, "type": f"Kind{number}"}
        assert compact(line) == line
    assert len(module._TYPES) == 500
    wide = {"type": "Kind1", **{f"field{number}": number for number in range(1000)}}
    assert compact(wide) == wide and list(compact(wide)) == list(wide)
