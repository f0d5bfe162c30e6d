"""Making images without Docker: what counts as the same sources, which packages are pinned, and
what is said when it cannot be done.

A stand-in for the `docker` command says what the real one says.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tools import docker_build
from tools.docker_build import ImageError, docker, existing_hash, hash_of
from tools.emulator_image import PACKAGES, pins_of, start_interval
from tools.images import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sources"
    (made / "inner").mkdir(parents=True)
    (made / "inner" / "file").write_text("a")
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "inner" / "file").write_text("b"),
        lambda folder: (folder / "inner" / "file").rename(folder / "inner" / "other"),
        lambda folder: (folder / "inner" / "file").rename(folder / "file"),
        lambda folder: (folder / "inner" / "file").chmod(0o755),
        lambda folder: (folder / "more").write_text(""),
    ],
)
def test_whatever_changes_an_image_changes_the_hash(change: object, folder: Path) -> None:
    before = hash_of([folder])
    assert callable(change)
    change(folder)
    assert hash_of([folder]) != before


def test_what_python_leaves_behind_and_when_it_was_written_do_not_matter(folder: Path) -> None:
    before = hash_of([folder])
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    os.utime(folder / "inner" / "file", (0, 0))
    assert hash_of([folder]) == before
    assert hash_of([folder], also=["another base"]) != before


def test_missing_sources_are_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="nowhere is missing"):
        hash_of([tmp_path / "nowhere"])


def test_the_pins_of_a_package_have_hashes() -> None:
    lines = pins_of(PACKAGES).splitlines()
    assert [line.partition("==")[0] for line in lines if not line.startswith(" ")] == list(PACKAGES)
    assert sum("--hash=sha256:" in line for line in lines) >= len(PACKAGES)
    with pytest.raises(ImageError, match="does not pin no-such-package: run `make lock`"):
        pins_of(("no-such-package",))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `docker` command that does what the test writes into it; no other is on the PATH."""
    command = tmp_path / "bin" / "docker"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\nexit 0\n")
    command.chmod(command.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(command.parent))
    return command


@pytest.mark.parametrize(
    ("api", "flag"),
    [
        ("1.41", ""),
        ("1.43", ""),
        ("1.44", "--start-interval=500ms "),
        ("1.51", "--start-interval=500ms "),
        ("", ""),
    ],
)
def test_a_builder_is_given_what_it_knows(stand_in: Path, api: str, flag: str) -> None:
    """A file with a flag that the builder does not know is refused as a whole."""
    stand_in.write_text(f"#!/bin/sh\necho {api}\n")
    assert start_interval() == flag


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "no Docker daemon answers",
        ),
        (
            "permission denied while trying to connect to the Docker daemon socket",
            "join the group `docker`",
        ),
        ("COPY failed: no such file", "docker build failed: COPY failed: no such file"),
    ],
)
def test_why_docker_did_not_do_it(said: str, words: str, stand_in: Path) -> None:
    stand_in.write_text(
        f'#!/bin/sh\necho "{said}" >&2\necho "Run \'docker build --help\' for more information" >&2\nexit 1\n'
    )
    with pytest.raises(ImageError, match=words):
        docker("build", ".")


def test_no_docker_at_all(stand_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in.unlink()
    assert main(["base"]) == 2
    assert (
        capsys.readouterr().err
        == "base: no `docker` command: install Docker's client, or put it on the PATH\n"
    )


def test_a_docker_that_hangs_is_given_up(stand_in: Path) -> None:
    stand_in.write_text("#!/bin/sh\nread forever </dev/zero\n")
    with pytest.raises(ImageError, match=r"docker pull: no end after 0\.1 s"):
        docker("pull", "x", timeout_s=0.1)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [('{"%s":"abc"}', "abc"), ("null", ""), ('{"other":"x"}', "")],
    ids=["ours", "no labels", "another's"],
)
def test_the_hash_of_an_image_that_is_there(labels: str, expected: str, stand_in: Path) -> None:
    stand_in.write_text(f"#!/bin/sh\necho '{labels.replace('%s', docker_build.LABEL)}'\n")
    assert existing_hash("x") == expected


def test_the_hash_of_an_image_that_is_not(stand_in: Path) -> None:
    stand_in.write_text(
        "#!/bin/sh\necho 'Error response from daemon: No such image: x:latest' >&2\nexit 1\n"
    )
    assert existing_hash("x") is None
