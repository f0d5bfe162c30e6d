"""The project as a whole: what is installed, what is pinned, and what its files must not
mention."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Set
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import coordinator

# Written in pieces, so that this file does not mention them either.
FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.~-])/(?:work|root|home/\w+|tmp/\w+)/|(?<![\w.~-])/wor" + r"k\b"
    ),
    "files beside the checkout": re.compile(
        r"(?<![\w-])(?<!/mnt/)shared" + "/"
    ),  # /mnt/... is in Kafka's own image
    # Without the slash, docker.io is a package of Debian's.
    "a package registry": re.compile(
        r"py" + r"pi\.org|python" + r"hosted|npm" + r"js\.org|proxy\.golang" + r"|docker\.io/"
    ),
}
BINARY = {".gz"}


def tracked(root: Path, without: Set[str] = BINARY) -> list[Path]:
    """Return the files that git tracks, without those with certain suffixes."""
    if not shutil.which("git") or not (root / ".git").exists():
        pytest.skip("not a git checkout, or no git")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    return [
        path
        for name in listing.stdout.split("\0")
        if name and (path := root / name).is_file() and path.suffix not in without
    ]


def test_no_file_mentions_a_machine_or_a_registry(project_root: Path) -> None:
    found = [
        f"{path.relative_to(project_root)}: {what}: {match[0]}"
        for path in tracked(project_root)
        for what, pattern in FORBIDDEN.items()
        if (match := pattern.search(path.read_text(encoding="utf-8", errors="replace")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "/wor" + "k/main",
        "see /ro" + "ot/x",
        "/tm" + "p/w/",
        "../shared" + "/spec",
        "https://py" + "pi.org/simple",
    ],
)
def test_the_check_would_notice(text: str) -> None:
    assert any(pattern.search(text) for pattern in FORBIDDEN.values())


def test_two_import_names_are_installed_with_all_that_they_hold(
    project_root: Path, tmp_path: Path
) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=project_root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith(f"kafka_group_coordinator-{coordinator.__version__}-")
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "coordinator",
        "assignors",
    }
    held = {path.relative_to(project_root).as_posix() for path in tracked(project_root, set())}
    held.add("coordinator/lab/page/site/glossary.md")  # of docs/, for the words of lessons
    assert {name for name in held if name.startswith(("coordinator/", "assignors/"))} == {
        name for name in names if ".dist-info/" not in name
    }
    assert {"coordinator/py.typed", "assignors/py.typed"} <= set(names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_every_dependency_is_pinned_by_version_and_hash(project_root: Path) -> None:
    """.venv has a lock file, the documentation and a release one each, and the pipeline's environment two: PySpark is built from source, so
    what builds it comes first."""
    project = tomllib.loads((project_root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    others = {"docs", "release", "spark", "spark-test", "spark-build"}
    for lock, chosen in (
        ("dev", set(extras) - others),
        ("docs", {"docs"}),
        ("release", {"release"}),
        ("spark", {"spark", "spark-test"}),
        ("spark-build", {"spark-build"}),
    ):
        wanted = [*project["dependencies"], *(line for extra in chosen for line in extras[extra])]
        names = {re.split(r"[\[<>=;! ]", line)[0] for line in wanted} - {project["name"]}
        assert names <= pinned_in((project_root / "requirements" / f"{lock}.txt").read_text())
    assert "basedpyright" in pinned_in((project_root / "requirements" / "typed.txt").read_text())


def test_extras_are_pinned_with_their_package(project_root: Path) -> None:
    """An older pip looks for `coverage[toml]` on its own: it takes the newest of the index, which
    has no hash here."""
    lock = (project_root / "requirements" / "dev.txt").read_text()
    pinned = pinned_in(lock)
    wanted = {
        (canonicalize_name(needed.name), ",".join(sorted(needed.extras)))
        for package in distributions()
        if canonicalize_name(package.name) in pinned
        for needed in map(Requirement, package.requires or [])
        if needed.extras and (needed.marker is None or needed.marker.evaluate({"extra": ""}))
    }
    assert wanted, "no package asks for another's extra any more: this test can go"
    assert {f"{name}[{extras}]" for name, extras in wanted} <= set(
        re.findall(r"^[\w.-]+\[[\w,-]+\]", lock, re.MULTILINE)
    )


def pinned_in(lock: str) -> set[str]:
    """The names in a lock file, each of which has its version and hashes."""
    assert "://" not in lock
    assert not re.search(r"^--", lock, re.MULTILINE)
    names = set()
    for entry in re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE).strip()):
        match = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", entry)
        assert match, entry
        assert "--hash=sha256:" in entry, entry
        names.add(match[1])
    return names


def test_the_test_extra_is_what_users_need(project_root: Path) -> None:
    extras = tomllib.loads((project_root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert {re.split(r"[<>=]", line)[0] for line in extras["test"]} == {
        "pytest",
        "pytest-asyncio",
        "testcontainers",
        "kafka-python",
    }


def test_importing_the_package_is_cheap(plain_environment: dict[str, str]) -> None:
    """PEP 562: the wire or the groups alone must not cost a user asyncio."""
    code = "import sys, coordinator, assignors; print(*sorted({'asyncio', 'coordinator.kit.emulator.embedded'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=plain_environment,
    )
    assert done.stdout == "\n"


_AT_FIRST_USE = (
    "assignors",
    "coordinator.server.requests.commit_gate",
    "coordinator.server.fetching.sessions",
    "coordinator.server.transactions.outcomes",
    "coordinator.server.cluster_runtime",
    "coordinator.server.net.cluster_server",
    "coordinator.kit.session",
    "coordinator.events.files",
    "coordinator.events.vocabulary",
    "coordinator.events.writer",
    "coordinator.core.groups.consumer.heartbeat",
    "coordinator.core.groups.consumer.target",
    "coordinator.kit.http",
    "coordinator.members",
    "coordinator.lab",
    "coordinator.core.shards.consumer_groups",
    "coordinator.core.transactions",
    "ctypes",
    "numpy",
    "re2",
    "tempfile",
)
"""What a broker of its own does not load before something asks for it."""


def test_serving_loads_nothing_that_only_some_users_need(plain_environment: dict[str, str]) -> None:
    """Members, several brokers, transactions, the event log and what computes KIP-848's assignments
    are most of all modules."""
    code = (
        "import sys\n"
        "from coordinator.cli import CommandParser\n"
        "from coordinator.cli.serving import serve\n"
        "parser = CommandParser(); serve.add_parser(parser.add_subparsers(dest='command'))\n"
        "args = parser.parse_args(['serve', '--listen', '127.0.0.1:0', '--topic', 'orders:12'])\n"
        "serve._take_log_options(args); serve.log_topic.check_options(args); serve._emulator(args)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=plain_environment,
    )
    loaded = done.stdout.split()
    assert "coordinator.kit.emulator.embedded" in loaded
    assert [
        name for name in loaded if any(f"{name}.".startswith(f"{lazy}.") for lazy in _AT_FIRST_USE)
    ] == []


def test_help_and_the_pytest_plugin_load_nothing_of_the_lab(
    plain_environment: dict[str, str],
) -> None:
    told = "print(*sorted(sys.modules), file=sys.stderr)"
    for code in (
        f"import coordinator.cli as cli\ntry: cli.main(['serve', '--help'])\nfinally: {told}",
        f"import coordinator.testing.plugin\n{told}",
    ):
        done = subprocess.run(
            [sys.executable, "-c", "import sys\n" + code],
            capture_output=True,
            text=True,
            check=True,
            env=plain_environment,
        )
        loaded = done.stderr.split()
        assert any(name.startswith("coordinator.") for name in loaded)
        assert [name for name in loaded if f"{name}.".startswith("coordinator.lab.")] == []


def test_the_front_door() -> None:
    assert {"Emulator", "__version__"} <= set(dir(coordinator))
    with pytest.raises(AttributeError, match="no attribute 'Emulater'"):
        coordinator.Emulater  # noqa: B018
    assert coordinator.Emulator.__module__ == "coordinator.kit.emulator.embedded"
