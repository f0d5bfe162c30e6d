"""The stored logs and what is made of them are as stored, and two checkouts are compared fairly (see
`tests/frozen`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frozen.against import compare
from tests.frozen.outputs import Lines
from tests.frozen.stored import (
    KEPT,
    LOGS,
    difference,
    made_log,
    made_outputs,
    names,
    simulated_names,
    stored_log,
    stored_outputs,
)

pytestmark = pytest.mark.unmeasured

_SHOWN = 40
_THIS = Path(__file__).parents[2]


def told(name: str, stored: str, made: str) -> str:
    """Return how to store a difference, and its first lines."""
    rows = difference(stored, made)[:_SHOWN]
    return "\n".join([f"if this is meant: python -m tests.frozen {name}", *rows])


@pytest.mark.parametrize("name", simulated_names())
def test_logs_are_as_stored(name: str) -> None:
    stored, made = stored_log(name), made_log(name)
    assert made == stored, told(name, stored, made)


@pytest.mark.parametrize("name", names())
def test_outputs_are_as_stored(name: str) -> None:
    stored, made = stored_outputs(name), made_outputs(name, Lines(stored_log(name)))
    assert made == stored, told(name, stored, made)


def test_nothing_is_stored_that_nobody_compares() -> None:
    assert {path.name for path in LOGS.iterdir()} == {f"{name}.jsonl" for name in names()}
    assert {path.name for path in KEPT.iterdir()} == {f"{name}.txt" for name in names()}


def test_a_checkout_is_the_same_as_itself_unless_it_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "damaged.jsonl").write_text("no log\n")
    assert compare(_THIS, ["vector-share*", "damaged"], 40, tmp_path) == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "vector-share_story: same"
    assert "Traceback (most recent call last):" in rows
    assert rows[-2:] == ["damaged: reading.failed", "1 of 2 logs differ"]


def other_checkout(path: Path, names: str, outputs: str) -> Path:
    """Write a checkout that has nothing but what is needed of one, with outputs as stated."""
    frozen = path / "tests" / "frozen"
    frozen.mkdir(parents=True)
    (path / "coordinator.py").touch()
    (frozen / "__init__.py").touch()
    (frozen / "making.py").write_text(f"def makers():\n    return {names}\n")
    (frozen / "outputs.py").write_text(f"import coordinator\nLines = str\nOUTPUTS = {outputs}\n")
    return path


def test_differences_of_another_checkout_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "short.jsonl").write_text(stored_log("share"))
    other = other_checkout(
        tmp_path / "other", "[('gone', str)]", "{'verdicts': lambda log: 'another\\nline\\n'}"
    )
    assert compare(other, ["short", "gone"], 3, tmp_path / "recorded") == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "gone: only the other checkout has it"
    at = rows.index("--- short: verdicts, other")
    assert rows[at + 1] == "+++ short: verdicts, this"
    assert rows[at + 3 : at + 5] == ["-another", "-line"]
    assert rows[at + 5].endswith("more lines (--lines)")
    [summary] = [row for row in rows if row.startswith("short: ")]
    assert {"verdicts", "explain", "tables"} < set(summary.split()) and "log" not in summary.split()
    assert rows[-1] == "2 of 2 logs differ"


def test_a_log_of_other_bytes_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "vector-share_story"
    other = other_checkout(tmp_path, f"[('{name}', lambda: 'another\\n')]", "{}")
    assert compare(other, [name], 1, tmp_path) == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == f"--- {name}: log, other"


def test_packages_of_elsewhere_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`coordinator` is found in this checkout, where it is installed from, if the other lacks it."""
    other = other_checkout(tmp_path, "[('vector-share_story', str)]", "{}")
    (other / "coordinator.py").unlink()
    assert compare(other, [], 40, tmp_path) == 2
    assert "not below" in capfd.readouterr().err


def test_no_log_by_that_name_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(_THIS, ["nothing"], 40, tmp_path) == 2
    assert "no log matches" in capsys.readouterr().err
