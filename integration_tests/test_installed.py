"""A stranger's way in: the sdist and the wheel in empty environments, for every Python from 3.11
that is here. README and the tutorial are followed there, without extras and with them, and the
commands that error messages name are given as they stand.

The gate follows them with the newest Python that is here; its other tests run with its own. The
others are followed by `make fuzz`, and each by itself in .github/workflows/ci.yml.

A Python that is not here is a skipped test, which the run's summary names; `REQUIRE_PYTHONS=3.13
3.14` makes it a failure, and leaves the others out. Packages come from the index that pip is set up
with.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from coordinator import __version__
from coordinator.lab.simulator.files import catalogue
from tests.inner_pytest import declared_in, passed_of
from tests.project.test_readme import Place, follow_commands, follow_python, until_interrupted
from tests.testing.test_tutorial_page import files_of_the_page

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
"""From the oldest that is supported to the newest for which the dependencies have wheels: the matrix
of .github/workflows/ci.yml."""
ROOT: Final = Path(__file__).resolve().parents[1]
_REQUIRED: Final = os.environ.get("REQUIRE_PYTHONS", "").split()
_PATIENCE_S: Final = 900


def found(version: str) -> str | None:
    """A Python of this version that can make environments: by name, of pyenv, or this one."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for candidate in (
        sys.executable,
        f"python{version}",
        *sorted(map(str, pyenv.glob(f"{version}.*/bin/python3"))),
    ):
        asked = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        try:
            done = subprocess.run(
                [candidate, "-c", asked], capture_output=True, text=True, check=False
            )
        except OSError:
            continue
        if done.stdout.strip() == version:
            return candidate
    return None


def _followed() -> Iterator[Any]:
    """All of them, those that are here but the newest as thorough ones."""
    here = [] if _REQUIRED else [version for version in PYTHONS if found(version)]
    for version in PYTHONS:
        marks = [pytest.mark.thorough] if version in here[:-1] else []
        yield pytest.param(version, marks=marks)


def run(*command: str, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Stranger:
    """An empty folder, and an empty environment for it."""

    version: str
    folder: Path
    environment: dict[str, str]

    @classmethod
    def arrives(cls, folder: Path, python: str, version: str = "") -> Stranger:
        run(python, "-m", "venv", str(folder / "venv"), cwd=folder)
        named = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("COVERAGE_", "COV_", "PYTEST_", "PYTHON", "VIRTUAL_ENV"))
        }
        named |= {
            "PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONUNBUFFERED": "1",
        }
        return cls(version, folder, named)

    def types(self, line: str) -> str:
        """A line in a terminal, which has to end well."""
        return run("sh", "-c", line, cwd=self.folder, environment=self.environment)

    def is_refused(self, line: str) -> str:
        """A line that ends with status 2: what it says."""
        done = subprocess.run(
            shlex.split(line),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stderr

    @property
    def place(self) -> Place:
        python = str(self.folder / "venv" / "bin" / "python")
        return Place(
            root=ROOT,
            folder=self.folder,
            python=python,
            environment=self.environment,
            patience_s=_PATIENCE_S,
        )


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder), cwd=ROOT)
    assert len(list(folder.iterdir())) == 2
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


def test_the_sdist_is_installed_and_makes_the_same_wheel(
    dist: Path, wheel: Path, tmp_path: Path
) -> None:
    """The build backend comes with it: pip builds in isolation."""
    (sdist,) = dist.glob("*.tar.gz")
    stranger = Stranger.arrives(tmp_path, sys.executable)
    stranger.types(f"pip install --quiet {shlex.quote(str(sdist))}")
    assert stranger.types("coordinator --version").strip() == f"coordinator {__version__}"
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=unpacked
    )
    assert checksums(tmp_path / wheel.name) == checksums(wheel)
    for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "docs/tutorial.md"):
        assert (unpacked / name).is_file()


def checksums(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist()}


@pytest.fixture(scope="module", params=list(_followed()))
def stranger(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stranger]:
    version = request.param
    if _REQUIRED and version not in _REQUIRED:
        pytest.skip(f"Python {version} was not asked for (REQUIRE_PYTHONS)")
    python = found(version)
    if python is None:
        if version in _REQUIRED:
            pytest.fail(f"REQUIRE_PYTHONS: there is no Python {version} here", pytrace=False)
        pytest.skip(f"NOT tested with Python {version}: there is none here")
    folder = tmp_path_factory.mktemp(f"python{version.replace('.', '')}")
    yield Stranger.arrives(folder, python, version)
    shutil.rmtree(folder / "venv")


@pytest.fixture(scope="module")
def newest() -> str:
    """The newest Python that is here."""
    return max(filter(found, PYTHONS), key=PYTHONS.index)


class TestAStranger:
    """One way, in this order: nothing but the wheel, then extras as errors ask for them, then
    tests."""

    def test_the_wheel_alone(self, stranger: Stranger, wheel: Path) -> None:
        stranger.types(f"pip install --quiet --only-binary :all: {shlex.quote(str(wheel))}")
        follow_commands(stranger.place)
        stranger.types("python -W error -c 'import coordinator, assignors; coordinator.Emulator'")
        listed = stranger.types("coordinator scenarios list")
        assert set(catalogue.names() + catalogue.incidents()) <= set(listed.split())

    @pytest.mark.parametrize(
        ("line", "sign"),
        [
            ("serve --listen 127.0.0.1:0 --control 127.0.0.1:0", " control http"),
            ("serve --listen SASL_SSL://127.0.0.1:0 --user bar:secret", "ready:"),
            ("serve --listen 127.0.0.1:0 --loop uvloop", "ready:"),
        ],
        ids=["control", "security", "fast"],
    )
    def test_an_error_names_the_command_that_helps(
        self, stranger: Stranger, newest: str, line: str, sign: str
    ) -> None:
        """Once, with the newest Python: what is said is the same on all."""
        if stranger.version != newest:
            pytest.skip(f"done with Python {newest}")
        told = stranger.is_refused(f"coordinator {line}")
        command = told[told.index("pip install") :].splitlines()[0]
        stranger.types(f"{command} --quiet")
        with until_interrupted(line.split(), sign, stranger.place):
            pass

    def test_tests(self, stranger: Stranger, wheel: Path) -> None:
        """README's Python, and the tutorial."""
        stranger.types(f"pip install --quiet {shlex.quote(f'{wheel}[test]')} confluent-kafka")
        follow_python(stranger.place)
        tutorial = stranger.folder / "tutorial"
        tutorial.mkdir()
        files = files_of_the_page(ROOT)
        for name, text in files.items():
            (tutorial / f"{name}.py").write_text(text)
        run(
            stranger.place.python,
            "-m",
            "pytest",
            "-q",
            "--junitxml=results.xml",
            cwd=tutorial,
            environment=stranger.environment,
        )
        assert passed_of(tutorial / "results.xml") == declared_in(files)
