"""Paths that cannot be are refused before Java is looked for or Spark starts: status 2, with what
is wrong and what would be right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.lab.pipeline.schemas import SCHEMA_VERSION


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that gets as far as a session fails the test."""

    def session(*args: object, **settings: object) -> None:
        raise AssertionError("a session was asked for")

    monkeypatch.setattr("coordinator.lab.pipeline.spark.session.session", session)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command says that ends with status 2."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("command", ["analyse", "report"])
def test_a_directory_without_whole_tables(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing"
    assert (
        f"{missing}: no such directory; `coordinator tables LOGS... --out {missing}` makes one"
        in refused(capsys, command, missing)
    )
    assert "no whole tables: there is no _SUCCESS in it" in refused(capsys, command, tmp_path)
    (tmp_path / "_SUCCESS").touch()
    assert "its manifest.json cannot be read: make the tables anew" in refused(
        capsys, command, tmp_path
    )
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1}))
    assert (
        f"tables of schema version {SCHEMA_VERSION + 1}; this version reads {SCHEMA_VERSION}"
        in refused(capsys, command, tmp_path)
    )
    file = tmp_path / "file"
    file.touch()
    assert "no such directory" in refused(capsys, command, file)


@pytest.mark.parametrize("command", ["analyse", "report"])
def test_a_sweep_that_was_interrupted(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "sweep.json").write_text("{}")
    assert f"`coordinator sweep SWEEP --out {tmp_path}` goes on where it stopped" in refused(
        capsys, command, tmp_path
    )


def test_a_report_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION}))
    file = tmp_path / "page.html"
    file.touch()
    assert f"--out {file}: it is a file; give a directory" in refused(
        capsys, "report", tmp_path, "--out", file
    )


def test_tables_and_sweeps_into_what_is_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, sweep = tmp_path / "out", tmp_path / "sweep.toml"
    out.mkdir()
    (out / "mine.txt").touch()
    (tmp_path / "run.jsonl").write_text("{}\n")
    sweep.write_text('scenario = "crash_loop"\nseeds = 1\n')
    assert "it is not empty; give an empty or a new directory" in refused(
        capsys, "tables", tmp_path / "run.jsonl", "--out", out
    )
    assert "there is something else than a sweep" in refused(capsys, "sweep", sweep, "--out", out)
    (out / "manifest.json").touch()
    (out / "_SUCCESS").touch()
    assert "there are tables already; --replace makes them anew" in refused(
        capsys, "tables", tmp_path / "run.jsonl", "--out", out
    )
    assert "it is a file; give a directory" in refused(
        capsys, "tables", tmp_path / "run.jsonl", "--out", sweep
    )


def test_a_sweep_of_other_settings_is_named_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, sweep = tmp_path / "out", tmp_path / "sweep.toml"
    sweep.write_text('scenario = "crash_loop"\nseeds = 1\n')
    out.mkdir()
    for text in ("{}", "no JSON"):
        (out / "sweep.json").write_text(text)
        said = refused(capsys, "sweep", sweep, "--out", out)
        assert "a sweep of other settings" in said or "its sweep.json cannot be read" in said


def test_a_directory_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, sweep = tmp_path / "run.jsonl", tmp_path / "sweep.toml"
    log.write_text("{}\n")
    sweep.write_text('scenario = "crash_loop"\nseeds = 1\n')
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION}))
    (tmp_path / "_SUCCESS").touch()
    for command, given in (("tables", log), ("sweep", sweep), ("report", tmp_path)):
        said = refused(capsys, command, given, "--out", log / "a" / "b")
        assert f"{log} is no directory; give a path where a directory can be made" in said
        with pytest.raises(SystemExit, match="2"):
            main([command, str(given), "--out", ""])
        assert "'' is no directory: give a path, such as out" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["live", str(log), "--out", str(tmp_path / "live"), "--storm", "-1"])
    assert "'-1': give how many" in capsys.readouterr().err
    assert "an empty name; give a log or a directory with logs" in refused(
        capsys, "tables", "", "--out", tmp_path / "out"
    )


def test_logs_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert str(tmp_path / "none.jsonl") in refused(
        capsys, "tables", tmp_path / "none.jsonl", "--out", tmp_path / "out"
    )
    (tmp_path / "empty").mkdir()
    assert str(tmp_path / "empty") in refused(
        capsys, "tables", tmp_path / "empty", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_a_log_that_can_never_be_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log that is not there yet is waited for; a directory never becomes one."""
    out = tmp_path / "out"
    assert "it is a directory; give the log's file" in refused(
        capsys, "live", tmp_path, "--out", out
    )
    assert f"there is no directory {tmp_path / 'gone'}" in refused(
        capsys, "live", tmp_path / "gone" / "run.jsonl", "--out", out
    )
    assert not out.exists()


def test_a_sweep_that_is_interrupted_says_how_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coordinator.lab.pipeline.spark.session.session", interrupted)
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "one_crash_one_join"\nseeds = 2\n')
    assert main(["sweep", str(sweep), "--out", str(tmp_path / "out")]) == 130
    assert "the same command goes on where it stopped" in capsys.readouterr().err


def test_names_that_are_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, long = tmp_path / "run.jsonl", tmp_path / ("x" * 300)
    log.write_text("{}\n")
    assert "cannot be read: File name too long" in refused(
        capsys, "tables", long, "--out", tmp_path / "out"
    )
    assert "File name too long" in refused(capsys, "tables", log, "--out", long)
    assert "a name of more than 255 bytes" in refused(
        capsys, "tables", log, "--out", tmp_path / "new" / long.name / "out"
    )
    assert "cannot be read: File name too long" in refused(
        capsys, "live", long, "--out", tmp_path / "out"
    )
    for command in ("analyse", "report"):
        assert "cannot be read: File name too long" in refused(capsys, command, long)
