"""Lessons of one's own on the command line: checked, served, built."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from coordinator.base.version import __version__
from coordinator.cli import main

OWN = Path(__file__).resolve().parents[1] / "lab" / "page" / "own" / "one_is_killed.toml"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["lessons", *arguments]) == 2
    return capsys.readouterr().err.removeprefix("coordinator lessons: error: ").strip()


def test_check_says_what_the_run_came_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lessons", "check", str(OWN)]) == 0
    told = capsys.readouterr().out
    assert "one_is_killed: One of two is killed\n  right: session (" in told
    assert "  waited = 7.75 s\n" in told
    assert "  try close: Yes. B leaves the group at 20.05 s" in told


def test_a_wrong_file_is_told_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "mine.toml"
    wrong.write_text(OWN.read_text().replace('"MemberCrashed"', '"MemberCrash"'))
    assert refused(capsys, "check", str(wrong)) == (
        f"{wrong}, line 43: facts.died.type: 'MemberCrash' is no type of line: "
        "did you mean MemberCrashed, MemberClosed, MemberResumed?"
    )


def test_a_site_alone_has_the_pages_and_the_recorded_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "site"
    for _ in range(2):  # a site that is there already is replaced
        assert main(["lessons", "build", str(OWN), "--out", str(out)]) == 0
        (out / "older.html").touch()
        assert "it has no engine" in capsys.readouterr().out
    page = (out / "one_is_killed.html").read_text()
    assert "At 20 s the process of B is killed." in page
    assert "Without scripts this is the picture at the moment of the question." in page
    assert 'href="incident.html"' not in page
    assert 'href="one_is_killed.html"' in (out / "index.html").read_text()
    assert {"one_is_killed.json.gz", "one_is_killed.close.json.gz", "lesson.js"} <= {
        each.name for each in out.iterdir()
    }
    assert "This site has the recorded runs alone" in (out / "worker.js").read_text()


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """What of a built site the command looks at."""
    site = tmp_path / "built"
    site.mkdir()
    (site / "site.json").write_text(json.dumps({"product": "coordinator", "version": __version__}))
    (site / "engine.zip").write_bytes(b"engine")
    (site / "worker.js").write_text("fetched('./engine.zip?1234')")
    (site / "index.html").write_text('<ol class="lessons" start="0"><li>ours</li></ol><p>Then</p>')
    return site


def test_beside_a_built_site_the_lessons_come_behind_ours(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    arguments = ["build", str(OWN), "--out", str(out), "--beside", str(built)]
    assert main(["lessons", *arguments]) == 0
    index = (out / "index.html").read_text()
    assert index.index("ours") < index.index("one_is_killed.html") < index.index("</ol>")
    assert "one_is_killed.close.json.gz" in (out / "sw.js").read_text()
    assert (out / "engine.zip").read_bytes() == b"engine"
    assert not (built / "one_is_killed.html").exists()


def _older(site: Path) -> None:
    (site / "site.json").write_text('{"version": "0.0.1"}')


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda site: (site / "site.json").unlink(), "holds no built site"),
        (lambda site: (site / "engine.zip").unlink(), "has no engine"),
        (_older, "was built by version 0.0.1, and this is"),
    ],
    ids=["no site", "no engine", "older"],
)
def test_what_is_no_built_site_is_told(
    built: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None], told: str
) -> None:
    spoil(built)
    said = refused(capsys, "build", str(OWN), "--out", "nowhere", "--beside", str(built))
    assert told in said and "`make site`" in said
    assert not Path("nowhere").exists()


def test_a_folder_with_other_files_is_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").touch()
    said = refused(capsys, "build", str(OWN), "--out", str(tmp_path))
    assert "holds files that are no site" in said
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check"], "check: which files?"),
        (["build", "mine.toml"], "build: where to? `--out DIR` names the folder"),
        (["check", "mine.toml", "--out", "x"], "--out is an option of `build`"),
        (["build/site", "--beside", "x"], "--beside is an option of `serve` and `build`"),
        (["build/site", "mine.toml"], "one folder alone, or `check FILE...`"),
        (["check", "none.toml"], "cannot read none.toml: No such file or directory"),
        (["check", "my lesson.toml"], "letters, digits, - and _ alone"),
        (["check", "index.toml"], "there is a page index already"),
        (["nowhere"], "nowhere holds no built site"),
    ],
)
def test_wrong_arguments_are_told_what_would_be_right(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert told in refused(capsys, *arguments)


def test_serve_shows_the_lesson_until_a_signal() -> None:
    command = [sys.executable, "-m", "coordinator", "lessons", "serve", str(OWN)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = None
            while found is None:
                line = process.stdout.readline()
                assert line, "it ended before it was ready"
                found = re.match(r"ready: (\S+)", line)
            with urlopen(found[1], timeout=60) as answer:
                assert "<h1>1. One of two is killed</h1>" in answer.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
