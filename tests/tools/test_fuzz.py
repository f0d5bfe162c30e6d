"""The long half of the tests runs to its end, says what each part took, and names what there is."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import fuzz


def _part(name: str, code: str, *settings: tuple[str, str]) -> fuzz.Part:
    return fuzz.Part(name, (sys.executable, "-c", code), settings)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_part_that_fails_keeps_no_other_from_running(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parts = (
        _part("first", "raise SystemExit(3)"),
        _part("second", "import os; open('ran', 'w').write(os.environ['ROUNDS'])", ("ROUNDS", "7")),
    )
    monkeypatch.setattr(fuzz, "PARTS", parts)
    assert fuzz.main(["--jobs", "1"]) == 1
    assert Path("ran").read_text() == "7"
    first, second = (tmp_path / "build" / "fuzz.txt").read_text().splitlines()
    assert first.split()[:3] == ["first", "failed", "(3)"]
    assert second.split()[:2] == ["second", "passed"]
    assert first.endswith(" s CPU") and second.endswith(" s CPU")


def test_two_parts_run_at_a_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each waits for the other at a pipe; what each printed stays together."""
    os.mkfifo("pipe")
    reads = _part("first", "print('one'); print(open('pipe').read())")
    writes = _part("second", "open('pipe', 'w').write('two'); print('three')")
    monkeypatch.setattr(fuzz, "PARTS", (reads, writes))
    assert fuzz.main([]) == 0
    told = capsys.readouterr().out
    assert "one\ntwo\n" in told and "three\n" in told
    assert Path("build", "fuzz", "second.txt").read_text() == "three\n"


def test_those_that_take_longest_begin_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parts = tuple(
        _part(name, "pass")._replace(cpu_s=cpu_s)
        for name, cpu_s in (("short", 1), ("long", 30), ("middle", 20), ("as long", 30))
    )
    monkeypatch.setattr(fuzz, "PARTS", parts)
    assert fuzz.main(["--jobs", "1"]) == 0
    lines = (tmp_path / "build" / "fuzz.txt").read_text().splitlines()
    assert [line.partition("  ")[0] for line in lines] == ["long", "as long", "middle", "short"]


def test_parts_by_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parts = (_part("first", "raise SystemExit(3)"), _part("second", "pass"))
    monkeypatch.setattr(fuzz, "PARTS", parts)
    assert fuzz.main(["second"]) == 0
    with pytest.raises(SystemExit, match="2"):
        fuzz.main(["third", "first"])
    assert "there is no part third; there are first, second" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        fuzz.main(["--jobs", "0"])
    assert "--jobs: 1 or more, not 0" in capsys.readouterr().err


def test_what_the_parts_run_is_there(project_root: Path) -> None:
    """A module or a file that was moved would be noticed in the next long run only."""
    for part in fuzz.PARTS:
        module, *arguments = part.command[part.command.index("-m") + 1 :]
        assert find_spec(module) is not None, part
        for argument in arguments:
            if "/" in argument or argument.endswith("_tests"):
                assert (project_root / argument).exists(), part
