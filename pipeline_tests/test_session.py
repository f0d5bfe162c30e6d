"""What stands in the way of a session is said at once, with what to do."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from coordinator.cli import main
from coordinator.lab.pipeline.spark.session import PipelineError, java, session


def a_java(folder: Path, version: str) -> str:
    """A program that tells a version as Java does."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
    program.chmod(0o755)
    return str(folder)


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(
        PipelineError, match=r"there is no bin/java in it: install Java 17 or newer"
    ):
        java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PipelineError, match="there is no java on PATH"):
        java()


def test_a_wrong_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path / "8", 'openjdk version "1.8.0_392"'))
    with pytest.raises(PipelineError, match="is Java 8: install Java 17 or newer"):
        java()
    log = tmp_path / "a.jsonl"
    log.write_text("{}\n")
    assert main(["tables", str(log), "--out", str(tmp_path / "out")]) == 2
    assert "is Java 8" in capsys.readouterr().err
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path / "x", "hello"))
    with pytest.raises(PipelineError, match="does not tell a version"):
        java()
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path / "17", 'openjdk version "17.0.15" 2025-04-15'))
    assert java() == str(tmp_path / "17" / "bin" / "java")


def test_a_master_that_does_not_answer() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # taken, and nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(PipelineError, match="nobody answers there"):
            session("test", f"spark://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "master", ["", "spark://nowhere", "localhost", "local[x]", "local[0]", "spark://a:b"]
)
def test_masters_that_cannot_be(master: str) -> None:
    with pytest.raises(PipelineError, match=r"give local\[N\]"):
        session("test", master)
