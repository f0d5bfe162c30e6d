"""A planted fold is found, none stands outside of `history`, and each reason for what is none is
still needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.folds import folds, kind_of, main

FOLD = """
class Owners:
    def __init__(self):
        self.owners = {}

    @on(GenerationStored)
    def _stored(self, line, event):
        self.owners[line.group] = event.members

    @on(GroupEmptied)
    def _emptied(self, line, event):
        self.owners.pop(line.group)
"""
NO_STATE = """
def said(line):
    return line.kind in (GenerationStored, GroupEmptied)
"""


def test_a_planted_fold_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(FOLD + NO_STATE)
    assert list(folds(planted)) == [("Owners", {"GenerationStored", "GroupEmptied"})]
    assert kind_of(planted, "Owners") == "elsewhere"
    assert kind_of(Path("coordinator/history/world/planted.py"), "Owners") == "history"


def test_no_fold_stands_elsewhere_and_each_reason_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert main([]) == 0
    assert "no fold, writes the lines" in capsys.readouterr().out
